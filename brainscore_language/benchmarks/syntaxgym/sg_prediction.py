"""Predictions of SyntaxGym: formulas over the surprisals of regions, such as ``(6;%gap%) < (6;%no-gap%)``."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from brainscore_core.errors import UserError

EQUALITY_RTOL = 1e-5
EQUALITY_ATOL = 1e-3

METRICS = {"sum": sum, "mean": np.mean, "median": np.median, "range": np.ptp, "max": max, "min": min}
"""How the surprisals of the tokens of a region become one number."""

_TOKEN = re.compile(
    r"\s*(?:\((?P<region>\d{1,9}|\*);%(?P<condition>[\w-]+)%\)|(?P<number>\d+(?:\.\d+)?)|(?P<sign>[-+<>=&|()]))"
)
_LEVELS = ("&|", "<>=", "-+")
"""Operators from the weakest to the strongest."""
_DEEPEST = 50
_LONGEST = 500  # regions, numbers, signs and brackets


class Prediction:
    """A formula that holds for an item, or not.

    Parameters
    ----------
    idx : int
        Number of the prediction in its suite.
    formula : str
        Regions ``(number;%condition%)`` or ``(*;%condition%)`` (the sum of all regions), numbers, ``- +``, ``< > =``
        (equal within 1e-3 bits), ``& |`` and brackets.
    metric : str
        Key of `METRICS`.

    Raises
    ------
    UserError
        If the formula has another form.

    Examples
    --------
    >>> prediction = Prediction(0, "((2;%a%) - (1;%a%) > 1) & ((2;%a%) = 3)", "sum")
    >>> prediction({("a", 1): 1.0, ("a", 2): 3.0}), prediction({("a", 1): 2.5, ("a", 2): 3.0})
    (True, False)
    """

    def __init__(self, idx: int, formula: str, metric: str) -> None:
        if not isinstance(formula, str) or not isinstance(metric, str):
            raise UserError(f"the formula {formula!r} or metric {metric!r} is not a text", "correct the suite")
        if metric not in METRICS:
            raise UserError(f"unknown metric {metric!r} of a suite", f"use one of {', '.join(METRICS)}")
        self.idx = idx
        self.formula = formula
        self.metric = metric
        self._tokens = self._split(formula)
        self._position = 0
        self._tree = self._expression(0, 0)
        if self._position < len(self._tokens):
            raise self._error(f"{self._tokens[self._position]} is not expected")
        if not _is_statement(self._tree):
            raise self._error("it compares nothing")

    def __call__(self, surprisals: Mapping[tuple[str, int], float]) -> bool:
        """Whether the formula holds, for surprisals by condition and number of the region."""
        return bool(_value(self._tree, surprisals))

    def __repr__(self) -> str:
        return f"Prediction({self.idx}, {self.formula!r}, {self.metric!r})"

    @property
    def referenced_regions(self) -> set[tuple[str, int | str]]:
        """Conditions and numbers of the regions in the formula; ``'*'`` for all."""
        return {(token[1], token[2]) for token in self._tokens if isinstance(token, tuple) and token[0] == "region"}

    def _split(self, formula: str) -> list[Any]:
        tokens: list[Any] = []
        end = 0
        formula = formula.strip()
        while end < len(formula):
            match = _TOKEN.match(formula, end)
            if match is None:
                raise self._error(f"{formula[end : end + 20]!r} is not understood")
            if match["region"]:
                tokens.append(
                    ("region", match["condition"], match["region"] if match["region"] == "*" else int(match["region"]))
                )
            else:
                tokens.append(float(match["number"]) if match["number"] else match["sign"])
            end = match.end()
            if len(tokens) > _LONGEST:
                raise self._error(f"it has more than {_LONGEST} parts")
        return tokens

    def _expression(self, level: int, depth: int) -> Any:
        if level == len(_LEVELS):
            return self._operand(depth)
        left = self._expression(level + 1, depth)
        while self._position < len(self._tokens) and self._tokens[self._position] in tuple(_LEVELS[level]):
            operator = self._tokens[self._position]
            self._position += 1
            left = (operator, left, self._expression(level + 1, depth))
            if any(_is_statement(operand) != (operator in "&|") for operand in left[1:]):
                raise self._error(f"{operator} joins {'statements' if operator in '&|' else 'numbers'} only")
        return left

    def _operand(self, depth: int) -> Any:
        operand = self._tokens[self._position] if self._position < len(self._tokens) else None
        self._position += 1
        if operand == "(" and depth < _DEEPEST:
            inner = self._expression(0, depth + 1)
            if self._position >= len(self._tokens) or self._tokens[self._position] != ")":
                raise self._error("a bracket is not closed")
            self._position += 1
            return inner
        if operand is None or isinstance(operand, str):
            raise self._error("a region or number is missing" if operand != "(" else "brackets are nested too deeply")
        return operand

    def _error(self, problem: str) -> UserError:
        formula = self.formula if len(self.formula) <= 200 else f"{self.formula[:200]}…"
        return UserError(f"the formula {formula!r} is not valid: {problem}", "correct the suite")


def _is_statement(tree: Any) -> bool:
    """Whether a formula, or a part of it, is true or false, not a number."""
    return isinstance(tree, tuple) and tree[0] in ("<", ">", "=", "&", "|")


def _value(tree: Any, surprisals: Mapping[tuple[str, int], float]) -> float | bool:
    if isinstance(tree, float):
        return tree
    kind, first, second = tree
    if kind == "region":
        if second == "*":
            return sum(value for (condition, _), value in surprisals.items() if condition == first)
        if (first, second) not in surprisals:
            raise UserError(f"the item has no region {second} in the condition {first!r}", "correct the suite")
        return surprisals[first, second]
    left, right = _value(first, surprisals), _value(second, surprisals)
    if kind == "=":
        return bool(np.isclose(left, right, rtol=EQUALITY_RTOL, atol=EQUALITY_ATOL))
    operations = {"-": left - right, "+": left + right} if kind in "-+" else {"<": left < right, ">": left > right}
    return bool(left and right) if kind == "&" else bool(left or right) if kind == "|" else operations[kind]
