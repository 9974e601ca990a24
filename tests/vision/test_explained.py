"""What models explain of recordings, and designs of stimuli, from stored products."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from brainscore.cli import app
from brainscore_core.errors import UserError
from brainscore_core.questions import Question
from brainscore_core.questions.asked import apply_question
from brainscore_core.questions.designed import compare_with_predictions, design_stimuli, read_responses
from brainscore_core.questions.explained import explain_models, unexplained_by
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.results.products import collect_products
from brainscore_core.results.store import ResultsStore
from brainscore_core.runner.pair import PairRecorder
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_metric
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark

BENCHMARK = "Explained2026.IT-ridge"
STIMULI, NEUROIDS, REPETITIONS = 80, 12, 3
NAMES = [f"s{number}" for number in range(STIMULI)]


@pytest.fixture(scope="module")
def experiment():
    """Neuroids 0–3 follow the first model, 4–7 both, 8–9 none, and 10–11 have no signal."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((2, STIMULI, 4))
    signal = np.zeros((STIMULI, NEUROIDS))
    signal[:, :8] = features[0] @ rng.standard_normal((4, 8))
    signal[:, 4:8] += features[1] @ rng.standard_normal((4, 4))
    signal[:, 8:10] = 2 * rng.standard_normal((STIMULI, 2))
    stimulus_set = StimulusSet({"stimulus_id": NAMES, "size": np.arange(STIMULI)})
    stimulus_set.identifier = "Explained2026"
    single = signal + 0.5 * rng.standard_normal((REPETITIONS, STIMULI, NEUROIDS))
    neuroid = {
        "neuroid_id": ("neuroid", [f"n{number}" for number in range(NEUROIDS)]),
        "region": ("neuroid", ["IT"] * NEUROIDS),
    }
    attrs = {"stimulus_set": stimulus_set, "identifier": "Explained2026", "stimulus_groups": "none"}
    order = {"repetition": ("presentation", np.repeat(np.arange(REPETITIONS), STIMULI))}

    def recordings(values, names, **coords):
        presentation = {"stimulus_id": ("presentation", names), **coords}
        return NeuroidAssembly(values, coords=presentation | neuroid, dims=["presentation", "neuroid"], attrs=attrs)

    benchmark = NeuralBenchmark(
        BENCHMARK, recordings(single.mean(axis=0), NAMES), load_metric("ridge"), visual_degrees=8, number_of_trials=1,
        ceiling_func=lambda: 0.9, version=1, parent="IT",
        repetitions=recordings(single.reshape(-1, NEUROIDS), NAMES * REPETITIONS, **order),
    )  # fmt: skip
    benchmark_registry[BENCHMARK] = lambda: benchmark
    yield {"first": features[0], "second": features[1], "copy": 100 * features[0][:, ::-1]}, signal
    del benchmark_registry[BENCHMARK]


@pytest.fixture(scope="module")
def store(experiment, tmp_path_factory):
    store = ResultsStore(tmp_path_factory.mktemp("results"))
    asked = apply_question(Question(benchmark=BENCHMARK))
    for model, values in experiment[0].items():
        coords = {"stimulus_id": ("presentation", NAMES), "neuroid_id": ("neuroid", range(values.shape[1]))}
        features = NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
        with PairRecorder(model, BENCHMARK, results=store) as recorder:
            collect_products([features], "IT")
            recorder.set_score(asked.score([features]))
        recorder.outcome()
    return store


def test_shares_of_models_are_those_of_the_signal(store):
    shares = explain_models(BENCHMARK, ["first", "second"], neuroids="neuroid_id != 'n8'", results=store).shares()
    explanation = explain_models(BENCHMARK, ["first", "second"], results=store)
    assert len(explanation.selected.neuroids) == NEUROIDS
    assert shares["only first"][0] > shares["only second"][0] > 0.1
    assert abs(shares["first and second"][0]) < 0.05
    total, interval = shares["all together"]
    assert 0.6 < interval.low < total < 0.95  # n9 has signal that none explains
    assert "maps fitted to 72 of 80 stimuli; over new stimuli and neuroids" in explanation.text()
    assert len(explanation.to_pandas()) == 6


def test_a_copy_of_a_model_explains_nothing_more(store):
    shares = explain_models(BENCHMARK, ["first", "copy"], results=store).shares()
    assert shares["only first"][0] == pytest.approx(0, abs=1e-6)
    assert shares["first and copy"][0] == pytest.approx(shares["first, alone"][0], abs=1e-6)


def test_the_atlas_names_neuroids_that_no_model_explains(store):
    atlas = unexplained_by(BENCHMARK, results=store)
    table = atlas.neuroids().set_index("neuroid_id")
    assert table.index[table["found"]].tolist() == ["n8", "n9"]
    assert not table.loc["n10", "reliable"]
    assert np.isnan(table.loc["n10", "best"])
    assert set(table.loc["n0":"n3", "model"]) <= {"first", "copy"}
    assert (table.loc["n4":"n7", "combined"] > table.loc["n4":"n7", "best"] + 0.1).all()
    stimuli = atlas.stimuli()
    assert len(stimuli) == STIMULI
    assert stimuli["unexplained"].is_monotonic_decreasing
    assert "in 2 of them more than 10 %" in atlas.text()


def test_a_design_is_sealed_and_finds_the_truth_that_is_measured_later(store, experiment, tmp_path, capsys):
    design = design_stimuli(BENCHMARK, ["first", "second"], 10, pool="size >= 50", results=store)
    assert {int(name[1:]) for name in design.stimuli} <= set(range(50, 80))
    power = design.power(draws=50)
    assert power["true"].tolist() == ["first", "second", "none"]
    assert power["designed"][0] > 0.9
    digest = design.write(tmp_path)
    assert json.loads((tmp_path / "design.json").read_text())["predictions"]["sha256"] == digest
    assert design.write(tmp_path) == digest
    other = design_stimuli(BENCHMARK, ["first", "second"], 9, pool="size >= 50", results=store)
    with pytest.raises(UserError, match="holds the predictions of another design"):
        other.write(tmp_path)
    signal = experiment[1][[NAMES.index(name) for name in design.stimuli]]
    coords = {
        "stimulus_id": ("presentation", design.stimuli),
        "neuroid_id": ("neuroid", [f"n{number}" for number in range(NEUROIDS)]),
    }
    measured = NeuroidAssembly(signal, coords=coords, dims=["presentation", "neuroid"])
    compared = compare_with_predictions(tmp_path, measured.isel(neuroid=slice(4)))
    assert compared["model"].tolist()[-1] == "second"
    table = tmp_path / "measured.csv"
    columns = [f"n{number}" for number in range(4)]
    pd.DataFrame(signal[:, :4], index=pd.Index(design.stimuli, name="stimulus_id"), columns=columns).to_csv(table)
    capsys.readouterr()
    app(["design", "--output", str(tmp_path), "--measured", str(table), "--json"], standalone_mode=False)
    assert pd.DataFrame(json.loads(capsys.readouterr().out)).round(9).equals(compared.round(9))
    for content, message in (("id,n1\ns1,2\n", "stimulus_id"), ("stimulus_id,n1\ns1,2\ns1,3\n", "a stimulus twice")):
        table.write_text(content)
        with pytest.raises(UserError, match=message):
            read_responses(table)
    with pytest.raises(UserError, match="share 2 stimuli"):
        compare_with_predictions(tmp_path, measured.isel(presentation=slice(2)))
    with (tmp_path / "predictions.csv").open("a") as file:
        file.write("first,s99\n")
    with pytest.raises(UserError, match="its hash differs"):
        compare_with_predictions(tmp_path, measured)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: explain_models(BENCHMARK, ["first"], results=store), "1 model is named"),
        (lambda store: explain_models(BENCHMARK, ["first", "absent"], results=store), "absent: it was not scored"),
        (lambda store: explain_models(BENCHMARK, ["first", "first"], results=store), "2 models are named"),
        (lambda store: unexplained_by(BENCHMARK, stimuli="colour > 1", results=store), "no column 'colour'"),
        (
            lambda store: explain_models(BENCHMARK, ["first", "copy"], stimuli="stimulus_id == 's1'", results=store),
            "1 stimulus cannot be divided",
        ),
        (
            lambda store: design_stimuli(BENCHMARK, ["first", "copy"], 5, repetitions=0, results=store),
            "repetitions are 0",
        ),
        (lambda store: design_stimuli(BENCHMARK, ["first"], 5, results=store), "two or more different models"),
        (lambda store: design_stimuli(BENCHMARK, ["first", "copy"], 41, results=store), "from a pool of 40"),
        (lambda store: design_stimuli(BENCHMARK, ["first", "absent"], 5, results=store), "absent: it was not scored"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(store, call, message):
    with pytest.raises(UserError, match=message):
        call(store)


def test_commands_write_tables(store, tmp_path, capsys):
    arguments = ["--results", store.address, "--output", str(tmp_path)]
    names = [f"vision:{BENCHMARK}", "first", "second"]
    assert app(["explain", *names, "--store", *arguments], standalone_mode=False) is None
    assert "only first" in capsys.readouterr().out
    plots = [tmp_path / "figures" / name for name in ("shares.svg", "atlas.svg")]
    app(["explain", BENCHMARK, "first", "second", "--plot", str(plots[0]), *arguments], standalone_mode=False)
    app(["explain", BENCHMARK, "--unexplained", "--store", "--plot", str(plots[1]), *arguments], standalone_mode=False)
    assert "only first" in plots[0].read_text()
    assert plots[1].read_text().count("by the best combination") == NEUROIDS - 2
    app(["design", BENCHMARK, "first", "second", "-k", "8", "--store", *arguments], standalone_mode=False)
    assert "publish it before the experiment" in capsys.readouterr().out
    names = {"figures", "shares.csv", "neuroids.csv", "stimuli.csv", "predictions.csv", "design.json"}
    assert {file.name for file in Path(tmp_path).iterdir()} == names
    stored = {entry.part: entry.typed_result for entry in AssessmentStore(store).newest(BENCHMARK)[0]}
    shares, atlas, design = stored["explanation"], stored["atlas"], stored["design"]
    assert (len(design.stimuli), design.power[-1].true, design.compared) == (8, "none", ("first", "second"))
    assert design.sha256 in (tmp_path / "design.json").read_text()
    assert all(each.value > 0 for each in design.stimuli)
    assert [share.label for share in shares.shares][:2] == ["only first", "only second"]
    assert (atlas.neuroids, atlas.reliable, atlas.found) == (NEUROIDS, 10, 2)
    assert [point.found for point in atlas.points] == [False] * 8 + [True] * 2
    assert atlas.best < atlas.combined < 1
