"""Simulated receipts, and a browser."""

import importlib.util
import sys
from pathlib import Path

import pytest


def _load(name):
    spec = importlib.util.spec_from_file_location(f"report_{name}", Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def simulated():
    """``simulated.receipt(…)``, ``.failed(…)``, ``.many(…)``, ``.small_tree()``."""
    return _load("simulated")


@pytest.fixture(scope="session")
def large(simulated):
    """Receipts of 104 models on 36 benchmarks: too many to be written out."""
    models = [f"model-{number:03}" for number in range(104)]
    return simulated.many(models, [(f"Bench{number:02}-pls", 1, None) for number in range(36)])


@pytest.fixture
def browser(need_program, tmp_path):
    """``browser(page)`` opens a file in Chromium and gives a tab; see browser.py."""
    opened = []

    def open_page(page):
        tab = _load("browser").open_tab(need_program("chromium"), page, tmp_path / "user")
        opened.append(tab)
        return tab

    yield open_page
    for tab in opened:
        tab.close()
