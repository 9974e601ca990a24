"""Assessments of a store, and their export as one table."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import PurePosixPath
from typing import Any

from brainscore_core.identifiers import to_folder_name
from brainscore_core.paths import default_results_address
from brainscore_core.receipts.assessment import (
    Answered,
    Assessment,
    Audit,
    Controls,
    Designed,
    Interval,
    Part,
    Recovery,
    Result,
    SignalShares,
    Unexplained,
    result_of,
)
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.claims import Claim, claim_pair
from brainscore_core.results.export import Column, write_table
from brainscore_core.results.store import Problem, ResultsStore, backend_of, read_entries

_FOLDER = ".assessments"  # names with a dot are not read as receipts of scores


class AssessmentStore:
    """Assessments as ``.assessments/<benchmark>/<part>/<id>.json`` in a store of results.

    As receipts, an assessment appears whole or not at all, and is never changed. A store can be sent to other
    processes.

    `results`: the store of results; by default :func:`~brainscore_core.paths.default_results_address`.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.receipts.assessment import Used
    >>> store = AssessmentStore(tempfile.mkdtemp())
    >>> found = Assessment(part="audit", benchmark=Used(kind="benchmark", identifier="Some2026.V1-pls"),
    ...                    state="not applicable", reason="it has no stimuli")
    >>> store.latest("Some2026.V1-pls", "audit", ()) is None, store.write(found).id is None
    (True, False)
    >>> store.latest("Some2026.V1-pls", "audit", ()).reason
    'it has no stimuli'
    """

    def __init__(self, results: str | os.PathLike[str] | ResultsStore | None = None) -> None:
        if isinstance(results, ResultsStore):
            results = results.address
        address = os.fspath(default_results_address() if results is None else results)
        self._results = address
        self._backend = backend_of(f"{address.rstrip('/')}/{_FOLDER}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._results,)

    @property
    def address(self) -> str:
        """Folder or address in a bucket."""
        return self._backend.address

    def require_writable(self) -> None:
        """Check that assessments can be written; create the folder if it is missing.

        Raises `UserError` if they cannot be written.
        """
        self._backend.require_writable()

    def write(self, assessment: Assessment) -> Assessment:
        """Store an assessment, and return it with its id.

        Raises `StoreError` if the folder or the bucket cannot be written.
        """
        stored = assessment.identified()
        folder = _place(stored.benchmark.identifier, stored.part)
        self._backend.store(folder, {}, f"{stored.id}.json", stored.to_json())
        return stored

    def address_of(self, assessment: Assessment) -> str:
        """Path of an assessment's file, or its address in a bucket."""
        return self._backend.address_of(
            f"{_place(assessment.benchmark.identifier, assessment.part)}/{assessment.id}.json"
        )

    def latest(self, benchmark: str, part: Part, models: Sequence[str]) -> Assessment | None:
        """Newest readable assessment of this part with these models; None if there is none."""
        names = self._names(to_folder_name(benchmark), part)
        for name in reversed(names):
            for entry in self._read([name]):
                if isinstance(entry, Assessment) and [model.identifier for model in entry.models] == list(models):
                    return entry
        return None

    def newest(self, benchmark: str | None = None) -> tuple[list[Assessment], list[Problem]]:
        """Newest assessment of each benchmark, part, topic and set of models, and files that cannot be read.

        `benchmark`: only of this one.
        """
        newest: dict[tuple[str, ...], Assessment] = {}
        problems: list[Problem] = []
        for entry in self._read(self._names(None if benchmark is None else to_folder_name(benchmark), None)):
            if isinstance(entry, Problem):
                problems.append(entry)
            elif benchmark in {None, entry.benchmark.identifier}:
                names = (model.identifier for model in entry.models)
                newest[entry.benchmark.identifier, entry.part, entry.topic, *names] = (
                    entry  # read in the order of their ids
                )
        return list(newest.values()), problems

    def unread(self, known: Collection[str]) -> Iterator[Assessment | Problem]:
        """Read the assessments whose ids are not known, and report files that cannot be read.

        `known`: ids; their files are not opened.
        """
        yield from self._read([name for name in self._names(None, None) if PurePosixPath(name).stem not in known])

    def claim(self, benchmark: str, part: Part, models: Sequence[str] = (), *, owner: str = "") -> Claim | None:
        """Claim a part of a benchmark with these models, so that only one of several processes computes it.

        None if another process has claimed it.
        """
        folder = f"{_place(benchmark, part)}-{sha256(repr(tuple(models)).encode()).hexdigest()[:12]}"
        return claim_pair(
            self._backend.claims, folder, model=", ".join(models) or part, benchmark=benchmark, owner=owner
        )

    def _names(self, benchmark: str | None, part: str | None) -> list[str]:
        return [name for name in self._backend.names(benchmark, part) if name.endswith(".json")]

    def _read(self, names: Sequence[str]) -> Iterator[Assessment | Problem]:
        return read_entries(self._backend, names, Assessment.from_json)


def _place(benchmark: str, part: str) -> str:
    return f"{to_folder_name(benchmark)}/{part}"


ASSESSMENT_COLUMNS: tuple[Column, ...] = (
    Column("id", "text", "the receipt of the assessment"),
    Column("created", "time", "when it was made (UTC)"),
    Column("benchmark", "text", "identifier of the benchmark"),
    Column("version", "text", "version of the benchmark"),
    Column("part", "text", "`audit`, `controls`, `recovery`, `question`, `explanation`, `atlas` or `design`"),
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
    Column("rank", "integer", "rank of a model in answer to a question"),
    Column("question", "text", "what was asked; stimuli and neuroids of shares of the signal"),
)
"""The columns, in order; later versions may add columns at the end, and remove none."""

Row = dict[str, Any]


def assessment_rows(documents: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Convert assessments to rows: str, float, int or None by column.

    The order is kept. An assessment whose result cannot be read has a single row with the error as its reason.

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
        about, result = {**empty, **_about(document)}, document.get("result")
        try:
            lines = [] if result is None else list(_lines(result_of(about["part"], result)))
        except ReceiptError as error:
            lines = [{"reason": str(error)}]
        rows += [{**about, **line} for line in lines or [{}]]
    return rows


def export_assessments(assessments: Iterable[Assessment], path: str | PathLike[str]) -> int:
    """Write a table of assessments, whole or not at all; return the number of rows.

    The order is kept. The path ends in ``.csv`` or ``.parquet``, as for
    :func:`~brainscore_core.results.export.export_table`. Raises UserError if the name has another ending, pyarrow is
    missing, or the file cannot be written.
    """
    return write_table(
        lambda: assessment_rows(assessment.to_dict() for assessment in assessments), ASSESSMENT_COLUMNS, path
    )


def _about(document: Mapping[str, Any]) -> Row:
    benchmark = document["benchmark"]
    return {
        **{name: document[name] or None for name in ("id", "created", "part", "state", "reason", "code")},
        "benchmark": benchmark["identifier"],
        "version": None if benchmark["version"] is None else str(benchmark["version"]),
        "models": "; ".join(model["identifier"] for model in document["models"]) or None,
        "seconds": float(document["seconds"]),
    }


def _row(kind: str, name: str | None = None, **columns: Any) -> Row:
    """A row with some columns; `ci` and `difference_ci` are intervals."""
    limits: Row = {}
    for column in ("ci", "difference_ci"):
        interval: Interval | None = columns.pop(column, None)
        low, high = (limit if math.isfinite(limit) else None for limit in interval) if interval else (None, None)
        limits |= {f"{column}_low": low, f"{column}_high": high}
    return {"kind": kind, "name": name, **limits, **columns}


def _lines(result: Result) -> Iterator[Row]:
    match result:
        case Audit():
            return _audit(result)
        case Controls():
            return _controls(result)
        case Recovery():
            return _recovery(result)
    return _answers(result)


def _answers(result: Answered | SignalShares | Designed | Unexplained) -> Iterator[Row]:
    """Rows of results of questions."""
    row = partial(_row, question=result.question)
    match result:
        case Answered():
            for model in result.models:
                numbers = {"value": model.score, "ci": model.ci, "p": model.p, "rank": model.rank}
                yield row("answer", model.model, **numbers, reason=model.reason)
        case SignalShares():
            for share in result.shares:
                yield row("share", share.label, value=share.share, ci=share.ci)
        case Designed():
            for stimulus in result.stimuli:
                yield row("chosen stimulus", stimulus.stimulus, value=stimulus.value)
            for power in result.power:
                yield row("power", power.true, group="designed", value=power.designed)
                yield row("power", power.true, group="random", value=power.random)
            for measured in result.measured:
                yield row("measured", measured.model, value=measured.correlation)
        case Unexplained():
            yield row("neuroids", "neuroids", count=result.neuroids)
            yield row("neuroids", "with a signal", count=result.reliable)
            yield row("neuroids", "unexplained", count=result.found)
            yield row("median share", "best model", value=result.best)
            yield row("median share", "best combination", value=result.combined)


def _audit(audit: Audit) -> Iterator[Row]:
    yield _row("stimuli", count=audit.stimuli)
    for name, count in audit.units.items():
        yield _row("independent units", name, count=count)
    for overlap in audit.overlaps:
        yield _row("overlap", overlap.kind, value=overlap.share, count=overlap.stimuli, reason=overlap.reason)
    for copies in audit.copies:
        yield _row("equal responses", copies.kind, count=copies.presentations)
    for test in audit.tests:
        yield _row("serial test", test.kind, group=test.recordings or None, value=test.value, p=test.p_corrected)
    for loss in audit.losses:
        yield _row(
            "loss", loss.rule, group=loss.model, value=loss.grouped, ci=loss.grouped_ci,
            difference=loss.loss, difference_ci=loss.ci, p=loss.p, reason=loss.reason,
        )  # fmt: skip


def _controls(controls: Controls) -> Iterator[Row]:
    if controls.model:
        yield _row("model", controls.model, value=controls.score, ci=controls.ci, reason=controls.reason)
    for control in controls.controls:
        to_model = control.difference
        yield _row(
            "control", control.name, group=control.kind, value=control.score, ci=control.ci,
            difference=to_model.value, difference_ci=to_model.ci, p=to_model.p,
            reason=control.reason or to_model.reason,
            condition=None if to_model.value is None else to_model.condition or None,
        )  # fmt: skip


def _recovery(recovery: Recovery) -> Iterator[Row]:
    for confusion in recovery.confusions:
        named = [*zip(recovery.candidates, confusion.found, strict=False), ("all candidates", confusion.overall)]
        for name, share in named:
            row = partial(_row, "recovered", name, group=confusion.generator)
            yield row(value=share.share, ci=share.ci, count=share.experiments)
    for mixture in recovery.mixtures:
        name = f"{mixture.first} and {mixture.second}"
        yield _row("smallest mixture", name, group=mixture.generator, value=mixture.smallest, reason=mixture.reason)
