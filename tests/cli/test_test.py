"""``brainscore test``, and the pytest plugin in folders of others."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from brainscore import pytest_plugin

METRIC = """
    from brainscore_vision import metric_registry

    from .metric import Mine

    metric_registry['mine'] = Mine
"""
CODE = "class Mine:\n    VALUE = 7\n"
TEST = """
import pytest

from brainscore_vision import load_metric

from .metric import Mine


def test_it():
    made = load_metric('mine')
    assert type(made) is Mine  # the plugin is there once
    assert made.VALUE == {value}
"""


@pytest.fixture(autouse=True)
def _lean(lean_pytest):
    """As in a laboratory that has pytest and nothing else."""


@pytest.fixture
def plugin(lab):
    return lab("metrics", "mine", METRIC, **{"metric.py": CODE, "test.py": TEST.format(value=7)})


@pytest.fixture
def pytest_run(tmp_path):
    """pytest in a process of its own, as a laboratory runs it: no settings, the plugin folder unknown."""

    def run(*arguments, **variables):
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("BRAINSCORE_P", "DJANGO_"))
        }
        environment |= {"BRAINSCORE_HOME": str(tmp_path / "home"), **variables}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    return run


@pytest.mark.slow(reason="runs the tests of a plugin in a process")
def test_tests_and_checks(shell, plugin):
    result = shell("test", str(plugin))
    assert "1 passed" in result.stdout
    assert "✗ it is a Metric with a scale" in result.stdout
    assert result.returncode == 1
    alone = shell("test", str(plugin / "test.py"), "--no-checks", BRAINSCORE_PLUGINS="")
    assert alone.returncode == 0, alone.stdout + alone.stderr
    assert "✗" not in alone.stdout


@pytest.mark.slow(reason="runs pytest in a process")
def test_a_test_that_fails(shell, plugin):
    (plugin / "test.py").write_text(TEST.format(value=8))
    result = shell("test", str(plugin), "--no-checks", "-q", "-k", "test_it")
    assert result.returncode == 1
    assert "1 failed" in result.stdout


def test_no_plugin_and_no_tests(cli, plugin, tmp_path):
    assert "is not a plugin" in cli("test", str(tmp_path)).output
    assert "there is no nonesuch" in cli("test", "nonesuch").output
    (plugin / "test.py").unlink()
    assert "has no tests" in cli("test", str(plugin)).output


LONGER = pytest.mark.slow(reason="as the two others, in a process of its own")


@pytest.mark.slow(reason="runs pytest in processes")
@pytest.mark.parametrize(
    ("mode", "arguments"),
    [
        ("prepend", ["lab"]),
        ("importlib", ["lab/metrics/mine/test.py", "lab/data/mine/test.py"]),
        pytest.param("prepend", ["lab/metrics/mine/test.py", "lab/data/mine/test.py"], marks=LONGER),
        pytest.param("importlib", ["lab"], marks=LONGER),
    ],
)
def test_folders_of_others_without_any_setting(pytest_run, plugin, lab, mode, arguments):
    lab("data", "mine", "from brainscore_vision import data_registry\ndata_registry['Mine2026'] = dict\n",
        **{"test.py": "def test_one(): pass\ndef test_two(): pass\n"})  # fmt: skip
    result = pytest_run(f"--import-mode={mode}", *arguments)
    assert "3 passed" in result.stdout, result.stdout


MARKS = ("network", "private_access", "requires_gpu", "slow", "memory_intense")
MARKED = "import pytest\n" + "".join(f"@pytest.mark.{mark}\ndef test_{mark}(): pass\n" for mark in MARKS)
NO_NETWORK = "needs the network: set BRAINSCORE_NETWORK=1"
NOT_PUBLIC = "needs data that are not public: set BRAINSCORE_PRIVATE_ACCESS=1"
NO_GPU = "needs a CUDA device"


@pytest.mark.parametrize(
    ("variables", "skipped"),
    [
        ({"BRAINSCORE_NETWORK": "0"}, {NO_NETWORK, NOT_PUBLIC, NO_GPU}),
        ({"BRAINSCORE_NETWORK": "1"}, {NOT_PUBLIC, NO_GPU}),
        ({"BRAINSCORE_NETWORK": "", "BRAINSCORE_PRIVATE_ACCESS": "1"}, {NO_GPU}),
    ],
)
def test_what_cannot_run_is_skipped(monkeypatch, variables, skipped):
    for name in ("BRAINSCORE_NETWORK", "BRAINSCORE_PRIVATE_ACCESS"):
        monkeypatch.setenv(name, variables.get(name, ""))
    monkeypatch.setattr(pytest_plugin, "_has_cuda", lambda: False)
    reasons = set()
    for mark in MARKS:
        item = SimpleNamespace(get_closest_marker=lambda name, mark=mark: name == mark)
        try:
            pytest_plugin.pytest_runtest_setup(item)
        except pytest.skip.Exception as skip:
            reasons.add(skip.msg.partition(" where ")[0])
    assert reasons == skipped


@pytest.mark.slow(reason="runs the tests of a plugin in a process")
def test_what_cannot_run_is_skipped_where_nothing_is_set(pytest_run, tmp_path):
    (tmp_path / "test_marked.py").write_text(MARKED)
    result = pytest_run("--strict-markers", "test_marked.py", CUDA_VISIBLE_DEVICES="", BRAINSCORE_NETWORK="0")
    assert "2 passed, 3 skipped" in result.stdout, result.stdout
    assert all(reason in result.stdout for reason in (NO_NETWORK, NOT_PUBLIC, NO_GPU))


def test_the_plugin_is_announced():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["pytest11"] == {"brainscore.pytest_plugin": "brainscore.pytest_plugin"}
    assert "markers" not in project["tool"]["pytest"]["ini_options"]  # the plugin has them


def test_pytest_costs_nothing_where_there_are_no_plugins(pytest_run, tmp_path):
    (tmp_path / "test_plain.py").write_text(
        "import sys\ndef test_it():\n    assert not {'torch', 'xarray', 'brainscore_vision'} & set(sys.modules)\n"
    )
    result = pytest_run("test_plain.py")
    assert "1 passed" in result.stdout, result.stdout
