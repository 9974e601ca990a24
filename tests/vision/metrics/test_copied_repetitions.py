"""Ceilings of repetitions that were copied."""

import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.metric_helpers.repetitions import require_own_responses

STIMULI, REPETITIONS, NEUROIDS = 40, 4, 12


def _recordings(copied=0, seed=0, levels=None):
    """Noise, of which the last repetition is a copy of the first one for some stimuli."""
    rng = np.random.default_rng(seed)
    shape = (REPETITIONS, STIMULI, NEUROIDS)
    values = rng.standard_normal(shape) if levels is None else rng.integers(0, levels, shape).astype(float)
    values[-1, :copied] = values[0, :copied]
    coords = {
        "stimulus_id": ("presentation", np.tile([f"s{number:02}" for number in range(STIMULI)], REPETITIONS)),
        "repetition": ("presentation", np.repeat(np.arange(REPETITIONS), STIMULI)),
        "subject": ("presentation", np.repeat(np.arange(REPETITIONS), STIMULI)),
        "neuroid_id": ("neuroid", np.arange(NEUROIDS)),
    }
    return NeuroidAssembly(values.reshape(-1, NEUROIDS), coords=coords, dims=["presentation", "neuroid"])


@pytest.mark.parametrize("name", ["internal_consistency", "predictor_consistency", "ncsnr", "inter_subject"])
def test_are_refused(name):
    def score(recordings):
        drop = ["repetition"] if name == "inter_subject" else ["subject"]
        return load_ceiling(name)(recordings.drop_vars(drop))

    with pytest.raises(MetricInputError, match=r"40 of 160 .* exactly the responses of another .* such as"):
        score(_recordings(copied=STIMULI))
    assert abs(float(score(_recordings()))) < 0.5
    assert np.isfinite(float(score(_recordings(copied=5))))


def test_crossnobis_distances_of_copies_are_refused():
    recordings = _recordings(copied=STIMULI).drop_vars("subject")
    features = recordings.isel(presentation=slice(STIMULI))
    with pytest.raises(MetricInputError, match="are copies"):
        load_metric("rdm_crossnobis")(features, recordings)


@pytest.mark.parametrize("neuroids", [1, 12])
def test_everything_is_copied(neuroids):
    rng = np.random.default_rng(0)
    with pytest.raises(MetricInputError, match="80 of 120 presentations"):
        require_own_responses(
            np.repeat(rng.standard_normal((STIMULI, neuroids)), 3, axis=0), np.repeat(np.arange(STIMULI), 3)
        )


def test_silence_is_not_a_copy():
    rng = np.random.default_rng(0)
    silent = rng.random((10 * STIMULI, 1)) < 0.3
    counts = rng.poisson(np.where(silent, 5e-4, np.repeat(rng.gamma(1, 1, (STIMULI, 40)), 10, axis=0)))
    require_own_responses((counts - counts.mean(axis=0)) / counts.std(axis=0), np.repeat(np.arange(STIMULI), 10))


def test_few_different_values_are_equal_by_chance():
    recordings = _recordings(levels=2).isel(neuroid=slice(3)).drop_vars("subject")
    assert np.isfinite(float(load_ceiling("internal_consistency")(recordings)))
