"""Metrics that compute on a device, where one is named."""

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

pytest.importorskip("torch")


def _assembly(values):
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", [f"stimulus{i}" for i in range(len(values))]),
            "neuroid_id": ("neuroid", np.arange(values.shape[1])),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 80))
    return _assembly(X), _assembly(X[:, :6] + rng.standard_normal((60, 6)))


@pytest.mark.parametrize(
    "name", ["ridge", "ridge_cv", "ridgecv", "dual_ridgecv_cv", "pls", "rdm", "rdm_cv", "rdm_cosine", "cka", "cka_rbf"]
)
def test_values_are_the_same(pair, name):
    expected, found = load_metric(name)(*pair), load_metric(name, device="cpu")(*pair)
    assert float(found) == pytest.approx(float(expected), abs=1e-10)
    assert found.attrs["ci"] == pytest.approx(expected.attrs["ci"], abs=1e-9)
    with pytest.raises(UserError, match="device"):
        load_metric(name, device="abacus")(*pair)


def test_others_take_no_device():
    with pytest.raises(TypeError, match="device"):
        load_metric("neuron_to_neuron", device="cpu")
