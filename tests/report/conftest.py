"""Simulated receipts, and pages in a browser."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def simulated():
    """``simulated.receipt(…)``, ``.failed(…)``, ``.many(…)``, ``.small_tree()``."""
    spec = importlib.util.spec_from_file_location("report_simulated", Path(__file__).parent / "simulated.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def large(simulated):
    """Receipts of 104 models on 36 benchmarks: too many to be written out."""
    models = [f"model-{number:03}" for number in range(104)]
    return simulated.many(models, [(f"Bench{number:02}-pls", 1, None) for number in range(36)])
