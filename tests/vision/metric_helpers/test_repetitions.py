"""Responses that drift in an order which all repetitions share."""

import warnings

import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling


def recordings(*, drift=0.0, same=True, blocks=False, **columns):
    rng = np.random.default_rng(3)
    order = np.arange(40) if blocks else rng.permutation(40)
    orders = [order if same else rng.permutation(40) for _ in range(5)]
    evoked = rng.normal(size=(4, 10))[np.arange(40) // 10] if blocks else rng.normal(size=(40, 10))
    slow = drift * np.linspace(1, -1, 40)[:, None] * rng.normal(size=10)
    values = np.concatenate([evoked[shown] + slow + rng.normal(size=(40, 10)) for shown in orders])
    shown = np.concatenate(orders)
    coords = {"stimulus_id": shown, "repetition": np.repeat(np.arange(5), 40)} | columns
    if columns.get("object_name", "") is None:
        coords["object_name"] = shown // 10
    return NeuroidAssembly(
        values,
        coords={name: ("presentation", column) for name, column in coords.items()}
        | {"neuroid_id": ("neuroid", np.arange(10))},
        dims=["presentation", "neuroid"],
    )


TIME = {"onset_time": np.arange(200.0)}


@pytest.mark.parametrize(
    ("options", "drift"),
    [
        ({"drift": 2.0, **TIME}, "found"),
        ({"drift": 2.0, "onset_time": np.tile(np.arange(40), 5)}, "found"),
        ({"drift": 2.0, "same": False, **TIME}, "none"),
        ({**TIME}, "none"),
        ({"drift": 2.0}, "unknown"),
        ({"blocks": True, **TIME}, "found"),
        ({"blocks": True, "object_name": None, **TIME}, "none"),
    ],
    ids=["drift", "position", "other orders", "no drift", "no order", "blocks", "groups in blocks"],
)
def test_responses_that_follow_the_order(options, drift):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ceiling = load_ceiling("internal_consistency")(recordings(**options))
    assert ceiling.attrs["drift"] == drift
    assert [str(each.message)[:49] for each in caught] == ["stimuli were shown in the same order in all repet"] * (
        drift == "found"
    )


def test_when_it_was_shown_does_not_define_a_stimulus():
    known, unknown = (load_ceiling("internal_consistency")(recordings(**columns)) for columns in (TIME, {}))
    assert float(known) == float(unknown)
    assert known.attrs["error"] == unknown.attrs["error"]


@pytest.mark.parametrize("name", ["predictor_consistency", "ncsnr"])
@pytest.mark.parametrize(("options", "drift"), [({"drift": 2.0, **TIME}, "found"), ({**TIME}, "none"), ({}, "unknown")])
@pytest.mark.filterwarnings("ignore:stimuli were shown in the same order")
def test_other_reliabilities_of_repetitions_find_it_too(name, options, drift):
    assert load_ceiling(name)(recordings(**options)).attrs["drift"] == drift
