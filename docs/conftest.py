"""Runs the code blocks of the documentation: each page's in order, in one namespace, in a folder of its own."""

import os
import tempfile

import pytest

sybil = pytest.importorskip("sybil")
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser  # noqa: E402 (only where sybil is installed)


def _enter(namespace):
    namespace["_folder_before"] = os.getcwd()
    namespace["_environment_before"] = dict(os.environ)
    namespace["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(namespace["_folder"].name)


def _leave(namespace):
    os.chdir(namespace["_folder_before"])
    os.environ.clear()
    os.environ.update(namespace["_environment_before"])
    namespace["_folder"].cleanup()


pytest_collect_file = sybil.Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()], pattern="*.md", setup=_enter, teardown=_leave
).pytest()
