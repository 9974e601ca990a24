"""A folder of small plugins, and a way to run the command line."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest
from click.testing import CliRunner

from brainscore.cli import app


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """``lab(kind, name, source)`` writes a plugin that every command finds."""
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path / "lab"))
    (tmp_path / "lab" / "models").mkdir(parents=True)

    def write(kind, name, source, **others):
        folder = tmp_path / "lab" / kind / name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(
            folder / "__pycache__", ignore_errors=True
        )  # compiled in the same second, it would be taken for the new code
        (folder / "__init__.py").write_text(textwrap.dedent(source))
        for other, text in others.items():
            (folder / other.replace("_txt", ".txt").replace("_md", ".md")).write_text(text)
        return folder

    yield write
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    import brainscore_vision

    brainscore_vision.plugin_index.refresh()


@pytest.fixture
def cli():
    """``cli('list', 'models')`` runs a command in this process."""

    def run(*arguments, **options):
        return CliRunner().invoke(app, arguments, **options)

    return run


@pytest.fixture
def shell(tmp_path):
    """``shell('list', 'models')`` runs a command in a process of its own."""

    def run(*arguments, module="brainscore", **variables):
        environment = {**os.environ, "BRAINSCORE_HOME": str(tmp_path / "home"), **variables}
        return subprocess.run(
            [sys.executable, "-m", module, *arguments], env=environment, capture_output=True, text=True, timeout=120
        )

    return run


@pytest.fixture
def lean_pytest(monkeypatch):
    """A pytest that the test starts leaves out plugins of others, which take longer to import than anything else."""
    names = ("anyio", "django", "hypothesispytest", "schemathesis")
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in names))
