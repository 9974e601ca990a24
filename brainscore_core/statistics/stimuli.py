"""How well a model does on each stimulus, from the predictions stored beside a receipt."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from brainscore_core.receipts.receipt import Receipt
from brainscore_core.results.store import ResultsStore

OutcomeKind = Literal["response", "choice"]


@dataclass(frozen=True)
class StimulusOutcomes:
    """Outcomes of a model, one for each stimulus.

    Attributes
    ----------
    kind : {'response', 'choice'}
        Whether measured responses were predicted, or choices made that are right or wrong.
    stimuli : tuple of str
        The ``stimulus_id`` of each stimulus, sorted.
    values : array, stimuli
        Of responses, the loss of `response_losses`, lower is better; of choices, the share of right ones. NaN if there
        is none.
    reference : array, stimuli, or None
        Of choices, the share of the subjects' right ones.
    """

    kind: OutcomeKind
    stimuli: tuple[str, ...]
    values: NDArray[np.float64]
    reference: NDArray[np.float64] | None = None


def read_outcomes(store: ResultsStore, receipt: Receipt) -> StimulusOutcomes | None:
    """Read the predictions stored beside a receipt; None if there are none of stimuli.

    Raises UserError or OSError if a file is missing or damaged.
    """
    if "predictions" not in {attachment.kind for attachment in receipt.attachments}:
        return None
    return outcomes_of(
        store.open_attachment(receipt, "predictions"), store.open_attachment(receipt, "predictions", group="targets")
    )


def outcomes_of(predictions: Any, targets: Any) -> StimulusOutcomes | None:
    """Compare predictions with their targets, stimulus by stimulus.

    Parameters
    ----------
    predictions, targets : DataAssembly
        With ``stimulus_id`` along ``presentation``, and ``split`` if a stimulus was left out several times. Booleans
        are choices, right or wrong; numbers are responses, optionally of several neuroids and time bins.

    Returns
    -------
    StimulusOutcomes or None
        None if predictions do not belong to stimuli, or neuroids of the model are not matched with measured ones.
    """
    others = [name for name in ("neuroid", "time_bin") if name in predictions.dims]
    if {"presentation", *others} != set(predictions.dims) or "stimulus_id" not in predictions.coords:
        return None
    names, rows = np.unique(predictions["stimulus_id"].values.astype(str), return_inverse=True)
    x, y = (side.transpose("presentation", *others).values for side in (predictions, targets))
    if x.dtype == bool and y.dtype == bool:
        choices = [side.reshape(len(rows), -1).mean(axis=1) for side in (x, y)]
        return StimulusOutcomes("choice", tuple(names.tolist()), *(_by_stimulus(side, rows) for side in choices))
    numeric = np.issubdtype(x.dtype, np.number) and np.issubdtype(y.dtype, np.number)
    if not numeric or predictions.attrs.get("units") == "model neuroids" or _is_binary(y):
        return None
    splits = predictions["split"].values if "split" in predictions.coords else np.zeros(len(rows), dtype=int)
    losses = np.full(len(rows), np.nan)
    for split in np.unique(splits):
        members = splits == split
        losses[members] = response_losses(*(side[members].reshape(members.sum(), -1) for side in (x, y)))
    return StimulusOutcomes("response", tuple(names.tolist()), _by_stimulus(losses, rows))


def response_losses(predicted: NDArray[Any], measured: NDArray[Any]) -> NDArray[np.float64]:
    """Half the squared difference of standardised responses, averaged over neuroids.

    Its average over stimuli is 1 − the mean correlation of the neuroids. 0: exactly as measured, up to offset and
    scale; 1: on average, if predictions are unrelated.

    Parameters
    ----------
    predicted, measured : array, stimuli × neuroids
        NaN where there is no value. Neuroids without variance count nowhere.

    Returns
    -------
    array, stimuli
        NaN if a stimulus has no value of any neuroid.

    Examples
    --------
    >>> measured = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> response_losses(10 * measured + 5, measured)
    array([0., 0., 0., 0.])
    >>> predicted = np.array([[0.0], [1.0], [3.0], [2.0]])
    >>> losses = response_losses(predicted, measured)
    >>> bool(np.isclose(1 - losses.mean(), np.corrcoef(predicted[:, 0], measured[:, 0])[0, 1]))
    True
    """
    x, y = np.asarray(predicted, dtype=np.float64), np.asarray(measured, dtype=np.float64)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = (np.where(known, side, np.nan) for side in (x, y))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing are NaN
        x, y = ((side - np.nanmean(side, axis=0)) / np.nanstd(side, axis=0) for side in (x, y))
        losses: NDArray[np.float64] = np.nanmean(np.where(np.isfinite(x - y), (x - y) ** 2 / 2, np.nan), axis=1)
    return losses


def _is_binary(values: NDArray[Any]) -> bool:
    """Whether finite numbers are only 0 and 1, such as which of two cues was followed."""
    return bool(np.isin(values[np.isfinite(values)], (0, 1)).all())


def _by_stimulus(values: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Average the finite values of each stimulus."""
    known = np.isfinite(values)
    counts = np.bincount(rows[known], minlength=rows.max() + 1)
    sums = np.bincount(rows[known], weights=values[known], minlength=rows.max() + 1)
    with np.errstate(invalid="ignore"):
        averages: NDArray[np.float64] = sums / counts
    return averages
