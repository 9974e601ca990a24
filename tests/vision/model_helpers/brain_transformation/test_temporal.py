import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_vision.model_helpers.brain_transformation.temporal import (
    assembly_time_align,
    checked_time_bins,
    fix_timebin_naming,
    in_time_bins,
    time_align,
)


def assembly_of(values, bins, **attrs):
    values = np.asarray(values)
    coords = {
        "stimulus_id": ("presentation", [f"s{row}" for row in range(values.shape[0])]),
        "image_label": ("presentation", ["x"] * values.shape[0]),
        "neuroid_id": ("neuroid", list(range(values.shape[1]))),
        "layer": ("neuroid", ["l"] * values.shape[1]),
        "time_bin_start": ("time_bin", [start for start, _ in bins]),
        "time_bin_end": ("time_bin", [end for _, end in bins]),
    }
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid", "time_bin"], attrs=attrs)


def test_bins_are_averaged_by_the_share_that_lies_in_them():
    rng = np.random.default_rng(0)
    source = [(0, 40), (40, 100), (100, 130)]
    values = rng.standard_normal((4, 3, 3)).astype(np.float32)
    aligned = assembly_time_align(assembly_of(values, source, kept=1), [(20, 70), (0, 130), (100, 130)])
    # shares of the source bins: half of 40 ms and half of 60 ms; all of each; the last alone
    expected = [
        (0.5 * values[..., 0] + 0.5 * values[..., 1]) / 1.0,
        values.mean(axis=-1),
        values[..., 2],
    ]
    np.testing.assert_allclose(aligned.values, np.stack(expected, axis=-1), rtol=1e-5)
    assert aligned.dtype == np.float32
    assert aligned.attrs == {"kept": 1}
    assert aligned["time_bin_end"].values.tolist() == [70, 130, 130]
    assert aligned.sel(time_bin_start=100).shape == (4, 3, 1)
    assert aligned["layer"].values.tolist() == ["l"] * 3


def test_weights():
    assert time_align([(0, 100), (100, 200), (200, 300)], [(0, 50), (250, 300)]).tolist() == [[0.5, 0, 0], [0, 0, 0.5]]
    weights = time_align([(0, 100), (100, 200), (200, 300)], [(0, 50), (250, 300)], mode="center")
    assert weights.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert time_align([(100, 200), (0, 100)], [(50, 150)]).tolist() == [[0.5, 0.5]]  # in any order
    with pytest.raises(ValueError, match="mode"):
        time_align([(0, 1)], [(0, 1)], mode="nearest")


@pytest.mark.parametrize("target", [(-10, 50), (150, 250), (300, 400)])
def test_what_is_not_covered_is_refused(target):
    with pytest.raises(UserError, match="do not cover"):
        assembly_time_align(assembly_of(np.zeros((1, 1, 2)), [(0, 100), (100, 200)]), [target])


def test_gaps_are_not_covered():
    gapped = assembly_of(np.zeros((1, 1, 2)), [(0, 100), (150, 200)])
    with pytest.raises(UserError, match="50–170 ms"):
        assembly_time_align(gapped, [(50, 170)])
    assert assembly_time_align(gapped, [(150, 200)]).shape == (1, 1, 1)


def test_whole_numbers_are_not_cut():
    aligned = assembly_time_align(assembly_of(np.array([[[1, 2]]]), [(0, 100), (100, 200)]), [(0, 200)])
    assert aligned.values.tolist() == [[[1.5]]]


def test_an_assembly_without_time():
    static = assembly_of(np.zeros((2, 3, 1)), [(0, 1)]).isel(time_bin=0, drop=True)
    with pytest.raises(UserError, match="time_bin"):
        assembly_time_align(static, [(0, 1)])


def test_static_responses_are_repeated_without_a_copy():
    static = assembly_of(np.arange(6.0).reshape(2, 3, 1), [(0, 1)], a=1).isel(time_bin=0, drop=True)
    static.attrs["a"] = 1
    repeated = in_time_bins(static, [(0, 50), (50, 100), (100, 150)])
    assert np.shares_memory(repeated.values, static.values)
    assert not repeated.values.flags.writeable
    assert (repeated.values == static.values[..., np.newaxis]).all()
    assert repeated["time_bin_start"].values.tolist() == [0, 50, 100]
    assert repeated.attrs == {"a": 1}
    assert in_time_bins(static, [(70, 170)]).dims == ("presentation", "neuroid")
    assert in_time_bins(static, None) is static


def test_level_names_of_other_versions():
    named = DataAssembly(
        np.zeros((1, 2)),
        coords={
            "stimulus_id": ("presentation", ["a"]),
            "time_bin_level_0": ("time_bin", [0, 10]),
            "time_bin_level_1": ("time_bin", [10, 20]),
        },
        dims=["presentation", "time_bin"],
        attrs={"kept": True},
    )
    fixed = fix_timebin_naming(named)
    assert fixed["time_bin_start"].values.tolist() == [0, 10]
    assert fixed["time_bin_end"].values.tolist() == [10, 20]
    assert "time_bin_level_0" not in fixed.coords
    assert fixed.attrs == {"kept": True}


@pytest.mark.parametrize("wrong", [[], [70, 170], [(170, 70)], [(1, 2, 3)], 5])
def test_what_are_no_time_bins(wrong):
    with pytest.raises(UserError, match="time_bins"):
        checked_time_bins(wrong)
