import numpy as np
import pytest
import xarray as xr

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_vision.benchmark_helpers.neural_common import (
    apply_keep_attrs,
    filter_reliable_neuroids,
    flatten_timebins_into_neuroids,
    temporally_varying,
    timebins_from_assembly,
)

BINS = [(70, 80), (80, 100), (100, 130)]


@pytest.fixture
def assembly():
    return NeuroidAssembly(
        np.arange(2 * 4 * 3.0).reshape(2, 4, 3),
        coords={
            "stimulus_id": ("presentation", ["a", "b"]),
            "repetition": ("presentation", [0, 0]),
            "neuroid_id": ("neuroid", ["n0", "n1", "n2", "n3"]),
            "subject": ("neuroid", ["f", "f", "n", "n"]),
            "reliability": ("neuroid", [0.3, 0.8, np.nan, 0.31]),
            "time_bin_start": ("time_bin", [start for start, _ in BINS]),
            "time_bin_end": ("time_bin", [end for _, end in BINS]),
        },
        dims=["presentation", "neuroid", "time_bin"],
        attrs={"identifier": "Author2024"},
    )


class TestFilterReliableNeuroids:
    def test_keeps_what_is_above_the_threshold(self, assembly):
        filtered = filter_reliable_neuroids(assembly, 0.3, "reliability")
        assert filtered["neuroid_id"].values.tolist() == ["n1", "n3"]
        np.testing.assert_array_equal(filtered.values, assembly.values[:, [1, 3]])
        assert type(filtered) is NeuroidAssembly
        assert filtered.dims == assembly.dims
        assert filtered.attrs == {"identifier": "Author2024"}

    def test_an_unknown_coordinate_is_named(self, assembly):
        with pytest.raises(UserError, match=r"no coordinate 'oracle'(.|\n)*reliability"):
            filter_reliable_neuroids(assembly, 0.3, "oracle")
        with pytest.raises(UserError, match="no coordinate 'repetition' along 'neuroid'"):
            filter_reliable_neuroids(assembly, 0.3, "repetition")

    def test_nothing_left_is_an_error(self, assembly):
        with pytest.raises(UserError, match=r"none of 4 neuroids(.|\n)*greatest is 0\.8"):
            filter_reliable_neuroids(assembly, 0.9, "reliability")


class TestFlattenTimebins:
    def test_each_time_is_a_neuroid(self, assembly):
        flat = flatten_timebins_into_neuroids(assembly)
        assert flat.dims == assembly.dims
        assert flat.shape == (2, 12, 1)
        for neuroid in range(4):
            for number, (start, _) in enumerate(BINS):
                column = flat.isel(neuroid=3 * neuroid + number, time_bin=0)
                np.testing.assert_array_equal(column.values, assembly.values[:, neuroid, number])
                assert column["neuroid_id"].item() == f"n{neuroid}"
                assert column["recording_time"].item() == start
        assert timebins_from_assembly(flat) == [(70, 130)]
        assert flat["stimulus_id"].values.tolist() == ["a", "b"]
        assert flat["subject"].values.tolist() == ["f"] * 6 + ["n"] * 6
        assert flat.attrs == {"identifier": "Author2024"}

    def test_other_dimensions_are_refused(self, assembly):
        with pytest.raises(UserError, match="neuroid × presentation × time_bin"):
            flatten_timebins_into_neuroids(assembly.transpose("neuroid", "presentation", "time_bin"))

    def test_time_bins_must_be_named(self, assembly):
        with pytest.raises(UserError, match="time bins not found"):
            flatten_timebins_into_neuroids(assembly.drop_vars(["time_bin_start", "time_bin_end"]))


class TestTimebins:
    def test_several(self, assembly):
        assert timebins_from_assembly(assembly) == BINS
        assert all(type(number) is int for number in timebins_from_assembly(assembly)[0])

    def test_a_selected_one(self, assembly):
        assert timebins_from_assembly(assembly.isel(time_bin=1)) == [(80, 100)]
        assert timebins_from_assembly(assembly.isel(time_bin=[1]).squeeze("time_bin")) == [(80, 100)]

    def test_fractions_stay(self, assembly):
        assembly["time_bin_start"] = "time_bin", [0.5, 1.0, 2.0]
        assert timebins_from_assembly(assembly)[0] == (0.5, 80)

    def test_pairs_of_a_plain_array(self):
        pairs = np.empty(2, dtype=object)
        pairs[:] = [(70, 170), (170, 270)]
        array = xr.DataArray([1.0, 2.0], dims=["time_bin"], coords={"time_bin": pairs})
        assert timebins_from_assembly(array) == [(70, 170), (170, 270)]

    def test_none_is_an_error(self, assembly):
        with pytest.raises(UserError, match=r"time bins not found(.|\n)*'time_bin_start'"):
            timebins_from_assembly(assembly.isel(time_bin=0, drop=True))


class TestTemporallyVarying:
    @pytest.mark.parametrize("dims", [("presentation", "neuroid", "time_bin"), ("time_bin", "presentation", "neuroid")])
    def test_a_single_change_counts(self, dims):
        values = np.ones((2, 3, 4))
        assert temporally_varying(DataAssembly(values, dims=["presentation", "neuroid", "time_bin"])) is False
        values[1, 2, 3] = 1.5
        changed = DataAssembly(values, dims=["presentation", "neuroid", "time_bin"]).transpose(*dims)
        assert temporally_varying(changed) is True

    def test_missing_values_that_stay_missing_are_no_change(self):
        values = np.ones((1, 2, 3))
        values[0, 1] = np.nan
        recorded = DataAssembly(values, dims=["presentation", "neuroid", "time_bin"])
        assert not temporally_varying(recorded)
        recorded.values[0, 1, 2] = 0.0
        assert temporally_varying(recorded)

    def test_without_time_nothing_varies(self, assembly):
        assert temporally_varying(assembly)
        assert not temporally_varying(assembly.isel(time_bin=[0]))
        assert not temporally_varying(assembly.isel(time_bin=0))


def test_attributes_are_kept(assembly):
    stimuli = object()
    assembly.attrs["stimulus_set"] = stimuli

    def change(one):
        one = one * 2
        one.attrs = {"other": 1}
        return one

    result = apply_keep_attrs(assembly, change)
    assert result.attrs == {"identifier": "Author2024", "stimulus_set": stimuli}
    np.testing.assert_array_equal(result.values, 2 * assembly.values)
