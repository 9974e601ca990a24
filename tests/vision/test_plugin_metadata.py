"""The published form of metadata, ``metadata.yml``."""

import builtins
import textwrap

import pytest

from brainscore_core.catalogue import read_metadata_file
from brainscore_core.errors import UserError

pytest.importorskip("yaml")

PUBLISHED = """
models:
  lab-net:
    architecture: "DCNN"
    model_family: "ResNet V2"
    total_parameter_count: 25557032
    trainable_parameter_count: 25000000
    total_layers: 107
    trainable_layers: 54
    model_size_mb: 102.45
    training_dataset: "ImageNet"
    task_specialization: "object recognition"
    brainscore_link: "https://github.com/brain-score/vision"
    huggingface_link:
    extra_notes: "Trained twice."
    runnable: true
benchmarks:
  Lab2026.V1-pls:
    stimulus_set:
      num_stimuli: 315
      datatype: "image"
      stimuli_subtype: "textures"
      total_size_mb: 32.9
      brainscore_link: "https://github.com/brain-score/vision"
      extra_notes:
    data:
      benchmark_type: "Neural"
      task: "passive fixation"
      region: "V1"
      hemisphere: "left"
      num_recording_sites: 102
      duration_ms: 100
      species: "Macaca nemestrina"
      datatype: "electrophysiology"
      num_subjects: 13
      pre_processing: ""
      brainscore_link:
      extra_notes: "Anaesthetised."
    metric:
      mapping: "pls"
      metric: "pearsonr"
      brainscore_link:
      extra_notes:
"""


@pytest.fixture
def read(tmp_path):
    """``read(text)`` reads a file with that text."""

    def of(text):
        file = tmp_path / "metadata.yml"
        file.write_text(textwrap.dedent(text))
        return read_metadata_file(file)

    return of


def test_a_model(read):
    found = read(PUBLISHED)
    assert found.problems == ()
    (identifier, about), *others = found.models.items()
    assert (identifier, others) == ("lab-net", [])
    assert (about.architecture, about.family) == ("DCNN", "resnet-v2")
    assert (about.parameters, about.total_parameters, about.size_mb) == (25_000_000, 25_557_032, 102.45)
    assert about.training_data == "ImageNet"
    assert about.source == "https://github.com/brain-score/vision"
    assert about.notes == ("Trained twice.", "Trained for: object recognition.", "107 layers, 54 of them trained.")
    assert (about.runnable, about.bibtex, about.code_licence, about.image_size) == (True, None, None, None)


def test_a_benchmark(read):
    about = read(PUBLISHED).benchmarks["Lab2026.V1-pls"]
    assert (about.stimuli.n, about.stimuli.kind, about.stimuli.datatype, about.stimuli.size_mb) == (
        *(315, "textures", "image", 32.9),
    )
    assert (about.data.kind, about.data.species, about.data.regions) == ("neural", "Macaca nemestrina", ("V1",))
    assert (about.data.n_neuroids, about.data.n_subjects, about.data.duration_ms) == (102, 13, 100)
    assert (about.data.task, about.data.method, about.data.hemisphere) == (
        *("passive fixation", "electrophysiology", "left"),
    )
    assert (about.data.preprocessing, about.data.access, about.data.notes) == (None, None, ("Anaesthetised.",))
    assert (about.metric.name, about.metric.mapping, about.metric.ceiling) == ("pearsonr", "pls", None)


def test_training_data(read):
    found = read("""
        models:
          net: {trained_on: ["ImageNet (ILSVRC 2012), validation", Ecoset], fine_tuned_from: base}
          untrained: {trained_on: []}
        benchmarks:
          Lab2026-pls: {stimulus_set: {taken_from: []}}
        """)
    assert found.problems == ()
    net, untrained = found.models["net"], found.models["untrained"]
    assert (net.trained_on, net.fine_tuned_from) == (("ImageNet (ILSVRC 2012), validation", "Ecoset"), "base")
    assert (untrained.trained_on, untrained.fine_tuned_from) == ((), None)
    assert found.benchmarks["Lab2026-pls"].stimuli.taken_from == ()


@pytest.mark.parametrize("region", ["[V1, V2]", "'V1, V2'"])
def test_several_regions(read, region):
    about = read(f"benchmarks: {{a: {{data: {{region: {region}}}}}}}").benchmarks["a"]
    assert about.data.regions == ("V1", "V2")
    assert about.stimuli.datatype is None  # not said


def test_one_that_cannot_be_run_and_one_of_which_nothing_is_known(read):
    models = read("models: {a: {runnable: false}, b: }").models
    assert models["a"].runnable is False
    assert models["a"].notes == ("Its authors say that it cannot be run.",)
    assert models["b"].runnable is True
    assert models["b"].parameters is None


@pytest.mark.parametrize("text", ["", "models:", "models: {}\nbenchmarks: []"])
def test_nothing_in_it(read, text):
    found = read(text)
    assert (found.models, found.benchmarks, found.problems) == ({}, {}, ())


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{modle_family: resnet}", "models: a: there is no field 'modle_family'; did you mean 'model_family'?"),
        ("{total_parameter_count: many}", "total_parameter_count is 'many', not a number"),
        ("{total_parameter_count: 1.5}", "total_parameter_count is 1.5, not a whole number"),
        ("{model_size_mb: -3}", "size_mb is -3"),
        ("{runnable: maybe}", "runnable is 'maybe', not true or false"),
        ("{architecture: [DCNN]}", "architecture is ['DCNN'], not a string"),
        ("{model_family: 'a+b'}", "family is 'a+b', not one lower-case word"),
        ("{trained_on: ImageNet}", "trained_on is 'ImageNet', not a list; write [] if there are none"),
        ("[DCNN]", "models: a is a list, not fields with values"),
        ("{brainscore_link: nowhere}", "source is 'nowhere', not a URL"),
    ],
)
def test_what_is_wrong_is_said_and_the_rest_is_read(read, entry, message):
    found = read(f"models: {{a: {entry}, b: {{architecture: DCNN}}}}")
    assert list(found.models) == ["b"]
    assert message in found.problems[0]
    assert "metadata.yml" in found.problems[0]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{stimulus: {}}", "there is no field 'stimulus'; did you mean 'stimulus_set'?"),
        ("{data: {num_subject: 3}}", "there is no field 'data.num_subject'; did you mean 'num_subjects'?"),
        ("{data: {benchmark_type: eeg}}", "data.benchmark_type is 'eeg', not one of neural, behavioural, engineering"),
        ("{metric: pls}", "metric is a str, not fields with values"),
    ],
)
def test_what_is_wrong_with_a_benchmark(read, entry, message):
    found = read(f"benchmarks: {{a: {entry}}}")
    assert found.benchmarks == {}
    assert message in found.problems[0]


def test_no_yaml_and_another_layout(read, monkeypatch):
    with pytest.raises(UserError, match=r"metadata.yml is not valid YAML.*line 1"):
        read("models: [")
    with pytest.raises(UserError, match="holds a list"):
        read("- models")
    assert "model at the top is neither" in read("model: {a: }").problems[0]
    assert "'models' holds a list" in read("models: [a]").problems[0]
    with pytest.raises(UserError, match="is not valid YAML"):
        read("models: !!python/object/apply:os.system ['true']")  # nothing is ever run


def test_without_the_library(read, monkeypatch):
    real = builtins.__import__

    def without_yaml(name, *arguments, **options):
        if name == "yaml":
            raise ModuleNotFoundError("No module named 'yaml'", name="yaml")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_yaml)
    with pytest.raises(UserError, match="without PyYAML") as caught:
        read(PUBLISHED)
    assert caught.value.remedy == "pip install pyyaml"
