"""The search language: words, "phrases", AND, OR, NOT, parentheses, field:word, wildcards; pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from brainscore_core.errors import UserError

FIELDS = {
    "model": ("identifier", "title"),
    "identifier": ("identifier",),
    "title": ("title",),
    "architecture": ("architecture",),
    "family": ("family",),
    "training": ("training_data",),
}
"""Fields that can precede a colon, and the texts of a model that they search."""

LONGEST = 500
_MAX_TERMS = 100
_MAX_DEPTH = 20
_OPERATORS = ("AND", "OR", "NOT")
_ANYWHERE = ("identifier", "title", "architecture", "family", "training_data")


class SearchError(UserError, ValueError):
    """A search with a syntax error.

    Attributes
    ----------
    position : int
        Index of the character at which parsing fails, from 0.
    """

    def __init__(self, message: str, remedy: str | None = None, position: int = 0) -> None:
        super().__init__(message, remedy)
        self.position = position


Texts = Mapping[str, str]
_Test = Callable[[Texts], bool]


@dataclass(frozen=True)
class Search:
    """A parsed search."""

    text: str  # the search as written
    words: tuple[str, ...]  # its words and phrases, in order
    _test: _Test

    def matches(self, texts: Texts) -> bool:
        """Whether a model with these texts matches; names are those in :data:`FIELDS`, missing ones are empty."""
        return self._test(texts)


class _Token(NamedTuple):
    kind: str  # a parenthesis, an operator, "term" or "end"
    start: int
    field: str = ""
    text: str = ""
    phrase: bool = False


def parse(text: str) -> Search:
    """Parse a search.

    Examples
    --------
    >>> search = parse('family:resnet AND NOT (training:places OR "video clips")')
    >>> search.matches({"identifier": "resnet50", "family": "ResNet", "training_data": "ImageNet"})
    True
    >>> parse("(vit OR resnet")
    Traceback (most recent call last):
        ...
    brainscore_web.leaderboard.search.SearchError: search, character 1, “(vit OR resnet”: this parenthesis is not closed
    add ')'
    """
    if len(text) > LONGEST:
        raise SearchError(f"the search is {len(text)} characters long", f"at most {LONGEST} are allowed", LONGEST)
    return _Parser(text).whole()


_TOKENS = re.compile(
    r"""
    (?P<blank>\s+)
    | (?P<parenthesis>[()])
    | (?:(?P<of_phrase>[^\s()":]*):)? "          # start of a phrase, possibly in a field
    | (?:(?P<of_word>[^\s()":]*):)? (?P<word>[^\s()"]*)
    """,
    re.VERBOSE,
)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKENS.match(text, at)
        assert match is not None  # the last alternative matches everything else
        start, at = match.span()
        if match["blank"]:
            continue
        if match["parenthesis"] or match[0] in _OPERATORS:
            tokens.append(_Token(match[0], start))
            continue
        phrase = match["word"] is None
        field, word = match["of_phrase"] if phrase else match["of_word"], match["word"]
        if field is not None and field.lower() not in FIELDS:
            raise _error(text, start, f"there is no field {field!r}", f"use one of {', '.join(FIELDS)}; or quote it")
        if phrase:
            closing = text.find('"', at)
            if closing < 0:
                raise _error(text, at - 1, "this quotation mark is not closed", "add one")
            word, at = text[at:closing], closing + 1
        if not word.strip():
            raise _error(text, start, "a word is missing here", "write one, or remove this")
        tokens.append(_Token("term", start, (field or "").lower(), word, phrase))
    return [*tokens, _Token("end", len(text))]


class _Parser:
    """Recursive descent parser; NOT binds tightest, then AND (which is optional), then OR."""

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
            raise _error(self.text, self.token.start, "this parenthesis was not opened", "remove it")
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
            self.at += self.token.kind == "AND"  # optional
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
            if len(self.words) > _MAX_TERMS:
                raise _error(self.text, token.start, "there are too many words", f"at most {_MAX_TERMS} are allowed")
            return _term(token)
        if token.kind == "(":
            if depth >= _MAX_DEPTH:
                raise _error(self.text, token.start, "too many parentheses", f"at most {_MAX_DEPTH} levels are allowed")
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
    return lambda texts: any(_matches_parts(parts, texts.get(name, "").casefold()) for name in names)


def _matches_parts(parts: Sequence[str], text: str) -> bool:
    """Whether a text consists of these parts with any text between them, in linear time without backtracking."""
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
