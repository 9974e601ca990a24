"""Top-1 accuracy on ImageNet (Deng et al. 2009)."""

import os
from pathlib import Path
from typing import Final

import pandas as pd

from brainscore_core.errors import DataUnavailable
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.choices import ChoiceBenchmark
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow
from brainscore_vision.data.imagenetslim15000 import BIBTEX
from brainscore_vision.data_sources.tables import fetch_sources, read_sources

IMAGES_VARIABLE: Final = "BRAINSCORE_IMAGENET2012"
"""Environment variable that names the folder of the images."""

_SHOWN = 3
_COLUMNS = {"image_id": "stimulus_id", "filename": "filename", "filepath": "filepath", "synset": "synset"}


def read_table() -> StimulusSet:
    """Names and classes of the 50,000 validation images, without files.

    Result: a StimulusSet with ``stimulus_id``, ``filename``, ``filepath`` (where the published platform keeps the file)
    and ``synset``.
    """
    (path,) = fetch_sources(read_sources(Path(__file__).parent))
    table = StimulusSet(pd.read_csv(path, usecols=list(_COLUMNS), dtype=str).rename(columns=_COLUMNS))
    table.identifier = "imagenet2012"
    return table


def load_images(table: StimulusSet) -> StimulusSet:
    """Find the files of `table`'s images.

    `table`: as of :func:`read_table`. Result: a copy with files, sorted by ``filename``. A DataUnavailable if images
    are missing, or no folder is configured.
    """
    result = table.sort_values("filename").reset_index(drop=True)
    names, ids = result["filename"].tolist(), result["stimulus_id"].tolist()
    folder = os.environ.get(IMAGES_VARIABLE)
    if folder:
        root = Path(folder).expanduser()
        paths = _files_below(root, set(names))
        where = f"{IMAGES_VARIABLE} names {folder}"
    else:  # the published platform's own place
        paths = {name: Path(path) for name, path in zip(names, result["filepath"], strict=True) if Path(path).is_file()}
        where = f"{IMAGES_VARIABLE} is not set"
    missing = [name for name in names if name not in paths]
    if missing:
        raise DataUnavailable(
            f"{len(missing)} of {len(names)} validation images of ImageNet are not at hand ({where}), such as "
            f"{', '.join(missing[:_SHOWN])}",
            remedy="Obtain ILSVRC2012_img_val.tar from https://image-net.org/download, unpack it, and set "
            f"{IMAGES_VARIABLE}=<folder>.",
        )
    note("collection", identifier="ImageNet (ILSVRC 2012), validation")
    result.stimulus_paths = {name: paths[file] for name, file in zip(ids, names, strict=True)}
    result.identifier = table.identifier
    return result


def _files_below(folder: Path, wanted: set[str]) -> dict[str, Path]:
    paths = {}
    for subfolder, _, files in os.walk(folder):
        paths.update({name: Path(subfolder, name) for name in wanted.intersection(files)})
    return paths


NUMBER_OF_TRIALS: Final = 10


class Imagenet2012(ChoiceBenchmark):
    """Share of the 50,000 validation images that a model names with their class, one of 1,000.

    An engineering benchmark: it measures no people or animals. The images are shown as they are, not at a visual angle.

    Notes
    -----
    The model chooses among ImageNet's classes, which it has learned before. It receives names and files of the images,
    not their classes. :data:`~brainscore_vision.benchmarks.imagenet.benchmark.IMAGES_VARIABLE` names the folder of the
    images.

    References
    ----------
    .. [1] Deng et al. 2009, https://doi.org/10.1109/CVPR.2009.5206848
    """

    def __init__(self) -> None:
        row = BenchmarkRow(
            benchmark="ImageNet-top1",
            identifier="ImageNet-top1",
            kind="label",
            parent="ImageNet",
            metric="accuracy",
            ceiling="metric",
            number_of_trials=NUMBER_OF_TRIALS,
        )
        super().__init__(
            row, BIBTEX, truth="synset", choices="imagenet", load_stimuli=lambda: load_images(read_table())
        )
