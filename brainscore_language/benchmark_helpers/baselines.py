"""What recordings can be predicted from without language: lengths, places, frequencies of words, the text itself."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, coords_for_dim

__all__ = ["baseline_features", "baseline_scores"]


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
