"""The catalogue against what models and benchmarks say of themselves."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import brainscore_vision
from brainscore_core.errors import UnknownIdentifier
from brainscore_vision import benchmark_registry, load_benchmark, model_registry
from brainscore_vision.catalogue import leaderboard_tree, node_name
from brainscore_vision.catalogue.contents import Catalogue, catalogue


@pytest.fixture(scope="module")
def known():
    return catalogue()


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """``lab(kind, name, **files)`` writes a plugin, and gives its folder."""
    (tmp_path / "models").mkdir()
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path))

    def write(kind, name, **files):
        folder = tmp_path / kind / name
        folder.mkdir(parents=True)
        for file, text in files.items():
            path = folder / file.replace("_yml", ".yml") if file.endswith("_yml") else folder / f"{file}.py"
            path.write_text(textwrap.dedent(text))
        brainscore_vision.plugin_index.refresh()
        return folder

    yield write
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    brainscore_vision.plugin_index.refresh()


def one_model(identifier):
    found = catalogue(models=[identifier], benchmarks=[])
    (entry,) = found.models
    return entry, found.problems


def test_everything_is_there_once_in_order(known):
    assert [entry.identifier for entry in known.models] == list(model_registry)
    assert [entry.identifier for entry in known.benchmarks] == list(benchmark_registry)
    assert known.problems == ()
    assert {entry.distribution for entry in (*known.models, *known.benchmarks)} == {"brainscore"}
    assert all(entry.distribution_version for entry in known.models)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("identifier", benchmark_registry)
def test_benchmarks_are_as_they_say_themselves(identifier, known, stand_ins):
    (entry,) = (entry for entry in known.benchmarks if entry.identifier == identifier)
    benchmark = load_benchmark(identifier)
    assert entry.version == benchmark.version
    assert entry.control == bool(getattr(benchmark, "control", False))
    parent = None if entry.control else node_name(benchmark.parent)
    if entry.parent != parent:  # the leaderboard may gather benchmarks in a node below the parent that they name
        assert parent in leaderboard_tree().ancestors(identifier)
    assert entry.bibtex == benchmark.bibtex


def test_models(known):
    entries = {entry.identifier: entry for entry in known.models}
    alexnet = entries["alexnet"]
    assert (alexnet.plugin, alexnet.metadata.family, alexnet.metadata.size_mb) == ("alexnet", "alexnet", 244.4)
    assert alexnet.bibtex.startswith("@inproceedings{NIPS2012_4824")
    assert alexnet.source == alexnet.metadata.source
    assert all(entry.bibtex for entry in known.models if entry.identifier != "simulated-truth")


@pytest.mark.parametrize(
    ("identifier", "layers"),
    [
        ("alexnet", {"V1": ("features.2",), "V2": ("features.7",), "V4": ("features.7",), "IT": ("features.12",)}),
        ("vit_base_patch16_clip_224:openai_ft_in1k", None),
        ("convnext_tiny_sup", None),
        ("alexnet-untrained", None),
    ],
)
def test_layers_are_those_of_the_plugins_file(known, identifier, layers):
    entries = {entry.identifier: entry for entry in known.models}
    found = entries[identifier].layers
    assert list(found) == ["V1", "V2", "V4", "IT"]
    if layers is not None:
        assert found == layers
    assert one_model(identifier)[0].layers == found  # also where its twin is not asked for


def test_aliases_and_twins_have_the_layers_of_the_same_network(known):
    layers = {entry.identifier: entry.layers for entry in known.models}
    assert layers["convnext_tiny_sup"] == layers["convnext"] == layers["convnext-untrained"]
    assert layers["dinov2"] == layers["vit_base_patch14_dinov2-lvd142m"]
    assert layers["clip"] is None  # selected on benchmarks
    assert layers["grcnn_robust_v1"] is None


def test_plain_values(known):
    plain = json.loads(json.dumps(known.as_dict(), allow_nan=False))
    assert set(plain) == {"models", "benchmarks", "problems"}
    by_name = {entry["identifier"]: entry for entry in plain["benchmarks"]}
    assert by_name["Papale2025.V4-ridge"]["metadata"]["data"]["regions"] == ["V4"]
    assert by_name["Papale2025.V4-ridge"]["metadata"]["data"]["n_neuroids"] == 315
    assert "CORnet-S" in {entry["identifier"] for entry in plain["models"]}


def test_a_choice_and_unknown_names():
    found = catalogue(models=["pixels", "gabor", "pixels"], benchmarks=[])
    assert [entry.identifier for entry in found.models] == ["gabor", "pixels"]
    assert found.benchmarks == ()
    assert catalogue(models=[], benchmarks=[]) == Catalogue()
    assert catalogue(models="gabor", benchmarks=[]).models == found.models[:1]
    with pytest.raises(UnknownIdentifier, match=r"no model 'pixel'. Nearest: pixels"):
        catalogue(models=["pixel"], benchmarks=[])


def test_neither_torch_nor_data_nor_a_benchmark_is_loaded():
    code = """
        import sys
        from brainscore_core.plugins import Registry

        def refuse(self, key, *arguments, **options):
            raise SystemExit(f"made {key}")
        Registry.make = refuse
        from brainscore_vision.catalogue.contents import catalogue
        known = catalogue()
        assert len(known.benchmarks) >= 277
        print(" ".join(sorted({name.split(".")[0] for name in sys.modules})))
        print(*(name for name in sys.modules if name.startswith("brainscore_vision.")))
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    libraries, modules = (set(line.split()) for line in run.stdout.splitlines())
    assert libraries & {"torch", "torchvision", "timm", "sklearn", "netCDF4"} == set()
    assert not any(name.endswith(".model") for name in modules)


MODEL = """
    from brainscore_vision import model_registry

    def _make():
        raise SystemError("made")

    model_registry["lab-net"] = _make
"""
BENCHMARK = MODEL.replace("model_registry", "benchmark_registry").replace("lab-net", "Lab2026.V1-pls")


def test_a_plugin_that_cannot_be_imported_is_a_problem(lab):
    lab("models", "broken", __init__=MODEL + "    raise ValueError('no such file')\n")
    lab("models", "needy", __init__="import no_such_thing\n" + textwrap.dedent(MODEL.replace("lab-net", "needy-net")))
    found = catalogue(models=["lab-net", "needy-net", "pixels"], benchmarks=[])
    assert [entry.metadata is None for entry in found.models] == [True, True, False]
    broken, needy = found.problems
    assert (broken.kind, broken.plugin, broken.identifiers) == ("models", "broken", ("lab-net",))
    assert "ValueError: no such file" in broken.message
    assert (needy.plugin, needy.identifiers) == ("needy", ("needy-net",))
    assert "no_such_thing" in needy.message


def test_a_model_that_two_plugins_register(lab):
    lab("models", "one", __init__=MODEL)
    lab("models", "two", __init__=MODEL)
    _, (problem,) = one_model("lab-net")
    assert (problem.kind, problem.plugin, problem.identifiers) == ("models", "one", ("lab-net",))
    assert "registered in 2 places" in problem.message


def test_a_plugin_without_metadata(lab):
    folder = lab("models", "plain", __init__=MODEL, model='BIBTEX = "@misc{lab, title = {Lab}}"')
    entry, problems = one_model("lab-net")
    assert problems == ()
    assert (entry.metadata, entry.layers, entry.source, entry.distribution) == (None, None, None, None)
    assert entry.bibtex == "@misc{lab, title = {Lab}}"
    (folder / "more.py").write_text('OTHER = "@misc{other, title = {Other}}"')
    assert one_model("lab-net")[0].bibtex is None  # nobody knows which of the two


def test_metadata_in_yaml_and_in_python(lab):
    pytest.importorskip("yaml")
    yml = "models: {lab-net: {architecture: DCNN, model_family: LabNet}}\n"
    folder = lab("models", "both", __init__=MODEL, metadata_yml=yml)
    entry, problems = one_model("lab-net")
    assert (problems, entry.metadata.family, entry.metadata.architecture) == ((), "labnet", "DCNN")
    (folder / "__init__.py").write_text(textwrap.dedent(MODEL) + "raise ValueError('broken')\n")
    brainscore_vision.plugin_index.refresh()
    for name in [name for name in sys.modules if name.endswith("models.both")]:
        del sys.modules[name]
    entry, (problem,) = one_model("lab-net")
    assert entry.metadata.family == "labnet"  # what can be read stays
    assert problem.identifiers == ()


def test_python_goes_before_yaml(lab):
    pytest.importorskip("yaml")
    python = MODEL + (
        "    from brainscore_vision.model_helpers.metadata import ModelMetadata\n"
        "    METADATA = {'lab-net': ModelMetadata(architecture='mine', parameters=1, training_data=None,\n"
        "        code_licence=None, weights_licence=None, source=None, bibtex=None)}\n"
    )
    lab("models", "before", __init__=python, metadata_yml="models: {lab-net: {architecture: DCNN}}\n")
    entry, problems = one_model("lab-net")
    assert (entry.metadata.architecture, problems) == ("mine", ())


def test_a_benchmark_of_others(lab):
    metadata = """
        from brainscore_vision.benchmark_helpers.metadata import BenchmarkMetadata, DataMetadata

        METADATA = {"Lab2026.*": BenchmarkMetadata(title="Lab", data=DataMetadata(species="ferret"))}
    """
    lab("benchmarks", "ferrets", __init__=BENCHMARK, metadata=metadata)
    found = catalogue(models=[], benchmarks=["Lab2026.V1-pls"])
    (entry,) = found.benchmarks
    assert found.problems == ()
    assert entry.metadata.data.species == "ferret"
    assert (entry.version, entry.parent, entry.control) == (None, None, False)  # only the benchmark could say it


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ("METADATA = {'Lab2026.V1-pls': {'species': 'ferret'}}", "is a dict, not a BenchmarkMetadata"),
        ("METADATA = ['ferret']", "is a list, not a dictionary by identifier"),
        ("METADATA = 1 / 0", "cannot be imported: ZeroDivisionError"),
    ],
)
def test_metadata_that_are_none(lab, metadata, message):
    lab("benchmarks", "odd", __init__=BENCHMARK, metadata=metadata)
    found = catalogue(models=[], benchmarks=["Lab2026.V1-pls"])
    (problem,) = found.problems
    assert message in problem.message
    assert (problem.kind, problem.plugin, problem.identifiers) == ("benchmarks", "odd", ("Lab2026.V1-pls",))
    assert found.benchmarks[0].metadata is None


def test_a_broken_file_of_layers_and_of_metadata(lab):
    pytest.importorskip("yaml")
    folder = lab("models", "layers", __init__=MODEL, metadata_yml="models: [")
    (folder / "region_layer_map").mkdir()
    (folder / "region_layer_map" / "lab-net.json").write_text('["V1"]')
    entry, (problem,) = one_model("lab-net")
    assert entry.layers is None
    assert "is not valid YAML" in problem.message
    (folder / "region_layer_map" / "lab-net.json").write_text('{"V1": "first", "IT": ["second", "third"]}')
    assert one_model("lab-net")[0].layers == {"V1": ("first",), "IT": ("second", "third")}


def test_a_published_plugin_with_its_metadata(monkeypatch):
    pytest.importorskip("torch")
    folder = Path(__file__).parents[1] / "plugins_of_others"
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(folder))
    brainscore_vision.plugin_index.refresh()
    try:
        names = [key for key in model_registry if model_registry.location(key).folder.name == "lab_convnet"]
        entry, problems = one_model(names[0])
    finally:
        monkeypatch.delenv("BRAINSCORE_PLUGINS")
        brainscore_vision.plugin_index.refresh()
    assert problems == ()
    assert entry.identifier == "lab_convnet"
    assert (entry.metadata.architecture, entry.metadata.family) == ("DCNN", "convnet")


def test_a_model_of_this_process(monkeypatch):
    model_registry["of-this-process"] = lambda: None
    try:
        entry, problems = one_model("of-this-process")
    finally:
        del model_registry["of-this-process"]
    assert (entry.metadata, problems) == (None, ())
