"""``brainscore check``."""

import json

import pytest

FILE = """
import numpy as np


def make():
    return lambda images: np.stack([image[::16, ::16].mean(axis=2).ravel() for image in images])


def broken():
    return lambda images: np.full((len(images), 4), np.nan)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def test_a_registered_model(cli):
    result = cli("check", "model", "pixels")
    assert result.exit_code == 0, result.output
    assert "✓ responses repeat" in result.output
    assert "– task label\n    'pixels' cannot do the task 'label'" in result.output
    assert result.output.endswith("pixels: all checks passed\n")


def test_a_function_of_a_file(cli, file):
    result = cli("check", "model", f"{file}:make", "--json")
    assert result.exit_code == 0, result.output
    assert {check["result"] for check in json.loads(result.stdout)} == {"passed", "not applicable"}


def test_failures_are_explained_and_set_the_exit_code(cli, file):
    result = cli("check", "model", f"{file}:broken")
    assert result.exit_code == 1
    assert "✗ recordings have the right form\n    the recordings of V1 hold NaN or infinity" in result.output


def test_an_unknown_model_is_no_failed_check(shell):
    result = shell("check", "model", "pixles")
    assert result.returncode == 2
    assert "pixels" in result.stderr
