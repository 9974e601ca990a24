"""Which models and benchmarks a visitor asks for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from brainscore_core.errors import UserError
from brainscore_web.leaderboard import search
from brainscore_web.leaderboard._rows import BenchmarkRow, ModelRow
from brainscore_web.leaderboard.snapshot import Snapshot
from brainscore_web.leaderboard.state import BoardState

__all__ = ["chosen_benchmarks", "chosen_models", "close_to"]

_TEXTS = ("identifier", "title", "architecture", "family", "training_data")


def chosen_models(models: Sequence[ModelRow], state: BoardState) -> list[int]:
    """Places of the models that pass; one whose number is not known passes no limit on it."""
    found = search.parse(state.q)
    wanted = [
        (name, {text.casefold() for text in texts})
        for name, texts in (
            ("family", state.family),
            ("architecture", state.architecture),
            ("training_data", state.training),
        )
        if texts
    ]
    limits = [
        (name, least, most)
        for name, least, most in (
            ("parameters", state.parameters_min, state.parameters_max),
            ("size_mb", state.size_min, state.size_max),
        )
        if least is not None or most is not None
    ]

    def passes(model: ModelRow) -> bool:
        if state.runnable and not model.runnable:
            return False
        if not all(getattr(model, name).casefold() in texts for name, texts in wanted):
            return False
        for name, least, most in limits:
            number = getattr(model, name)
            if number is None or not (least is None or number >= least) or not (most is None or number <= most):
                return False
        return not state.q or found.matches({name: getattr(model, name) for name in _TEXTS})

    return [place for place, model in enumerate(models) if passes(model)]


def chosen_benchmarks(snapshot: Snapshot, state: BoardState) -> list[int]:
    """Columns of the benchmarks that pass.

    Raises
    ------
    UserError
        If one that is to be included or excluded is not known.
    """
    included = _below(snapshot, "include", state.include) if state.include else None
    excluded = _below(snapshot, "exclude", state.exclude)
    wanted = [
        (name, {text.casefold() for text in getattr(state, name)})
        for name in ("region", "species", "task", "stimuli", "metric")
        if getattr(state, name)
    ]

    def passes(benchmark: BenchmarkRow) -> bool:
        if (included is not None and benchmark.identifier not in included) or benchmark.identifier in excluded:
            return False
        if state.access and benchmark.access != state.access:
            return False
        if state.ceiling_min is not None and not benchmark.ceiling >= state.ceiling_min:  # NaN is not
            return False
        return all(_values(getattr(benchmark, name)) & texts for name, texts in wanted)

    return [column for column, benchmark in enumerate(snapshot.benchmarks) if passes(benchmark)]


def _values(text: str) -> set[str]:
    """A text, and its parts if it is a list such as ``V1, V2``."""
    parts = {part.strip().casefold() for part in text.replace(";", ",").split(",")}
    return {text.casefold(), *parts} - {""}


def _below(snapshot: Snapshot, parameter: str, names: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        if name in snapshot.benchmark_index:
            found.add(name)
        elif name in snapshot.tree:
            waiting = [name]
            while waiting:
                node = waiting.pop()
                found.add(node)
                waiting += snapshot.tree.children(node)
        else:
            when = f" on {snapshot.at}" if snapshot.at else ""
            raise UserError(
                f"{parameter}: there is no benchmark or node {name[:80]!r}{when}",
                remedy=close_to(name, snapshot) or f"leave {parameter}={name[:80]} out",
            )
    return found


def close_to(name: str, snapshot: Snapshot) -> str | None:
    """A question for the benchmark or node whose name is close to this one; None if none is."""
    near = difflib.get_close_matches(name, [*snapshot.tree, *snapshot.benchmark_index], 1)
    return f"did you mean {near[0]!r}?" if near else None
