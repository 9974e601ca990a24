"""What may be asked of the leaderboard, as the description of the operations says it; `BoardState` reads and checks."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Schema
from pydantic import Field

from brainscore_web.leaderboard.state import BoardState

__all__ = ["BoardAsked", "BoardPart", "state_of"]


def _many(description: str) -> Any:
    return Field([], description=f"{description} Repeat it for several.")


def _one_of(*choices: str, description: str) -> Any:
    return Field("", description=description, json_schema_extra={"enum": ["", *choices]})


_NUMBER = "such as 25000000, 25e6 or 25M"
_AMOUNT: Any = {"pattern": r"^[0-9]{0,12}$"}


class BoardAsked(Schema):
    """Which leaderboard: the parameters of its page; empty ones are as if they were not there."""

    q: str = Field("", description="Search of models: words, with AND, OR, NOT and parentheses.")
    family: list[str] = _many("Models of this family.")
    architecture: list[str] = _many("Models of this architecture.")
    training: list[str] = _many("Models trained on this.")
    parameters_min: str = Field("", description=f"Models with at least so many parameters, {_NUMBER}.")
    parameters_max: str = Field("", description=f"Models with at most so many parameters, {_NUMBER}.")
    size_min: str = Field("", description="Models whose weights have at least so many MB.")
    size_max: str = Field("", description="Models whose weights have at most so many MB.")
    runnable: str = _one_of("0", "1", description="1: models that can be loaded with what is published.")
    include: list[str] = _many("Benchmarks, or nodes for all below.")
    exclude: list[str] = _many("Benchmarks, or nodes for all below; wins over include.")
    region: list[str] = _many("Benchmarks of this region.")
    species: list[str] = _many("Benchmarks of this species.")
    task: list[str] = _many("Benchmarks with this task.")
    stimuli: list[str] = _many("Benchmarks with this kind of stimuli.")
    metric: list[str] = _many("Benchmarks with this metric.")
    ceiling_min: str = Field("", description="Benchmarks with at least this ceiling.")
    access: str = _one_of("public", description="public: benchmarks whose stimuli and measurements are public.")
    values: str = _one_of("ceiled", "raw", description="Scores relative to the ceiling (the default), or raw.")
    over: str = _one_of(
        "all", "scored", description="In means, what has no score counts as 0 (all, the default) or is left out."
    )
    at: str = Field("", description="As of the end of this day (UTC), such as 2026-03-31.")
    sort: str = Field("", description="A node, rank (the default) or model; with - before it the other way round.")
    open: list[str] = _many("Nodes whose children the page shows.")
    page: str = Field("", description="Of the page; has no meaning here.", json_schema_extra=_AMOUNT)


class BoardPart(Schema):
    """Which part of the leaderboard."""

    node: list[str] = _many("Only these nodes; without, all.")
    shown: bool = Field(False, description="Only nodes that the page shows.")
    limit: int = Field(1000, ge=1, le=1000, description="How many models at most.")
    offset: int = Field(0, ge=0, le=1_000_000, description="How many models to leave out first.")


def state_of(request: HttpRequest, *more: type[Schema]) -> BoardState:
    """Read what is asked for.

    Raises
    ------
    UserError
        If a parameter is unknown or malformed.
    """
    return BoardState.from_query(request.GET, ignoring={name for one in more for name in one.model_fields})
