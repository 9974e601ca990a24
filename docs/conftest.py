"""Runs the code blocks of the documentation: each page's in order, in one namespace, in a folder of its own.

The comment ``<!--- slow: REASON --->`` before a block marks it as slow. No other block may build on it.
"""

import os
import re
import sys
import tempfile
import unittest
from contextlib import suppress

import pytest

sybil = pytest.importorskip("sybil")
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser  # noqa: E402 (only where sybil is installed)


def _enter(namespace):
    namespace["_folder_before"] = os.getcwd()
    namespace["_environment_before"] = dict(os.environ)
    namespace["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(namespace["_folder"].name)


def _leave(namespace):
    _withdraw_registrations()
    os.chdir(namespace["_folder_before"])
    os.environ.clear()
    os.environ.update(namespace["_environment_before"])
    namespace["_folder"].cleanup()
    namespace.clear()  # where a page is entered again, its blocks run again


def _withdraw_registrations():
    """What a page registered belongs to no plugin's folder, and is not there for other tests."""
    vision = sys.modules.get("brainscore_vision")
    kinds = ("benchmark", "data", "metric", "model", "stimulus_set") if vision is not None else ()
    for registry in (getattr(vision, f"{kind}_registry") for kind in kinds):
        for key in list(registry):
            if registry.location(key).folder is None:
                del registry[key]


pytest_collect_file = sybil.Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()], pattern="*.md", setup=_enter, teardown=_leave
).pytest()

_LIBRARY = re.compile(r"^(?:import|from) (?:torchvision|timm|transformers)\b|\"torchvision:", re.MULTILINE)
_SLOW = re.compile(r"<!--- slow: (.*) --->\s*\Z")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if hasattr(item, "example") and (slow := _slow(item.example)):
            item.add_marker(pytest.mark.slow(reason=slow[1]))


def _slow(example):
    return _SLOW.search(example.document.text[: example.region.start])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    """Run what stands before a block on its page and has not run in this process: the block builds on it."""
    if not hasattr(item, "example"):
        return
    if _LIBRARY.search(str(item.example.parsed)):
        from tests.optional import declare_operators

        declare_operators()
    ran = item.example.namespace.setdefault("_ran", set())
    for block in item.example.document.examples():
        if block.line < item.example.line and block.line not in ran and not _slow(block):
            ran.add(block.line)
            with suppress(unittest.SkipTest):
                block.evaluate()
    ran.add(item.example.line)
