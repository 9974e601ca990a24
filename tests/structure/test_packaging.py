"""Files about the package that repeat what pyproject.toml says."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install 'brainscore[test]'")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA_NAMES = {"netCDF4": "netcdf4"}  # others have the same name there


def _yaml(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_conda_recipe_has_the_version_and_dependencies_of_the_package():
    recipe = _yaml("conda/recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    assert recipe["package"]["name"] == PROJECT["name"]
    assert recipe["about"]["license"] == PROJECT["license"]
    pairs = [re.match(r"([\w.-]+)(.*)", text).groups() for text in PROJECT["dependencies"]]
    required = {f"python {PROJECT['requires-python']}"} | {f"{CONDA_NAMES.get(n, n)} {v}" for n, v in pairs}
    assert set(recipe["requirements"]["run"]) == required
    ((command, target),) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{command} = {target}"]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert {text.replace(" ", "") for text in recipe["requirements"]["host"]} >= set(build)


def test_the_citation_has_the_version_and_the_required_fields():
    citation = _yaml("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["url"] == PROJECT["urls"]["Homepage"]
    assert citation["message"]
    assert citation["title"]
    assert citation["authors"]
    for reference in citation["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)
        assert re.fullmatch(r"10\.\d{4,}/\S+", reference["doi"])


def test_the_workflow_tests_the_claimed_versions_of_python():
    claimed = {text.rpartition(" :: ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)}
    workflow = _yaml(".github/workflows/tests.yml")["jobs"]
    assert claimed
    assert claimed <= set(workflow["test"]["strategy"]["matrix"]["python"])
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert lowest in claimed
    assert sys.version_info[:2] >= tuple(map(int, lowest.split(".")))


def test_other_systems_run_tests_of_core_and_vision():
    job = _yaml(".github/workflows/tests.yml")["jobs"]["systems"]
    assert set(job["strategy"]["matrix"]["system"]) == {"windows-latest", "macos-latest"}
    command = next(step["run"] for step in job["steps"] if "-m pytest" in step.get("run", ""))
    folders = re.findall(r"(?:tests|brainscore)[\w/]+", command)
    assert {"tests/core", "tests/vision"} <= set(folders)
    assert all((ROOT / folder).exists() for folder in folders)
