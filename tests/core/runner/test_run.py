import getpass
import json
import socket
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from brainscore_core.errors import BrainScoreError, DataUnavailable, UserError
from brainscore_core.metrics import Score
from brainscore_core.receipts.receipt import summary
from brainscore_core.scoring import Receipt, ResultsStore, RunInfo, run_pair
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


def strict(path):
    def refuse(name):
        raise ValueError(name)

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def only_file(folder):
    (path,) = folder.rglob("*.json")
    return path


def test_scored(fakes, tmp_path):
    outcome = run_pair("model", "scored", **fakes.loaders, results=tmp_path)
    receipt = outcome.receipt
    assert float(outcome.score) == receipt.score.value == pytest.approx(0.36 / 0.8)
    assert receipt.state == "scored"
    assert receipt.reason is None
    assert receipt.raw.value == 0.6
    assert receipt.raw.ci == (0.5, 0.7)
    assert receipt.score.scale == "ceiled"
    assert receipt.score.ci[0] < receipt.score.value < receipt.score.ci[1]
    assert (receipt.ceiling.value, receipt.ceiling.meaning) == (0.8, "reliability")
    assert (receipt.benchmark.version, receipt.benchmark.parent) == (2, "IT")
    assert receipt.benchmark.bibtex.startswith("@article")
    assert [(item.kind, item.identifier) for item in receipt.data] == [("data", "Fake2026")]
    assert [file.url for file in receipt.files] == ["file:b.nc", "https://example.org/a.nc?versionId=7"]
    assert receipt.seeds == {"splits": 1}
    assert (receipt.cache.hits, receipt.cache.misses) == (1, 1)
    assert receipt.timings.total >= receipt.timings.score > 0
    assert receipt.timings.extraction == 1.75
    assert [(item.identifier, item.sha256) for item in receipt.weights] == [("fake-net", "2" * 64)]
    (features,) = receipt.features
    assert features.text() == "IT: 1,234 features (a, b) of effective dimensionality 5.7, over 9 stimuli"
    assert ("features", features.text()) in summary(receipt)
    assert receipt.run is None
    assert receipt.memory.peak_bytes > 1_000_000
    assert receipt.environment.packages["numpy"] == np.__version__
    data = strict(only_file(tmp_path))
    assert data["schema_version"] == 4
    assert Receipt.from_dict(data) == receipt


def test_attachments_come_from_the_raw_score_inside(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    receipt = run_pair("model", "scored", **fakes.loaders, results=store).receipt
    assert {attachment.kind for attachment in receipt.attachments} == {"raw", "predictions"}
    raw = store.open_attachment(receipt, "raw")
    np.testing.assert_array_equal(raw.values, [[0.5, 0.7, np.nan]])
    assert list(raw["neuroid_id"].values) == ["a", "b", "c"]
    predictions = store.open_attachment(receipt, "predictions")
    targets = store.open_attachment(receipt, "predictions", group="targets")
    np.testing.assert_array_equal(predictions.values * 2, targets.values)
    assert list(predictions["split"].values) == [0, 1, 0, 1]
    with pytest.raises(UserError, match="it has: predictions, raw"):
        store.attachment_path(receipt, "weights")


def test_a_score_without_uncertainty_says_so(fakes):
    fakes.benchmarks["bare"] = fakes.FakeBenchmark(make=lambda: Score(0.3), ceiling_func=lambda: 1)
    receipt = run_pair("model", "bare", **fakes.loaders).receipt
    assert receipt.score.error is None
    assert receipt.score.error_reason == "none was attached"
    assert receipt.score.ci is None
    assert receipt.raw is None
    assert receipt.ceiling.error_reason.endswith("given as a constant")


@pytest.mark.parametrize("returned", [0.25, np.float32(0.25), np.array([0.25])])
def test_plain_numbers_are_scores(fakes, returned):
    class Plain(fakes.FakeBenchmark):
        def __call__(self, candidate):
            return returned

    fakes.benchmarks["plain"] = Plain()
    outcome = run_pair("model", "plain", **fakes.loaders)
    assert isinstance(outcome.score, Score)
    assert outcome.receipt.score.value == 0.25


def test_what_the_model_cannot_do_is_not_applicable(fakes, tmp_path):
    outcome = run_pair("model", "refused", **fakes.loaders, results=tmp_path)
    assert outcome.receipt.state == "not applicable"
    assert outcome.receipt.reason == "records no IT"
    assert np.isnan(float(outcome.score))
    assert outcome.score.attrs["state"] == "not applicable"
    assert outcome.score.attrs["reason"] == "records no IT"
    assert strict(only_file(tmp_path))["score"] is None


@pytest.mark.parametrize(
    ("attrs", "reason"),
    [
        ({}, "the benchmark returned NaN"),
        ({"reason": "no layer for IT"}, "no layer for IT"),
        ({"error_reason": "too few subjects"}, "too few subjects"),
    ],
)
def test_nan_is_undefined(fakes, tmp_path, attrs, reason):
    def make():
        score = Score(np.nan)
        score.attrs.update(attrs)
        return score

    fakes.benchmarks["nan"] = fakes.FakeBenchmark(make=make)
    outcome = run_pair("model", "nan", **fakes.loaders, results=tmp_path)
    assert (outcome.receipt.state, outcome.receipt.reason) == ("undefined", reason)
    assert (outcome.score.attrs["state"], outcome.score.attrs["reason"]) == ("undefined", reason)
    assert ResultsStore(tmp_path).latest("model", "nan") == outcome.receipt
    assert "NaN" not in json.dumps(strict(only_file(tmp_path))["raw"])


def test_an_error_is_recorded_and_raised_again(fakes, tmp_path):
    with pytest.raises(KeyError, match="no such layer"):
        run_pair("model", "broken", **fakes.loaders, results=tmp_path)
    receipt = ResultsStore(tmp_path).latest("model", "broken")
    assert receipt.state == "failed"
    assert receipt.reason == "KeyError: 'no such layer'"
    assert receipt.error.type == "KeyError"
    assert "in make" in receipt.error.traceback
    assert receipt.timings.score is not None
    outcome = run_pair("model", "broken", **fakes.loaders, results=tmp_path, raise_errors=False)
    assert outcome.score.attrs["state"] == "failed"
    assert len(ResultsStore(tmp_path).listing().receipts) == 2


def test_unreachable_data_say_where_to_get_them(fakes, tmp_path):
    with pytest.raises(DataUnavailable):
        run_pair("model", "unreachable", **fakes.loaders, results=tmp_path)
    receipt = ResultsStore(tmp_path).latest("model", "unreachable")
    assert (receipt.state, receipt.reason) == ("failed", "ask their author")
    assert (receipt.error.type, receipt.error.message) == ("DataUnavailable", "no data")


def test_an_interrupt_passes_and_leaves_nothing(fakes, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_pair("model", "interrupted", **fakes.loaders, results=tmp_path, raise_errors=False)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize(("name", "message"), [("array", r"shape \(2,\)"), ("infinite", "is its ceiling 0")])
def test_what_is_no_score_fails(fakes, name, message):
    with pytest.raises(BrainScoreError, match=message):
        run_pair("model", name, **fakes.loaders)


def test_a_model_that_does_not_load_fails(fakes, tmp_path):
    def load_model(identifier):
        raise ImportError("No module named 'torch'")

    loaders = {**fakes.loaders, "load_model": load_model}
    receipt = run_pair("model", "scored", **loaders, results=tmp_path, raise_errors=False).receipt
    assert receipt.state == "failed"
    assert receipt.timings.score is None
    assert receipt.benchmark.version == 2


def test_impossible_names_are_refused_before_anything_loads(fakes, tmp_path):
    def load(identifier):
        raise AssertionError("loaded")

    with pytest.raises(UserError, match="at most"):
        run_pair("m" * 500, "scored", load_model=load, load_benchmark=load, results=tmp_path)


def test_controls_are_marked(fakes):
    assert run_pair("model", "control", **fakes.loaders).receipt.benchmark.control is True
    assert run_pair("model", "scored", **fakes.loaders).receipt.benchmark.control is False


def test_a_benchmark_without_ceiling(fakes):
    def no_ceiling():
        raise NotImplementedError

    fakes.benchmarks["open"] = fakes.FakeBenchmark(make=lambda: Score(0.3), ceiling_func=no_ceiling)
    receipt = run_pair("model", "open", **fakes.loaders).receipt
    assert receipt.ceiling is None
    assert receipt.score.value == 0.3


def test_lower_bound_of_a_noise_ceiling(fakes):
    def bounds():
        score = fakes.ceiling(0.666, "upper bound")
        score.attrs["lower_bound_loo"] = np.float64(0.372)
        return score

    fakes.benchmarks["bounds"] = fakes.FakeBenchmark(ceiling_func=bounds)
    receipt = run_pair("model", "bounds", **fakes.loaders).receipt
    assert (receipt.ceiling.value, receipt.ceiling.lower_bound) == (0.666, 0.372)


def test_raw_values_that_cannot_be_stored_do_not_lose_the_score(fakes, tmp_path):
    def make():
        score = fakes.metric_score()
        score.attrs["predictions"] = ["a list"]
        score.attrs["raw"] = DataAssembly(np.array([object(), 1.0], dtype=object), dims=["neuroid"])
        return score

    fakes.benchmarks["odd"] = fakes.FakeBenchmark(make=make)
    receipt = run_pair("model", "odd", **fakes.loaders, results=tmp_path).receipt
    assert receipt.state == "scored"
    assert receipt.attachments == ()
    assert len(receipt.notes) == 2
    assert "list is not an assembly" in receipt.notes[0]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [f"{receipt.id}.json"]


def test_the_run_is_told(fakes, tmp_path):
    run = RunInfo(id="run-1", isolated=True, environment="abc", packages={"torch": "2.4"})
    receipt = run_pair("model", "scored", **fakes.loaders, results=tmp_path, run=run).receipt
    assert receipt.run == run
    assert strict(only_file(tmp_path))["run"]["packages"] == {"torch": "2.4"}


@pytest.mark.parametrize("benchmark", ["scored", "broken", "refused"])
def test_what_was_printed_is_kept(fakes, tmp_path, benchmark):
    printed = ["reading /home/someone/data/stimuli.csv"]

    def load_model(identifier):
        printed.append("https://me:secret@example.org/weights.pt is loaded")

    loaders = {**fakes.loaders, "load_model": load_model}
    store = ResultsStore(tmp_path)
    receipt = run_pair(
        "model", benchmark, **loaders, results=store, raise_errors=False, log=lambda: "\n".join(printed)
    ).receipt
    assert store.read_log(receipt) == "reading …/stimuli.csv\nhttps://example.org/weights.pt is loaded\n"
    assert store.attachment_path(receipt, "log").name == f"{receipt.id}.log"


def test_nothing_printed_is_no_log(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    receipt = run_pair("model", "refused", **fakes.loaders, results=store, log="\n  \n").receipt
    assert receipt.attachments == ()
    assert store.read_log(receipt) is None


def test_what_a_benchmark_remarks_is_kept(fakes):
    class Remarking(fakes.FakeBenchmark):
        def __call__(self, candidate):
            score = super().__call__(candidate)
            score.attrs["comment"] = "on 160 of 1280 stimuli"
            return score

    fakes.benchmarks["partial"] = Remarking(make=fakes.metric_score)
    assert run_pair("model", "partial", **fakes.loaders).receipt.notes == ("on 160 of 1280 stimuli",)


def test_a_folder_that_cannot_be_written_is_refused_before_anything_loads(fakes, tmp_path):
    (tmp_path / "file").write_text("in the way")

    def load(identifier):
        raise AssertionError("loaded")

    with pytest.raises(UserError, match=r"cannot be written(.|\n)*BRAINSCORE_RESULTS"):
        run_pair("model", "scored", load_model=load, load_benchmark=load, results=tmp_path / "file" / "results")


def plugin_folder(folder):
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("model_registry['m'] = Model\n")
    (folder / "model.py").write_text("class Model: ...\n")
    (folder / "test.py").write_text("def test(): ...\n")
    return folder


def test_plugin_code_is_hashed_wherever_it_lies(fakes, tmp_path):
    first, second = plugin_folder(tmp_path / "a" / "mine"), plugin_folder(tmp_path / "b" / "mine")
    (second / "test.py").write_text("def test_more(): ...\n")
    (second / "__pycache__").mkdir()
    (second / "__pycache__" / "x.pyc").write_bytes(b"1")
    codes = [
        run_pair("model", "scored", **fakes.loaders, plugins={"model": folder}).receipt.model.plugin
        for folder in (first, second)
    ]
    assert codes[0] == codes[1]
    assert codes[0].name == "mine"
    (second / "model.py").write_text("class Model: changed = True\n")
    changed = run_pair("model", "scored", **fakes.loaders, plugins={"model": second}).receipt.model.plugin
    assert changed.sha256 != codes[0].sha256


def test_a_function_finds_the_plugins_of_data_too(fakes, tmp_path):
    folder = plugin_folder(tmp_path / "fake2026")
    receipt = run_pair(
        "model", "scored", **fakes.loaders, plugins=lambda kind, identifier: folder if kind == "data" else None
    ).receipt
    assert receipt.data[0].plugin.name == "fake2026"
    assert receipt.model.plugin is None


def test_plugins_name_the_distribution_that_installed_them(fakes):
    import brainscore_core

    for package, distribution in ((brainscore_core, "brainscore"), (np, "numpy")):
        folder = Path(package.__file__).parent / ("numerics" if package is brainscore_core else "fft")
        plugin = run_pair("model", "scored", **fakes.loaders, plugins={"model": folder}).receipt.model.plugin
        assert (plugin.distribution, plugin.version) == (distribution, metadata.version(distribution))


def test_no_path_and_no_name_of_a_machine_leaks(fakes, tmp_path, monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "alice42")
    monkeypatch.setattr(socket, "gethostname", lambda: "labserver7.example.org")
    from brainscore_core.receipts import output

    output._personal_names.cache_clear()

    def make():
        try:
            (tmp_path / "stimuli of mine" / "a.csv").read_text()
        except FileNotFoundError as error:
            raise RuntimeError(
                f"cannot read {tmp_path}/x.csv, C:\\Users\\alice42\\y.csv, /home/alice42/z.csv on labserver7; "
                "see https://alice42:pw@example.org/data/set?key=secret"
            ) from error

    fakes.benchmarks["leaky"] = fakes.FakeBenchmark(make=make)
    run_pair("model", "leaky", **fakes.loaders, results=tmp_path / "results", raise_errors=False)
    run_pair("model", "scored", **fakes.loaders, results=tmp_path / "results")
    output._personal_names.cache_clear()
    for path in (tmp_path / "results").rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        for secret in ("alice42", "labserver7", "secret", str(tmp_path), str(Path.home()) + "/", "/home/", "C:\\\\"):
            assert secret not in text, (path.name, secret)
    assert "https://example.org/data/set" in ResultsStore(tmp_path / "results").latest("model", "leaky").error.message
