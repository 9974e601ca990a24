"""Registrations against the tables of what is published, row by row.

The tables (`data_registrations.csv`, `benchmarks.csv`, `models.csv`) lie in the folder that `BRAINSCORE_FACTS` names.
Nothing is fetched: loaders are stopped where they would, benchmarks are run on stand-ins up to the model's first look,
and of models only their rows are read.
"""

import ast
import contextlib
import csv
import functools
import importlib
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

import brainscore_vision.benchmarks
from brainscore_core.errors import DataUnavailable
from brainscore_core.plugins import Registry
from brainscore_core.plugins.tables import table_row
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio import remote_files, s3
from brainscore_core.supported_data_standards.brainio.assemblies import ASSEMBLY_CLASSES, NeuroidAssembly
from brainscore_vision import (
    benchmark_registry,
    data_registry,
    load_benchmark,
    metric_registry,
    model_registry,
    stimulus_set_registry,
)
from brainscore_vision.benchmark_helpers.metadata import TABLE as BENCHMARK_TABLE
from brainscore_vision.benchmark_helpers.metadata import rows_of as rows_of_table
from brainscore_vision.benchmarks.laion_fmri.benchmark import SUBJECTS
from brainscore_vision.metrics.regression_correlation.metric import ALPHA_LIST
from brainscore_vision.model_interface import DEFAULT_VISUAL_DEGREES, BrainModel
from brainscore_vision.model_sources.tables import TABLE as MODEL_TABLE
from brainscore_vision.model_sources.tables import ModelRow, table_metadata
from brainscore_vision.testing import list_stand_ins

MISSING: set[str] = set()  # benchmarks of the table that are not here, by registry key
FOLDER = os.environ.get("BRAINSCORE_FACTS") and str(Path(os.environ["BRAINSCORE_FACTS"]).resolve())
TASKS = ("label", "probabilities", "odd_one_out")
# where this project differs on purpose
OTHER_CLASS = {"Hebart2023": "BehavioralAssembly"}  # choices have not the dimensions of the published class
OTHER_ARGUMENTS = {"Malania2007.vernieracuity-threshold": {"independent_variable"}}  # depends on what the labels are
IMAGES_NEEDED = {"ImageNet-top1"}  # there are no stand-ins of its images
FROM_A_FOLDER = {"Zerbe2026_fmri_stim_full", "Zerbe2026_fmri_persubject_stim_full"}  # pictures that nobody may pass on
DEGREES = 7.77  # of the model's screen; no experiment has it
OTHER_METRIC = {  # names here of what the published benchmarks build from classes
    "RDM+RDMSimilarity (rdm plugin classes)": "rdm",
    "CrossRegressedCorrelation(dual_ridge_cv_regression) (built in plugin)": "dual_ridgecv",
    "2AFC accuracy of StandardScaler+RidgeClassifierCV (in plugin)": "accuracy",
}
OTHER_CEILING = {
    "median over voxels of sqrt(nc_12rep/100)": "noise ceiling",
    "mean over voxels of sqrt(nc_12rep/100)": "noise ceiling",
    "pairwise inter-subject CKA (mean over subject pairs, error = SEM)": "inter-subject",
    "median over neuroids of reliability_window": "reliability coordinate",
    "SplitHalfPredictorConsistency (predictor_consistency)": "predictor_consistency",
    "accuracy_distance": "metric",
    "error_consistency": "metric",
}
STEPS = {  # columns of plugins' own, and where the table of what is published states them
    "lapse_rate": r"lapse_rate=([\d.]+)",
    "human_integral_error": r"human_integral_error=([\d.]+)",
    "split": r"split (\w+) \(",
}
DERIVED = {"0.253/sqrt(0.479)", "0.37787/sqrt(0.479)", "0.3638/sqrt(0.479)"}  # from values that are tested


BENCHMARKS = Path(brainscore_vision.benchmarks.__file__).parent


def rows_of(name):
    """All rows; without tables one that stands for them, which is skipped."""
    if not FOLDER:
        return [pytest.param(None, id="none")]
    with (Path(FOLDER) / name).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    if name == "benchmarks.csv":
        rows = [row for row in rows if row["registry_key"] not in MISSING]
    key = "registry_key" if "registry_key" in rows[0] else "identifier"
    return [pytest.param(row, id=f"{row['plugin_dir']}-{row[key]}{row.get('kind', '')[:1]}") for row in rows]


DATA_ROWS, BENCHMARK_ROWS = rows_of("data_registrations.csv"), rows_of("benchmarks.csv")
MODEL_ROWS = rows_of("models.csv")


@pytest.fixture(autouse=True)
def _tables():
    if not FOLDER:
        pytest.skip("needs the tables of what is published: set BRAINSCORE_FACTS to their folder")


class Stopped(Exception):
    """Raised where a loader would fetch, or a model would look."""


@contextlib.contextmanager
def nothing_fetched(monkeypatch):
    """Give what loaders ask for: the objects, and how they would be read."""
    asked = {"objects": {}, "read": None}
    request = remote_files.object_request

    def object_request(bucket, key, *, sha1, version_id, sha256=None):
        asked["objects"][f"{bucket}/{key}"] = (sha1, version_id)
        return request(bucket, key, sha1=sha1, version_id=version_id, sha256=sha256)

    def load_from_requests(*args, **kwargs):
        raise Stopped

    def load_assembly(identifier, path, cls, stimulus_set_loader, *, merge_stimulus_set_meta):
        asked["read"] = {"class": cls, "stimuli": stimulus_set_loader, "merge": merge_stimulus_set_meta}
        raise Stopped

    with monkeypatch.context() as patched:
        patched.delenv("BRAINSCORE_MIRROR", raising=False)  # may hold the authors' files, which some plugins prefer
        patched.setattr(s3, "object_request", object_request)
        patched.setattr(s3, "fetch_all", lambda requests: [Path(one.name) for one in requests])
        patched.setattr(s3, "load_from_requests", load_from_requests)
        patched.setattr(s3, "load_assembly", load_assembly)
        yield asked


def objects_of(row):
    """Object → hash and version."""
    bucket = row["bucket"].partition("/")[0]
    places = {kind: f"{bucket}/{key}" for kind, key in json.loads(row["object_keys"]).items()}
    expected = {}
    for kind, place in places.items():
        prefix = "" if kind == "nc" else f"{kind}_"
        expected[place] = (row[f"{prefix}sha1"], row[f"{prefix}version_id"] or None)
    return expected


def bibtex_keys(text):
    return {part.partition(",")[0].strip() for part in text.split("{")[1:] if "," in part}


@pytest.mark.parametrize("row", DATA_ROWS)
def test_data(row, monkeypatch):
    registry = data_registry if row["kind"] == "assembly" else stimulus_set_registry
    if row["identifier"] in FROM_A_FOLDER:
        variable = json.loads(row["other_kwargs"])["local_dir_env"]
        with pytest.raises(DataUnavailable, match=variable):
            registry[row["identifier"]]()
        return
    with nothing_fetched(monkeypatch) as asked, pytest.raises(Stopped):
        registry[row["identifier"]]()
    assert asked["objects"] == objects_of(row)
    plugin = importlib.import_module(registry.location(row["identifier"]).package)
    assert set(filter(None, row["bibtex_keys"].split(";"))) <= bibtex_keys(getattr(plugin, "BIBTEX", ""))
    if row["kind"] != "assembly":
        return
    read, options = asked["read"], json.loads(row["other_kwargs"] or "{}")
    cls = read["class"] if isinstance(read["class"], type) else ASSEMBLY_CLASSES[read["class"]]
    assert cls is ASSEMBLY_CLASSES[OTHER_CLASS.get(row["identifier"], row["assembly_class"])]
    assert read["merge"] is options.get("merge_stimulus_set_meta", True)
    if not row["stimulus_set_key"]:
        assert read["stimuli"] is None
        return
    if row["stimulus_set_key"] in FROM_A_FOLDER:
        return
    (stimuli,) = (
        param.values[0]
        for param in DATA_ROWS
        if (param.values[0]["kind"], param.values[0]["identifier"]) == ("stimulus_set", row["stimulus_set_key"])
    )
    with nothing_fetched(monkeypatch) as asked, pytest.raises(Stopped):
        read["stimuli"]()
    assert asked["objects"] == objects_of(stimuli)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", DATA_ROWS)
@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
def test_stand_in(row, make_stand_in):
    kind = "assemblies" if row["kind"] == "assembly" else "stimulus_sets"
    assert row["identifier"] in list_stand_ins()[kind]
    made = make_stand_in(row["identifier"], kind)
    if row["kind"] != "assembly":
        assert len(made) > 0
        assert made["stimulus_id"].is_unique
        return
    assert type(made) is ASSEMBLY_CLASSES[OTHER_CLASS.get(row["identifier"], row["assembly_class"])]
    assert made.attrs["simulated"] == 1
    if row["stimulus_set_key"]:
        assert made.attrs["stimulus_set_identifier"] == row["stimulus_set_key"]


class Witness(BrainModel):
    """A model that keeps what it is asked for, up to its first look."""

    identifier = "witness"

    def __init__(self):
        self.tasks, self.recordings, self.looks = [], [], []

    def visual_degrees(self):
        return DEGREES

    def start_task(self, task, fitting_stimuli=None):
        self.tasks.append((str(task), fitting_stimuli))

    def start_recording(self, recording_target, time_bins=None, **kwargs):
        self.recordings.append((str(recording_target), [tuple(one) for one in time_bins]))

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        if stimuli.identifier is not None:
            self.looks.append((stimuli.identifier, number_of_trials))
            raise Stopped
        # a first look at some stimuli, to see whether responses change over time
        shape = (len(stimuli), 2, len(self.recordings[-1][1]))
        return NeuroidAssembly(np.arange(np.prod(shape)).reshape(shape), dims=["presentation", "neuroid", "time_bin"])


@pytest.fixture
def metrics(stand_ins, monkeypatch):
    """Load stand-ins in place of data; the list has the metrics that are made, and with what."""
    made, make = [], Registry.make

    def noting(self, key, *args, **kwargs):
        if self is metric_registry:
            made.append((key, kwargs))
        return make(self, key, *args, **kwargs)

    monkeypatch.setattr(Registry, "make", noting)
    return made


@pytest.mark.sampled(8)
@pytest.mark.parametrize("row", BENCHMARK_ROWS)
@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
def test_benchmark(row, metrics):
    key = row["registry_key"]
    assert key in benchmark_registry
    with recording() as record:
        benchmark = load_benchmark(key)
        if key not in IMAGES_NEEDED:
            witness = Witness()
            with pytest.raises(Stopped):
                benchmark(witness)
            check_what_the_model_was_asked_for(row, witness)
        data = set(filter(None, row["dataset_keys"].split(";")))
        if not data <= noted(record):
            assert float(benchmark.ceiling) > 0  # loads what was not needed before the model looked
    assert data <= noted(record)
    assert benchmark.identifier == row["benchmark_identifier"]
    assert str(benchmark.version) == row["version"]
    assert str(benchmark.parent) == row["parent"]
    assert set(filter(None, row["bibtex_keys"].split(";"))) <= bibtex_keys(benchmark.bibtex or "")
    if row["ceiling_constant"]:
        assert float(benchmark.ceiling) == published_ceiling(row["ceiling_constant"])
    made = [kwargs for name, kwargs in metrics if name in (row["metric_id"], f"{row['metric_id']}_cv")]
    if made and row["metric_kwargs"] and "alphas kwarg not used" not in row["special_steps"]:
        given = {"alphas": ALPHA_LIST, **made[-1]}  # the default
        for name, value in json.loads(row["metric_kwargs"]).items():
            if isinstance(value, dict) and "preprocess_indices" in value:  # described in words
                value = value | {"preprocess_indices": given[name]["preprocess_indices"]}
                assert callable(value["preprocess_indices"])
            if name not in OTHER_ARGUMENTS.get(key, ()):
                assert given[name] == (constants()["alpha_lists"][value] if name == "alphas" else value)


def in_a_table(row):
    return row is None or (BENCHMARKS / row["plugin_dir"] / BENCHMARK_TABLE).is_file()


@pytest.mark.parametrize("row", [one for one in BENCHMARK_ROWS if in_a_table(one.values[0])])
def test_row_of_a_table(row):
    """The cells, all of which are compared here: a benchmark need not be made for that."""
    key, steps = row["registry_key"], row["special_steps"]
    (own,) = (one for one in rows_of_table(str(BENCHMARKS / row["plugin_dir"] / "__init__.py")) if one.benchmark == key)
    assert own.identifier == row["benchmark_identifier"]
    assert (str(own.version), str(own.parent), own.region) == (row["version"], row["parent"], row["region"])
    data = ";".join(own.data)
    if row["plugin_dir"] == "laion_fmri":  # an assembly for each subject
        data = ";".join(f"{data}_{subject}" for subject in SUBJECTS)
    assert data == row["dataset_keys"]
    assert own.stimuli in ("", row["stimulus_set_keys"])
    assert own.fitting_stimuli == row["fitting_stimulus_set_keys"]
    assert own.metric == OTHER_METRIC.get(row["metric_id"], row["metric_id"])
    if row["ceiling_constant"]:
        assert float(own.ceiling) == published_ceiling(row["ceiling_constant"])
    else:
        assert own.ceiling == (OTHER_CEILING.get(row["ceiling_id"], row["ceiling_id"]) or "1")
    assert own.visual_degrees == (float(row["visual_degrees"]) if row["visual_degrees"] else None)
    assert str(own.number_of_trials) == row["number_of_trials"].removesuffix(" (default)")
    stratification = row["stratification_coord"]
    assert (own.stratification or "") == ("" if stratification.startswith("None") else stratification)
    if reliable := re.search(r"keep neuroids (\S+) > ([\d.]+)", steps):
        assert (own.reliability, own.threshold) == (reliable[1], float(reliable[2]))
    for name, pattern in STEPS.items():
        if found := re.search(pattern, steps):
            assert own.further[name] == found[1]
    if "factor" in own.further:
        assert own.further["factor"] == json.loads(row["metric_kwargs"])["factor"]
    if "ceiling_error" in own.further:
        assert float(own.further["ceiling_error"]) == json.loads(row["ceiling_constant"])["error"]


@pytest.mark.parametrize("row", BENCHMARK_ROWS)
def test_published_values_are_tested(row):
    """Each published number is in the tests of the benchmark's plugin, which may need its data."""
    numbers = numbers_in_tests(BENCHMARKS / row["plugin_dir"])
    published = [one for one in json.loads(row["published_values"] or "[]") if one.get("expression") not in DERIVED]
    assert {float(one["value"]) for one in published if one["value"] != "nan"} <= numbers


@functools.cache
def numbers_in_tests(folder):
    return {
        float(node.value)
        for file in folder.glob("test*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    }


def published_ceiling(text):
    """A number, perhaps with its error: ``1 (error nan)`` or ``{"center": .9, "error": .1}``."""
    return json.loads(text)["center"] if text.startswith("{") else float(text.partition(" (")[0])


def constants():
    return json.loads((Path(FOLDER) / "benchmark_constants.json").read_text(encoding="utf-8"))


def noted(record):
    return {item["identifier"] for item in record.items if item["kind"] == "data"}


def check_what_the_model_was_asked_for(row, witness):
    stimuli, trials = witness.looks[0]
    if row["fitting_stimulus_set_keys"]:
        assert witness.tasks[0][1].identifier.partition("--")[0] in row["fitting_stimulus_set_keys"].split(";")
    if ";" not in row["stimulus_set_keys"] and row["stimulus_set_keys"]:
        shown = stimuli.partition("--")[0]
        assert shown == row["stimulus_set_keys"] or row["plugin_dir"] == "laion_fmri"  # a part, named by subject
    if row["task"].startswith("passive"):
        region, time_bins = witness.recordings[0]
        assert region == row["region"]
        if row["time_bins_ms"].startswith("["):
            published, _, unit = row["time_bins_ms"].partition(" (")
            factor = 1000 if unit == "s)" else 1
            assert time_bins == [tuple(limit * factor for limit in one) for one in ast.literal_eval(published)]
    else:
        assert witness.tasks[0][0] == next(task for task in TASKS if row["task"].startswith(task))
    number = row["number_of_trials"].removesuffix(" (default)")
    if number.isdigit():
        assert trials == int(number)
    if not row["visual_degrees"]:
        assert "--target" not in stimuli
    elif row["visual_degrees"].replace(".", "", 1).isdigit():
        assert f"--target{DEGREES:.2f}--source{float(row['visual_degrees']):.2f}" in stimuli


NOT_HERE = {  # docs/reference_models.md says why
    *("VOneCORnet-S", "vonealexnet", "voneresnet-50", "voneresnet-50-robust"),
    *("grcnn_109", "vonegrcnn_47e", "vonegrcnn_52e_full", "vonegrcnn_62e_nobn"),
    *("dinov2_vitg14_lc", "dinov2_vitg14_reg_lc", "dinov2_vitl14_lc", "dinov2_vitl14_lc_res336"),
    *("dinov2_vitl14_reg_lc", "dinov2_vitl14_reg_lc_featread", "vitb14_dinov2_imagenet1k"),
    *("omnivore_swinB", "omnivore_swinS", "compact_cornets_IT", "compact_cornets_V4", "resnet-18_test_m"),
}
TIMM_NAMES = {  # names that timm has given up, or without the name of the weights
    "tf_efficientnet_b1_ns": "tf_efficientnet_b1.ns_jft_in1k",
    "resnet50": "resnet50.a1_in1k",
    "crossvit_18_dagger_408": "crossvit_18_dagger_408.in1k",
    "inception_v3": "inception_v3.tv_in1k",
}
OTHER_CITATION = {"grcnn"}  # the published one is of other networks with this abbreviation
OTHER_LAYERS = {"vgg_19"}  # the published layers of regions do not exist in the network
OTHER_SIZE = {"convnext_tiny_imagenet1K_torchvisionV1": (236, 224)}  # left out in the table


def test_models():
    published = {param.values[0]["identifier"] for param in MODEL_ROWS}
    assert published - set(model_registry) == NOT_HERE
    page = (Path(__file__).parents[2] / "docs" / "reference_models.md").read_text(encoding="utf-8")
    assert [name for name in sorted(NOT_HERE) if f"`{name}`" not in page] == []


@pytest.mark.parametrize("row", MODEL_ROWS)
def test_model(row):
    name = row["identifier"]
    if name in NOT_HERE:
        return
    file = str(model_registry.location(name).folder / "__init__.py")
    if not Path(file).with_name(MODEL_TABLE).is_file():
        return  # its plugin compares it
    ours = ModelRow.of(table_row(file, MODEL_TABLE, name))
    assert ours.layers == tuple(dict.fromkeys(json.loads(row["candidate_layers"])))
    assert ours.behavior == row["behavioral_readout_layer"]
    regions = {} if name in OTHER_LAYERS else json.loads(row["region_layer_map"] or "{}")
    assert ours.regions == {
        region: [layers] if isinstance(layers, str) else layers for region, layers in regions.items()
    }
    assert (ours.visual_degrees or DEFAULT_VISUAL_DEGREES) == float(row["visual_degrees"])
    times = json.loads(row["time_mapping_ms"] or "{}")
    assert json.loads(json.dumps(ours.time_mapping or {})) == times
    check_architecture(ours, row)
    check_weights(ours, json.loads(row["weights"] or "[]"))
    check_preprocessing(ours, row)
    if row["bibtex_key"] and name not in OTHER_CITATION:
        assert row["bibtex_key"] in bibtex_keys(table_metadata(file)[name].bibtex)


def check_architecture(ours, row):
    (call,) = json.loads(row["architecture_call"])
    called = call["callable"].rpartition(".")[2]
    if ours.library == "timm":
        assert ours.architecture == TIMM_NAMES.get(call["args"][0], call["args"][0])
    elif ours.library == "torchvision":
        assert ours.architecture == ("googlenet" if "googlenet" in call["args"] else called)
    elif ours.library == "transformers":
        assert f"transformers.{ours.architecture}.from_pretrained" == call["callable"]
    elif ours.library == "efficientnet_pytorch":
        assert (ours.architecture, list(ours.arguments.values())) == (":EfficientNet.from_name", call["args"])
    else:
        assert ours.architecture.rpartition(":")[2] == called.replace("_", "")


def check_weights(ours, published):
    if not published:
        assert ours.weights == ""
        return
    last = published[-1]
    if "bucket" in last:
        file = ours.weight_file
        assert (file.bucket, file.key, file.version_id, file.sha1) == tuple(
            last[name] for name in ("bucket", "key", "version_id", "sha1")
        )
    elif "tag" in last or "hub" in last:
        assert ours.weights == ("IMAGENET1K_V2" if "V2" in last.get("tag", "") else "IMAGENET1K_V1")
    elif "advprop" in last:
        assert "/adv-" in ours.weights
        assert last["efficientnet_pytorch"] in ours.weights
    else:
        assert ours.weights == last.get("url", last.get("hf", "timm"))


def check_preprocessing(ours, row):
    published = json.loads(row["preprocessing_kwargs"] or "{}")
    sizes = (published.get("resize"), published.get("crop"))
    sizes = tuple(tuple(size) if isinstance(size, list) else size for size in sizes)
    assert (ours.resize, ours.crop) == OTHER_SIZE.get(row["identifier"], sizes)
    if not published:
        assert "resolve_model_data_config" in row["preprocessing"]
        return
    normal = [list(ours.mean or (0.485, 0.456, 0.406)), list(ours.std or (0.229, 0.224, 0.225))]
    assert normal == [published["mean"], published["std"]]
    linear = "linear" if "albumentations" in row["preprocessing"] else "bilinear"
    assert ours.interpolation == published.get("interpolation", linear)
