"""Subjects made from word vectors: a part is the mean of its words' vectors, without context."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.preprocessing import parts_of, prepare_context
from brainscore_language.model_helpers.reading import part_coords, recorded_units


def mean_over_words(sentence_features: Any) -> np.ndarray:
    """Mean of the vectors of words, per unit."""
    return np.mean(sentence_features, axis=0)


def remove_punctuation(word: str) -> str:
    """The word without ``. ? ! , :``, and without trailing ``'`` and ``s``.

    Examples
    --------
    >>> remove_punctuation("fox's"), remove_punctuation("glass,")
    ('fox', 'gla')
    """
    return re.sub(r"[.?!,:]", "", word).rstrip("'s")


class EmbeddingSubject(ArtificialSubject):
    """A table of word vectors.

    Parameters
    ----------
    identifier : str
        Unique name.
    lookup : mapping
        Word → vector, for every word that occurs.
    layer_name : str
        Name of the units' layer.
    average_representations : callable
        Reduces the vectors of the words of a part, words × units, to one.

    Notes
    -----
    A part without words has NaN in all units.
    """

    def __init__(
        self,
        identifier: str,
        lookup: Any,
        layer_name: str = "projection",
        average_representations: Callable[[Any], np.ndarray] = mean_over_words,
    ) -> None:
        self._identifier = identifier
        self._lookup = lookup
        self._layer_name = layer_name
        self._average = average_representations
        self._recordings: list[tuple[str, str]] = []

    def identifier(self) -> str:
        """Name of the table."""
        return self._identifier

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Record from all units, under the name of a target."""
        self._recordings.append((recording_target, recording_type))

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Look up the words of each part; see :meth:`ArtificialSubject.digest_text`."""
        parts = parts_of(text)
        rows: list[Any] = []
        for part in parts:
            words = [remove_punctuation(word) for word in prepare_context([part]).split()]
            rows.append(self._average([self._lookup[word] for word in words]) if words else None)
        size = next((np.shape(row) for row in rows if row is not None), (0,))
        values = np.stack([np.full(size, np.nan) if row is None else row for row in rows])
        return {"behavior": [], "neural": self.package_representations(values, part_coords(parts))}

    def package_representations(
        self, representation_values: np.ndarray, stimuli_coords: Mapping[str, Any]
    ) -> NeuroidAssembly:
        """Package vectors of parts, presentations × units, once for each recording."""
        responses = {(*recording, self._layer_name): representation_values for recording in self._recordings}
        return recorded_units(responses, stimuli_coords, target="recording_target", numbered=False)


class _GensimLookup(dict[str, np.ndarray]):
    """Vectors of gensim; zeros for unknown words."""

    def __init__(self, model: Any, vector_size: int) -> None:
        super().__init__()
        self._model = model
        self._zeros = np.zeros(vector_size)

    def __getitem__(self, word: str) -> np.ndarray:
        return np.asarray(self._model[word]) if word in self._model else self._zeros


class GensimKeyedVectorsSubject(EmbeddingSubject):
    """Word vectors in a file that gensim reads; needs the package gensim.

    Parameters
    ----------
    identifier, layer_name, average_representations
        As for :class:`EmbeddingSubject`.
    weights_file : path
        File in the format of word2vec.
    vector_size : int
        Number of units.
    weights_file_binary, weights_file_no_header : bool
        As ``binary`` and ``no_header`` of ``KeyedVectors.load_word2vec_format``.
    """

    def __init__(
        self,
        identifier: str,
        weights_file: str | Path,
        vector_size: int,
        weights_file_binary: bool = False,
        weights_file_no_header: bool = False,
        layer_name: str = "projection",
        average_representations: Callable[[Any], np.ndarray] = mean_over_words,
    ) -> None:
        try:
            from gensim.models.keyedvectors import KeyedVectors
        except ImportError as error:
            raise UserError(f"{identifier} needs the package gensim: {error}", "pip install gensim") from error
        vectors = KeyedVectors.load_word2vec_format(
            str(weights_file), binary=weights_file_binary, no_header=weights_file_no_header
        )
        super().__init__(identifier, _GensimLookup(vectors, vector_size), layer_name, average_representations)
