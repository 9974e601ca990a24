"""Encoders: maps from a model's features to recorded neuroids, which predict responses to new pictures."""

import hashlib
import io
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.lazy import content_of
from brainscore_core.metric_helpers.alignment import as_table, finite_values, match_rows
from brainscore_core.metric_helpers.xarray_utils import Defaults, XarrayRegression
from brainscore_core.numerics.linear_regression import LinearFit
from brainscore_core.plugins.loading import is_file_reference
from brainscore_core.provenance import recording
from brainscore_core.receipts.environment import current_environment, describe_plugin
from brainscore_core.strict_json import dumps, loads, plain
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    visual_measurements_of,
    without_single_time_bin,
)
from brainscore_vision.benchmark_helpers.neural_common import groups_of_neuroids, record
from brainscore_vision.benchmark_helpers.screen import stimulus_files
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_sources.unregistered import wrap_model
from brainscore_vision.registries import load_benchmark, registered_folder, resolve_benchmark

SCHEMA = 1
"""Version of the format of stored encoders."""

PICTURE_ENDINGS = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"})

_DESCRIPTION, _ARRAYS = "encoder.json", "map.npz"
_LARGEST = 1e100  # number in a map: squares of larger ones may not be finite
_LARGEST_PICTURE = 10_000  # pixels of a side of the test pictures
_TOLERANCE = 0.01  # standard deviations of the features by which those of test pictures may differ


@dataclass(frozen=True, eq=False)
class Encoder:
    """A linear map from a model's features to neuroids.

    Attributes
    ----------
    weights : array, features × neuroids
        Of features minus `feature_mean`.
    feature_mean : array (features,)
        Mean of the features over the stimuli that the map was fitted on.
    response_mean : array (neuroids,)
        Mean of the responses to them.
    probe : array, test pictures × features
        The model's features of two generated pictures, by which the model is recognised.
    neuroids : dict
        Coordinates of the neuroids: name → a value for each, ``neuroid_id`` among them.
    description : dict
        Model, layers, weights, benchmark, metric, region, visual angle and versions, as in ``encoder.json``.
    """

    weights: NDArray[np.float64]
    feature_mean: NDArray[np.float64]
    response_mean: NDArray[np.float64]
    probe: NDArray[np.float64]
    neuroids: dict[str, list[Any]]
    description: dict[str, Any]

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``encoder.json`` and ``map.npz`` into a folder, which is made; both contain data only, no code."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        stream = io.BytesIO()
        arrays = {name: getattr(self, name) for name in ("weights", "feature_mean", "response_mean", "probe")}
        np.savez(stream, **arrays)
        content = stream.getvalue()
        described = {"schema": SCHEMA, **self.description, "neuroids": self.neuroids}
        described["map_sha256"] = hashlib.sha256(content).hexdigest()
        for name, data in ((_ARRAYS, content), (_DESCRIPTION, dumps(described).encode())):
            with replacing(place / name) as file:
                file.write(data)
        return place

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read an encoder; no code in it is run.

        Raises
        ------
        UserError
            If a file is missing or damaged, from another version of the format, or names a file as the model.
        """
        place = Path(folder)
        try:
            described = loads((place / _DESCRIPTION).read_bytes())
            content = (place / _ARRAYS).read_bytes()
            if described["schema"] != SCHEMA:
                raise ValueError(f"its format is {described['schema']}, this version reads {SCHEMA}")
            if hashlib.sha256(content).hexdigest() != described.pop("map_sha256"):
                raise ValueError(f"{_ARRAYS} is not the file that {_DESCRIPTION} describes")
            weights, feature_mean, response_mean, probe = _read_arrays(content)
            neuroids = described.pop("neuroids")
            features, number = weights.shape
            shapes = feature_mean.shape, response_mean.shape, probe.shape
            expected = (features,), (number,), (2, features)
            if shapes != expected or any(len(each) != number for each in neuroids.values()):
                raise ValueError("the shapes of its arrays do not fit together")
            del described["schema"]
            _require_description(described, neuroids)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, zipfile.BadZipFile) as error:
            raise UserError(
                f"{place} cannot be read as an encoder: {error}",
                remedy="name a folder that brainscore fit wrote, with encoder.json and map.npz",
            ) from error
        return cls(weights, feature_mean, response_mean, probe, neuroids, described)

    def predict(
        self, stimuli: StimulusSet, *, model: Any = None, visual_degrees: float | None = None
    ) -> NeuroidAssembly:
        """Predict the responses to stimuli.

        Parameters
        ----------
        stimuli : StimulusSet
            Such as from :func:`stimuli_of_folder`.
        model : optional
            The model, if it is not registered: ``path/to/file.py:make_model``, or as for `brainscore_vision.score`.
        visual_degrees : float, optional
            Visual angle that the stimuli span; by default that of the experiment.

        Returns
        -------
        NeuroidAssembly
            presentation × neuroid, in the units of the recordings.

        Raises
        ------
        UserError
            If the model is not the one that the map was fitted with, or prepares pictures differently.
        """
        described = self.description
        subject = self._model(model)
        measurements = _screen(described, visual_degrees)
        probe = _probe(subject, _screen(described, None), described["picture_size"])
        self._check(probe)
        recorded = as_table(record(subject, measurements, [stimuli])[0], Defaults.expected_dims, role="features")
        self._check_names(recorded)
        values = np.asarray(finite_values(recorded, role="features"), dtype=np.float64)
        predicted = (values - self.feature_mean) @ self.weights + self.response_mean
        coords: dict[str, Any] = {name: ("neuroid", value) for name, value in self.neuroids.items()}
        coords |= coords_for_dim(recorded, "presentation")
        return NeuroidAssembly(predicted, coords=coords, dims=["presentation", "neuroid"])

    def _model(self, model: Any) -> Any:
        """Load the model; layers that would be selected are those of the encoder."""
        described = self.description
        if model is None or (isinstance(model, str) and not is_file_reference(model)):
            subject: Any = wrap_model(described["model"] if model is None else model)
        else:
            subject = wrap_model(model, visual_degrees=described["model_visual_degrees"])
        if isinstance(subject, ModelCommitment) and not subject.region_layer_map:
            return ModelCommitment(
                subject.identifier,
                subject.activations_model,
                region_layer_map={described["region"]: described["layers"]},
                visual_degrees=subject.visual_degrees(),
            )
        return subject

    def _check(self, probe: DataAssembly) -> None:
        """Compare features of generated pictures, which any other weights, layer or preprocessing change."""
        self._check_names(probe)
        farthest = _farthest(probe.values, self.probe)
        if not farthest <= _TOLERANCE:
            raise self._other_model(
                f"features of test pictures differ by up to {farthest:.2g} standard deviations, so that weights, "
                "preprocessing or visual angle are others"
            )

    def _check_names(self, features: DataAssembly) -> None:
        layers = _layers(features)
        if layers != self.description["layers"] or features.sizes["neuroid"] != len(self.weights):
            raise self._other_model(
                f"it has {features.sizes['neuroid']:,} features of {', '.join(layers)}, the encoder "
                f"{len(self.weights):,} of {', '.join(self.description['layers'])}"
            )

    def _other_model(self, reason: str) -> UserError:
        described = self.description
        return UserError(
            f"the model is not the one that the encoder was fitted with, {described['model']}: {reason}",
            remedy=f"use the model with the weights {(described['weights'] or ['of the encoder'])[0]}, or fit again: "
            f"brainscore fit {described['model']} {described['benchmark']}",
        )


def fit_encoder(model: Any, benchmark: str, *, split: int | None = None, **how: Any) -> Encoder:
    """Fit the map of a benchmark's metric from a model's features to the benchmark's neuroids.

    Parameters
    ----------
    model : str or object
        As for `brainscore_vision.score`.
    benchmark : str
        A benchmark whose metric is a linear regression of neuroids, such as ``MajajHong2015public.IT-pls``.
    split : int, optional
        Fit on the training stimuli of this split of the metric, from 0 on: predictions of its test stimuli are then
        those that the score is computed from. By default on all stimuli; of benchmarks with training stimuli of their
        own, on these.
    **how
        For models that are not registered: ``identifier``, ``layers``, ``visual_degrees`` and others, as for
        `brainscore_vision.score`.

    Returns
    -------
    Encoder

    Raises
    ------
    UserError
        If the metric of the benchmark is no linear map to neuroids, or it has no such split; if the model's features
        are random.
    """
    name = resolve_benchmark(benchmark)
    with recording() as notes:
        loaded = load_benchmark(name)
        measurements = visual_measurements_of(loaded)
        regression = _regression(measurements)
        given = {key: value for key, value in how.items() if key != "identifier" and value is not None}
        subject: Any = wrap_model(model, identifier=how.get("identifier"), **given)
        targets = [without_single_time_bin(content_of(part)) for part in measurements.parts]
        if measurements.training is None:
            targets = [without_single_time_bin(measurements.target())]
        measurements = replace(
            measurements, region=measurements.recorded_region, time_bins=tuple(measurements.recorded_time_bins)
        )
        recorded = record(subject, measurements, targets)
        source, target = (as_table(side[-1], Defaults.expected_dims, role="recordings") for side in (recorded, targets))
        order = match_rows(source, target)
        rows = _rows(measurements, source, target, split)
        features = finite_values(source, role="features")
        responses = finite_values(target, role="recordings")
        groups = None if measurements.training is None else groups_of_neuroids(measurements, targets)
        weights = np.empty((features.shape[1], responses.shape[1]))
        feature_mean, response_mean = np.zeros(features.shape[1]), np.empty(responses.shape[1])
        for columns in [np.arange(responses.shape[1])] if groups is None else groups.values():
            try:
                fit = regression.fit(features[order[rows]], responses[np.ix_(rows, columns)])
            except ValueError as error:
                raise UserError(
                    f"{name} cannot be fitted: {error}", remedy="choose a model with more features, or another metric"
                ) from error
            if not isinstance(fit, LinearFit):
                raise _no_map(name)
            weights[:, columns], feature_mean, response_mean[columns] = fit.coefficients(), fit.x_mean, fit.y_mean
        size = _size(targets[-1].stimulus_set)
        probe = _probe(subject, measurements, size)
        if not _farthest(_probe(subject, measurements, size).values, probe.values) <= _TOLERANCE:
            raise UserError(
                f"the features of {subject.identifier} differ when it is shown the same pictures again",
                remedy="switch dropout off, or seed the noise",
            )
    identifier = str(how.get("identifier") or (model if isinstance(model, str) else subject.identifier))
    if is_file_reference(identifier):
        identifier = str(subject.identifier)
    described = {
        "model": identifier,
        "layers": _layers(source),
        "features": int(features.shape[1]),
        "weights": sorted({item["sha256"] for item in notes.items if item["kind"] == "weights"}),
        "model_visual_degrees": subject.visual_degrees(),
        "benchmark": name,
        "benchmark_version": loaded.version,
        "metric": f"{type(regression).__name__}({_settings(regression)})",
        "fitted_on": {"stimuli": len(rows), "split": split},
        "region": measurements.region,
        "time_bins": measurements.time_bins,
        "number_of_trials": measurements.number_of_trials,
        "visual_degrees": measurements.visual_degrees,
        "picture_size": size,
        "plugins": _plugins(identifier, name),
        "environment": current_environment().packages,
    }
    coords = {key: plain(value.values) for key, value in coords_for_dim(target, "neuroid").items()}
    coords.setdefault("neuroid_id", [str(number) for number in range(target.sizes["neuroid"])])
    return Encoder(weights, feature_mean, response_mean, np.asarray(probe.values, np.float64), coords, plain(described))


def stimuli_of_folder(folder: str | os.PathLike[str]) -> StimulusSet:
    """Make a stimulus set of the pictures in a folder; the ``stimulus_id`` of each is the name of its file.

    A UserError if the folder has no pictures, or the name of one is not valid Unicode.
    """
    place = Path(folder)
    files = sorted(file for file in place.iterdir() if file.suffix.lower() in PICTURE_ENDINGS) if place.is_dir() else []
    if not files:
        endings = ", ".join(sorted(PICTURE_ENDINGS))
        raise UserError(f"there are no pictures in {place}", remedy=f"put files there that end in {endings}")
    if unnamed := [file.name for file in files if plain(file.name) != file.name]:
        raise UserError(f"the name of the file {unnamed[0]!r} is not valid Unicode", remedy="rename it")
    stimuli = StimulusSet({"stimulus_id": [file.name for file in files]})
    stimuli.stimulus_paths = {file.name: file for file in files}
    stimuli.identifier = f"pictures-{hashlib.sha256(str(place.resolve()).encode()).hexdigest()[:12]}"
    return stimuli


def _read_arrays(content: bytes) -> list[NDArray[np.float64]]:
    """The arrays of a map; they are not compressed, so that they need no more memory than the file."""
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        if any(member.compress_type != zipfile.ZIP_STORED for member in members.infolist()):
            raise ValueError(f"{_ARRAYS} is compressed")
    read = []
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        for name in ("weights", "feature_mean", "response_mean", "probe"):
            try:
                array = arrays[name]
            except MemoryError as error:
                raise ValueError(f"{name} does not fit into memory") from error
            if array.dtype != np.float64 or not (np.abs(array) < _LARGEST).all():
                raise ValueError(f"{name} are not numbers of double precision, or some are not finite")
            read.append(array)
    return read


def _require_description(described: dict[str, Any], neuroids: dict[str, Any]) -> None:
    """Raise a ValueError or TypeError if a description lacks an entry, or one has another form than those written."""
    if "neuroid_id" not in neuroids:
        raise ValueError(f"{_DESCRIPTION} lacks neuroid_id")
    if any(
        not isinstance(values, list) or any(isinstance(value, list | dict) for value in values)
        for values in neuroids.values()
    ):
        raise ValueError("the coordinates of its neuroids are not lists of numbers and texts")
    layers, bins, size = described["layers"], described["time_bins"], described["picture_size"]
    shown, own = described["visual_degrees"], described["model_visual_degrees"]
    texts = [described["model"], described["benchmark"], described["region"], *layers, *described["weights"]]
    numbers = [own, described["number_of_trials"], *size, *(() if shown is None else (shown,))]
    if is_file_reference(described["model"]):
        raise ValueError("it names a file as the model, which would run; name the model yourself")
    for name, fits in {
        "layers": isinstance(layers, list) and layers,
        "weights": isinstance(described["weights"], list),
        "names": all(isinstance(text, str) for text in texts),
        "time_bins": all(start < end for start, end in bins),
        "number_of_trials": isinstance(described["number_of_trials"], int),
        "visual angles": all(number > 0 for number in numbers),
        "picture_size": len(size) == 2 and all(isinstance(side, int) and side <= _LARGEST_PICTURE for side in size),
    }.items():
        if not fits:
            raise ValueError(f"its {name} do not have the form that brainscore fit writes")


def _regression(measurements: VisualMeasurements) -> Any:
    """The regression of arrays that the metric fits neuroids by."""
    regression = getattr(measurements.metric, "regression", None)
    if (
        getattr(measurements.metric, "predicts", "") != "recordings"
        or type(regression) is not XarrayRegression
        or not hasattr(regression.estimator, "fit")
    ):
        raise _no_map(measurements.benchmark)
    return regression.estimator


def _no_map(benchmark: str) -> UserError:
    return UserError(
        f"the metric of {benchmark} fits no linear map from features to neuroids",
        remedy="choose a benchmark with a metric such as pls, ridge or ridgecv; any recordings can be given one by "
        "name, such as MajajHong2015public.IT:ridgecv",
    )


def _rows(
    measurements: VisualMeasurements, source: DataAssembly, target: DataAssembly, split: int | None
) -> NDArray[np.intp]:
    """Rows of the target to fit on."""
    if split is None:
        return np.arange(target.sizes["presentation"], dtype=np.intp)
    splits = [] if measurements.splits is None else measurements.splits.split_rows(source, target)
    if not 0 <= split < len(splits):
        raise UserError(
            f"{measurements.benchmark} has no split {split}",
            remedy=f"choose one of 0 to {len(splits) - 1}" if splits else "leave out the split: its stimuli are fixed",
        )
    rows: NDArray[np.intp] = splits[split].train
    return rows


def _screen(described: dict[str, Any], visual_degrees: float | None) -> VisualMeasurements:
    """How stimuli are shown to the model."""
    return VisualMeasurements(
        benchmark="the encoder",
        measured=None,
        region=described["region"],
        time_bins=tuple((float(start), float(end)) for start, end in described["time_bins"]),
        number_of_trials=described["number_of_trials"],
        visual_degrees=described["visual_degrees"] if visual_degrees is None else visual_degrees,
    )


def _size(stimuli: StimulusSet) -> tuple[int, int]:
    """Width and height of the first stimulus."""
    from PIL import Image

    with Image.open(next(iter(stimulus_files(stimuli).values()))) as picture:
        return picture.size


def _probe(subject: Any, measurements: VisualMeasurements, size: Sequence[int]) -> DataAssembly:
    """Features of two generated pictures of a size: noise of single pixels, and coloured squares."""
    from PIL import Image

    width, height = size
    random = np.random.RandomState(0)  # gives the same numbers in all versions of NumPy
    squares = random.randint(0, 256, (8, 8, 3))[np.arange(height) * 8 // height][:, np.arange(width) * 8 // width]
    pictures = {"noise": random.randint(0, 256, (height, width, 3)), "squares": squares}
    with TemporaryDirectory(prefix="brainscore-probe-") as folder:
        for name, values in pictures.items():
            Image.fromarray(values.astype(np.uint8)).save(Path(folder, f"{name}.png"))
        stimuli = StimulusSet({"stimulus_id": list(pictures)})
        stimuli.stimulus_paths = {name: Path(folder, f"{name}.png") for name in pictures}
        stimuli.identifier = "encoder-probe"
        (recorded,) = record(subject, replace(measurements, visual_degrees=measurements.screen_degrees), [stimuli])
        table = as_table(recorded, Defaults.expected_dims, role="features")
        names = table["stimulus_id"].values.tolist()
        return table.isel(presentation=[names.index(name) for name in pictures])


def _farthest(probe: NDArray[Any], other: NDArray[Any]) -> float:
    """Largest difference between features of test pictures, in standard deviations of the others."""
    return float(np.abs(probe - other).max()) / (float(other.std()) or 1.0)


def _layers(features: DataAssembly) -> list[str]:
    if "layer" not in features.coords:
        return ["the model"]
    return list(dict.fromkeys(features["layer"].values.astype(str).tolist()))


def _settings(regression: Any) -> str:
    return ", ".join(
        f"{name}={value!r}"
        for name, value in vars(regression).items()
        if not name.startswith("_") and isinstance(value, int | float | str | bool)
    )


def _plugins(model: str, benchmark: str) -> dict[str, Any]:
    """Hashes of the code of model and benchmark."""
    plugins = {}
    for kind, name in (("model", model), ("benchmark", benchmark)):
        try:
            folder = registered_folder(kind, name)
        except UserError:  # it is not registered
            continue
        code = None if folder is None else describe_plugin(folder)
        plugins[kind] = None if code is None else {"name": code.name, "sha256": code.sha256}
    return plugins
