import time

import numpy as np
import pytest

from brainscore_vision import load_model, load_stimulus_set
from brainscore_vision.models.gabor.model import V1Bank
from brainscore_vision.stimuli.gabor_bank import draw_filters


def grating(orientation, frequency, phase=0.0, contrast=1.0, size=224):
    degrees = np.arange(size) * 8 / size
    x, y_up = degrees[np.newaxis], -degrees[:, np.newaxis]
    angle = np.deg2rad(orientation)
    across = -x * np.sin(angle) + y_up * np.cos(angle)
    return (contrast * np.cos(2 * np.pi * frequency * across + phase)).astype(np.float32)


@pytest.fixture(scope="module")
def drawn():
    return draw_filters(4000, seed=3)


def test_parameters_follow_the_published_distributions(drawn):
    assert np.array_equal(drawn.frequency, draw_filters(4000, seed=3).frequency)
    assert drawn.frequency.min() >= 0.5
    assert drawn.frequency.max() <= 8
    assert np.median(drawn.frequency) == pytest.approx(2, rel=0.1)
    half_height = np.sqrt(2 * np.log(2)) / (2 * np.pi * drawn.frequency)
    orientation_bandwidth = 2 * np.rad2deg(np.arctan(half_height / drawn.sigma_along))
    assert np.median(orientation_bandwidth) == pytest.approx(40, abs=1.5)
    assert orientation_bandwidth.min() >= 15 - 1e-9
    ratio = drawn.sigma_across / half_height  # (2^b + 1) / (2^b − 1)
    octaves = np.log2((ratio + 1) / (ratio - 1))
    assert octaves.mean() == pytest.approx(1.8, abs=0.05)
    assert octaves.min() >= 0.8 - 1e-9
    assert octaves.max() <= 3 + 1e-9


def test_cardinal_orientations_are_more_frequent(drawn):
    to_cardinal = np.abs((drawn.orientation + 45) % 90 - 45)
    cardinal, oblique = (to_cardinal < 15).mean(), (to_cardinal > 30).mean()
    # ∫ of 1 + cos(4θ)/4 over ± 15° around cardinal and oblique orientations, each a third of all angles
    share = 1 / 3 + 0.25 * 2 * np.sin(np.deg2rad(60)) / 4 / (np.pi / 2)
    assert cardinal == pytest.approx(share, abs=0.025)
    assert oblique == pytest.approx(2 / 3 - share, abs=0.025)


def test_envelopes_are_of_the_size_measured_in_macaques(drawn):
    """Ringach 2002 (https://doi.org/10.1152/jn.2002.88.1.455): few subfields, both products mostly below 1."""
    n_across, n_along = drawn.sigma_across * drawn.frequency, drawn.sigma_along * drawn.frequency
    for n in (n_across, n_along):
        assert 0.2 < np.median(n) < 0.6
        assert (n < 1.2).mean() > 0.95


@pytest.fixture(scope="module")
def bank():
    return V1Bank(draw_filters(12, seed=5), phases=np.linspace(0, 2 * np.pi, 12, endpoint=False))


def test_complex_cells_do_not_see_phase_simple_cells_do(bank):
    filters = draw_filters(12, seed=5)
    well_inside = [i for i in range(12) if 1.0 < filters.frequency[i] < 6.0]
    for index in well_inside:
        responses = [
            bank(grating(filters.orientation[index], filters.frequency[index], phase))
            for phase in np.linspace(0, 2 * np.pi, 8, endpoint=False)
        ]
        complex_cell = np.array([response.complex[index, 4, 4] for response in responses])
        simple_cell = np.array([response.simple[index, 4, 4] for response in responses])
        assert complex_cell.std() / complex_cell.mean() < 0.15
        assert simple_cell.std() / simple_cell.mean() > 0.7
        assert (simple_cell == 0).any()


def test_contrast_saturates(bank):
    filters = draw_filters(12, seed=5)
    index = int(np.argmin(np.abs(filters.frequency - 2)))
    responses = [
        bank(grating(filters.orientation[index], filters.frequency[index], contrast=contrast)).complex[index, 4, 4]
        for contrast in (0.02, 0.04, 0.5, 1.0)
    ]
    assert responses[1] / responses[0] == pytest.approx(4, rel=0.1)  # energy, below the semi-saturation
    assert 1 < responses[3] / responses[2] < 1.3


def test_grey_gives_nothing(bank):
    responses = bank(np.zeros((224, 224), dtype=np.float32))
    assert responses.simple.max() == responses.complex.max() == 0


def test_model():
    model = load_model("gabor")
    model.start_recording("V1", [(70, 170)])
    stimuli = load_stimulus_set("Simulated2026").iloc[::20]
    model.look_at(stimuli[:1])
    start = time.process_time()
    recordings = model.look_at(stimuli)
    assert (time.process_time() - start) / len(stimuli) < 0.1  # about 0.005 s; a slip of design, not of the machine
    assert recordings.shape == (40, 6144)
    assert recordings.dtype == np.float32
    assert np.isfinite(recordings.values).all()
    assert recordings.values.min() >= 0
    assert (recordings.values.std(axis=0) > 0).mean() > 0.95
    assert recordings["layer"].values.tolist() == ["simple"] * 3072 + ["complex"] * 3072
