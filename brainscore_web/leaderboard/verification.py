"""Which scores were computed by remote workers and not verified by this site: marks of scores."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from django.apps import apps
from django.db.models import OuterRef, Subquery
from django.utils.html import format_html
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from brainscore_core.training_data import Mark
from brainscore_web.leaderboard.models import Score

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
    if code <= 0:
        return SafeString("")
    mark = VERIFICATION_MARKS[VERIFICATIONS[code]]
    return format_html(
        ' <span class="unverified" title="{}"><span aria-hidden="true">{}</span>'
        '<span class="hidden-text"> {}</span></span>',
        f"{mark.text}: {'some of its scores were ' if of_mean else ''}{mark.meaning}",
        mark.sign,
        mark.text,
    )


def _results():  # type: ignore[no-untyped-def] # a manager of a model that this app does not import
    """Results of remote workers. The app of scoring imports this one, so its model is looked up by name."""
    return apps.get_model("scoring", "RemoteResult").objects
