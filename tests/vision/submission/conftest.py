"""Small plugins, and ways to pack them."""

import io
import subprocess
import zipfile

import pytest

MODEL = """from brainscore_vision import model_registry

METADATA = {}

model_registry["mine"] = lambda: None
"""
BENCHMARK = """from brainscore_vision import benchmark_registry

from .benchmark import Mine

benchmark_registry["Mine2026-pls"] = Mine
"""
CODE = """from brainscore_vision.benchmarks import BenchmarkBase

BIBTEX = "@article{a, author={A. Author}, title={T}, journal={J}, year={2026}, url={https://doi.org/10.1000/1}}"


class Mine(BenchmarkBase):
    def __init__(self):
        super().__init__(
            identifier="Mine2026-pls", version=1, ceiling_func=lambda: None, parent="V1", bibtex=BIBTEX
        )
"""
BENCHMARK_TEST = """from brainscore_vision import load_benchmark, load_model


def test_it():
    benchmark = load_benchmark("Mine2026-pls")
    assert 0 < benchmark.ceiling <= 1
    assert benchmark(load_model("pixels")) == 0.25
"""
DATA = """from brainscore_vision import data_registry

data_registry["Mine2026"] = lambda: None
"""
DATA_TEST = "from brainscore_vision import load_dataset\n\n\ndef test_it():\n    load_dataset('Mine2026')\n"
MODEL_TEST = "from brainscore_vision import load_model\n\n\ndef test_it():\n    load_model('mine')\n"


@pytest.fixture
def model():
    """Files of a model."""
    return {"models/mine/__init__.py": MODEL, "models/mine/test.py": MODEL_TEST}


@pytest.fixture
def benchmark():
    """Files of a benchmark and its data."""
    return {
        "benchmarks/mine2026/__init__.py": BENCHMARK.replace("\n\nb", "\n\nMETADATA = {}\nb"),
        "benchmarks/mine2026/benchmark.py": CODE,
        "benchmarks/mine2026/test.py": BENCHMARK_TEST,
        "data/mine2026/__init__.py": DATA,
        "data/mine2026/test.py": DATA_TEST,
    }


@pytest.fixture
def zipped():
    """``zipped(files, wrapper="")`` packs files; a pair is a ``ZipInfo`` and its content."""

    def pack(files, wrapper="", **options):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, **options) as archive:
            for path, content in files.items() if isinstance(files, dict) else files:
                archive.writestr(wrapper + path if isinstance(path, str) else path, content)
        return stream.getvalue()

    return pack


@pytest.fixture
def written(tmp_path):
    """``written(files)`` writes files below a folder, and gives it."""

    def write(files, folder=tmp_path / "written"):
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            content = text if isinstance(text, bytes) else text.encode()
            (folder / path).write_bytes(content)
        return folder

    return write


@pytest.fixture
def repository(tmp_path, written, monkeypatch):
    """A repository in a folder; ``repository.commit(files)`` gives the hash, ``repository.url`` its address."""
    monkeypatch.setenv("BRAINSCORE_GIT_LOCAL", "1")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    class Repository:
        folder = tmp_path / "repository"
        url = f"file://{tmp_path / 'repository'}"

        def git(self, *arguments):
            return subprocess.run(
                ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
                cwd=self.folder, check=True, capture_output=True, text=True,
            ).stdout.strip()  # fmt: skip

        def commit(self, files):
            written(files, self.folder)
            self.git("add", "--all", "--force")
            self.git("commit", "--quiet", "--allow-empty", "--message", "changes")
            return self.git("rev-parse", "HEAD")

    made = Repository()
    made.folder.mkdir()
    made.git("init", "--quiet", "--initial-branch", "main")
    return made
