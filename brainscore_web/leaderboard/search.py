"""The search language: words, "phrases", AND, OR, NOT, parentheses, field:word, wildcards; pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from brainscore_core.errors import UserError

__all__ = ["FIELDS", "LONGEST", "Search", "SearchError", "parse"]

FIELDS = {
    "model": ("identifier", "title"),
    "identifier": ("identifier",),
    "title": ("title",),
    "architecture": ("architecture",),
    "family": ("family",),
    "training": ("training_data",),
}
"""What can stand before a colon, and which texts of a model it looks at."""

LONGEST = 500
_MOST_TERMS = 100
_DEEPEST = 20
_OPERATORS = ("AND", "OR", "NOT")
_ANYWHERE = ("identifier", "title", "architecture", "family", "training_data")


class SearchError(UserError, ValueError):
    """A search that cannot be read.

    Attributes
    ----------
    position : int
        Of the character where it fails, from 0.
    """

    def __init__(self, message: str, remedy: str | None = None, position: int = 0) -> None:
        super().__init__(message, remedy)
        self.position = position


Texts = Mapping[str, str]
_Test = Callable[[Texts], bool]


@dataclass(frozen=True)
class Search:
    """A search that was read.

    Attributes
    ----------
    text : str
        As it was written.
    words : tuple of str
        Words and phrases in it, in order.
    """

    text: str
    words: tuple[str, ...]
    _test: _Test

    def matches(self, texts: Texts) -> bool:
        """Whether a model with these texts is found; names as in :data:`FIELDS`' values, absent ones are empty."""
        return self._test(texts)


class _Token(NamedTuple):
    kind: str  # a parenthesis, an operator, "term" or "end"
    start: int
    field: str = ""
    text: str = ""
    phrase: bool = False


def parse(text: str) -> Search:
    """Read a search.

    Raises
    ------
    SearchError
        If it cannot be read, or is longer than 500 characters, 100 words, or 20 levels of parentheses.

    Examples
    --------
    >>> found = parse('family:resnet AND NOT (training:places OR "video clips")')
    >>> found.matches({"identifier": "resnet50", "family": "ResNet", "training_data": "ImageNet"})
    True
    >>> parse("(vit OR resnet")
    Traceback (most recent call last):
        ...
    brainscore_web.leaderboard.search.SearchError: search, character 1, “(vit OR resnet”: this parenthesis is not closed
    add ')'
    """
    if len(text) > LONGEST:
        raise SearchError(f"the search is {len(text)} characters long", f"at most {LONGEST} are read", LONGEST)
    return _Parser(text).whole()


_SIGNS = re.compile(
    r"""
    (?P<blank>\s+)
    | (?P<parenthesis>[()])
    | (?:(?P<of_phrase>[^\s()":]*):)? "          # the beginning of a phrase, perhaps of a field
    | (?:(?P<of_word>[^\s()":]*):)? (?P<word>[^\s()"]*)
    """,
    re.VERBOSE,
)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        piece = _SIGNS.match(text, at)
        assert piece is not None  # the last alternative matches anything that the others do not
        start, at = piece.span()
        if piece["blank"]:
            continue
        if piece["parenthesis"] or piece[0] in _OPERATORS:
            found.append(_Token(piece[0], start))
            continue
        phrase = piece["word"] is None
        field, word = piece["of_phrase"] if phrase else piece["of_word"], piece["word"]
        if field is not None and field.lower() not in FIELDS:
            raise _error(text, start, f"there is no field {field!r}", f"known are: {', '.join(FIELDS)}; or quote it")
        if phrase:
            closing = text.find('"', at)
            if closing < 0:
                raise _error(text, at - 1, "this quotation mark is not closed", "add another")
            word, at = text[at:closing], closing + 1
        if not word.strip():
            raise _error(text, start, "there is no word in it", "write one, or leave it out")
        found.append(_Token("term", start, (field or "").lower(), word, phrase))
    return [*found, _Token("end", len(text))]


class _Parser:
    """Recursive descent; NOT binds closest, then AND (which may be left out), then OR."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0
        self.words: list[str] = []

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def whole(self) -> Search:
        if self.token.kind == "end":
            return Search(self.text, (), lambda texts: True)
        test = self.either(0)
        if self.token.kind == ")":
            raise _error(self.text, self.token.start, "this parenthesis was not opened", "leave it out")
        return Search(self.text, tuple(self.words), test)

    def either(self, depth: int) -> _Test:
        tests = [self.both(depth)]
        while self.token.kind == "OR":
            self.at += 1
            tests.append(self.both(depth))
        return tests[0] if len(tests) == 1 else lambda texts: any(test(texts) for test in tests)

    def both(self, depth: int) -> _Test:
        tests = [self.negated(depth)]
        while self.token.kind in ("AND", "NOT", "(", "term"):
            self.at += self.token.kind == "AND"  # which may be left out
            tests.append(self.negated(depth))
        return tests[0] if len(tests) == 1 else lambda texts: all(test(texts) for test in tests)

    def negated(self, depth: int) -> _Test:
        negative = False
        while self.token.kind == "NOT":
            negative, self.at = not negative, self.at + 1
        test = self.primary(depth)
        return (lambda texts: not test(texts)) if negative else test

    def primary(self, depth: int) -> _Test:
        token = self.token
        if token.kind == "term":
            self.at += 1
            self.words.append(token.text)
            if len(self.words) > _MOST_TERMS:
                raise _error(self.text, token.start, "there are too many words", f"at most {_MOST_TERMS} are read")
            return _term(token)
        if token.kind == "(":
            if depth >= _DEEPEST:
                raise _error(self.text, token.start, "too many parentheses", f"at most {_DEEPEST} levels are read")
            self.at += 1
            test = self.either(depth + 1)
            if self.token.kind != ")":
                raise _error(self.text, token.start, "this parenthesis is not closed", "add ')'")
            self.at += 1
            return test
        raise _error(
            self.text, token.start, "a word is missing here", "write one; to search for AND, OR, NOT, quote them"
        )


def _term(token: _Token) -> _Test:
    names = FIELDS[token.field] if token.field else _ANYWHERE
    word = token.text.casefold()
    if token.phrase or "*" not in word:
        return lambda texts: any(word in texts.get(name, "").casefold() for name in names)
    parts = re.split(r"\*+", word)
    return lambda texts: any(_follows(parts, texts.get(name, "").casefold()) for name in names)


def _follows(parts: Sequence[str], text: str) -> bool:
    """Whether a text consists of these parts with anything between them; in linear time, as no part is tried twice."""
    first, *middle, last = parts
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def _error(text: str, position: int, problem: str, remedy: str) -> SearchError:
    rest = text[position:]
    where = f"character {position + 1}, “{rest[:30]}{'…' * (len(rest) > 30)}”" if rest else "at the end"
    return SearchError(f"search, {where}: {problem}", remedy, position)
