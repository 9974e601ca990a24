"""Expressions that select entries by their metadata, such as ``category == "faces" and size > 3``.

They have the form of ``DataFrame.query`` but are not Python: a tree of comparisons is evaluated here, and nothing is
called, looked up or imported.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError, nearest

LONGEST = 1000
"""Number of characters that an expression may have."""

_FORM = 'compare columns with values, such as: category == "faces" and not size > 3, or subject in ["A", "B"]'
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def rows_matching(expression: str, columns: Mapping[str, NDArray[Any]], *, what: str) -> NDArray[np.bool_]:
    """Find the entries for which an expression holds.

    Parameters
    ----------
    expression : str
        Comparisons (``== != < <= > >= in``) of columns with numbers and texts, joined by ``and``, ``or`` and ``not``
        (or ``& | ~`` and parentheses).
    columns : mapping of str to array
        Values of each column, all of the same length.
    what : str
        Name of the entries in messages, such as ``'stimuli'``.

    Returns
    -------
    array of bool

    Raises
    ------
    UserError
        If a column is unknown, values cannot be compared, or the expression contains anything else.

    Examples
    --------
    >>> columns = {"size": np.array([1, 2, 3]), "kind": np.array(["cat", "dog", "cat"])}
    >>> rows_matching('kind == "cat" and size > 1', columns, what="stimuli")
    array([False, False,  True])
    >>> rows_matching('__import__("os").system("true")', columns, what="stimuli")
    Traceback (most recent call last):
        ...
    brainscore_core.errors.UserError: a question about stimuli may not contain __import__("os").system("true")
    compare columns with values, such as: category == "faces" and not size > 3, or subject in ["A", "B"]
    """
    tree = parse_expression(expression)
    reader = _Reader(expression.strip(), columns, what)
    try:
        return reader.mask(tree.body)
    except RecursionError as error:
        raise UserError(f"the expression of {len(expression)} characters is nested too deeply", _FORM) from error


def parse_expression(expression: str) -> ast.Expression:
    """Read an expression without data, in time that is linear in its length; UserError if it has no valid form."""
    if len(expression) > LONGEST:
        raise UserError(f"the expression has {len(expression):,} characters; at most {LONGEST:,} are read", _FORM)
    try:
        with warnings.catch_warnings():  # of Python's parser about what is refused later
            warnings.simplefilter("ignore")
            return ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"the expression {expression!r} cannot be read", _FORM) from error


def unknown_column(name: str, columns: Iterable[str], *, what: str) -> UserError:
    """Say that entries have no such column, and which ones they have, the nearest first."""
    near = nearest(name, list(columns))
    others = sorted(set(columns) - set(near))
    return UserError(f"{what} have no column {name[:100]!r}", f"there are {', '.join([*near, *others]) or 'none'}")


class _Reader:
    """Evaluates the parts of one expression."""

    def __init__(self, text: str, columns: Mapping[str, NDArray[Any]], what: str) -> None:
        self._text = text
        self._columns = columns
        self._what = what

    def mask(self, node: ast.expr) -> NDArray[np.bool_]:
        match node:
            case ast.BoolOp(op=ast.And() | ast.Or() as op, values=values):
                join = np.logical_and if isinstance(op, ast.And) else np.logical_or
                return np.asarray(join.reduce([self.mask(value) for value in values]))
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr() as op, left=left, right=right):
                first, second = self.mask(left), self.mask(right)
                return first & second if isinstance(op, ast.BitAnd) else first | second
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                return ~self.mask(operand)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [left, *comparators]
                masks = [self._compared(op, *sides[i : i + 2]) for i, op in enumerate(ops)]
                return np.asarray(np.logical_and.reduce(masks))
            case ast.Name(id=name) if self._column(name).dtype.kind == "b":
                return self._column(name)
        raise self._refused(node)

    def _compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> NDArray[np.bool_]:
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(left, ast.Name):
                raise self._refused(left)
            import pandas as pd

            constants = self._constants(right)
            mask = np.asarray(self._evaluated(left, right, pd.Index(self._column(left.id)).isin, constants))
            return mask if isinstance(op, ast.In) else ~mask
        if type(op) not in _COMPARISONS or not any(isinstance(side, ast.Name) for side in (left, right)):
            raise self._refused(left)
        values = [self._value(side) for side in (left, right)]
        result = np.asarray(self._evaluated(left, right, _COMPARISONS[type(op)], *values))
        return np.broadcast_to(result.astype(bool), self._shape())

    def _evaluated(self, left: ast.expr, right: ast.expr, function: Callable[..., Any], *values: Any) -> Any:
        try:
            with np.errstate(invalid="ignore"):
                return function(*values)
        except (TypeError, ValueError, OverflowError) as error:  # such as an integer of a thousand digits
            sides = f"{self._source(left)} and {self._source(right)}"
            raise UserError(f"{sides} cannot be compared", _FORM) from error

    def _shape(self) -> tuple[int, ...]:
        return np.shape(next(iter(self._columns.values())))

    def _value(self, node: ast.expr) -> Any:
        return self._column(node.id) if isinstance(node, ast.Name) else self._constant(node)

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self._columns:
            raise unknown_column(name, self._columns, what=self._what)
        return self._columns[name]

    def _constant(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() | int() | float() as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
        raise self._refused(node)

    def _constants(self, node: ast.expr) -> list[Any]:
        if not isinstance(node, ast.List | ast.Tuple | ast.Set):
            raise self._refused(node)
        return [self._constant(element) for element in node.elts]

    def _refused(self, node: ast.expr) -> UserError:
        return UserError(f"a question about {self._what} may not contain {self._source(node)}", _FORM)

    def _source(self, node: ast.expr) -> str:
        """The text of a part, shortened."""
        return (ast.get_source_segment(self._text, node) or "")[:100]
