"""Plugin folders written for the existing platform load as they are from ``BRAINSCORE_PLUGINS``."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.stats import pearsonr

from brainscore_core.plugins import check_model
from brainscore_core.supported_data_standards.brainio.assemblies import NeuronRecordingAssembly
from brainscore_core.supported_data_standards.brainio.packaging import (
    package_data_assembly_locally,
    package_stimulus_set_locally,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import (
    benchmark_registry,
    data_registry,
    load_benchmark,
    load_dataset,
    load_metric,
    load_model,
    load_stimulus_set,
    metric_registry,
    model_registry,
    plugin_index,
    stimulus_set_registry,
)

SOURCE = Path(__file__).parents[1] / "plugins_of_others"
BUCKET, FOLDER = "brainscore-storage", "brainio-brainscore"


@pytest.fixture
def lab(tmp_path, monkeypatch):
    folder = tmp_path / "lab"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(folder))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    yield folder
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    plugin_index.refresh()


def _stimuli(folder):
    random = np.random.default_rng(0)
    stimuli = StimulusSet({"stimulus_id": [f"s{i:02d}" for i in range(40)], "object_name": ["a", "b"] * 20})
    stimuli.stimulus_paths = {name: folder / f"{name}.png" for name in stimuli["stimulus_id"]}
    for path in stimuli.stimulus_paths.values():
        Image.fromarray(random.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(path)
    stimuli.name = "Lab2021"
    return stimuli


def _recordings(stimuli):
    random = np.random.default_rng(1)
    responses = random.standard_normal((40, 10)) + 0.3 * random.standard_normal((4, 40, 10)) + 2
    return NeuronRecordingAssembly(
        responses.reshape(160, 10, 1),
        coords={
            "stimulus_id": ("presentation", list(stimuli["stimulus_id"]) * 4),
            "object_name": ("presentation", list(stimuli["object_name"]) * 4),
            "repetition": ("presentation", np.repeat(np.arange(4), 40)),
            "neuroid_id": ("neuroid", [f"n{i}" for i in range(10)]),
            "region": ("neuroid", ["IT"] * 10),
            "time_bin_start": ("time_bin", [70]),
            "time_bin_end": ("time_bin", [170]),
        },
        dims=["presentation", "neuroid", "time_bin"],
    )


@pytest.fixture
def uploaded(lab, s3_server, tmp_path):
    """The data lie where the plugin looks for them; its hashes are those of the packages."""
    boto3 = pytest.importorskip("boto3")
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    stimuli = _stimuli(tmp_path)
    table = package_stimulus_set_locally(stimuli, "Lab2021", downloads_path=tmp_path / "packages")
    recordings = package_data_assembly_locally(
        _recordings(stimuli), "Lab2021", "Lab2021", "NeuronRecordingAssembly", downloads_path=tmp_path / "packages"
    )
    init = lab / "data" / "lab2021" / "__init__.py"
    text = init.read_text()
    for digest, path, sha1, version in (
        ("1" * 40, recordings["path"], recordings["sha1"], "ASSEMBLY_VERSION"),
        ("2" * 40, table["csv_path"], table["csv_sha1"], "CSV_VERSION"),
        ("3" * 40, table["zip_path"], table["zip_sha1"], "ZIP_VERSION"),
    ):
        key = f"{FOLDER}/{Path(path).name}"
        answer = client.put_object(Bucket=BUCKET, Key=key, Body=Path(path).read_bytes(), ACL="public-read")
        text = text.replace(digest, sha1).replace(version, answer["VersionId"])
    init.write_text(text)
    return lab


def test_all_are_listed_without_being_imported(lab):
    for registry, keys in (
        (model_registry, ["lab_convnet"]),
        (metric_registry, ["lab_correlation"]),
        (benchmark_registry, ["Lab2021-correlation", "Lab2021.IT-pls"]),
        (data_registry, ["Lab2021"]),
        (stimulus_set_registry, ["Lab2021"]),
    ):
        assert [key for key in registry if "lab" in key.lower() and registry.location(key).source != "built in"] == keys
    assert plugin_index.problems == ()
    assert not [name for name in sys.modules if "lab_convnet" in name or "lab2021" in name]


def test_a_model_with_a_network_and_a_map_of_regions(lab):
    pytest.importorskip("torch")
    model = load_model("lab_convnet")
    assert model.identifier == "lab_convnet"
    assert list(model.region_layer_map["IT"]) == ["relu2"]
    check_model(model)


@pytest.mark.slow(reason="runs a script of a plugin in a process")
def test_a_model_checks_itself_as_a_script(lab):
    pytest.importorskip("torch")
    run = subprocess.run(
        [sys.executable, "-m", "brainscore_vision.models.lab_convnet.model"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    assert "lab_convnet: all checks passed" in run.stdout


def test_data_from_a_bucket(uploaded):
    assembly = load_dataset("Lab2021")
    assert isinstance(assembly, NeuronRecordingAssembly)
    assert assembly.shape == (160, 10, 1)
    assert assembly.stimulus_set.identifier == "Lab2021"
    assert len(load_stimulus_set("Lab2021")) == 40


class Recorded:
    """A model whose IT is known."""

    identifier = "recorded"

    def __init__(self, features):
        self.features = features

    def visual_degrees(self):
        return 8

    def start_recording(self, region, time_bins):
        assert (region, time_bins) == ("IT", [(70, 170)])

    def look_at(self, stimuli, number_of_trials=1):
        order = [int(name[1:]) for name in stimuli["stimulus_id"]]
        return NeuronRecordingAssembly(
            self.features[order],
            coords={
                "stimulus_id": ("presentation", list(stimuli["stimulus_id"])),
                "object_name": ("presentation", list(stimuli["object_name"])),
                "neuroid_id": ("neuroid", np.arange(self.features.shape[1])),
                "region": ("neuroid", ["IT"] * self.features.shape[1]),
            },
            dims=["presentation", "neuroid"],
        )


def test_benchmarks_and_a_metric(uploaded, tmp_path):
    features = np.random.default_rng(1).standard_normal((40, 10)) @ np.random.default_rng(2).standard_normal((10, 30))
    score = load_benchmark("Lab2021-correlation")(Recorded(features))
    measured = _recordings(_stimuli(tmp_path)).values.reshape(4, 40, 10).mean(axis=0)
    expected = abs(pearsonr(features.mean(axis=1), measured.mean(axis=1))[0])
    assert float(score) == pytest.approx(expected / 0.9, rel=1e-6)
    assert float(score.attrs["raw"]) == pytest.approx(expected, rel=1e-6)
    predicted = load_benchmark("Lab2021.IT-pls")(Recorded(features))
    assert 0.9 < float(predicted) <= 1  # features that hold the signal
    assert float(load_benchmark("Lab2021.IT-pls").ceiling) == pytest.approx(1 / (1 + 0.09 / 4), abs=0.02)


def test_names_that_data_plugins_import():
    from brainscore_core.supported_data_standards.brainio import assemblies, fetch

    assert assemblies.StimulusMergeAssemblyLoader is assemblies.AssemblyLoader is fetch.AssemblyLoader
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = assemblies.nonesuch


def test_a_metric_alone(lab):
    assert type(load_metric("lab_correlation")).__name__ == "LabCorrelation"


@pytest.mark.slow(reason="runs the tests of a plugin in a process")
def test_their_own_tests(lab, tmp_path):
    pytest.importorskip("torch")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BRAINSCORE_P")}
    files = sorted(map(str, lab.rglob("test.py")))
    assert len(files) == 4
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "brainscore.pytest_plugin", "-p", "no:cacheprovider", *files],
        env=environment | {"BRAINSCORE_NETWORK": ""}, cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert "4 passed, 4 skipped" in run.stdout, run.stdout


@pytest.mark.slow(reason="checks several plugins")
def test_they_are_checked(lab, tmp_path):
    """What the existing platform did not ask for is named: no scale, NaN, alignment by position."""
    run = subprocess.run(
        [sys.executable, "-m", "brainscore", "check", "metric", str(lab / "metrics" / "lab_correlation")],
        capture_output=True, text=True, timeout=600, cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 1, run.stderr
    assert "✗ it is a Metric with a scale, or a Ceiling with a meaning" in run.stdout
