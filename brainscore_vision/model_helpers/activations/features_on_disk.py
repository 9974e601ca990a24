"""Precomputed features, looked up by stimulus_id."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.formatting import first_few
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations.assemblies import (
    LayerUnits,
    Presentations,
    ShownStimuli,
    make_assembly,
    presentation_coords,
    spiral,
)

_IDS = "stimulus_id"


class FeaturesOnDisk:
    """An activations model of precomputed features in files.

    `files`: ``.npz`` with one array per layer and ``stimulus_id``; a netCDF file of a
    :class:`~brainscore_core.supported_data_standards.brainio.assemblies.NeuroidAssembly` (with a coordinate ``layer``
    if there are several); or a dictionary from layer to ``.npy`` file, which is memory-mapped. Arrays are stimuli × any
    dimensions. `identifier`: name of the model. `stimulus_ids`: identifiers of the rows of ``.npy`` files; needed for
    these only. A UserError if a file cannot be read, or its rows have no identifiers or too few.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.savez(folder / "features.npz", stimulus_id=["a", "b"], fc=[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    >>> activations_model = FeaturesOnDisk(folder / "features.npz", "mine")
    >>> activations_model(StimulusSet({"stimulus_id": ["b", "a"]}), layers=["fc"]).values
    array([[3., 4., 5.],
           [0., 1., 2.]])
    """

    def __init__(
        self,
        files: str | Path | Mapping[str, str | Path],
        identifier: str,
        *,
        stimulus_ids: Sequence[str] | None = None,
    ) -> None:
        self.identifier = identifier
        if isinstance(files, Mapping):
            if stimulus_ids is None:
                raise UserError("the rows of .npy files have no names", remedy="pass stimulus_ids")
            self._layers = {layer: _mapped(Path(path)) for layer, path in files.items()}
            ids = [str(stimulus_id) for stimulus_id in stimulus_ids]
        elif Path(files).suffix == ".npz":
            self._layers, ids = _of_npz(Path(files))
        else:
            self._layers, ids = _of_netcdf(Path(files))
        for layer, values in self._layers.items():
            if values.shape[:1] != (len(ids),):
                raise UserError(
                    f"layer {layer!r} of {identifier!r} has shape {values.shape}, but {len(ids)} stimuli are named",
                    remedy="the first axis must be the stimuli",
                )
        self._row = {name: number for number, name in enumerate(ids)}
        if len(self._row) < len(ids):
            raise UserError(
                f"{len(ids) - len(self._row)} stimuli of {identifier!r} occur twice",
                remedy="give each stimulus one row, such as the mean over its presentations",
            )

    def layers(self) -> list[str]:
        """Names of the layers."""
        return list(self._layers)

    def __call__(
        self,
        stimuli: StimulusSet,
        layers: Sequence[str],
        stimuli_identifier: str | bool | None = None,
        number_of_trials: int = 1,
        require_variance: bool = False,
    ) -> NeuroidAssembly:
        """Return features of some layers, equal in all trials; see :meth:`ActivationsExtractorHelper.__call__`."""
        unknown = [layer for layer in layers if layer not in self._layers]
        if unknown or not layers:
            raise UserError(
                f"{self.identifier!r} has no layer {', '.join(unknown)}", remedy=f"it has {', '.join(self._layers)}"
            )
        if number_of_trials < 1:
            raise UserError(f"number_of_trials is {number_of_trials}", remedy="show each stimulus at least once")
        ids = [str(stimulus_id) for stimulus_id in stimuli[_IDS]]
        missing = [stimulus_id for stimulus_id in ids if stimulus_id not in self._row]
        if missing:
            raise UserError(
                f"{self.identifier!r} has no features of {len(missing)} of {len(ids)} stimuli: {first_few(missing)}",
                remedy="compute them, too: features are looked up by stimulus_id",
            )
        rows = np.array([self._row[stimulus_id] for stimulus_id in ids], dtype=np.intp)
        arrays = {layer: self._layers[layer] for layer in layers}
        units = [LayerUnits(layer, array.shape[1:], int(np.prod(array.shape[1:]))) for layer, array in arrays.items()]
        flat = [array.reshape(len(array), -1) for array in arrays.values()]
        if len(flat) == 1:  # not copied if the rows are in the order of the file
            values = flat[0]
        else:
            values, rows = np.concatenate([array[rows] for array in flat], axis=1), np.arange(len(ids))
        presentations = _Rows(tuple(map(Path, ids)), presentation_coords(stimuli), stimuli.identifier, rows=rows)
        trials = number_of_trials if require_variance else 1
        shown = ShownStimuli(presentations, trials, spiral(1, height=1, visual_degrees=None), moving=False)
        return make_assembly(self.identifier, shown, units, values)


@dataclass(frozen=True)
class _Rows(Presentations):
    """Presentations with given rows."""

    rows: Any = None


def _mapped(path: Path) -> NDArray[Any]:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read: {error}", remedy="write it with numpy.save, without objects"
        ) from error


def _of_npz(path: Path) -> tuple[dict[str, NDArray[Any]], list[str]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read: {error}", remedy="write it with numpy.savez, without objects"
        ) from error
    if _IDS not in arrays:
        raise UserError(f"{path} does not identify its rows", remedy="add an array 'stimulus_id' to it")
    ids = arrays.pop(_IDS)
    return arrays, list(map(str, ids))


def _of_netcdf(path: Path) -> tuple[dict[str, NDArray[Any]], list[str]]:
    if not path.is_file():
        raise UserError(f"there is no file {path}", remedy="pass an .npz file, a netCDF file, or {layer: .npy file}")
    recorded = NeuroidAssembly.from_files(path).transpose("presentation", "neuroid")
    ids = [str(stimulus_id) for stimulus_id in recorded[_IDS].values]
    names = recorded["layer"].values if "layer" in recorded.coords else np.full(recorded.shape[1], path.stem)
    return {str(name): recorded.values[:, names == name] for name in dict.fromkeys(names)}, ids
