"""``brainscore changed``, in a real repository."""

import json
import subprocess

import pytest

PLUGIN = "from brainscore_vision import metric_registry\nmetric_registry['x'] = dict\n"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A checkout with two plugins, on a branch of its own; ``repository(path, text)`` writes a file."""
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def write(path, text=PLUGIN):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    write.git = lambda *arguments: subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    write.root = tmp_path
    for path in ("metrics/old/__init__.py", "models/old/__init__.py", "data/old/__init__.py", "models/conftest.py"):
        write(f"brainscore_vision/{path}")
    write("README.md", "read me")
    write(".gitignore", "*.tmp\n")
    write.git("init", "--quiet", "--initial-branch", "main")
    write.git("add", ".")
    write.git("commit", "--quiet", "--message", "first")
    write.git("checkout", "--quiet", "-b", "mine")
    return write


@pytest.fixture
def changed(cli):
    def run(*options):
        result = cli("changed", "main", "--json", *options)
        return json.loads(result.stdout)

    return run


def states(found):
    return {plugin["path"].removeprefix("brainscore_vision/"): plugin["state"] for plugin in found["plugins"]}


def test_nothing(cli, repository, changed):
    assert changed()["plugins"] == []
    result = cli("changed", "main", "--within")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "Nothing changed.\n")


def test_plugins_of_all_domains(repository, changed):
    repository("brainscore_language/models/mine/__init__.py")
    (plugin,) = changed()["plugins"]
    assert (plugin["path"], plugin["state"]) == ("brainscore_language/models/mine", "added")


def test_a_submission_stays_within_its_plugin(cli, repository, changed):
    repository("brainscore_vision/benchmarks/smith2026/__init__.py")
    repository("brainscore_vision/benchmarks/smith2026/test.py")
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message", "benchmark")
    repository("brainscore_vision/data/smith2026/__init__.py")  # not committed yet
    repository("brainscore_vision/data/smith2026/left.tmp")
    found = changed()
    assert found["base"] == repository.git("rev-parse", "main").strip()
    assert found["within_plugin"] is True
    assert found["outside"] == []
    assert found["plugins"] == [
        {"kind": "benchmark", "name": "smith2026", "path": "brainscore_vision/benchmarks/smith2026", "state": "added",
         "tests": True},
        {"kind": "data", "name": "smith2026", "path": "brainscore_vision/data/smith2026", "state": "added",
         "tests": False},
    ]  # fmt: skip
    result = cli("changed", "main", "--within")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == ["brainscore_vision/benchmarks/smith2026", "brainscore_vision/data/smith2026"]
    assert result.stderr.splitlines() == [
        "added    brainscore_vision/benchmarks/smith2026",
        "added    brainscore_vision/data/smith2026  (no tests)",
        "The change stays within its plugin.",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "brainscore_vision/models/conftest.py",
        "brainscore_vision/metrics/__init__.py",
        "brainscore_vision/data/_shared/__init__.py",
        "brainscore_vision/testing/stand_ins/nobody.py",
        "tests/vision/models/old/test_it.py",
        "brainscore_vision/models/no_plugin/notes.txt",
    ],
)
def test_files_that_belong_to_no_plugin(cli, repository, changed, path):
    repository("brainscore_vision/metrics/old/metric.py")
    repository(path, "changed")
    found = changed()
    assert found["outside"] == [path]
    assert states(found) == {"metrics/old": "changed"}
    assert found["within_plugin"] is False
    result = cli("changed", "main", "--within")
    assert result.exit_code == 1
    assert "does not stay within a plugin: 1 files lie outside" in result.stderr


def test_several_plugins(cli, repository, changed):
    repository("brainscore_vision/metrics/old/metric.py")
    repository("brainscore_vision/models/other/__init__.py")
    found = changed()
    assert states(found) == {"metrics/old": "changed", "models/other": "added"}
    assert found["within_plugin"] is False
    assert "plugins of several names: old, other" in cli("changed", "main").stderr


def test_what_was_removed_or_moved(repository, changed):
    repository.git("mv", "brainscore_vision/metrics/old", "brainscore_vision/metrics/new")
    found = changed()
    assert states(found) == {"metrics/old": "removed", "metrics/new": "added"}
    assert found["to_test"] == ["brainscore_vision/metrics/new"]


def test_a_stand_in_belongs_to_its_data(repository, changed):
    repository("brainscore_vision/testing/stand_ins/old.py")
    found = changed()
    assert states(found) == {"data/old": "changed"}
    assert found["within_plugin"] is True


def test_what_others_merged_meanwhile_does_not_count(repository, changed):
    repository.git("checkout", "--quiet", "main")
    repository("brainscore_vision/models/theirs/__init__.py")
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message", "theirs")
    repository.git("checkout", "--quiet", "mine")
    repository("brainscore_vision/metrics/old/é ü.py")
    assert states(changed()) == {"metrics/old": "changed"}


def test_a_laboratorys_own_repository(repository, changed):
    repository.git("mv", "brainscore_vision", "lab")
    repository.git("commit", "--quiet", "--all", "--message", "moved")
    repository.git("branch", "--force", "main")
    repository("lab/models/old/model.py")
    assert [plugin["path"] for plugin in changed()["plugins"]] == ["lab/models/old"]


def test_from_a_folder_below(repository, changed, monkeypatch):
    repository("brainscore_vision/metrics/old/metric.py")
    monkeypatch.chdir(repository.root / "brainscore_vision")
    assert states(changed()) == {"metrics/old": "changed"}


def test_what_cannot_be_compared(cli, repository, tmp_path_factory, monkeypatch):
    assert "name a branch or commit" in cli("changed", "nonesuch").output
    assert "name a branch or commit" in cli("changed", "--", "--output=x").output
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "/")
    assert "run it in the repository" in cli("changed", "main").output
