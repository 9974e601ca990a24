"""``brainscore config show``."""

import json

import numpy


def test_json(cli, monkeypatch, tmp_path, lab):
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("BRAINSCORE_MIRROR", str(tmp_path / "nowhere"))
    result = cli("config", "show", "--json")
    settings = json.loads(result.stdout)
    assert settings["versions"]["numpy"] == numpy.__version__
    assert settings["folders"]["data"] == str(tmp_path / "data")
    assert settings["folders"]["activations"].endswith("activations")
    assert settings["folders"]["mirror"] == f"{tmp_path / 'nowhere'} (no such folder)"
    assert settings["environment"]["BRAINIO_HOME"] == str(tmp_path / "data")
    assert f"{tmp_path / 'lab'} (BRAINSCORE_PLUGINS)" in settings["plugins"]
    assert settings["problems"] == []
    assert "hush" not in result.output


def test_problems_are_listed(cli, lab, monkeypatch, tmp_path):
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path / "typo"))
    settings = json.loads(cli("config", "show", "--json").stdout)
    assert settings["problems"] == [f"BRAINSCORE_PLUGINS names {tmp_path / 'typo'}, which is not a folder"]


def test_text(cli, monkeypatch):
    monkeypatch.delenv("BRAINSCORE_MIRROR", raising=False)
    output = cli("config", "show").output
    assert f"numpy         {numpy.__version__}\n" in output
    assert "mirror        -\n" in output
