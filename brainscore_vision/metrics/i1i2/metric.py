"""Behavioural consistency of images and objects (Rajalingham 2018)."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks import attach_ceiling, ceil_score
from brainscore_core.errors import spelling_hint
from brainscore_core.metric_helpers.alignment import PUBLISHED_ORDER, MetricInputError, as_table, coord_values, listed
from brainscore_core.metric_helpers.uncertainty import Units, attach_influence, attach_varied
from brainscore_core.metrics import Metric, Score, Uncertainty, declare_no_error
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.numerics.discrimination import (
    choice_counts,
    choice_rates,
    correlation_slopes,
    less_class_means,
    masked_correlation,
    nanmean_rows,
    object_dprimes,
    pairwise_probabilities,
    rates_of_counts,
    stimulus_dprimes,
    through_inverses,
)
from brainscore_core.numerics.resampling import combined_interval, influence_variance
from brainscore_core.populations import FEWEST_GROUPS, these
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

SUBJECT = "subject"
"""Coordinate of the subjects that may be missing."""

_ALIASES = {"sample_obj": "sample_object", "dist_obj": "distractor_object"}


class Trials(NamedTuple):
    """Names of stimuli and objects, and what happened in each trial.

    Trials are sorted by the coordinate ``published_order``, if there is one, otherwise by stimulus, objects and choice,
    so that random halves do not depend on the order in which they are given.
    """

    stimuli: NDArray[Any]
    objects: NDArray[Any]
    truth: NDArray[np.intp]
    """Code of each stimulus' object."""
    stimulus: NDArray[np.intp]
    """Code of each trial's stimulus; so the next two."""
    chosen: NDArray[np.intp]
    distractor: NDArray[np.intp]
    subject: NDArray[np.intp] | None = None
    """Code of each trial's subject, if known; so the names."""
    subjects: NDArray[Any] | None = None


def trials_of(target: DataAssembly, subject_coord: str | None = None) -> Trials:
    """Read the trials of a two-alternative task; see :class:`brainscore_vision.metrics.i1i2.metric.I2n`."""
    target = as_table(target, ("presentation",), role="target")
    columns = {"stimulus_id": coord_values(target, "stimulus_id", role="target")}
    for name, alias in _ALIASES.items():
        present = alias if alias in target.coords and name not in target.coords else name
        columns[name] = coord_values(target, present, role="target")
    columns["choice"] = np.asarray(target.values)
    if target.sizes["presentation"] < 2:
        raise MetricInputError(
            f"the target has {target.sizes['presentation']} trials; two halves are needed",
            remedy="check the selection before it",
        )
    subject = subjects = None
    if subject_coord is not None and (subject_coord != SUBJECT or SUBJECT in target.coords):
        columns[subject_coord] = coord_values(target, subject_coord, role="target")
        subject, subjects = pd.factorize(columns[subject_coord], sort=True)
    for name, values in columns.items():
        remedy = "drop these trials" + (", or pass subject_coord=None" if name == subject_coord else "")
        _refuse(pd.isna(values), columns, f"lack {name!r}", remedy)
    stimulus, stimuli = pd.factorize(columns["stimulus_id"], sort=True)
    codes, objects = pd.factorize(np.concatenate([columns["sample_obj"], columns["dist_obj"]]), sort=True)
    sample, distractor = np.split(np.asarray(codes, dtype=np.intp), 2)
    _refuse(sample == distractor, columns, "offer the same object twice", "correct 'sample_obj' and 'dist_obj'")
    wrong = np.where(columns["choice"] == columns["dist_obj"], distractor, -1)
    chosen = np.where(columns["choice"] == columns["sample_obj"], sample, wrong)
    hint = spelling_hint(columns["choice"][chosen < 0], objects)
    _refuse(chosen < 0, columns, "chose neither of the two objects offered", hint or "drop trials without an answer")
    truth = np.empty(len(stimuli), dtype=np.intp)
    truth[stimulus] = sample
    several = "show a stimulus that has another 'sample_obj' in other trials"
    _refuse(truth[stimulus] != sample, columns, several, "give each stimulus one object")
    if "truth" in target.coords:
        differing = coord_values(target, "truth", role="target") != columns["sample_obj"]
        _refuse(differing, columns, "have a 'truth' other than 'sample_obj'", "make the two agree, or drop 'truth'")
    keys = [codes for codes in (subject, chosen, distractor, stimulus) if codes is not None]
    if PUBLISHED_ORDER in target.coords:
        keys.append(coord_values(target, PUBLISHED_ORDER, role="target"))
    order = np.lexsort(keys)  # by the last key first
    subject = None if subject is None else subject[order]
    return Trials(stimuli, objects, truth, stimulus[order], chosen[order], distractor[order], subject, subjects)


def probabilities(source: DataAssembly, trials: Trials) -> NDArray[np.float64]:
    """The model's probabilities as stimuli × objects in the order of `trials`."""
    source = as_table(source, ("presentation", "choice"), role="source")
    values = np.asarray(source.values)
    stimuli = pd.Index(coord_values(source, "stimulus_id", role="source"))
    choices = pd.Index(coord_values(source, "choice", role="source", dim="choice"))
    for index, name in ((stimuli, "stimulus_id"), (choices, "choice")):
        if not index.is_unique:
            raise MetricInputError(
                f"{listed(index[index.duplicated()].unique())} of {name!r} occurs more than once in the source",
                remedy="average the probabilities over trials first",
            )
    positions = []
    for index, needed, name in ((stimuli, trials.stimuli, "stimuli"), (choices, trials.objects, "choices")):
        position = index.get_indexer(pd.Index(needed))
        if (position < 0).any():
            missing = needed[position < 0]
            raise MetricInputError(
                f"the source lacks {len(missing)} {name} of the target, such as {listed(missing)}; it has "
                f"{listed(index)}",
                remedy=spelling_hint(missing, index)
                or "show the model the target's stimuli, and fit its choices on stimuli with the target's objects",
            )
        positions.append(position)
    if values.dtype.kind not in "fiub":
        raise MetricInputError(
            f"the source holds values of type {values.dtype}; probabilities are needed",
            remedy="start the model's task 'probabilities'",
        )
    values = np.asarray(values[np.ix_(*positions)], dtype=np.float64)
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        raise MetricInputError(
            f"the source holds {int(bad.sum())} negative, missing or infinite probabilities, the first for stimulus "
            f"{listed([trials.stimuli[bad.any(axis=1).argmax()]])}",
            remedy="pass probabilities (after a softmax), not scores",
        )
    return values


def _refuse(wrong: NDArray[np.bool_], columns: dict[str, NDArray[Any]], problem: str, remedy: str) -> None:
    if wrong.any():
        first = int(wrong.argmax())
        shown = ", ".join(f"{name} {listed([values[first]])}" for name, values in columns.items())
        raise MetricInputError(f"{int(wrong.sum())} trials of the target {problem}, first {shown}", remedy=remedy)


_BLOCKS = 40
"""More subjects are left out in as many blocks; and trials."""


class _Side(NamedTuple):
    """What is compared, each pair's d′ that it comes from, and the rates that these come from."""

    values: NDArray[np.float64]
    dprimes: NDArray[np.float64]
    rates: NDArray[np.float64]


class _Consistency(Metric):
    scale = "correlation"
    compares = "choices"
    by_object: ClassVar[bool] = False
    normalised: ClassVar[bool] = False
    one_versus_all: ClassVar[bool] = False

    def __init__(self, *, repetitions: int = 2, seed: int = 0, subject_coord: str | None = SUBJECT) -> None:
        if repetitions < 1:
            raise ValueError(f"repetitions is {repetitions}; at least 1 is needed")
        self._subject_coord = subject_coord
        self._repetitions = repetitions
        self._seed = seed

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare a model's probabilities with people's choices."""
        trials = trials_of(target, self._subject_coord)
        ours = self._side(pairwise_probabilities(probabilities(source, trials), trials.truth), trials)
        pairs = [(ours, self._measured(trials, first)) for first, _ in self._halves(trials)]
        score = self._score(pairs, trials, ours=ours, names=("predictions", "targets"))
        score.attrs["undefined"] = sum(int((np.isnan(a.values) & ~np.isnan(b.values)).sum()) for a, b in pairs)
        return score

    def ceiling(self, assembly: DataAssembly, skipna: bool = False) -> Score:
        """Correlate two random halves of the trials.

        Parameters
        ----------
        assembly : BehavioralAssembly, presentation
            As the target of the metric.
        skipna : bool
            Leave out d′ that only one half has. Otherwise they are an error.

        Returns
        -------
        Score
            With ``meaning`` ``'reliability'``: the correlation of two halves, without correction, as published. A score
            is compared with its square root.

        Raises
        ------
        MetricInputError
            As for the metric; and without `skipna` if a half lacks a d′ that the other half has.
        """
        trials = trials_of(assembly, self._subject_coord)
        pairs = [
            (self._measured(trials, first), self._measured(trials, second)) for first, second in self._halves(trials)
        ]
        lacking = sum(int((np.isnan(a.values) != np.isnan(b.values)).sum()) for a, b in pairs)
        if lacking and not skipna:
            raise MetricInputError(
                f"{lacking} d′ of {sum(a.values.size for a, _ in pairs)} can be computed from one half of the trials "
                "only",
                remedy="leave them out with ceiling(assembly, skipna=True), or collect more trials",
            )
        score = self._score(pairs, trials, names=("first_halves", "second_halves"))
        score.attrs.update(meaning="reliability", undefined=lacking)
        return score

    def ceil_score(self, score: Score, ceiling: Score) -> Score:
        """Divide by the square root of the ceiling, half by half [1]_.

        `score`, `ceiling`: from this metric and its :meth:`ceiling`, with the same ``repetitions`` and ``seed``.
        Result: mean over halves; ``error``, ``ci`` and ``undetermined`` as of
        :func:`~brainscore_core.benchmarks.ceil_score` with the square root. NaN with a reason where the ceiling of a
        half is not positive.

        References
        ----------
        .. [1] Rajalingham et al. (2018). https://doi.org/10.1523/JNEUROSCI.0388-18.2018
        """
        ours, limits = (np.asarray(side.attrs[Score.RAW_VALUES_KEY].values) for side in (score, ceiling))
        if ours.shape != limits.shape:
            raise MetricInputError(
                f"the score has {ours.size} halves, the ceiling {limits.size}",
                remedy="compute both with the same number of repetitions",
            )
        if (limits > 0).all():
            result = ceil_score(score, _root(ceiling))
            if float(result):
                result = result * (float((ours / np.sqrt(limits)).mean()) / float(result))
        else:
            result = declare_no_error(Score(np.nan), "the halves of the measurements do not correlate positively")
        return attach_ceiling(result, score, ceiling)

    def _halves(self, trials: Trials) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        # the legacy generator, because published values rest on its order
        random, n = np.random.RandomState(self._seed), len(trials.chosen)
        for _ in range(self._repetitions):
            order = random.permutation(n)
            yield order[: n // 2], order[n // 2 :]

    def _measured(self, trials: Trials, which: NDArray[np.intp]) -> _Side:
        columns = (column[which] for column in (trials.stimulus, trials.chosen, trials.distractor))
        return self._side(choice_rates(*columns, truth=trials.truth, n_objects=len(trials.objects)), trials)

    def _side(self, rates: NDArray[np.float64], trials: Trials) -> _Side:
        values = object_dprimes(rates, trials.truth) if self.by_object else stimulus_dprimes(rates, trials.truth)
        if self.normalised:
            values = less_class_means(values, trials.truth, n_objects=len(trials.objects))
        return _Side(nanmean_rows(values) if self.one_versus_all else values, values, rates)

    def _without(
        self, trials: Trials, blocks: NDArray[np.intp], number: int, *, ours: _Side | None
    ) -> NDArray[np.float64]:
        """Value without each block of trials; the halves stay."""
        n, k = len(trials.stimuli), len(trials.objects)
        values = np.zeros(number)
        for halves in self._halves(trials):
            counts = []
            for half in halves[:1] if ours is not None else halves:
                columns = (column[half] for column in (trials.stimulus, trials.chosen, trials.distractor))
                each = choice_counts(*columns, n_stimuli=n, n_objects=k, blocks=blocks[half], n_blocks=number)
                counts.append([counted.sum(axis=0) - counted for counted in each])
            for block in range(number):
                measured = [
                    self._side(rates_of_counts(asked[block], alarms[block], trials.truth), trials)
                    for asked, alarms in counts
                ]
                pair = measured if ours is None else [ours, *measured]
                values[block] += masked_correlation(pair[0].values, pair[1].values).value / self._repetitions
        return values

    def _subject_influence(
        self, trials: Trials, subject: NDArray[np.intp], subjects: int, *, ours: _Side | None
    ) -> NDArray[np.float64]:
        """Influence of each subject, or block of subjects, beyond that of their single trials.

        Its variance is that of leaving out subjects less that of leaving out blocks of any trials, which contains only
        what images contain, too.
        """
        number = min(subjects, _BLOCKS)
        influence = deletion_influence(self._without(trials, subject % number, number, ours=ours))
        blocks = np.random.default_rng(self._seed).permutation(len(trials.chosen)) % _BLOCKS
        of_trials = deletion_influence(self._without(trials, blocks, _BLOCKS, ours=ours))
        whole, single = (influence_variance(effects)[0] for effects in (influence, of_trials))
        return influence * np.sqrt(max(whole - single, 0.0) / whole if whole > 0 else 1.0)

    def _score(
        self, pairs: Sequence[tuple[_Side, _Side]], trials: Trials, *, names: tuple[str, str], ours: _Side | None = None
    ) -> Score:
        results = [masked_correlation(a.values, b.values) for a, b in pairs]
        values = np.array([result.value for result in results])
        score = Score(values.mean())
        influence = np.mean([result.influence for result in results], axis=0)
        if not (self.by_object or self.normalised):  # means over images cancel what all of an object's images share
            influence = influence + np.mean([_through_others(*pair, trials.truth) for pair in pairs], axis=0)
        if self.by_object and not self.one_versus_all:
            influence = 2 * influence  # a pair of objects belongs to both of them
        reason = None
        if not self.by_object:  # the objects' means were estimated from the same images (HC1's correction)
            free = len(trials.stimuli) - len(trials.objects)
            influence = influence * np.sqrt(len(trials.stimuli) / free) if free > 0 else influence * np.nan
            reason = None if free > 0 else f"{len(trials.stimuli)} images of {len(trials.objects)} objects are too few"
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(values, coords={"split": np.arange(len(values))}, dims=["split"]),
            "scale": self.scale,
            "std": float(values.std()),
            "influence": DataAssembly(influence, coords=self._rows(trials), dims=[self._dim]),
        }
        units = "objects" if self.by_object else "images"
        n = len(influence)
        of_objects = "" if self.by_object else f" of these {len(trials.objects)} objects"
        varied = [influence]
        described = [Units(np.arange(n), n, f"new {units}{of_objects}", f"{n:,} {units}")]
        if trials.subject is not None and trials.subjects is not None and np.isfinite(influence).all():
            subjects = len(trials.subjects)
            if subjects < FEWEST_GROUPS:
                of_subjects = these(subjects, "subject")
                described[0] = described[0]._replace(plural=f"{described[0].plural} for {of_subjects}")
            else:
                varied.append(self._subject_influence(trials, trials.subject, subjects, ours=ours))
                in_blocks = f" in {_BLOCKS} blocks" if subjects > _BLOCKS else ""
                details = f"{subjects:,} subjects{in_blocks}"
                described.insert(0, Units(np.arange(subjects), subjects, "new subjects", details))
                ids = np.arange(len(varied[1])) if in_blocks else trials.subjects
                attach_influence(score, varied[1], units="subjects", ids=ids, further=True)
        interval = combined_interval(float(score), varied, correlation=True)
        if np.isnan(float(score)):
            interval = interval._replace(reason="one side's d′ do not vary, or fewer than two are measured by both")
        elif reason:
            interval = interval._replace(reason=reason)
        for name, side in zip(names, zip(*pairs, strict=True), strict=True):
            score.attrs[name] = self._record(np.stack([measured.values for measured in side]), trials)
        return attach_varied(
            score,
            interval,
            described,
            estimates=f"correlation of d′, mean over {len(values)} random halves of the trials",
        )

    @property
    def _dim(self) -> str:
        return "truth" if self.by_object else "presentation"

    def _rows(self, trials: Trials) -> dict[str, Any]:
        if self.by_object:
            return {"truth": ("truth", trials.objects)}
        return {
            "stimulus_id": ("presentation", trials.stimuli),
            "truth": ("presentation", trials.objects[trials.truth]),
        }

    def _record(self, values: NDArray[np.float64], trials: Trials) -> DataAssembly:
        coords = self._rows(trials) | {"split": np.arange(len(values))}
        dims = ["split", self._dim]
        if not self.one_versus_all:
            coords, dims = coords | {"choice": ("choice", trials.objects)}, [*dims, "choice"]
        return DataAssembly(values, coords=coords, dims=dims)


def _root(ceiling: Score) -> Score:
    """Square root of a positive ceiling, with its uncertainty; a negative limit keeps its sign."""
    result = Score(np.sqrt(float(ceiling)))
    result.attrs["uncertainty"] = Uncertainty.of(ceiling).mapped(
        lambda value: float(np.copysign(np.sqrt(abs(value)), value)), 0.5 / float(result)
    )
    return result


def _through_others(first: _Side, second: _Side, truth: NDArray[np.intp]) -> NDArray[np.float64]:
    """What each image does to the correlation as one of those that make the mean rates in other images' d′."""
    total = np.zeros(len(truth))
    for varied, fixed in ((first, second), (second, first)):
        slope = correlation_slopes(varied.values, fixed.values)
        if slope.ndim == 1:  # the mean over distractors
            defined = ~np.isnan(varied.dprimes)
            slope = np.where(defined, slope[:, None] / np.maximum(defined.sum(axis=1, keepdims=True), 1), 0.0)
        total += through_inverses(slope, varied.dprimes, varied.rates, truth)
    return total


class I2n(_Consistency):
    """Image-level consistency, one object against another, without the objects' own differences (I2n) [1]_.

    From the rates of choosing a distractor comes d′ of each image against each distractor; the mean over the images of
    the same object is taken off; Pearson correlation of the model's and people's d′ over all images and distractors.

    Parameters
    ----------
    repetitions : int
        How often the trials are halved at random. The metric compares with the first half each.
    seed : int
        Of the halves.
    subject_coord : str or None
        Coordinate of the target with each trial's subject; ``"subject"`` may be missing.

    Notes
    -----
    A model's rate is p(distractor) / (p(distractor) + p(truth)); people's is the share of trials with this image and
    distractor in which the distractor was chosen. d′ = z(1 − rate) − z(mean rate of choosing this image's object for
    the distractor's images), clipped at ±5. A pair without trials is NaN and left out, and so is a d′ with two infinite
    terms of the same sign. Where a model gives both objects the probability 0, its d′ is left out too;
    ``attrs['undefined']`` counts these.

    ``attrs``: ``raw`` (split), one correlation a half; ``std``, their standard deviation (ddof 0), which the existing
    platform publishes as the error; ``error`` and ``ci`` from each image's influence on the correlation, images being
    the independent units (widened by √(images / (images − objects)), as the objects' means come from the same images;
    without normalisation an image acts through the mean rates in other images' d′, too); with five or more subjects
    also from leaving out each of them (of more than 40, in 40 blocks), less what leaving out any trials does, which is
    part of both [2]_, in ``further_influence``;
    ``influence`` (presentation); ``predictions`` and ``targets``, the d′.

    References
    ----------
    .. [1] Rajalingham et al. (2018). Journal of Neuroscience 38, 7255–7269.
       https://doi.org/10.1523/JNEUROSCI.0388-18.2018
    .. [2] Owen (2007). Annals of Applied Statistics 1, 386–411. https://doi.org/10.1214/07-AOAS122

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> rng = np.random.default_rng(0)
    >>> image, names = np.tile(np.arange(8), 400), np.array(["cat", "dog"])
    >>> shown = names[image % 2]
    >>> other = names[1 - image % 2]
    >>> people = BehavioralAssembly(
    ...     np.where(rng.random(len(image)) < 0.6 + 0.04 * image, shown, other),
    ...     coords={"stimulus_id": ("presentation", image), "sample_obj": ("presentation", shown),
    ...             "dist_obj": ("presentation", other)}, dims=["presentation"])
    >>> right = 0.6 + 0.04 * np.arange(8)
    >>> model = BehavioralAssembly(
    ...     np.where(np.arange(8)[:, None] % 2 == np.arange(2), right[:, None], 1 - right[:, None]),
    ...     coords={"stimulus_id": ("presentation", np.arange(8)), "choice": ("choice", names)},
    ...     dims=["presentation", "choice"])
    >>> bool(I2n()(model, people) > 0.9)
    True
    """

    normalised = True


class I2(_Consistency):
    """Image-level consistency, one object against another; as :class:`I2n`, the objects' own differences kept."""


class I1(_Consistency):
    """Image-level consistency, one object against all others: d′ as in :class:`I2`, averaged over distractors."""

    one_versus_all = True


class I1n(_Consistency):
    """Image-level consistency, one against all others: d′ as in :class:`I2n`, averaged over distractors."""

    normalised = True
    one_versus_all = True


class O2(_Consistency):
    """Object-level consistency, one object against another.

    As :class:`I2`, but the rates are averaged over each object's images before they become d′. Errors and intervals
    have objects as the independent units.
    """

    by_object = True


class O1(_Consistency):
    """Object-level consistency, one object against all others: d′ as in :class:`O2`, averaged over distractors."""

    by_object = True
    one_versus_all = True
