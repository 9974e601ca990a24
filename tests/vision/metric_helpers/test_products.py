"""Parts of assemblies, alignment, and errors by resampling."""

import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metric_helpers.products import Alignment, CartesianProduct, enumerate_done, expand
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_vision.metric_helpers.bootstrap_error import attach_error, bootstrap_error, declare_no_error

VALUES = np.random.default_rng(0).standard_normal((4, 6))


def _assembly(**extra):
    coords = {
        "stimulus_id": ("presentation", list("abcd")),
        "neuroid_id": ("neuroid", np.arange(6)),
        "region": ("neuroid", ["V4", "V4", "IT", "IT", "IT", "V1"]),
        "subject": ("neuroid", [1, 2, 1, 1, 2, 1]),
    }
    return NeuroidAssembly(VALUES, coords=coords | extra, dims=["presentation", "neuroid"])


def _mean(part):
    return Score(part.values.mean())


def test_a_part_for_each_value_in_the_order_of_the_data():
    seen = []

    def apply(part):
        seen.append(part)
        return _mean(part)

    score = CartesianProduct(["region"])(_assembly(), apply=apply)
    assert score.dims == ("region",)
    assert score["region"].values.tolist() == ["V4", "IT", "V1"]
    np.testing.assert_allclose(score.values, [VALUES[:, :2].mean(), VALUES[:, 2:5].mean(), VALUES[:, 5].mean()])
    assert [part.dims for part in seen] == [("presentation", "neuroid")] * 2 + [("presentation",)]
    assert seen[2]["region"].values == "V1"
    np.testing.assert_array_equal(score.attrs["raw"].values, score.values)
    assert "only the metric knows" in score.attrs["error_reason"]


def test_combinations_that_do_not_occur_are_nan():
    score = CartesianProduct(["region", "subject"])(_assembly(), apply=_mean)
    assert score.dims == ("subject", "region")  # as published: the last divider comes first
    columns = {("V4", 1): [0], ("V4", 2): [1], ("IT", 1): [2, 3], ("IT", 2): [4], ("V1", 1): [5]}
    for (region, subject), picked in columns.items():
        found = score.sel(region=region, subject=subject).values
        np.testing.assert_allclose(found.squeeze(), VALUES[:, picked].mean())
    assert np.isnan(score.sel(region="V1", subject=2).values).all()


def test_without_dividers_the_whole_is_the_part():
    score = CartesianProduct()(_assembly(), apply=lambda part: Score(part.values.mean(axis=0), dims=["neuroid"]))
    np.testing.assert_allclose(score.values, VALUES.mean(axis=0))


def test_dividers_of_two_dimensions_and_an_aggregate():
    assembly = _assembly(stimulus_set=("presentation", ["x", "x", "y", "y"]))
    score = CartesianProduct(["region", "stimulus_set"])(
        assembly, apply=_mean, aggregate=lambda values: values.mean("stimulus_set").max("region")
    )
    each = {region: VALUES[:, np.isin(assembly["region"].values, [region])].mean() for region in ("V4", "IT", "V1")}
    assert float(score) == pytest.approx(max(each.values()))
    assert score.attrs["raw"].sizes == {"stimulus_set": 2, "region": 3}


@pytest.mark.parametrize("level", [True, False])
def test_raw_values_are_put_together(level):
    """As published, raw values that know the divider keep it as a level, others get a dimension."""

    def apply(part):
        score = _mean(part)
        region = part["region"].values
        coords = {"stimulus_id": ("presentation", [f"{name}{region[0]}" for name in part["stimulus_id"].values])}
        if level:
            coords["region"] = ("presentation", [region[0]] * 4)
        score.attrs["raw"] = Score(part.values.mean(axis=1), coords=coords, dims=["presentation"])
        return score

    assembly = _assembly().isel(neuroid=slice(0, 5))
    raw = CartesianProduct(["region"])(assembly, apply=apply).attrs["raw"]
    if level:
        assert raw.dims == ("presentation",)
        assert raw["region"].values.tolist() == ["V4"] * 4 + ["IT"] * 4
        np.testing.assert_allclose(raw.values, np.r_[VALUES[:, :2].mean(axis=1), VALUES[:, 2:5].mean(axis=1)])
    else:
        assert raw.sizes == {"region": 2, "presentation": 8}


def test_division_says_what_does_not_fit():
    with pytest.raises(MetricInputError, match="no values of 'layer'") as caught:
        CartesianProduct(["layer"])(_assembly(), apply=_mean)
    assert "'stimulus_id'" in caught.value.remedy
    with pytest.raises(MetricInputError, match="no values of 'region'"):
        CartesianProduct(["region"])(_assembly().isel(neuroid=[]), apply=_mean)
    with pytest.raises(MetricInputError, match="dimension with the coordinate 'region' already"):
        CartesianProduct(["region"])(_assembly().isel(neuroid=slice(0, 5)), apply=lambda part: part)


def test_alignment_selects_and_sorts_both():
    source = _assembly().isel(presentation=[3, 1, 0, 2])
    target = _assembly().isel(presentation=[2, 0])
    parts = []

    def apply(one, other):
        parts.append((one, other))
        return Score(1.0)

    score = Alignment()(source.transpose("neuroid", "presentation"), target, apply=apply)
    ((one, other),) = parts
    assert one.dims == ("presentation", "neuroid")
    assert one["stimulus_id"].values.tolist() == other["stimulus_id"].values.tolist() == ["a", "c"]
    np.testing.assert_array_equal(one.values, VALUES[[0, 2]])
    assert float(score) == float(score.attrs["raw"]) == 1


def test_alignment_repeats_on_request():
    target = _assembly().isel(presentation=[1, 0, 1])
    aligned = Alignment(repeat=True).align(_assembly(), target)
    np.testing.assert_array_equal(aligned.values, VALUES[[1, 0, 1]])
    with pytest.raises(MetricInputError, match="different numbers of entries with 'stimulus_id' 'b'"):
        Alignment().align(_assembly(), target)
    with pytest.raises(MetricInputError, match="'stimulus_id' 'd'"):
        Alignment().align(_assembly().isel(presentation=[0, 1, 2]), _assembly())
    with pytest.raises(MetricInputError, match="lacks the dimensions 'time_bin'"):
        Alignment(order_dimensions=["time_bin"]).align(_assembly(), _assembly())
    with pytest.raises(MetricInputError, match="source has no coordinate 'image_id'"):
        Alignment(alignment_dim="image_id").align(_assembly(), _assembly())


def test_expand_makes_dimensions_of_scalars():
    one = _assembly().isel(neuroid=2)
    expanded = expand(one, ["presentation", "neuroid_id", "region", "unknown"])
    assert expanded.sizes == {"presentation": 4, "neuroid_id": 1, "region": 1}
    assert expanded["region"].values.tolist() == ["IT"]
    np.testing.assert_array_equal(expanded.values.squeeze(), VALUES[:, 2])
    named = DataAssembly([1, 2], coords={"split": [0, 1], "region_source": "IT"}, dims=["split"])
    assert expand(named, ["split", "region"]).dims == ("split", "region_source")
    with pytest.raises(MetricInputError, match="'neuroid', which are not among 'presentation'"):
        expand(_assembly(), ["presentation"])


def test_the_last_one_is_told():
    assert [done for _, _, done in enumerate_done(range(3))] == [False, False, True]
    assert list(enumerate_done(iter([]))) == []


def test_error_is_the_standard_error_of_a_mean():
    values = Score(np.random.default_rng(1).standard_normal((40, 30)), dims=["subject", "stimulus"])
    each = values.mean("stimulus").values
    error = bootstrap_error(values, ["subject"])
    assert error == pytest.approx(each.std() / np.sqrt(40), rel=0.1)
    assert error == bootstrap_error(values, "subject")
    both = bootstrap_error(values, ["subject", "stimulus"])
    assert both > error
    other = bootstrap_error(values, ["subject"], aggregate=lambda drawn: drawn.median(), n_bootstrap=100, seed=3)
    assert 0 < other != error
    assert np.isnan(bootstrap_error(values * np.nan, ["subject"], n_bootstrap=10))
    with pytest.raises(MetricInputError, match="no dimension 'image'"):
        bootstrap_error(values, ["image"])


def test_error_is_written_into_the_score():
    values = Score([0.1, 0.5, 0.4], dims=["subject"])
    score = attach_error(Score(1 / 3), values, ["subject"], n_bootstrap=200)
    assert score.attrs["error"] == bootstrap_error(values, ["subject"], n_bootstrap=200)
    assert score.attrs["error_over"] == ["subject"]
    assert score.attrs["n_bootstrap"] == 200
    assert score.attrs["raw"] is values
    assert "only the error was resampled" in score.attrs["ci_reason"]
    none = declare_no_error(Score(1.0), "one comparison")
    assert np.isnan(none.attrs["error"])
    assert none.attrs["error_nan_reason"] == none.attrs["error_reason"] == "one comparison"
