"""Values that travel come out as they went in, and nothing else is accepted."""

import copy
import io
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainscore_core.isolation import CannotTravel, values, wire
from brainscore_core.isolation.tables import KINDS
from brainscore_core.isolation.values import Decoder, Encoder
from brainscore_core.isolation.wire import WireError
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


def sent(value):
    """Body and payloads, as the other side gets them."""
    encoder = Encoder(KINDS)
    body = json.loads(json.dumps(encoder.encode(value), allow_nan=False))
    assert all(isinstance(payload, bytes) for payload in encoder.payloads), "small values need no files"
    return body, [bytearray(payload) for payload in encoder.payloads]


def there_and_back(value):
    body, payloads = sent(value)
    return Decoder(payloads, KINDS).decode(body)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -1.5,
        0.1 + 0.2,
        "ü\n\udc80",
        [1, ["a", None]],
        (1, (2.5, "b")),
        [(70, 170), (170, 270)],
        {"a": {"b": [1]}, "~": "none of ours"},
        {1: "a", (2, 3): "b"},
        Path("/stimuli/a b.png"),
        math.inf,
        2**80,
    ],
)
def test_plain_values(value):
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


def test_not_a_number():
    assert math.isnan(there_and_back(math.nan))


@pytest.mark.parametrize("value", [np.float32(0.1), np.int64(-3), np.bool_(True), np.uint8(255), np.float64("nan")])
def test_single_values_of_numpy_keep_their_type(value):
    back = there_and_back(value)
    assert type(back) is type(value)
    np.testing.assert_array_equal(back, value)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", "M8[ns]", "m8[s]"])
def test_arrays_of_numbers(dtype):
    array = np.arange(24).astype("i8").astype(dtype).reshape(2, 3, 4)
    back = there_and_back(array)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    back[0] = back[1]  # what arrived can be written to, as what a function returns


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.moveaxis(np.arange(24.0).reshape(2, 3, 4), 1, 2),
        np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
        np.arange(24.0).reshape(4, 6)[::2, ::-1],
        np.empty((0, 3)),
        np.array(3.5),
        np.array([1.0, np.nan, np.inf]),
        np.arange(3, dtype=">f8"),
    ],
    ids=["transposed", "moved", "fortran", "sliced", "empty", "single", "not finite", "other byte order"],
)
def test_layouts(array):
    back = there_and_back(array)
    np.testing.assert_array_equal(back, array)
    assert back.dtype == array.dtype.newbyteorder("=")


def test_order_in_memory_stays():
    array = np.moveaxis(np.random.default_rng(0).standard_normal((7, 5, 11)).astype("f4"), 1, 2)
    back = there_and_back(array)
    assert np.argsort(back.strides).tolist() == np.argsort(array.strides).tolist()
    assert back.sum() == array.sum()  # to the last bit: added in the same order


def test_what_is_stored_once_travels_once():
    array = np.broadcast_to(np.arange(1000.0)[:, np.newaxis], (1000, 50))
    body, payloads = sent(array)
    assert sum(map(len, payloads)) < 10_000
    back = Decoder(payloads, KINDS).decode(body)
    np.testing.assert_array_equal(back, array)
    assert back.strides[1] == 0


@pytest.mark.parametrize("array", [np.broadcast_to(8.0, 125_000), np.broadcast_to(np.arange(3), (10_001, 3))])
def test_what_is_repeated_very_often_is_written_out(array):
    back = there_and_back(array)
    np.testing.assert_array_equal(back, array)
    assert 0 not in back.strides
    assert there_and_back(array[:10_000]).strides[0] == 0


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "bcd", ""]),
        np.array([["a", None], ["c", 3]], dtype=object),
        np.array([1, 2.5, "x", True, None], dtype=object),
        np.array([np.float64(0.5), np.int64(2)], dtype=object),
    ],
)
def test_text_and_objects(array):
    back = there_and_back(array)
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        lambda: None,
        b"bytes",
        np.zeros(2, dtype=[("a", "f8")]),
        np.array([object()]),
        np.zeros(2, np.longdouble),
        pd.Timestamp("2020-01-01"),
        [1, {"a": object()}],
    ],
)
def test_what_does_not_travel_is_refused(value):
    with pytest.raises(CannotTravel, match="cannot be sent to"):
        sent(value)


class TestTables:
    @pytest.fixture
    def stimuli(self, tmp_path):
        stimuli = StimulusSet(
            {
                "stimulus_id": ["a", "b", "c"],
                "degrees": [8.0, np.nan, 4.0],
                "number": np.array([1, 2, 3], dtype="i4"),
                "truth": [True, False, True],
                "mixed": [1, "x", None],
                "shown": pd.Categorical(["low", "high", "low"], categories=["low", "high"], ordered=True),
                "nullable": pd.array([1, None, 3], dtype="Int64"),
                "when": pd.to_datetime(["2020-01-01", "2021-01-01", None]),
            }
        )
        stimuli.identifier = "Some2026"
        stimuli.stimulus_paths = {name: tmp_path / f"{name}.png" for name in "abc"}
        return stimuli

    def test_everything_stays(self, stimuli):
        back = there_and_back(stimuli)
        assert type(back) is StimulusSet
        pd.testing.assert_frame_equal(pd.DataFrame(back), pd.DataFrame(stimuli))
        assert back.identifier == "Some2026"
        assert back.stimulus_paths == stimuli.stimulus_paths
        assert back.original_paths is None

    def test_part_keeps_its_index(self, stimuli):
        part = stimuli[stimuli["number"] > 1]
        assert there_and_back(part).index.tolist() == [1, 2]

    def test_paths_before_the_screen(self, stimuli):
        stimuli.original_paths = {"a": "/original/a.png"}
        assert there_and_back(stimuli).original_paths == {"a": Path("/original/a.png")}

    def test_a_column_that_does_not_travel_is_named(self, stimuli):
        stimuli["zoned"] = pd.to_datetime(["2020-01-01"] * 3).tz_localize("UTC")
        with pytest.raises(CannotTravel, match=r"column 'zoned'.*\n.*astype\(str\)"):
            sent(stimuli)

    def test_table_that_is_no_stimulus_set(self):
        table = pd.DataFrame([[1, 2.5]], columns=["a", "a"])
        back = there_and_back(table)
        assert type(back) is pd.DataFrame
        pd.testing.assert_frame_equal(back, table)


def neural(cls=NeuroidAssembly):
    return cls(
        np.random.default_rng(0).standard_normal((4, 3, 2)).astype("f4"),
        coords={
            "stimulus_id": ("presentation", ["a", "b", "a", "c"]),
            "repetition": ("presentation", [0, 0, 1, 0]),
            "object_name": ("presentation", ["face", None, "face", "car"]),
            "degrees": ("presentation", [8.0, np.nan, 8.0, 4.0]),
            "neuroid_id": ("neuroid", [1, 2, 3]),
            "animal": ("neuroid", ["x", "x", "y"]),
            "good": ("neuroid", [True, False, True]),
            "time_bin_start": ("time_bin", [70, 170]),
            "time_bin_end": ("time_bin", [170, 270]),
            "region": "IT",
        },
        dims=["presentation", "neuroid", "time_bin"],
        name="recordings",
        attrs={"identifier": "mine", "layers_from": "given", "bins": [(70, 170)], "nothing": None},
    )


class TestAssemblies:
    @pytest.mark.parametrize(
        "assembly",
        [
            neural(),
            neural(DataAssembly),
            neural().isel(time_bin=0),
            neural().isel(presentation=[2, 0]),
            neural().mean("presentation"),
            BehavioralAssembly(
                [["dog"], ["cat"]],
                coords={"stimulus_id": ("presentation", ["a", "b"]), "choice": ("choice", ["only"])},
                dims=["presentation", "choice"],
            ),
            xr.DataArray(np.eye(2), dims=["x", "y"], coords={"x": [3, 4], "xy": (("x", "y"), np.ones((2, 2)))}),
            DataAssembly(np.zeros((0, 2)), coords={"stimulus_id": ("presentation", [])}, dims=["presentation", "n"]),
        ],
        ids=["neural", "any class", "one time bin", "selected", "reduced", "labels", "plain", "empty"],
    )
    def test_everything_stays(self, assembly):
        back = there_and_back(assembly)
        assert type(back) is type(assembly)
        xr.testing.assert_identical(back, assembly)
        assert back.dtype == assembly.dtype
        assert list(back.coords) == list(assembly.coords)
        for name in assembly.coords:
            assert back[name].dtype == assembly[name].dtype, name
        for name, index in assembly.indexes.items():
            assert back.indexes[name].equals(index)
            assert back.indexes[name].names == index.names
        assert back.attrs == assembly.attrs

    def test_it_can_be_selected_from(self):
        back = there_and_back(neural())
        xr.testing.assert_identical(back.sel(animal="y"), neural().sel(animal="y"))
        xr.testing.assert_identical(back.mean("repetition"), neural().mean("repetition"))

    def test_levels_that_are_not_used_stay_behind(self):
        many = DataAssembly(
            np.arange(5000), coords={"a": ("x", [f"name{i}" for i in range(5000)]), "b": ("x", range(5000))}, dims=["x"]
        )
        _, payloads = sent(many.isel(x=[3, 4]))
        assert sum(map(len, payloads)) < 2000

    def test_stimulus_set_among_the_attributes(self):
        assembly = neural()
        assembly.attrs["stimulus_set"] = StimulusSet({"stimulus_id": ["a"]})
        assert there_and_back(assembly).stimulus_set["stimulus_id"].tolist() == ["a"]

    def test_attribute_that_does_not_travel_is_left_out(self):
        assembly = neural()
        assembly.attrs["handle"] = object()
        with pytest.warns(UserWarning, match="attribute 'handle' is left out"):
            back = there_and_back(assembly)
        assert "handle" not in back.attrs
        assert back.attrs["layers_from"] == "given"


# -- what is not believed ----------------------------------------------------------------------------------------


def npy(array, **header):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=array.dtype.hasobject)
    return bytearray(stream.getvalue())


def rewritten(array, old, new):
    return bytearray(bytes(npy(array)).replace(old, new))


@pytest.mark.parametrize(
    "payload",
    [
        npy(np.array([object], dtype=object)),  # pickled
        npy(np.zeros(2, dtype=[("a", "f8")])),
        npy(np.array(["a"])),
        npy(np.arange(4.0))[:-1],
        npy(np.arange(4.0)) + b"\0",
        rewritten(np.arange(4.0), b"(4,)", b"(9,)"),
        rewritten(np.arange(4.0), b"(4,)", b"(-4,)"),
        rewritten(np.arange(4.0), b"'<f8'", b"'O'  "),
        rewritten(np.arange(4.0), b"'<f8'", b"open("),
        npy(np.array([1, 0, 1], dtype=bool))[:-1] + b"\x07",
        bytearray(b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 70_000),
        bytearray(b"\x93NUMPY\x03\x00"),
        bytearray(b""),
        bytearray(b"[1, 2]"),
    ],
)
def test_what_is_no_array_is_refused(payload):
    with pytest.raises(WireError):
        Decoder([payload], KINDS).decode({"~": "array", "payload": 0})


@pytest.mark.parametrize(
    "body",
    [
        {"~": "array", "payload": 1},
        {"~": "array", "payload": -1},
        {"~": "array", "payload": True},
        {"~": "array", "payload": 0, "order": [0, 0]},
        {"~": "array", "payload": 0, "shape": [10**9]},
        {"~": "array", "payload": 0, "shape": [4, 4]},
        {"~": "array"},
        {"~": "array", "payload": 0, "more": 1},
        {"~": "pickle", "payload": 0},
        {"~": ["array"]},
        {"~": "path", "is": 3},
        {"~": "number", "is": "1e9"},
        {"~": "dict", "items": [[[1], 2]]},
        {"~": "scalar", "of": {"~": "array", "payload": 0}},
        {"~": "times", "dtype": "M8[ns]", "of": {"~": "array", "payload": 0}},
        {"~": "objects", "text": True, "shape": [1], "plain": True, "payload": 0},
        {"~": "assembly"},
        {"~": "table", "names": []},
    ],
)
def test_what_is_no_value_is_refused(body):
    with pytest.raises(WireError):
        Decoder([npy(np.arange(4.0))], KINDS).decode(body)


def test_object_arrays_must_be_what_they_say():
    for items, text, plain, shape in ([[1], True, True, [1]], [[[1]], False, True, [1]], [["a"], True, True, [2]]):
        body = {"~": "objects", "text": text, "shape": shape, "plain": plain, "payload": 0}
        with pytest.raises(WireError):
            Decoder([bytearray(json.dumps(items).encode())], KINDS).decode(body)


def test_text_that_grows_in_an_array_is_refused(monkeypatch):
    items = ["x" * 1_000_000, *[""] * 10_000]
    body = {"~": "objects", "text": True, "shape": [len(items)], "plain": True, "payload": 0}
    with pytest.raises(WireError, match="10001 strings takes more than"):
        Decoder([bytearray(json.dumps(items).encode())], KINDS).decode(body)
    assert there_and_back(np.array(items, dtype=object)).tolist() == items  # of objects each has its own length
    monkeypatch.setattr(wire, "_MAX_TEXT", 100)
    assert there_and_back(np.array(["a" * 5] * 5)).tolist() == ["a" * 5] * 5
    with pytest.raises(CannotTravel, match="6 texts of up to 5 characters"):
        Encoder().encode(np.array(["a" * 5] * 6))


def test_a_payload_is_read_once():
    body = {"~": "array", "payload": 0}
    with pytest.raises(WireError, match="payload 0 is used twice"):
        Decoder([npy(np.arange(4.0))], KINDS).decode([body, body])
    shared = np.arange(4.0)
    one, other = there_and_back([shared, shared])  # the same array twice is two payloads
    np.testing.assert_array_equal(one, other)


def test_json_in_a_payload_has_a_largest_size(monkeypatch):
    body, payloads = sent(np.array(["abcdefgh"], dtype=object))
    monkeypatch.setattr(values, "_JSON", 10)
    with pytest.raises(WireError, match="12 bytes of JSON, but only 10"):
        Decoder(payloads, KINDS).decode(body)
    with pytest.raises(CannotTravel, match="12 bytes in one array"):
        Encoder().encode(np.array(["abcdefgh"], dtype=object))


_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**12), st.floats(), st.text(max_size=8), st.just([]), st.just({}),
    st.sampled_from(["~", "array", "IT", "presentation", "<f8", "M8[ns]", "object", "category", [0, 1], [[0]], -1]),
)  # fmt: skip


def places(tree, path=()):
    """Every part of a tree of lists and dictionaries."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, one in items:
        yield from places(one, (*path, key))


def changed(tree, path, new):
    tree = copy.deepcopy(tree)
    if not path:
        return new
    at = tree
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return tree


_honest = [
    sent(neural()),
    sent(StimulusSet({"stimulus_id": ["a", "b"], "kind": pd.Categorical(["x", "y"]), "n": [1, 2]})),
    sent([(1, 2.5), {"a": np.arange(4)}, np.array(["a", None], dtype=object), np.broadcast_to(np.arange(3.0), (5, 3))]),
]


@settings(suppress_health_check=list(HealthCheck))
@given(st.data())
def test_changed_messages_are_read_or_refused(data):
    """Any part of an honest message replaced by anything: either it still means something, or it is a `WireError`."""
    body, payloads = data.draw(st.sampled_from(_honest))
    for _ in range(data.draw(st.integers(1, 3))):
        body = changed(body, data.draw(st.sampled_from(list(places(body)))), data.draw(_leaves))
    payloads = [bytearray(payload) for payload in payloads]
    if data.draw(st.booleans()):
        payload = data.draw(st.sampled_from(payloads))
        for _ in range(data.draw(st.integers(1, 4))):
            payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    try:
        decoded = Decoder(payloads, KINDS).decode(body)
    except WireError:
        return
    repr(decoded)  # and what was read can be looked at
