"""Citations: parse BibTeX entries, check that they are complete, and write references."""

from __future__ import annotations

import ast
import inspect
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from brainscore_core.plugins.tables import CITATION, read_citation

_ENTRY = re.compile(r"\s*@\w+\s*\{")
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

_ACCENTS = dict(
    zip(
        "`'^~\"=.cvHukrdb",
        map(chr, (768, 769, 770, 771, 776, 772, 775, 807, 780, 779, 774, 808, 778, 803, 817)),
        strict=True,
    )
)
"""Command of LaTeX → combining character."""

_SYMBOLS = {
    "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł",
    "ss": "ß", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ",
    "textquoteright": "’", "textquoteleft": "‘", "textquotedblleft": "“", "textquotedblright": "”",
    "textendash": "–", "textemdash": "—", "textasciitilde": "~", "textbackslash": "\\", "slash": "/",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "mu": "μ", "sigma": "σ", "times": "×",
}  # fmt: skip

_LATEX = re.compile(
    r"\\(?P<sign>[`'^~\"=.])\s?\{?\\?(?P<under>\w)\}?"  # \"u, \"{u}, \'{\i}
    r"|\\(?P<accent>[cvHukrdb])(?:\s|\s?\{)\\?(?P<base>\w)\}?"  # \c{c}, \v s
    r"|\\(?P<word>[A-Za-z]+)\s?(?:\{\})?"  # \ss, \o{}, \emph
    r"|\\(?P<escaped>.)|(?P<dashes>-{2,3})|(?P<blank>~)|(?P<dropped>[{}$])"
)


class BibtexError(ValueError):
    """A text is not valid BibTeX; the message names the line."""


class Entry(NamedTuple):
    """One citation."""

    kind: str  # ``'article'`` and so on, in lower case
    key: str  # citation key
    fields: dict[str, str]  # names in lower case; values without the braces or quotes around them


def parse_bibtex(text: str) -> list[Entry]:
    """Parse BibTeX.

    Text between entries is a comment. Raises BibtexError if an entry is not closed, or a field has no value.

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
            reader.until(reader.closing)
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


def plain_text(latex: str) -> str:
    r"""Convert the LaTeX of a field to text: accents, letters, dashes; other commands and braces are left out.

    Examples
    --------
    >>> plain_text(r"Sch{\"u}tt and G\"{o}del, \'{\i} {\ss} \v{s} \c c {\O}: 1--2 \emph{in} {IT}~\& V4")
    'Schütt and Gödel, í ß š ç Ø: 1–2 in IT & V4'
    """
    text = unicodedata.normalize("NFC", _LATEX.sub(_character, latex))
    return re.sub(r"\s+", " ", text).strip()


def _character(found: re.Match[str]) -> str:
    command, letter = found["sign"] or found["accent"], found["under"] or found["base"]
    if command:
        return letter + _ACCENTS[command]
    if found["word"]:
        return _SYMBOLS.get(found["word"], "")
    if found["dashes"]:
        return "–" if len(found["dashes"]) == 2 else "—"
    return " " if found["blank"] else (found["escaped"] or "").strip("{}()[]\\,;:!/-")


def family_names(authors: str) -> list[str]:
    r"""Read the family names of authors, with particles; ``others`` stands for those that are not named.

    Examples
    --------
    >>> family_names("van der Berg, Jan and Jasper J. F. {van den Bosch} and {Data and Co} and others")
    ['van der Berg', 'van den Bosch', 'Data and Co', 'others']
    >>> family_names(r"Ludwig van Beethoven and King, Jr, Martin and Bj{\"o}rn Ommer and Ada")
    ['van Beethoven', 'King', 'Ommer', 'Ada']
    """
    return [name for author in _split(authors, " and ") if (name := _family_name(author))]


def _family_name(author: str) -> str:
    parts = list(_split(author, ","))
    if len(parts) > 1:
        return plain_text(parts[0])
    words = list(_split(author, " "))
    particle = (place for place, word in enumerate(words[:-1]) if plain_text(word)[:1].islower() and word[0] != "{")
    return plain_text(" ".join(words[next(particle, len(words) - 1) :]))


def _split(text: str, separator: str) -> Iterator[str]:
    """Split at a separator outside of braces."""
    text = re.sub(r"\s+", " ", text)
    start = depth = 0
    for found in re.finditer(rf"\\.|[{{}}]|{separator}", text, re.IGNORECASE):
        if found[0] in "{}":
            depth = max(depth + (1 if found[0] == "{" else -1), 0)
        elif depth == 0 and found[0].lower() == separator:
            if part := text[start : found.start()].strip():
                yield part
            start = found.end()
    if part := text[start:].strip():
        yield part


def publication_address(entry: Entry) -> str:
    """Return the address of a publication: its DOI, otherwise its URL; empty without either.

    Examples
    --------
    >>> publication_address(Entry("article", "a", {"doi": "10.1/x"}))
    'https://doi.org/10.1/x'
    """
    verbatim = {name: re.sub(r"[{}\s]|\\(?=[_%#&])", "", entry.fields.get(name, "")) for name in ("doi", "url")}
    doi = re.sub(r"^https?://(dx\.)?doi\.org/", "", verbatim["doi"])
    return f"https://doi.org/{doi}" if doi else verbatim["url"]


def reference(entry: Entry) -> str:
    """Write one reference: authors (year). Title. Journal. DOI or address.

    Examples
    --------
    >>> reference(Entry("article", "a", {"author": "Ada, B. and Cox, D.", "year": "2020", "title": "A {T}itle",
    ...                                  "doi": "10.1/x"}))
    'Ada & Cox (2020). A Title. https://doi.org/10.1/x'
    """
    fields = entry.fields
    authors = next((text for name in _NEEDED["author"] if (text := fields.get(name, "").strip())), "")
    names = family_names(authors)
    named = [name for name in names if name != "others"]
    more = len(named) > 2 or len(named) < len(names)
    written = f"{named[0]} et al." if named and more else " & ".join(named)
    plain = {name: plain_text(value) for name, value in fields.items()}
    year = plain.get("year") or plain.get("date", "")[:4] or "n.d."
    journal = next((plain[name] for name in ("journal", "journaltitle", "booktitle") if plain.get(name)), None)
    address = publication_address(entry)
    title = (plain.get("title") or entry.key).rstrip(".")
    title += "" if title.endswith(("?", "!")) else "."
    parts = (f"{written or entry.key} ({year}).", title, journal and f"{journal}.", address)
    return " ".join(part for part in parts if part)


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
            opening = self.peek()
            bare = re.compile(r"[^\s,#{}()\"]+").match(self.text, self.position)
            if opening in '{"':
                self.position += 1
                texts.append(self.until("}" if opening == "{" else opening))
            elif bare is not None:
                self.position = bare.end()
                texts.append(bare[0])
            else:
                raise self.error(f"the field {name!r} has no value")
            self.blanks()
            if self.peek() != "#":
                return "".join(texts)
            self.position += 1

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


def bibtex_entries(folder: Path) -> list[str]:
    """Find the BibTeX entries in a plugin's ``citation.bib`` and in its Python files, without running them.

    `folder`: the plugin's folder, or its file if it is a single module. Result: without duplicates and indentation, in
    the order of the file names.

    Examples
    --------
    >>> bibtex_entries(Path(__file__))
    []
    """
    entries: dict[str, None] = {}
    if (folder / CITATION).is_file():
        entries[read_citation(folder / CITATION)] = None
    for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # loading the plugin raises the error
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _ENTRY.match(node.value):
                entries[inspect.cleandoc(node.value)] = None
    return list(entries)
