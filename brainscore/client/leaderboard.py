"""The leaderboard and comparisons of a site."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore.client.records import read_record
from brainscore_core.domain_names import FIRST
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.formatting import FORMULA
from brainscore_core.populations import UNRECORDED

if TYPE_CHECKING:
    import pandas as pd

    from brainscore.client.connection import Connection

_COLUMNS = ["benchmark", "version", "group", "difference", "error", "low", "high", "outcome", "condition"]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Two models on one benchmark, or their means, relative to the ceiling, with standard errors."""

    benchmark: str
    version: str  # empty for means
    group: str  # the region, else the mean that the benchmark stands under; 'mean' for means
    first_model: str
    second_model: str
    first: float | None
    first_error: float | None
    second: float | None
    second_error: float | None
    difference: float | None  # first minus second, with its error and 95 % interval where the site can test it
    error: float | None
    low: float | None
    high: float | None
    outcome: str  # of the first model: 'win', 'tie', 'loss' or 'untested'; otherwise why there is no difference
    condition: str = ""  # for which few subjects or groups alone the outcome holds; empty: for new ones
    domain: str = FIRST  # of the models


def compare_models(connection: Connection, domain: str, first: str, second: str) -> list[Compared]:
    """Read a comparison from the site's page.

    Raises UnknownIdentifier if no model with this name is visible. Raises UserError if the file is not as expected.
    """
    (first, second), rows = _table(connection, domain, first, second)
    return [
        Compared(
            benchmark=_cell_text(row[0]),
            version=_cell_text(row[1]),
            group=_cell_text(row[2]),
            first_model=first,
            second_model=second,
            first=_cell_number(row[3]),
            first_error=_cell_number(row[4]),
            second=_cell_number(row[5]),
            second_error=_cell_number(row[6]),
            difference=_cell_number(row[7]),
            error=_cell_number(row[8]),
            low=_cell_number(row[9]),
            high=_cell_number(row[10]),
            outcome=_cell_text(row[11]),
            condition=_cell_text(row[12]),
            domain=domain,
        )
        for row in rows
    ]


def _table(connection: Connection, domain: str, first: str, second: str) -> tuple[tuple[str, str], list[list[str]]]:
    """Identifiers of the two models, and the rows of the page's CSV file."""
    text = connection.table(
        f"/{domain}/compare/compare.csv", [("mode", "models"), ("first", first), ("second", second)]
    )
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    columns = [*head[:3], *head[7:]]
    if columns != _COLUMNS or any(len(row) != len(head) for row in rows):
        raise UserError(
            "the site's table has other columns", remedy="the site and this package differ: update the older one"
        )
    return (_cell_text(head[3]), _cell_text(head[5])), rows


def _cell_text(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def _cell_number(cell: str) -> float | None:
    return float(cell) if cell else None


_MATRICES = ("value", "error", "low", "high")


@dataclass(frozen=True, kw_only=True)
class RankedModel:
    """A model on the leaderboard; what is not known is empty."""

    identifier: str
    title: str
    private: bool  # whether it is hidden from other users
    architecture: str
    family: str
    parameters: int | None
    training_data: str
    runnable: bool  # whether it can be loaded from published files
    size_mb: float | None  # of the weights
    rank: int | None  # by the first node, with the limits of its interval
    best: int | None
    worst: int | None
    groups: str  # models that share a letter do not differ significantly
    trained_on: tuple[str, ...] = ()  # data sets, with those of the models that it was fine-tuned from
    training_known: bool = False  # whether `trained_on` has all of them
    unranked: str | None = None  # why the model has no rank
    n_scored: int | None = None  # benchmarks of the first mean on which it was scored, of `n_all`
    n_all: int | None = None
    published: int | None = None  # year in its citation


@dataclass(frozen=True, kw_only=True)
class Node:
    """A column: a mean or a benchmark."""

    identifier: str
    title: str
    parent: str | None  # identifier of the mean above
    depth: int  # steps to the root
    kind: str  # 'mean' or 'benchmark'
    n_benchmarks: int  # here and below, after filters
    version: str | None  # of a benchmark
    shown: bool  # whether the page shows it
    best: float | None  # over the models that pass the filters, as `median`
    median: float | None
    ceiling: float | None  # on the scale of raw scores
    taken_from: tuple[str, ...] | None = None  # data sets that hold the stimuli; None if it is not known
    # for which few subjects or groups alone values hold; empty: for new ones; sites of earlier versions do not send
    # it
    condition: str = UNRECORDED


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaderboard:
    """Models in the requested order × nodes depth first; benchmarks outside all means come last."""

    models: tuple[RankedModel, ...]
    nodes: tuple[Node, ...]
    # scores and means of scores, NaN if missing, with standard errors and limits of intervals
    value: NDArray[np.float64]
    error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    state: NDArray[np.str_]  # such as 'scored', 'not applicable', 'outdated' or 'missing'
    # whether the model was trained on the stimuli: 'clean', 'unknown' or 'trained on it'; of a mean, the most exposed
    exposure: NDArray[np.str_]
    # of a remote worker's score: 'not verified' or 'contradicted', otherwise empty; of a mean, the most doubtful
    verification: NDArray[np.str_]
    n_scored: NDArray[np.int64]  # how many benchmarks here and below have a score
    query: str  # of the site's page that shows the same
    notes: tuple[str, ...]  # on the selection and computation of what is shown
    domain: str = FIRST

    def __repr__(self) -> str:
        return f"<Leaderboard: {len(self.models)} models × {len(self.nodes)} nodes{self.query and f' ({self.query})'}>"

    def column(self, node: str) -> int:
        """Index of the column of a node; raises UnknownIdentifier if the leaderboard has no such node."""
        for index, column_node in enumerate(self.nodes):
            if column_node.identifier == node:
                return index
        raise UnknownIdentifier(f"{node!r} is not on this leaderboard", remedy="see .nodes")

    def to_pandas(self, *, long: bool = False) -> pd.DataFrame:
        """Make a table with one row per model and one column per node, with values.

        With `long`, it has one row per model and node, and columns for intervals, states and marks, too.
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
        texts = {name: getattr(self, name).ravel().astype(object) for name in ("state", "exposure", "verification")}
        return pd.DataFrame(columns | texts)


def leaderboard_of(answers: Sequence[Mapping[str, Any]]) -> Leaderboard:
    """Make a leaderboard from the site's responses, which hold consecutive models.

    Raises UserError if their nodes differ, because the leaderboard changed between requests.
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
        models=tuple(read_record(RankedModel, values) for answer in answers for values in answer["models"]),
        nodes=tuple(read_record(Node, values) for values in first["nodes"]),
        **{name: whole(name, np.float64) for name in _MATRICES},
        state=names[whole("state", np.intp)],
        exposure=_texts(answers, "exposure").reshape(whole("state", np.intp).shape),
        verification=_texts(answers, "verification").reshape(whole("state", np.intp).shape),
        n_scored=whole("n_scored", np.int64),
        query=first["query"],
        domain=first["domain"],
        notes=tuple(first["notes"]),
    )


def _texts(answers: Sequence[Mapping[str, Any]], field: str) -> NDArray[np.str_]:
    """Exposures or verifications of all models, in rows; empty texts where there is no score."""
    names = answers[0][f"{field}_names"]
    rows = [["" if code is None else names[code] for code in row] for answer in answers for row in answer[field]]
    return np.array(rows, dtype=np.str_)
