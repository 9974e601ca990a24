"""How all pages describe a benchmark in few words, and the access to its data."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from brainscore_web.leaderboard.models import Visibility

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
