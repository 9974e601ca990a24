"""Prediction of the responses of voxels to sentences, which are read passage by passage; two experiments.

Ceilings were estimated once, by extrapolation over subjects, and are stored beside the recordings.
"""

from collections.abc import Mapping
from typing import Any, Final

from brainscore_core.metrics import Score
from brainscore_core.plugins.tables import read_table
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_language import load_dataset, load_metric
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark
from brainscore_language.data.pereira2018 import BIBTEX
from brainscore_language.utils.s3 import load_from_s3


def _Pereira2018Experiment(  # noqa: N802 - published name
    experiment: str,
    metric: str,
    crossvalidation_kwargs: Mapping[str, Any] | None = None,
    atlas: str = "language",
    identifier_suffix: str = "",
) -> RecordingBenchmark:
    kind = metric.removesuffix("_pearsonr")
    return RecordingBenchmark(
        f"Pereira2018.{experiment}sentences-{kind}{identifier_suffix}",
        version=1,
        parent="Pereira2018-linear",
        bibtex=BIBTEX,
        load_data=lambda: load_experiment(experiment, atlas),
        metric=load_metric(metric, crossvalidation_kwargs=crossvalidation_kwargs),
        text_coord="passage_label",
        copied=("stimulus_id", "passage_index", "story"),
        estimate_ceiling=lambda data, metric: stored_ceiling(f"{experiment}sentences-{kind}"),
    )


def load_experiment(experiment: str, atlas: str = "language") -> DataAssembly:
    """Recordings of the subjects that did an experiment, ``'243'`` or ``'384'`` sentences."""
    data = load_dataset(f"Pereira2018.{atlas}")
    data = data.sel(experiment=f"{experiment}sentences").dropna("neuroid")
    data.attrs["identifier"] = f"Pereira2018.{atlas}.{experiment}sentences"
    return data


def stored_ceiling(name: str) -> Score:
    """The stored ceiling; its raw values, one a neuroid, and theirs are in its attributes."""
    rows = {row["name"]: row for row in read_table(__file__, "ceilings.csv")}
    ceilings = [
        load_from_s3(
            f"Pereira2018_{name}",
            sha1=rows[level]["sha1"],
            version_id=rows[level]["version_id"] or None,
            assembly_prefix=rows[level]["prefix"],
            cls=Score,
        )
        for level in (name, f"{name}/raw", f"{name}/raw/raw")
    ]
    ceiling, raw, raw_of_raw = (Score(each) for each in ceilings)
    raw.attrs["raw"] = raw_of_raw
    ceiling.attrs.update(raw=raw, meaning="upper bound")
    return ceiling


_RIDGE: Final = {"split_coord": "story", "kfold": "group", "random_state": 1234}
_SHUFFLE: Final = {"splits": 10, "train_size": 0.9, "kfold": False, "random_state": 1}


def Pereira2018_243sentences_ridge() -> RecordingBenchmark:  # noqa: N802 - published name
    """Ridge regression; whole categories of passages are predicted from others."""
    return _Pereira2018Experiment("243", "ridge_pearsonr", _RIDGE)


def Pereira2018_384sentences_ridge() -> RecordingBenchmark:  # noqa: N802 - published name
    """Ridge regression; whole categories of passages are predicted from others."""
    return _Pereira2018Experiment("384", "ridge_pearsonr", _RIDGE)


def Pereira2018_243sentences_linear_shuffle() -> RecordingBenchmark:  # noqa: N802 - published name
    """Least squares; random tenths of the sentences are predicted, whose passages were seen."""
    return _Pereira2018Experiment("243", "linear_pearsonr", _SHUFFLE, identifier_suffix="-shuffle")


def Pereira2018_384sentences_linear_shuffle() -> RecordingBenchmark:  # noqa: N802 - published name
    """Least squares; random tenths of the sentences are predicted, whose passages were seen."""
    return _Pereira2018Experiment("384", "linear_pearsonr", _SHUFFLE, identifier_suffix="-shuffle")
