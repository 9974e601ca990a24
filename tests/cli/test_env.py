"""``brainscore env``."""

import json
import os

import pytest

from brainscore_core.plugins.environments import environments

MODEL = """
from brainscore_vision import model_registry

raise SystemError("nothing of it runs")
model_registry["{name}"] = lambda: None
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "environments"


@pytest.fixture
def model(lab):
    def write(name, requirements=None):
        others = {} if requirements is None else {"requirements_txt": requirements}
        return lab("models", name.replace("-", "_"), MODEL.format(name=name), **others)

    return write


@pytest.fixture
def two(cli, model):
    """Keys of the environments of two models, the first used last."""
    model("lab-first")
    model("lab-second", "numpy\n")
    keys = cli("env", "make", "lab-first", "lab-second").stdout.split()
    by_plugin = {entry.manifest.plugin: entry.key for entry in environments()}
    assert set(keys) == set(by_plugin.values())
    for days, name in ((0, "lab-first"), (40, "lab-second")):
        [entry] = [entry for entry in environments() if entry.key == by_plugin[name]]
        then = entry.manifest.made - days * 86400
        os.utime(entry.folder / "environment.json", (then, then))
    return [by_plugin["lab-first"], by_plugin["lab-second"]]


def test_making(cli, model, home):
    model("lab-net", "numpy\nbrainscore_vision\n")
    done = cli("env", "make", "lab-net")
    assert done.exit_code == 0
    [key] = done.stdout.split()
    assert (home / key / "environment.json").is_file()
    assert "building the environment of lab-net" in done.stderr
    assert "requirements.txt:2: brainscore_vision: is the running platform" in done.stderr
    again = cli("env", "make", "lab-net", "--json")
    [made] = json.loads(again.stdout)["environments"]
    assert (made["model"], made["key"], made["installed"]) == ("lab-net", key, {})
    assert "numpy" in made["packages"]
    assert "making the" not in again.stderr
    assert not environments()[0].in_use


def test_making_for_a_folder_or_a_file(cli, model):
    folder = model("lab-net", "numpy\n")
    named = (folder, folder / "requirements.txt", f"{folder / '__init__.py'}:make")
    keys = {cli("env", "make", str(name)).stdout.strip() for name in named}
    assert keys == {cli("env", "make", "lab-net").stdout.strip()}


@pytest.mark.slow(reason="installs environments")
def test_what_cannot_be_made(cli, model):
    folder = model("lab-net", "numpy\nabsent-package==1\n")
    model("lab-other")
    done = cli("env", "make", "lab-net")
    assert done.exit_code == 2
    assert f"{folder / 'requirements.txt'}:2: absent-package==1" in done.stderr
    both = cli("env", "make", "lab-net", "lab-other")
    assert both.exit_code == 2
    assert "absent-package" in both.stderr
    assert len(both.stdout.split()) == 1
    unknown = cli("env", "make", "lab-othre")
    assert unknown.exit_code == 2
    assert "lab-other" in unknown.stderr


def test_listing(cli, two, home):
    assert cli("env", "ls").stdout.split() == two
    assert cli("env", "ls", two[1][:6]).stdout.split() == two[1:]
    assert cli("env", "ls", "lab-*").stdout.split() == two
    document = json.loads(cli("env", "ls", "lab-second", "--json").stdout)
    assert document["path"] == str(home)
    [entry] = document["environments"]
    assert (entry["key"], entry["state"], entry["requirements"]) == (two[1], "good", ["numpy"])
    assert document["bytes"] == entry["bytes"] > 0


def test_showing(cli, two):
    text = cli("env", "show", "lab-second").stdout
    assert two[1] in text
    assert "numpy" in text
    [entry] = json.loads(cli("env", "show", two[0], "--json").stdout)
    assert entry["plugin"] == "lab-first"


def test_an_unknown_name(cli, two):
    done = cli("env", "show", "lab-secnod")
    assert done.exit_code == 2
    assert "did you mean lab-second" in done.stderr


def test_removing(cli, two):
    assert cli("env", "rm", two[0], input="n\n").exit_code != 0
    assert len(environments()) == 2
    done = json.loads(cli("env", "rm", two[0], "--yes", "--json").stdout)
    assert [entry["key"] for entry in done["removed"]] == two[:1]
    assert [entry.key for entry in environments()] == two[1:]
    assert "Removed 1 environment" in cli("env", "rm", "lab-*", "--yes").stdout
    assert environments() == []


def test_collecting(cli, two):
    assert cli("env", "gc").stdout == ""
    assert cli("env", "gc", "--older-than", "30d", "--dry-run").stdout.split() == two[1:]
    assert len(environments()) == 2
    done = json.loads(cli("env", "gc", "--older-than", "30d", "--json").stdout)
    assert [entry["key"] for entry in done["removed"]] == two[1:]
    assert [entry["key"] for entry in done["kept"]] == two[:1]
    assert cli("env", "gc", "--max-size", "1").stdout.split() == two[:1]


@pytest.mark.parametrize("value", ["30", "d", "soon", "-1d", "nand", "infd"])
def test_a_time_that_is_none(cli, value):
    done = cli("env", "gc", "--older-than", value, standalone_mode=False)
    assert "write it like 30d" in str(done.exception)
