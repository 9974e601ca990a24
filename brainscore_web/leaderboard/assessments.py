"""What assessments of benchmarks say in short: their outcomes, and the badge of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from brainscore_web.leaderboard.clean import number, objects_in
from brainscore_web.leaderboard.models import StoredAssessment

Outcome = StoredAssessment.Outcome

MOST_MISSED = 0.2
"""Share of its experiments in which a candidate may be missed if candidates count as recovered."""


def outcome_of(part: str, result: Mapping[str, Any] | None) -> str:
    """Return the outcome of an audit or a recovery; empty if it has none, or for controls.

    Examples
    --------
    >>> str(outcome_of("audit", {"clean": False})), str(outcome_of("controls", {"above_all_controls": True}))
    ('findings', '')
    >>> found = [{"share": 1.0}, {"share": 0.75}]
    >>> str(outcome_of("recovery", {"confusions": [{"generator": "sampled units", "found": found}]}))
    'not recovered'
    """
    if result is None:
        return ""
    if part == StoredAssessment.Part.AUDIT and isinstance(result.get("clean"), bool):
        return Outcome.NO_FINDING if result["clean"] else Outcome.FINDINGS
    if part == StoredAssessment.Part.RECOVERY:
        shares = shares_of(result)
        known = [share for share in shares if share is not None]
        if known and len(known) == len(shares):
            return Outcome.RECOVERED if min(known) >= 1 - MOST_MISSED else Outcome.NOT_RECOVERED
    return ""


def shares_of(result: Mapping[str, Any]) -> list[float | None]:
    """Return how often each candidate of a recovery scored best where it was true, for each generator."""
    return [
        number(found.get("share"))
        for confusion in objects_in(result, "confusions")
        for found in objects_in(confusion, "found")
    ]


class Badge(NamedTuple):
    """A badge of a benchmark: one symbol for its audit and one for its recovery, and what they mean."""

    signs: str
    text: str


_AUDIT = {
    Outcome.NO_FINDING: ("✓", "audit without a finding"),
    Outcome.FINDINGS: ("!", "audit with findings"),
    "": ("", "not audited"),
}
_RECOVERY = {
    Outcome.RECOVERED: ("◆", "each candidate is recovered"),
    Outcome.NOT_RECOVERED: ("◇", "not every candidate is recovered"),
    "": ("", "recovery not assessed"),
}


BADGES = (
    ("✓", "the audit has no finding in what it examined"),
    ("!", "the audit has findings: scores may be too high, by as much as the benchmark’s page says"),
    ("◆", "each candidate of the recovery scored best in at least 80 % of the simulations in which it was true"),
    ("◇", "not every candidate did; benchmarks without these signs are not assessed"),
)
"""Signs of badges and their meanings, for the legend."""


def badge_of(audit: str, recovery: str) -> Badge:
    """Return the badge for the outcomes of an audit and a recovery; without signs if both are empty.

    Examples
    --------
    >>> badge_of("findings", "")
    Badge(signs='!', text='audit with findings; recovery not assessed')
    >>> badge_of("", "")
    Badge(signs='', text='not assessed')
    """
    if not audit and not recovery:
        return Badge("", "not assessed")
    (first, of_audit), (second, of_recovery) = _AUDIT[audit], _RECOVERY[recovery]
    return Badge(first + second, f"{of_audit}; {of_recovery}")
