"""The tutorial "Submitting Benchmarks"."""

import os
import shlex
import subprocess
import sys

import numpy as np
import pytest

from brainscore_vision import load_benchmark, load_model

SHA256 = "0bdd5008ac92e143928d148e506e35d1266953e9c716bdd79fb325218103ed57"
NAME = "MyExperiment2024"
BUCKET = "brainscore-storage/brainscore-vision/data/user_1"

VALUES = "the values are the reader's"
CELL = "a cell of a table"
MODEL = "the weights of alexnet are not here"
SHELL = "changes repositories elsewhere"

BLOCKS = [
    {
        "first": 16,
        "last": 30,
        "test": "test_submission",
        "fills": (
            (21, "# .*", "*more_stimuli,", VALUES),
            (26, "/path/to/image1.jpg", "pictures/img_001.jpg", VALUES),
            (27, "'/path/to/image2.jpg',", "'pictures/img_002.jpg', **more_paths,", VALUES),
        ),
    },
    {"first": 32, "last": 41, "test": "test_submission"},
    {
        "first": 46,
        "last": 46,
        "test": "test_submission",
        "fills": ((46, "^.*?(?=assert)", "", CELL), (46, r" \|$", "", CELL)),
    },
    {
        "first": 48,
        "last": 48,
        "test": "test_submission",
        "fills": ((48, "^.*?(?=assert)", "", CELL), (48, r" \|$", "", CELL)),
    },
    {
        "first": 53,
        "last": 82,
        "test": "test_submission",
        "dedents": {77: 1, 80: 1},
        "slips": (
            (
                55,
                "$",
                "\nfrom brainscore_vision import load_dataset, load_metric, load_stimulus_set",
                "the block lacks this import",
            ),
        ),
        "fills": (
            (
                79,
                "pass",
                "task, learned = BrainModel.Task.probabilities, self._stimulus_set.copy()\n"
                "learned['image_label'] = learned['category']\n"
                "candidate.start_task(task, learned)\n"
                "probabilities = candidate.look_at(self._stimulus_set)\n"
                "choices = probabilities['choice'].values[probabilities.values.argmax(axis=1)]\n"
                "ids = ('presentation', probabilities['stimulus_id'].values)\n"
                "choices = type(self._assembly)(choices, coords={'stimulus_id': ids}, dims=['presentation'])\n"
                "return self._metric(choices, self._assembly)",
                VALUES,
            ),
            (82, "pass", "return Score(0.9)", VALUES),
        ),
    },
    {"first": 84, "last": 87, "test": "test_submission"},
    {"first": 89, "last": 93, "reason": "a folder's layout"},
    {"first": 97, "last": 101, "reason": SHELL},
    {
        "first": 104,
        "last": 128,
        "test": "test_submission",
        "dedents": {114: 1, 120: 1},
        "fills": (
            (124, "'alexnet'", "'coarse'", MODEL),
            (126, "0.212", "expected", VALUES),
        ),
    },
    {"first": 130, "last": 131, "test": "test_submission"},
    {"first": 133, "last": 140, "test": "test_submission", "fills": ((136, "'alexnet'", "'coarse'", MODEL),)},
    {
        "first": 144,
        "last": 177,
        "test": "test_submission",
        "slips": ((167, "'NeuroidAssembly'", "'BehavioralAssembly'", "the assembly made above is of this class"),),
        "fills": (
            (148, "^", "stimuli = ", "what is returned is looked at"),
            (163, "^", "measured = ", "what is returned is looked at"),
        ),
    },
    {
        "first": 184,
        "last": 204,
        "test": "test_submission",
        "slips": (
            (187, "NeuroidAssembly", "BehavioralAssembly", "the assembly made above is of this class"),
            (202, "NeuroidAssembly", "BehavioralAssembly", "the assembly made above is of this class"),
        ),
    },
    {"first": 209, "last": 212, "reason": SHELL},
    {"first": 214, "last": 214, "reason": SHELL},
    {"first": 217, "last": 228, "reason": "a folder's layout"},
    {"first": 230, "last": 235, "reason": SHELL},
    {"first": 246, "last": 260, "reason": "the text of a pull request"},
]

PROSE = {301}


def test_every_line_of_code_is_in_a_block(stray_code):
    assert stray_code == ({}, [])


COARSE = """
import numpy as np

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import FeatureModel


def features(images):
    return np.stack([image[::4, ::4].astype(float).ravel() for image in images])


model_registry['coarse'] = lambda: FeatureModel('coarse', layers={'features': features}, load=load_rgb)
"""


@pytest.mark.slow(reason="runs the tests of a plugin in a process of its own")
def test_submission(document, plugin, pictures, bucket, capsys, tmp_path):
    """Package, upload, register, write the benchmark, test it."""
    ids = [f"img_{number:03d}" for number in range(1, 21)]
    paths = pictures(ids, suffix=".jpg", size=16)
    kinds = ["face" if number % 2 else "object" for number in range(1, 21)]
    document.names |= {
        "more_stimuli": [{"stimulus_id": ids[n], "category": kinds[n], "condition": "A"} for n in range(2, 20)],
        "more_paths": {name: paths[name] for name in ids[2:]},
        "response_data": [*kinds, *kinds],
        "stimulus_ids": ids * 2,
        "subject_ids": ["s1"] * 20 + ["s2"] * 20,
        "conditions": ["A", "B"] * 20,
    }
    document.run(16)
    document.run(32)
    document.run(46)
    choices = document.names["assembly"]
    document.names |= {"np": np, "assembly": choices == "face"}  # only numbers can be NaN
    document.run(48)
    document.names["assembly"] = choices
    document.run(144)
    stimuli, measured = document.names["stimuli"], document.names["measured"]
    assert stimuli.keys() == {"identifier", "csv_path", "zip_path", "csv_sha1", "zip_sha1"}
    assert measured.keys() == {"identifier", "path", "sha1", "cls"}

    upload = bucket(BUCKET)
    registration = document.code(
        184,
        bucket=BUCKET,
        csv_sha1=stimuli["csv_sha1"],
        zip_sha1=stimuli["zip_sha1"],
        csv_version_id=upload(stimuli["csv_path"]),
        zip_version_id=upload(stimuli["zip_path"]),
        sha1=measured["sha1"],
        version_id=upload(measured["path"]),
    )
    plugin("data/myexperiment2024", __init__=registration)
    plugin("models/coarse", __init__=COARSE)
    folder = plugin("benchmarks/myexperiment2024", __init__=document.code(84), benchmark=document.code(53))

    expected = load_benchmark(f"{NAME}-accuracy")(load_model("coarse"))
    assert 0 < float(expected) <= 1
    document.names["expected"] = expected
    tests = document.run(104)["TestMyExperiment2024"]()
    for name in [name for name in dir(tests) if name.startswith("test_")]:
        getattr(tests, name)()
    document.run(133)
    said = capsys.readouterr().out
    assert said.startswith(f"Score: {float(expected):.4f}\nCeiling: 0.9000\nRaw attrs: {{")

    (folder / "test.py").write_text(f"expected = {float(expected)!r}\n" + document.code(104))
    command = shlex.split(document.code(130).splitlines()[-1])
    environment = os.environ | {"BRAINSCORE_PRIVATE_ACCESS": "1"}
    ran = subprocess.run([sys.executable, "-m", *command], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert "3 passed" in ran.stdout
