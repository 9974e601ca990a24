import numpy as np
import pytest
from scipy.interpolate import UnivariateSpline
from scipy.stats import f_oneway

from brainscore_core.errors import UserError
from brainscore_vision.benchmark_helpers import neuronal_properties as properties
from brainscore_vision.benchmark_helpers import properties_common as published

ANGLES = np.arange(0, 180, 15.0)
FREQUENCIES = 2.0 ** np.linspace(-1.5, 4, 22)
RNG = np.random.RandomState


def _von_mises(preferred, concentration, angles=ANGLES):
    return np.exp(concentration * (np.cos(2 * np.deg2rad(angles - preferred)) - 1))


# -- orientation


@pytest.mark.parametrize("preferred", [0, 20, 37, 90, 166])
@pytest.mark.parametrize(("concentration", "threshold"), [(2, 0.5), (1.5, 0.707), (4, 0.707)])
def test_orientation_tuning_of_known_curves(preferred, concentration, threshold):
    fine = np.arange(0, 180, 7.5)
    width = np.rad2deg(np.arccos(1 + np.log(threshold) / concentration))  # full width of exp(k (cos 2θ − 1))
    curve = 30 * _von_mises(preferred, concentration, fine)
    tuning = properties.orientation_tuning(curve, fine, smoothing=None, threshold=threshold)
    assert tuning.preferred == pytest.approx(preferred, abs=1)
    assert tuning.bandwidth == pytest.approx(width, abs=2)
    half = properties.orientation_tuning(curve, fine, smoothing=None, threshold=threshold, half=True)
    assert half.bandwidth == tuning.bandwidth / 2


@pytest.mark.parametrize("smoothing", ["hanning", "flat", "smooth", None])
def test_orientation_tuning_is_that_of_single_curves(smoothing):
    """Against a loop with SciPy's smoothing spline, as the definition is published."""
    curves = RNG(0).gamma(1.5, 8, (40, 12))
    tuning = properties.orientation_tuning(curves, ANGLES, smoothing=smoothing, threshold=0.707)
    weights = {"hanning": [0, 2, 5, 2, 0], "flat": [1] * 5, "smooth": [0, 1, 5, 1, 0], None: [0, 0, 1, 0, 0]}[smoothing]
    for number, curve in enumerate(curves):
        extended = np.convolve(np.array(weights) / sum(weights), np.tile(curve, 3), mode="same")
        spline = UnivariateSpline(np.concatenate([ANGLES - 180, ANGLES, ANGLES + 180]), extended, s=0)
        fit = spline(np.arange(-180, 360))
        peak = 180 + np.argmax(fit[180:360])
        assert tuning.preferred[number] == peak - 180
        np.testing.assert_allclose(tuning.fit[number], fit[180:360], rtol=1e-9, atol=1e-9)
        low, high = peak, peak
        while low >= 0 and fit[low] > 0.707 * fit[peak]:
            low -= 1
        while high < 540 and fit[high] > 0.707 * fit[peak]:
            high += 1
        expected = np.nan if low < 0 or high == 540 or high - low > 180 else high - low
        np.testing.assert_equal(tuning.bandwidth[number], expected)


def test_circular_variance_and_orthogonal_ratio():
    amplitude = np.array([0.0, 2.0, 5.0, 10.0])
    curves = 10 + amplitude[:, np.newaxis] * np.cos(2 * np.deg2rad(ANGLES - 30))
    np.testing.assert_allclose(properties.circular_variance(curves, ANGLES), 1 - amplitude / 20, atol=1e-12)
    ratio = properties.orthogonal_preferred_ratio(curves)
    np.testing.assert_allclose(ratio, (10 - amplitude) / (10 + amplitude), atol=1e-12)
    single = np.where(ANGLES == 45, 7.0, 0.0)
    assert properties.circular_variance(single, ANGLES) == pytest.approx(0, abs=1e-12)
    assert properties.orthogonal_preferred_ratio(single) == 0


# -- spatial frequency


@pytest.mark.parametrize("peak", [1.0, 2.3, 5.0])
@pytest.mark.parametrize("octaves", [1.5, 2.5])
def test_spatial_frequency_tuning_of_known_curves(peak, octaves):
    spread = octaves / (2 * np.sqrt(-2 * np.log(0.707)))
    curve = 40 * np.exp(-(np.log2(FREQUENCIES / peak) ** 2) / (2 * spread**2))
    tuning = properties.spatial_frequency_tuning(curve, FREQUENCIES, smoothing=None)
    step = 5.5 / 99
    assert np.log2(tuning.peak / peak) == pytest.approx(0, abs=step)
    assert np.log2(100 / tuning.bandwidth) == pytest.approx(octaves, abs=2 * step)
    assert tuning.r_squared == pytest.approx(1)
    wide = properties.spatial_frequency_tuning(curve, FREQUENCIES, smoothing=None, mode="oct")
    assert wide.bandwidth == pytest.approx(100 / tuning.bandwidth - 1)
    smoothed = properties.spatial_frequency_tuning(curve, FREQUENCIES)
    assert smoothed.bandwidth < tuning.bandwidth
    assert smoothed.r_squared < 1


@pytest.mark.parametrize("smoothing", ["triangle", "smooth", None])
def test_spatial_frequency_tuning_is_that_of_single_curves(smoothing):
    curves = RNG(1).gamma(1.5, 8, (40, 9))
    frequencies = 2.0 ** np.arange(-1, 3.5, 0.5)
    octaves = np.log2(frequencies)
    grid = np.linspace(octaves[0], octaves[-1], 100)
    tuning = properties.spatial_frequency_tuning(curves, frequencies, smoothing=smoothing)
    weights = {"triangle": [2, 3, 4, 3, 2], "smooth": [0, 1, 5, 1, 0], None: [0, 0, 1, 0, 0]}[smoothing]
    for number, curve in enumerate(curves):
        padded = [curve[0], curve[0], *curve, curve[-1], curve[-1]]
        spline = UnivariateSpline(octaves, np.convolve(np.array(weights) / sum(weights), padded, mode="valid"), s=0)
        fit = spline(grid)
        np.testing.assert_allclose(tuning.fit[number], fit, rtol=1e-9, atol=1e-9)
        peak = np.argmax(fit)
        assert tuning.peak[number] == pytest.approx(2 ** grid[peak])
        low = [at for at in range(peak) if fit[at] <= 0.707 * fit[peak]]
        high = [at for at in range(peak + 1, 100) if fit[at] <= 0.707 * fit[peak]]
        expected = 100 * 2 ** (grid[low[-1]] - grid[high[0]]) if low and high else np.nan
        np.testing.assert_allclose(tuning.bandwidth[number], expected)
        explained = 1 - ((curve - spline(octaves)) ** 2).sum() / ((curve - curve.mean()) ** 2).sum()
        assert tuning.r_squared[number] == pytest.approx(explained, abs=1e-9)


# -- size


def test_size_tuning_by_hand():
    radius = np.array([0.1, 0.2, 0.4, 0.8, 1.6])
    curves = [
        [2, 10, 9.6, 5.2, 5],  # 95 % at once; within 5 % of the plateau at 0.8
        [9.5, 10, 8, 6, 5.3],  # 95 % before the peak
        [1, 4, 8, 9.5, 10],  # no suppression
        [0, 10, 4, 0, 0],  # suppressed to nothing
    ]
    tuning = properties.size_tuning(curves, radius)
    np.testing.assert_allclose(tuning.surround_suppression_index, [0.5, 0.47, 0, 1])
    np.testing.assert_allclose(tuning.grating_summation_field, [0.4, 0.2, np.nan, 0.4])
    np.testing.assert_allclose(tuning.surround_diameter, [1.6, 3.2, np.nan, 1.6])
    np.testing.assert_allclose(tuning.surround_grating_summation_field_ratio, [4, 16, np.nan, 4])


# -- texture


def test_texture_properties():
    noise, texture = np.array([[4.0, 2.0, 0.0], [1.0, 1.0, 0.0]]), np.array([[8.0, 2.0, 0.0], [3.0, 0.0, 5.0]])
    index, by_family = properties.texture_modulation(np.stack([noise, texture], axis=1))
    np.testing.assert_allclose(by_family, [[1 / 3, 0, np.nan], [0.5, -1, 1]])
    np.testing.assert_allclose(index, [1 / 6, 1 / 6])
    responses = RNG(2).gamma(2, 5, (20, 7))
    expected = [(1 - r.mean() ** 2 / np.mean(r**2)) / (1 - 1 / 7) for r in responses]
    np.testing.assert_allclose(properties.sparseness(responses), expected)
    one_hot = properties.sparseness(np.eye(5))
    np.testing.assert_allclose(one_hot, 1)


def test_variances_are_those_of_an_analysis_of_variance():
    responses = RNG(3).normal(10, 2, (5, 6, 8)) + RNG(4).normal(0, 3, (5, 6, 1))  # neuroids × families × samples
    found = properties.mean_squares(responses)
    for number, families in enumerate(responses):
        assert found.family[number] / found.sample[number] == pytest.approx(f_oneway(*families).statistic)
        assert found.sample[number] == pytest.approx(np.mean(families.var(axis=1, ddof=1)))
    assert np.isnan(found.residual).all()
    repeated = np.repeat(responses[..., np.newaxis], 3, axis=-1) + RNG(5).normal(0, 1, (5, 6, 8, 3))
    nested = properties.mean_squares(repeated, repetitions=True)
    np.testing.assert_allclose(nested.residual, repeated.var(axis=-1, ddof=1).mean(axis=(1, 2)))
    np.testing.assert_allclose(nested.sample, 3 * repeated.mean(axis=-1).var(axis=2, ddof=1).mean(axis=1))
    np.testing.assert_allclose(nested.family, 24 * repeated.mean(axis=(2, 3)).var(axis=1, ddof=1))


def test_variance_ratio_recovers_the_components():
    families = RNG(6).normal(0, 2, (400, 30, 1, 1))
    samples = RNG(7).normal(0, 1, (400, 30, 10, 1))
    noise = RNG(8).normal(0, 0.5, (400, 30, 10, 4))
    found = properties.variance_ratio(families + samples + noise, repetitions=True)
    assert found.family.mean() == pytest.approx(4 / 5.25, abs=0.02)
    assert found.sample.mean() == pytest.approx(1 / 5.25, abs=0.02)
    np.testing.assert_allclose(found.ratio, (found.family + 0.02) / (found.sample + 0.02))


# -- responses, designs, receptive fields, firing rates


def test_harmonics_and_preferred_stimuli():
    responses = RNG(9).gamma(2, 5, (30, 3, 4, 8))
    mean, modulation = properties.harmonics(responses)
    np.testing.assert_allclose(mean, responses.mean(axis=-1))
    np.testing.assert_allclose(modulation, 2 * np.abs(np.fft.fft(responses, axis=-1))[..., 1] / 8)
    best = properties.preferred(mean)
    for number in range(30):
        first, second = np.unravel_index(np.argmax(mean[number]), (3, 4))
        assert best.response[number] == mean[number].max()
        np.testing.assert_array_equal(best.curve(mean, axis=0)[number], mean[number, :, second])
        np.testing.assert_array_equal(best.curve(mean, axis=1)[number], mean[number, first])


def test_designs_are_found_in_any_order():
    a, b, c = (part.ravel() for part in np.meshgrid([0.5, 1, 2], [0, 90], [1, 2, 3, 4], indexing="ij"))
    shuffled = RNG(10).permutation(len(a))
    design = properties.factorial({"a": a[shuffled], "b": b[shuffled], "c": c[shuffled]})
    assert design.order.shape == (3, 2, 4)
    np.testing.assert_array_equal(shuffled[design.order].ravel(), np.arange(24))
    np.testing.assert_array_equal(design.levels["a"], [0.5, 1, 2])
    frequency = np.array([1, 2, 4] * 3)
    radius = np.repeat([2, 1, 3], 3) / frequency  # blocks of 2, 1 and 3 half cycles
    ranks = properties.condition_ranks(radius, {"spatial_frequency": frequency})
    np.testing.assert_array_equal(ranks, np.repeat([1, 0, 2], 3))


def test_receptive_fields_of_known_neuroids():
    y, x = np.linspace(-2, 2, 17), np.linspace(-2.5, 2.5, 21)
    centres = np.array([[0.5, 0.5], [-0.75, 1.0], [0.0, 0.0]])
    grid = np.stack(np.meshgrid(y, x, [0, 1], indexing="ij"), axis=-1).reshape(-1, 3)
    distance = ((grid[:, np.newaxis, :2] - centres) ** 2).sum(axis=-1)
    responses = 3 + 10 * np.exp(-distance / (2 * 0.3**2)) * (1 - 0.5 * grid[:, 2:])
    responses = np.column_stack([responses, np.full(len(grid), 3.0), -responses[:, 0], np.full(len(grid), np.nan)])
    shuffled = RNG(11).permutation(len(grid))
    design = properties.factorial(dict(zip("yxp", grid[shuffled].T, strict=True)))
    maps = properties.receptive_field_maps(responses[shuffled], np.array([3.0, 3, 3, 3, 3, 3]), design.order)
    np.testing.assert_allclose(maps[0], (10 * np.exp(-distance[::2, 0] / 0.18)).reshape(17, 21), atol=1e-9)
    found = properties.receptive_field_centres(maps, y, x)
    np.testing.assert_allclose(found[:3], centres, atol=0.01)
    assert np.isnan(found[3:]).all()  # no response beyond the blank's; only negative ones; not measured


def test_rate_scale():
    blank, largest = np.array([0.1, 0.2, 0.4, 0.1, np.nan]), np.array([1.1, 2.2, 4.4, 0.1, 9.0])
    scale = properties.rate_scale(largest, blank, median_largest=33.8, median_blank=0.82, least=5 / 243.1)
    assert scale.responsive == 3  # not the one that does not respond, nor the one not measured
    assert scale.slope * 2.2 + scale.offset == pytest.approx(33.8)
    assert scale.slope * 0.2 + scale.offset == pytest.approx(0.82)
    for silent in ([0.1, 0.2], [0.0, 0.0], [np.nan, np.nan]):
        none = properties.rate_scale(silent, [0.1, 0.2], median_largest=33.8, median_blank=0.82, least=0.02)
        assert np.isnan(none.slope)
        assert none.responsive == 0


# -- neuroids without the property


def test_what_a_neuroid_does_not_have_is_nan():
    silent, constant, unknown = np.zeros(12), np.full(12, 20.0), np.full(12, np.nan)
    curves = np.stack([silent, constant, unknown, 20 * _von_mises(60, 3)])
    none = [True, True, True, False]
    tuning = properties.orientation_tuning(curves, ANGLES)
    np.testing.assert_array_equal(np.isnan(tuning.preferred), none)
    np.testing.assert_array_equal(np.isnan(tuning.bandwidth), none)
    np.testing.assert_array_equal(np.isnan(properties.circular_variance(curves, ANGLES)), [True, False, True, False])
    assert properties.circular_variance(constant, ANGLES) == pytest.approx(1)
    frequency = properties.spatial_frequency_tuning(curves, FREQUENCIES[:12])
    np.testing.assert_array_equal(np.isnan(frequency.peak), none)
    assert np.isnan(frequency.bandwidth[:3]).all()
    size = properties.size_tuning(curves, FREQUENCIES[:12])
    assert np.isnan(size.grating_summation_field[:3]).all()
    np.testing.assert_array_equal(np.isnan(size.surround_suppression_index), [True, False, True, False])
    assert size.surround_suppression_index[1] == 0
    textures = np.stack([silent, constant, unknown]).reshape(3, 2, 6)
    np.testing.assert_array_equal(properties.texture_modulation(textures).modulation_index, [np.nan, 0, np.nan])
    np.testing.assert_array_equal(properties.sparseness(textures[:, 0]), [np.nan, 0, np.nan])
    assert np.isnan(properties.variance_ratio(textures).ratio).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: properties.orientation_tuning(np.ones(4), [0, 45, 90, 135], smoothing="gauss"),
            "no smoothing 'gauss'",
        ),
        (lambda: properties.orientation_tuning(np.ones(3), [0, 90, 45]), "ascending order"),
        (lambda: properties.orientation_tuning(np.ones((2, 2, 2)), [0, 90]), "3 axes"),
        (
            lambda: properties.circular_variance(np.ones(3), [0, 90]),
            "3 responses, but there are 2 values of orientation",
        ),
        (lambda: properties.spatial_frequency_tuning(np.ones(3), [1, 2, 3]), "at least 4"),
        (lambda: properties.spatial_frequency_tuning(np.ones(4), [0, 1, 2, 3]), "no logarithm"),
        (lambda: properties.spatial_frequency_tuning(np.ones(4), [1, 2, 3, 4], mode="octaves"), "unknown mode"),
        (lambda: properties.harmonics(np.ones((3, 1))), "two phases"),
        (lambda: properties.texture_modulation(np.ones((3, 4))), "noise, texture"),
        (lambda: properties.mean_squares(np.ones((3, 1))), "3 families × 1 samples"),
        (
            lambda: properties.factorial({"a": [1, 1, 2], "b": [0, 0, 1]}),
            "a 1, b 0 occurs 2 times; a 1, b 1 is missing",
        ),
        (lambda: properties.receptive_field_maps(np.ones((4, 2)), np.ones(3), [[[0, 1]]]), "one value per neuroid"),
    ],
)
def test_what_cannot_be_computed_is_refused(call, message):
    with pytest.raises(UserError, match=message):
        call()


# -- under the published names


def test_published_functions_give_the_published_values():
    """Values of brainscore-vision 2.4.2 for the same curves."""
    curve = np.array([3, 5, 9, 14, 10, 6, 4, 3, 2, 2, 1.5, 2])
    expected = {
        "hanning": (40, 46, 12.015569230949403),
        "flat": (71, 49, 8.823650368935864),
        "smooth": (35, 46, 12.727295726578875),
        None: (29, 46, 14.008403418711925),
    }
    for smoothing, (bandwidth, preferred, largest) in expected.items():
        found = published.calc_bandwidth(curve, ANGLES, filt_type=smoothing, thrsh=0.707)
        assert found[:2] == (bandwidth, preferred)
        assert found[3][found[1]] == pytest.approx(largest, rel=1e-12)
    assert published.calc_bandwidth(curve, ANGLES, thrsh=0.707, mode="half")[0] == 20
    assert published.calc_circular_variance(curve, ANGLES) == pytest.approx(0.5343758307033637, rel=1e-12)
    assert published.calc_orthogonal_preferred_ratio(curve, ANGLES) == pytest.approx(0.14285714285714285)
    frequencies = np.array([0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8])
    curve = np.array([1, 2, 4, 9, 12, 8, 3, 1.5, 1])
    expected = {
        "triangle": (29.163225989402903, 1.864759916736255, 0.7962323724056685),
        "hanning": (43.16335128482628, 1.9177224549192975, 0.9703829466138465),
        "flat": (22.039781374900524, 1.7631825099920426, 0.6905008488964346),
        "smooth": (45.65000327068447, 1.9177224549192975, 0.9877602993659264),
        None: (48.27991192950042, 1.9177224549192975, 1.0),
    }
    for smoothing, values in expected.items():
        found = published.calc_spatial_frequency_tuning(curve, frequencies, filt_type=smoothing)
        np.testing.assert_allclose(found[:3], values, rtol=1e-10)
    wide = published.calc_spatial_frequency_tuning(curve, frequencies, mode="oct")
    assert wide[0] == pytest.approx(2.4289759314122925, rel=1e-10)
    sizes = [0.1, 0.2, 0.4, 0.6, 0.8, 1.2, 1.6, 2]
    found = published.calc_size_tuning(np.array([1, 6, 11, 11.4, 9, 7, 6.2, 6]), np.array(sizes))
    np.testing.assert_allclose(found, (0.8, 3.2, 4.0, 0.4736842105263158), rtol=1e-12)
    textures = np.array([[4, 1, 3, 2.0], [6, 1.5, 2, 5]])
    index, by_family = published.calc_texture_modulation(textures)
    assert index == pytest.approx(0.15714285714285714)
    np.testing.assert_allclose(by_family, [0.2, 0.2, -0.2, 0.42857142857142855])
    assert published.calc_sparseness(textures) == pytest.approx(0.2611090708777084)
    repeated = np.arange(24.0).reshape(3, 4, 2) ** 1.3 % 7
    np.testing.assert_allclose(
        properties.mean_squares(repeated, repetitions=True),
        (5.3317361991287076, 3.8971614640493097, 0.05274775168145319),
    )
    np.testing.assert_allclose(
        published.calc_variance_ratio(repeated), (0.6269584974675214, -0.17351359918846193, -0.11624665548802941)
    )
    np.testing.assert_allclose(
        published.calc_variance_ratio(repeated[..., 0]),
        (-0.17676254245955297, 1.2433050044967167, -0.24330500449671663),
    )
