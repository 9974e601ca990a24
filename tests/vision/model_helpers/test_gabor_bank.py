"""The bank against sums over pixels, written out here, and against what its parameters promise."""

import numpy as np
import pytest

from brainscore_vision.stimuli.gabor_bank import GaborBank, GaborFilters


def filters_of(orientation, frequency, *, octaves=1.4, degrees=40.0):
    return GaborFilters.from_bandwidths(
        orientation=orientation, frequency=frequency, frequency_bandwidth=octaves, orientation_bandwidth=degrees
    )


def grating(size, visual_degrees, orientation, frequency, phase=0.0, contrast=1.0):
    """Stripes at `orientation` degrees counter-clockwise from horizontal; rows count downwards."""
    degrees = np.arange(size) * visual_degrees / size
    x, y_up = degrees[np.newaxis], -degrees[:, np.newaxis]
    angle = np.deg2rad(orientation)
    across = -x * np.sin(angle) + y_up * np.cos(angle)
    return contrast * np.cos(2 * np.pi * frequency * across + phase)


@pytest.mark.parametrize(("size", "grid"), [(96, 4), (60, 4), (84, 4)])  # steps 24 and, odd, 15 and 21
def test_equals_the_sum_over_pixels(size, grid):
    filters = filters_of([0.0, 37.0, 90.0, 155.0], [0.8, 1.1, 1.6, 0.9])
    image = np.random.default_rng(0).standard_normal((size, size))
    responses = GaborBank(filters, size=size, visual_degrees=8, grid=grid, dtype=np.complex128, margin=3)(image)
    pixels_per_degree, step = size / 8, size // grid
    rows, columns = np.mgrid[:size, :size]
    for index, (orientation, frequency, across, along) in enumerate(zip(*filters, strict=True)):
        for position in [(1, 1), (2, 1), (0, 3)]:
            y = (rows - position[0] * step - step // 2) / pixels_per_degree
            x = (columns - position[1] * step - step // 2) / pixels_per_degree
            angle = np.deg2rad(orientation)
            u, v = x * np.sin(angle) + y * np.cos(angle), x * np.cos(angle) - y * np.sin(angle)
            envelope = np.exp(-(u**2) / (2 * across**2) - v**2 / (2 * along**2))
            envelope /= 2 * np.pi * across * along * pixels_per_degree**2
            blank = np.exp(-2 * (np.pi * across * frequency) ** 2)
            kernel = 2 / (1 - blank**2) * envelope * (np.exp(-2j * np.pi * frequency * u) - blank)
            expected = (kernel * image).sum()
            assert abs(responses[index][position] - expected) < 2e-3


def test_a_filter_between_the_frequencies_of_the_spectrum():
    """It is so narrow that its transfer function is far below its peak at all frequencies of the spectrum."""
    filters = GaborFilters(*(np.array([value]) for value in (0.0, 1.03125, 40.0, 40.0)))
    image = np.random.default_rng(0).standard_normal((64, 64))
    (response,) = GaborBank(filters, size=64, visual_degrees=8, grid=4, dtype=np.complex128)(image)
    down, right = np.meshgrid(*2 * [np.fft.fftfreq(128, 1 / 8)], indexing="ij")
    transfer = np.exp(-2 * (np.pi * 40.0) ** 2 * (right**2 + (down - 1.03125) ** 2))
    padded = np.zeros((128, 128))
    padded[:64, :64] = image
    expected = 2 * np.fft.ifft2(np.fft.fft2(padded) * transfer)[8:64:16, 8:64:16]
    np.testing.assert_allclose(response, expected, rtol=1e-3)


def test_orientation_tuning_peaks_where_the_parameters_say():
    orientations = np.array([0.0, 20.0, 63.0, 90.0, 118.0, 171.0])
    bank = GaborBank(filters_of(orientations, 2.0), size=128, visual_degrees=8, grid=4)
    tested = np.arange(0.0, 180.0, 1.0)
    tuning = np.stack([np.abs(bank(grating(128, 8, angle, 2.0)))[:, 1, 2] for angle in tested])
    distance = np.abs((tested[tuning.argmax(axis=0)] - orientations + 90) % 180 - 90)
    assert distance.max() <= 1


@pytest.mark.parametrize("degrees", [25.0, 40.0, 60.0])
def test_orientation_bandwidth(degrees):
    bank = GaborBank(filters_of([90.0], 2.0, degrees=degrees), size=128, visual_degrees=8, grid=4)
    peak, flank = (
        np.abs(bank(grating(128, 8, 90 + offset, 2.0 / np.cos(np.deg2rad(offset)))))[0, 1, 2]
        for offset in (0.0, degrees / 2)
    )  # along the line of constant frequency across the stripes, where the envelope alone decides
    assert peak == pytest.approx(1, abs=0.02)
    assert flank == pytest.approx(0.5, abs=0.03)


def test_frequency_tuning_peaks_and_falls_where_the_parameters_say():
    bank = GaborBank(filters_of([30.0], 2.0, octaves=1.4), size=128, visual_degrees=8, grid=4)
    tested = 2.0 * 2 ** np.linspace(-1.5, 1.5, 61)
    tuning = np.array([np.abs(bank(grating(128, 8, 30.0, frequency)))[0, 1, 2] for frequency in tested])
    assert tested[tuning.argmax()] == pytest.approx(2.0, rel=0.05)
    above = tested[tuning > 0.5 * tuning.max()]
    assert np.log2(above[-1] / above[0]) == pytest.approx(1.4, abs=0.12)


def test_energy_does_not_depend_on_phase_but_the_parts_do():
    bank = GaborBank(filters_of([45.0], 2.0), size=128, visual_degrees=8, grid=4)
    responses = np.array(
        [bank(grating(128, 8, 45.0, 2.0, phase))[0, 1, 1] for phase in np.linspace(0, 2 * np.pi, 16, endpoint=False)]
    )
    energy = np.abs(responses) ** 2
    assert energy.std() / energy.mean() < 0.01
    assert responses.real.std() > 0.5
    assert np.corrcoef(responses.real, responses.imag)[0, 1] == pytest.approx(0, abs=0.05)


def test_response_is_the_contrast_of_the_preferred_grating_and_uniform_images_give_nothing():
    bank = GaborBank(filters_of([0.0, 90.0], 1.5), size=128, visual_degrees=8, grid=4)
    for contrast in (0.1, 0.5, 1.0):
        assert np.abs(bank(grating(128, 8, 90.0, 1.5, contrast=contrast)))[1, 2, 2] == pytest.approx(contrast, rel=0.02)
    assert np.abs(bank(np.full((128, 128), 0.7)))[:, 1:3, 1:3].max() < 1e-3


def test_responses_move_with_the_image():
    bank = GaborBank(filters_of([20.0, 100.0], 1.5), size=128, visual_degrees=8, grid=8, dtype=np.complex128)
    image = np.zeros((128, 128))
    image[40:60, 30:55] = np.random.default_rng(1).standard_normal((20, 25))
    moved = np.roll(image, (16, 32), axis=(0, 1))
    np.testing.assert_allclose(bank(moved)[:, 1:, 2:], bank(image)[:, :-1, :-2], atol=1e-12)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="use larger images"):
        GaborBank(filters_of([0.0], 9.0), size=128, visual_degrees=8, grid=4)
    with pytest.raises(ValueError, match="do not divide"):
        GaborBank(filters_of([0.0], 1.0), size=100, visual_degrees=8, grid=7)
    with pytest.raises(ValueError, match="shape"):
        GaborBank(filters_of([0.0], 1.0), size=64, visual_degrees=8, grid=4)(np.zeros((32, 64)))
