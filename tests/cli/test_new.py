"""``brainscore new``: what it writes passes its own tests and checks at once."""

import datetime
import json
import os

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from brainscore_vision import load_benchmark, plugin_index


@pytest.fixture
def here(tmp_path, monkeypatch, lean_pytest):
    """A working directory outside of every checkout, without plugins of the user's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRAINSCORE_PLUGINS", raising=False)
    yield tmp_path
    os.environ.pop("BRAINSCORE_PLUGINS", None)
    plugin_index.refresh()


def passes(shell, *folders):
    result = shell("test", *map(str, folders))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "failed" not in result.stdout
    return result.stdout


IN_A_PROCESS = pytest.mark.slow(reason="runs the tests of a new plugin in a process")


@IN_A_PROCESS
@pytest.mark.parametrize(
    ("name", "parent"),
    [("Smith2026-accuracy", "behavior"), ("Smith2026.V4-pls", "V4"), ("Smith2026-error_consistency", "behavior")],
)
def test_a_benchmark_with_data(cli, shell, here, name, parent):
    result = cli("new", "benchmark", name)
    assert result.exit_code == 0, result.output
    assert result.output.endswith(
        f"""Next:
    export BRAINSCORE_PLUGINS={here}
    brainscore test data/smith2026 benchmarks/smith2026
    brainscore check benchmark {name}
    brainscore assess {name}
    brainscore score pixels {name}
"""
    )
    assert "BRAINSCORE_PLUGINS" not in os.environ
    assert f'"{parent}"' in (here / "benchmarks" / "smith2026" / "benchmark.py").read_text()
    said = passes(shell, here / "data" / "smith2026", here / "benchmarks" / "smith2026")
    assert "7 passed" in said
    assert f"{name} (benchmark): all checks passed, 1 with a warning" in said  # the citation is the template's
    assert "Smith2026 (stimulus set): all checks passed" in said


@pytest.fixture
def files(tmp_path):
    """A table of stimuli and their pictures, choices in a table, and spikes in an NWB file."""
    random = np.random.default_rng(0)
    names = [f"image_{number:02d}" for number in range(40)]
    (tmp_path / "images").mkdir()
    for name in names:
        Image.fromarray(random.integers(0, 256, (16, 16), dtype=np.uint8)).save(tmp_path / "images" / f"{name}.png")
    pd.DataFrame({"stimulus_id": names}).to_csv(tmp_path / "stimuli.csv", index=False)
    trials = pd.DataFrame({"image": names * 4, "who": np.repeat(list("abcd"), 40), "kind": ["x", "y"] * 80})
    trials["answer"] = np.where(random.uniform(size=160) < 0.7, trials["kind"], "x")
    trials.to_csv(tmp_path / "trials.csv", index=False)
    pynwb = pytest.importorskip("pynwb")
    session = pynwb.NWBFile("simulated", "1", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))
    array = session.create_electrode_group("array", "an array", "V4", session.create_device("device"))
    session.add_trial_column("image", "the image that was shown")
    for number, name in enumerate(names * 4):
        session.add_trial(start_time=float(number), stop_time=number + 0.5, image=name)
    for unit in range(6):
        session.add_electrode(location="V4", group=array)
        counts = np.tile(random.poisson(6, 40), 4) + random.poisson(2, 160)
        spikes = [number + random.uniform(0.07, 0.17, count) for number, count in enumerate(counts)]
        session.add_unit(spike_times=np.sort(np.concatenate(spikes)), electrodes=[unit])
    with pynwb.NWBHDF5IO(tmp_path / "session.nwb", "w") as file:
        file.write(session)
    return ["--stimuli", "stimuli.csv", "--images", "images", "--visual-degrees", "5"]


@pytest.mark.slow(reason="packages data, and scores a model on a benchmark on them")
@pytest.mark.parametrize(
    ("name", "source", "columns", "trials"),
    [
        ("Doe2026.V4-pls", "session.nwb", ["stimulus=image"], 4),
        ("Roe2026-accuracy", "trials.csv", ["stimulus_id=image", "response=answer", "truth=kind", "subject=who"], 1),
    ],
)
def test_a_benchmark_on_files(cli, here, files, monkeypatch, name, source, columns, trials):
    options = [option for column in columns for option in ("--column", column)]
    result = cli("new", "benchmark", name, "--from", source, *files, *options)
    assert result.exit_code == 0, result.output
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(here))
    measurements = load_benchmark(name).measurements()
    assert (measurements.visual_degrees, measurements.number_of_trials) == (5, trials)
    result = cli("assess", name, "--part", "audit", "--json")
    (entry,) = json.loads(result.stdout)
    assert entry["state"] == "assessed", entry
    if trials > 1:
        assert measurements.single_repetitions().sizes["presentation"] == 160
        assert "repetitions were not examined" not in result.stdout


@pytest.mark.slow(reason="packages data, and scores a model on a benchmark on them")
def test_a_benchmark_on_the_choices_of_one_subject(cli, here, files, monkeypatch):
    trials = pd.read_csv("trials.csv").query("who == 'a'")
    trials.to_csv("trials.csv", index=False)
    columns = ("stimulus_id=image", "response=answer", "truth=kind", "subject=who")
    options = [option for column in columns for option in ("--column", column)]
    result = cli("new", "benchmark", "Poe2026-accuracy", "--from", "trials.csv", *files, *options)
    assert result.exit_code == 0, result.output
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(here))
    assert load_benchmark("Poe2026-accuracy").ceiling.attrs["error_reason"] == "one subject, which cannot vary"


def test_files_need_a_visual_angle_and_known_columns(cli, here, files):
    lacking = cli("new", "benchmark", "Roe2026-accuracy", "--from", "trials.csv", *files[:2])
    assert "--visual-degrees" in lacking.stderr
    wrong = cli("new", "benchmark", "Roe2026-accuracy", "--from", "trials.csv", *files, "--column", "rename=kind")
    assert "'rename' is not the meaning of a column" in wrong.stderr
    unnamed = cli("new", "benchmark", "Doe2026.V4-pls", "--from", "session.nwb", *files)
    assert "the column of stimuli is not named" in unnamed.stderr
    without = cli("new", "benchmark", "Roe2026-accuracy", *files)
    assert "need --from" in without.stderr
    (here / "broken.parquet").write_bytes(b"PAR1")
    broken = cli("new", "benchmark", "Roe2026-accuracy", "--from", "broken.parquet", *files)
    assert "broken.parquet cannot be read" in broken.stderr
    endless = cli("new", "benchmark", "Roe2026-accuracy", "--from", "trials.csv", *files[:-1], "inf")
    assert "the stimuli cannot span inf°" in endless.stderr
    assert not (here / "benchmarks").exists()


@IN_A_PROCESS
def test_a_metric_and_a_model(cli, shell, here):
    pytest.importorskip("torch")
    assert cli("new", "metric", "mean-drive").exit_code == 0
    assert cli("new", "model", "tiny.net-1").exit_code == 0
    said = passes(shell, here / "metrics" / "mean_drive", here / "models" / "tiny_net_1")
    assert "6 passed" in said
    assert "mean-drive (metric): all checks passed" in said
    assert "tiny.net-1: all checks passed" in said


@pytest.mark.parametrize("neural", [False, pytest.param(True, marks=IN_A_PROCESS)])
def test_data_alone(cli, shell, here, neural):
    options = ["--neural"] if neural else []
    assert cli("new", "data", "Smith2026", *options, "--folder", "lab").exit_code == 0
    assert sorted(file.name for file in (here / "lab" / "data" / "smith2026").iterdir()) == [
        "__init__.py",
        "data_packaging.py",
        "test.py",
    ]
    if neural:
        assert "3 passed" in passes(shell, here / "lab" / "data" / "smith2026")


@pytest.mark.slow(reason="tests what it wrote")
def test_a_benchmark_of_data_that_are_there(cli, shell, here):
    assert cli("new", "data", "Smith2026", "--folder", "lab").exit_code == 0
    os.environ["BRAINSCORE_PLUGINS"] = str(here / "lab")
    result = cli("new", "benchmark", "Smith2026-accuracy")
    assert result.exit_code == 0, result.output
    assert "data_packaging" not in result.output
    assert (here / "lab" / "benchmarks" / "smith2026" / "test.py").is_file()  # the first of the user's own folders
    assert "export" not in result.output


def test_a_folder_that_is_already_listed_is_not_listed_twice(cli, here):
    os.environ["BRAINSCORE_PLUGINS"] = str(here)  # still empty, so that no plugin can be found there
    result = cli("new", "metric", "agreement")
    assert result.exit_code == 0, result.output
    assert "brainscore test" in result.output
    assert "export" not in result.output


def test_data_that_do_not_suit_the_template_leave_nothing_behind(cli, here):
    assert cli("new", "data", "Smith2026", "--neural").exit_code == 0
    os.environ["BRAINSCORE_PLUGINS"] = str(here)
    result = cli("new", "benchmark", "Smith2026-accuracy")
    assert "does not work with the registered data" in result.output
    assert not (here / "benchmarks" / "smith2026").exists()
    assert (here / "data" / "smith2026" / "test.py").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("benchmark", "mine"), "write it as AuthorYear-metric"),
        (("benchmark", "Smith-accuracy"), "write it as AuthorYear-metric"),
        (("benchmark", "Smith2026-accurcy"), "did you mean accuracy"),
        (("benchmark", "Smith2026.left-pls"), "'left' is not a region"),
        (("data", "my data"), "write it as AuthorYear"),
        (("data", "Simulated2026"), "'Simulated2026' is registered already"),
        (("metric", "accuracy"), "'accuracy' is registered already"),
        (("metric", "../mine"), "letters and digits"),
        (("model", "Pixels"), "pixels already"),
    ],
)
def test_names_that_are_no_names_or_taken(cli, here, arguments, said):
    result = cli("new", *arguments)
    assert said in result.output
    assert list(here.iterdir()) == []


def test_nothing_is_overwritten(cli, here):
    (here / "metrics" / "mine").mkdir(parents=True)
    (here / "metrics" / "mine" / "notes.txt").write_text("keep")
    result = cli("new", "metric", "mine")
    assert "exists, and is not changed" in result.output
    assert [file.name for file in (here / "metrics" / "mine").iterdir()] == ["notes.txt"]


def test_in_a_source_checkout(cli, here):
    (here / "pyproject.toml").touch()
    (here / "brainscore_vision").mkdir()
    (here / "brainscore_vision" / "__init__.py").touch()
    (here / "docs").mkdir()
    os.chdir(here / "docs")
    assert cli("new", "metric", "mine").exit_code == 0
    assert (here / "brainscore_vision" / "metrics" / "mine" / "__init__.py").is_file()


@IN_A_PROCESS
def test_plugins_of_language_beside_those_of_vision(cli, shell, here, monkeypatch):
    for kind, name in (("benchmark", "Smith2026-pearsonr"), ("benchmark", "Jones2026-ridge"), ("model", "gru")):
        result = cli("new", kind, name, "--domain", "language")
        assert result.exit_code == 0, result.output
    assert cli("new", "metric", "mine").exit_code == 0  # of vision, in the same folder
    said = passes(
        shell, *(here / kind / name for kind in ("data", "benchmarks") for name in ("smith2026", "jones2026"))
    )
    for name in ("Smith2026-pearsonr", "Jones2026-ridge"):
        assert f"{name} (benchmark): all checks passed, 1 with a warning" in said  # the citation is the template's
    assert "gru: all checks passed" in passes(shell, here / "models" / "gru")
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(here))
    plan = json.loads(cli("submit", "--dry-run", "--json", str(here)).stdout)
    assert {plugin["name"]: plugin["domain"] for plugin in plan["plugins"]} == {
        "gru": "language", "jones2026": "language", "mine": "vision", "smith2026": "language"
    }  # fmt: skip
