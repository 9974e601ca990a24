"""Ceilings of recordings of several subjects, extrapolated to infinitely many (Schrimpf et al. 2021)."""

from __future__ import annotations

import itertools
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import OptimizeWarning, curve_fit

from brainscore_core.metric_helpers.predictivity import CrossRegressedCorrelation
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.progress import track
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

_logger = logging.getLogger(__name__)

_CURVE = np.arange(1000)
"""Numbers of subjects at which the endpoint of a curve is looked for."""
_FLAT = 0.0005
"""Increase from one number of subjects to the next below which a curve has ended."""


def v(x: Any, v0: float, tau0: float) -> Any:
    """Consistency with x subjects, v0 · (1 − exp(−x / tau0)).

    Examples
    --------
    >>> round(float(v(2, 0.5, 2)), 3)
    0.316
    """
    return v0 * (1 - np.exp(-x / tau0))


class NoOverlapException(Exception):
    """Subjects share no stimuli."""


class HoldoutSubjectCeiling:
    """Consistency of each subject with the others, whose neuroids predict those of the subject.

    Parameters
    ----------
    subject_column : str
        Coordinate of neuroids that names subjects.
    """

    def __init__(self, subject_column: str) -> None:
        self.subject_column = subject_column

    def __call__(self, assembly: DataAssembly, metric: Callable[..., Score]) -> Score | None:
        """Raw scores of all subjects, split × neuroid, joined; None if no subject has one."""
        names = np.asarray(assembly[self.subject_column].values)
        scores = []
        for subject in self.get_subject_iterations(np.unique(names)):
            try:
                scores.append(self.score(assembly[:, names != subject], assembly[:, names == subject], metric))
            except NoOverlapException as error:
                _logger.debug("no overlap: %s", error)
            except ValueError as error:
                if "Found array with" not in str(error):
                    raise
                _logger.debug("no ceiling for the subject %s: %s", subject, error)
        return Score.merge(*scores) if scores else None

    def get_subject_iterations(self, subjects: Any) -> Any:
        """Subjects that are held out, in their order."""
        return subjects

    def score(self, pool_assembly: DataAssembly, subject_assembly: DataAssembly, metric: Callable[..., Score]) -> Score:
        """Raw scores of one subject's neuroids, from those of the other subjects."""
        if isinstance(metric, CrossRegressedCorrelation):
            return metric.correlations(pool_assembly, subject_assembly)
        return metric(pool_assembly, subject_assembly).raw


class ExtrapolationCeiling:
    """Median over neuroids of the consistency with infinitely many subjects.

    For every number of subjects and every choice of them, each subject is predicted from the others. For each neuroid a
    curve v0 · (1 − exp(−x / tau0)) is fitted to bootstrapped means at each number x; its ceiling is the median of v0.

    Parameters
    ----------
    subject_column : str
        Coordinate of neuroids that names subjects.
    extrapolation_dimension : str
        Dimension of the values that are extrapolated one by one.
    num_bootstraps : int
        Number of bootstrap samples.

    Notes
    -----
    The interval of the result is the percentile interval of the median over neuroids of the bootstrapped v0; subjects
    and stimuli are not resampled.
    """

    def __init__(
        self,
        subject_column: str = "subject_id",
        extrapolation_dimension: str = "neuroid",
        num_bootstraps: int = 100,
    ) -> None:
        self.subject_column = subject_column
        self.extrapolation_dimension = extrapolation_dimension
        self.num_bootstraps = num_bootstraps
        self.holdout_ceiling = HoldoutSubjectCeiling(subject_column)

    def __call__(self, assembly: DataAssembly, metric: Callable[..., Score]) -> Score:
        """Estimate the ceiling of recordings, presentation × neuroid, for a metric of source and target."""
        return self.extrapolate(self.collect(assembly, metric))

    def build_subject_subsamples(self, num_subjects: int) -> range:
        """Numbers of subjects, from two."""
        return range(2, num_subjects + 1)

    def iterate_subsets(
        self, assembly: DataAssembly, num_subjects: int
    ) -> Iterator[tuple[dict[str, Any], DataAssembly]]:
        """Every choice of that many subjects, and its recordings."""
        names = np.asarray(assembly[self.subject_column].values)
        for subjects in itertools.combinations(np.unique(names), num_subjects):
            yield {self.subject_column: subjects}, assembly[:, np.isin(names, subjects)]

    def collect(self, assembly: DataAssembly, metric: Callable[..., Score]) -> Score:
        """Scores of all choices: sub_<subject column> × num_subjects × split × neuroid; NaN where there is none."""
        numbers = self.build_subject_subsamples(len(np.unique(assembly[self.subject_column].values)))
        subsets = [(n, *subset) for n in numbers for subset in self.iterate_subsets(assembly, n)]
        scores = []
        for number, subjects, subset in track(subsets, "ceiling", len(subsets), unit="subsets"):
            score = self.holdout_ceiling(subset, metric)
            if score is not None:
                name = f"sub_{self.subject_column}"
                score = score.expand_dims({name: [str(subjects[self.subject_column])], "num_subjects": [number]})
                scores.append(score)
        if not scores:
            raise ValueError("no choice of subjects has a score: do they share stimuli?")
        return self.average_collected(Score.merge(*scores))

    def average_collected(self, scores: Score) -> Score:
        """The scores that are extrapolated."""
        return scores

    def extrapolate(self, ceilings: Score) -> Score:
        """Fit each neuroid's curve, and take medians."""
        dim = self.extrapolation_dimension
        neuroids = [
            self.extrapolate_neuroid(ceilings.isel({dim: [number]}).squeeze(dim))
            for number in range(ceilings.sizes[dim])
        ]
        values = np.array([float(neuroid) for neuroid in neuroids])
        coords = {
            name: (dim, coord.values) for name, coord in ceilings.coords.items() if coord.dims == (dim,) and name != dim
        }
        for side in ("error_low", "error_high"):
            coords[side] = (dim, np.array([float(neuroid.attrs[side]) for neuroid in neuroids]))
        raw = Score(values, coords=coords, dims=[dim])
        parameters = np.stack([neuroid.attrs["bootstrapped_params"] for neuroid in neuroids])
        endpoints = np.array([neuroid.attrs["endpoint_x"] for neuroid in neuroids])
        raw.attrs.update(raw=ceilings, bootstrapped_params=parameters, endpoint_x=endpoints)
        return self.aggregate_neuroid_ceilings(raw)

    def aggregate_neuroid_ceilings(self, neuroid_ceilings: Score) -> Score:
        """Median over neuroids; the estimates of single neuroids are its raw values."""
        parameters = neuroid_ceilings.attrs["bootstrapped_params"]
        medians = np.nanmedian(parameters, axis=0)
        ceiling = Score(float(np.nanmedian(neuroid_ceilings.values)))
        low, high = np.nanpercentile(medians[:, 0], [2.5, 97.5])
        attach_uncertainty(
            ceiling,
            error=float(np.nanstd(medians[:, 0])),
            ci=(min(float(low), float(ceiling)), max(float(high), float(ceiling))),
            method="bootstrap",
            estimates="median over neuroids of extrapolated consistencies; choices of these subjects",
        )
        ceiling.attrs.update(
            raw=neuroid_ceilings,
            bootstrapped_params=Score(medians, coords={"param": ["v0", "tau0"]}, dims=["bootstrap", "param"]),
            endpoint_x=Score(float(np.nanmedian(neuroid_ceilings.attrs["endpoint_x"]))),
            meaning="upper bound",
        )
        return ceiling

    def extrapolate_neuroid(self, ceilings: Score) -> Score:
        """Median of v0 over bootstrap samples of the scores of one neuroid."""
        random = np.random.RandomState(0)
        numbers = np.asarray(ceilings["num_subjects"].values)
        subsets = f"sub_{self.subject_column}"
        values = ceilings.transpose("num_subjects", subsets, "split").values
        complete = [rows[~np.isnan(rows).any(axis=1)].ravel() for rows in values]
        parameters = np.array(
            [
                self.fit(numbers, np.array([_mean_of_sample(scores, random) for scores in complete]))
                for _ in range(self.num_bootstraps)
            ]
        )
        fitted = parameters[~np.isnan(parameters).any(axis=1)]
        result = Score(float(np.median(parameters[:, 0])))
        low, high, endpoint = np.nan, np.nan, np.nan
        if len(fitted):
            curves = v(_CURVE, fitted[:, :1], fitted[:, 1:])
            middle = np.median(curves, axis=0)
            ended = np.flatnonzero(np.diff(middle) < _FLAT)
            if len(ended):
                endpoint = float(_CURVE[ended[0]])
                at_end = curves[:, ended[0]]
                low, high = (
                    middle[ended[0]] - np.percentile(at_end, 2.5),
                    np.percentile(at_end, 97.5) - middle[ended[0]],
                )
        result.attrs.update(error_low=low, error_high=high, endpoint_x=endpoint, bootstrapped_params=parameters)
        return result

    def fit(self, subject_subsamples: Any, bootstrapped_scores: Any) -> Any:
        """(v0, tau0) of the curve through means at numbers of subjects; NaN where there is none."""
        numbers, scores = np.asarray(subject_subsamples, dtype=float), np.asarray(bootstrapped_scores, dtype=float)
        finite = np.isfinite(scores)
        if not finite.any():
            return np.nan, np.nan
        try:
            with np.errstate(over="ignore"), warnings.catch_warnings():  # of curves that are tried on the way
                warnings.simplefilter("ignore", OptimizeWarning)
                parameters, _ = curve_fit(v, numbers[finite], scores[finite], bounds=([0, -np.inf], [1, np.inf]))
        except (RuntimeError, ValueError):
            return np.nan, np.nan
        return tuple(parameters)


def _mean_of_sample(scores: np.ndarray, random: np.random.RandomState) -> float:
    """Mean of as many scores drawn with replacement; NaN of none."""
    return float(np.mean(random.choice(scores, size=len(scores), replace=True))) if len(scores) else np.nan
