"""What a question selects and compares, in a form that receipts keep."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Self

from brainscore_core.errors import UserError
from brainscore_core.questions.expressions import LONGEST, parse_expression

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
        (:func:`~brainscore_core.questions.expressions.rows_matching`).
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
                f"unknown splits {self.split[:100]!r}",
                "write groups:COLUMN, each:COLUMN or test:EXPRESSION",
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
