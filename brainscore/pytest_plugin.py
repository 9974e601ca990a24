"""The pytest plugin: marks of tests, tests that cannot run here, and folders of plugins.

It is installed with the package, and every pytest loads it. It

* knows the marks ``private_access``, ``network``, ``slow``, ``requires_gpu`` and ``memory_intense``;
* skips tests that cannot run: ``requires_gpu`` without a CUDA device; ``network`` unless ``BRAINSCORE_NETWORK=1``;
  ``private_access`` unless ``BRAINSCORE_PRIVATE_ACCESS=1`` (which means the network, too);
* lets a plugin folder's ``test.py`` load its plugin, where the folder is not in ``BRAINSCORE_PLUGINS`` yet, and imports
  it as a part of the plugin.
"""

from __future__ import annotations

import importlib
import os
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest

__all__ = ["MARKS", "NETWORK", "PRIVATE_ACCESS"]

NETWORK = "BRAINSCORE_NETWORK"
PRIVATE_ACCESS = "BRAINSCORE_PRIVATE_ACCESS"
MARKS = {
    "private_access": f"needs data that are not public; skipped unless {PRIVATE_ACCESS}=1",
    "network": f"needs published data that are fetched from the network; skipped unless {NETWORK}=1",
    "slow": "takes longer than a few seconds; leave it out with -m 'not slow'",
    "requires_gpu": "needs a CUDA device; skipped without one",
    "memory_intense": "needs much memory; leave it out with -m 'not memory_intense'",
}


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    known = {line.partition(":")[0].strip() for line in config.getini("markers")}
    for name, meaning in MARKS.items():
        if name not in known:
            config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take a plugin's folder outside of the package for a folder: as a package it would be imported a second time."""
    return pytest.Dir.from_parent(parent, path=path) if _module_name(path / "__init__.py") else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Collect ``test.py`` of a plugin's folder also where pytest's settings do not name such files."""
    if file_path.name != "test.py" or parent.session.isinitpath(file_path):
        return None
    if any(fnmatch(file_path.name, pattern) for pattern in parent.config.getini("python_files")):
        return None
    return pytest_pycollect_makemodule(file_path, parent)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Import a plugin's tests as part of the plugin, so that tests of two plugins of one name do not meet."""
    if _module_name(module_path) is None:
        return None
    module: pytest.Module = PluginTests.from_parent(parent, path=module_path)
    return module


class PluginTests(pytest.Module):
    """Tests in a plugin's folder outside of the package."""

    def _getobj(self) -> Any:
        return importlib.import_module(str(_module_name(self.path)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here."""
    reason = _why_not(item)
    if reason is not None:
        pytest.skip(reason)


def _why_not(item: pytest.Item) -> str | None:
    if item.get_closest_marker("private_access") and not _is_on(PRIVATE_ACCESS):
        return f"needs data that are not public: set {PRIVATE_ACCESS}=1 where they can be reached"
    if item.get_closest_marker("network") and not (_is_on(NETWORK) or _is_on(PRIVATE_ACCESS)):
        return f"needs the network: set {NETWORK}=1 where there is one"
    if item.get_closest_marker("requires_gpu") and not _has_cuda():
        return "needs a CUDA device"
    return None


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() in {"1", "true", "yes", "on"}


@cache
def _has_cuda() -> bool:
    try:
        import torch
    except ModuleNotFoundError:
        return False
    return bool(torch.cuda.is_available())


def _module_name(file: Path) -> str | None:
    """Name under which a file of a plugin in the user's own folders is imported, which it makes visible.

    Looks at names first, so that collecting others' tests costs nothing.
    """
    if not {"benchmarks", "data", "metrics", "models"}.intersection(file.parts):
        return None
    from brainscore_vision import plugin_index
    from brainscore_vision.plugin_folders import PLUGINS_VARIABLE, make_discoverable, plugin_folder_of

    folder = plugin_folder_of(file.parent)
    if folder is None or "_registry" not in (folder / "__init__.py").read_text(errors="replace"):
        return None
    make_discoverable(folder)
    plugin = plugin_index.plugin_of(str(folder / "__init__.py"))
    if plugin is None or plugin.source != PLUGINS_VARIABLE:
        return None
    parts = file.relative_to(folder).with_suffix("").parts
    return ".".join((plugin.package, *parts))
