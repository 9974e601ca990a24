"""Fixtures for every test of the project, the plugins' own included."""

import importlib.util
import os
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

# a loaded machine is slow; that is no failure
hypothesis.settings.register_profile("steady", deadline=None)
hypothesis.settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def _home_of_the_tests(tmp_path_factory):
    """Nothing a test does reaches the user's own caches, results or plugins."""
    home = tmp_path_factory.mktemp("home")
    tempfile.tempdir = str(tmp_path_factory.mktemp("temporary"))  # what examples leave behind goes with the tests' own
    unset = ("RESULTS", "PLUGINS", "ACTIVATIONS", "ACTIVATIONS_LIMIT", "MAX_MEMORY")
    kept = {f"BRAINSCORE_{name}": os.environ.pop(f"BRAINSCORE_{name}", None) for name in unset}
    for name in ("BRAINIO_HOME", "BRAINSCORE_HOME"):
        kept[name] = os.environ.get(name)
        os.environ[name] = str(home / name.lower())
    if "BRAINSCORE_MIRROR" in os.environ:  # some tests change the working directory
        kept["BRAINSCORE_MIRROR"] = os.environ["BRAINSCORE_MIRROR"]
        folders = kept["BRAINSCORE_MIRROR"].split(os.pathsep)
        os.environ["BRAINSCORE_MIRROR"] = os.pathsep.join(str(Path(folder).resolve()) for folder in folders)
    yield
    for name, value in kept.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Folder of published data files, laid out host/path; the test is skipped where there is none."""
    folder = os.environ.get("BRAINSCORE_MIRROR")
    if not folder:
        pytest.skip("needs real data: set BRAINSCORE_MIRROR to a folder that mirrors it")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"BRAINSCORE_MIRROR={folder} is no folder")
    return path


@pytest.fixture(scope="session")
def torchvision():
    """torchvision, also where it was built for another torch: two operators are declared that it then lacks."""
    torch = pytest.importorskip("torch")
    for operator in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, operator):
            torch.library.define(
                f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            )
    return pytest.importorskip("torchvision")


@pytest.fixture
def need_program():
    """``need_program('chromium')`` returns its path; absent: skipped, or failed where CI is set."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            message = f"needs the program {name!r}, which is not installed"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)
        return path

    return find


_HAS_TORCH = importlib.util.find_spec("torch") is not None
_NEEDS_TORCH = re.compile(r"^(import torch|from torch)|^\s*>>> (import|from) .*\btorch\b", re.MULTILINE)


def pytest_report_header():
    return [] if _HAS_TORCH else ["PyTorch is not installed: files that need it are left out"]


def pytest_ignore_collect(collection_path):
    """Where PyTorch is not installed, leave out the files that cannot be imported, or whose examples cannot run."""
    if _HAS_TORCH or collection_path.suffix != ".py" or not _NEEDS_TORCH.search(collection_path.read_text()):
        return None
    return True


def pytest_terminal_summary(terminalreporter):
    """Why tests were skipped, each reason once."""
    reasons = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} × {reason}", yellow=True)
