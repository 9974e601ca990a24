"""Assessments as a table: one row for each number that they state."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import Any

from brainscore_core.populations import UNRECORDED
from brainscore_core.receipts.assessment import Assessment
from brainscore_core.results.export import Column, write_table

ASSESSMENT_COLUMNS: tuple[Column, ...] = (
    Column("id", "text", "the receipt of the assessment"),
    Column("created", "time", "when it was made (UTC)"),
    Column("benchmark", "text", "identifier of the benchmark"),
    Column("version", "text", "version of the benchmark"),
    Column("part", "text", "`audit`, `controls` or `recovery`"),
    Column("models", "text", "models that take part, separated by `; `"),
    Column("state", "text", "`assessed`, `not applicable` or `failed`"),
    Column("reason", "text", "why there is no result, or no number"),
    Column("kind", "text", "what the row is about, see the table of kinds; missing without a result"),
    Column("name", "text", "of the finding, baseline model or candidate"),
    Column("group", "text", "kind of baseline model; features of a loss; generator of a recovery"),
    Column("value", "number", "the score, share or statistic"),
    Column("ci_low", "number", "lower limit of its 95 % interval"),
    Column("ci_high", "number", "upper limit of its 95 % interval"),
    Column("difference", "number", "model minus baseline model; score that is lost with grouped splits"),
    Column("difference_ci_low", "number", "lower limit of its 95 % interval"),
    Column("difference_ci_high", "number", "upper limit of its 95 % interval"),
    Column("p", "number", "p-value; of serial tests after Holm's correction"),
    Column("count", "integer", "stimuli, presentations, independent units or experiments"),
    Column("code", "text", "hash of the platform's code"),
    Column("seconds", "number", "duration"),
    Column("condition", "text", "for which few subjects or groups alone a test against a baseline model holds"),
)
"""The columns, in order; later versions may add columns at the end, and remove none."""

Row = dict[str, Any]


def assessment_rows(documents: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Convert assessments to rows: str, float, int or None by column.

    Parameters
    ----------
    documents : iterable of mapping
        Assessments as JSON types, in any order, which is kept. What a result lacks, or has in another type, is missing.

    Examples
    --------
    >>> from brainscore_core.receipts.assessment import Used
    >>> control = {"name": "pixels", "kind": "baseline", "score": 0.2, "difference": {"value": 0.3, "p": 0.01}}
    >>> found = Assessment(part="controls", benchmark=Used(kind="benchmark", identifier="Some2026-pls"),
    ...                    state="assessed", result={"controls": [control]})
    >>> (row,) = assessment_rows([found.identified().to_dict()])
    >>> row["kind"], row["name"], row["value"], row["difference"]
    ('control', 'pixels', 0.2, 0.3)
    """
    empty: Row = dict.fromkeys(column.name for column in ASSESSMENT_COLUMNS)
    rows = []
    for document in documents:
        about = {**empty, **_about(document)}
        result = document.get("result")
        lines = list(_LINES[about["part"]](result)) if isinstance(result, Mapping) and about["part"] in _LINES else []
        rows += [{**about, **line} for line in lines or [{}]]
    return rows


def export_assessments(assessments: Iterable[Assessment], path: str | PathLike[str]) -> int:
    """Write a table of assessments, whole or not at all; return the number of rows.

    Parameters
    ----------
    assessments : iterable of Assessment
        In any order, which is kept.
    path : path
        Ends in ``.csv`` or ``.parquet``, as for :func:`~brainscore_core.results.export.export_table`.

    Raises
    ------
    UserError
        If the name has another ending, pyarrow is missing, or the file cannot be written.
    """
    return write_table(
        lambda: assessment_rows(assessment.to_dict() for assessment in assessments), ASSESSMENT_COLUMNS, path
    )


def _about(document: Mapping[str, Any]) -> Row:
    benchmark = document.get("benchmark")
    about = benchmark if isinstance(benchmark, Mapping) else {}
    version = about.get("version")
    return {
        **{name: _text(document, name) for name in ("id", "created", "part", "state", "reason", "code")},
        "benchmark": _text(about, "identifier"),
        "version": None if version is None else str(version),
        "models": "; ".join(str(model.get("identifier")) for model in _items(document, "models")) or None,
        "seconds": _number(document, "seconds"),
    }


def _audit(result: Mapping[str, Any]) -> Iterator[Row]:
    yield {"kind": "stimuli", "count": _integer(result, "stimuli")}
    counts = result.get("units")
    units: Mapping[str, Any] = counts if isinstance(counts, Mapping) else {}
    for name in units:
        yield {"kind": "independent units", "name": str(name), "count": _integer(units, name)}
    for item in _items(result, "overlaps"):
        yield {
            "kind": "overlap",
            "name": _text(item, "kind"),
            "value": _number(item, "share"),
            "count": _integer(item, "stimuli"),
            "reason": _text(item, "reason"),
        }
    for item in _items(result, "copies"):
        yield {"kind": "equal responses", "name": _text(item, "kind"), "count": _integer(item, "presentations")}
    for item in _items(result, "tests"):
        yield {
            "kind": "serial test",
            "name": _text(item, "kind"),
            "group": _text(item, "recordings"),
            "value": _number(item, "value"),
            "p": _number(item, "p_corrected"),
        }
    for item in _items(result, "losses"):
        yield {
            "kind": "loss",
            "name": _text(item, "rule"),
            "group": _text(item, "model"),
            "value": _number(item, "grouped"),
            **_limits(item, "grouped_ci", "ci"),
            "difference": _number(item, "loss"),
            **_limits(item, "ci", "difference_ci"),
            "p": _number(item, "p"),
            "reason": _text(item, "reason"),
        }


def _controls(result: Mapping[str, Any]) -> Iterator[Row]:
    if model := _text(result, "model"):
        yield {
            "kind": "model",
            "name": model,
            "value": _number(result, "score"),
            **_limits(result, "ci", "ci"),
            "reason": _text(result, "reason"),
        }
    for item in _items(result, "controls"):
        difference = item.get("difference")
        compared = difference if isinstance(difference, Mapping) else {}
        yield {
            "kind": "control",
            "name": _text(item, "name"),
            "group": _text(item, "kind"),
            "value": _number(item, "score"),
            **_limits(item, "ci", "ci"),
            "difference": _number(compared, "value"),
            **_limits(compared, "ci", "difference_ci"),
            "p": _number(compared, "p"),
            "reason": _text(item, "reason") or _text(compared, "reason"),
            "condition": (_text(compared, "condition") if "condition" in compared else UNRECORDED)
            if compared
            else None,
        }


def _recovery(result: Mapping[str, Any]) -> Iterator[Row]:
    candidates = result.get("candidates")
    names = [str(name) for name in candidates] if isinstance(candidates, list) else []
    for confusion in _items(result, "confusions"):
        generator = _text(confusion, "generator")
        for name, found in zip(names, _items(confusion, "found"), strict=False):
            yield {"kind": "recovered", "name": name, "group": generator, **_share(found)}
        if isinstance(overall := confusion.get("overall"), Mapping):
            yield {"kind": "recovered", "name": "all candidates", "group": generator, **_share(overall)}
    for item in _items(result, "mixtures"):
        yield {
            "kind": "smallest mixture",
            "name": f"{_text(item, 'first')} and {_text(item, 'second')}",
            "group": _text(item, "generator"),
            "value": _number(item, "smallest"),
            "reason": _text(item, "reason"),
        }


_LINES: dict[str, Callable[[Mapping[str, Any]], Iterator[Row]]] = {
    "audit": _audit,
    "controls": _controls,
    "recovery": _recovery,
}


def _share(item: Mapping[str, Any]) -> Row:
    limits = {"ci_low": _number(item, "low"), "ci_high": _number(item, "high")}
    return {"value": _number(item, "share"), **limits, "count": _integer(item, "experiments")}


def _limits(item: Mapping[str, Any], name: str, column: str) -> Row:
    limits = item.get(name)
    low, high = limits if isinstance(limits, list | tuple) and len(limits) == 2 else (None, None)
    return {f"{column}_low": _finite(low), f"{column}_high": _finite(high)}


def _items(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = document.get(name)
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list | tuple) else []


def _text(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    return value or None if isinstance(value, str) else None


def _number(item: Mapping[str, Any], name: str) -> float | None:
    return _finite(item.get(name))


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or math.isnan(value):
        return None
    return float(value)


def _integer(item: Mapping[str, Any], name: str) -> int | None:
    value = item.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None
