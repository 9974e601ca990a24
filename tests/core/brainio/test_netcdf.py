import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import netCDF4
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio import netcdf
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
    get_levels,
)
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf, write_netcdf
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

COORDS = {
    "stimulus_id": ("presentation", ["b", "a", "ü"]),
    "repetition": ("presentation", [0, 1, 0]),
    "size": ("presentation", [0.5, np.nan, 1.5]),
    "correct": ("presentation", [True, False, True]),
    "emotion": ("presentation", ["", None, "nan"]),
    "neuroid_id": ("neuroid", [7, 3]),
    "region": ("neuroid", ["V4", "IT"]),
    "time_bin_start": ("time_bin", [0, 70]),
    "time_bin_end": ("time_bin", [70, 170]),
}
ATTRS = {"experiment_date": "2024-03-22", "sampling_rate": 280000, "scale": 0.5, "filtered": True, "bands": [1, 2]}


def recordings(coords=COORDS, attrs=ATTRS):
    values = np.arange(12, dtype=float).reshape(3, 2, 2)
    values[0, 0, 0] = np.nan
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid", "time_bin"], attrs=attrs)


def roundtrip(assembly, path, cls=None, **kwargs):
    write_netcdf(assembly, path, **kwargs)
    return read_netcdf(path, cls or type(assembly))


class TestRoundTrip:
    @pytest.mark.parametrize("compress", [True, False])
    def test_identical(self, tmp_path, compress):
        assembly = recordings()
        again = roundtrip(assembly, tmp_path / "a.nc", compress=compress)
        assert again.identical(assembly)
        assert type(again) is NeuroidAssembly
        for level in get_levels(assembly):
            assert again[level].dtype == assembly[level].dtype, level
        assert again.attrs == ATTRS
        assert type(again.attrs["filtered"]) is bool
        assert type(again.attrs["sampling_rate"]) is int
        assert again["emotion"].values[[0, 2]].tolist() == ["", "nan"]
        assert pd.isna(again["emotion"].values[1])

    @pytest.mark.parametrize(
        "values",
        [
            np.array([1, -2], dtype=np.int8),
            np.array([1, 2**40]),
            np.array([1, 2], dtype=np.uint16),
            np.array([0.5, np.nan], dtype=np.float32),
            np.array([0.5, np.nan], dtype=np.float16),
            np.array([np.inf, -0.0]),
            np.array([True, False]),
            np.array(["2020-01-01T10:00:00.5", "NaT"], dtype="datetime64[ns]"),
            np.array(["2020-01-01", "2020-02-01"], dtype="datetime64[ns]"),
            np.array([1, 5], dtype="timedelta64[ns]"),
            np.array(["dog", ""], dtype=object),
            np.array(["dog", np.nan], dtype=object),
        ],
        ids=str,
    )
    def test_types(self, tmp_path, values):
        coords = {"level": ("presentation", values), "other": ("presentation", [1, 2])}
        assembly = BehavioralAssembly(values, coords=coords, dims=["presentation"], attrs={"units": "ms"})
        again = roundtrip(assembly, tmp_path / "a.nc")
        assert again.dtype == values.dtype
        assert again["level"].dtype == assembly["level"].dtype
        assert again.equals(assembly)
        assert again.attrs == {"units": "ms"}

    def test_other_dates(self, tmp_path):
        dates = np.array(["2020-01-01", "1999-12-31"], dtype="datetime64[s]")
        again = roundtrip(DataAssembly([1, 2], coords={"day": ("p", dates)}, dims=["p"]), tmp_path / "a.nc")
        np.testing.assert_array_equal(again["day"].values, dates)

    def test_objects_of_one_kind(self, tmp_path):
        columns = {
            "truths": np.array([True, None, False], dtype=object),
            "numbers": np.array([1, 2, 3], dtype=object),
            "gaps": np.array([1, None, 3.5], dtype=object),
            "nothing": np.array([None, None, None], dtype=object),
        }
        assembly = DataAssembly([1, 2, 3], coords={n: ("p", v) for n, v in columns.items()}, dims=["p"])
        again = roundtrip(assembly, tmp_path / "a.nc")
        assert again["truths"].values[0] is True or bool(again["truths"].values[0]) is True
        assert pd.isna(again["truths"].values[1])
        assert again["numbers"].values.tolist() == [1, 2, 3]
        np.testing.assert_array_equal(again["gaps"].values.astype(float), [1, np.nan, 3.5])
        assert pd.isna(again["nothing"].values).all()

    def test_strings_as_values(self, tmp_path):
        assembly = BehavioralAssembly(
            ["dog", "cat"], coords={"stimulus_id": ("presentation", ["1", "2"])}, dims=["presentation"]
        )
        again = roundtrip(assembly, tmp_path / "a.nc")
        assert again.values.tolist() == ["dog", "cat"]
        assert again.identical(assembly)

    def test_coordinate_called_like_its_dimension(self, tmp_path):
        assembly = BehavioralAssembly(
            np.eye(3),
            coords={"stimulus_id": ("presentation", list("abc")), "choice": ("choice", ["A", "B", "C"])},
            dims=["presentation", "choice"],
        )
        again = roundtrip(assembly, tmp_path / "a.nc")
        assert again.identical(assembly)
        assert "choice" in again.indexes

    def test_scalars_and_broad_coordinates(self, tmp_path):
        assembly = recordings().isel(time_bin=0).assign_coords(valid=(("presentation", "neuroid"), np.eye(3, 2) > 0))
        assembly = assembly.assign_coords(animal="Magneto")
        again = roundtrip(assembly, tmp_path / "a.nc")
        assert again.identical(assembly)
        assert again["animal"].item() == "Magneto"
        assert roundtrip(DataAssembly(3.5), tmp_path / "b.nc").item() == 3.5

    def test_no_presentations(self, tmp_path):
        again = roundtrip(recordings().isel(presentation=[]), tmp_path / "a.nc")
        assert again.shape == (0, 2, 2)
        assert set(get_levels(again)) == set(COORDS)

    def test_no_coordinates(self, tmp_path):
        assembly = DataAssembly(np.ones((2, 3)), dims=["a", "b"])
        assert roundtrip(assembly, tmp_path / "a.nc").identical(assembly)

    def test_name_and_awkward_attributes(self, tmp_path):
        attrs = {
            "coordinates": "x y",
            "dtype": "bool",
            "units": "seconds",
            "scale_factor": 3.0,
            "Unicode": "Größe µ",
            "e": "",
        }
        assembly = DataAssembly([1.0, 2.0], dims=["p"], attrs=attrs, name="Sparks2024")
        with pytest.warns(UserWarning, match="'coordinates'"):
            again = roundtrip(assembly, tmp_path / "a.nc")
        assert again.values.tolist() == [1, 2]
        assert again.name == "Sparks2024"
        assert again.attrs == {key: value for key, value in attrs.items() if key != "coordinates"}

    def test_stimulus_set_is_left_out_and_others_with_a_warning(self, tmp_path, recwarn):
        assembly = recordings()
        assembly.attrs["stimulus_set"] = StimulusSet([{"stimulus_id": "a"}])
        assert roundtrip(assembly, tmp_path / "a.nc").attrs == ATTRS
        assert not [one for one in recwarn if one.category is UserWarning]  # importing netCDF4 may give another one
        assembly.attrs["table"] = {"a": 1}
        with pytest.warns(UserWarning, match="'table'"):
            write_netcdf(assembly, tmp_path / "a.nc")
        assert "stimulus_set" in assembly.attrs

    def test_levels_that_assemblies_share_are_encoded_once(self, tmp_path, monkeypatch):
        encoded, encode = [], netcdf.encode
        monkeypatch.setattr(netcdf, "encode", lambda name, values: encoded.append(name) or encode(name, values))
        responses, other = recordings(), recordings({**COORDS, "region": ("neuroid", ["IT", "V1"])})
        extras = {"predictions": responses.copy(deep=False) + 1, "other": other}
        write_netcdf(responses, tmp_path / "a.nc", extras=extras)
        assert encoded.count("coordinate 'region'") == encoded.count("coordinate 'repetition'") == 2
        for name, extra in extras.items():
            assert read_netcdf(tmp_path / "a.nc", NeuroidAssembly, group=name).identical(extra)
        assert read_netcdf(tmp_path / "a.nc", NeuroidAssembly).identical(responses)

    def test_extras(self, tmp_path):
        ceiling = DataAssembly(
            [0.5, 0.25], coords={"neuroid_id": ("neuroid", [7, 3])}, dims=["neuroid"], attrs={"k": 1}
        )
        write_netcdf(recordings(), tmp_path / "a.nc", extras={"ceiling": ceiling, "again": recordings()})
        assert read_netcdf(tmp_path / "a.nc", NeuroidAssembly).identical(recordings())
        assert read_netcdf(tmp_path / "a.nc", DataAssembly, group="ceiling").identical(ceiling)
        with pytest.raises(UserError, match="no group 'nothing'") as error:
            read_netcdf(tmp_path / "a.nc", DataAssembly, group="nothing")
        assert "ceiling" in str(error.value)
        with pytest.raises(UserError, match="a/b"):
            write_netcdf(recordings(), tmp_path / "b.nc", extras={"a/b": ceiling})

    def test_from_files(self, tmp_path):
        write_netcdf(recordings(), tmp_path / "a.nc")
        stimuli = StimulusSet([{"stimulus_id": name, "colour": f"c{name}"} for name in ("a", "b", "ü")])
        stimuli.identifier = "Letters"
        assembly = NeuroidAssembly.from_files(tmp_path / "a.nc", stimulus_set=stimuli)
        assert assembly["colour"].values.tolist() == ["cb", "ca", "cü"]
        assert assembly.attrs["stimulus_set_identifier"] == "Letters"
        assert assembly.stimulus_set is stimuli

    @given(st.data())
    def test_any(self, tmp_path_factory, data):
        size = data.draw(st.integers(0, 6))
        text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
        kinds = {
            "text": (text | st.none(), object),
            "whole": (st.integers(-(2**63), 2**63 - 1), np.int64),
            "real": (st.floats(), np.float64),
            "truth": (st.booleans(), bool),
        }
        columns = {
            name: np.array(data.draw(st.lists(values, min_size=size, max_size=size)), dtype=dtype)
            for name, (values, dtype) in kinds.items()
        }
        values = columns[data.draw(st.sampled_from(["whole", "real", "truth"]))]
        assembly = DataAssembly(values, coords={n: ("p", v) for n, v in columns.items()}, dims=["p"])
        again = roundtrip(assembly, tmp_path_factory.mktemp("any") / "a.nc")
        for name in columns:
            assert (
                pd.Series(again[name].values)
                .astype(object)
                .where(pd.notna(again[name].values), None)
                .equals(pd.Series(assembly[name].values).astype(object).where(pd.notna(assembly[name].values), None))
            ), name
        np.testing.assert_array_equal(again.values, assembly.values)


class TestLayout:
    def test_as_described(self, tmp_path):
        sha1 = write_netcdf(recordings(), tmp_path / "a.nc")
        assert sha1 == hashlib.sha1((tmp_path / "a.nc").read_bytes()).hexdigest()
        with netCDF4.Dataset(tmp_path / "a.nc") as file:
            assert file.data_model == "NETCDF4"
            assert set(file.dimensions) == {"presentation", "neuroid", "time_bin"}
            bins = ["time_bin_start", "time_bin_end"]  # the order in which other readers take them as pairs
            assert list(file.variables) == ["data", *sorted({*COORDS} - {*bins}), *bins]
            assert file["data"].filters()["zlib"]
            assert file["data"].filters()["shuffle"]
            assert not file["region"].filters()["zlib"]
            assert np.isnan(file["data"]._FillValue)
            assert file["data"].coordinates.split() == list(file.variables)[1:]
            assert file["region"].dtype is str
            assert file["region"].dimensions == ("neuroid",)
            assert file["correct"].dtype == np.int8
            assert file.experiment_date == file["data"].experiment_date == "2024-03-22"
        write_netcdf(recordings(), tmp_path / "a.nc", compress=False)
        with netCDF4.Dataset(tmp_path / "a.nc") as file:
            assert not file["data"].filters()["zlib"]

    def test_xarray_reads_it(self, tmp_path):
        write_netcdf(recordings(), tmp_path / "a.nc")
        with xr.open_dataset(tmp_path / "a.nc", engine="netcdf4") as file:
            plain = file["data"].load()
        again = NeuroidAssembly(plain.rename(None))
        assert again.equals(recordings())
        assert again["correct"].dtype == bool

    def test_same_bytes_whatever_the_order_and_process(self, tmp_path):
        start = time.time()
        first = write_netcdf(recordings(), tmp_path / "a.nc")
        backwards = recordings(dict(reversed(COORDS.items())), dict(reversed(ATTRS.items())))
        extra = {"x": backwards, "a": backwards}
        assert write_netcdf(backwards, tmp_path / "b.nc") == first
        with_extras = write_netcdf(backwards, tmp_path / "c.nc", extras=extra)
        assert write_netcdf(backwards, tmp_path / "d.nc", extras=dict(reversed(extra.items()))) == with_extras
        (tmp_path / "assembly.pickle").write_bytes(pickle.dumps(backwards))
        code = (
            "import pickle, sys, time\n"
            "from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf\n"
            "junk = [bytes([i % 256]) * 4096 for i in range(2000)]; del junk\n"  # so that recycled memory is not zero
            "assembly = pickle.load(open(sys.argv[1], 'rb'))\n"
            # a time stamp of a second's resolution would show
            "time.sleep(max(0, float(sys.argv[3]) + 1.1 - time.time()))\n"
            "print(write_netcdf(assembly, sys.argv[2]))\n"
        )
        arguments = [str(tmp_path / "assembly.pickle"), str(tmp_path / "e.nc"), str(start)]
        environment = {**os.environ, "PYTHONHASHSEED": "1", "MALLOC_PERTURB_": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == first

    def test_order_of_entries_does_matter(self, tmp_path):
        turned = recordings().isel(presentation=[2, 1, 0])
        assert write_netcdf(recordings(), tmp_path / "a.nc") != write_netcdf(turned, tmp_path / "b.nc")
        assert read_netcdf(tmp_path / "b.nc", NeuroidAssembly)["stimulus_id"].values.tolist() == ["ü", "a", "b"]


def legacy(path, *, zlib=True, name="data", coordinates="region neuroid_id stimulus_id repetition", attrs=None):
    """File as the existing platform wrote it, once upon a time."""
    with netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        file.createDimension("presentation", 3)
        file.createDimension("neuroid", 2)
        options = {"zlib": zlib, "complevel": 1, "shuffle": True}
        data = file.createVariable(name, "f8", ("presentation", "neuroid"), fill_value=np.nan, **options)
        data[...] = np.arange(6).reshape(3, 2)
        data.coordinates = coordinates
        text = file.createVariable("stimulus_id", str, ("presentation",))
        text[...] = np.array(["a", "b", "a"], dtype=object)
        file.createVariable("repetition", "i8", ("presentation",), **options)[...] = [0, 0, 1]
        text = file.createVariable("region", str, ("neuroid",))
        text[...] = np.array(["IT", "V4"], dtype=object)
        numbers = file.createVariable("neuroid_id", "f8", ("neuroid",), fill_value=np.nan, **options)
        numbers[...] = [1.0, np.nan]
        truths = file.createVariable("good", "i1", ("neuroid",), **options)
        truths[...] = [1, 0]
        truths.setncattr("dtype", "bool")
        file.setncatts(attrs or {})
    return path


class TestOlderFiles:
    @pytest.mark.parametrize("name", ["data", "__xarray_dataarray_variable__", "activations"])
    def test_loads(self, tmp_path, name):
        coordinates = "region good neuroid_id stimulus_id repetition"
        assembly = read_netcdf(legacy(tmp_path / "a.nc", name=name, coordinates=coordinates), NeuroidAssembly)
        assert assembly.dims == ("presentation", "neuroid")
        assert set(get_levels(assembly)) == {"stimulus_id", "repetition", "region", "neuroid_id", "good"}
        assert assembly.sel(region="V4", stimulus_id="a").values.ravel().tolist() == [1, 5]
        assert assembly["good"].dtype == bool
        assert np.isnan(assembly["neuroid_id"].values[1])
        assert assembly.attrs == {}

    def test_name_not_listed_among_coordinates(self, tmp_path):
        assembly = read_netcdf(legacy(tmp_path / "a.nc", name="activations", coordinates="region"), NeuroidAssembly)
        assert assembly.sel(region="IT").shape == (3, 1)

    def test_global_attributes(self, tmp_path):
        attrs = {"identifier": "Old2015", "coordinates": "x"}
        assert read_netcdf(legacy(tmp_path / "a.nc", attrs=attrs), NeuroidAssembly).attrs == {"identifier": "Old2015"}

    def test_single_coordinates(self, tmp_path):
        with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
            for dim, size in {"presentation": 2, "neuroid": 2, "choice": 2}.items():
                file.createDimension(dim, size)
            dims = ("presentation", "neuroid", "choice")
            data = file.createVariable("data", "f8", dims)
            data[...] = 1
            data.coordinates = "choice_ presentation_ neuroid_"
            for dim in dims:
                file.createVariable(f"{dim}_", str, (dim,))[...] = np.array(["x", "y"], dtype=object)
        assembly = read_netcdf(tmp_path / "a.nc", DataAssembly)
        assert set(get_levels(assembly)) == {"stimulus_id", "neuroid_id", "choice"}
        assert assembly.sel(stimulus_id="y", choice="x").shape == (1, 2)

    def test_trailing_underscore_beside_others_is_kept(self, tmp_path):
        with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
            file.createDimension("presentation", 2)
            file.createVariable("data", "f8", ("presentation",))[...] = 1
            for name in ("presentation_", "stimulus_id"):
                file.createVariable(name, "i8", ("presentation",))[...] = [0, 1]
        assert set(get_levels(read_netcdf(tmp_path / "a.nc", DataAssembly))) == {"presentation_", "stimulus_id"}

    def test_written_by_xarray(self, tmp_path):
        plain = xr.DataArray(
            np.array([[1.0, 2.0], [3.0, 4.0]]),
            coords={
                "stimulus_id": ("presentation", ["a", "b"]),
                "day": ("presentation", pd.to_datetime(["2020-01-01", "2020-01-02"])),
                "note": ("presentation", np.array([b"x", b"yz"], dtype="S2")),
                "choice": ["A", "B"],
            },
            dims=["presentation", "choice"],
            attrs={"species": "human"},
        )
        plain.to_dataset(name="data").to_netcdf(tmp_path / "a.nc", engine="netcdf4")
        assembly = read_netcdf(tmp_path / "a.nc", BehavioralAssembly)
        assert assembly["day"].values.astype("datetime64[D]").astype(str).tolist() == ["2020-01-01", "2020-01-02"]
        assert assembly["note"].values.tolist() == ["x", "yz"]
        assert assembly["choice"].values.tolist() == ["A", "B"]
        assert assembly.attrs == {"species": "human"}
        np.testing.assert_array_equal(assembly.values, plain.values)

    def test_masked_whole_numbers(self, tmp_path):
        with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
            file.createDimension("presentation", 2)
            file.createVariable("data", "f4", ("presentation",), fill_value=-999.0)[...] = [-999.0, 1.0]
            file.createVariable("trial", "i4", ("presentation",), fill_value=-1)[...] = [-1, 4]
        assembly = read_netcdf(tmp_path / "a.nc", DataAssembly)
        np.testing.assert_array_equal(assembly.values, [np.nan, 1])
        np.testing.assert_array_equal(assembly["trial"].values, [np.nan, 4])


class TestTrouble:
    def test_missing(self, tmp_path):
        with pytest.raises(UserError, match=r"nothing\.nc does not exist"):
            read_netcdf(tmp_path / "nothing.nc", DataAssembly)

    def test_empty(self, tmp_path):
        (tmp_path / "a.nc").write_bytes(b"")
        with pytest.raises(UserError, match=r"a\.nc is empty"):
            read_netcdf(tmp_path / "a.nc", DataAssembly)

    def test_damaged(self, tmp_path):
        write_netcdf(recordings(), tmp_path / "a.nc")
        whole = (tmp_path / "a.nc").read_bytes()
        for length in (1, 100, len(whole) // 2, len(whole) - 10):
            (tmp_path / "b.nc").write_bytes(whole[:length])
            with pytest.raises(UserError, match=r"b\.nc"):
                read_netcdf(tmp_path / "b.nc", NeuroidAssembly)
        (tmp_path / "b.nc").write_bytes(b"stimulus_id,filename\n")
        with pytest.raises(UserError, match=r"b\.nc"):
            read_netcdf(tmp_path / "b.nc", NeuroidAssembly)

    def test_holds_something_else(self, tmp_path):
        xr.Dataset({"a": ("x", [1]), "b": ("x", [2])}).to_netcdf(tmp_path / "a.nc", engine="netcdf4")
        with pytest.raises(UserError, match=r"a\.nc contains no assembly.*a, b"):
            read_netcdf(tmp_path / "a.nc", DataAssembly)

    def test_wrong_class(self, tmp_path):
        write_netcdf(DataAssembly([1.0], dims=["p"]), tmp_path / "a.nc")
        with pytest.raises(ValueError, match="NeuroidAssembly"):
            read_netcdf(tmp_path / "a.nc", NeuroidAssembly)

    @pytest.mark.parametrize(
        ("assembly", "culprit"),
        [
            (DataAssembly([1, 2], coords={"mixed": ("p", np.array([1, "a"], dtype=object))}, dims=["p"]), "mixed"),
            (DataAssembly([1, 2], coords={"a/b": ("p", [1, 2])}, dims=["p"]), "a/b"),
            (DataAssembly([1, 2], coords={"data": ("p", [1, 2])}, dims=["p"]), "data"),
            (DataAssembly([1j], dims=["p"]), "complex"),
            (DataAssembly([1], dims=["p q/"]), "p q/"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_cannot_be_stored_leaves_nothing(self, tmp_path, assembly, culprit):
        good = write_netcdf(recordings(), tmp_path / "a.nc")
        with pytest.raises(UserError, match=culprit):
            write_netcdf(assembly, tmp_path / "a.nc")
        assert os.listdir(tmp_path) == ["a.nc"]
        assert hashlib.sha1((tmp_path / "a.nc").read_bytes()).hexdigest() == good

    def test_caller_is_left_alone(self, tmp_path):
        assembly = recordings()
        before = assembly.copy(deep=True)
        write_netcdf(assembly, tmp_path / "a.nc")
        assert assembly.identical(before)
        assert get_levels(assembly) == list(COORDS)

    def test_file_is_closed(self, tmp_path):
        write_netcdf(recordings(), tmp_path / "a.nc")
        assembly = read_netcdf(tmp_path / "a.nc", NeuroidAssembly)
        with netCDF4.Dataset(tmp_path / "a.nc", "a") as file:  # HDF5 would refuse while someone reads
            file.touched = 1
        os.remove(tmp_path / "a.nc")
        assert assembly.sum().item() == 66

    def test_folder_is_made(self, tmp_path):
        write_netcdf(recordings(), tmp_path / "x" / "y" / "a.nc")
        assert read_netcdf(tmp_path / "x" / "y" / "a.nc", NeuroidAssembly).sizes["presentation"] == 3

    def test_several_threads(self, tmp_path):
        failures = []

        def work(number):
            try:
                for _ in range(5):
                    write_netcdf(recordings(), tmp_path / f"{number % 2}.nc")
                    assert read_netcdf(tmp_path / f"{number % 2}.nc", NeuroidAssembly).identical(recordings())
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures

    def test_killed_while_writing(self, tmp_path, fork):
        good = write_netcdf(recordings(), tmp_path / "a.nc")
        write = netcdf._write_values

        def write_and_die(*arguments, **keywords):
            write(*arguments, **keywords)
            os.kill(os.getpid(), signal.SIGKILL)

        def overwrite():
            netcdf._write_values = write_and_die
            write_netcdf(recordings() + 1, tmp_path / "a.nc")

        process = fork(overwrite)
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        assert hashlib.sha1((tmp_path / "a.nc").read_bytes()).hexdigest() == good
