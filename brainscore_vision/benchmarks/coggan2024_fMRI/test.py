import numpy as np
import pytest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_benchmark, load_dataset, load_model, load_stimulus_set
from brainscore_vision.benchmark_helpers import PrecomputedFeatures
from brainscore_vision.benchmarks.coggan2024_fMRI.benchmark import similarities
from brainscore_vision.testing import small_models, stand_in

REGIONS = ["V1", "V2", "V4", "IT"]


def straight_line(features, matrices):
    """Raw score, ceiling and their ratio squared, from stimulus × feature and stimulus × stimulus × subject."""
    varying = features[:, features.std(axis=0) != 0]
    chosen = varying[:, np.abs(varying.mean(axis=0)) > 3.1 * varying.mean(axis=0).std()]
    of_model = np.corrcoef((chosen - chosen.mean(axis=0)) / chosen.std(axis=0))
    off = np.flatnonzero(1 - np.eye(24))
    columns = matrices.reshape(24 * 24, -1)[off]
    raw = np.mean([np.corrcoef(of_model.ravel()[off], column)[0, 1] for column in columns.T])
    others = [np.delete(columns, subject, axis=1).mean(axis=1) for subject in range(columns.shape[1])]
    ceiling = np.mean([np.corrcoef(one, other)[0, 1] for one, other in zip(columns.T, others, strict=True)])
    return raw, ceiling, np.sign(raw) * (raw / ceiling) ** 2


@pytest.mark.sampled(5)
@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.filterwarnings("error:Duplicate dimension names")
def test_equals_the_definition(stand_ins, region):
    benchmark = load_benchmark(f"tong.Coggan2024_fMRI.{region}-rdm")
    assembly = load_dataset("Coggan2024_fMRI")
    matrices = assembly.values[:, :, assembly["region"].values == region]
    stimuli = load_stimulus_set("Coggan2024_fMRI")
    values = []
    for model in small_models(visual_degrees=9):
        score = benchmark(model)
        model.start_recording(region, [(0, 250)])
        features = model.look_at(stimuli).transpose("presentation", ...).values.reshape(24, -1).astype(float)
        raw, ceiling, expected = straight_line(features, matrices)
        assert float(score.attrs["raw"]) == pytest.approx(raw, abs=1e-9)
        assert float(benchmark.ceiling) == float(score.attrs["ceiling"]) == pytest.approx(ceiling, abs=1e-9)
        values.append(raw)
        assert score.attrs["unclamped"] == pytest.approx(expected, abs=1e-9)
        assert len(score.attrs["raw"].attrs["raw"]) == len(benchmark.ceiling.attrs["raw"]) == 9
        assert 0 < score.attrs["error"] < 0.3
        low, high = score.attrs["unclamped_ci"]
        assert low < expected < high
    assert values[0] > 0.2 > values[1]  # the simulated voxels see grey levels


def recordings(order, features):
    coords = {"stimulus_id": ("presentation", order), "neuroid_id": ("neuroid", np.arange(features.shape[1]))}
    return NeuroidAssembly(features, coords=coords, dims=["presentation", "neuroid"])


def test_stimuli_are_matched_by_id(stand_ins):
    benchmark = load_benchmark("tong.Coggan2024_fMRI.V4-rdm")
    order = list(load_stimulus_set("Coggan2024_fMRI")["stimulus_id"])
    features = 5 + np.random.default_rng(0).standard_normal((24, 30))

    class Reversed(PrecomputedFeatures):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            return super().look_at(stimuli).isel(presentation=slice(None, None, -1))

    straight, turned = (
        benchmark(model(recordings(order, features), visual_degrees=9)) for model in (PrecomputedFeatures, Reversed)
    )
    assert straight.attrs["unclamped"] == turned.attrs["unclamped"]


def test_a_negative_correlation_is_not_rewarded(stand_ins):
    benchmark = load_benchmark("tong.Coggan2024_fMRI.IT-rdm")
    assembly = load_dataset("Coggan2024_fMRI")
    mean = assembly.values[:, :, assembly["region"].values == "IT"].mean(axis=2)
    # patterns whose similarities are the opposite: eigenvectors that people weigh least weigh most
    values, vectors = np.linalg.eigh(mean)
    features = vectors * np.sqrt(values.max() - values)
    features = 100 + features @ np.random.default_rng(0).standard_normal((24, 400))
    model = PrecomputedFeatures(recordings(list(assembly["stimulus_id"].values), features), 9)
    score = benchmark(model)
    assert float(score.attrs["raw"]) < -0.1
    assert float(score) == 0
    assert score.attrs["unclamped"] < 0
    assert "undetermined" not in score.attrs
    benchmark.ceiling.attrs["ci"] = (-0.1, 0.9)
    assert benchmark(model).attrs["undetermined"].endswith("-0.100 to 0.900, includes 0")


def test_units_are_selected():
    rng = np.random.default_rng(3)
    features = rng.standard_normal((24, 50)) + np.repeat([0.0, 30.0], [44, 6])
    features[:, 3] = 7.0  # does not vary
    means = np.delete(features, 3, axis=1).mean(axis=0)
    strong = np.delete(features, 3, axis=1)[:, np.abs(means) > 3.1 * means.std()]
    assert strong.shape == (24, 0)  # 30 is just 3 standard deviations
    with pytest.raises(NotApplicable, match=r"^0 of 50 units"):
        similarities(features)
    features = np.hstack([features, rng.standard_normal((24, 50))])
    np.testing.assert_allclose(
        similarities(features),
        np.corrcoef((features[:, 44:50] - features[:, 44:50].mean(axis=0)) / features[:, 44:50].std(axis=0)),
        atol=1e-12,
    )


@pytest.mark.parametrize("name", ["region", "subject", "stimulus_id"])
def test_a_coordinate_is_missing(monkeypatch, name):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assembly = stand_in("Coggan2024_fMRI").drop_vars(name)
    assembly.encoding["source"] = "assy.nc"
    monkeypatch.setattr("brainscore_vision.benchmarks.coggan2024_fMRI.benchmark.load_dataset", lambda _: assembly)
    with pytest.raises(UserError, match=rf"Coggan2024_fMRI \(assy\.nc\) has no coordinate '{name}'"):
        _ = load_benchmark("tong.Coggan2024_fMRI.IT-rdm").ceiling


@pytest.mark.network
@pytest.mark.parametrize(
    ("region", "expected"), [("V1", 0.0182585), ("V2", 0.3352083), ("V4", 0.3008136), ("IT", 0.4486508)]
)
def test_published_scores_of_alexnet(region, expected):
    score = load_benchmark(f"tong.Coggan2024_fMRI.{region}-rdm")(load_model("alexnet"))
    assert float(score) == pytest.approx(expected, abs=0.005)
