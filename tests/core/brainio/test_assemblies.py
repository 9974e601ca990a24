import copy
import pickle
import time

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.supported_data_standards.brainio import assemblies
from brainscore_core.supported_data_standards.brainio.assemblies import (
    ASSEMBLY_CLASSES,
    BehavioralAssembly,
    DataAssembly,
    MetadataAssembly,
    ModelFeaturesAssembly,
    NeuroidAssembly,
    NeuronRecordingAssembly,
    PropertiesAssembly,
    PropertyAssembly,
    SpikeTimesAssembly,
    array_is_element,
    coords_for_dim,
    gather_indexes,
    get_levels,
    get_metadata,
    merge_data_arrays,
    walk_coords,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

LEVELS = {"stimulus_id", "repetition", "category", "neuroid_id", "region", "time_bin_start", "time_bin_end"}


def recordings(cls=NeuroidAssembly, **kwargs):
    values = np.arange(6 * 4 * 2, dtype=float).reshape(6, 4, 2)
    return cls(
        values,
        coords={
            "stimulus_id": ("presentation", ["b", "b", "a", "a", "c", "c"]),
            "repetition": ("presentation", [0, 1, 0, 1, 0, 1]),
            "category": ("presentation", ["x", "x", "y", "y", "x", "x"]),
            "neuroid_id": ("neuroid", [10, 11, 12, 13]),
            "region": ("neuroid", ["V4", "IT", "IT", "V4"]),
            "time_bin_start": ("time_bin", [0, 70]),
            "time_bin_end": ("time_bin", [70, 170]),
        },
        dims=["presentation", "neuroid", "time_bin"],
        **kwargs,
    )


def with_stimuli(assembly):
    stimuli = StimulusSet([{"stimulus_id": name} for name in "abc"])
    stimuli.identifier = "Letters"
    assembly.attrs["stimulus_set"] = stimuli
    return assembly


def values_of(assembly, level):
    return assembly[level].values.tolist()


class TestConstruction:
    def test_every_coordinate_is_a_level(self):
        assembly = recordings()
        assert set(get_levels(assembly)) == LEVELS
        assert set(assembly.indexes["presentation"].names) == {"stimulus_id", "repetition", "category"}
        assert assembly.dims == ("presentation", "neuroid", "time_bin")

    def test_levels_are_listed_as_they_were_written(self):
        assert get_levels(recordings())[:3] == ["stimulus_id", "repetition", "category"]

    def test_single_coordinate_keeps_its_name(self):
        assembly = DataAssembly([1, 2], coords={"stimulus_id": ("presentation", ["a", "b"])}, dims=["presentation"])
        assert assembly.dims == ("presentation",)
        assert values_of(assembly, "stimulus_id") == ["a", "b"]
        assert get_levels(assembly) == ["stimulus_id"]
        assert assembly.indexes["presentation"].names == ["stimulus_id"]

    def test_coordinate_called_like_its_dimension(self):
        assembly = BehavioralAssembly(
            np.eye(3),
            coords={"stimulus_id": ("presentation", list("abc")), "choice": ("choice", ["A", "B", "C"])},
            dims=["presentation", "choice"],
        )
        assert values_of(assembly, "choice") == ["A", "B", "C"]
        assert get_levels(assembly) == ["stimulus_id", "choice"]
        assert assembly.sel(choice="B").dims == ("presentation",)
        assert assembly.sel(stimulus_id="b", choice="B").values.tolist() == [1.0]

    def test_dimension_name_beside_other_coordinates(self):
        assembly = DataAssembly(
            [1, 2, 3], coords={"choice": ("choice", list("ABC")), "group": ("choice", [0, 0, 1])}, dims=["choice"]
        )
        assert set(get_levels(assembly)) == {"choice", "group"}
        assert assembly.sel(group=0).values.tolist() == [1, 2]
        assert assembly.sel(choice="C").item() == 3

    def test_from_assembly_keeps_everything(self):
        assembly = recordings(name="n", attrs={"a": 1})
        again = NeuronRecordingAssembly(assembly)
        assert type(again) is NeuronRecordingAssembly
        assert (again.name, again.attrs) == ("n", {"a": 1})
        assert again.equals(assembly)
        assert set(get_levels(again)) == LEVELS

    def test_from_plain_array_with_loose_coordinates(self):
        plain = xr.DataArray([1, 2], coords={"s": ("p", ["a", "b"]), "r": ("p", [0, 1])}, dims=["p"])
        assert DataAssembly(plain).indexes["p"].names == ["r", "s"]

    def test_from_coords_of_another(self):
        assembly = recordings()
        for coords in (
            assembly.coords,
            dict(assembly.coords),
            {name: (dims, values) for name, dims, values in walk_coords(assembly)},
            {name: assembly[name] for name in get_levels(assembly)},
            {name: (assembly[name].dims, assembly[name]) for name in get_levels(assembly)},
        ):
            again = NeuroidAssembly(assembly.values, coords=coords, dims=assembly.dims)
            assert again.identical(assembly)

    def test_one_level_of_another_brings_no_siblings(self):
        assembly = recordings()
        again = DataAssembly(np.zeros(4), coords={"region": assembly["region"]}, dims=["neuroid"])
        assert get_levels(again) == ["region"]

    def test_from_multi_index(self):
        index = pd.MultiIndex.from_arrays([["a", "b"], [1, 2]], names=["s", "r"])
        assert set(get_levels(DataAssembly([1, 2], coords={"p": index}, dims=["p"]))) == {"s", "r"}
        assert values_of(DataAssembly([1, 2], coords={"p": ("p", index)}, dims=["p"]), "s") == ["a", "b"]
        assert values_of(DataAssembly(pd.Series([1, 2], index=index)), "s") == ["a", "b"]

    def test_scalar(self):
        assert DataAssembly(3.5).item() == 3.5
        assert DataAssembly(3.5, coords={"metric": "pls"})["metric"].item() == "pls"
        assert np.isnan(DataAssembly().item())

    def test_pandas_strings_become_objects(self):
        column = pd.Series(["a", None], dtype="string")
        assembly = DataAssembly([1, 2], coords={"s": ("p", column), "t": ("p", pd.Index(["u", "v"]))}, dims=["p"])
        assert assembly["s"].dtype == object
        assert assembly["t"].dtype == object
        assert assembly["s"].values[0] == "a"
        assert pd.isna(assembly["s"].values[1])

    def test_dtypes_are_kept(self):
        values = {
            "i": np.array([1, 2], dtype=np.int16),
            "f": np.array([0.5, np.nan], dtype=np.float32),
            "b": np.array([True, False]),
            "d": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]"),
        }
        assembly = DataAssembly([1, 2], coords={name: ("p", column) for name, column in values.items()}, dims=["p"])
        for name, column in values.items():
            assert assembly[name].dtype == column.dtype
            np.testing.assert_array_equal(assembly[name].values, column)

    def test_missing_values_stay_missing(self):
        columns = {"truth": [True, None, False], "whole": [1, None, 3], "text": ["", None, "None"]}
        coords = {name: ("p", np.array(values, dtype=object)) for name, values in columns.items()}
        assembly = DataAssembly([1, 2, 3], coords=coords, dims=["p"])
        for again in (assembly, assembly.isel(p=[0, 1, 2]), xr.concat([assembly[:1], assembly[1:]], dim="p")):
            for name, values in columns.items():
                assert pd.isna(again[name].values).tolist() == [False, True, False]
                assert [again[name].values[i] for i in (0, 2)] == [values[0], values[2]]

    def test_half_precision_levels(self):
        assembly = DataAssembly([1, 2], coords={"x": ("p", np.array([0.5, 1.5], dtype=np.float16))}, dims=["p"])
        assert assembly.sel(x=0.5).values.tolist() == [1]

    def test_order_of_coordinates_does_not_matter(self):
        one = DataAssembly([1, 2], coords={"a": ("p", [1, 2]), "b": ("p", [3, 4])}, dims=["p"])
        two = DataAssembly([1, 2], coords={"b": ("p", [3, 4]), "a": ("p", [1, 2])}, dims=["p"])
        assert one.identical(two)
        assert (one + two).values.tolist() == [2, 4]
        assert xr.concat([one, two], dim="p").sizes["p"] == 4
        assert values_of(xr.concat([one, two], dim="p"), "a") == [1, 2, 1, 2]

    def test_time_bins_are_start_and_end(self):
        assembly = recordings()
        assert list(assembly["time_bin"].values) == [(0, 70), (70, 170)]
        early = assembly.sel(time_bin=(0, 70))
        assert early.dims == ("presentation", "neuroid")
        assert early["time_bin_end"].item() == 70
        assert "time_bin" not in early.coords

    def test_wrong_length(self):
        with pytest.raises(ValueError, match=r"presentation"):
            DataAssembly([1, 2], coords={"s": ("presentation", ["a"])}, dims=["presentation"])

    def test_unhashable_values_are_named(self):
        column = np.empty(2, dtype=object)
        column[:] = [[1], [2]]
        with pytest.raises(TypeError, match="coordinate 'boxes' contains a list"):
            DataAssembly([1, 2], coords={"boxes": ("p", column), "s": ("p", ["a", "b"])}, dims=["p"])

    def test_source_is_left_alone(self):
        plain = xr.DataArray([1, 2], coords={"s": ("p", ["a", "b"])}, dims=["p"], attrs={"k": 1})
        before = plain.copy(deep=True)
        made = DataAssembly(plain)
        made.attrs["k"] = 2
        made["t"] = ("p", [1, 2])
        assert plain.identical(before)


class TestClasses:
    @pytest.mark.parametrize("dims", [["presentation", "neuroid"], ["neuroid", "presentation", "time_bin"]])
    @pytest.mark.parametrize("cls", [NeuroidAssembly, NeuronRecordingAssembly, ModelFeaturesAssembly])
    def test_neuroid_dims(self, cls, dims):
        assert cls(np.zeros([2] * len(dims)), dims=dims).dims == tuple(dims)

    @pytest.mark.parametrize("dims", [["presentation"], ["presentation", "unit"], ["presentation", "time_bin"]])
    def test_wrong_neuroid_dims(self, dims):
        intermediate = NeuroidAssembly(np.zeros([2] * len(dims)), dims=dims)
        with pytest.raises(ValueError, match=r"presentation × neuroid × time_bin") as error:
            intermediate.validate()
        assert f"the dimensions are {' × '.join(dims)}, but" in str(error.value)

    @pytest.mark.parametrize("cls", [MetadataAssembly, SpikeTimesAssembly])
    def test_event_dims(self, cls):
        assert cls([1.0], dims=["event"]).dims == ("event",)
        with pytest.raises(ValueError, match="event"):
            cls([1.0], dims=["presentation"]).validate()

    def test_behaviour_is_free(self):
        assert BehavioralAssembly([["dog"]], dims=["anything", "else"]).shape == (1, 1)

    def test_aliases(self):
        assert PropertiesAssembly is PropertyAssembly
        assert ASSEMBLY_CLASSES["PropertiesAssembly"] is PropertyAssembly
        assert all(issubclass(cls, DataAssembly) for cls in ASSEMBLY_CLASSES.values())

    def test_validate_after_a_change(self):
        reduced = recordings().mean("neuroid")
        with pytest.raises(ValueError, match="NeuroidAssembly"):
            reduced.validate()

    def test_public_names_exist(self):
        assert all(hasattr(assemblies, name) for name in assemblies.__all__)


class TestIdentity:
    def test_identifier(self):
        assembly = recordings(name="short")
        assert assembly.identifier == "short"
        assembly.attrs["identifier"] = "MyExperiment2024"
        assert assembly.identifier == "MyExperiment2024"
        assert recordings().identifier is None

    def test_stimulus_set(self):
        assembly = recordings()
        assert not hasattr(assembly, "stimulus_set")
        with_stimuli(assembly)
        assert assembly.stimulus_set.identifier == "Letters"
        assembly.stimulus_set = None
        assert assembly.attrs["stimulus_set"] is None

    def test_attribute_access(self):
        assembly = recordings(attrs={"sampling_rate": 1000})
        assert assembly.sampling_rate == 1000
        assert assembly.region.values.tolist() == ["V4", "IT", "IT", "V4"]


class TestSel:
    def test_level_keeps_dim_and_levels(self):
        selected = recordings().sel(region="IT")
        assert type(selected) is NeuroidAssembly
        assert selected.dims == ("presentation", "neuroid", "time_bin")
        assert set(get_levels(selected)) == LEVELS
        assert values_of(selected, "neuroid_id") == [11, 12]
        assert values_of(selected, "region") == ["IT", "IT"]

    def test_also_where_one_entry_is_left(self):
        selected = recordings().sel(neuroid_id=10)
        assert selected.shape == (6, 1, 2)
        assert values_of(selected, "region") == ["V4"]

    def test_single_level(self):
        assembly = DataAssembly([1, 2], coords={"s": ("p", ["a", "b"])}, dims=["p"])
        assert assembly.sel(s="b").values.tolist() == [2]
        assert assembly.sel(p="b").values.tolist() == [2]

    def test_several_levels_at_once(self):
        selected = recordings().sel(region="IT", stimulus_id="a", repetition=1, time_bin_start=70)
        assert selected.shape == (1, 2, 1)
        assert selected.values.ravel().tolist() == [3 * 8 + 1 * 2 + 1, 3 * 8 + 2 * 2 + 1]

    def test_list_in_wanted_order(self):
        selected = recordings().sel(stimulus_id=["c", "b"])
        assert values_of(selected, "stimulus_id") == ["c", "c", "b", "b"]
        assert values_of(selected, "repetition") == [0, 1, 0, 1]
        selected = recordings().sel(stimulus_id=np.array(["c", "b"]), repetition=[1, 0])
        assert values_of(selected, "stimulus_id") == ["c", "c", "b", "b"]
        assert values_of(selected, "repetition") == [1, 0, 1, 0]

    def test_set_in_the_arrays_order(self):
        assert values_of(recordings().sel(stimulus_id={"c", "b"}), "stimulus_id") == ["b", "b", "c", "c"]
        with pytest.raises(KeyError, match="'z'"):
            recordings().sel(stimulus_id={"c", "z"})

    def test_values_out_of_arrays(self):
        for value in (xr.DataArray("a"), np.array("a"), np.str_("a"), recordings()["stimulus_id"][2]):
            assert recordings().sel(stimulus_id=value).sizes["presentation"] == 2

    def test_many_values(self):
        ids = np.arange(50_000)
        assembly = DataAssembly(ids, coords={"i": ("p", ids), "j": ("p", ids % 7)}, dims=["p"])
        start = time.process_time()
        assert assembly.sel(i=ids[::-1]).values[0] == 49_999
        assert time.process_time() - start < 5  # looking for each in turn takes minutes

    def test_slice_of_values(self):
        assert values_of(recordings().sel(neuroid_id=slice(11, 12)), "neuroid_id") == [11, 12]
        assert values_of(recordings().sel(stimulus_id=slice("b", None)), "stimulus_id") == ["b", "b", "c", "c"]
        assert recordings().sel(neuroid_id=slice(100, None)).shape == (6, 0, 2)
        with pytest.raises(TypeError, match="region"):
            recordings().sel(region=slice(1, 2))

    def test_boolean(self):
        assembly = recordings()
        for mask in (assembly["region"] == "IT", (assembly["region"] == "IT").values, [False, True, True, False]):
            selected = assembly.sel(neuroid=mask)
            assert values_of(selected, "neuroid_id") == [11, 12]
            assert type(selected) is NeuroidAssembly
        assert values_of(assembly.sel(region=[False, True, True, False]), "neuroid_id") == [11, 12]
        assert values_of(assembly[:, assembly["region"] == "IT"], "neuroid_id") == [11, 12]
        assert values_of(assembly[{"neuroid": (assembly["region"] == "IT").values}], "neuroid_id") == [11, 12]

    def test_boolean_level(self):
        assembly = DataAssembly(
            [1, 2, 3], coords={"ok": ("p", [True, False, True]), "s": ("p", list("abc"))}, dims=["p"]
        )
        assert assembly.sel(ok=True).values.tolist() == [1, 3]
        assert assembly.sel(ok=[False, True, True]).values.tolist() == [2, 1, 3, 1, 3]

    def test_mixed_with_dimensions(self):
        assembly = recordings()
        selected = assembly.sel(presentation=(assembly["category"] == "x").values, region="V4", repetition=0)
        assert values_of(selected, "stimulus_id") == ["b", "c"]
        assert assembly.sel({"region": "V4"}).sizes["neuroid"] == 2
        assert assembly.loc[{"region": "V4"}].sizes["neuroid"] == 2
        assert assembly.multisel(region="V4", repetition=0).shape == (3, 2, 2)

    def test_by_parts_of_the_index(self):
        assembly = recordings()
        assert assembly.sel(neuroid={"region": "IT"}).sizes["neuroid"] == 2
        assert assembly.sel(neuroid=(10,)).sizes["neuroid"] == 1
        assert assembly.sel(neuroid=(10, "V4")).dims == ("presentation", "time_bin")

    def test_missing_value(self):
        assembly = DataAssembly(
            [1, 2, 3], coords={"x": ("p", [1.0, np.nan, 2.0]), "s": ("p", ["a", None, "a"])}, dims=["p"]
        )
        assert assembly.sel(x=np.nan).values.tolist() == [2]
        assert assembly.sel(s="a").values.tolist() == [1, 3]
        assert assembly.sel(s=[None, "a"]).values.tolist() == [2, 1, 3]

    def test_unknown_level(self):
        with pytest.raises(KeyError, match="regoin") as error:
            recordings().sel(regoin="IT")
        assert "did you mean 'region'?" in str(error.value)
        assert "'stimulus_id'" in str(error.value)

    @pytest.mark.parametrize("wanted", ["ITT", ["IT", "ITT"]])
    def test_unknown_value(self, wanted):
        with pytest.raises(KeyError, match="'region' has no value 'ITT'") as error:
            recordings().sel(region=wanted)
        assert "'V4', 'IT'" in str(error.value)

    def test_value_that_is_no_longer_there(self):
        with pytest.raises(KeyError, match="available: 'IT'"):
            recordings().sel(region="IT").sel(region="V4")

    def test_combination_that_does_not_occur(self):
        with pytest.raises(KeyError, match="neuroid_id=10 and region='IT'"):
            recordings().sel(neuroid_id=10, region="IT")

    def test_method_is_for_dimensions_only(self):
        with pytest.raises(ValueError, match="time_bin_start"):
            recordings().sel(time_bin_start=69, method="nearest")
        plain = DataAssembly([1, 2], coords={"t": ("t", [0.0, 1.0])}, dims=["t"])
        assert plain.sel(t=0.9, method="nearest").item() == 2

    def test_scalar_coordinate(self):
        early = recordings().isel(time_bin=0)
        assert early.sel(time_bin_start=0, region="IT").shape == (6, 2)
        with pytest.raises(KeyError, match="time_bin_start"):
            early.sel(time_bin_start=70)

    def test_empty(self):
        empty = recordings().isel(presentation=[])
        assert empty.shape == (0, 4, 2)
        assert set(get_levels(empty)) == LEVELS
        assert empty.sel(region="IT").shape == (0, 2, 2)
        assert empty.sel(presentation=empty["repetition"] == 0).shape == (0, 4, 2)
        assert empty.mean(dim="repetition").shape == (0, 4, 2)
        assert empty.sortby("stimulus_id").shape == (0, 4, 2)
        assert DataAssembly(np.zeros((0, 2)), coords={"s": ("p", [])}, dims=["p", "q"]).sizes["p"] == 0

    @given(st.data())
    def test_as_pandas_does(self, data):
        size = data.draw(st.integers(1, 12))
        frame = pd.DataFrame({
            "s": data.draw(st.lists(st.sampled_from(["a", "b", "", "ä"]), min_size=size, max_size=size)),
            "i": data.draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size)),
            "f": data.draw(st.lists(st.sampled_from([0.5, np.nan, -1.0]), min_size=size, max_size=size)),
        })  # fmt: skip
        assembly = DataAssembly(np.arange(size), coords={name: ("p", frame[name]) for name in frame}, dims=["p"])
        s, i = data.draw(st.sampled_from(sorted(set(frame["s"])))), data.draw(st.integers(-3, 3))
        expected = frame.index[frame["s"] == s].tolist()
        assert assembly.sel(s=s).values.tolist() == expected
        expected = frame.index[frame["i"].between(i, i + 1)].tolist()
        assert assembly.sel(i=slice(i, i + 1)).values.tolist() == expected
        wanted = data.draw(st.permutations(sorted(set(frame["i"]))))
        assert assembly.sel(i=wanted).values.tolist() == [k for one in wanted for k in frame.index[frame["i"] == one]]
        ordered = frame.sort_values(["s", "f", "i"], kind="stable").index.tolist()
        assert assembly.sortby(["s", "f", "i"]).values.tolist() == ordered


class TestReductions:
    def test_mean_over_repetitions(self):
        assembly = with_stimuli(recordings())
        averaged = assembly.mean(dim="repetition")
        assert type(averaged) is NeuroidAssembly
        assert averaged.dims == assembly.dims
        assert values_of(averaged, "stimulus_id") == ["a", "b", "c"]  # sorted, as folds depend on the order
        assert values_of(averaged, "category") == ["y", "x", "x"]
        assert set(get_levels(averaged)) == LEVELS - {"repetition"}
        np.testing.assert_allclose(averaged.values, assembly.values.reshape(3, 2, 4, 2).mean(axis=1)[[1, 0, 2]])
        assert averaged.stimulus_set is assembly.stimulus_set

    def test_dimension_order_is_kept(self):
        assembly = recordings().transpose("neuroid", "time_bin", "presentation")
        averaged = assembly.mean("repetition")
        assert averaged.dims == assembly.dims
        np.testing.assert_allclose(averaged.values, recordings().mean("repetition").transpose(*assembly.dims).values)

    def test_real_dimension(self):
        assembly = DataAssembly(
            np.arange(6.0).reshape(2, 3),
            coords={"s": ("presentation", ["a", "b"])},
            dims=["presentation", "repetition"],
        )
        assert assembly.mean(dim="repetition").values.tolist() == [1, 4]

    def test_unequal_numbers(self):
        assembly = DataAssembly(
            [1.0, 2.0, 4.0, 6.0],
            coords={"s": ("p", ["a", "b", "a", "a"]), "repetition": ("p", [0, 0, 1, 2])},
            dims=["p"],
        )
        np.testing.assert_allclose(assembly.mean("repetition").values, [11 / 3, 2])
        np.testing.assert_allclose(assembly.median("repetition").values, [4, 2])
        np.testing.assert_allclose(assembly.sum("repetition").values, [11, 2])
        np.testing.assert_allclose(assembly.std("repetition", ddof=0).values, [np.std([1, 4, 6]), 0])
        assert assembly.count("repetition").values.tolist() == [3, 1]

    def test_generators_of_dimensions(self):
        assembly = DataAssembly(
            [[1.0, 0.0], [0.0, 0.0]], coords={"a": ("p", [1, 2]), "b": ("n", [1, 2])}, dims=["p", "n"]
        )
        assert (assembly > 0).any(dim=(dim for dim in ["p"])).values.tolist() == [True, False]
        assert assembly.where(assembly > 0, drop=True).values.tolist() == [[1.0]]

    def test_missing_values_in_levels_drop_nothing(self):
        assembly = DataAssembly(
            [1.0, 3.0, 5.0, 7.0],
            coords={
                "s": ("p", ["a", "a", None, None]),
                "size": ("p", [np.nan, np.nan, 2.0, 2.0]),
                "repetition": ("p", [0, 1, 0, 1]),
            },
            dims=["p"],
        )
        averaged = assembly.mean("repetition")
        assert averaged.values.tolist() == [2, 6]
        assert np.isnan(averaged["size"].values[0])

    def test_skipna(self):
        assembly = DataAssembly(
            [1.0, np.nan, np.nan, np.nan],
            coords={"s": ("p", list("aabb")), "repetition": ("p", [0, 1, 0, 1])},
            dims=["p"],
        )
        np.testing.assert_array_equal(assembly.mean("repetition").values, [1, np.nan])
        np.testing.assert_array_equal(assembly.mean("repetition", skipna=False).values, [np.nan, np.nan])

    def test_only_level(self):
        assembly = DataAssembly([1.0, 3.0], coords={"repetition": ("p", [0, 1])}, dims=["p"])
        assert assembly.mean("repetition").item() == 2

    def test_level_and_dimension_together(self):
        assembly = recordings()
        expected = assembly.values.reshape(3, 2, 4, 2).mean(axis=(1, 2))[[1, 0, 2]]
        np.testing.assert_allclose(assembly.mean(["repetition", "neuroid"]).values, expected)
        np.testing.assert_allclose(assembly.mean(["repetition", "presentation"]).values, assembly.mean("presentation"))
        averaged = assembly.mean(["repetition", "stimulus_id"])
        assert values_of(averaged, "category") == ["x", "y"]

    def test_levels_of_several_dimensions(self):
        with pytest.raises(ValueError, match="several dimensions"):
            recordings().mean(["repetition", "region"])

    def test_unknown(self):
        with pytest.raises(ValueError, match="'repetition'"):
            recordings().mean("repetitoin")

    def test_shape_keeping_function(self):
        with pytest.raises(ValueError, match="groups can only be reduced"):
            recordings().cumsum("repetition")

    def test_plain_reductions_keep_class_and_attributes(self):
        assembly = with_stimuli(recordings())
        reduced = assembly.median(dim="neuroid")
        assert type(reduced) is NeuroidAssembly
        assert reduced.stimulus_set is assembly.stimulus_set
        assert "repetition" in get_levels(reduced)
        assert assembly.mean("repetition", keep_attrs=False).attrs == {}
        with xr.set_options(keep_attrs=False):
            assert assembly.mean("neuroid").attrs == {}
        assert assembly.mean().item() == assembly.values.mean()
        assert assembly.mean(...).item() == assembly.values.mean()

    def test_large_is_fast(self):
        rng = np.random.default_rng(0)
        assembly = DataAssembly(
            rng.normal(size=(5_000, 168)),
            coords={
                "stimulus_id": ("presentation", [f"s{i % 1000}" for i in range(5_000)]),
                "repetition": ("presentation", np.arange(5_000) // 1000),
                "neuroid_id": ("neuroid", np.arange(168)),
            },
            dims=["presentation", "neuroid"],
        )
        start = time.process_time()
        averaged = assembly.mean("repetition")
        assert time.process_time() - start < 1  # some ms; seconds would mean a loop over groups
        in_order = np.argsort([f"s{i}" for i in range(1000)])
        np.testing.assert_allclose(averaged.values, assembly.values.reshape(5, 1000, 168).mean(axis=0)[in_order])

    @given(st.data())
    def test_as_pandas_does(self, data):
        size = data.draw(st.integers(1, 15))
        column = lambda values: data.draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))  # noqa: E731 # short
        frame = pd.DataFrame({
            "s": column(["a", "b", None]), "x": column([1.0, np.nan]), "repetition": column([0, 1, 2]),
            "value": column([1.0, 2.5, -3.0, np.nan]),
        })  # fmt: skip
        names = ["s", "x", "repetition"]
        assembly = DataAssembly(frame["value"].to_numpy(), coords={n: ("p", frame[n]) for n in names}, dims=["p"])
        for method in ("mean", "median", "std", "sum", "min", "max"):
            groups = frame.groupby(["s", "x"], dropna=False)["value"]
            expected = groups.std(ddof=0) if method == "std" else getattr(groups, method)()
            reduced = getattr(assembly, method)("repetition")
            np.testing.assert_allclose(reduced.values, expected.to_numpy(), atol=1e-12)
            assert pd.Series(reduced["s"].values).fillna("?").tolist() == [
                "?" if pd.isna(s) else s for s, _ in expected.index
            ]


class TestGroups:
    def test_reductions(self):
        assembly = with_stimuli(recordings())
        for method in ("mean", "median", "std", "sum", "min", "max"):
            grouped = getattr(assembly.multi_groupby(["category", "repetition"]), method)()
            assert grouped.dims == assembly.dims
            assert values_of(grouped, "category") == ["x", "x", "y", "y"]
            assert values_of(grouped, "repetition") == [0, 1, 0, 1]
            expected = getattr(np, method)(assembly.values[[0, 4]], axis=0)
            np.testing.assert_allclose(grouped.values[0], expected)
            assert grouped.stimulus_set is assembly.stimulus_set
            assert type(grouped) is NeuroidAssembly

    def test_dim_argument(self):
        grouped = recordings().multi_groupby(["stimulus_id", "category"]).mean(dim="presentation", skipna=True)
        assert values_of(grouped, "stimulus_id") == ["a", "b", "c"]
        assert recordings().multi_groupby(["stimulus_id"]).mean(dim=...).dims == ("presentation",)

    def test_first_map_iterate(self):
        assembly = recordings()
        groups = assembly.multi_groupby(["stimulus_id"])
        assert len(groups) == 3
        assert [key for key, _ in groups] == ["a", "b", "c"]
        np.testing.assert_array_equal(groups.first().values, assembly.values[[2, 0, 4]])
        centred = groups.map(lambda group: group - group.mean("presentation"))
        assert values_of(centred, "repetition") == values_of(assembly, "repetition")
        assert type(centred) is NeuroidAssembly
        np.testing.assert_allclose(centred.values[::2], -4.0)
        assert groups.apply(lambda group: group.mean("presentation")).equals(groups.mean())
        assert groups.map(lambda group: float(group.sum())).shape == (3,)

    def test_groups_are_sorted_by_the_levels_in_turn(self):
        assembly = DataAssembly(
            np.arange(5.0),
            coords={
                "stimulus_id": ("p", ["10", "2", "1", "2", "10"]),
                "k": ("p", np.array(["b", 1, "b", np.nan, 1], dtype=object)),
            },
            dims=["p"],
        )
        # whole numbers as ids of stimuli are numbers, numbers come before text, and missing values last
        assert assembly.multi_groupby(["stimulus_id", "k"]).first().values.tolist() == [2, 1, 3, 4, 0]
        assert assembly.multi_groupby(["k", "stimulus_id"]).first().values.tolist() == [1, 4, 2, 0, 3]

    def test_map_back_in_place(self):
        assembly = DataAssembly([1, 2, 3, 4], coords={"g": ("p", list("abab")), "k": ("p", range(4))}, dims=["p"])
        mapped = assembly.multi_groupby("g").map(lambda group: group * 10)
        assert mapped.identical(assembly * 10)

    def test_unknown_and_mixed(self):
        with pytest.raises(KeyError, match="categroy"):
            recordings().multi_groupby(["categroy"])
        with pytest.raises(ValueError, match="one dimension"):
            recordings().multi_groupby(["category", "region"])

    def test_xarray_groupby(self):
        grouped = recordings().groupby("stimulus_id").mean()
        assert type(grouped) is NeuroidAssembly
        assert values_of(grouped, "stimulus_id") == ["a", "b", "c"]
        assert grouped.sel(stimulus_id="a").shape == (4, 2)

    def test_multi_dim_apply(self):
        assembly = recordings().isel(time_bin=0)
        seen = []

        def apply(values, *, stimulus_id, region, repetition, **_):
            seen.append((np.unique(stimulus_id).item(), np.unique(region).item(), np.shape(values), list(repetition)))
            return values - values.mean()

        applied = assembly.multi_dim_apply(["stimulus_id", "region"], apply)
        assert applied.dims == assembly.dims
        assert len(seen) == 6
        assert ("a", "IT", (2, 2), [0, 1]) in seen
        part = assembly.sel(stimulus_id="a", region="IT")
        np.testing.assert_allclose(applied.sel(stimulus_id="a", region="IT").values, part.values - part.values.mean())

    def test_multi_dim_apply_single_cells(self):
        assembly = DataAssembly([[1, 2], [3, 4]], coords={"a": ("a", ["x", "y"]), "b": ("q", [5, 6])}, dims=["a", "q"])
        applied = assembly.multi_dim_apply(["a", "b"], lambda value, *, a, b, **_: value + b + 0.5 + (a == "y"))
        np.testing.assert_allclose(applied.values, [[6.5, 8.5], [9.5, 11.5]])


OPERATIONS = {
    "isel": lambda a: a.isel(neuroid=[0, 1]),
    "slice": lambda a: a[1:, 0:2],
    "where": lambda a: a.where(a > 5),
    "where drop": lambda a: a.where(a["repetition"] == 0, drop=True),
    "dropna": lambda a: a.where(a["repetition"] == 0).dropna("presentation"),
    "sortby": lambda a: a.sortby(["category", "stimulus_id"]),
    "transpose": lambda a: a.transpose("neuroid", ...),
    "T": lambda a: a.T,
    "concat": lambda a: xr.concat([a, a], dim="presentation"),
    "copy": lambda a: a.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "reset_index": lambda a: a.reset_index("presentation"),
    "assign_coords": lambda a: a.assign_coords(region=("neuroid", list("abcd"))),
    "add": lambda a: a + a,
    "constant": lambda a: 1 / (a * 2 + 1),
    "compare": lambda a: a > 3,
    "abs": abs,
    "sqrt": np.sqrt,
    "np.add": lambda a: np.add(a, 1),
    "fillna": lambda a: a.fillna(0),
    "clip": lambda a: a.clip(0, 1),
    "isnull": lambda a: a.isnull(),
    "notnull": lambda a: a.notnull(),
    "astype": lambda a: a.astype(int),
    "round": lambda a: a.round(),
    "isin": lambda a: a.isin([1.0]),
    "expand_dims": lambda a: a.expand_dims("subject"),
    "squeeze": lambda a: a.isel(presentation=[0]).expand_dims("subject").squeeze("subject"),
    "rename dim": lambda a: a.rename(presentation="trial"),
    "assign_attrs": lambda a: a.assign_attrs(k=1),
    "combine_first": lambda a: a.combine_first(a),
    "cumsum": lambda a: a.cumsum("time_bin"),
    "iadd": lambda a: a.__iadd__(1),
    "drop_duplicates": lambda a: a.drop_duplicates("presentation"),
    "head": lambda a: a.head(presentation=2),
    "self": lambda a: type(a)(a),
}


class TestOperations:
    @pytest.mark.parametrize("name", OPERATIONS)
    def test_class_names_levels_and_attributes(self, name):
        assembly = with_stimuli(recordings())
        result = OPERATIONS[name](assembly)
        assert type(result) is NeuroidAssembly
        assert set(get_levels(result)) == LEVELS
        assert set(assembly.dims) - {"presentation"} <= set(result.dims)
        assert values_of(result, "time_bin_end") == [70, 170]
        assert result.attrs["stimulus_set"].identifier == "Letters"

    @pytest.mark.parametrize("name", OPERATIONS)
    def test_works_without_levels_and_on_scalars_of_levels(self, name):
        assembly = recordings()
        OPERATIONS[name](assembly)
        assert assembly.dims == ("presentation", "neuroid", "time_bin")
        assert set(get_levels(assembly)) == LEVELS

    def test_integer_index_makes_levels_scalar(self):
        first = recordings().isel(neuroid=0)
        assert first.dims == ("presentation", "time_bin")
        assert first["region"].item() == "V4"
        assert "neuroid" not in first.coords
        together = xr.concat([recordings().isel(neuroid=i) for i in range(4)], dim="neuroid")
        assert NeuroidAssembly(together).transpose(*recordings().dims).equals(recordings())
        assert recordings().isel(time_bin=[0]).squeeze("time_bin")["time_bin_end"].item() == 70

    def test_reset_index_still_selects_and_gathers(self):
        reset = recordings().reset_index("presentation")
        assert "presentation" not in reset.indexes
        assert reset.sel(stimulus_id="a").sizes["presentation"] == 2
        assert reset.mean("repetition").sizes["presentation"] == 3
        assert gather_indexes(reset).identical(recordings())
        assert NeuroidAssembly(reset).identical(recordings())

    def test_set_level(self):
        assembly = recordings()
        assembly["depth"] = ("neuroid", [1.0, 2.0, 3.0, 4.0])
        assert "depth" in assembly.indexes["neuroid"].names
        assert assembly.sel(depth=2.0)["neuroid_id"].item() == 11
        assembly["region"] = ("neuroid", ["V1"] * 4)
        assert values_of(assembly, "region") == ["V1"] * 4
        assert values_of(assembly, "neuroid_id") == [10, 11, 12, 13]
        assembly["note"] = "scalar"
        assert assembly["note"].item() == "scalar"
        with pytest.raises(ValueError, match="neuroid"):
            assembly["bad"] = ("neuroid", [1])
        assert "bad" not in assembly.coords

    def test_set_values(self):
        assembly = recordings()
        assembly[0, 0, 0] = -1
        assembly[{"neuroid": 1}] = 5
        assembly.loc[{"region": "V4"}] = 7
        assert assembly.values[0].tolist() == [[7, 7], [5, 5], [4, 4 + 1], [7, 7]]

    def test_delete_level(self):
        assembly = recordings()
        del assembly["region"]
        assert set(get_levels(assembly)) == LEVELS - {"region"}
        assert assembly.sel(neuroid_id=10).shape == (6, 1, 2)

    def test_assign_coords_makes_levels(self):
        assembly = recordings().assign_coords({"animal": ("neuroid", list("mmnn"))}, day=("presentation", range(6)))
        assert assembly.sel(animal="n", day=[0, 1]).shape == (2, 2, 2)
        assert "animal" not in recordings().coords

    def test_rename(self):
        renamed = recordings().rename(stimulus_id="image_id", presentation="trial")
        assert renamed.sel(image_id="a").sizes["trial"] == 2
        again = renamed.rename({"image_id": "stimulus_id", "trial": "presentation"})
        assert again.identical(recordings())
        assert recordings().rename("other").name == "other"

    def test_drop_vars(self):
        dropped = recordings().drop_vars("repetition")
        assert set(get_levels(dropped)) == LEVELS - {"repetition"}
        assert dropped.sel(stimulus_id="a").sizes["presentation"] == 2
        assert get_levels(recordings().drop_vars(["presentation", "neuroid"])) == ["time_bin_start", "time_bin_end"]
        with pytest.raises(ValueError, match="nothing"):
            recordings().drop_vars("nothing")
        assert set(get_levels(recordings().drop_vars("nothing", errors="ignore"))) == LEVELS

    def test_stack(self):
        assembly = recordings()
        stacked = assembly.stack(sample=["presentation", "time_bin"])
        assert stacked.dims == ("neuroid", "sample")
        assert set(get_levels(stacked)) == LEVELS
        np.testing.assert_array_equal(stacked.values, assembly.transpose("neuroid", ...).values.reshape(4, 12))
        one = stacked.sel(stimulus_id="c", repetition=1, time_bin_start=70, neuroid_id=13)
        assert one.item() == assembly.values[5, 3, 1]
        bare = DataAssembly(np.arange(4).reshape(2, 2), dims=["a", "b"]).stack(c=("a", "b"))
        assert get_levels(bare) == ["a", "b"]

    def test_sortby(self):
        assembly = recordings()
        ordered = assembly.sortby(["category", "stimulus_id", "repetition"], ascending=False)
        assert values_of(ordered, "stimulus_id") == ["a", "a", "c", "c", "b", "b"]
        assert values_of(ordered, "repetition") == [1, 0, 1, 0, 1, 0]
        assert values_of(assembly.sortby(["region", "stimulus_id"]), "neuroid_id") == [11, 12, 10, 13]
        by_array = assembly.sortby(assembly["stimulus_id"])
        assert values_of(by_array, "stimulus_id") == ["a", "a", "b", "b", "c", "c"]

    def test_arithmetic_between(self):
        one, two = (
            with_stimuli(recordings(attrs={"k": 1, "same": "x"})),
            with_stimuli(recordings(attrs={"k": 2, "same": "x"})),
        )
        difference = one - two
        assert not difference.values.any()
        assert set(get_levels(difference)) == LEVELS
        assert set(difference.attrs) == {"same", "stimulus_set"}
        assert set(np.subtract(one, two).attrs) == {"same", "stimulus_set"}
        assert (one / one.mean("presentation")).shape == one.shape
        assert type(2 - one) is NeuroidAssembly

    def test_identical_with_stimulus_sets(self):
        assert with_stimuli(recordings()).identical(with_stimuli(recordings()))

    def test_concat_of_parts(self):
        assembly = recordings()
        parts = [assembly.sel(region=region) for region in ("V4", "IT")]
        together = xr.concat(parts, dim="neuroid")
        assert values_of(together, "region") == ["V4", "V4", "IT", "IT"]
        assert together.sortby("neuroid_id").equals(assembly)

    def test_unstack_and_to_frame(self):
        assembly = DataAssembly(
            [1, 2, 3, 4], coords={"s": ("p", list("aabb")), "r": ("p", [0, 1, 0, 1])}, dims=["p"], name="v"
        )
        assert assembly.unstack("p").sizes == {"r": 2, "s": 2}
        assert assembly.to_dataframe().shape[0] == 4
        assert "MultiIndex" in repr(assembly)


class TestFunctions:
    def test_walk_coords(self):
        walked = {name: (dims, values) for name, dims, values in walk_coords(recordings().isel(time_bin=0))}
        assert set(walked) == LEVELS
        assert walked["region"][0] == ("neuroid",)
        assert isinstance(walked["region"][1], np.ndarray)
        assert walked["time_bin_start"][0] == ()

    def test_average_as_plugins_write_it(self):
        assembly = recordings()
        coords = [
            name
            for name, dims, _ in walk_coords(assembly)
            if array_is_element(dims, "presentation") and name != "repetition"
        ]
        averaged = assembly.multi_groupby(coords).mean(dim="presentation", skipna=True)
        assert averaged.equals(assembly.mean("repetition"))

    def test_get_metadata(self):
        assembly = DataAssembly(
            [[1, 2]],
            coords={"s": ("p", ["a"]), "q": ("q", [1, 2]), "scalar": 3},
            dims=["p", "q"],
        )
        assert list(get_metadata(assembly, names_only=True)) == ["s", "q", "scalar"]
        assert list(get_metadata(assembly, dims=("p",), names_only=True)) == ["s"]
        assert list(get_metadata(assembly, dims=(None,), names_only=True)) == ["scalar"]
        assert list(get_metadata(assembly, names_only=True, include_levels=False)) == ["q", "scalar"]
        assert list(get_metadata(assembly, names_only=True, include_indexes=False)) == ["s", "scalar"]
        assert list(get_metadata(assembly, names_only=True, include_coords=False)) == ["s", "q"]
        ((name, dims, values),) = get_metadata(assembly, dims=("p",))
        assert (name, dims, list(values)) == ("s", ("p",), ["a"])

    def test_coords_for_dim(self):
        coords = coords_for_dim(recordings(), "neuroid")
        assert list(coords) == ["neuroid_id", "region"]
        assert coords["region"].values.tolist() == ["V4", "IT", "IT", "V4"]
        assert coords_for_dim(recordings(), "nothing") == {}

    def test_merge_along_one_dimension(self):
        assembly = with_stimuli(recordings(name="n"))
        parts = [assembly.isel(neuroid=[2, 3]), assembly.isel(neuroid=[0, 1])]
        merged = merge_data_arrays(parts)
        assert values_of(merged, "neuroid_id") == [12, 13, 10, 11]
        assert merged.sortby("neuroid_id").equals(assembly)
        assert type(merged) is NeuroidAssembly
        assert (merged.name, merged.stimulus_set.identifier) == ("n", "Letters")

    def test_merge_with_gaps(self):
        assembly = recordings().isel(time_bin=0, drop=True)
        parts = [assembly[:3, :2], assembly[3:, 2:]]
        merged = merge_data_arrays(parts)
        assert merged.shape == (6, 4)
        assert np.isnan(merged.values).sum() == 12
        assert merged.sel(stimulus_id="c", repetition=1, neuroid_id=13).item() == assembly.values[5, 3]

    def test_merge_of_nothing_and_of_others(self):
        with pytest.raises(ValueError, match="no arrays to merge"):
            merge_data_arrays([])
        with pytest.raises(ValueError, match="same dimensions"):
            merge_data_arrays([recordings(), recordings().isel(time_bin=0)])
        assert merge_data_arrays([recordings()]).identical(recordings())
