"""Plugins that tests submit: small, quick, and what a careful contributor would send."""

import io
import zipfile

_MODEL = '''"""The mean colour of each tile of an image."""

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

METADATA = {{
    "{identifier}": ModelMetadata(
        architecture="tiles of an image",
        family="tiles",
        parameters=0,
        total_parameters=0,
        image_size={size},
        training_data=None,
        code_licence="MIT",
        weights_licence=None,
        source="https://example.org/tiles",
        bibtex="@misc{{tiles2026, title = {{Tiles}}, author = {{Author, A.}}, year = {{2026}}}}",
    )
}}


def _tiles():
    from brainscore_vision.models.{name}.model import tiles

    return tiles()


model_registry["{identifier}"] = _tiles
'''
_MODEL_CODE = '''"""The mean colour of each tile of an image."""

from functools import partial

import numpy as np

from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import FeatureModel

SIZE = {size}


def tiles() -> FeatureModel:
    """Responses of every region: the image, made as small as {size} x {size}."""
    return FeatureModel(
        "{identifier}", layers={{"tiles": np.stack}}, load=partial(load_rgb, size=SIZE), visual_degrees=8, batch_size=16
    )
'''
_MODEL_TEST = """from brainscore_vision import load_model


def test_it_loads():
    model = load_model("{identifier}")
    assert model.identifier == "{identifier}"
    assert model.visual_degrees() == 8
"""
_BENCHMARK = '''"""How alike a model sees the stimuli of {study}."""

from brainscore_vision import benchmark_registry


def _load():
    from brainscore_vision.benchmarks.{name}.benchmark import {cls}

    return {cls}()


benchmark_registry["{identifier}"] = _load
'''
_BENCHMARK_CODE = '''"""Similarity of representations of {study}."""

from brainscore_vision import load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition

BIBTEX = """@article{{author2026,
    title = {{What the simulated cells see}},
    author = {{Author, A.}},
    journal = {{Journal of Tests}},
    year = {{2026}}
}}"""


class {cls}(NeuralBenchmark):
    """Regression to the recordings, relative to their reliability."""

    def __init__(self) -> None:
        repetitions = load_dataset("{study}"){select}
        super().__init__(
            identifier="{identifier}",
            version={version},
            assembly=average_repetition(repetitions),
            similarity_metric=load_metric("pls"),
            visual_degrees=8,
            number_of_trials=3,
            ceiling_func=lambda: load_ceiling("internal_consistency")(repetitions),
            parent="V1",
            bibtex=BIBTEX,
        )
        self.ungrouped_splits = "responses to further views of the same objects are to be predicted"
'''
_BENCHMARK_TEST = """import pytest

from brainscore_vision import load_benchmark, load_model


class Test{cls}:
    def test_it_loads(self):
        assert load_benchmark("{identifier}").identifier == "{identifier}"

    def test_ceiling(self):
        ceiling = load_benchmark("{identifier}").ceiling
        assert 0 < ceiling <= 1

    def test_score(self):
        score = load_benchmark("{identifier}")(load_model("pixels"))
        assert float(score) == pytest.approx({expected}, abs={tolerance})
"""


def _cls(name):
    return "".join(part.capitalize() for part in name.replace("-", "_").split("_"))


def model_files(identifier="tiles-8", *, name=None, size=8):
    """A model that needs numpy alone; another `size` is another version."""
    name = name or identifier.replace("-", "_").replace(".", "_")
    words = {"identifier": identifier, "name": name, "size": size}
    return {
        f"models/{name}/__init__.py": _MODEL.format(**words),
        f"models/{name}/model.py": _MODEL_CODE.format(**words),
        f"models/{name}/test.py": _MODEL_TEST.format(**words),
    }


def benchmark_files(
    identifier="Author2026-pls", *, name=None, study="Simulated2026", select='.sel(region="V1")', version=1,
    expected=0.5, tolerance=0.5,
):  # fmt: skip
    """A benchmark on measurements that are there, or on those of a data plugin beside it."""
    name = name or identifier.partition("-")[0].lower().replace(".", "_")
    words = {
        "identifier": identifier, "name": name, "study": study, "select": select, "version": version,
        "expected": expected, "tolerance": tolerance, "cls": _cls(name),
    }  # fmt: skip
    return {
        f"benchmarks/{name}/__init__.py": _BENCHMARK.format(**words),
        f"benchmarks/{name}/benchmark.py": _BENCHMARK_CODE.format(**words),
        f"benchmarks/{name}/test.py": _BENCHMARK_TEST.format(**words),
    }


def zipped(files, *, wrapper=""):
    """The bytes of a ZIP of these files, below a folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(wrapper + path, text)
    return buffer.getvalue()
