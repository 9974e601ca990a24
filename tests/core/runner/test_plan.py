"""Which pairs are still to be scored."""

import itertools
import shutil
from dataclasses import replace

import pytest

from brainscore_core.errors import UserError
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.receipts.environment import describe_plugin
from brainscore_core.runner.plan import ModelTask, Pair, Plan, make_plan
from brainscore_core.scoring import (
    BenchmarkInfo,
    DataItem,
    ErrorInfo,
    Estimate,
    Listing,
    ModelInfo,
    PluginCode,
    Receipt,
    ResultsStore,
    Timings,
)

VERSIONS = {"A2026-pls": 2, "B2026-rdm": 1}


@pytest.fixture
def folders(tmp_path):
    """Plugins of two models and two benchmarks."""
    made = {}
    for kind, identifier in (("model", "m"), ("model", "n"), ("benchmark", "A2026-pls"), ("benchmark", "B2026-rdm")):
        folder = tmp_path / "plugins" / identifier
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(f"# {identifier}\n")
        made[kind, identifier] = folder
    return made


@pytest.fixture
def place(folders):
    return lambda kind, identifier: folders.get((kind, identifier))


def receipt(place, model="m", benchmark="A2026-pls", state="scored", *, version=None, seconds=None, **fields):
    def code(kind, identifier):
        folder = place(kind, identifier)
        return describe_plugin(folder) if folder is not None else None

    version = VERSIONS.get(benchmark) if version is None else version
    return Receipt(
        model=ModelInfo(identifier=model, plugin=code("model", model)),
        benchmark=BenchmarkInfo(identifier=benchmark, version=version, plugin=code("benchmark", benchmark)),
        state=state,
        score=Estimate(value=0.5) if state == "scored" else None,
        error=ErrorInfo(type="ValueError", message="no", traceback="no") if state == "failed" else None,
        reason=None if state == "scored" else f"{state} because",
        timings=Timings(total=seconds),
        **fields,
    )


def planned(store, place, *, models=("m", "n"), benchmarks=tuple(VERSIONS), **how):
    return make_plan(models, benchmarks, store, plugins=place, version_of=VERSIONS.get, **how)


def whys(plan):
    return {tuple(one.pair): one.why for one in plan.pending}


def test_everything_is_missing_at_first_and_one_task_holds_a_model(tmp_path, place):
    plan = planned(ResultsStore(tmp_path / "results"), place)
    assert [(task.model, task.benchmarks) for task in plan.tasks] == [("m", tuple(VERSIONS)), ("n", tuple(VERSIONS))]
    assert set(whys(plan).values()) == {"missing"}
    assert plan.done == ()
    assert plan.unknown == 4
    assert plan.tasks[0] == ModelTask(model="m", benchmarks=tuple(VERSIONS), memory=None, gpu=0, seconds=None)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("state", ["scored", "not applicable", "undefined"])
def test_these_states_are_done(tmp_path, place, state):
    store = ResultsStore(tmp_path / "results")
    store.write(receipt(place, state=state))
    plan = planned(store, place, models=["m"])
    assert plan.done == (Pair("m", "A2026-pls"),)
    assert whys(plan) == {("m", "B2026-rdm"): "missing"}


def test_the_newest_receipt_counts(tmp_path, place):
    store = ResultsStore(tmp_path / "results")
    store.write(receipt(place))
    store.write(receipt(place, state="failed"))
    plan = planned(store, place, models=["m"], benchmarks=["A2026-pls"])
    assert whys(plan) == {("m", "A2026-pls"): "failed"}
    assert plan.pending[0].detail == "failed because"
    store.write(receipt(place))
    assert planned(store, place, models=["m"], benchmarks=["A2026-pls"]).tasks == ()


@pytest.mark.parametrize(
    ("kind", "identifier", "detail"),
    [("model", "m", "of the model"), ("benchmark", "A2026-pls", "of the benchmark")],
)
def test_changed_code_is_scored_again(tmp_path, folders, place, kind, identifier, detail):
    store = ResultsStore(tmp_path / "results")
    for model, benchmark in itertools.product(("m", "n"), VERSIONS):
        store.write(receipt(place, model, benchmark))
    assert planned(store, place).pending == ()
    (folders[kind, identifier] / "__init__.py").write_text("# anew\n")
    plan = planned(store, place)
    touched = {pair for pair in itertools.product(("m", "n"), VERSIONS) if identifier in pair}
    assert whys(plan) == dict.fromkeys(touched, "code changed")
    assert {one.detail for one in plan.pending} == {detail}
    assert len(plan.done) == 2
    (folders[kind, identifier] / "test.py").write_text("# tests are no code\n")
    (folders[kind, identifier] / "__init__.py").write_text(f"# {identifier}\n")
    assert planned(store, place).pending == ()


def test_changed_code_of_a_metric_or_data_is_scored_again(tmp_path, folders, place):
    for kind, identifier in (("metric", "pls"), ("data", "Lab2026")):
        folders[kind, identifier] = tmp_path / "plugins" / identifier
        folders[kind, identifier].mkdir()
        (folders[kind, identifier] / "__init__.py").write_text("# before\n")
    items = tuple(
        DataItem(kind=kind, identifier=name, plugin=describe_plugin(folders[kind, name]) if name != "none" else None)
        for kind, name in (("data", "Lab2026"), ("metric", "pls"), ("stimulus_set", "none"))
    )
    store = ResultsStore(tmp_path / "results")
    store.write(receipt(place, data=items))
    assert planned(store, place, models=["m"], benchmarks=["A2026-pls"]).pending == ()
    for kind, identifier in (("metric", "pls"), ("data", "Lab2026")):
        (folders[kind, identifier] / "__init__.py").write_text("# after\n")
    (one,) = planned(store, place, models=["m"], benchmarks=["A2026-pls"]).pending
    assert (one.why, one.detail) == ("code changed", "of the data 'Lab2026' and the metric 'pls'")


def test_another_version_is_scored_again_and_an_unknown_one_is_not_compared(tmp_path, place):
    store = ResultsStore(tmp_path / "results")
    store.write(receipt(place, version=1))
    plan = planned(store, place, models=["m"], benchmarks=["A2026-pls"])
    assert [(one.why, one.detail) for one in plan.pending] == [("version changed", "scored with version 1, now 2")]
    for unknown in (None, lambda benchmark: None):
        assert make_plan(["m"], ["A2026-pls"], store, plugins=place, version_of=unknown).pending == ()


def test_code_that_nobody_knows_is_not_compared(tmp_path, folders, place):
    store = ResultsStore(tmp_path / "results")
    store.write(receipt(place))
    shutil.rmtree(folders["model", "m"])
    del folders["model", "m"]
    assert planned(store, place, models=["m"], benchmarks=["A2026-pls"]).pending == ()
    assert make_plan(["m"], ["A2026-pls"], store).pending == ()


def test_code_that_the_receipt_does_not_know_counts_as_changed(tmp_path, place):
    store = ResultsStore(tmp_path / "results")
    unknown = receipt(place)
    store.write(replace(unknown, model=replace(unknown.model, plugin=None)))
    assert set(whys(planned(store, place, models=["m"], benchmarks=["A2026-pls"])).values()) == {"code changed"}


@pytest.mark.parametrize(
    ("again", "pending", "skipped"),
    [
        ("failed", {"m failed", "n missing", "o code changed"}, set()),
        ("none", {"n missing"}, {"m failed", "o code changed"}),
        ("all", {"m failed", "n missing", "o code changed", "p again"}, set()),
    ],
)
def test_what_is_scored_again(tmp_path, again, pending, skipped):
    def place(kind, identifier):
        return None

    store = ResultsStore(tmp_path / "results")
    store.write(receipt(place, "m", state="failed"))
    store.write(receipt(place, "p"))
    folder = tmp_path / "o"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    store.write(
        replace(receipt(place, "o"), model=ModelInfo(identifier="o", plugin=PluginCode(name="o", sha256="0" * 64)))
    )
    plan = make_plan(
        ["m", "n", "o", "p"], ["A2026-pls"], store, again=again,
        plugins=lambda kind, identifier: folder if identifier == "o" else None,
    )  # fmt: skip
    assert {f"{one.pair.model} {one.why}" for one in plan.pending} == pending
    assert {f"{one.pair.model} {one.why}" for one in plan.skipped} == skipped
    assert {task.model for task in plan.tasks} == {one.pair.model for one in plan.pending}
    with pytest.raises(UserError, match="choose one of failed, none, all"):
        make_plan(["m"], ["A2026-pls"], store, again="sometimes")


def test_each_plugin_is_hashed_once(tmp_path, place, monkeypatch):
    from brainscore_core.runner import plan as module

    store = ResultsStore(tmp_path / "results")
    for model, benchmark in itertools.product(("m", "n"), VERSIONS):
        store.write(receipt(place, model, benchmark))
    asked = []
    monkeypatch.setattr(module, "plugin_hash", lambda folder: asked.append(folder) or plugin_hash(folder))
    planned(store, place)
    assert len(asked) == len(set(asked)) == 4


def test_the_longest_task_begins_first_and_unknown_ones_before_it(place):
    receipts = [
        receipt(place, model, benchmark, seconds=seconds)
        for model, seconds in (("short", 2.0), ("long", 50.0), ("longer", 60.0))
        for benchmark in ("A2026-pls", "B2026-rdm")
    ]
    models = ["short", "long", "longer"]
    plan = make_plan(models, list(VERSIONS), Listing(tuple(receipts)), again="all")
    assert [task.model for task in plan.tasks] == ["longer", "long", "short"]
    assert [one.pair.model for one in plan.pending][::2] == models
    assert [task.seconds for task in plan.tasks] == [120.0, 100.0, 4.0]
    value, low, high = plan.seconds
    assert value == 224.0
    assert low < value < high
    assert plan.wall_seconds(1) == 224.0
    assert plan.wall_seconds(2) == 120.0
    assert plan.wall_seconds(5) == 120.0
    with pytest.raises(UserError, match="0 workers"):
        plan.wall_seconds(0)
    more = make_plan([*models, "new"], [*VERSIONS, "C2026-new"], Listing(tuple(receipts)), again="all")
    assert more.tasks[0].model == "new"
    assert more.unknown == 1  # a new model on a new benchmark
    assert more.tasks[0].seconds is None


def test_a_pair_is_asked_for_once_and_gpus_by_model(place):
    plan = make_plan(["m", "m", "n"], ["A2026-pls", "A2026-pls"], Listing(), gpu={"n": 1})
    assert [tuple(one.pair) for one in plan.pending] == [("m", "A2026-pls"), ("n", "A2026-pls")]
    assert {task.model: task.gpu for task in plan.tasks} == {"m": 0, "n": 1}
    assert Plan().wall_seconds(3) == 0


def test_a_receipt_that_cannot_be_read_does_not_count(tmp_path, place):
    store = ResultsStore(tmp_path / "results")
    written = store.write(receipt(place))
    path = next((tmp_path / "results").rglob(f"{written.id}.json"))
    path.write_text("{}")
    plan = planned(store, place, models=["m"], benchmarks=["A2026-pls"])
    assert whys(plan) == {("m", "A2026-pls"): "missing"}
    assert [written.id in str(problem) for problem in plan.problems] == [True]
