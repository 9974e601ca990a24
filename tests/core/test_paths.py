"""Default folders follow the environment variables of the moment."""

from pathlib import Path

import pytest

from brainscore_core import paths

FOLDERS = {
    paths.environments_home: "environments",
    paths.activations_home: "activations",
    paths.screen_home: "stimuli_on_screen",
    paths.layer_profiles_home: "layers",
    paths.weights_home: "models",
    paths.simulated_data_home: "simulated2026",
    paths.stand_ins_home: "stand_ins",
    paths.site_home: "site",
    paths.plugin_index_file: "plugin-index.json",
    paths.default_results_address: "results",
}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in ("BRAINSCORE_ACTIVATIONS", "BRAINSCORE_RESULTS", "BRAINSCORE_SITE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("value", "expected"), [("", "user/.brain-score"), ("relative", "relative"), ("~/mine", "user/mine")]
)
def test_all_folders_are_absolute_and_in_the_home_folder(monkeypatch, tmp_path, value, expected):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("BRAINSCORE_HOME", value)
    home = {"": tmp_path / "user/.brain-score", "relative": tmp_path / "relative", "~/mine": tmp_path / "user/mine"}[
        value
    ]
    assert paths.home() == home
    for function, name in FOLDERS.items():
        assert Path(function()) == home / name, function.__name__


def test_single_variables_take_precedence(monkeypatch, tmp_path):
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "a"))
    monkeypatch.setenv("BRAINSCORE_SITE_HOME", str(tmp_path / "s"))
    monkeypatch.setenv("BRAINSCORE_RESULTS", "s3://lab/results")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    assert paths.activations_home() == tmp_path / "a"
    assert paths.site_home() == tmp_path / "s"
    assert paths.default_results_address() == "s3://lab/results"
    assert paths.token_file() == tmp_path / "c" / "brainscore" / "login.json"
    assert paths.environments_home(tmp_path / "e") == tmp_path / "e"
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", "off")
    assert paths.activations_home() is None
