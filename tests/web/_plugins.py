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
            repetitions=repetitions,
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
_EXPERIMENT = '''"""A small experiment: simulated cells that add up tiles of random colours."""

import os
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from brainscore_core.files import replacing
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

STIMULI, NEUROIDS, REPETITIONS, TILES = 40, 4, 4, 3


@cache
def recordings() -> NeuroidAssembly:
    """All repetitions."""
    rng = np.random.default_rng(2026)
    tiles = rng.integers(0, 256, (STIMULI, TILES, TILES, 3), dtype=np.uint8)
    responses = tiles.reshape(STIMULI, -1) / 255 @ rng.normal(size=(TILES * TILES * 3, NEUROIDS))
    measured = np.concatenate([responses + rng.normal(size=responses.shape) / 3 for _ in range(REPETITIONS)])
    names = [f"tiles_{{number:02d}}" for number in range(STIMULI)]
    coords = {{
        "stimulus_id": ("presentation", names * REPETITIONS),
        "repetition": ("presentation", np.repeat(np.arange(REPETITIONS), STIMULI)),
        "neuroid_id": ("neuroid", [f"cell_{{number}}" for number in range(NEUROIDS)]),
        "region": ("neuroid", ["V1"] * NEUROIDS),
    }}
    assembly = NeuroidAssembly(measured, coords=coords, dims=["presentation", "neuroid"])
    assembly.attrs["stimulus_set_identifier"] = "{study}"
    assembly.attrs["stimulus_set"] = _stimuli(names, tiles)
    return assembly


def _stimuli(names, tiles) -> StimulusSet:
    folder = Path(os.environ.get("BRAINSCORE_HOME") or tempfile.gettempdir()) / "{study}"
    stimuli = StimulusSet([{{"stimulus_id": name, "category": "tiles"}} for name in names])
    stimuli.stimulus_paths = {{name: folder / f"{{name}}.png" for name in names}}
    stimuli.identifier = "{study}"
    for name, image in zip(names, tiles, strict=True):
        if not stimuli.get_stimulus(name).exists():
            with replacing(stimuli.get_stimulus(name)) as stream:
                Image.fromarray(image).resize((32, 32), Image.Resampling.NEAREST).save(stream, format="PNG")
    return stimuli
'''


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


def small_benchmark_files(identifier="Author2026-pls"):
    """A benchmark with an experiment in its own folder, which is computed in a moment: Simulated2026 takes seconds."""
    name = identifier.partition("-")[0].lower()
    files = benchmark_files(identifier, study=f"{name}_small", select="")
    code = f"benchmarks/{name}/benchmark.py"
    made, known = files[code], f'load_dataset("{name}_small")'
    assert known in made
    made = made.replace(known, "recordings()").replace("load_ceiling, load_dataset, load", "load_ceiling, load")
    imported = f"from brainscore_vision.benchmarks.{name}.experiment import recordings\n"
    files[code] = made.replace("\n\nBIBTEX", f"\n{imported}\nBIBTEX", 1)
    return {**files, f"benchmarks/{name}/experiment.py": _EXPERIMENT.format(study=f"{name}_small")}


def zipped(files, *, wrapper=""):
    """The bytes of a ZIP of these files, below a folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(wrapper + path, text)
    return buffer.getvalue()
