import numpy as np
import pytest

from brainscore_core.errors import NotApplicable
from brainscore_vision import load_dataset, load_model


@pytest.mark.parametrize("region", [pytest.param("V1", marks=pytest.mark.slow), "IT"])
def test_features_are_the_neuroids_without_noise(region):
    measured = load_dataset("Simulated2026").sel(region=region).mean(dim="repetition")
    model = load_model("simulated-truth")
    model.start_recording(region, [(70, 170)])
    truth = model.look_at(measured.stimulus_set)
    assert truth.shape == measured.shape == (800, 96)
    measured = measured.sel(stimulus_id=truth["stimulus_id"].values)
    residual = measured.values - truth.values
    expected_sd = measured["noise_sd"].values / np.sqrt(12)
    np.testing.assert_allclose(residual.std(axis=0), expected_sd, rtol=0.15)
    assert np.abs(residual.mean(axis=0) / expected_sd).max() < 5 / np.sqrt(800)


def test_other_regions_are_not_applicable():
    with pytest.raises(NotApplicable, match="no region 'V4'"):
        load_model("simulated-truth").start_recording("V4", [(70, 170)])
