"""The leaderboard as the site shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore.web._records import read
from brainscore_core.errors import UnknownIdentifier, UserError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Leaderboard", "Node", "RankedModel", "joined"]

_MATRICES = ("value", "error", "low", "high")


@dataclass(frozen=True, kw_only=True)
class RankedModel:
    """A model on the leaderboard.

    Attributes
    ----------
    identifier, title, architecture, family, training_data : str
        Empty where not known.
    private : bool
        Whether others do not see it.
    parameters : int or None
        How many.
    size_mb : float or None
        Of the weights.
    runnable : bool
        Whether it can be loaded with what is published.
    rank, best, worst : int or None
        By the first node, and the limits of the rank's interval; None where there is no score.
    groups : str
        Models that share a letter are not told apart.
    """

    identifier: str
    title: str
    private: bool
    architecture: str
    family: str
    parameters: int | None
    training_data: str
    runnable: bool
    size_mb: float | None
    rank: int | None
    best: int | None
    worst: int | None
    groups: str


@dataclass(frozen=True, kw_only=True)
class Node:
    """A column: a mean or a benchmark.

    Attributes
    ----------
    identifier, title, kind : str
        `kind` is ``'mean'`` or ``'benchmark'``.
    parent : str or None
        Identifier of the mean above.
    depth : int
        Steps to the root.
    n_benchmarks : int
        Here and below, after filters.
    version : str or None
        Of a benchmark.
    shown : bool
        Whether the page shows it.
    best, median, ceiling : float or None
        Over the models that pass the filters; the ceiling is on the scale of raw scores.
    """

    identifier: str
    title: str
    parent: str | None
    depth: int
    kind: str
    n_benchmarks: int
    version: str | None
    shown: bool
    best: float | None
    median: float | None
    ceiling: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaderboard:
    """Models × nodes.

    Attributes
    ----------
    models : tuple of RankedModel
        In the order asked for.
    nodes : tuple of Node
        Depth first; what counts in no mean last.
    value, error, low, high : array (models, nodes)
        Scores and means of scores, standard errors, limits of intervals; NaN where there is none.
    state : array (models, nodes) of str
        ``'scored'``, ``'undefined'``, ``'not applicable'``, ``'failed'``, ``'outdated'`` or ``'missing'``.
    n_scored : array (models, nodes) of int
        How many benchmarks here and below have a score.
    query : str
        What was asked for; the query of the page's address for the same.
    notes : tuple of str
        What is shown, and what it rests on.
    """

    models: tuple[RankedModel, ...]
    nodes: tuple[Node, ...]
    value: NDArray[np.float64]
    error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    state: NDArray[np.str_]
    n_scored: NDArray[np.int64]
    query: str
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Leaderboard: {len(self.models)} models × {len(self.nodes)} nodes{self.query and f' ({self.query})'}>"

    def column(self, node: str) -> int:
        """Place of a node.

        Raises
        ------
        UnknownIdentifier
            If it is not here.
        """
        for place, one in enumerate(self.nodes):
            if one.identifier == node:
                return place
        raise UnknownIdentifier(f"{node!r} is not on this leaderboard", remedy="see .nodes")

    def to_pandas(self, *, long: bool = False) -> pd.DataFrame:
        """Make a table.

        Parameters
        ----------
        long : bool
            A row a model and node, with ``value``, ``error``, ``low``, ``high``, ``state``; else a row a model, a
            column a node, with values.
        """
        import pandas as pd

        models = pd.Index([model.identifier for model in self.models], name="model")
        nodes = pd.Index([node.identifier for node in self.nodes], name="node")
        if not long:
            return pd.DataFrame(self.value, index=models, columns=nodes)
        columns: dict[str, Any] = {
            "model": np.repeat(models.to_numpy(dtype=object), len(nodes)),
            "node": np.tile(nodes.to_numpy(dtype=object), len(models)),
        }
        columns |= {name: getattr(self, name).ravel() for name in (*_MATRICES, "n_scored")}
        return pd.DataFrame(columns | {"state": self.state.ravel().astype(object)})


def joined(answers: Sequence[Mapping[str, Any]]) -> Leaderboard:
    """Put the site's answers together, each with the next models.

    Raises
    ------
    UserError
        If they differ in their nodes: something changed meanwhile.
    """
    first = answers[0]
    if any(answer["nodes"] != first["nodes"] or answer["total"] != first["total"] for answer in answers):
        raise UserError("the leaderboard changed while it was read", remedy="read it again")
    shape = -1, len(first["nodes"])

    def whole(name: str, kind: Any) -> Any:
        rows = [row for answer in answers for row in answer[name]]
        return np.array(rows, dtype=kind).reshape(shape if shape[1] else (len(rows), 0))

    names = np.array(first["state_names"], dtype=np.str_)
    return Leaderboard(
        models=tuple(read(RankedModel, one) for answer in answers for one in answer["models"]),
        nodes=tuple(read(Node, one) for one in first["nodes"]),
        **{name: whole(name, np.float64) for name in _MATRICES},
        state=names[whole("state", np.intp)],
        n_scored=whole("n_scored", np.int64),
        query=first["query"],
        notes=tuple(first["notes"]),
    )
