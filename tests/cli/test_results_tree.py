import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

from brainscore.cli.results import command
from brainscore_core.errors import UserError
from brainscore_core.results.store import Arrays
from brainscore_core.scoring import BenchmarkInfo, ErrorInfo, Estimate, ModelInfo, Receipt, ResultsStore
from brainscore_vision.catalogue import leaderboard_tree


@pytest.fixture
def store(tmp_path):
    return ResultsStore(tmp_path / "results")


def influence(value, error):
    """Subjects whose variation gives this standard error."""
    each = np.linspace(-1, 1, 12)
    each *= error * np.sqrt(12) / each.std(ddof=1)
    subjects = ("subject", [f"s{number:02}" for number in range(12)])
    return Arrays(xr.DataArray(each, coords={"subject": subjects}, dims=["subject"], attrs={"estimate": value}))


@pytest.fixture
def write(store):
    """``write(model, benchmark, score)`` writes a receipt; without a score, of another state."""

    def write(model, benchmark, value=None, *, error=None, state=None, version=None, parent=None, **fields):
        tree = leaderboard_tree()
        if version is None and benchmark in tree:
            version = tree[benchmark].version
        if state == "failed":
            fields["error"] = ErrorInfo(type="ValueError", message="boom", traceback="Traceback …")
        control = fields.pop("control", False)
        return store.write(
            Receipt(
                model=ModelInfo(identifier=model),
                benchmark=BenchmarkInfo(identifier=benchmark, version=version, parent=parent, control=control),
                state=state or "scored",
                score=None if value is None else Estimate(value=value, error=error),
                **fields,
            ),
            None if error is None else {"influence": influence(value, error)},
        )

    return write


@pytest.fixture
def few(write):
    """Two models on the ten benchmarks of crowding, and on something elsewhere."""
    crowding = leaderboard_tree().children("Malania2007")
    assert len(crowding) == 10
    for benchmark in crowding[:8]:
        write("strong", benchmark, 0.5, error=0.1)
    write("strong", crowding[8], state="failed", reason="ValueError: boom")
    write("strong", crowding[9], state="not applicable", reason="it has no behaviour")
    write("strong", "ImageNet-top1", 0.75)
    write("poor", crowding[0], 0.5)
    write("poor", crowding[1], 0.5, version=0)
    write("poor", crowding[2], state="undefined", reason="the benchmark returned NaN")
    write("poor", "Simulated2026.IT-pls", 0.9, parent="control", control=True)


def run(store, *arguments, **options):
    return CliRunner().invoke(
        command, ["tree", "--results", str(store.folder), *arguments], catch_exceptions=False, **options
    )


def nodes(result):
    return {
        model["model"]: {node["identifier"]: node for node in model["nodes"]}
        for model in json.loads(result.stdout)["models"]
    }


def test_json(store, few):
    result = run(store, "--json")
    found = nodes(result)
    assert list(found) == ["strong", "poor"]  # the best first
    crowding = found["strong"]["Malania2007"]
    assert crowding["value"] == pytest.approx(0.4)
    assert crowding["error"] is None
    assert crowding["error_reason"].startswith("no standard error: no influence known of Malania2007")
    computed = nodes(run(store, "--errors", "--json"))["strong"]["Malania2007"]
    assert computed["error"] == pytest.approx(0.1 * 8 / 10)  # all benchmarks have the same subjects
    assert computed["error_reason"] is None
    assert (crowding["n_all"], crowding["n_applicable"], crowding["n_scored"], crowding["n_failed"]) == (10, 9, 8, 1)
    n_behavior = sum(name in found["strong"] for name in leaderboard_tree().children("behavior_vision"))
    assert found["strong"]["average_vision"]["value"] == pytest.approx(0.4 / n_behavior / 2)
    assert found["strong"]["neural_vision"]["value"] is None
    assert found["strong"]["ImageNet"]["value"] == 0.75
    poor = found["poor"]["Malania2007"]
    assert (poor["n_scored"], poor["n_outdated"], poor["n_undefined"], poor["n_missing"]) == (1, 1, 1, 7)
    assert poor["error"] is None
    assert poor["error_reason"].startswith("no standard error of Malania2007")
    assert [model["outside"] for model in json.loads(result.stdout)["models"]] == [[], ["Simulated2026.IT-pls"]]
    assert list(found["poor"])[:2] == ["average_vision", "neural_vision"]


def test_over_scored(store, few):
    found = nodes(run(store, "--over", "scored", "--json"))
    for model in ("strong", "poor"):
        assert found[model]["average_vision"]["value"] == pytest.approx(0.5)


def test_plain(store, few):
    result = run(store, "--errors")
    lines = result.stdout.splitlines()
    assert [line for line in lines if line in ("strong", "poor")] == ["strong", "poor"]
    (crowding, poor) = [line for line in lines if line.strip().startswith("Malania2007")]
    assert crowding.startswith("    Malania2007")
    assert "0.400 (0.224–0.576)" in crowding
    assert " ".join(crowding.split()).endswith("8 of 10 1 not applicable, 1 failed")
    assert " ".join(poor.split()).endswith("1 of 10 1 NaN, 1 outdated, 7 missing")
    assert "threshold_elevation" not in result.stdout
    assert any(line.startswith("Global Score") for line in lines)
    assert "Not on the leaderboard: Simulated2026.IT-pls" in result.stderr


def test_plain_with_benchmarks(store, few):
    crowding = leaderboard_tree().children("Malania2007")
    lines = run(store, "--benchmarks", "--model", "strong").stdout.splitlines()
    of = {line.split()[0]: line for line in lines}
    assert of[crowding[0]].endswith("0.500 (standard error 0.100)")  # drawn stimuli: no sign
    assert of[crowding[8]].endswith("failed: ValueError: boom")
    assert of[crowding[9]].endswith("not applicable: it has no behaviour")
    assert of["Kar2019-ost"].endswith("missing")
    assert "poor" not in lines
    lines = run(store, "--benchmarks", "--model", "poor").stdout
    assert "outdated: version 0" in lines
    assert "NaN: the benchmark returned NaN" in lines


def test_benchmarks_are_marked_whose_stimuli_the_model_was_trained_on(store, write):
    for benchmark in ("Geirhos2021contrast-top1", "ImageNet-top1", "Hebart2023-match"):
        write("alexnet", benchmark, 0.5)
    result = run(store, "--benchmarks")
    of = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert of["Geirhos2021contrast-top1"].endswith("0.500 †")
    assert of["ImageNet-top1"].endswith("0.500")
    assert of["Hebart2023-match"].endswith("0.500 °")
    assert "† trained on it: " in result.stderr
    nodes = {node["identifier"]: node for node in json.loads(run(store, "--json").stdout)["models"][0]["nodes"]}
    assert nodes["Geirhos2021contrast-top1"]["exposure"]["state"] == "trained on it"
    assert nodes["Kar2019-ost"]["exposure"] is None


def test_a_model_does_not_depend_on_which_are_shown(store, few):
    everything = nodes(run(store, "--json"))
    for model in ("strong", "poor"):
        assert nodes(run(store, "--json", "--model", model)) == {model: everything[model]}
    assert list(nodes(run(store, "--json", "--model", "poor", "--model", "strong"))) == ["strong", "poor"]


@pytest.fixture
def mine(lab):
    lab(
        "benchmarks",
        "mine",
        "from brainscore_vision import benchmark_registry\nbenchmark_registry['Mine2026'] = dict\n",
    )
    import brainscore_vision

    brainscore_vision.plugin_index.refresh()


def test_own_benchmarks_stand_below_their_parent_and_change_no_mean(store, write, mine):
    write("m", "ImageNet-top1", 0.4)
    write("m", "Hebart2023-match", 0.3)
    before = nodes(run(store, "--json"))["m"]
    write("m", "Mine2026", 0.6, parent="behavior", version=2)
    result = run(store, "--json")
    assert nodes(result)["m"] == before
    (own,) = json.loads(result.stdout)["models"][0]["not_averaged"]
    assert (own["benchmark"], own["parent"], own["score"]) == ("Mine2026", "behavior_vision", 0.6)
    plain = run(store)
    lines = [line.strip() for line in plain.stdout.splitlines()]
    place = next(number for number, line in enumerate(lines) if line.startswith("Mine2026"))
    assert lines[place].split("  ", 1)[1].split() == ["0.600", "not", "averaged"]
    behavior = next(number for number, line in enumerate(lines) if line.startswith("Behavior"))
    assert behavior < place < next(number for number, line in enumerate(lines) if line.startswith("Engineering"))
    assert "not averaged: Mine2026. --own averages them" in plain.stderr
    assert "not averaged" not in run(store, "--own").stdout


def test_own_benchmarks_are_averaged_on_request(store, write, mine):
    write("m", "Mine2026", 0.5, parent="behavior", version=1)
    write("m", "Mine2026", 0.6, parent="behavior", version=2)
    write("m", "Nowhere2026", 0.5, parent="behavior")  # no plugin has it
    write("m", "MajajHong2015public.IT:cka_cv", 0.5, parent="IT")
    result = run(store, "--json")
    assert nodes(result)["m"]["average_vision"]["value"] is None
    (made,) = json.loads(run(store, "--json", "--own").stdout)["models"]
    assert made["outside"] == ["MajajHong2015public.IT:cka_cv", "Nowhere2026"]
    (own,) = [node for node in made["nodes"] if node["identifier"] == "Mine2026"]
    assert (own["parent"], own["version"], own["value"], own["state"]) == ("behavior_vision", 2, 0.6, "scored")


def test_nothing(store):
    result = run(store)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No receipts.\n")
    assert json.loads(run(store, "--json").stdout) == {"over": "all", "condition": "", "models": []}


def test_an_unknown_model_is_named(store, few):
    with pytest.raises(UserError, match="no receipts of the model 'stronger'") as raised:
        run(store, "--model", "stronger")
    assert raised.value.remedy == "there are: poor, strong"


def test_unreadable_receipts_are_named(store, few):
    (store.folder_of("strong", "ImageNet-top1") / "broken.json").write_text("{")
    result = run(store, "--json")
    assert "broken.json" in result.stderr
    assert len(nodes(result)) == 2


def test_a_model_with_several_states_is_shown_once(store, write):
    for state in ("net@epoch0", "net@epoch10", "net@epoch5", "other"):
        write(state, "ImageNet-top1", 0.5)
    every = run(store)
    assert [line for line in every.stdout.splitlines() if line in ("net@epoch0", "net@epoch5", "net@epoch10")] == [
        "net@epoch10"
    ]
    assert "net@epoch10 is one of 3 states of net: brainscore results trajectory net" in every.stderr
    assert list(nodes(run(store, "--model", "net", "--json"))) == ["net@epoch10"]
    assert list(nodes(run(store, "--model", "net@epoch0", "--json"))) == ["net@epoch0"]


def test_trajectory(store, write, tmp_path):
    for epoch, value in ((10, 0.5), (0, 0.25)):
        write(f"net@seed2@epoch{epoch}", "ImageNet-top1", value)
    write("other", "ImageNet-top1", 0.9)
    command_line = ["trajectory", "net", "--results", str(store.folder), "--plot", str(tmp_path / "net.svg")]
    shown = CliRunner().invoke(command, command_line, catch_exceptions=False)
    rows = [line.split() for line in shown.stdout.splitlines()[1:3]]
    assert rows == [["ImageNet-top1", "2", "0", "0.250"], ["ImageNet-top1", "2", "10", "0.500"]]
    assert (tmp_path / "net.svg").read_text().count("<circle") == 2
    document = json.loads(CliRunner().invoke(command, [*command_line, "--json"]).stdout)
    assert [row["score"] for row in document["scores"]] == [0.25, 0.5]
    assert document["scores"][0]["low"] is None
    with pytest.raises(UserError, match="'nte' has no scores"):
        CliRunner().invoke(command, ["trajectory", "nte", "--results", str(store.folder)], catch_exceptions=False)


def test_the_output_in_the_documentation(store, write):
    """Numbers of benchmarks there change with the tree: this shows the present lines."""
    write("pixels", "FreemanZiemba2013.V1-pls", 0.29)
    write("pixels", "MajajHong2015.V4-pls", 0.41)
    write("pixels", "MajajHong2015.IT-pls", 0.33)
    write("pixels", "Rajalingham2018-i2n", state="failed", reason="the data cannot be read")
    output = run(store).output.splitlines()
    page = (Path(__file__).parents[2] / "docs" / "aggregates.md").read_text(encoding="utf-8")
    shown = page.split("```\npixels\n")[1].split("```")[0].splitlines()
    assert set(shown) - set(output) == {"…"}


def test_for_whom_intervals_hold(store, few):
    assert "Intervals hold for unknown subjects and groups: not recorded" in run(store).stderr
    benchmark = leaderboard_tree().children("Malania2007")[0]
    receipt = store.latest("strong", benchmark)
    estimates = "new subjects for these 2 screens; 12 subjects"
    score = Estimate(value=0.5, error=0.1, ci=(0.3, 0.7), ci_level=0.95, ci_estimates=estimates)
    store.write(
        replace(receipt, id="", created="2030-01-01T00:00:00.000000Z", score=score, attachments=()).identified()
    )
    found = json.loads(run(store, "--json").stdout)["condition"]
    assert re.fullmatch(r"these 2 screens only, on 1 of \d+ benchmarks; .*; not recorded for \d+ of \d+", found)
    assert f"Intervals hold for {found}" in run(store).stderr
