"""Paths that tutorials, published plugins, our own plugin folders and the scaffold import keep working, silently."""

import importlib
import warnings
from pathlib import Path

import pytest

LINES = Path(__file__).with_name("frozen_paths.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", LINES, ids=[line.partition(":")[0] for line in LINES])
def test_frozen_path(line):
    pytest.importorskip("torch")
    path, _, names = line.partition(":")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        module = importlib.import_module(path)
        for name in names.split():
            if not hasattr(module, name):
                importlib.import_module(f"{path}.{name}")
