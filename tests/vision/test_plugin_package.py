"""A laboratory's own package, installed: its plugins are listed, loaded and scored."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "plugin_package"
MODEL = "example-lab-brightness"
BENCHMARK = "ExampleLab2026.brightness-agreement"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the package as pip does, without a build: its modules, and what its pyproject.toml announces."""
    folder = tmp_path_factory.mktemp("site-packages")
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE / "brainscore_example_lab", folder / "brainscore_example_lab", ignore=ignore)
    name = project["name"].replace("-", "_")
    info = folder / f"{name}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{point} = {value}" for point, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    (info / "top_level.txt").write_text("brainscore_example_lab\n")
    return folder


@pytest.fixture
def run(installed, tmp_path):
    """Run Python with the package installed."""

    def call(*arguments):
        path = os.pathsep.join([str(installed), str(SOURCE.parents[1])])
        environment = {**os.environ, "PYTHONPATH": path, "BRAINSCORE_RESULTS": str(tmp_path / "results")}
        return subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=600, cwd=tmp_path
        )

    return call


def test_listed_without_being_imported(run):
    code = """
        import sys
        import brainscore_vision as vision
        names = [vision.model_registry, vision.benchmark_registry, vision.metric_registry, vision.data_registry,
                 vision.stimulus_set_registry]
        print([key for registry in names for key in registry if 'xample' in key])
        print(vision.model_registry.location('example-lab-brightness').source)
        print([name for name in sys.modules if 'example_lab' in name])
    """
    result = run("-c", textwrap.dedent(code))
    assert result.stdout.splitlines() == [
        f"['{MODEL}', '{BENCHMARK}', 'example-lab-agreement', 'ExampleLab2026', 'ExampleLab2026']",
        "brainscore-example-lab",
        "[]",
    ]


def test_only_what_is_asked_for_is_imported(run):
    code = f"""
        import sys
        import brainscore_vision
        assert brainscore_vision.load_model({MODEL!r}).identifier == {MODEL!r}
        print(sorted(name for name in sys.modules if name.startswith('brainscore_example_lab.')))
    """
    assert run("-c", textwrap.dedent(code)).stdout.splitlines() == [
        "['brainscore_example_lab.models', 'brainscore_example_lab.models.brightness', "
        "'brainscore_example_lab.models.brightness.model']"
    ]


@pytest.mark.slow(reason="runs a command")
def test_scored_on_the_command_line(run, tmp_path):
    result = run("-m", "brainscore", "score", MODEL, BENCHMARK, "--json")
    assert result.returncode == 0, result.stderr
    receipt = json.loads(result.stdout)
    assert receipt["state"] == "scored"
    assert receipt["score"]["value"] == 0.75
    assert receipt["model"]["plugin"]["distribution"] == "brainscore-example-lab"
    assert receipt["model"]["plugin"]["version"] == "1.2.3"
    assert {(item["kind"], item["identifier"]) for item in receipt["data"]} == {
        ("data", "ExampleLab2026"),
        ("stimulus_set", "ExampleLab2026"),
        ("metric", "example-lab-agreement"),
    }
    assert all(item["plugin"]["sha256"] for item in receipt["data"])
    assert (tmp_path / "results" / BENCHMARK / MODEL / f"{receipt['id']}.json").is_file()


@pytest.mark.slow(reason="runs a script")
def test_scored_in_a_script(run):
    code = (
        f"import brainscore\nscore = brainscore.score({MODEL!r}, {BENCHMARK!r})\nprint(float(score), score.raw.item())"
    )
    result = run("-c", code)
    assert result.stdout == "0.75 0.75\n", result.stderr


def test_info_reads_its_citation(run):
    (data, stimuli) = json.loads(run("-m", "brainscore", "info", "ExampleLab2026", "--json").stdout)
    assert (data["kind"], stimuli["kind"]) == ("data", "stimulus-sets")
    assert data["source"] == "brainscore-example-lab"
    assert "title = {Four grey squares}" in data["bibtex"][0]
