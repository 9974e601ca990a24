import warnings

import numpy as np
import pytest
from scipy.stats import ks_2samp

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import PropertyAssembly
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.metrics.distribution_similarity import NeuronalPropertyCeiling, ks_similarity

EDGES = np.linspace(-3, 3, 13)


def _assembly(values, *, other=None, edges=EDGES):
    columns = [values] if other is None else [other, values]
    names = ["size"] if other is None else ["other", "size"]
    assembly = PropertyAssembly(
        np.stack(columns, axis=1),
        coords={
            "neuroid_id": ("neuroid", np.arange(len(values))),
            "region": ("neuroid", ["V1"] * len(values)),
            "neuronal_property": ("neuronal_property", names),
        },
        dims=["neuroid", "neuronal_property"],
    )
    assembly.attrs["size_bins"] = edges
    return assembly


def _data(n=60, seed=0):
    return np.random.default_rng(seed).standard_normal(n)


def _model(n=400, seed=1):
    return 0.7 * np.random.default_rng(seed).standard_normal(n) + 0.5


def test_distance_is_that_of_scipy_on_binned_values():
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = rng.integers(0, 8, 40), np.r_[0, rng.integers(0, 8, 29), 7]
        p, q = (np.bincount(x, minlength=8) / len(x) for x in (a, b))
        largest = max(ks_2samp(np.zeros(1), b).statistic, ks_2samp(np.full(1, 7), b).statistic)
        assert ks_similarity(p, q) == pytest.approx(1 - ks_2samp(a, b).statistic / largest, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        ([0.2, 0.3, 0.5], [0.1, 0.1, 0.8], 2 / 3),
        ([1, 0, 0], [0, 0, 1], 0),
        ([1, 0], [1, 0], 1),
        ([0.5, 0.5], [0, 1], 0.5),
    ],
)
def test_similarity_by_hand(p, q, expected):
    assert ks_similarity(p, q) == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(ks_similarity([p, p], q), [expected, expected], atol=1e-12)


def test_largest_distance_is_reached_by_no_other_histogram():
    rng = np.random.default_rng(2)
    q = rng.dirichlet(np.ones(6))
    values = ks_similarity(np.vstack([rng.dirichlet(np.full(6, 0.05), 500), np.eye(6)]), q)
    assert values.min() == pytest.approx(0, abs=1e-12)
    assert values.max() <= 1


@pytest.mark.parametrize("case", ["plain", "nan", "outside"])
def test_equals_the_definition_sample_by_sample(case):
    model, data = _model(), _data()
    if case == "nan":
        model[:100] = np.nan
        data[:5] = np.nan
    if case == "outside":
        model -= 2.7
        data[:3] = 5
    score = load_metric("ks_similarity", property_name="size", ns=200, seed=3)(_assembly(model), _assembly(data))

    def histogram(values):
        values = np.clip(values[~np.isnan(values)], EDGES[0], EDGES[-1])
        return np.histogram(values, EDGES)[0] / len(values)

    q = histogram(data)
    expected = []
    for drawn in np.random.default_rng(3).integers(0, 400, (200, 60)):
        distance = np.abs(np.cumsum(histogram(model[drawn])) - np.cumsum(q)).max()
        expected.append(1 - distance / max(1 - q[0], 1 - q[-1]))
    np.testing.assert_allclose(score.attrs["raw"].values, expected, atol=1e-12)
    assert float(score) == pytest.approx(np.mean(expected), abs=1e-12)
    assert score.attrs["error"] == pytest.approx(np.std(expected), abs=1e-12)
    low, high = score.attrs["ci"]
    assert low < float(score) < high
    assert "new model neuroids for these recordings; " in score.attrs["ci_estimates"]
    assert score.attrs["scale"] == "similarity"


def test_reference_values():
    """Means of the published, unseeded metric on the same numbers, within its sampling error."""
    rng = np.random.default_rng(0)
    data, model = rng.standard_normal(60), rng.standard_normal(400) * 0.7 + 0.5
    metric = load_metric("ks_similarity", property_name="size", ns=20_000)
    for values, mean, error in ((model, 0.7517, 0.0385), (data, 0.9208, 0.0329), (model + 2, 0.1158, 0.0327)):
        score = metric(_assembly(values), _assembly(data))
        assert float(score) == pytest.approx(mean, abs=4 * error / np.sqrt(1000))
        assert score.attrs["error"] == pytest.approx(error, rel=0.1)


@pytest.mark.slow(reason="estimates an interval from many simulations")
def test_interval_is_that_of_other_model_neuroids():
    """Its width is the spread of the score over models that are drawn anew; likewise for recordings and the ceiling."""
    rng, metric = np.random.default_rng(0), load_metric("ks_similarity", property_name="size")
    data, ceiling = _assembly(rng.standard_normal(60)), load_ceiling("property_ceiling", metric)
    for experiment in (lambda n: metric(_assembly(rng.standard_normal(n) * 0.7 + 0.5), data),
                       lambda n: ceiling(_assembly(rng.standard_normal(n)))):  # fmt: skip
        scores = [experiment(100) for _ in range(60)]
        widths = [np.diff(score.attrs["ci"])[0] / 2 for score in scores]
        assert np.mean(widths) / 1.98 == pytest.approx(np.std([float(score) for score in scores]), rel=0.3)
    assert np.mean(widths) < scores[0].attrs["error"]
    assert "new recorded neuroids; " in scores[0].attrs["ci_estimates"]


def test_seed_and_order_of_properties():
    source, target = _assembly(_model(), other=np.zeros(400)), _assembly(_data(), other=np.ones(60))
    values = [
        float(load_metric("ks_similarity", property_name="size", seed=seed)(source, target)) for seed in (0, 0, 1)
    ]
    assert values[0] == values[1] != values[2]
    assert values[0] == float(load_metric("ks_similarity", property_name="size")(_assembly(_model()), target))


def test_ceiling_is_the_recordings_against_samples_of_themselves():
    data = _assembly(_data(n=2000))
    metric = load_metric("ks_similarity", property_name="size")
    ceiling = NeuronalPropertyCeiling(metric)(data)
    assert float(ceiling) == float(metric(data, data)) == float(load_ceiling("property_ceiling", "size")(data))
    assert 0.97 < float(ceiling) < 1
    assert ceiling.attrs["meaning"] == "upper bound"
    small = load_ceiling("property_ceiling", metric)(_assembly(_data(n=20)))
    assert float(small) < float(ceiling)


def test_models_without_the_property_score_zero_and_say_so():
    metric = load_metric("ks_similarity", property_name="size")
    for model in (np.full(60, np.nan), np.where(np.arange(60) == 0, 0.5, np.nan)):
        with pytest.warns(UserWarning, match="have no 'size'; the score is 0"):
            score = metric(_assembly(model), _assembly(_data()))
        assert float(score) == 0
        assert score.attrs["undefined"] > 100
        assert "have no 'size'" in score.attrs["error_reason"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = metric(_assembly(np.where(np.arange(60) < 3, 0.5, np.nan)), _assembly(_data()))
    assert float(few) > 0
    assert "3 neuroids: at least 20" in few.attrs["ci_reason"]


def test_another_similarity():
    metric = load_metric(
        "ks_similarity", property_name="size", similarity_func=lambda p, q: 1 - np.abs(p - q).sum() / 2, ns=50
    )
    assert 0 < float(metric(_assembly(_model()), _assembly(_data()))) < 1


def test_what_cannot_be_compared_is_refused():
    metric, model = load_metric("ks_similarity", property_name="size"), _assembly(_model())
    unbinned = _assembly(_data())
    del unbinned.attrs["size_bins"]
    with pytest.raises(MetricInputError, match=r"no attrs\['size_bins'\]"):
        metric(model, unbinned)
    for edges in ([0, 1], [0, 2, 1], [0, np.nan, 1]):
        with pytest.raises(MetricInputError, match="ascending order"):
            metric(model, _assembly(_data(), edges=edges))
    other = _assembly(_data())
    other.attrs["colour_bins"] = EDGES
    with pytest.raises(MetricInputError, match=r"0 properties 'colour'; it has 'size'"):
        load_metric("ks_similarity", property_name="colour")(model, other)
    with pytest.raises(MetricInputError, match="no value of 'size'"):
        metric(model, _assembly(np.full(9, np.nan)))
    with pytest.raises(MetricInputError, match="no neuroids"):
        metric(_assembly(np.zeros(0)), _assembly(_data()))
    with pytest.raises(MetricInputError, match="no coordinate 'neuronal_property'"):
        metric(model.isel(neuronal_property=0, drop=True), _assembly(_data()))
