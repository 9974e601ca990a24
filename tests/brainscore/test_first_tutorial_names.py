"""The first tutorial's names below `brainscore`."""

import ast
import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import brainio
import brainscore
from brainio.assemblies import BehavioralAssembly


@pytest.mark.parametrize(
    ("module", "name", "defined"),
    [
        ("benchmarks", "BenchmarkBase", "brainscore_core.benchmarks"),
        ("benchmarks.screen", "place_on_screen", "brainscore_vision.benchmark_helpers.screen"),
        ("metrics", "Score", "brainscore_core.metrics"),
        ("metrics.image_level_behavior", "I2n", "brainscore_vision.metrics.i1i2.metric"),
        ("model_interface", "BrainModel", "brainscore_vision.model_interface"),
        ("utils", "LazyLoad", "brainscore_vision.utils"),
    ],
)
def test_names(module, name, defined):
    found = importlib.import_module(f"brainscore.{module}")
    value, expected = getattr(found, name), getattr(importlib.import_module(defined), name)
    assert (value.__module__, value.__qualname__) == (expected.__module__, expected.__qualname__)
    assert name in found.__all__


def test_the_metric_ceils_scores():
    from brainscore.metrics.image_level_behavior import I2n

    assert callable(I2n().ceiling)
    assert callable(I2n().ceil_score)


def test_the_metric_reads_the_tutorials_coordinates():
    from brainscore.metrics.image_level_behavior import I2n

    rng = np.random.default_rng(0)
    image = rng.integers(0, 8, 800)
    names = np.array(["cat", "dog"])
    shown, other = names[image % 2], names[1 - image % 2]
    chosen = np.where(rng.random(800) < 0.6 + 0.04 * image, shown, other)

    def people(sample, distractor):
        columns = {"stimulus_id": image, sample: shown, distractor: other}
        coords = {name: ("presentation", values) for name, values in columns.items()}
        return BehavioralAssembly(chosen, coords=coords, dims=["presentation"])

    expected = I2n().ceiling(people("sample_obj", "dist_obj"))
    assert float(I2n().ceiling(people("sample_object", "distractor_object"))) == float(expected)
    with pytest.raises(ValueError, match="'sample_obj'"):
        I2n().ceiling(people("sample", "distractor_object"))


def test_data_by_name():
    assert brainscore.get_assembly is brainio.get_assembly
    assert brainscore.get_stimulus_set is brainio.get_stimulus_set
    assert {"get_assembly", "get_stimulus_set", "score"} <= set(dir(brainscore))


def test_type_checkers_see_the_signature_of_score():
    tree = ast.parse(Path(brainscore.__file__).read_text())
    (declared,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "score"]
    names = {}
    exec(f"from __future__ import annotations\n{ast.unparse(declared)}", names)
    assert inspect.signature(names["score"]) == inspect.signature(brainscore.score)
    assert (Path(brainscore.__file__).parent / "py.typed").is_file()  # without it, they read no signature
