"""Tests for benchmark plugins, as methods that take the expected value.

Names and arguments are those of the published implementation (brainscore-vision 2.4.2). A failing test raises
AssertionError with both values.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from brainscore_core.benchmarks import Benchmark
from brainscore_core.errors import UserError
from brainscore_core.formatting import first_few
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import (
    DataAssembly,
    NeuroidAssembly,
    PropertyAssembly,
)
from brainscore_core.supported_data_standards.brainio.remote_files import object_request
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.measurements import visual_measurements_of
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, ReplayingModel

_SPLITS = 10
_FEATURES_BUCKET = "brainscore-unittests"
_FEATURES_FOLDER = "tests/test_benchmarks"


def run_test(benchmark: str | Benchmark, precomputed_features_filepath: str | Path) -> Score:
    """Score precomputed features instead of a model.

    Parameters
    ----------
    benchmark : str or Benchmark
        Neural benchmark, or its identifier.
    precomputed_features_filepath : path
        netCDF file of features: presentation × neuroid with ``stimulus_id``; or, as in the published files, with a
        dimension or coordinate ``stimulus_path``, whose file names are those of the benchmark's stimuli.

    Returns
    -------
    Score
        As the benchmark returns it; ``score.raw`` is the value before the ceiling.

    Raises
    ------
    UserError
        If the file has features of other stimuli, or the benchmark does not say what it measures.
    """
    benchmark = _loaded(benchmark)
    measurements = visual_measurements_of(benchmark)
    stimuli = measurements.averaged().stimulus_set
    features = _read_features(NeuroidAssembly, precomputed_features_filepath, stimuli)
    # the benchmark's own visual angle saves placing stimuli on another screen, which features do not depend on
    return benchmark(PrecomputedFeatures(features, visual_degrees=measurements.screen_degrees))


class StandardizedTests:
    """Tests of neural benchmarks with one assembly."""

    def ceilings_test(self, benchmark: str, expected: Any) -> None:
        """Check a benchmark's ceiling; `expected` is a number, or ``pytest.approx`` of one."""
        _equal(float(_loaded(benchmark).ceiling), expected, f"the ceiling of {benchmark!r}")

    def self_regression_test(self, benchmark: str, visual_degrees: int, expected: Any) -> None:
        """Check the raw score of a regression benchmark's own recordings, and that it kept splits and neuroids."""
        score = self._of_itself(benchmark, visual_degrees, expected)
        _holds("neuroid" in score.attrs["raw"].dims, f"the raw values of {benchmark!r} have no neuroids")

    def self_rdm_test(self, benchmark: str, visual_degrees: int, expected: Any) -> None:
        """Check the raw score of a similarity benchmark's own recordings, and that it kept its splits."""
        self._of_itself(benchmark, visual_degrees, expected)

    def _of_itself(self, benchmark: str, visual_degrees: int, expected: Any) -> Score:
        loaded = _loaded(benchmark)
        recordings = visual_measurements_of(loaded).averaged()
        model = PrecomputedFeatures(recordings, visual_degrees=visual_degrees, identifier="the-brain-itself")
        raw: Score = loaded(model).attrs["raw"]
        _equal(float(raw), expected, f"the raw score of the recordings of {benchmark!r} on themselves")
        splits = raw.attrs["raw"].sizes.get("split")
        _equal(splits, _SPLITS, f"the number of splits in the raw values of {benchmark!r}")
        return raw


class PrecomputedTests:
    """Tests with precomputed features."""

    def run_test(self, benchmark: str, precomputed_features_filepath: str | Path, expected: Any) -> None:
        """Check the raw score of features in a file; see :func:`run_test`."""
        score = run_test(benchmark, precomputed_features_filepath)
        _equal(float(score.attrs["raw"]), expected, f"the raw score of {Path(precomputed_features_filepath).name}")

    def run_test_properties(self, benchmark: str, files: Mapping[str, str | Path], expected: Any) -> None:
        """Check the raw score of a benchmark of neuronal properties.

        Parameters
        ----------
        benchmark : str
            Identifier of the benchmark.
        files : dict
            Identifier of each stimulus set of the benchmark → file of features; a missing file is fetched by its name
            from the public bucket of features.
        expected
            Number, or ``pytest.approx`` of one.
        """
        from brainscore_vision.registries import load_stimulus_set

        loaded = _loaded(benchmark)
        features = {}
        for identifier, name in files.items():
            stimuli = load_stimulus_set(identifier)
            features[str(stimuli.identifier)] = _read_features(PropertyAssembly, _local_features(name), stimuli)
        score = loaded(PrecomputedFeatures(features, visual_degrees=visual_measurements_of(loaded).screen_degrees))
        _equal(float(score.attrs["raw"]), expected, f"the raw score of {benchmark!r}")


class VisualDegreesTests:
    """Tests of how stimuli are placed on a model's screen."""

    def amount_gray_test(self, benchmark: str, candidate_degrees: int, image_id: str, expected: Any) -> None:
        """Check how much of a stimulus is grey.

        Parameters
        ----------
        benchmark : str
            Identifier of the benchmark.
        candidate_degrees : int
            Visual angle of the model's screen, in degrees.
        image_id : str
            ``stimulus_id`` of an image.
        expected
            Number of pixels of exactly (128, 128, 128), divided by height × width × channels, as published.
        """
        stimuli = _observed(_loaded(benchmark), degrees=candidate_degrees).stimuli
        _equal(_grey_fraction(stimuli.get_stimulus(image_id)), expected, f"the grey part of {image_id!r}")


class NumberOfTrialsTests:
    """Tests of how often stimuli are shown."""

    def repetitions_test(self, benchmark_identifier: str) -> None:
        """Check that stimuli are shown more than once."""
        trials = _observed(_loaded(benchmark_identifier), degrees=8).number_of_trials
        _holds(trials > 1, f"{benchmark_identifier!r} shows each stimulus {trials} time, not several times")


class Shown(BaseException):
    """Stimuli that a benchmark shows; raised to end the benchmark, which does not catch it as an Exception."""

    def __init__(self, stimuli: StimulusSet, number_of_trials: int) -> None:
        super().__init__()
        self.stimuli, self.number_of_trials = stimuli, number_of_trials


class _Onlooker(ReplayingModel):
    """Ends the benchmark when it is first shown stimuli."""

    def start_task(self, task: Any, fitting_stimuli: Any = None, **kwargs: Any) -> None:
        """Accept any task."""

    def start_recording(self, recording_target: Any, time_bins: Any = None, **kwargs: Any) -> None:
        """Accept any region."""

    def look_at(self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False) -> NoReturn:
        raise Shown(stimuli, number_of_trials)


def first_shown(benchmark: Benchmark, *, degrees: float) -> Shown | None:
    """The first stimuli that a benchmark shows to a model with this visual angle; None if it shows none."""
    try:
        benchmark(_Onlooker("onlooker", degrees))
    except Shown as shown:
        return shown
    return None


def _observed(benchmark: Benchmark, *, degrees: float) -> Shown:
    shown = first_shown(benchmark, degrees=degrees)
    if shown is None:
        raise AssertionError(f"{benchmark.identifier!r} showed the model no stimuli")
    return shown


def _grey_fraction(path: Path) -> float:
    from PIL import Image

    with Image.open(path) as image:
        levels = np.atleast_3d(np.asarray(image))
    grey = (levels == 128).all(axis=2) if levels.shape[2] == 3 else np.zeros(levels.shape[:2], dtype=bool)
    return float(grey.sum() / levels.size)


def _read_features(cls: type[DataAssembly], path: str | Path, stimuli: StimulusSet) -> DataAssembly:
    """Read features from a file and add the columns of their stimuli, matched by file name if necessary."""
    features = cls.from_files(path, merge_stimulus_set_meta=False)
    if "presentation" not in features.dims:
        features = features.stack(presentation=["stimulus_path"])
    if "stimulus_id" not in features.coords:
        files = {Path(stimuli.get_stimulus(name)).name: name for name in stimuli["stimulus_id"]}
        names = [Path(str(path)).name for path in features["stimulus_path"].values]
        differing = sorted(set(files) ^ set(names))
        if differing:
            raise UserError(
                f"{path} has features of other files than the stimuli of {stimuli.identifier!r}: "
                f"{first_few(differing, 5)}",
                remedy="compute the features of exactly these stimuli",
            )
        features["stimulus_id"] = "presentation", [files[name] for name in names]
    table = stimuli.set_index("stimulus_id").loc[features["stimulus_id"].values]
    for column in table.columns:
        if column not in features.coords and column not in features.dims:
            features[column] = "presentation", table[column].to_numpy()
    return features


def _local_features(name: str | Path) -> Path:
    path = Path(name)
    if path.is_file():
        return path
    from brainscore_core.supported_data_standards.brainio.fetch import fetch_all

    # the published files have no recorded hashes; reading a file with features of other stimuli raises an error
    key = f"{_FEATURES_FOLDER}/{path.name}"
    return fetch_all([object_request(_FEATURES_BUCKET, key, sha1=None, version_id=None)])[0]


def _loaded(benchmark: str | Benchmark) -> Benchmark:
    from brainscore_vision.registries import load_benchmark

    return load_benchmark(benchmark) if isinstance(benchmark, str) else benchmark


def _holds(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _equal(value: Any, expected: Any, what: str) -> None:
    # `expected` may be pytest.approx, which defines ==
    if not bool(value == expected):
        raise AssertionError(f"{what} is {value}, expected {expected}")
