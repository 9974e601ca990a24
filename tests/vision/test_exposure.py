"""Whether models were trained on the stimuli of benchmarks."""

import textwrap

import pytest

import brainscore_vision
from brainscore_core.errors import UnknownIdentifier
from brainscore_vision.catalogue.contents import catalogue, exposure, training_sets

MODEL = """
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

def about(parameters=3, **fields):
    return ModelMetadata(architecture="network", parameters=parameters, training_data=None, code_licence=None,
                         weights_licence=None, source=None, bibtex=None, **fields)

METADATA = {
    "lab-places": about(trained_on=("Places365",)),
    "lab-large": about(trained_on=("ImageNet-22k", "Places365")),
    "lab-silent": about(),
    "lab-tuned": about(trained_on=("Shapes2026",), fine_tuned_from="lab-places"),
    "lab-tuned-silent": about(trained_on=("Shapes2026",), fine_tuned_from="lab-silent"),
    "lab-tuned-elsewhere": about(trained_on=(), fine_tuned_from="not-registered"),
    "lab-circle": about(trained_on=("Places365",), fine_tuned_from="lab-circle"),
    "lab-untrained": about(twin_of="lab-silent"),
    "lab-fixed": about(parameters=0),
}
model_registry["lab-places"] = lambda: None
model_registry["lab-large"] = lambda: None
model_registry["lab-silent"] = lambda: None
model_registry["lab-tuned"] = lambda: None
model_registry["lab-tuned-silent"] = lambda: None
model_registry["lab-tuned-elsewhere"] = lambda: None
model_registry["lab-circle"] = lambda: None
model_registry["lab-untrained"] = lambda: None
model_registry["lab-fixed"] = lambda: None
"""

BENCHMARK = """
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import BenchmarkMetadata, StimuliMetadata

def about(*names):
    return BenchmarkMetadata(stimuli=StimuliMetadata(taken_from=names))

METADATA = {
    "Lab2026.IT-places": about("places365", "Drawings"),
    "Lab2026.IT-imagenet": about("ImageNet (ILSVRC 2012)"),
    "Lab2026.IT-shapes": about("Shapes2026"),
    "Lab2026.IT-own": about(),
    "Lab2026.IT-silent": BenchmarkMetadata(),
}
benchmark_registry["Lab2026.IT-places"] = lambda: None
benchmark_registry["Lab2026.IT-imagenet"] = lambda: None
benchmark_registry["Lab2026.IT-shapes"] = lambda: None
benchmark_registry["Lab2026.IT-own"] = lambda: None
benchmark_registry["Lab2026.IT-silent"] = lambda: None
"""


@pytest.fixture(scope="module", autouse=True)
def lab(tmp_path_factory):
    """Models and benchmarks of a lab, in a folder of their own."""
    folder = tmp_path_factory.mktemp("lab")
    for kind, text in (("models", MODEL), ("benchmarks", BENCHMARK)):
        (folder / kind / "exposure_lab").mkdir(parents=True)
        (folder / kind / "exposure_lab" / "__init__.py").write_text(textwrap.dedent(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAINSCORE_PLUGINS", str(folder))
        brainscore_vision.plugin_index.refresh()
        yield
    brainscore_vision.plugin_index.refresh()


@pytest.mark.parametrize(
    ("model", "benchmark", "expected"),
    [
        ("lab-places", "places", "trained on it"),
        ("lab-places", "imagenet", "clean"),
        ("lab-places", "silent", "unknown"),
        ("lab-large", "imagenet", "trained on it"),  # a part of what is stated
        ("lab-silent", "places", "unknown"),
        ("lab-silent", "own", "clean"),
        ("lab-tuned", "places", "trained on it"),  # inherited
        ("lab-tuned", "shapes", "trained on it"),
        ("lab-tuned", "imagenet", "clean"),
        ("lab-tuned-silent", "shapes", "trained on it"),
        ("lab-tuned-silent", "places", "unknown"),
        ("lab-tuned-elsewhere", "places", "unknown"),
        ("lab-circle", "places", "trained on it"),
        ("lab-circle", "imagenet", "unknown"),
        ("lab-untrained", "silent", "clean"),
        ("lab-fixed", "silent", "clean"),
    ],
)
def test_exposure(model, benchmark, expected):
    assert exposure(model, f"Lab2026.IT-{benchmark}") == expected


def test_training_sets():
    assert training_sets("lab-tuned") == ("Shapes2026", "Places365")
    assert training_sets("lab-tuned-silent") is None
    assert training_sets("lab-untrained") == ()


def test_cycles_are_a_problem_of_the_catalogue():
    problems = [one for one in catalogue(models="lab-circle", benchmarks=[]).problems if one.kind == "models"]
    assert [one.identifiers for one in problems] == [("lab-circle",)]
    assert "leads back to it: lab-circle → lab-circle" in problems[0].message


def test_composed_benchmarks_have_the_stimuli_of_their_recordings():
    assert exposure("pixels", "Simulated2026.IT:cka_cv") == "clean"
    assert exposure("lab-silent", "Simulated2026.IT:cka_cv") == "clean"  # drawn: in no other data set
    assert exposure("alexnet", "MajajHong2015public.IT:cka_cv") == "clean"
    assert exposure("lab-silent", "MajajHong2015public.IT:cka_cv") == "unknown"


def test_unknown_identifiers():
    with pytest.raises(UnknownIdentifier, match="lab-place"):
        exposure("lab-place", "Lab2026.IT-own")
    with pytest.raises(UnknownIdentifier, match="Lab2026"):
        exposure("lab-places", "Lab2026.IT-ow")
