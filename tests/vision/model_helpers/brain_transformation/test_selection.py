"""Selection of layers: on measurements that one of them explains, and never on those that are scored."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import DataUnavailable, NotApplicable, UserError
from brainscore_core.metrics import Score
from brainscore_core.provenance import note, recording
from brainscore_core.results.layer_profile import LayerProfile, LayerScore, profile_file
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_helpers.brain_transformation import LayerSelection, ModelCommitment
from brainscore_vision.model_helpers.brain_transformation import selection as selection_data
from brainscore_vision.model_helpers.brain_transformation.selection import (
    SelectionWarning,
    ShowsScoredStimuli,
    select_layers,
    stimulus_hashes,
)

NUMBER = 60


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))


@pytest.fixture
def features():
    """Layer 'middle' is what neuroids of the region are made of; 'early' has a part of it, 'late' none."""
    rng = np.random.default_rng(0)
    middle = rng.standard_normal((NUMBER, 8))
    return {
        "early": np.hstack([middle[:, :3], rng.standard_normal((NUMBER, 5))]),
        "middle": middle,
        "late": rng.standard_normal((NUMBER, 8)),
    }


@pytest.fixture
def ids():
    return [f"im{number:02d}" for number in range(NUMBER)]


@pytest.fixture
def network(network_of, features, ids):
    return network_of({layer: dict(zip(ids, values, strict=True)) for layer, values in features.items()})


@pytest.fixture
def benchmark_of(stimuli_of, features, ids):
    def make(identifier="Made2026.IT-ridge", stimuli="set", *, region="IT", layer="middle", version=1, noise=0.3):
        rng = np.random.default_rng(1)
        values = features[layer] @ rng.standard_normal((8, 12))
        values = values + noise * rng.standard_normal(values.shape)
        measured = NeuroidAssembly(
            values,
            coords={
                "stimulus_id": ("presentation", ids),
                "neuroid_id": ("neuroid", list(range(12))),
                "region": ("neuroid", [region] * 12),
            },
            dims=["presentation", "neuroid"],
        )
        measured.attrs["stimulus_set"] = stimuli_of(ids, identifier=stimuli)
        ceiling = Score(0.9)
        ceiling.attrs.update(meaning="reliability", error=0.01, ci=(0.88, 0.92))
        return NeuralBenchmark(
            identifier, measured, load_metric("ridge"), visual_degrees=8, number_of_trials=1,
            ceiling_func=lambda: ceiling, version=version,
        )  # fmt: skip

    return make


def test_stimuli_are_known_again_on_another_screen(stimuli_of, ids):
    stimuli = stimuli_of(ids[:3])
    on_screen = place_on_screen(stimuli, target_visual_degrees=16, source_visual_degrees=8)
    assert on_screen.stimulus_paths != stimuli.stimulus_paths
    assert stimulus_hashes(on_screen) == stimulus_hashes(stimuli)


def selection_of(network, **options):
    return LayerSelection("net", network, ["early", "middle", "late"], visual_degrees=8, **options)


def test_the_layer_that_explains_the_measurements_is_found_in_one_pass(network, benchmark_of, ids):
    benchmark = benchmark_of()
    profile = selection_of(network).profile(benchmark, halves=4)
    assert profile.best == "middle"
    assert network.calls == [(ids, ["early", "middle", "late"], 1, False)]
    assert [score.layer for score in profile.scores] == ["early", "middle", "late"]
    assert [score.features for score in profile.scores] == [8, 8, 8]
    # the score is the benchmark's own, for a subject whose region is that layer
    alone = ModelCommitment("alone", network, ["middle"], region_layer_map={"IT": "middle"}, visual_degrees=8)
    expected = benchmark(alone)
    assert profile.scores[1].score == pytest.approx(expected.attrs["unclamped"])
    assert profile.scores[1].error == pytest.approx(expected.attrs["error"])
    assert profile.scores[1].ci == pytest.approx(expected.attrs["unclamped_ci"])
    assert profile.scores[1].raw == pytest.approx(float(expected.attrs["raw"]))
    assert profile.ceiling == 0.9
    assert profile.held_out.chosen == {"middle": 1.0}
    assert profile.held_out.times == 8
    assert 0.5 < profile.held_out.value <= profile.scores[1].raw + 0.05
    assert selection_of(network)(benchmark) == "middle"


def test_halves_are_scored_by_the_metric_on_their_stimuli_alone(network, benchmark_of, ids, features):
    benchmark = benchmark_of()
    halves = selection_of(network).profile(benchmark, halves=1, seed=3).scores[1].halves
    chosen = np.zeros(NUMBER, dtype=bool)
    chosen[np.random.RandomState(3).permutation(NUMBER)[: NUMBER // 2]] = True
    measured = benchmark._assembly
    for rows, found in zip((chosen, ~chosen), halves[0], strict=True):
        source = NeuroidAssembly(
            features["middle"][rows],
            coords={
                "stimulus_id": ("presentation", np.array(ids)[rows]),
                "neuroid_id": ("neuroid", list(range(8))),
            },
            dims=["presentation", "neuroid"],
        )
        assert float(load_metric("ridge")(source, measured[{"presentation": rows}])) == pytest.approx(found)


def test_choosing_and_scoring_never_share_a_half():
    """Layers that are noise: the chosen one looks good where it was chosen, and is worth nothing elsewhere."""
    rng = np.random.default_rng(0)
    scores = tuple(
        LayerScore(f"l{number}", 1, 0.0, 0.0, (0.0, 0.0), 0.0, tuple(map(tuple, rng.standard_normal((400, 2)))))
        for number in range(20)
    )
    profile = LayerProfile("m", "b", "1", False, 8.0, 10, 1.0, None, scores)
    held_out = profile.held_out
    assert "l19: 0.000" in profile.plot().svg
    assert "chart-ring" not in profile.plot().svg
    marked = replace(profile, committed=("l3",), committed_by="layer of IT, committed before").plot(width=174).svg
    assert marked.count("chart-ring") == 2  # in the legend and at the layer
    assert 'viewBox="0 0 818.8' in marked
    table = profile.to_pandas()
    assert table["layer"].tolist() == [f"l{number}" for number in range(20)]
    assert table["chosen"].sum() == pytest.approx(1)
    assert "no layers" in replace(profile, scores=()).plot().svg
    assert held_out.optimism == pytest.approx(1.87, abs=0.1)  # expected maximum of 20 normal deviates
    assert abs(held_out.value) < 0.1
    assert sum(held_out.chosen.values()) == pytest.approx(1)


def test_profiles_are_kept_and_nothing_that_changed_returns_an_old_one(network, benchmark_of, monkeypatch):
    def scored(benchmark, **options):
        """Whether the benchmark's metric was asked."""
        calls = []
        metric = benchmark._similarity_metric
        monkeypatch.setattr(benchmark, "_similarity_metric", lambda *args: calls.append(1) or metric(*args))
        profile = selection_of(network, **options).profile(benchmark)
        return bool(calls), profile

    again, first = scored(benchmark_of())
    assert again
    again, second = scored(benchmark_of())
    assert not again
    assert second == first
    assert scored(benchmark_of(version=2))[0]
    assert scored(benchmark_of(noise=0.4))[0]
    assert scored(benchmark_of(), components=5)[0]
    network.tables["late"]["im07"] = network.tables["late"]["im07"] + 1e-6
    assert scored(benchmark_of())[0]
    network.identifier = "renamed"
    assert not scored(benchmark_of())[0]


def test_a_profile_survives_json(network, benchmark_of):
    profile = selection_of(network).profile(benchmark_of(), halves=2)
    text = json.dumps(profile.to_dict(), allow_nan=False)
    assert LayerProfile.from_dict(json.loads(text)) == profile
    assert json.loads(text)["best"] == "middle"
    assert json.loads(text)["held_out"]["chosen"] == {"middle": 1.0}


def test_a_broken_file_is_computed_anew(network, benchmark_of):
    profile = selection_of(network).profile(benchmark_of())
    (file,) = profile_file("ab").parents[1].rglob("*.json")
    file.write_text("{")
    assert selection_of(network).profile(benchmark_of()) == profile
    assert json.loads(file.read_text())["best"] == "middle"


def test_stimuli_to_avoid_are_never_shown(network, benchmark_of):
    benchmark = benchmark_of()
    avoid = stimulus_hashes(benchmark._assembly.stimulus_set.iloc[[5]])
    assert len(avoid) == 1
    with pytest.raises(ShowsScoredStimuli):
        selection_of(network).profile(benchmark, avoid=avoid)
    assert network.calls == []


def subject_of(network, **options):
    return ModelCommitment("net", network, ["early", "middle", "late"], **options)


def test_layers_are_selected_when_a_region_is_recorded_from(network, benchmark_of, stimuli_of, ids):
    benchmark = benchmark_of()
    model = subject_of(network, selection_benchmarks={"IT": [benchmark]})
    model.start_recording("IT", [(70, 170)])
    assert network.calls == []
    others = stimuli_of(ids[:5], identifier="other")
    with recording() as record, warnings.catch_warnings():
        warnings.simplefilter("error")
        recordings = model.look_at(others)
    assert set(recordings["layer"].values) == {"middle"}
    assert recordings.attrs["layers_from"] == "selected on Made2026.IT-ridge"
    assert any("'middle' was selected for IT on Made2026.IT-ridge" in item.get("text", "") for item in record.items)
    calls = len(network.calls)
    with recording() as again:
        model.look_at(others)
    assert len(network.calls) == calls + 1  # selected once
    features = [item for item in record.items if item["kind"] == "features"]
    assert [(item["region"], item["layers"], item["stimuli"]) for item in features] == [("IT", ["middle"], 5)]
    lasting = [item for item in record.items if item["kind"] not in ("cache", "time")]
    assert [item for item in again.items if item["kind"] not in ("cache", "time")] == lasting  # and said each time
    assert model.region_layer_map["IT"] == ["middle"]
    with pytest.raises(NotApplicable, match="no region 'FFA'"):
        model.start_recording("FFA", [(70, 170)])


def test_data_that_a_layer_is_selected_on_are_noted_as_such(network, benchmark_of, stimuli_of, ids, monkeypatch):
    """They are not those of the benchmark that is being scored."""

    def load(name):
        note("data", identifier="Made2026")
        return benchmark_of(name)

    monkeypatch.setattr(selection_data, "load_selection_benchmark", load)
    model = subject_of(network, selection_benchmarks={"IT": ["Made2026.IT-ridge"]})
    model.start_recording("IT", [(70, 170)])
    for _ in range(2):
        with recording() as record:
            model.look_at(stimuli_of(ids[:5], identifier="other"))
        assert [item["kind"] for item in record.items if item.get("identifier") == "Made2026"] == ["selection data"]


def test_selection_never_sees_what_is_scored(network, benchmark_of, ids):
    """Scored on the first benchmark's stimuli, the layer is that of the second, whose measurements are others."""
    first = benchmark_of(layer="late")
    second = benchmark_of("Other2026.IT-ridge", "other")
    model = subject_of(network, selection_benchmarks={"IT": [first, second]})
    assert model.region_layer_map["IT"] == ["late"]
    model.start_recording("IT", [(70, 170)])
    with pytest.warns(SelectionWarning, match=r"on Other2026\.IT-ridge, since Made2026\.IT-ridge has stimuli that are"):
        recordings = model.look_at(first._assembly.stimulus_set.iloc[[3]])
    assert set(recordings["layer"].values) == {"middle"}
    recordings = model.look_at(second._assembly.stimulus_set)
    assert set(recordings["layer"].values) == {"late"}
    shown = first._assembly.stimulus_set
    with pytest.raises(UserError, match="that are being scored"):
        select_layers(model, "IT", shown, commit=ModelCommitment, benchmarks={"IT": [first]})


def test_what_cannot_be_reached_is_passed_over_and_said(network, benchmark_of, monkeypatch):
    def unreachable(identifier):
        raise DataUnavailable(f"no {identifier}")

    monkeypatch.setattr(
        "brainscore_vision.model_helpers.brain_transformation.selection.load_selection_benchmark", unreachable
    )
    model = subject_of(network, selection_benchmarks={"IT": ["Majaj", benchmark_of()], "V1": ["Freeman"]})
    with pytest.warns(SelectionWarning, match="since the data of Majaj are not available"):
        assert model.region_layer_map["IT"] == ["middle"]
    with pytest.raises(UserError, match="the data of Freeman are not available"):
        model.region_layer_map["V1"]


def test_the_published_benchmarks_come_first():
    assert {region: names[0] for region, names in selection_data.SELECTION_BENCHMARKS.items()} == {
        "V1": "FreemanZiemba2013public.V1-pls",
        "V2": "FreemanZiemba2013public.V2-pls",
        "V4": "MajajHong2015public.V4-pls",
        "IT": "MajajHong2015public.IT-pls",
    }


def test_simulated_measurements_for_selection_are_not_those_that_are_scored(monkeypatch):
    from brainscore_vision import simulated_experiment as simulated
    from brainscore_vision.data.simulated2026 import packages

    assert min(simulated.EXEMPLARS) > simulated.PER_CATEGORY + 3  # and the prototypes of the simulated neuroids
    monkeypatch.setattr(simulated, "EXEMPLARS", range(200, 202))
    monkeypatch.setattr(packages, "PER_CATEGORY", 2)
    benchmark = selection_data.load_selection_benchmark("Simulated2026-selection.V1-pls")
    assert benchmark.control
    assert benchmark.region == "V1"
    ours = stimulus_hashes(benchmark._assembly.stimulus_set)
    assert len(ours) == 16
    assert ours.isdisjoint(stimulus_hashes(packages.stimulus_set()))


def test_more_stimuli_than_components_reduce_layers(network, benchmark_of):
    profile = selection_of(network, components=5).profile(benchmark_of())
    assert profile.components == 5
    assert profile.best == "middle"
    whole = selection_of(network, components=None).profile(benchmark_of())
    assert profile.scores[1].score < whole.scores[1].score


def test_responses_over_time_are_averaged_into_the_time_bin(network, network_of, benchmark_of, features, ids):
    rng = np.random.default_rng(4)
    tables = {}
    for layer, values in features.items():  # 3 tenths of the first step and 7 of the second are the features
        change = rng.standard_normal(values.shape)
        steps = np.stack([values + change, values - 3 / 7 * change], axis=-1)
        tables[layer] = dict(zip(ids, steps, strict=True))
    over_time = network_of(tables, times=[(0, 100), (100, 200)])
    over_time.recorded = []
    over_time.set_recorded_time = over_time.recorded.append
    profile = selection_of(over_time).profile(benchmark_of(), halves=1)
    static = selection_of(network).profile(benchmark_of(), halves=1)
    assert set(over_time.recorded) == {(70, 170)}
    for score, expected in zip(profile.scores, static.scores, strict=True):
        assert score.score == pytest.approx(expected.score)
        np.testing.assert_allclose(score.halves, expected.halves)
    reduced = selection_of(over_time, components=5).profile(benchmark_of(), halves=1)
    assert (reduced.best, reduced.components) == ("middle", 5)
    assert np.isfinite(reduced.scores[1].halves).all()


def test_a_layer_that_the_metric_cannot_score(network, benchmark_of, ids):
    rng = np.random.default_rng(2)
    benchmark = benchmark_of()
    benchmark._similarity_metric = load_metric("pls", regression_kwargs={"n_components": 5})
    network.tables["late"] = {name: rng.standard_normal(2) for name in ids}
    profile = selection_of(network).profile(benchmark, halves=1)
    assert np.isnan(profile.scores[2].score)
    assert "5" in profile.scores[2].reason
    assert profile.best == "middle"
    assert profile.held_out.chosen == {"middle": 1.0}
    text = json.dumps(profile.to_dict(), allow_nan=False)
    assert LayerProfile.from_dict(json.loads(text)).scores[2].reason == profile.scores[2].reason
    with pytest.raises(UserError, match="no layer of 'net' has a score"):
        LayerSelection("net", network, ["late"])(benchmark)


def test_behaviour_is_read_out_of_each_layer(network, stimuli_of, ids, features):
    labels = np.where(np.arange(NUMBER) % 4 < 2, "up", "down")
    for name, label in zip(ids, labels, strict=True):
        network.tables["late"][name] = features["late"][0] + (5 if label == "up" else -5)
    shown = stimuli_of(ids, image_label=labels)

    class Accuracy(BenchmarkBase):
        def __call__(self, candidate):
            candidate.start_task("probabilities", shown.iloc[::2])
            choices = candidate.look_at(shown.iloc[1::2])
            best = choices["choice"].values[choices.values.argmax(axis=1)]
            return Score(float((best == labels[1::2]).mean()))

    profile = selection_of(network).profile(Accuracy("Accuracy2026", lambda: 1.0, version=1), halves=2)
    assert profile.best == "late"
    assert profile.scores[2].score == 1
    assert profile.held_out is None
    assert "Accuracy2026 cannot be scored on part" in profile.no_halves
    assert len(network.calls) == 2  # fitting stimuli and the others, once each, all layers together


def test_kriegeskorte_halves(mirror, network_of):
    from scipy.stats import spearmanr

    from brainscore_vision import load_benchmark
    from brainscore_vision.model_helpers.brain_transformation.selection import part_scorer

    benchmark = load_benchmark("Kriegeskorte2008.IT-human-rdm")
    stimuli, score = part_scorer(benchmark)
    patterns = np.random.default_rng(0).standard_normal((92, 30))
    shown = NeuroidAssembly(
        patterns,
        coords={"stimulus_id": ("presentation", stimuli), "neuroid_id": ("neuroid", list(range(30)))},
        dims=["presentation", "neuroid"],
    )
    some = np.sort(np.random.default_rng(1).permutation(92)[:40])
    upper = np.triu_indices(40, 1)
    model = (1 - np.corrcoef(patterns[some]))[upper]
    measured = benchmark._assembly.content
    expected = []
    for subject in sorted(set(measured["subject"].values)):
        mean = measured.values[measured["subject"].values == subject].mean(axis=0)
        square = np.zeros((92, 92))
        square[np.triu_indices(92, 1)] = mean
        expected.append(spearmanr(model, (square + square.T)[np.ix_(some, some)][upper]).statistic)
    assert score(shown, stimuli[some]) == pytest.approx(np.mean(expected))
