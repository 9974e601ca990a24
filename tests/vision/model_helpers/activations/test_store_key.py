"""What changes the key of a layer."""

import os

import numpy as np
import pytest

from brainscore_core.activation_store import layer_key

PARTS = {
    "weights": "1b2f",
    "code": "77aa",
    "extractor": 1,
    "preprocessing": {"size": 224, "mean": [0.485, 0.456, 0.406]},
    "stimuli": "90ac",
    "layer": "conv1",
    "trials": None,
    "dtype": "float32",
    "autocast": False,
    "device": "cpu",
    "reduction": None,
}


@pytest.mark.parametrize(
    "changed",
    [
        {"weights": "1b2e"},
        {"code": "77ab"},
        {"extractor": 2},
        {"preprocessing": {"size": 256, "mean": [0.485, 0.456, 0.406]}},
        {"preprocessing": {"size": 224, "mean": [0.456, 0.485, 0.406]}},
        {"stimuli": "90ad"},
        {"layer": "conv2"},
        {"trials": {"number": 2, "extent": 0.05}},
        {"dtype": "float16"},
        {"autocast": True},
        {"device": "cuda"},
        {"reduction": {"kind": "pca", "components": 1000}},
        {"another": None},
    ],
    ids=str,
)
def test_every_part_changes_the_key(changed):
    assert layer_key({**PARTS, **changed}) != layer_key(PARTS)


def test_the_key_is_stable():
    assert layer_key(dict(reversed(PARTS.items()))) == layer_key(PARTS)
    assert layer_key({"a": (1, 2), "b": "é"}) == layer_key({"b": "é", "a": [1, 2]})
    # written down: the same in every process, on every machine, in every later version of the same format
    assert layer_key({"a": 1}) == "c64846ebffd345f97e474f92964d66a16e986e647cc69b707d1f0e8135b222ea"


def test_alike_is_not_the_same():
    keys = [layer_key({"a": value}) for value in (1, 1.0, "1", True, None, "None", [1], [[1]], {"1": 1}, [], {})]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (np.float32(1), r"parts\['a'\]\[1\] is a float32"),
        (np.arange(3), "ndarray"),
        (b"1", "bytes"),
        ({1, 2}, "set"),
        (os.curdir.__class__, "type"),
        ({1: "a"}, "keys need to be str"),
        (object(), "object"),
    ],
)
def test_what_is_not_plain_is_refused(value, named):
    with pytest.raises(TypeError, match=named):
        layer_key({"a": [0, value]})


def test_what_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="nan"):
        layer_key({"a": {"b": float("nan")}})
