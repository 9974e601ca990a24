"""Runs of toy pairs; workers, and the tests, import from this folder."""

import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.append(HERE)


@pytest.fixture
def runner(tmp_path):
    """A folder to run toy pairs in."""
    from runner_runs import Runner

    return Runner(tmp_path)
