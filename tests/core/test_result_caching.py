"""The stand-in of ``result_caching``; names of files and results are those of version 0.5 of the package."""

import importlib.util
import pickle
import sys

import numpy as np
import pytest
import xarray as xr

import brainscore_core.result_caching as module
from brainscore_core.errors import UserError
from brainscore_core.result_caching import NotCachedError, cache, install_stand_in, store, store_dict, store_xarray


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("DISABLE", "CACHEDONLY"):
        monkeypatch.delenv(f"RESULTCACHING_{name}", raising=False)
    monkeypatch.setenv("RESULTCACHING_HOME", str(tmp_path / "results"))
    return tmp_path / "results"


def test_import_finds_it_unless_the_package_is_installed(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "result_caching", raising=False)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    install_stand_in()
    assert importlib.util.find_spec("result_caching").origin == module.__file__
    (tmp_path / "result_caching.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.util.find_spec("result_caching").origin == str(tmp_path / "result_caching.py")


@pytest.mark.parametrize("decorator", [store, cache])
def test_a_result_is_computed_once(home, decorator):
    runs = []

    @decorator(identifier_ignore=["ignored"])
    def double(number, ignored=0):
        runs.append(number)
        return None if number == 0 else 2 * number

    assert [double(3), double(number=3, ignored=1), double(0), double(0)] == [6, 6, None, None]
    assert runs == [3, 0]


def test_files_have_the_names_of_the_package(home):
    class Reader:
        @store()
        def read(self, path):
            return path

        def __str__(self):
            return "r1"

    Reader().read("a/b")
    assert (home / f"{__name__}.Reader(r1).read" / "path=a_b.pkl").is_file()


@pytest.mark.parametrize(("value", "runs"), [("1", 2), ("", 1), ("elsewhere", 1), (f"x,{__name__}.count", 2)])
def test_disabling(home, monkeypatch, value, runs):
    monkeypatch.setenv("RESULTCACHING_DISABLE", value)
    calls = []

    @store()
    def count():
        calls.append(1)

    count(), count()
    assert len(calls) == runs


@pytest.mark.parametrize("content", [b"", b"\x80\x05 damaged", pickle.dumps([1])])
def test_damaged_files_are_named(home, content):
    stored = store()(abs_of)
    stored(-2)
    (file,) = home.rglob("*.pkl")
    file.write_bytes(content)
    with pytest.raises(UserError, match=r"number=-2\.pkl cannot be read"):
        stored(-2)


def abs_of(number):
    return abs(number)


def test_only_stored_results(home, monkeypatch):
    monkeypatch.setenv("RESULTCACHING_CACHEDONLY", "1")
    with pytest.raises(NotCachedError, match="number=1"):
        store()(lambda number: number)(1)


def test_only_missing_keys_and_coordinates_are_computed(home):
    runs = []

    @store_dict(dict_key="layers", identifier_ignore=["layers"])
    def lengths(layers):
        runs.append(layers)
        return {layer: len(layer) for layer in layers if layer != "absent"}

    @store_xarray(combine_fields={"layers": "layer"}, identifier_ignore=["layers"])
    def codes(name, layers):
        runs.append(layers)
        return xr.DataArray([[ord(layer) for layer in layers]], coords={"layer": list(layers)}, dims=["s", "layer"])

    assert lengths(["a", "bb"]) == {"a": 1, "bb": 2}
    assert list(lengths(["ccc", "a"])) == ["ccc", "a"]
    with pytest.raises(ValueError, match="absent"):
        lengths(["absent"])
    assert codes("n", ["b", "a"]).values.tolist() == [[98, 97]]
    np.testing.assert_array_equal(codes("n", ["c", "b"]).values, [[99, 98]])
    assert runs == [["a", "bb"], ["ccc"], ["absent"], ["b", "a"], ["c"]]
