"""Figures of a pair of model and benchmark, from what is stored beside its receipt: neuroids and stimuli."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from brainscore_core.domains import domain
from brainscore_core.errors import UserError
from brainscore_core.figures import Picture, Pictures, Plot, Point, Scatter, column_width, pictures, scatter
from brainscore_core.formatting import number_text, printable

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.scoring import Receipt, ResultsStore

_PICTURE_SIDE = 256  # pixels; printed 2 cm wide, 325 dots an inch
_FEWEST_NEUROIDS = 3


def neuroid_table(store: ResultsStore, receipt: Receipt, benchmark: Benchmark) -> pd.DataFrame:
    """Score and reliability of each neuroid, from a stored score; nothing is scored again.

    The columns are ``neuroid_id``, ``score`` (before division by the ceiling, the mean over splits) and
    ``reliability``, which the benchmark's ceiling has. Raises UserError if score or ceiling have no values of the same
    single neuroids.
    """
    raw = _attachment(store, receipt, "raw")
    reliability = getattr(benchmark.ceiling, "attrs", {}).get("raw")
    sides = []
    for values, name in ((raw, "score"), (reliability, "ceiling")):
        if values is None or "neuroid_id" not in getattr(values, "coords", ()):
            raise UserError(
                f"the {name} of {receipt.benchmark.identifier} has no values of single neuroids",
                remedy="choose a benchmark that predicts neuroids, with a reliability as its ceiling",
            )
        averaged = values.mean([dim for dim in values.dims if dim != "neuroid"])
        ids = averaged["neuroid_id"].values.astype(str)
        sides.append(pd.Series(np.asarray(averaged.values, dtype=np.float64), index=ids, name=name))
    score, ceiling = sides
    if not score.index.is_unique or not score.index.isin(ceiling.index).all():
        raise UserError(
            f"score and ceiling of {receipt.benchmark.identifier} are of different neuroids",
            remedy="score the model again, with the installed version of the benchmark",
        )
    return pd.DataFrame({"neuroid_id": score.index, "score": score.values, "reliability": ceiling[score.index].values})


def neuroid_plot(table: pd.DataFrame, receipt: Receipt, *, width: float = 85) -> Plot:
    """Draw the score of each neuroid against its reliability; `width` is 85, 114 or 174 mm.

    A dashed line is the highest correlation that a reliability allows, its square root.
    """
    bounded = receipt.ceiling is not None and receipt.ceiling.meaning == "reliability"
    bounded &= receipt.raw is not None and receipt.raw.scale == "correlation"
    units = column_width(width)
    points = [
        Point(x=float(x), y=float(y), label=f"{neuroid}: {y:.3f}, {x:.3f}")
        for neuroid, x, y in zip(table["neuroid_id"], table["reliability"], table["score"], strict=True)
    ]
    title = printable(f"Neuroids of {receipt.benchmark.identifier} by {receipt.model.identifier}")
    chart = Scatter(
        points=points,
        title=title,
        x_title="reliability of the neuroid",
        y_title="correlation, predicted and measured" if bounded else "score of the neuroid",
        curve=[(step / 200, float(np.sqrt(step / 200))) for step in range(201)] if bounded else (),
        curve_name="highest correlation, √reliability" if bounded else "",
        width=units,
        height=min(units, 536) * 0.8,
    )
    return Plot(scatter(chart), title)


def stimulus_table(store: ResultsStore, receipt: Receipt) -> pd.DataFrame:
    """How well a model does on each stimulus, from a stored score; the best stimulus first.

    The columns are ``stimulus_id`` and ``value``; ``attrs["measure"]`` says what the value is. Of predicted neuroids:
    the correlation over neuroids of predicted and measured responses, each in standard deviations of its neuroid,
    averaged over the splits that test the stimulus. Of answers: the share that is right, or the same as people's. Of
    others: influence on the score. Stimuli of equal values are in random order, always the same. Raises UserError if
    nothing is stored by which stimuli differ.
    """
    predicted = _attachment(store, receipt, "predictions")
    if predicted is not None and "stimulus_id" in predicted.coords:
        measured = store.open_attachment(receipt, "predictions", group="targets")
        if "neuroid" in predicted.dims and predicted.sizes["neuroid"] >= _FEWEST_NEUROIDS:
            measure = "correlation over neuroids, predicted and measured"
            return _by_stimulus(predicted, _pattern_correlations(predicted, measured), measure)
        if predicted.dims == measured.dims == ("presentation",):
            return _by_stimulus(predicted, predicted.values == measured.values, "share of answers equal to people's")
    for kind, measure in (("raw", "share of right answers"), ("influence", "influence on the score")):
        values = _attachment(store, receipt, kind)
        if values is not None and values.dims == ("presentation",) and "stimulus_id" in values.coords:
            return _by_stimulus(values, values.values, measure)
    raise UserError(
        f"nothing is stored about single stimuli for the score of {receipt.model.identifier} on "
        f"{receipt.benchmark.identifier}",
        remedy="choose a benchmark that predicts neuroids or labels",
    )


def stimulus_plot(
    table: pd.DataFrame, receipt: Receipt, benchmark: Benchmark, *, number: int = 6, width: float = 174
) -> Plot:
    """Draw the `number` stimuli that a model does best on, and worst on; `width` is 85, 114 or 174 mm.

    Pictures are shown if the benchmark's metadata say that its data are public, else their names.
    """
    of = domain(receipt.domain)
    number = max(1, min(number, len(table) // 2))
    measure = table.attrs["measure"]
    best, worst = table.head(number), table.tail(number)[::-1]
    drawn: dict[str, str] = {}
    note = f"{of.wording.stimuli.capitalize()} are shown by their names."
    if of.offers("pictures of stimuli"):
        names = [*best["stimulus_id"], *worst["stimulus_id"]]
        drawn, note = of.feature("pictures of stimuli")(benchmark, names, side=_PICTURE_SIDE)

    def row(part: pd.DataFrame) -> list[Picture]:
        return [
            Picture(address=drawn.get(name, ""), name=printable(_stem(name)), text=number_text(float(value)))
            for name, value in zip(part["stimulus_id"], part["value"], strict=True)
        ]

    title = printable(f"Stimuli of {receipt.benchmark.identifier} by {receipt.model.identifier}")
    headings = (f"Best\n{measure}{_ties(table, best)}", f"Worst\n{measure}{_ties(table, worst)}")
    rows = list(zip(headings, (row(best), row(worst)), strict=True))
    content = Pictures(rows=rows, title=title, description=note, width=column_width(width))
    return Plot(pictures(content), title)


def _attachment(store: ResultsStore, receipt: Receipt, kind: str) -> Any:
    if all(attachment.kind != kind for attachment in receipt.attachments):
        return None
    return store.open_attachment(receipt, kind)


def _pattern_correlations(predicted: Any, measured: Any) -> np.ndarray:
    x, y = (
        np.asarray(side.transpose("presentation", ...).values, dtype=np.float64).reshape(side.sizes["presentation"], -1)
        for side in (predicted, measured)
    )
    mean, deviation = y.mean(axis=0), y.std(axis=0)
    varying = deviation > 0
    x, y = ((side[:, varying] - mean[varying]) / deviation[varying] for side in (x, y))
    x, y = (side - side.mean(axis=1, keepdims=True) for side in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))


def _by_stimulus(values: Any, numbers: np.ndarray, measure: str) -> pd.DataFrame:
    series = pd.Series(np.asarray(numbers, dtype=np.float64), index=values["stimulus_id"].values.astype(str))
    means = series.groupby(level=0).mean().dropna().sample(frac=1, random_state=0)  # equal ones in no order
    means = means.sort_values(ascending=False, kind="stable")
    table = pd.DataFrame({"stimulus_id": means.index, "value": means.values})
    table.attrs["measure"] = measure
    return table


def _stem(name: str) -> str:
    return re.sub(r"\.(png|jpe?g|bmp|tiff?)$", "", name, flags=re.IGNORECASE)


def _ties(table: pd.DataFrame, shown: pd.DataFrame) -> str:
    """How many stimuli have the value of the last one that is shown, if not all of them are shown."""
    last = shown["value"].iloc[-1]
    number, equal = int((shown["value"] == last).sum()), int((table["value"] == last).sum())
    return f"; {number} of {equal} at {number_text(float(last))}, drawn at random" if equal > number else ""
