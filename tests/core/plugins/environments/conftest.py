"""Tiny wheels in a folder, and an interpreter of the test's own to lie over: no network anywhere."""

import base64
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import brainscore_core
from brainscore_core.plugins.environments import environment_of


class Wheels:
    """A folder of wheels that is pip's only source."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def add(self, name, version="1.0", *, requires=(), files=None, folder=None):
        """Write a wheel; its module says its version."""
        module = name.replace("-", "_")
        info = f"{module}-{version}.dist-info"
        metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
        metadata += [f"Requires-Dist: {requirement}" for requirement in requires]
        contents = {f"{module}/__init__.py": f"version = {version!r}\n"} if files is None else dict(files)
        contents[f"{info}/METADATA"] = "\n".join(metadata) + "\n"
        contents[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        record = [f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in contents.items()]
        contents[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
        path = (folder or self.folder) / f"{module}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name_in, text in contents.items():
                archive.writestr(name_in, text)
        return path


def _digest(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


class Interpreter:
    """A small environment to lie over: pip, NumPy and this project, linked, and packages of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.python.parent.mkdir(parents=True)
        self.python.symlink_to(sys._base_executable)
        (folder / "pyvenv.cfg").write_text(f"home = {Path(sys._base_executable).parent}\n")
        self.site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        self.site.mkdir(parents=True)
        (self.site / "tests.pth").write_text(f"{Path(brainscore_core.__file__).parent.parent}\n")
        for name in ("brainscore", "numpy", "pip"):
            distribution = importlib.metadata.distribution(name)
            for top in sorted({Path(file).parts[0] for file in distribution.files if len(Path(file).parts) > 1}):
                target = Path(distribution.locate_file(top))
                if top != ".." and target.is_dir() and target.name != "__pycache__":
                    (self.site / top).symlink_to(target)

    def install(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.site)

    def remove(self, name):
        for path in self.site.glob(f"{name}*"):
            shutil.rmtree(path)


@pytest.fixture(autouse=True)
def _pips_settings(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # neither the machine's nor the user's
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))


@pytest.fixture
def wheels(tmp_path):
    return Wheels(tmp_path / "wheels")


@pytest.fixture
def base(tmp_path):
    return Interpreter(tmp_path / "base")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home" / "environments"


@pytest.fixture
def plugin(tmp_path):
    """Write a requirement file of a plugin."""
    folder = tmp_path / "models" / "mine"
    folder.mkdir(parents=True)

    def write(text, name="requirements.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.fixture
def make(base):
    """Find or make an environment over the test's interpreter; released at the end."""
    made = []

    def environment(*files, name="mine", say=None):
        made.append(environment_of(files, plugin=name, base=base.python, on_progress=say))
        return made[-1]

    yield environment
    for item in made:
        item.release()


@pytest.fixture
def run():
    """Run code in an environment; what it prints."""

    def in_environment(environment, code):
        done = subprocess.run(
            [environment.python, "-P", "-c", code], check=True, capture_output=True, text=True, cwd=Path(os.sep)
        )
        return done.stdout.strip()

    return in_environment
