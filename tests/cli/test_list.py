"""``brainscore list``."""

import json
import os
import pty
import subprocess
import sys

import pytest

MODELS = """
from brainscore_vision import model_registry

for name in ('alpha', 'beta'):
    model_registry[f'lab-{name}'] = lambda: 1 / 0
"""


def test_one_identifier_a_line(cli, lab):
    lab("models", "mine", MODELS)
    assert cli("list", "models", "lab-").output == "lab-alpha\nlab-beta\n"


@pytest.mark.parametrize(("pattern", "found"), [("LAB-AL", ["lab-alpha"]), ("lab*a", ["lab-alpha", "lab-beta"]),
                                                ("*.alpha", []), ("lab-[b]*", ["lab-beta"])])  # fmt: skip
def test_patterns(cli, lab, pattern, found):
    lab("models", "mine", MODELS)
    assert [row["identifier"] for row in json.loads(cli("list", "models", pattern, "--json").stdout)] == found


def test_nothing_found_is_said_aside(cli, lab):
    result = cli("list", "models", "nonesuch")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr == "No models match 'nonesuch'.\n"


@pytest.mark.parametrize("kind", ["models", "benchmarks", "metrics", "data", "stimulus-sets"])
def test_every_kind_as_json(cli, kind):
    rows = json.loads(cli("list", kind, "--json").stdout)
    assert rows, f"the package itself registers {kind}"
    assert set(rows[0]) == {"identifier", "package", "source", "file", "line", "also_in"}
    assert os.path.isfile(rows[0]["file"])


def test_a_wrong_kind_gets_suggestions(cli):
    result = cli("list", "modls")
    assert result.exit_code == 2
    assert "Did you mean models?" in result.output


def test_a_collision_is_shown(cli, lab):
    lab("models", "one", "from brainscore_vision import model_registry\nmodel_registry['lab-x'] = dict")
    two = lab("models", "two", "from brainscore_vision import model_registry\n\nmodel_registry['lab-x'] = dict")
    (row,) = json.loads(cli("list", "models", "lab-x", "--json").stdout)
    assert row["also_in"] == [f"{two / '__init__.py'}:3"]


def test_a_table_in_a_terminal(lab):
    lab("models", "mine", MODELS)
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": "160", "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-m", "brainscore", "list", "models", "lab-"],
        stdout=follower,
        stderr=follower,
        env=environment,
    ) as process:
        os.close(follower)
        output = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the terminal is closed
                break
            if not part:
                break
            output += part
    os.close(leader)
    text = output.decode()
    assert process.returncode == 0
    assert "identifier" in text
    assert "brainscore_vision.models.mine" in text
    assert "BRAINSCORE_PLUGINS" in text


def test_counts_of_every_kind(cli):
    counts = json.loads(cli("list", "--json").stdout)
    assert list(counts) == ["models", "benchmarks", "metrics", "data", "stimulus-sets"]
    assert counts["models"] == len(cli("list", "models").output.splitlines())
    assert cli("list").output.splitlines()[0] == f"models\t{counts['models']:,}"


class TestLibraries:
    def test_models_with_weights_that_match(self, cli, monkeypatch):
        from brainscore_vision.model_sources import libraries

        monkeypatch.setattr(libraries, "library_names", lambda library: ("vit_a.x", "VIT_b.y", "resnet"))
        assert cli("list", "models", "--library", "timm", "--like", "vit*").stdout == "timm:vit_a.x\ntimm:VIT_b.y\n"
        assert cli("list", "models", "timm:resnet", "--library", "timm").stdout == "timm:resnet\n"
        rows = json.loads(cli("list", "models", "--library", "timm", "--json").stdout)
        assert rows[0] == {"identifier": "timm:vit_a.x", "library": "timm"}
        assert cli("list", "models", "none", "--library", "timm").stderr == "No model of timm matches 'none'.\n"

    def test_usage(self, cli):
        assert "brainscore list models --library" in cli("list", "data", "--library", "timm").output
        assert "give one of them" in cli("list", "models", "a", "--like", "b").output
