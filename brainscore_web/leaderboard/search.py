"""The search language: words, "phrases", AND, OR, NOT, parentheses, field:word, wildcards; pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
_ANYWHERE = ("identifier", "title", "architecture", "family", "training_data")


class SearchError(UserError, ValueError):
    """A search that cannot be read.

    Attributes
    ----------
    position : int
        Of the sign where it fails, from 0.
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
    kind: str  # "(", ")", "AND", "OR", "NOT", "term", "end"
    start: int
    end: int
    field: str = ""
    text: str = ""
    phrase: bool = False


def parse(text: str) -> Search:
    """Read a search.

    Raises
    ------
    SearchError
        If it cannot be read, or is longer than 500 signs, 100 words, or 20 levels of parentheses.

    Examples
    --------
    >>> found = parse('family:resnet AND NOT (training:places OR "video clips")')
    >>> found.matches({"identifier": "resnet50", "family": "ResNet", "training_data": "ImageNet"})
    True
    >>> parse("(vit OR resnet")
    Traceback (most recent call last):
        ...
    brainscore_web.leaderboard.search.SearchError: search, sign 1: this parenthesis is not closed: (vit OR resnet
    add ')'
    """
    if len(text) > LONGEST:
        raise SearchError(f"the search is {len(text)} signs long", f"at most {LONGEST} are read", LONGEST)
    return _Parser(text).whole()


_SIGNS = re.compile(r'\s+|[()]|[^\s()"]*"|[^\s()"]+')


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        piece = _SIGNS.match(text, at)
        assert piece is not None  # every sign is in one of the classes
        sign, start, at = piece[0], at, piece.end()
        if sign.isspace():
            continue
        if sign in ("(", ")", "AND", "OR", "NOT"):
            found.append(_Token(sign, start, at))
            continue
        field, text_of_it, phrase = "", sign, False
        if sign.endswith('"'):
            field, closing = sign[:-1], text.find('"', at)
            if field and not field.endswith(":"):
                raise _error(text, at - 1, "a quotation mark within a word", "put a space before it")
            if closing < 0:
                raise _error(text, at - 1, "this quotation mark is not closed", "add '\"'")
            field, text_of_it, phrase, at = field[:-1], text[at:closing], True, closing + 1
        elif ":" in sign:
            field, text_of_it = sign.split(":", 1)
        if field or (not phrase and ":" in sign) or sign == ':"':
            if field.lower() not in FIELDS:
                raise _error(
                    text, start, f"there is no field {field!r}", f"fields: {', '.join(FIELDS)}; or put it in quotes"
                )
        if not text_of_it.strip():
            raise _error(text, start, "a word is missing", "write one, or leave this out")
        found.append(_Token("term", start, at, field.lower(), text_of_it, phrase))
    return [*found, _Token("end", len(text), len(text))]


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
            self.at += self.token.kind == "AND"
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
                raise _error(self.text, token.start, "too many words", f"at most {_MOST_TERMS} are read")
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
        where = "at the end" if token.kind == "end" else f"before {token.kind!r}"
        raise _error(self.text, token.start, f"a word is missing {where}", "write one; to look for AND, quote it")


def _term(token: _Token) -> _Test:
    names = FIELDS[token.field] if token.field else _ANYWHERE
    word = token.text.casefold()
    if token.phrase or "*" not in word:
        return lambda texts: any(word in texts.get(name, "").casefold() for name in names)
    pattern = re.compile(".*".join(map(re.escape, re.split(r"\*+", word))), re.DOTALL)
    return lambda texts: any(pattern.fullmatch(texts.get(name, "").casefold()) for name in names)


def _error(text: str, position: int, problem: str, remedy: str) -> SearchError:
    return SearchError(f"search, sign {position + 1}: {problem}: {text[position : position + 40]}", remedy, position)
