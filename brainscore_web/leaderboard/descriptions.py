"""How all pages describe a benchmark in few words, the access to its data, and the badge of its assessments."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from brainscore_web.leaderboard.models import StoredAssessment, Visibility

_METRICS = {
    "pls": "PLS regression",
    "spantime_pls": "PLS regression over time",
    "ridge": "ridge regression",
    "ridgecv": "ridge regression",
    "linear": "linear regression",
    "rdm": "dissimilarity of stimuli",
    "cka": "similarity of representations",
    "ks_similarity": "distribution of a property",
    "i1": "consistency per object",
    "i1n": "consistency per object",
    "i2": "consistency per image",
    "i2n": "consistency per image",
    "o2": "consistency per pair of objects",
}


class _Described(Protocol):
    @property
    def region(self) -> str: ...
    @property
    def species(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def metric(self) -> str: ...


class DataAccess(NamedTuple):
    """The access to a benchmark's stimuli and measurements: a word for tables, and a sentence."""

    word: str
    sentence: str


def data_access(access: str, *, has_access: bool = False) -> DataAccess:
    """Return the access to a benchmark's data, in the words of all pages.

    Examples
    --------
    >>> data_access("public")
    DataAccess(word='public', sentence='Stimuli and measurements are public.')
    >>> data_access("private").word
    'withheld'
    """
    if access == Visibility.PUBLIC:
        return DataAccess("public", "Stimuli and measurements are public.")
    sentence = "Stimuli and measurements are withheld, so that models cannot be fitted to them. Scores are public."
    if has_access:
        sentence += " You can see the data, because you have access to them."
    return DataAccess("withheld", sentence)


def plain_name(benchmark: _Described) -> str:
    """Return what a benchmark measures in a few words, to stand beside its identifier; empty if nothing is known.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> plain_name(SimpleNamespace(region="IT", species="macaque", task="passive viewing", metric="pls"))
    'IT, macaque, PLS regression'
    >>> plain_name(SimpleNamespace(region="", species="human", task="odd one out", metric="odd_one_out"))
    'odd one out, human'
    """
    metric = _METRICS.get(benchmark.metric, benchmark.metric.replace("_", " "))
    parts = (benchmark.region or benchmark.task, benchmark.species, metric)
    return ", ".join(dict.fromkeys(part for part in parts if part))


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
