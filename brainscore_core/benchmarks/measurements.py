"""What a benchmark measures, how it compares models with it, and stimuli that are equal or belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import normalise
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.lazy import content_of
from brainscore_core.metric_helpers.transformations import SplitRows
from brainscore_core.metrics import Score, declarations_of
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.findings import Finding
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """What a benchmark measures, and how it compares models with it.

    A benchmark returns one from :meth:`~brainscore_core.benchmarks.Benchmark.measurements`. Assemblies may be
    :class:`~brainscore_core.lazy.LazyLoad`; making the object loads nothing.

    Attributes
    ----------
    benchmark : str
        Identifier of the benchmark, for messages.
    measured : DataAssembly or StimulusSet
        Measurements that models are compared with, averaged over repetitions; the stimuli if nothing was measured.
    compares : str
        Kind of the measurements: ``'recordings'``, ``'choices'``, ``'properties'``, ``'matrices'`` or another noun. Any
        metric of recordings can be applied to recordings.
    metric : callable or None
        ``metric(source, target) -> Score``; with training measurements ``metric(source_train=…, source_test=…,
        target_train=…, target_test=…)``. None if the benchmark compares in a way of its own.
    relate : callable
        Function of a raw score and the ceiling that returns the score; by default
        :func:`~brainscore_core.benchmarks.normalise`.
    repetitions : DataAssembly or None
        The measurements before averaging, from which reliabilities are estimated; None if they are unknown.
    training : DataAssembly or None
        Measurements to fit on, if the experiment fixed them; `measured` is then only tested on.
    fitted_by : str or None
        Coordinate of neuroids, such as ``'subject'``, whose values are fitted separately.
    region : str or None
        Region to record from; None for the coordinate ``region`` of the measurements.
    time_bins : tuple of (number, number) or None
        Time bins to record, in milliseconds after stimulus onset; None for those of the measurements.
    number_of_trials : int
        How often each stimulus was presented.

    Examples
    --------
    >>> recordings = DataAssembly([[1.0], [2.0]], dims=["presentation", "neuroid"])
    >>> measurements = Measurements(benchmark="Author2026-rdm", measured=recordings, region="IT")
    >>> measurements.target() is recordings
    True
    """

    benchmark: str
    measured: Any = field(repr=False)  # texts of lazy assemblies would load them
    compares: str = "recordings"
    metric: Callable[..., Score] | None = None
    relate: Callable[[Score, Score], Score] = normalise
    repetitions: Any = field(default=None, repr=False)
    training: Any = field(default=None, repr=False)
    fitted_by: str | None = None
    region: str | None = None
    time_bins: tuple[tuple[float, float], ...] | None = None
    number_of_trials: int = 1

    def __post_init__(self) -> None:
        self.require("compares", str)
        self.require("region", str | None)
        self.require("number_of_trials", Real)

    def require(self, name: str, kind: Any) -> None:
        """Raise a UserError if an attribute is of another type."""
        if not isinstance(value := getattr(self, name), kind):
            raise UserError(f"{name} of the measurements of {self.benchmark!r} is {value!r}")

    @property
    def splits(self) -> Any:
        """How the metric divides stimuli (its ``cross_validation``); None if it does not."""
        return getattr(self.metric, "cross_validation", None)

    @property
    def parts(self) -> list[Any]:
        """The measurements that models are shown the stimuli of: those to test on, then those to fit on."""
        return [self.measured] if self.training is None else [self.measured, self.training]

    def averaged(self) -> DataAssembly:
        """Load `measured`; a UserError if it is no assembly and no stimulus set."""
        assembly: DataAssembly = content_of(self.measured)
        if not isinstance(assembly, DataAssembly | StimulusSet):
            raise UserError(
                f"what {self.benchmark!r} measured is a {type(assembly).__name__}, not an assembly or a stimulus set",
                remedy="pass measured=… an assembly in measurements()",
            )
        return assembly

    @property
    def stimuli_were_designed(self) -> bool:
        """Whether the stimuli were chosen to decide between models, so that scores on them belong to no average."""
        measured = content_of(self.measured)
        stimuli = measured if isinstance(measured, StimulusSet) else getattr(measured, "attrs", {}).get("stimulus_set")
        return isinstance(stimuli, StimulusSet) and "designed_for" in stimuli.columns

    def single_repetitions(self) -> DataAssembly:
        """Load the measurements before averaging.

        Raises
        ------
        UserError
            If they are unknown.
        """
        for candidate in (self.repetitions, self.measured):
            assembly = content_of(candidate)
            if isinstance(assembly, DataAssembly) and "repetition" in {*assembly.coords, *assembly.dims}:
                return assembly
        raise UserError(
            f"single repetitions of the {self.compares} of {self.benchmark!r} are not known",
            remedy="pass the benchmark its measurements with the coordinate 'repetition' (repetitions=…), or use a "
            "ceiling and a metric that need none, such as @none",
        )

    def target(self) -> DataAssembly:
        """Load what the metric compares models with: single repetitions if it needs them, else averages."""
        return self.single_repetitions() if declarations_of(self.metric).needs_repetitions else self.averaged()

    def settings(self) -> Iterator[tuple[str, str]]:
        """Names and texts of settings, for displays."""
        yield "trials", f"{self.number_of_trials:g}"


def measurements_or_none(benchmark: Any) -> Measurements | None:
    """What a benchmark measures; None if it does not say, a UserError if it says something else."""
    define = getattr(benchmark, "measurements", None)
    if not callable(define):
        return None
    try:
        measurements = define()
    except (UserError, DataUnavailable):
        raise
    except Exception as error:
        raise UserError(f"measurements() of {_name(benchmark)} failed: {type(error).__name__}: {error}") from error
    if measurements is not None and not isinstance(measurements, Measurements):
        raise UserError(
            f"measurements() of {_name(benchmark)} returned a {type(measurements).__name__}",
            remedy="return a Measurements (of vision: VisualMeasurements), or None",
        )
    return measurements


def _name(benchmark: Any) -> str:
    return repr(str(getattr(benchmark, "identifier", type(benchmark).__name__)))


def measurements_of(benchmark: Any) -> Measurements:
    """What a benchmark measures.

    Parameters
    ----------
    benchmark : Benchmark
        Its ``measurements()`` are returned.

    Raises
    ------
    UserError
        If it does not say what it measures.
    """
    measurements = measurements_or_none(benchmark)
    if measurements is None:
        raise UserError(
            f"{_name(benchmark)} does not say what it measures",
            remedy="define measurements() in its class",
        )
    return measurements


Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Overlap:
    """Stimuli that are equal or belong together."""

    kind: str  # ``'equal files'``, ``'near-duplicates'``, or the coordinate that groups stimuli
    # groups and stimuli: number of groups of at least two stimuli, and of stimuli in them
    groups: int
    stimuli: int
    pairs: int | None  # number of pairs; None for a coordinate
    share: float | None  # share of test stimuli whose group is also among the training stimuli, mean over splits
    reason: str | None  # why there is no share

    @property
    def across(self) -> bool:
        """Whether splits divide groups."""
        return bool(self.share)

    def text(self) -> str:
        """Write one line."""
        pairs = "" if self.pairs is None else f"{self.pairs:,} pairs, "
        share = f"no splits: {self.reason}"
        if self.share is not None:
            share = f"{percent(self.share)} of the test stimuli share a group with training stimuli"
        return f"{self.kind}: {pairs}{self.stimuli:,} stimuli in {self.groups:,} groups; {share}"


def find_overlaps(
    codes: Mapping[str, Codes], pairs: Mapping[str, int], splits: Sequence[SplitRows], reason: str | None
) -> Iterator[Overlap]:
    """Describe each grouping.

    `codes`: what groups stimuli → group of each. `pairs`: numbers of pairs of equal or nearly equal stimuli, by the
    same names. `splits`: rows on both sides of each split; `reason`: why there are none.

    Examples
    --------
    >>> splits = [SplitRows(np.array([0, 2]), np.array([1])), SplitRows(np.array([1, 2]), np.array([0]))]
    >>> [overlap] = find_overlaps({"story": np.array([0, 0, 1])}, {}, splits, None)
    >>> overlap.share, overlap.groups, overlap.stimuli
    (1.0, 1, 2)
    """
    for kind, groups in codes.items():
        sizes = np.bincount(groups)
        shares = [float(np.isin(groups[split.test], groups[split.train]).mean()) for split in splits]
        yield Overlap(
            kind=kind,
            groups=int((sizes > 1).sum()),
            stimuli=int(sizes[sizes > 1].sum()),
            pairs=pairs.get(kind),
            share=float(np.mean(shares)) if shares else None,
            reason=reason,
        )


def finding_of(overlap: Overlap, remedy: str) -> Finding:
    """What a check says of splits that divide groups; `remedy` says how to keep these together."""
    kind = overlap.kind if overlap.pairs is not None else f"values of {overlap.kind!r}"
    return Finding(
        f"splits divide {kind}",
        f"{percent(overlap.share)} of the test stimuli share a group with training stimuli "
        f"({overlap.stimuli} stimuli in {overlap.groups} groups)",
        f"{remedy}; or set ungrouped_splits of the benchmark to the reason why not",
        source="splits",
    )


def percent(share: float | None) -> str:
    """A share in percent."""
    return "?" if share is None else f"{100 * share:.0f} %"
