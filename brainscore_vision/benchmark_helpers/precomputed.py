"""Models that replay precomputed features or recorded decisions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brainscore_core.errors import NotApplicable, UserError, spelling_hint
from brainscore_core.formatting import first_few
from brainscore_core.numerics import effective_dimensionality
from brainscore_core.provenance import is_recorded, note
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
    walk_coords,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import identifier_before_screen
from brainscore_vision.model_interface import BrainModel


class ReplayingModel(BrainModel):
    """Base of models that answer without a network; `visual_degrees` is the visual angle that their input spans."""

    def __init__(self, identifier: str, visual_degrees: float) -> None:
        self._identifier = identifier
        self._visual_degrees = visual_degrees

    @property
    def identifier(self) -> str:
        """Name of the model."""
        return self._identifier

    def visual_degrees(self) -> float:
        """Visual angle that the model's input spans, in degrees."""
        return self._visual_degrees


class PrecomputedFeatures(ReplayingModel):
    """A model that replays precomputed features.

    Parameters
    ----------
    features : DataAssembly or dict of str to DataAssembly
        Features with ``stimulus_id`` on ``presentation``: one assembly, or one for each stimulus set's identifier
        (before the stimuli are placed on a screen).
    visual_degrees : float
        Visual angle that the model's input spans, in degrees.
    identifier : str
        Name of the model.

    Notes
    -----
    Features with a dimension ``neuroid`` are recordings, for any region; others are behavior, for any task. The other
    kind is not applicable. Features must have the requested time bins; a single one is squeezed.

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> features = NeuroidAssembly(np.eye(2), dims=["presentation", "neuroid"], coords={
    ...     "stimulus_id": ("presentation", ["a", "b"]), "neuroid_id": ("neuroid", ["n0", "n1"])})
    >>> model = PrecomputedFeatures(features, visual_degrees=8)
    >>> model.start_recording("IT", time_bins=[(70, 170)])
    >>> model.look_at(StimulusSet({"stimulus_id": ["b"]})).values
    array([[0., 1.]])
    """

    def __init__(
        self,
        features: DataAssembly | Mapping[str, DataAssembly],
        visual_degrees: float,
        *,
        identifier: str = "precomputed-features",
    ) -> None:
        super().__init__(identifier, visual_degrees)
        self._features = features
        self._wanted: str | None = None
        self._region: str | None = None
        assemblies = features.values() if isinstance(features, Mapping) else [features]
        for assembly in assemblies:
            if "presentation" not in assembly.dims or "stimulus_id" not in assembly.coords:
                raise UserError(
                    f"the features have the dimensions {assembly.dims} and the coordinates {list(assembly.coords)}",
                    remedy="features need a dimension 'presentation' with the coordinate 'stimulus_id'",
                )

    def start_task(self, task: str, fitting_stimuli: StimulusSet | Sequence[str] | str | None = None) -> None:
        """Replay behavior from now on; see :meth:`BrainModel.start_task`."""
        if task != BrainModel.Task.passive:
            self._want("behavior")
            self._region = None

    def start_recording(
        self, recording_target: str, time_bins: Sequence[tuple[int, int]] | None = None, **kwargs: Any
    ) -> None:
        """Replay recordings from now on; see :meth:`BrainModel.start_recording`."""
        self._want("recordings")
        self._region = str(recording_target)

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly | NeuroidAssembly:
        """Features of these stimuli, in their order.

        Raises
        ------
        UserError
            If features of the stimulus set or of some stimuli are missing, or a stimulus has several.
        NotApplicable
            If they are behavior and recordings are requested, or vice versa.
        """
        features = self._of_stimulus_set(stimuli)
        if self._wanted is not None and self._wanted != _kind(features):
            raise NotApplicable(f"{self.identifier!r} has {_kind(features)}, not {self._wanted}")
        rows = _rows(
            wanted=stimuli["stimulus_id"].tolist(),
            known=features["stimulus_id"].values.tolist(),
            holder=f"the features of {self.identifier!r}",
        )
        in_order = np.array_equal(rows, np.arange(features.sizes["presentation"]))
        selected = features.isel(presentation=slice(None) if in_order else rows)  # a slice makes no copy
        if "time_bin" in selected.dims and selected.sizes["time_bin"] == 1:
            selected = selected.isel(time_bin=0, drop=True)
        if self._region is not None and "neuroid" in selected.dims:
            note_features(selected, self._region)
        return selected  # type: ignore[return-value] # of the class that was passed

    def _want(self, kind: str) -> None:
        assemblies = list(self._features.values()) if isinstance(self._features, Mapping) else [self._features]
        if assemblies and all(_kind(assembly) != kind for assembly in assemblies):
            raise NotApplicable(f"{self.identifier!r} has {_kind(assemblies[0])}, not {kind}")
        self._wanted = kind

    def _of_stimulus_set(self, stimuli: StimulusSet) -> DataAssembly:
        if not isinstance(self._features, Mapping):
            return self._features
        for name in (stimuli.identifier, identifier_before_screen(stimuli.identifier)):
            if name is not None and name in self._features:
                return self._features[name]
        raise UserError(
            f"{self.identifier!r} has no features of the stimulus set {stimuli.identifier!r}, "
            f"only of {', '.join(map(repr, self._features)) or 'none'}",
            remedy="compute the features of these stimuli, or check the stimulus set's identifier",
        )


class RecordedDecisions(ReplayingModel):
    """A model that replays recorded choices.

    Parameters
    ----------
    identifier : str
        Name of the model.
    decisions : dict or BehavioralAssembly
        stimulus_id → choice; or one-dimensional choices with ``stimulus_id`` on ``presentation``.
    visual_degrees : float
        Visual angle that the model's input spans, in degrees.
    task : str
        The task of the choices; other tasks and recordings are not applicable.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> model = RecordedDecisions("observer", {"image1": "dog", "image2": "cat"}, visual_degrees=8)
    >>> model.start_task("label", ["cat", "dog"])
    >>> model.look_at(StimulusSet({"stimulus_id": ["image2", "image1"]})).values.tolist()
    [['cat'], ['dog']]
    """

    def __init__(
        self,
        identifier: str,
        decisions: Mapping[str, Any] | DataAssembly,
        visual_degrees: float,
        task: str = BrainModel.Task.label,
    ) -> None:
        super().__init__(identifier, visual_degrees)
        self._task = str(task)
        self._started = False
        if isinstance(decisions, Mapping):
            self._ids, self._choices = list(decisions), np.array(list(decisions.values()), dtype=object)
        else:
            if "stimulus_id" not in decisions.coords or decisions.squeeze().ndim > 1:
                raise UserError(
                    f"the decisions have the dimensions {decisions.dims}",
                    remedy="pass one choice per presentation, with the coordinate 'stimulus_id'",
                )
            self._ids, self._choices = decisions["stimulus_id"].values.tolist(), decisions.values.ravel()

    def start_task(self, task: str, fitting_stimuli: StimulusSet | Sequence[str] | str | None = None) -> None:
        """Replay the choices, if they are of this `task`; see :meth:`BrainModel.start_task`."""
        if str(task) != self._task:
            raise NotApplicable(f"{self.identifier!r} has recorded decisions for the task {self._task!r} only")
        self._started = True

    def start_recording(
        self, recording_target: str, time_bins: Sequence[tuple[int, int]] | None = None, **kwargs: Any
    ) -> None:
        """Not applicable: there are only decisions."""
        raise NotApplicable(f"{self.identifier!r} has only recorded decisions and cannot be recorded")

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Choices for these stimuli, in their order.

        Returns
        -------
        BehavioralAssembly
            presentation × choice, with one choice per presentation and every column of `stimuli`.

        Raises
        ------
        UserError
            If there is no decision for some stimuli, or the task was not started.
        """
        if not self._started:
            raise UserError(f"{self.identifier!r} has no task", remedy=f"call start_task({self._task!r}, labels) first")
        rows = _rows(
            wanted=stimuli["stimulus_id"].tolist(), known=self._ids, holder=f"the decisions of {self.identifier!r}"
        )
        coords: dict[str, Any] = {
            str(column): ("presentation", stimuli[column].to_numpy()) for column in stimuli.columns
        }
        coords["choice"] = ("choice", [self._task])
        return BehavioralAssembly(self._choices[rows][:, np.newaxis], coords=coords, dims=["presentation", "choice"])


def check_standard_format(assembly: DataAssembly, nans_expected: bool = False) -> None:
    """Check that recordings have the format that benchmarks need.

    Parameters
    ----------
    assembly : NeuroidAssembly
        Recordings.
    nans_expected : bool
        Whether NaN may occur.

    Raises
    ------
    UserError
        The message lists all problems: another class, no dimension ``presentation`` or ``neuroid`` (in any order;
        there may be others, such as ``time_bin``), no ``stimulus_id``, no ``neuroid_id``, no stimulus set, stimuli
        that are not in it, NaN.
    """
    problems = []
    if not isinstance(assembly, NeuroidAssembly):
        problems.append(f"it is a {type(assembly).__name__}, not a NeuroidAssembly")
    if not {"presentation", "neuroid"} <= set(assembly.dims):
        problems.append(f"its dimensions are {assembly.dims}; 'presentation' and 'neuroid' must be among them")
    dims_of = {name: dims for name, dims, _ in walk_coords(assembly)}
    problems += [
        f"{dim!r} has no coordinate {name!r}"
        for name, dim in (("stimulus_id", "presentation"), ("neuroid_id", "neuroid"))
        if dims_of.get(name) != (dim,)
    ]
    stimulus_set = assembly.attrs.get("stimulus_set")
    problems += [
        f"it has no attribute {name!r}"
        for name in ("stimulus_set", "stimulus_set_identifier")
        if assembly.attrs.get(name) is None
    ]
    if stimulus_set is not None and dims_of.get("stimulus_id") == ("presentation",):
        unknown = set(assembly["stimulus_id"].values.tolist()) - set(stimulus_set["stimulus_id"].tolist())
        if unknown:
            problems.append(f"its stimulus set lacks {first_few(sorted(map(str, unknown)), 5)}")
    if not nans_expected and np.isnan(assembly.values).any():
        problems.append("it contains NaN; pass nans_expected=True if this is intended")
    if problems:
        raise UserError(f"the assembly is not in the standard format: {'; '.join(problems)}")


def _kind(assembly: DataAssembly) -> str:
    return "recordings" if "neuroid" in assembly.dims else "behavior"


def _rows(*, wanted: list[Any], known: list[Any], holder: str) -> list[int]:
    row_of = {identifier: row for row, identifier in enumerate(known)}
    if len(row_of) < len(known):
        times = Counter(known)
        repeated = list(dict.fromkeys(str(identifier) for identifier in wanted if times[identifier] > 1))
        if repeated:
            raise UserError(
                f"{holder} name some stimuli several times: {first_few(repeated, 5)}", remedy="keep one of each"
            )
    missing = list(dict.fromkeys(str(identifier) for identifier in wanted if identifier not in row_of))
    if missing:
        raise UserError(
            f"{holder} lack {len(missing)} of {len(wanted)} stimuli: {first_few(missing, 5)}; they are of "
            f"{first_few([str(identifier) for identifier in known], 5) or 'none'}",
            remedy=spelling_hint(missing, known)
            or "compute or record them for these stimuli, under the same stimulus_id",
        )
    return [row_of[identifier] for identifier in wanted]


def note_features(recordings: DataAssembly, region: str) -> None:
    """Note how many features a model has in a region, and their effective dimensionality, if this is recorded.

    `recordings`: presentation × neuroid[ × time_bin]; of several time bins, the mean of their dimensionalities is
    noted.

    Notes
    -----
    The effective dimensionality is the participation ratio of the eigenvalues of the features' covariance [1]_, from
    all features and stimuli. How it relates to scores: [2]_. It is undefined for a single stimulus, for features that
    do not vary and for features that are not finite.

    References
    ----------
    .. [1] Gao et al. (2017). bioRxiv 214262. https://doi.org/10.1101/214262
    .. [2] Elmoznino & Bonner (2024). PLOS Computational Biology 20, e1011792.
       https://doi.org/10.1371/journal.pcbi.1011792

    Examples
    --------
    >>> from brainscore_core.provenance import recording
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> values = NeuroidAssembly(np.vstack([np.eye(3), -np.eye(3)]), coords={"layer": ("neuroid", ["a"] * 3)},
    ...                          dims=["presentation", "neuroid"])
    >>> with recording() as record:
    ...     note_features(values, "V1")
    >>> round(record.items[0]["effective_dimensionality"], 6)
    3.0
    """
    if not is_recorded("features") or 0 in recordings.shape:
        return
    table = recordings.transpose("presentation", "neuroid", ...)
    layers = table["layer"].values if "layer" in table.coords else np.array([])
    note(
        "features",
        region=region,
        layers=list(dict.fromkeys(map(str, layers.tolist()))),
        stimuli=len(table),
        features=int(table.sizes["neuroid"]),
        effective_dimensionality=_effective_dimensionality(table.values),
    )


def _effective_dimensionality(values: Any) -> float | None:
    slices = [values] if values.ndim == 2 else [values[:, :, time_bin] for time_bin in range(values.shape[2])]
    try:
        value = float(np.mean([effective_dimensionality(slice_values) for slice_values in slices]))
    except ValueError:  # a single stimulus, or values that are not finite
        return None
    return value if np.isfinite(value) else None
