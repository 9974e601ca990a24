"""Benchmarks of recordings: a subject reads what people read or heard, and its units predict the recordings."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.benchmarks.measurements import Measurements
from brainscore_core.errors import UserError
from brainscore_core.lazy import LazyLoad
from brainscore_core.metric_helpers.predictivity import units_of
from brainscore_core.metric_helpers.uncertainty import attach_predictivity_interval
from brainscore_core.metrics import NEUROID_GROUPS, Score, Uncertainty, declare_no_error
from brainscore_core.numerics.predictions import Predictivity, PredictivityOfUnits
from brainscore_core.progress import track
from brainscore_core.results.products import collect_products
from brainscore_core.supported_data_standards.brainio.assemblies import (
    DataAssembly,
    NeuroidAssembly,
    coords_for_dim,
    merge_data_arrays,
)
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED
from brainscore_language import load_dataset, load_metric
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers.extrapolation import ExtrapolationCeiling
from brainscore_language.model_helpers.stored_responses import stored_responses
from brainscore_language.utils.ceiling import ceiling_normalize


def read_text(
    candidate: ArtificialSubject, assembly: DataAssembly, *, text_coord: str, copied: Sequence[str] = ("stimulus_id",)
) -> DataAssembly:
    """Responses of a subject to the stimuli of an assembly, one text after the other.

    Parameters
    ----------
    candidate : ArtificialSubject
        It is recorded from already.
    assembly : DataAssembly
        Its presentations have ``stimulus``.
    text_coord : str
        Coordinate of equal values for the parts of one text, such as a story; texts are read in the order of these
        values.
    copied : sequence of str
        Coordinates that the responses get from the assembly.

    Raises
    ------
    UserError
        If the subject returns no responses, or not one for each part.
    """
    names = np.asarray(assembly[text_coord].values)
    texts = [assembly.isel(presentation=np.flatnonzero(names == name)) for name in np.unique(names)]
    stimuli = [[str(part) for part in parts["stimulus"].values] for parts in texts]
    responses = []
    with stored_responses(candidate, stimuli):
        for parts, read in track(list(zip(texts, stimuli, strict=True)), "reading", len(texts), unit="texts"):
            response = candidate.digest_text(read)["neural"]
            returned = response.sizes.get("presentation", 0) if isinstance(response, DataAssembly) else 0
            if returned != len(read):
                raise UserError(
                    f"the subject returned responses to {returned} of the {len(read)} parts of a text",
                    "return an assembly with a presentation for each part, in their order, as 'neural'",
                )
            for coord in copied:
                response[coord] = ("presentation", parts[coord].values)
            responses.append(response)
    return merge_data_arrays(responses) if len(responses) > 1 else responses[0]


class RecordingBenchmark(BenchmarkBase):
    """Compares a subject's layers with recordings.

    The score is the mean over the layers that the subject returns, each relative to the ceiling;
    ``attrs['layer_scores']`` has them, ``attrs['baselines']`` the scores of what needs no language
    (:func:`~brainscore_language.benchmark_helpers.recordings.baseline_features`).

    Parameters
    ----------
    identifier, version, parent, bibtex
        As for :class:`~brainscore_core.benchmarks.BenchmarkBase`.
    load_data : callable
        Returns the recordings, presentation × neuroid; called once, when they are first needed.
    metric : callable
        (responses, recordings) → Score.
    text_coord : str
        As for :func:`read_text`.
    recording_type : str
        One of :class:`ArtificialSubject.RecordingType`.
    copied : sequence of str
        As for :func:`read_text`.
    estimate_ceiling : callable, optional
        (recordings, metric) → Score; None for a benchmark without a ceiling.
    subject_coord : str, optional
        Coordinate of neuroids that names subjects, if it is not ``subject``.
    """

    def __init__(
        self,
        identifier: str,
        *,
        version: int,
        parent: str | None,
        bibtex: str | None,
        load_data: Callable[[], DataAssembly],
        metric: Callable[..., Score],
        text_coord: str,
        recording_type: str = ArtificialSubject.RecordingType.fMRI,
        copied: Sequence[str] = ("stimulus_id",),
        estimate_ceiling: Callable[[DataAssembly, Callable[..., Score]], Score] | None = None,
        subject_coord: str | None = None,
    ) -> None:
        self._load_data = load_data
        self.metric = metric
        self._text_coord = text_coord
        self._recording_type = recording_type
        self._copied = tuple(copied)
        self._subject_coord = subject_coord
        self._without_ceiling = estimate_ceiling is None
        about: dict[str, Any] = {"version": version, "parent": parent, "bibtex": bibtex}
        if estimate_ceiling is None:
            super().__init__(identifier, ceiling=None, **about)
        else:
            super().__init__(identifier, lambda: estimate_ceiling(self.data, self.metric), **about)

    @cached_property
    def data(self) -> DataAssembly:
        """The recordings; their subjects are in the coordinate ``subject``, too."""
        data = self._load_data()
        if self._subject_coord is not None:
            attrs = data.attrs
            data = data.assign_coords(subject=("neuroid", data[self._subject_coord].values))
            data.attrs = attrs
        return data

    @cached_property
    def baselines(self) -> dict[str, float]:
        """Scores of what needs no language, before they are related to the ceiling."""
        return baseline_scores(self.data, self.metric, text_coord=self._text_coord)

    def measurements(self) -> Measurements:
        """The recordings, and the metric that models are compared with them by; nothing is loaded yet."""
        return Measurements(
            benchmark=self.identifier,
            measured=LazyLoad(lambda: self.data),
            metric=self.metric,
            relate=(lambda raw, ceiling: raw) if self._without_ceiling else ceiling_normalize,
        )

    def __call__(self, candidate: ArtificialSubject) -> Score:
        """Let a subject read all texts, and predict the recordings from its units."""
        target = ArtificialSubject.RecordingTarget.language_system
        candidate.start_neural_recording(recording_target=target, recording_type=self._recording_type)
        responses = read_text(candidate, self.data, text_coord=self._text_coord, copied=self._copied)
        layers = list(dict.fromkeys(responses["layer"].values.tolist()))
        of_layers = {str(layer): responses.sel(layer=layer) for layer in layers}
        for of_layer in of_layers.values():
            collect_products([of_layer], target)
        raws = {layer: self.metric(of_layer, self.data) for layer, of_layer in of_layers.items()}
        scores = {layer: self._related(raw) for layer, raw in raws.items()}
        score = next(iter(scores.values()))
        if len(scores) > 1:
            score = self._related(self._mean(list(raws.values())))
            score.values = np.array(np.mean([float(each) for each in scores.values()]))
        score.attrs["baselines"] = self.baselines
        score.attrs["layer_scores"] = scores if len(scores) > 1 else {layers[0]: float(score)}
        return score

    def _related(self, raw: Score) -> Score:
        return raw if self.ceiling is None else ceiling_normalize(raw, self.ceiling)

    def _mean(self, scores: Sequence[Score]) -> Score:
        """Mean over layers, with an interval if it is known how stimuli and neuroids influence each score."""
        mean = Score(np.mean([float(score) for score in scores]))
        mean.attrs["scale"] = scores[0].attrs.get("scale")
        known = [Uncertainty.of(score).predictivity for score in scores]
        if not all(isinstance(each, PredictivityOfUnits) for each in known):
            return declare_no_error(mean, "mean over layers")
        found = mean_predictivity([each.found for each in known], float(mean))
        stimuli, neuroids = units_of(self.data, DECLARED, NEUROID_GROUPS)
        return attach_predictivity_interval(mean, found, stimuli=stimuli, neuroids=neuroids, fixed=", mean over layers")


def mean_predictivity(results: Sequence[Predictivity], value: float) -> Predictivity:
    """Mean of the predictivities of several layers, with the effects of the same stimuli and neuroids."""
    training = [result.training for result in results if result.training is not None]
    return replace(
        results[0],
        value=value,
        correlations=np.concatenate([result.correlations for result in results]),
        effects=np.mean([result.effects for result in results], axis=0),
        weights=np.mean([result.weights for result in results], axis=0),
        training=np.mean(training, axis=0) if len(training) == len(results) else None,
        pairs=np.mean([result.pairs for result in results], axis=0),
    )


def benchmark_of_subjects(
    name: str,
    metric: str,
    cross_validation_kwargs: Mapping[str, Any] | None = None,
    identifier_suffix: str = "",
    *,
    version: int,
    bibtex: str,
    data_set: str,
    text_coord: str,
    subject_coord: str,
    recording_type: str = ArtificialSubject.RecordingType.fMRI,
) -> RecordingBenchmark:
    """Recordings of several subjects, whose ceiling is extrapolated to infinitely many.

    `metric`: its name, which is in the identifier, followed by `identifier_suffix`. `cross_validation_kwargs`: of the
    metric. `data_set`: the recordings. `text_coord` and `subject_coord`: coordinates of texts and of subjects.
    """
    return RecordingBenchmark(
        f"{name}-{metric.removesuffix('_pearsonr')}{identifier_suffix}",
        version=version,
        parent="neural_language",
        bibtex=bibtex,
        load_data=lambda: load_dataset(data_set),
        metric=load_metric(metric, crossvalidation_kwargs=cross_validation_kwargs),
        text_coord=text_coord,
        recording_type=recording_type,
        copied=("stimulus_id", text_coord),
        estimate_ceiling=ExtrapolationCeiling(subject_column=subject_coord),
        subject_coord=subject_coord,
    )


def baseline_features(assembly: DataAssembly, *, text_coord: str) -> dict[str, NDArray[np.float64]]:
    """Features of the presentations that a language model must beat.

    Parameters
    ----------
    assembly : DataAssembly
        Its presentations have ``stimulus``, and are in the order of their texts.
    text_coord : str
        Coordinate of equal values for the parts of one text.

    Returns
    -------
    dict
        ``'length'`` (words, characters), ``'position'`` (place in the text, its square), ``'frequency'`` (mean log
        frequency of the words, if the package wordfreq is installed) and ``'neighbourhood'``, by which presentations
        are alike that are near each other in one text [1]_. Places are left out where texts have one part.

    References
    ----------
    .. [1] Hadidi et al. (2025), the OASM control. https://doi.org/10.1101/2025.03.09.642245

    Examples
    --------
    >>> words = {"stimulus": ("presentation", ["the", "fox", "a"]), "story": ("presentation", [0, 0, 1])}
    >>> features = baseline_features(DataAssembly(np.zeros(3), coords=words, dims=["presentation"]), text_coord="story")
    >>> features["length"].tolist(), features["neighbourhood"].round(2).tolist()
    ([[1.0, 3.0], [1.0, 3.0], [1.0, 1.0]], [[1.0, 0.61, 0.0], [0.61, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """
    stimuli = [str(stimulus) for stimulus in assembly["stimulus"].values]
    _, texts = np.unique(np.asarray(assembly[text_coord].values), return_inverse=True)
    places = np.empty(len(texts))
    for text in range(int(texts.max()) + 1):
        inside = texts == text
        places[inside] = np.arange(inside.sum())
    features = {"length": np.array([[len(stimulus.split()), len(stimulus)] for stimulus in stimuli], dtype=np.float64)}
    if len(np.unique(texts)) < len(texts):
        features["position"] = np.column_stack([places, places**2])
        near = np.exp(-((places[:, None] - places) ** 2) / 2)
        features["neighbourhood"] = np.where(texts[:, None] == texts, near, 0.0)
    if importlib.util.find_spec("wordfreq") is not None:
        features["frequency"] = _frequencies(stimuli)
    return features


def _frequencies(stimuli: Sequence[str]) -> NDArray[np.float64]:
    """Mean log10 frequency of the words of each stimulus, per 10⁹ words."""
    from wordfreq import zipf_frequency

    means = [np.mean([zipf_frequency(word, "en") for word in stimulus.split()] or [0.0]) for stimulus in stimuli]
    return np.array(means)[:, None]


def baseline_scores(assembly: DataAssembly, metric: Callable[[Any, Any], Any], *, text_coord: str) -> dict[str, float]:
    """Scores of :func:`baseline_features` on recordings, before they are related to a ceiling."""
    scores = {}
    for name, values in baseline_features(assembly, text_coord=text_coord).items():
        coords: dict[str, Any] = dict(coords_for_dim(assembly, "presentation"))
        coords["neuroid_id"] = ("neuroid", np.arange(values.shape[1]))
        source = NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
        scores[name] = float(getattr(metric, "value", metric)(source, assembly))
    return scores
