import json
import shutil
from dataclasses import replace

import pytest

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.metrics import Score
from brainscore_core.scoring import (
    ModelInfo,
    PluginCode,
    Receipt,
    ReceiptError,
    ResultsStore,
    Stored,
    Tolerance,
    compare_attachments,
    foresee,
    read_receipt,
    run_pair,
    verify,
)


@pytest.fixture
def store(tmp_path):
    return ResultsStore(tmp_path / "verified")


@pytest.fixture
def again(fakes):
    """``again('scored')`` gives what scores the pair of the model and that benchmark."""

    def make(name, **options):
        return lambda store=None: run_pair("model", name, **fakes.loaders, results=store, **options)

    return make


@pytest.fixture
def kept(again, tmp_path):
    """A receipt with its attachments in another store."""
    other = ResultsStore(tmp_path / "results")
    receipt = again("scored")(other).receipt
    return Stored(receipt, lambda kind: other.open_attachment(receipt, kind))


def test_the_same(kept, again, store):
    found = verify(kept, again("scored"), store=store)
    assert (found.verdict, found.exit_code, found.foreseen) == ("same", 0, ())
    assert found.expected == kept.receipt
    assert found.found == store.latest("model", "scored")
    assert found.difference.verdict == "same"
    assert [array.kind for array in found.difference.arrays] == ["raw", "predictions"]
    assert all(array.same for array in found.difference.arrays)
    assert json.loads(json.dumps(found.to_dict()))["verdict"] == "same"


def test_within_tolerance_and_different(kept, again, store, fakes):
    fakes.benchmarks["scored"].make = lambda: fakes.metric_score(0.6 + 1e-9)
    found = verify(kept, again("scored"), store=store)
    assert (found.verdict, found.exit_code) == ("within tolerance", 0)
    assert found.difference.largest.apart < 1e-8
    strict = verify(kept, again("scored"), store=store, tolerance=Tolerance(absolute=0, errors=0))
    assert (strict.verdict, strict.exit_code) == ("different", 1)
    fakes.benchmarks["scored"].make = lambda: fakes.metric_score(0.5)
    found = verify(kept, again("scored"), store=store)
    assert found.verdict == "different"
    assert "do not explain" in found.difference.explanation


def test_a_changed_library_is_foreseen_and_blamed(kept, again, store, fakes):
    then = kept.receipt.environment
    older = replace(then, packages={**then.packages, "numpy": "1.0.0"})
    receipt = replace(kept.receipt, environment=older)
    fakes.benchmarks["scored"].make = lambda: fakes.metric_score(0.5)
    told = []
    found = verify(Stored(receipt, kept.open_attachment), again("scored"), store=store, on_foreseen=told.append)
    assert told == [found.foreseen]
    assert [(change.part, change.item) for change in found.foreseen] == [("libraries", "numpy")]
    assert found.verdict == "different"
    assert "only one part differs, libraries (numpy 1.0.0 → " in found.difference.explanation


def test_a_changed_plugin_is_foreseen_before_anything_runs(kept, tmp_path):
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / "__init__.py").write_text("new = True\n")
    then = PluginCode(name="plugin", sha256="0" * 64)
    receipt = replace(kept.receipt, model=ModelInfo(identifier="model", plugin=then))

    def plugins(kind, identifier):
        return folder if (kind, identifier) == ("model", "model") else None

    (change,) = foresee(receipt, plugins=plugins)
    assert (change.part, change.item) == ("model code", "plugin")
    assert foresee(receipt) == ()


def test_another_version_of_the_benchmark(kept, again, store, fakes):
    fakes.benchmarks["scored"].make = lambda: fakes.metric_score(0.5)
    fakes.benchmarks["scored"]._version = 3
    assert fakes.benchmarks["scored"].version == 3
    found = verify(kept, again("scored"), store=store)
    assert found.verdict == "different"
    assert "versions are not expected to be the same" in found.difference.explanation
    assert found.difference.parts == ("benchmark version",)


def test_data_that_cannot_be_reached(kept, again, store, fakes):
    def make():
        raise DataUnavailable("no data", "ask their author")

    fakes.benchmarks["scored"].make = make
    found = verify(kept, again("scored"), store=store)
    assert (found.verdict, found.exit_code) == ("not verified", 2)
    assert (found.problem, found.remedy) == ("no data", "ask their author")
    assert found.difference is None
    assert found.found.state == "failed"
    assert found.to_dict()["problem"] == "no data"


def test_a_pair_that_now_fails_is_different(kept, again, store, fakes):
    def make():
        raise KeyError("no such layer")

    fakes.benchmarks["scored"].make = make
    found = verify(kept, again("scored"), store=store)
    assert (found.verdict, found.exit_code) == ("different", 1)
    assert found.difference.explanation.startswith("The first receipt is scored, the second is failed")


@pytest.mark.parametrize("name", ["broken", "unreachable", "refused", "nan"])
def test_what_had_no_score_has_none_again(again, store, name):
    receipt = again(name, raise_errors=False)().receipt
    assert verify(receipt, again(name), store=store).verdict == "same"


def test_what_failed_and_now_scores_is_different(again, store, fakes):
    receipt = again("broken", raise_errors=False)().receipt
    fakes.benchmarks["broken"].make = lambda: Score(0.3)
    assert verify(receipt, again("broken"), store=store).verdict == "different"


def test_an_error_that_is_no_failure_of_the_pair_is_raised(kept, store):
    def score(store):
        raise MemoryError

    with pytest.raises(MemoryError):
        verify(kept, score, store=store)


def test_another_pair_is_refused(kept, again, store):
    with pytest.raises(UserError, match="model on control"):
        verify(kept, again("control"), store=store)


def test_older_receipts_of_the_pair_in_the_store_do_not_matter(kept, again, store, fakes):
    again("scored", raise_errors=False)(store)
    fakes.benchmarks["scored"].make = lambda: fakes.metric_score(0.5)
    assert verify(kept, again("scored"), store=store).found.raw.value == 0.5


def test_a_receipt_from_a_file_with_what_lies_beside_it(kept, again, tmp_path, store):
    (source,) = (tmp_path / "results").rglob("*.json")
    shutil.copytree(source.parent, tmp_path / "sent")
    stored = read_receipt(tmp_path / "sent" / source.name)
    assert stored.receipt == kept.receipt
    found = verify(stored, again("scored"), store=store)
    assert [array.same for array in found.difference.arrays] == [True, True]
    raw = next((tmp_path / "sent").glob("*.raw.nc"))
    raw.write_bytes(raw.read_bytes() + b" ")
    next((tmp_path / "sent").glob("*.predictions.nc")).unlink()
    raw_values, predictions = compare_attachments(stored, kept)
    assert "has changed" in raw_values.problem
    assert "does not exist beside the receipt" in predictions.problem


def test_a_file_that_is_no_receipt(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(ReceiptError, match=r"a\.json"):
        read_receipt(tmp_path / "a.json")
    with pytest.raises(UserError, match="cannot be read"):
        read_receipt(tmp_path / "absent.json")


def test_attachments_that_only_one_has_are_left_out(kept):
    bare = Stored(replace(kept.receipt, attachments=()), kept.open_attachment)
    assert compare_attachments(kept, bare) == ()
    assert isinstance(bare.receipt, Receipt)
