"""Tables of the search: what can be found, and its words in the full text search of SQLite or PostgreSQL.

The two databases differ in the table of words, in the notation of queries and in the function that rates matches. All
of this is here: :data:`TABLES`, :func:`write_words`, `_NOTATIONS`, :class:`Matches` and :class:`Relevance`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection, models


class Entry(models.Model):
    """A page that the search finds: a card, a text, a tutorial, a competition."""

    kind = models.CharField(max_length=20)  # the name of a source of `brainscore_web.search.index`
    key = models.CharField(max_length=200)  # unique among the entries of this kind
    row = models.BigIntegerField(null=True)  # primary key of the row that the page shows; None: a page of the package
    domain = models.CharField(max_length=20, blank=True)
    title = models.CharField(max_length=200)
    identifier = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=1000)
    summary = models.TextField(blank=True)
    text = models.TextField(blank=True)
    digest = models.CharField(max_length=64)  # of all that is above

    class Meta:
        """Each page once."""

        constraints = (models.UniqueConstraint(fields=["kind", "key"], name="one_entry_a_page"),)
        verbose_name_plural = "entries"

    def __str__(self) -> str:
        return self.title


class _Content(models.TextField):  # type: ignore[type-arg] # generic in stubs only
    """All words of an entry: a row of SQLite's full text search, or a text search vector of PostgreSQL."""


class Words(models.Model):
    """The words of an entry, in a table that only the migration creates."""

    entry = models.OneToOneField(Entry, models.DO_NOTHING, primary_key=True, db_column="rowid")
    content = _Content(db_column="search_words")  # in SQLite, a column of the table's name stands for the whole row

    class Meta:
        """See :data:`TABLES`."""

        managed = False
        db_table = "search_words"


TABLES = {
    "sqlite": (
        "CREATE VIRTUAL TABLE search_words USING fts5"
        "(names, text, parts, prefix='2 3', tokenize=\"unicode61 remove_diacritics 0 tokenchars '_'\")",
    ),
    "postgresql": (
        "CREATE TABLE search_words (rowid bigint PRIMARY KEY, search_words tsvector NOT NULL)",
        "CREATE INDEX search_words_index ON search_words USING gin (search_words)",
    ),
}
"""Statements that create the table of words, by the name of the database."""


@dataclass(frozen=True)
class WordsOfEntry:
    """The words of an entry, of letters and digits only: of its names, of its text, and parts of words of its names."""

    names: frozenset[str]
    text: Sequence[str]
    parts: frozenset[str]


def write_words(words: Mapping[int, WordsOfEntry]) -> None:
    """Replace the words of entries, given by their primary keys."""
    Words.objects.filter(pk__in=words).delete()
    if connection.vendor == "sqlite":
        statement = "INSERT INTO search_words (rowid, names, text, parts) VALUES (%s, %s, %s, %s)"
        rows: list[tuple[Any, ...]] = [
            (key, " ".join(of.names), " ".join(of.text), " ".join(of.parts)) for key, of in words.items()
        ]
    else:
        statement = "INSERT INTO search_words (rowid, search_words) VALUES (%s, %s::tsvector)"
        rows = [(key, _vector(of)) for key, of in words.items()]
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)


def _vector(words: WordsOfEntry) -> str:
    """Return a text search vector: words of names have the label A, of the text D, parts of words B."""
    labels: dict[str, list[str]] = {}
    for label, of_label in (("A", words.names), ("B", words.parts), ("D", dict.fromkeys(words.text))):
        for word in of_label:
            labels.setdefault(word, []).append(f"{len(labels.get(word, ())) + 1}{label}")
    return " ".join(f"'{word}':{','.join(positions)}" for word, positions in labels.items())


class _Notation(NamedTuple):
    """How a database writes queries of its full text search."""

    anywhere: str  # a word that begins so, of names or text
    component: str  # a component of a word of names
    part: str  # a part of a word of names
    conjunction: str
    disjunction: str


_NOTATIONS = {
    "sqlite": _Notation('({{names text}} : "{}"*)', '(names : "{}"*)', '(parts : "{}")', " AND ", " OR "),
    "postgresql": _Notation("'{}':*AD", "'{}':*A", "'{}':B", " & ", " | "),
}


def words_query(words: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return the query for entries with all words; of a word, its beginning or all its components in names suffice."""
    notation = _NOTATIONS[connection.vendor]

    def alternatives(word: str, components: Sequence[str]) -> str:
        of_components = notation.conjunction.join(notation.component.format(component) for component in components)
        anywhere = notation.anywhere.format(word)
        return f"({anywhere}{notation.disjunction}({of_components}))" if len(components) > 1 else anywhere

    return notation.conjunction.join(alternatives(*word) for word in words)


def parts_query(parts: Iterable[str]) -> str:
    """Return the query for entries whose names have any of these parts of words."""
    notation = _NOTATIONS[connection.vendor]
    return notation.disjunction.join(notation.part.format(part) for part in parts)


@_Content.register_lookup
class Matches(models.Lookup):  # type: ignore[type-arg] # generic in stubs only
    """Whether an entry matches a query of :func:`words_query` or :func:`parts_query`."""

    lookup_name = "matches"

    def as_sqlite(self, compiler: Any, connection: Any) -> tuple[str, Sequence[Any]]:
        """Use the operator of FTS5."""
        return self._compiled(compiler, connection, "MATCH %s")

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, Sequence[Any]]:
        """Use the operator of text search vectors."""
        return self._compiled(compiler, connection, "@@ %s::tsquery")

    def _compiled(self, compiler: Any, connection: Any, operator: str) -> tuple[str, Sequence[Any]]:
        content, parameters = self.process_lhs(compiler, connection)
        return f"{content} {operator}", (*parameters, self.rhs)


class Relevance(models.Func):
    """How well an entry matches a query: words of names count more than those of the text, rare ones more in SQLite."""

    output_field = models.FloatField()

    def __init__(self, query: str) -> None:
        super().__init__(models.F("words__content"), models.Value(query))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Sequence[Any]]:  # type: ignore[override] # names of Django
        """Use FTS5's measure, which is lower for better matches."""
        content, parameters = compiler.compile(self.source_expressions[0])
        return f"-bm25({content}, 8.0, 1.0, 1.0)", parameters

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Sequence[Any]]:
        """Use the measure of text search vectors, relative to their length."""
        return self.as_sql(compiler, connection, template="ts_rank(%(expressions)s::tsquery, 1)")
