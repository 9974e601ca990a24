"""The examples of the data packaging tutorial package, and load back as they were."""

import os
import shutil
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from brainscore_core.supported_data_standards.brainio import packaging
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
)
from brainscore_core.supported_data_standards.brainio.fetch import AssemblyLoader, resolve_assembly_class, unzip
from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3, load_stimulus_set_from_s3
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

NAME = "MyExperiment2024"
BUCKET = "brainscore-storage/brainscore-vision/data/user_1"


@pytest.fixture
def stimulus_set(tmp_path):
    made = StimulusSet(
        [
            {"stimulus_id": "img_001", "category": "face", "emotion": "happy"},
            {"stimulus_id": "img_002", "category": "face", "emotion": "sad"},
            {"stimulus_id": "img_003", "category": "object", "subcategory": "car"},
            {"stimulus_id": "img_004", "category": "object", "subcategory": "house"},
        ]
    )
    for number, name in enumerate(["face_happy", "face_sad", "car", "house"]):
        Image.new("RGB", (5, 5), (number, 9, 9)).save(tmp_path / f"{name}.jpg")
    made.stimulus_paths = {
        "img_001": str(tmp_path / "face_happy.jpg"),
        "img_002": str(tmp_path / "face_sad.jpg"),
        "img_003": str(tmp_path / "car.jpg"),
        "img_004": str(tmp_path / "house.jpg"),
    }
    made.name = NAME
    return made


def measurements():
    return DataAssembly(
        np.random.default_rng(0).random((100, 50)),
        coords={
            "stimulus_id": ("presentation", [f"img_{i:03d}" for i in range(100)]),
            "measurement_id": ("measurement", [f"unit_{i}" for i in range(50)]),
            "condition": ("presentation", ["A"] * 50 + ["B"] * 50),
        },
        dims=["presentation", "measurement"],
    )


def neural():
    assembly = NeuroidAssembly(
        np.random.default_rng(1).random((200, 100, 10)),
        coords={
            "stimulus_id": ("presentation", [f"img_{i:03d}" for i in range(200)]),
            "repetition": ("presentation", [i % 3 for i in range(200)]),
            "neuroid_id": ("neuroid", [f"neuron_{i:03d}" for i in range(100)]),
            "region": ("neuroid", ["V4"] * 50 + ["IT"] * 50),
            "animal": ("neuroid", ["monkey_A"] * 100),
            "time_bin_start": ("time_bin", list(range(0, 100, 10))),
            "time_bin_end": ("time_bin", list(range(10, 110, 10))),
        },
        dims=["presentation", "neuroid", "time_bin"],
    )
    assembly.attrs["experiment_date"] = "2024-03-22"
    assembly.attrs["sampling_rate"] = 280000  # Hz
    return assembly


def behavioural():
    return BehavioralAssembly(
        np.array([1, 0, 1, 1, 0, 1, 0, 0, 1, 1]),
        coords={
            "stimulus_id": ("presentation", [f"img_{i:03d}" for i in range(10)]),
            "subject": ("presentation", ["subj_01"] * 10),
            "condition": ("presentation", ["easy"] * 5 + ["hard"] * 5),
            "response_time": ("presentation", [0.5, 0.7, 0.4, 0.8, 1.2, 0.9, 1.5, 1.1, 0.6, 0.8]),
            "correct": ("presentation", [1, 0, 1, 1, 0, 1, 0, 0, 1, 1]),
        },
        dims=["presentation"],
    )


def multiple_choice():
    return BehavioralAssembly(
        np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]),
        coords={
            "stimulus_id": ("presentation", ["img_001", "img_002", "img_003"]),
            "choice": ("choice", ["A", "B", "C"]),
        },
        dims=["presentation", "choice"],
    )


EXAMPLES = [
    (measurements, "DataAssembly"),
    (neural, "NeuroidAssembly"),
    (behavioural, "BehavioralAssembly"),
    (multiple_choice, "BehavioralAssembly"),
]


@pytest.mark.parametrize(("make", "cls"), EXAMPLES)
def test_assemblies(make, cls, tmp_path):
    assembly = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        package = packaging.package_data_assembly_locally(
            proto_data_assembly=assembly,
            assembly_identifier=NAME,
            stimulus_set_identifier=NAME,
            assembly_class_name=cls,
            downloads_path=tmp_path,
        )
    assert assembly.identical(make())
    loaded = AssemblyLoader(cls, package["path"]).load()
    assert type(loaded) is resolve_assembly_class(cls)
    assert loaded.dtype == assembly.dtype
    assert loaded.attrs == assembly.attrs | {"identifier": NAME, "stimulus_set_identifier": NAME}
    loaded.attrs = dict(assembly.attrs)
    assert loaded.identical(assembly)


def test_stimulus_set(stimulus_set, tmp_path):
    package = package_stimulus_set_locally(
        proto_stimulus_set=stimulus_set, stimulus_set_identifier=stimulus_set.name, downloads_path=tmp_path / "p"
    )
    loaded = StimulusSet.from_files(package["csv_path"], unzip(package["zip_path"]))
    pd.testing.assert_frame_equal(pd.DataFrame(loaded.drop(columns="filename")), pd.DataFrame(stimulus_set))
    assert loaded["filename"].tolist() == ["img_001.jpg", "img_002.jpg", "img_003.jpg", "img_004.jpg"]


def test_stimulus_set_from_a_table(tmp_path):
    for number in range(3):
        Image.new("L", (3, 3), number).save(tmp_path / f"photo_{number}.png")
    (tmp_path / "stimuli.csv").write_text(
        "stimulus_id,filename,size\n1,photo_0.png,0.1\n2,photo_1.png,0.2\n3,photo_2.png,0.3\n"
    )
    df = pd.read_csv(tmp_path / "stimuli.csv")
    df["stimulus_id"] = df["stimulus_id"].astype(str)
    if "filename" in df.columns:
        df = df.rename(columns={"filename": "image_filename"})
    stimulus_set = StimulusSet(df)
    stimulus_set.name = NAME
    filename_col = "image_filename" if "image_filename" in stimulus_set.columns else "filename"
    stimulus_set.stimulus_paths = {
        str(row["stimulus_id"]): tmp_path / row[filename_col] for _, row in stimulus_set.iterrows()
    }
    package = package_stimulus_set_locally(stimulus_set, stimulus_set.name, downloads_path=tmp_path / "p")
    loaded = StimulusSet.from_files(package["csv_path"], unzip(package["zip_path"]))
    pd.testing.assert_frame_equal(pd.DataFrame(loaded.drop(columns="filename")), pd.DataFrame(stimulus_set))


@pytest.mark.parametrize("identifier", [NAME, f"{NAME}.condition_A"])
def test_registered_data_load(stimulus_set, tmp_path, monkeypatch, identifier):
    """What was packaged and put into a bucket is what the registrations of the tutorial load."""
    monkeypatch.setenv("BRAINSCORE_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))
    stimulus_set.name = identifier
    bucket = tmp_path / "mirror" / "brainscore-storage.s3.amazonaws.com" / "brainscore-vision" / "data" / "user_1"
    stimuli = package_stimulus_set_locally(stimulus_set, identifier, downloads_path=bucket)
    assembly = multiple_choice()
    measured = packaging.package_data_assembly_locally(
        assembly, identifier, identifier, "BehavioralAssembly", downloads_path=bucket
    )

    def load_stimulus_set():
        return load_stimulus_set_from_s3(
            identifier=identifier,
            bucket=BUCKET,
            csv_sha1=stimuli["csv_sha1"],
            zip_sha1=stimuli["zip_sha1"],
            csv_version_id="U405jdh2ECWCzwoZauxh0VNDSAHAb.2s",
            zip_version_id="cTVQxPGpom_seCpwN2ltG_LK7eYGbZid",
            filename_prefix="stimulus_",
        )

    loaded = load_assembly_from_s3(
        identifier=identifier,
        version_id="yusgi5xpyrNzU10cjk69Z49G.CSyujXO",
        sha1=measured["sha1"],
        bucket=BUCKET,
        cls=BehavioralAssembly,
        stimulus_set_loader=load_stimulus_set,
    )
    assert loaded.identifier == identifier
    assert loaded.stimulus_set.identifier == identifier
    assert loaded.stimulus_set.get_stimulus("img_003").read_bytes() == (tmp_path / "car.jpg").read_bytes()
    np.testing.assert_array_equal(loaded.values, assembly.values)
    assert loaded["category"].values.tolist() == ["face", "face", "object"]
    assert loaded["choice"].values.tolist() == ["A", "B", "C"]


def test_installed_elsewhere(stimulus_set, tmp_path):
    """Packages do not depend on where their originals are."""
    here = package_stimulus_set_locally(stimulus_set, NAME, downloads_path=tmp_path / "here")
    (tmp_path / "moved").mkdir()
    for one, path in stimulus_set.stimulus_paths.items():
        stimulus_set.stimulus_paths[one] = Path(shutil.copy(path, tmp_path / "moved" / f"{one}.jpg"))
    there = package_stimulus_set_locally(stimulus_set, NAME, downloads_path=tmp_path / "there")
    assert (there["csv_sha1"], there["zip_sha1"]) == (here["csv_sha1"], here["zip_sha1"])


def test_importing_packaging_is_light():
    """Heavy libraries are imported when something is packaged."""
    code = """
        import sys
        import brainscore_core.supported_data_standards.brainio.packaging
        print([name for name in ("torch", "sklearn", "matplotlib", "netCDF4", "pooch", "PIL") if name in sys.modules])
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert ran.stdout.strip() == "[]"
