"""What a question selects and compares, in a form that receipts keep.

Expressions that select entries by their metadata, such as ``category == "faces" and size > 3``, have the form of
``DataFrame.query`` but are not Python: a tree of comparisons is evaluated here, and nothing is called, looked up or
imported.
"""

import ast
import json
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Self

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


SEPARATOR = "~"
"""Stands between benchmark and question in the identifier of an answer."""

SPLITS = ("groups", "each", "test")
"""Kinds of splits: groups on one side, each group tested once, tested stimuli by an expression."""

_LONGEST = 100_000


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about one benchmark. What is None stays as the benchmark has it.

    Attributes
    ----------
    benchmark : str
        Identifier.
    stimuli, neuroids : str or None
        Expressions that select stimuli and neuroids
        (:func:`~brainscore_core.questions.question.rows_matching`).
    stimulus_ids : tuple of str
        Select these stimuli; empty for all.
    metric : str or None
        Another metric of the benchmark's domain.
    ceiling : str or None
        Another ceiling, or ``'none'``.
    split : str or None
        Other splits: ``'groups:COLUMN'`` keeps equal values on one side, ``'each:COLUMN'`` tests each value once with
        maps fitted on the others, ``'test:EXPRESSION'`` tests the stimuli that an expression selects.

    Examples
    --------
    >>> question = Question(benchmark="MajajHong2015public.IT-pls", stimuli='category_name != "Faces"')
    >>> question.text()
    'stimuli: category_name != "Faces"'
    >>> Question.from_dict(question.as_dict()) == question
    True
    """

    benchmark: str
    stimuli: str | None = None
    stimulus_ids: tuple[str, ...] = ()
    neuroids: str | None = None
    metric: str | None = None
    ceiling: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        kind, _, detail = (self.split or "").partition(":")
        if self.split is not None and kind not in SPLITS:
            raise UserError(
                f"unknown splits {self.split[:100]!r}", "write groups:COLUMN, each:COLUMN or test:EXPRESSION"
            )
        for expression in (self.stimuli, self.neuroids, detail if kind == "test" else None):
            if expression is not None:
                parse_expression(expression)
        for name in ("metric", "ceiling", "split"):
            if len(getattr(self, name) or "") > LONGEST:
                raise UserError(f"the {name} has more than {LONGEST:,} characters", "name one")
        if len(self.stimulus_ids) > _LONGEST:
            raise UserError(f"{len(self.stimulus_ids):,} stimuli are named", f"name at most {_LONGEST:,}")

    @classmethod
    def about(
        cls,
        benchmark: str,
        *,
        neuroids: str | None = None,
        subjects: Iterable[str] = (),
        regions: Iterable[str] = (),
        **others: Any,
    ) -> Self:
        """Make a question about neuroids of some subjects and regions, by the coordinates of these names."""
        named = {"subject": list(subjects), "region": list(regions)}
        selections = [neuroids, *(f"{column} in {names!r}" for column, names in named.items() if names)]
        expression = " and ".join(f"({selection})" for selection in selections if selection) or None
        return cls(benchmark=benchmark, neuroids=expression, **others)

    @property
    def selects(self) -> bool:
        """Whether stimuli or neuroids are left out."""
        return bool(self.stimuli or self.stimulus_ids or self.neuroids)

    @property
    def identifier(self) -> str:
        """Identifier of its answers, in the place of a benchmark's."""
        content = json.dumps(self.as_dict(), sort_keys=True)
        return f"{self.benchmark}{SEPARATOR}{sha256(content.encode()).hexdigest()[:12]}"

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types; only what differs from the benchmark."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items() if value
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Make a question from :meth:`as_dict`; a UserError if it is not one."""
        try:
            return cls(**{**content, "stimulus_ids": tuple(content.get("stimulus_ids", ()))})
        except TypeError as error:
            raise UserError(f"not a question: {error}") from error

    def text(self) -> str:
        """What is asked, in one line."""
        ids = f"{len(self.stimulus_ids)} named stimuli" if self.stimulus_ids else ""
        pairs = {
            "stimuli": "; ".join(filter(None, (self.stimuli, ids))),
            "neuroids": self.neuroids,
            "metric": self.metric,
            "ceiling": self.ceiling,
            "splits": self.split,
        }
        return "; ".join(f"{name}: {value}" for name, value in pairs.items() if value) or "as the benchmark"
