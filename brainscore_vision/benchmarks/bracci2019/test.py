import numpy as np
import pytest
from scipy.stats import spearmanr

from brainscore_core.errors import UserError
from brainscore_vision import load_benchmark, load_dataset, load_stimulus_set
from brainscore_vision.benchmarks.bracci2019.benchmark import Bracci2019RSA
from brainscore_vision.testing import small_models, stand_in

IDENTIFIER = "Bracci2019.anteriorVTC-rdm"


def dissimilarities(patterns):
    return (1 - np.corrcoef(patterns))[np.tril_indices(len(patterns), -1)]


def straight_line(features, assembly):
    """Raw score and ceiling, of anterior ventral temporal cortex."""
    of_roi = assembly["roi"].values == 2
    values = assembly.values[:, of_roi]
    values = values - values.mean(axis=0)
    subjects, voxels = assembly["subject"].values[of_roi], assembly["voxels"].values[of_roi]
    average = np.stack([values[:, voxels == voxel].mean(axis=1) for voxel in np.unique(voxels)], axis=1)
    raw = spearmanr(dissimilarities(features), dissimilarities(average)).statistic
    each = {subject: dissimilarities(values[:, subjects == subject]) for subject in np.unique(subjects)}
    agreement = [
        spearmanr(rdm, np.mean([other for name, other in each.items() if name != subject], axis=0)).statistic
        for subject, rdm in each.items()
    ]
    return raw, np.mean(agreement)


def test_equals_the_definition(stand_ins):
    benchmark = load_benchmark(IDENTIFIER)
    stimuli, assembly = load_stimulus_set("Bracci2019"), load_dataset("Bracci2019")
    values = []
    for model in small_models():
        score = benchmark(model)
        model.start_recording("IT", [(70, 170)])
        features = model.look_at(stimuli).transpose("presentation", ...).values.reshape(27, -1).astype(float)
        raw, ceiling = straight_line(features, assembly)
        assert float(score.attrs["raw"]) == pytest.approx(raw, abs=1e-9)
        assert float(benchmark.ceiling) == float(score.attrs["ceiling"]) == pytest.approx(ceiling, abs=1e-9)
        assert 0.2 < ceiling < 1
        assert score.attrs["unclamped"] == pytest.approx(raw / ceiling, abs=1e-9)
        assert 0 < score.attrs["error"] < 0.5
        low, high = score.attrs["unclamped_ci"]
        assert low < raw / ceiling < high
        values.append(raw)
    assert values[0] > values[1] + 0.05  # the simulated voxels see grey levels
    assert len(benchmark.ceiling.attrs["raw"]) == 6


def test_other_regions_of_the_data(stand_ins):
    benchmark = Bracci2019RSA("V1")
    assert (benchmark.identifier, benchmark.region) == ("Bracci2019.V1-rdm", "V1")
    assert 0 < float(benchmark(small_models()[0])) <= 1
    with pytest.raises(UserError, match="no region 'IT'"):
        Bracci2019RSA("IT")


@pytest.mark.parametrize("name", ["roi", "subject", "voxels", "stimulus_id"])
def test_a_coordinate_is_missing(monkeypatch, name):
    assembly = stand_in("Bracci2019").drop_vars(name)
    assembly.encoding["source"] = "assy.nc"
    monkeypatch.setattr("brainscore_vision.benchmarks.bracci2019.benchmark.load_dataset", lambda _: assembly)
    with pytest.raises(UserError, match=rf"Bracci2019 \(assy\.nc\) has no coordinate '{name}'"):
        _ = load_benchmark(IDENTIFIER).ceiling


@pytest.mark.private_access
def test_published():
    ceiling = load_benchmark(IDENTIFIER).ceiling
    assert 0 < float(ceiling) < 1
