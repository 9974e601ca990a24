"""All that a report shows, put together from receipts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brainscore.report._board import Board, board_of, newest_of_each
from brainscore.report._cards import Card, cards_of
from brainscore.report._validity import Validity, validity_of
from brainscore.report._view import Group, View, view_of
from brainscore_core.identifiers import series_point, states_of_models
from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.receipts.assessment import Assessment
from brainscore_core.results.aggregates import Over, Tree
from brainscore_core.scoring import Problem, Receipt
from brainscore_vision.training_data import Finding

if TYPE_CHECKING:
    from brainscore_core.statistics.comparison import Ranking
    from brainscore_vision.model_helpers.brain_transformation.selection import LayerProfile


@dataclass(frozen=True)
class Report:
    """What a page, figures and tables are made of.

    Attributes
    ----------
    view : View
        Receipts by benchmark.
    board : Board
        The leaderboard.
    cards : tuple of Card
        One a model.
    profiles : tuple of LayerProfile
        Scores of layers.
    log_ends : dict
        Receipt's id → the last of what a failed pair printed.
    remarks : tuple of str
        What the reader should know of the choice that was made.
    validity : dict
        Benchmark → what its scores are worth; without benchmarks that were not assessed.
    exposure : dict
        (model, benchmark) → whether the model was trained on the stimuli.
    rankings : dict
        Benchmark → ranks with intervals; from :func:`rankings_of`.
    """

    view: View
    board: Board
    cards: tuple[Card, ...]
    profiles: tuple[LayerProfile, ...] = ()
    log_ends: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    validity: Mapping[str, Validity] = field(default_factory=dict)
    exposure: Mapping[tuple[str, str], Finding] = field(default_factory=dict)
    rankings: Mapping[str, Ranking] = field(default_factory=dict)

    @property
    def groups(self) -> tuple[tuple[int, Group], ...]:
        """Benchmarks with their places on the leaderboard, in its order."""
        by_name = {group.benchmark: group for group in self.view.groups}
        return tuple((index, by_name[self.board.nodes[index].identifier]) for index in self.board.benchmarks)


def report_of(
    receipts: Sequence[Receipt],
    problems: Iterable[Problem] = (),
    *,
    tree: Tree | None = None,
    over: Over = "all",
    profiles: Sequence[LayerProfile] = (),
    log_ends: Mapping[str, str] | None = None,
    remarks: Sequence[str] = (),
    influences: Mapping[str, ScoreInfluence] | None = None,
    assessments: Iterable[Assessment] = (),
) -> Report:
    """Put a report together.

    Parameters
    ----------
    receipts : sequence of Receipt
        Any number of each model and benchmark, in any order. The newest of the tree's version counts; of benchmarks
        that are not in the tree the newest.
    problems : iterable of Problem
        Receipts that could not be read.
    tree : Tree, optional
        What to average along; default: the leaderboard's.
    over : str
        ``'all'`` or ``'scored'``: the means that are shown first, and by which models are ordered.
    profiles : sequence of LayerProfile
        Scores of layers; from :func:`find_profiles`.
    log_ends : mapping, optional
        From :func:`log_ends`.
    remarks : sequence of str
        Sentences to show at the top.
    influences : mapping, optional
        How units influence scores, by id of the receipt; without it, means of several scores have no standard error.
        From :func:`~brainscore_core.statistics.units.read_influences`.
    assessments : iterable of Assessment
        From :class:`~brainscore_core.results.assessments.AssessmentStore`; those of benchmarks without a receipt
        are not shown.
    """
    from brainscore_vision.catalogue.exposure import findings_of

    if tree is None:
        from brainscore_vision.catalogue.leaderboard import leaderboard_tree

        tree = leaderboard_tree()
    states = states_of_models(receipt.model.identifier for receipt in receipts)
    trained = {listed: several for listed, several in states.items() if len(several) > 1}
    by_state = newest_of_each(receipts)
    board = board_of(
        [receipt for receipt in receipts if receipt.model.identifier in states], tree, over=over, influences=influences
    )
    outdated = {pair for pair, state in board.states.items() if state == "outdated"}
    view = view_of(board.receipts.values(), problems, outdated=outdated)
    return Report(
        view=view,
        board=board,
        cards=cards_of(
            view,
            board,
            {
                listed: [receipt for (model, _), receipt in sorted(by_state.items()) if model in several]
                for listed, several in trained.items()
            },
        ),
        profiles=tuple(profiles),
        log_ends=dict(log_ends or {}),
        remarks=(*remarks, *_training_remarks(trained)),
        exposure=findings_of(pair for pair, state in board.states.items() if state == "scored"),
        validity=validity_of(assessments, [board.nodes[index].identifier for index in board.benchmarks]),
    )


def _training_remarks(trained: Mapping[str, Sequence[str]]) -> Iterable[str]:
    for listed, states in trained.items():
        yield (
            f"{series_point(listed).model} has {len(states)} states, of epochs or seeds of its training. It is listed "
            f"as {listed}; all states are under Models."
        )
