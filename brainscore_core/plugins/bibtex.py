"""Citations: parse BibTeX entries, and check that they are complete."""

from __future__ import annotations

import re
from typing import NamedTuple

_NO_ENTRIES = {"comment", "preamble", "string"}
_CLOSING = {"{": "}", "(": ")"}
_NEEDED = {
    "author": ("author", "editor", "organization", "institution"),
    "title": ("title",),
    "year": ("year", "date"),
    "journal or url": (
        "journal", "journaltitle", "booktitle", "publisher", "school", "institution", "organization", "howpublished",
        "url", "doi", "eprint",
    ),
}  # fmt: skip


class BibtexError(ValueError):
    """A text is not valid BibTeX; the message names the line."""


class Entry(NamedTuple):
    """One citation.

    Attributes
    ----------
    kind : str
        ``'article'`` and so on, in lower case.
    key : str
        Citation key.
    fields : dict of str to str
        Names in lower case; values without the braces or quotes around them.
    """

    kind: str
    key: str
    fields: dict[str, str]


def parse_bibtex(text: str) -> list[Entry]:
    """Parse BibTeX.

    Parameters
    ----------
    text : str
        Entries; text between them is a comment.

    Returns
    -------
    list of Entry
        In order.

    Raises
    ------
    BibtexError
        If an entry is not closed, or a field has no value.

    Examples
    --------
    >>> (entry,) = parse_bibtex('@article{majaj2015, title = {Simple {IT} sums}, year = 2015, doi = "10.1/x"}')
    >>> entry.kind, entry.key, entry.fields
    ('article', 'majaj2015', {'title': 'Simple {IT} sums', 'year': '2015', 'doi': '10.1/x'})
    """
    entries, position = [], 0
    while (start := re.compile(r"@\s*(\w+)\s*([{(])").search(text, position)) is not None:
        reader = _Reader(text, start.end(), _CLOSING[start[2]])
        kind = start[1].lower()
        if kind in _NO_ENTRIES:
            reader.skip()
        else:
            entries.append(Entry(kind, reader.key(), reader.fields()))
        position = reader.position
    return entries


def missing_fields(entry: Entry) -> list[str]:
    """Fields of a complete citation that `entry` lacks, or that are empty.

    Examples
    --------
    >>> missing_fields(Entry("article", "a", {"title": "A title", "year": "2020"}))
    ['author', 'journal or url']
    """
    return [
        name
        for name, alternatives in _NEEDED.items()
        if not any(entry.fields.get(field, "").strip("{} \n\t") for field in alternatives)
    ]


class _Reader:
    """Reads one entry, from the position after its opening brace."""

    def __init__(self, text: str, position: int, closing: str) -> None:
        self.text, self.position, self.closing = text, position, closing

    def key(self) -> str:
        end = re.compile(r"[,})]").search(self.text, self.position)
        if end is None:
            raise self.error("the entry is not closed")
        key = self.text[self.position : end.start()].strip()
        self.position = end.start()
        return key

    def fields(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        while True:
            self.blanks(",")
            if self.peek() == self.closing:
                self.position += 1
                return fields
            name = re.compile(r"[^\s=,{}()\"]+").match(self.text, self.position)
            if name is None:
                raise self.error("the name of a field is expected")
            self.position = name.end()
            self.blanks()
            if self.peek() != "=":
                raise self.error(f"'=' is expected after {name[0]!r}")
            self.position += 1
            fields[name[0].lower()] = self.value(name[0])

    def value(self, name: str) -> str:
        texts = []
        while True:
            self.blanks()
            texts.append(self.part(name))
            self.blanks()
            if self.peek() != "#":
                return "".join(texts)
            self.position += 1

    def part(self, name: str) -> str:
        opening = self.peek()
        if opening == "{":
            self.position += 1
            return self.until("}")
        if opening == '"':
            self.position += 1
            return self.until('"')
        bare = re.compile(r"[^\s,#{}()\"]+").match(self.text, self.position)
        if bare is None:
            raise self.error(f"the field {name!r} has no value")
        self.position = bare.end()
        return bare[0]

    def until(self, closing: str) -> str:
        """Read text up to and including a closing sign outside of inner braces."""
        start, depth = self.position, 0
        while self.position < len(self.text):
            sign = self.text[self.position]
            self.position += 1
            if sign == "\\":
                self.position += 1
            elif depth == 0 and sign == closing:
                return self.text[start : self.position - 1]
            elif sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
        self.position = start
        raise self.error(f"{closing} is missing")

    def skip(self) -> None:
        self.until(self.closing)

    def blanks(self, others: str = "") -> None:
        while self.position < len(self.text) and (self.peek().isspace() or self.peek() in others):
            self.position += 1
        if self.position >= len(self.text):
            raise self.error("the entry is not closed")

    def peek(self) -> str:
        return self.text[self.position]

    def error(self, problem: str) -> BibtexError:
        line = self.text.count("\n", 0, self.position) + 1
        return BibtexError(f"line {line}: {problem}")
