"""The pytest plugin: marks of tests, tests that cannot run here, and folders of plugins.

It is installed with the package, and every pytest loads it. It

* knows the marks ``private_access``, ``network``, ``slow``, ``requires_gpu`` and ``memory_intense``;
* skips tests that cannot run: ``requires_gpu`` without a CUDA device; ``network`` unless ``BRAINSCORE_NETWORK=1``;
  ``private_access`` unless ``BRAINSCORE_PRIVATE_ACCESS=1`` (which means the network, too);
* lets a plugin folder's ``test.py`` load its plugin, where the folder is not in ``BRAINSCORE_PLUGINS`` yet, and imports
  it as a part of the plugin;
* prints each test as a line of JSON if ``BRAINSCORE_TEST_EVENTS`` is set to what these lines begin with; a site reads
  them.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest

NETWORK = "BRAINSCORE_NETWORK"
PRIVATE_ACCESS = "BRAINSCORE_PRIVATE_ACCESS"
MARKS = {
    "private_access": f"needs data that are not public; skipped unless {PRIVATE_ACCESS}=1",
    "network": f"needs published data that are fetched from the network; skipped unless {NETWORK}=1",
    "slow": "takes longer than a few seconds; leave it out with -m 'not slow'",
    "requires_gpu": "needs a CUDA device; skipped without one",
    "memory_intense": "needs much memory; leave it out with -m 'not memory_intense'",
}


EVENTS = "BRAINSCORE_TEST_EVENTS"
_LONGEST_EVENT = 4000  # bytes; a pipe takes as many at once, so that no other output comes in between
_LONGEST_TEXT = 2500  # characters
_NAMES_AT_ONCE = 3000  # characters


class Events:
    """Reports what is collected, each test, and the end of the session, as soon as it is known.

    Lines begin with `start`; `stream` is a copy of standard output, made before pytest redirects it.
    """

    def __init__(self, start: str, stream: int) -> None:
        self._start, self._stream = start, stream
        self._phases: dict[str, list[pytest.TestReport]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Name all tests that will run."""
        for names in _parts([item.nodeid for item in session.items]):
            self._write(event="collected", tests=names)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a module that cannot be imported."""
        if report.failed:
            self._write(event="collected", tests=[report.nodeid])
            text = _end_of(report.longreprtext)
            self._write(event="test", name=report.nodeid, outcome="failed", message="cannot be collected", text=text)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report a test after its last phase."""
        phases = self._phases.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when == "teardown":
            del self._phases[report.nodeid]
            worst = next((phase for phase in phases if phase.failed), None)
            worst = worst or next((phase for phase in phases if phase.skipped), report)
            message, text = _explanation(worst)
            outcome = "passed" if hasattr(worst, "wasxfail") and worst.skipped else worst.outcome
            self._write(event="test", name=report.nodeid, outcome=outcome, message=message, text=text)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Report the end."""
        self._write(event="end", status=int(exitstatus))

    def _write(self, **event: object) -> None:
        line = f"{self._start} {json.dumps(event)}\n".encode()
        if len(line) > _LONGEST_EVENT and "text" in event:
            short = {name: str(value)[:300] for name, value in event.items()}
            line = f"{self._start} {json.dumps(short)}\n".encode()
        os.write(self._stream, line)


def _parts(names: list[str]) -> Iterable[list[str]]:
    batch: list[str] = []
    for name in names:
        if batch and sum(map(len, batch)) + len(name) > _NAMES_AT_ONCE:
            yield batch
            batch = []
        batch.append(name[:_LONGEST_TEXT])
    yield batch


def _explanation(report: pytest.TestReport) -> tuple[str, str]:
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])[:_LONGEST_TEXT], ""
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(getattr(crash, "message", ""))[:500], _end_of(report.longreprtext) if report.failed else ""


def _end_of(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"…\n{text[-_LONGEST_TEXT:]}"


_events = Events(os.environ[EVENTS], os.dup(1)) if os.environ.get(EVENTS) else None


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known, and report tests if that is requested."""
    if _events is not None:
        config.pluginmanager.register(_events)
    registered = {line.partition(":")[0].strip() for line in config.getini("markers")}
    for name, meaning in MARKS.items():
        if name not in registered:
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
    from brainscore_core.submission.package import make_discoverable, plugin_folder_of

    folder = plugin_folder_of(file.parent)
    if folder is None or "_registry" not in (folder / "__init__.py").read_text(errors="replace"):
        return None
    index = make_discoverable(folder).plugin_index
    plugin = index.plugin_of(str(folder / "__init__.py"))
    if plugin is None or plugin.source != index.variable:
        return None
    names = file.relative_to(folder).with_suffix("").parts
    return ".".join((plugin.package, *names))
