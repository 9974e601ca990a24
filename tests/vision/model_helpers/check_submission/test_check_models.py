"""The published names, called as existing plugins call them."""

from types import ModuleType

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.plugins import ConformanceError
from brainscore_vision.model_helpers.check_submission import check_models
from brainscore_vision.model_helpers.static_features import FeatureModel


def coarse(images):
    return np.stack([image[::16, ::16].mean(axis=2).ravel() for image in images])


def undefined(images):
    return np.full((len(images), 3), np.nan)


def module(**functions):
    made = ModuleType("my_models")
    vars(made).update(functions)
    return made


def subject(function):
    from brainscore_vision.model_helpers.images import load_rgb

    return FeatureModel("mine", layers={"coarse": function}, load=load_rgb)


def test_sound_models_pass(capsys):
    check_models.check_brain_models(module(get_model_list=lambda: ["mine"], get_model=lambda name: subject(coarse)))
    assert capsys.readouterr().out == "mine: all checks passed\n"


def test_a_module_may_be_named():
    def get_model_list():
        return ["mine"]

    globals().update(get_model_list=get_model_list, get_model=lambda name: subject(coarse))
    try:
        check_models.check_brain_models(__name__)
    finally:
        del globals()["get_model_list"], globals()["get_model"]


def test_faults_are_explained():
    with pytest.raises(ConformanceError, match="hold NaN"):
        check_models.check_brain_models(
            module(get_model_list=lambda: ["mine"], get_model=lambda name: subject(undefined))
        )


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ({}, "has no get_model_list"),
        ({"get_model_list": list, "get_model": subject}, "lists no model"),
        ({"get_model_list": lambda: ["mine"], "get_model": lambda name: 3}, "returned a int, not a BrainModel"),
    ],
)
def test_modules_that_list_nothing_are_refused(functions, message):
    with pytest.raises(UserError, match=message):
        check_models.check_brain_models(module(**functions))


@pytest.mark.parametrize("layers", [[], None, "conv"])
def test_base_models_need_layers(layers):
    functions = {"get_model_list": lambda: ["mine"], "get_model": lambda name: None, "get_layers": lambda name: layers}
    with pytest.raises(UserError, match="get_layers"):
        check_models.check_base_models(module(**functions))
