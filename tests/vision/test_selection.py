"""Names, patterns and groups become models and benchmarks, without an import of any plugin."""

import subprocess
import sys
import textwrap

import pytest

from brainscore_core.domains import domain
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.runner.selection import plan_selection, select, select_benchmarks, select_models
from brainscore_core.scoring import ResultsStore
from brainscore_vision import benchmark_registry, model_registry
from brainscore_vision.catalogue import leaderboard_tree

VISION = domain("vision")


def test_names_and_patterns_of_models():
    names, files = select_models(VISION, ["gabor", "pix*", "GABOR*", "gabor"])
    assert names == ("gabor", "pixels")
    assert files == {}
    resnets = select_models(VISION, ["resnet*"])[0]
    assert resnets == tuple(sorted(key for key in model_registry if key.startswith("resnet")))
    assert "resnet-50" in resnets
    assert "resnet-50-untrained" in resnets  # twins are registered under their own names
    assert not any(name.endswith("-untrained") for name in select_models(VISION, ["resnet-50", "resnet-[15]?"])[0])


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("pixel", "Nearest: pixels"),
        ("alexnt*", "nearest: alexnet"),
        ("zzz*", "list them with: brainscore list models"),
        ("absent.py:make", "there is no file 'absent.py'"),
    ],
)
def test_a_model_that_fits_nothing_is_an_error(wanted, message):
    with pytest.raises(UserError, match=message.replace("*", r"\*")):
        select_models(VISION, ["pixels", wanted])


def test_models_in_files_have_names_that_are_known_before_they_are_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "net.py").write_text("")
    names, files = select_models(VISION, ["net.py:make", f"mine={tmp_path}/net.py:make", "net.py:make"])
    assert names == ("net:make", "mine")
    assert files == {"net:make": f"{tmp_path}/net.py:make", "mine": f"{tmp_path}/net.py:make"}
    for clash in (["net.py:make", "other/net.py:make"], ["pixels=net.py:make"]):
        with pytest.raises(UserError, match=r"(?s)would both be called .*give it another name: NAME=.*net\.py:make"):
            select_models(VISION, clash)
    assert len(select_models(VISION, ["net.py:make", "theirs=other/net.py:make"])[0]) == 2


def test_groups_of_the_tree():
    tree = leaderboard_tree()
    assert select_benchmarks(VISION, ["all"]) == tree.benchmarks
    v1 = select_benchmarks(VISION, ["all:V1"])
    assert "FreemanZiemba2013.V1-pls" in v1
    assert "Marques2020_Ringach2002-or_selective" in v1  # two nodes below
    assert not any("V4" in name for name in v1)
    neural = set(select_benchmarks(VISION, ["all:neural"]))
    assert neural == set(select_benchmarks(VISION, ["all:neural_vision"]))
    assert neural > set(v1)
    behaviour = set(select_benchmarks(VISION, ["all:behavior"]))
    assert behaviour == set(select_benchmarks(VISION, ["all:behaviour"]))
    engineering = set(select_benchmarks(VISION, ["all:engineering"]))
    assert "ImageNet-top1" in engineering
    assert neural | behaviour | engineering == set(tree.benchmarks)
    assert neural | behaviour == set(select_benchmarks(VISION, ["all:average"]))
    assert not (neural & behaviour) | (neural & engineering) | (behaviour & engineering)


def test_the_controls_are_a_group_of_their_own():
    controls = select_benchmarks(VISION, ["all:simulated"])
    assert controls == tuple(sorted(key for key in benchmark_registry if key.startswith("Simulated2026.")))
    assert len(controls) == 4


def test_names_patterns_and_composed_names_of_benchmarks():
    found = select_benchmarks(VISION, ["Simulated2026.IT:cka_cv", "majajhong2015PUBLIC.*-pls", "Simulated2026.V1-pls"])
    assert found[0] == "Simulated2026.IT:cka_cv"
    assert found[-1] == "Simulated2026.V1-pls"
    assert found[1:-1] == tuple(
        sorted(key for key in benchmark_registry if key.startswith("MajajHong2015public.") and key.endswith("-pls"))
    )


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        ("Simulated2026.V1-plss", UnknownIdentifier, "Nearest: Simulated2026.V1-pls"),
        ("Simulated2025.*", UserError, "nearest: Simulated2026"),
        ("all:V5", UserError, r"has no node 'V5'\nnodes: .*V1, "),
        ("all:nerual", UserError, "nearest: neural"),
        ("all:MajajHong2015.IT-pls", UserError, "has no node"),
        ("all:zzzzzz", UserError, "nodes: .*V1.*neural"),
        ("Simulated2026.IT:ckacv", UserError, "There is no metric 'ckacv'"),
        ("Simulated2025.IT:cka_cv", UserError, "nearest: Simulated2026.IT"),
    ],
)
def test_a_benchmark_that_fits_nothing_is_an_error(wanted, error, message):
    with pytest.raises(error, match=message):
        select_benchmarks(VISION, [wanted])


def test_no_plugin_is_imported(tmp_path):
    code = """
        import sys
        from brainscore_core.scoring import ResultsStore
        from brainscore_core.runner.selection import plan_selection, select

        selection = select(["*"], ["all", "all:simulated", "MajajHong2015public.IT:cka_cv"])
        assert len(selection.models) > 10 and len(selection.benchmarks) > 80
        plan = plan_selection(selection, ResultsStore(sys.argv[1]))
        assert len(plan.pending) == len(selection.models) * len(selection.benchmarks)
        plugins = ("brainscore_vision.benchmarks.", "brainscore_vision.models.", "brainscore_vision.data.")
        print([name for name in sys.modules if name.startswith(plugins) or name == "torch"])
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "none")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "[]", run.stderr
    assert not (tmp_path / "none").exists()


def test_the_plan_knows_versions_and_code(tmp_path):
    from dataclasses import replace

    from brainscore_core.receipts.environment import describe_plugin
    from brainscore_core.runner.selection import folder_finder
    from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt

    file = tmp_path / "net.py"
    file.write_text("def make(): ...\n")
    selection = select([f"{file}:make"], ["MajajHong2015public.IT-pls", "MajajHong2015public.IT:cka_cv"])
    folder = folder_finder(VISION, selection.files)
    store = ResultsStore(tmp_path / "results")
    for benchmark in selection.benchmarks:
        plugin = describe_plugin(folder("benchmark", benchmark))
        receipt = Receipt(
            model=ModelInfo(identifier="net:make", plugin=describe_plugin(folder("model", "net:make"))),
            benchmark=BenchmarkInfo(identifier=benchmark, version=4, plugin=plugin),
            state="scored",
            score=Estimate(value=0.5),
        )
        store.write(receipt)
    assert len(plan_selection(selection, store).done) == 2
    store.write(replace(receipt, benchmark=replace(receipt.benchmark, version=3)))
    assert [one.detail for one in plan_selection(selection, store).pending] == ["scored with version 3, now 4"]
    file.write_text("def make(): return 1\n")
    assert {one.why for one in plan_selection(selection, store).pending} == {"code changed", "version changed"}
