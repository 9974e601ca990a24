"""Benchmarks of recordings: a subject reads what people read or heard, and its units predict the recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.progress import track
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, merge_data_arrays
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.utils.ceiling import ceiling_normalize

__all__ = ["RecordingBenchmark", "read_text"]


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
    texts = np.asarray(assembly[text_coord].values)
    responses = []
    for text in track(list(np.unique(texts)), "reading", len(np.unique(texts)), unit="texts"):
        parts = assembly.isel(presentation=np.flatnonzero(texts == text))
        response = candidate.digest_text(list(parts["stimulus"].values))["neural"]
        returned = response.sizes.get("presentation", 0) if isinstance(response, DataAssembly) else 0
        if returned != len(parts["stimulus"]):
            raise UserError(
                f"the subject returned responses to {returned} of the {len(parts['stimulus'])} parts of a text",
                "return an assembly with a presentation for each part, in their order, as 'neural'",
            )
        for coord in copied:
            response[coord] = ("presentation", parts[coord].values)
        responses.append(response)
    return merge_data_arrays(responses) if len(responses) > 1 else responses[0]


class RecordingBenchmark(BenchmarkBase):
    """Compares a subject's layers with recordings.

    The score is the mean over the layers that the subject returns, each relative to the ceiling;
    ``attrs['layer_scores']`` has them.

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
    """

    def __init__(
        self,
        identifier: str,
        *,
        version: int,
        parent: str,
        bibtex: str,
        load_data: Callable[[], DataAssembly],
        metric: Callable[..., Score],
        text_coord: str,
        recording_type: str = ArtificialSubject.RecordingType.fMRI,
        copied: Sequence[str] = ("stimulus_id",),
        estimate_ceiling: Callable[[DataAssembly, Callable[..., Score]], Score] | None = None,
    ) -> None:
        self._load_data = load_data
        self._data: DataAssembly | None = None
        self.metric = metric
        self._text_coord = text_coord
        self._recording_type = recording_type
        self._copied = tuple(copied)
        ceiling: dict[str, Any] = {"ceiling": None}
        if estimate_ceiling is not None:
            estimate = estimate_ceiling
            ceiling = {"ceiling_func": lambda: estimate(self.data, self.metric)}
        super().__init__(identifier=identifier, version=version, parent=parent, bibtex=bibtex, **ceiling)

    @property
    def data(self) -> DataAssembly:
        """The recordings."""
        if self._data is None:
            self._data = self._load_data()
        return self._data

    def __call__(self, candidate: ArtificialSubject) -> Score:
        """Let a subject read all texts, and predict the recordings from its units."""
        target = ArtificialSubject.RecordingTarget.language_system
        candidate.start_neural_recording(recording_target=target, recording_type=self._recording_type)
        responses = read_text(candidate, self.data, text_coord=self._text_coord, copied=self._copied)
        layers = list(dict.fromkeys(responses["layer"].values.tolist()))
        scores = {str(layer): self._score_of(responses.sel(layer=layer)) for layer in layers}
        values = np.array([float(score) for score in scores.values()])
        score = next(iter(scores.values())) if len(scores) == 1 else Score(values.mean())
        score.attrs["layer_scores"] = scores.copy() if len(scores) > 1 else {layers[0]: float(values[0])}
        if self.ceiling is not None:
            score.attrs.setdefault("raw", Score(np.mean([float(each.raw) for each in scores.values()])))
            score.attrs["ceiling"] = self.ceiling
        return score

    def _score_of(self, responses: DataAssembly) -> Score:
        raw = self.metric(responses, self.data)
        return raw if self.ceiling is None else ceiling_normalize(raw, self.ceiling)
