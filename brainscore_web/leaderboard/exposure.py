"""Marks of scores: whether models were trained on the stimuli, and whether results of remote workers are verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, get_args

import numpy as np
from django.apps import apps
from django.db.models import OuterRef, Subquery
from django.utils.html import format_html
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.results.aggregates import Averages, Over, Tree, averages
from brainscore_core.training_data import MARKS, Exposure, Mark, Stated, Training, compare, inherited
from brainscore_web.leaderboard.models import Score

EXPOSURES: Final[tuple[Exposure, ...]] = get_args(Exposure)
"""Values of exposure; arrays have indices into this tuple, -1 without a score."""

EXPOSURE_PAGE = "/tutorials/validity/training_data/"
"""The page of the documentation that explains the marks."""


CHOICES: Final[Mapping[str, tuple[Exposure, ...]]] = {
    "": EXPOSURES,
    "clean": ("clean",),
    "not-trained": ("clean", "unknown"),
    "known": ("clean", "trained on it"),
}
"""Values of the filter, and the scores that pass."""


def names_in(value: Any) -> tuple[str, ...] | None:
    """Return a list of names from the database; None if it is empty or anything else.

    Examples
    --------
    >>> names_in(["Places365"]), names_in([]), names_in(None), names_in({"a": 1})
    (('Places365',), (), None, None)
    """
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return None
    return tuple(value)


def stated_in(rows: Iterable[Mapping[str, Any]]) -> dict[str, Stated]:
    """Return what models state, by identifier, from rows with `identifier`, `trained_on` and `fine_tuned_from`."""
    return {row["identifier"]: Stated(names_in(row["trained_on"]), row["fine_tuned_from"] or None) for row in rows}


def trainings(rows: Iterable[Mapping[str, Any]]) -> Callable[[str], Training]:
    """Return a function that returns what a model was trained on, including the models it was fine-tuned from."""
    stated = stated_in(rows)
    return lambda identifier: inherited(identifier, stated.get)


def mark_html(state: Exposure, reason: str = "") -> SafeString:
    """Return the mark of a score with its text for screen readers; empty for clean ones.

    Examples
    --------
    >>> mark_html("clean")
    ''
    """
    mark = MARKS[state]
    return _mark_html("exposure", mark, f"{mark.text}: {reason}" if reason else mark.text)


def _mark_html(kind: str, mark: Mark, title: str) -> SafeString:
    html = ' <span class="{}" title="{}"><span aria-hidden="true">{}</span><span class="hidden-text"> {}</span></span>'
    return format_html(html, kind, title, mark.sign, mark.text) if mark.sign else SafeString("")


def exposure_matrix(models: Sequence[Training], benchmarks: Sequence[tuple[str, ...] | None]) -> NDArray[np.int8]:
    """Return the exposure of each model to each benchmark, as indices into :data:`EXPOSURES`.

    Examples
    --------
    >>> exposure_matrix([Training((), True), Training(("THINGS",), True)], [("THINGS",), None]).tolist()
    [[0, 0], [2, 1]]
    """
    rows, columns = list(dict.fromkeys(models)), list(dict.fromkeys(benchmarks))
    codes = [[EXPOSURES.index(compare(training, names).state) for names in columns] for training in rows]
    row_of = {training: at for at, training in enumerate(rows)}
    column_of = {names: at for at, names in enumerate(columns)}
    matrix = np.array(codes, dtype=np.int8).reshape(len(rows), len(columns))
    at_rows = np.array([row_of[training] for training in models], dtype=np.intp)
    at_columns = np.array([column_of[names] for names in benchmarks], dtype=np.intp)
    return matrix[np.ix_(at_rows, at_columns)]


def kept(exposure: NDArray[np.int8], choice: str) -> NDArray[np.bool_] | None:
    """Return which scores pass the filter; None if all do."""
    return None if not choice else np.isin(exposure, [EXPOSURES.index(name) for name in CHOICES[choice]])


def averages_of_kept(
    tree: Tree,
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    kept: NDArray[np.bool_] | None,
    *,
    influences: Sequence[Sequence[ScoreInfluence | None]] | None = None,
    over: Over = "all",
) -> Averages:
    """Average scores along a tree, for each model over the benchmarks that are kept for it."""
    everything = averages(tree, values, errors, influences=influences if kept is None else None, over=over)
    shape = everything.values.shape
    if kept is None:
        return everything._replace(n_all=np.broadcast_to(everything.n_all, shape))
    place = {identifier: number for number, identifier in enumerate(everything.nodes)}
    of_values, of_errors, df = (np.full(shape, np.nan) for _ in range(3))
    n_all, n_scored = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    patterns, pattern_of = np.unique(kept, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if not pattern.any():
            continue
        rows = np.flatnonzero(pattern_of.ravel() == number).tolist()
        columns = np.flatnonzero(pattern).tolist()
        part = averages(
            tree.pruned(tree.benchmarks[column] for column in columns),
            values[np.ix_(rows, columns)],
            errors[np.ix_(rows, columns)],
            influences=None
            if influences is None
            else [[influences[row][column] for column in columns] for row in rows],
            over=over,
        )
        at = np.ix_(rows, [place[identifier] for identifier in part.nodes])
        of_values[at], of_errors[at], df[at] = part.values, part.errors, part.df
        n_all[at], n_scored[at] = part.n_all, part.n_scored
    return Averages(everything.nodes, of_values, of_errors, df, n_all, n_scored)


def exposure_of_nodes(
    parents: Sequence[int], leaves: Mapping[int, NDArray[np.int8]], n_models: int
) -> NDArray[np.int8]:
    """Return the exposure of models at each node: of a mean, the most exposed of its scores.

    Examples
    --------
    >>> exposure_of_nodes([-1, 0, 0], {1: np.array([0, 1]), 2: np.array([2, -1])}, 2).tolist()
    [[2, 0, 2], [1, 1, -1]]
    """
    exposure = np.full((n_models, len(parents)), -1, dtype=np.int8)
    for at, values in leaves.items():
        exposure[:, at] = values
    for at in range(len(parents) - 1, -1, -1):
        if parents[at] >= 0:
            above = exposure[:, parents[at]]
            np.maximum(above, exposure[:, at], out=above)
    return exposure


VERIFICATIONS = ("", "not verified", "contradicted")
"""Whether there is doubt about who computed a score; arrays have indices into this tuple."""

VERIFICATION_MARKS: Mapping[str, Mark] = MappingProxyType(
    {
        "": Mark("", "", ""),
        "not verified": Mark("‡", "not verified", "computed by a remote worker, and not repeated by this site"),
        "contradicted": Mark("‼", "contradicted", "computed by a remote worker; this site got another result"),
    }
)
"""Marks of scores, in the order of `VERIFICATIONS`."""

VERIFICATION_PAGE = "/tutorials/operators/worker/#remote-workers"
"""The page of the documentation that explains the marks."""

_RELIABLE = ("trusted", "verified")


def verification_code(state: str) -> int:
    """Return the index into `VERIFICATIONS` of a remote worker's result in this state.

    Examples
    --------
    >>> [verification_code(state) for state in ("trusted", "waits for verification", "contradicted")]
    [0, 1, 2]
    """
    return (
        0 if state in _RELIABLE else VERIFICATIONS.index("contradicted" if state == "contradicted" else "not verified")
    )


def verification_codes(scores: NDArray[np.int64]) -> NDArray[np.int8]:
    """Return for each score the index into `VERIFICATIONS`."""
    doubtful = _results().exclude(state__in=_RELIABLE).order_by()
    state = doubtful.filter(receipt=OuterRef("receipt")).values("state")[:1]
    rows = Score.objects.order_by().filter(receipt__in=doubtful.values("receipt")).annotate(doubt=Subquery(state))
    keys: tuple[list[int], list[int]] = ([], [])
    for key, doubt in rows.values_list("pk", "doubt"):
        keys[verification_code(doubt) - 1].append(key)
    codes = np.zeros(scores.shape, dtype=np.int8)
    for code, of_code in enumerate(keys, 1):
        codes[np.isin(scores, np.array(of_code, dtype=np.int64))] = code
    return codes


def verification_of_score(code: int) -> str:
    """Return a sentence on the verification of a score; empty if there is no doubt.

    Examples
    --------
    >>> verification_of_score(1)
    'not verified: computed by a remote worker, and not repeated by this site'
    """
    mark = VERIFICATION_MARKS[VERIFICATIONS[code]]
    return f"{mark.text}: {mark.meaning}" if code > 0 else ""


def verification_mark(code: int, *, of_mean: bool = False) -> SafeString:
    """Return the mark of a score or mean with its text for screen readers; empty if there is no doubt.

    Examples
    --------
    >>> verification_mark(0)
    ''
    """
    mark = VERIFICATION_MARKS[VERIFICATIONS[max(code, 0)]]
    title = f"{mark.text}: {'some of its scores were ' if of_mean else ''}{mark.meaning}"
    return _mark_html("unverified", mark, title)


def _results():  # type: ignore[no-untyped-def] # a manager of a model that this app does not import
    """Results of remote workers. The app of scoring imports this one, so its model is looked up by name."""
    return apps.get_model("scoring", "RemoteResult").objects
