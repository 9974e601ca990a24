"""What a search finds: entries that the visitor may see, grouped by kind, the best match first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from brainscore_web.leaderboard.models import Benchmark, VisionModel, Visitor, with_contributors
from brainscore_web.search.index import SOURCES, folded, joined, parts_of, split
from brainscore_web.search.models import Entry, Relevance, parts_query, words_query

LONGEST = 200
"""The number of characters of a search that count."""

_MOST_WORDS = 12
_MOST_SIMILAR = 300  # candidates for names that resemble misspelt ones
_SIMILAR = 0.5  # share of the parts of the words searched that a similar name has
_EXCERPT = 200  # characters


@dataclass(frozen=True)
class Result:
    """An entry, the text shown below its title, and its model or benchmark if a user or a lab has contributed it."""

    entry: Entry
    excerpt: SafeString
    contributed: VisionModel | Benchmark | None


@dataclass(frozen=True)
class Group:
    """The best matches of one kind, and the number of all."""

    kind: str
    title: str
    results: tuple[Result, ...]
    total: int


@dataclass(frozen=True)
class Results:
    """Groups, that with the best match first; `similar` if no entry has all words, and these have similar names."""

    groups: tuple[Group, ...]
    similar: bool = False


def search(text: str, visitor: Visitor, *, most: int, kind: str = "", start: int = 0) -> Results:
    """Return what a visitor may see of the entries that a text matches.

    Parameters
    ----------
    text : str
        Words. Each of them is the beginning of a word of an entry, or consists of beginnings of components of names:
        ``hong2015`` matches MajajHong2015. If no entry has all words, names that resemble them are returned.
    visitor : User or AnonymousUser
        Their rights decide in each search, whatever the index has.
    most : int
        The number of results of each group.
    kind : str, optional
        A name of :data:`~brainscore_web.search.index.SOURCES`: return only this group.
    start : int, optional
        The number of results of each group to skip.
    """
    text = " ".join(text[:LONGEST].replace("\0", " ").split())
    words = [(folded(word), components) for word, components in _query_words(text)][:_MOST_WORDS]
    if not words:
        return Results(())
    entries = _visible_entries(visitor)
    matches = _matching(entries, text, words)
    similar = not matches
    if similar:
        matches = _similar(entries, text)
    keys: dict[str, list[int]] = {}
    for key, of_kind in matches:
        keys.setdefault(of_kind, []).append(key)
    if kind:
        keys = {name: of_kind for name, of_kind in keys.items() if name == kind}
    shown = Entry.objects.in_bulk([key for of_kind in keys.values() for key in of_kind[start : start + most]])
    pattern = _pattern(word for word, _ in words)
    groups = []
    for name, matching in keys.items():
        listed = [shown[key] for key in matching[start : start + most] if key in shown]
        table = _CONTRIBUTED.get(name)
        rows = {} if table is None else with_contributors(table.objects.filter(pk__in=[entry.row for entry in listed]))
        results = tuple(_result(entry, pattern, rows.get(entry.row or 0)) for entry in listed)
        groups.append(Group(name, SOURCES[name].title, results, len(matching)))
    return Results(tuple(groups), similar)


_CONTRIBUTED: dict[str, type[VisionModel] | type[Benchmark]] = {"model": VisionModel, "benchmark": Benchmark}


def _query_words(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    for word in re.findall(r"[^\W_]+", text):
        if letters := joined(word):  # a word may consist of accents
            yield letters, tuple(filter(None, split(word)))


def _visible_entries(visitor: Visitor) -> QuerySet[Entry]:
    condition = Q(row=None)
    for kind, source in SOURCES.items():
        if source.visible is not None:
            condition |= Q(kind=kind, row__in=source.visible(visitor).order_by().values("pk"))
    return Entry.objects.filter(condition)


def _matching(entries: QuerySet[Entry], text: str, words: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[int, str]]:
    """Return keys and kinds: equal names first, then names that begin with the text, then by relevance."""
    query = words_query(words)
    rank = Case(
        When(Q(title__iexact=text) | Q(identifier__iexact=text), then=0),
        When(Q(title__istartswith=text) | Q(identifier__istartswith=text), then=1),
        default=Value(2),
        output_field=IntegerField(),
    )
    matches = entries.filter(words__content__matches=query).annotate(rank=rank, relevance=Relevance(query))
    return list(matches.order_by("rank", "-relevance", "title", "pk").values_list("pk", "kind"))


def _similar(entries: QuerySet[Entry], text: str) -> list[tuple[int, str]]:
    """Return keys and kinds of entries whose names share most three-letter parts with a text."""
    parts = parts_of(text)
    query = parts_query(sorted(parts))
    candidates = entries.filter(words__content__matches=query).annotate(relevance=Relevance(query))
    rows = candidates.order_by("-relevance", "pk").values_list("pk", "kind", "title", "identifier")[:_MOST_SIMILAR]
    rated = [
        (len(parts & names) / len(parts), len(parts & names) / len(parts | names), key, kind)
        for key, kind, title, identifier in rows
        for names in (parts_of(f"{title} {identifier}"),)
    ]
    best = sorted((row for row in rated if row[0] >= _SIMILAR), key=lambda row: (-row[0], -row[1], row[2]))
    return [(key, kind) for _, _, key, kind in best]


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(set(words), key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest_first))})", re.IGNORECASE)


def _result(entry: Entry, pattern: re.Pattern[str], contributed: VisionModel | Benchmark | None) -> Result:
    """Return an entry with its summary, or with the words searched in their context if only the text has them."""
    text = entry.summary
    if not pattern.search(f"{entry.title} {entry.identifier} {text}") and (match := pattern.search(entry.text)):
        start = max(entry.text.rfind(" ", 0, max(match.start() - _EXCERPT // 3, 0)) + 1, 0)
        text = f"{'… ' if start else ''}{entry.text[start:]}"
    if len(text) > _EXCERPT:
        text = f"{text[:_EXCERPT].rpartition(' ')[0] or text[:_EXCERPT]} …"
    return Result(entry, _marked(text, pattern), contributed)


def _marked(text: str, pattern: re.Pattern[str]) -> SafeString:
    pieces, end = [], 0
    for match in pattern.finditer(text):
        pieces += [escape(text[end : match.start()]), f"<mark>{escape(match[0])}</mark>"]
        end = match.end()
    return mark_safe("".join([*pieces, escape(text[end:])]))  # noqa: S308 # all text is escaped
