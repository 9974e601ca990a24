"""The badge of a benchmark: what its audit and its recovery say in short."""

from __future__ import annotations

from typing import NamedTuple

from brainscore_web.leaderboard.models import StoredAssessment

Outcome = StoredAssessment.Outcome


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
