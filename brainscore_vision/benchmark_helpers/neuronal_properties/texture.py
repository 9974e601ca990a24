"""Responses to naturalistic textures and to noise of the same spectrum."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError

_REGULARISER = 0.02


class TextureModulation(NamedTuple):
    """Modulation index, mean over families: array (neuroids,) or float; and of each family: … × families."""

    modulation_index: Any
    by_family: NDArray[np.float64]


class MeanSquares(NamedTuple):
    """Mean squares of a nested analysis of variance, one value per neuroid; ``residual`` is NaN without repetitions."""

    residual: Any
    sample: Any
    family: Any


class VarianceRatio(NamedTuple):
    """Ratio of the variance over families to that over samples, and the share of each, one value per neuroid."""

    ratio: Any
    sample: Any
    family: Any


def texture_modulation(responses: ArrayLike) -> TextureModulation:
    """Relative difference of the responses to textures and to noise.

    Parameters
    ----------
    responses : array, … × 2 × families
        Mean responses to noise, then to texture.

    Returns
    -------
    TextureModulation
        (texture − noise) / (texture + noise) of each family, and its mean over the families where it is defined; NaN if
        it is undefined for all.

    References
    ----------
    .. [1] Freeman, Ziemba, Heeger, Simoncelli & Movshon (2013). Nature Neuroscience 16, 974–981.
       https://doi.org/10.1038/nn.3402

    Examples
    --------
    >>> index, by_family = texture_modulation([[2.0, 1.0], [2.0, 3.0]])
    >>> float(index), by_family.tolist()
    (0.25, [0.0, 0.5])
    """
    values = np.asarray(responses, dtype=np.float64)
    if values.ndim < 2 or values.shape[-2] != 2:
        raise UserError(
            f"responses have the shape {values.shape}: the last axis but one must be noise, texture",
            remedy="pass … × 2 × families",
        )
    noise, texture = values[..., 0, :], values[..., 1, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        by_family = (texture - noise) / (texture + noise)
    defined = ~np.isnan(by_family)
    with np.errstate(invalid="ignore"):
        index = np.where(defined, by_family, 0).sum(axis=-1) / defined.sum(axis=-1)
    return TextureModulation(index, by_family)


def sparseness(responses: ArrayLike) -> Any:
    """Treves–Rolls sparseness over stimuli: 0 for equal responses, 1 for a response to a single stimulus.

    Parameters
    ----------
    responses : array, … × stimuli
        Responses to at least two stimuli.

    Returns
    -------
    array of the shape of `responses` without stimuli, or float
        (1 − ⟨r⟩² / ⟨r²⟩) / (1 − 1/n); NaN without any response. In [0, 1] for responses that are not negative.

    References
    ----------
    .. [1] Vinje & Gallant (2000). Science 287, 1273–1276. https://doi.org/10.1126/science.287.5456.1273

    Examples
    --------
    >>> float(sparseness([1.0, 1.0, 1.0, 1.0])), float(sparseness([0.0, 0.0, 3.0, 0.0]))
    (0.0, 1.0)
    """
    values = np.asarray(responses, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (1 - values.mean(axis=-1) ** 2 / (values**2).mean(axis=-1)) / (1 - 1 / np.float64(values.shape[-1]))


def mean_squares(responses: ArrayLike, *, repetitions: bool = False) -> MeanSquares:
    """Mean squares of samples nested in families.

    Parameters
    ----------
    responses : array, … × families × samples[ × repetitions]
        Responses, at least two of each.
    repetitions : bool
        Whether the last axis is repetitions.

    Returns
    -------
    MeanSquares

    Examples
    --------
    >>> squares = mean_squares([[1.0, 3.0], [5.0, 7.0]])
    >>> float(squares.sample), float(squares.family)
    (2.0, 16.0)
    """
    values = np.asarray(responses, dtype=np.float64)
    if not repetitions:
        values = values[..., np.newaxis]
    *_, families, samples, number = values.shape
    if families < 2 or samples < 2 or (repetitions and number < 2):
        raise UserError(
            f"{families} families × {samples} samples{f' × {number} repetitions' if repetitions else ''}: "
            "their variances need at least two of each",
            remedy="show more stimuli",
        )
    of_sample = values.mean(axis=-1)
    of_family = of_sample.mean(axis=-1)
    overall = of_family.mean(axis=-1)
    within = ((values - of_sample[..., np.newaxis]) ** 2).sum(axis=(-3, -2, -1))
    residual = within / (families * samples * (number - 1)) if repetitions else np.full(within.shape, np.nan)
    sample = number * ((of_sample - of_family[..., np.newaxis]) ** 2).sum(axis=(-2, -1)) / (families * (samples - 1))
    family = samples * number * ((of_family - overall[..., np.newaxis]) ** 2).sum(axis=-1) / (families - 1)
    return MeanSquares(residual[()], sample, family)


def variance_ratio(responses: ArrayLike, *, repetitions: bool = False) -> VarianceRatio:
    """Ratio of the variance between families of textures to the variance between samples of a family.

    Parameters
    ----------
    responses : array, … × families × samples[ × repetitions]
        Variance-stabilised responses.
    repetitions : bool
        Whether the last axis is repetitions.

    Returns
    -------
    VarianceRatio
        (family + 0.02) / (sample + 0.02), family and sample being components of variance as shares of the total; NaN
        if the responses do not vary.

    References
    ----------
    .. [1] Ziemba, Freeman, Movshon & Simoncelli (2016). PNAS 113, E3140–E3149.
       https://doi.org/10.1073/pnas.1510847113

    Examples
    --------
    >>> ratio, sample, family = variance_ratio([[1.0, 3.0], [5.0, 7.0]])  # components: 2, (16 − 2) / 2
    >>> [round(float(value), 4) for value in (ratio, sample, family)]
    [3.2936, 0.2222, 0.7778]
    """
    residual, of_sample, of_family = mean_squares(responses, repetitions=repetitions)
    shape = np.shape(responses)
    samples, number = (shape[-2], shape[-1]) if repetitions else (shape[-1], 1)
    noise = residual if repetitions else 0.0
    sample = (of_sample - noise) / number
    family = (of_family - of_sample) / (number * samples)
    total = noise + sample + family
    with np.errstate(divide="ignore", invalid="ignore"):
        sample, family = sample / total, family / total
        return VarianceRatio((family + _REGULARISER) / (sample + _REGULARISER), sample, family)
