from datetime import date

import numpy as np
import pandas as pd
import pytest
from django.contrib.auth.models import AnonymousUser
from scipy import stats

from brainscore_core.errors import UserError
from brainscore_core.numerics.influence import ScoreInfluence, unit_influence
from brainscore_core.numerics.means import ASSUMPTION, NOT_TESTED, rank_means
from brainscore_core.numerics.ranks import Ranks
from brainscore_web.leaderboard import board as board_module
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import STATES, board_for, board_of, clear_caches, group_texts
from brainscore_web.leaderboard.exposure import CHOICES, EXPOSURES
from brainscore_web.leaderboard.influence import pack, write_influences
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

EVERYBODY = AnonymousUser()


@pytest.fixture
def snapshot(board):
    """Of the simulated board; two of its benchmarks stand apart, two are controls."""
    names = board.benchmarks
    Benchmark.objects.filter(identifier__in=names[:2]).update(in_tree=False, parent=None)
    Benchmark.objects.filter(identifier__in=names[2:4]).update(in_tree=False, control=True)
    revision.bump()
    return snapshot_for(EVERYBODY)


def shown(snapshot, **state):
    return board_of(snapshot, BoardState(**{"unscored": True, **state}))


class Independent:
    """The same numbers from the database, pair by pair and recursively."""

    def __init__(self, models, benchmarks, *, over, raw, exposure=""):
        self.over, self.raw = over, raw
        nodes = {one.pk: one for one in Benchmark.objects.all()}
        self.leaves = {one.identifier: one for one in nodes.values() if one.identifier in benchmarks}
        self.children = {}
        for one in nodes.values():
            if one.parent_id and one.in_tree and not one.control and (one.is_mean or one.identifier in benchmarks):
                self.children.setdefault(nodes[one.parent_id].identifier, []).append(one.identifier)
        self.scores = {}
        for model in models:
            for name, leaf in self.leaves.items():
                receipts = Score.objects.filter(model__identifier=model, benchmark=leaf, version=leaf.version)
                newest = receipts.order_by("created").last()
                if newest is not None and newest.state == "scored":
                    value, error = (newest.raw, newest.raw_error) if raw else (newest.value, newest.error)
                    self.scores[model, name] = (value, error)
        self.left_out = {
            (one.identifier, name)
            for one in VisionModel.objects.filter(identifier__in=models)
            for name, leaf in self.leaves.items()
            if exposure and exposed(one, leaf) not in CHOICES[exposure]
        }

    def mean(self, model, node):
        """(value, error, scored, all); value None where nothing was scored, error None where one is unknown."""
        if (model, node) in self.left_out:
            return None, None, 0, 0
        if node in self.leaves:
            value, error = self.scores.get((model, node), (None, None))
            return value, error, int(value is not None), 1
        below = [self.mean(model, child) for child in self.children.get(node, ())]
        below = [one for one in below if one[3]]
        scored, everything = sum(one[2] for one in below), sum(one[3] for one in below)
        if not scored:
            return None, None, 0, everything
        entering = below if self.over == "all" else [one for one in below if one[0] is not None]
        value = sum(one[0] or 0.0 for one in entering) / len(entering)
        errors = [one[1] for one in entering if one[0] is not None]
        error = None  # benchmarks of the simulation share no stimuli; influences of raw scores are not stored
        if None not in errors and (scored == 1 or not self.raw):
            error = sum(one**2 for one in errors) ** 0.5 / len(entering)
        return value, error, scored, everything


def exposed(model, benchmark):
    """Exposure by the rule of the simulation: data sets of models do not contain each other."""
    if model.trained_on == [] or benchmark.taken_from == []:
        return "clean"
    if model.trained_on is None or benchmark.taken_from is None:
        return "unknown"
    return "trained on it" if set(model.trained_on) & set(benchmark.taken_from) else "clean"


FILTERS = [
    {},
    {"over": "scored"},
    {"values": "raw"},
    {"values": "raw", "over": "scored", "region": ("IT",)},
    {"exclude": ("V1", "Simulated010.behavior-accuracy")},
    {"include": ("neural_vision",), "exclude": ("IT",)},
    {"species": ("HUMAN",), "access": "public"},
    {"q": "family:resnet OR training:places", "ceiling_min": 0.75},
    {"runnable": True, "metric": ("pls", "ridge"), "stimuli": ("objects", "textures", "natural images")},
    {"parameters_min": 1e6, "parameters_max": 2e8, "task": ("passive viewing",)},
    {"architecture": ("cnn",), "training": ("imagenet",)},
    {"exposure": "clean"},
    {"exposure": "not-trained", "over": "scored"},
    {"exposure": "known", "values": "raw"},
]


@pytest.mark.parametrize("state", FILTERS, ids=[BoardState(**one).query() or "all" for one in FILTERS])
def test_numbers_are_those_computed_one_by_one(snapshot, state):
    board = shown(snapshot, **state)
    models = VisionModel.objects.filter(visibility="public")
    models = [one for one in models if _passes(one, **state)]
    assert {one.identifier for one in board.models} == {one.identifier for one in models}
    benchmarks = [one for one in Benchmark.objects.filter(is_mean=False) if _counts(one, **state)]
    passing = CHOICES[state.get("exposure", "")]
    benchmarks = [one for one in benchmarks if any(exposed(model, one) in passing for model in models)]
    at = {node.identifier: place for place, node in enumerate(board.nodes)}
    assert {node.identifier for node in board.nodes if node.kind == "benchmark"} == {
        one.identifier for one in benchmarks
    }
    independent = Independent(
        [one.identifier for one in board.models],
        {one.identifier for one in benchmarks},
        over=state.get("over", "all"),
        raw=state.get("values") == "raw",
        exposure=state.get("exposure", ""),
    )
    for row, model in enumerate(board.models):
        for name, place in at.items():
            if board.nodes[place].kind == "heading":
                continue
            value, error, scored, everything = independent.mean(model.identifier, name)
            if 2 * scored < everything:  # too few scores: no mean, and never an interval
                value = error = None
                assert np.isnan([board.low[row, place], board.high[row, place]]).all()
                assert (STATES[board.states[row, place]] == "too few scores") is (scored > 0)
            assert board.values[row, place] == pytest.approx(np.nan if value is None else value, nan_ok=True)
            assert board.errors[row, place] == pytest.approx(np.nan if error is None else error, nan_ok=True)
            assert (board.n_scored[row, place], board.n_all[row, place]) == (scored, everything)
            assert (STATES[board.states[row, place]] == "scored") is (value is not None)


def test_exposure_of_scores_and_means(snapshot):
    board = shown(snapshot)
    rows = {row.identifier: row for row in VisionModel.objects.all()}
    leaves = {row.identifier: row for row in Benchmark.objects.filter(is_mean=False)}
    found = set()
    for at, node in enumerate(board.nodes):
        if node.kind == "benchmark":
            for row, model in enumerate(board.models):
                code = board.exposure[row, at]
                assert (code >= 0) == np.isfinite(board.values[row, at])
                if code >= 0:
                    assert EXPOSURES[code] == exposed(rows[model.identifier], leaves[node.identifier])
                    found.add(EXPOSURES[code])
    assert found == set(EXPOSURES)
    below = [at for at, node in enumerate(board.nodes) if node.kind == "benchmark" and at < len(snapshot.tree)]
    assert board.exposure[:, 0].tolist() == board.exposure[:, below].max(axis=1).tolist()


def test_ranks_of_the_filter_on_exposure_use_what_is_left(snapshot):
    board, everything = shown(snapshot, exposure="clean"), shown(snapshot)
    assert not (board.exposure > 0).any()
    left_out = STATES.index("left out")
    assert (board.states == left_out).any()
    assert not np.isfinite(board.values[board.states == left_out]).any()
    assert board.rank.tolist() != [everything.rank[everything.models.index(model)] for model in board.models]
    ranked = board.rank > 0
    assert np.isfinite(board.values[ranked, 0]).all()
    assert (np.diff(board.values[ranked, 0]) <= 0).all()
    assert any("left out by the filter on training" in note for note in board.notes)
    assert shown(snapshot, exposure="clean", include=("V1",), training=("none",)).n_all.max() > 0


def test_an_undetermined_score_is_not_shown_but_averaged(snapshot):
    before = shown(snapshot)
    node = next(node for node in before.nodes if node.kind == "benchmark" and node.parent >= 0)
    place = before.place(node.identifier)
    row = int(np.flatnonzero(np.isfinite(before.values[:, place]))[0])
    model = before.models[row].identifier
    newest = Score.objects.filter(model__identifier=model, benchmark__identifier=node.identifier, state="scored")
    newest.update(undetermined="the interval of the ceiling 0.100, -0.010 to 0.210, includes 0")
    revision.bump()
    board = shown(snapshot_for(EVERYBODY))
    assert [one.identifier for one in board.models] == [one.identifier for one in before.models]
    assert STATES[board.states[row, place]] == "undetermined"
    for name in ("values", "errors", "low", "high"):
        expected = getattr(before, name).copy()
        expected[row, place] = np.nan
        np.testing.assert_array_equal(getattr(board, name), expected)
    raw = shown(snapshot_for(EVERYBODY), values="raw")
    assert np.isfinite(raw.values[[one.identifier for one in raw.models].index(model), place])


def _passes(model, q="", runnable=False, parameters_min=0, parameters_max=1e99, architecture=(), training=(), **_):
    return (
        (not q or model.family == "resnet" or model.training_data == "Places")
        and (not runnable or model.runnable)
        and parameters_min <= model.parameters <= parameters_max
        and (not architecture or model.architecture == "CNN")
        and (not training or model.training_data == "ImageNet")
    )


def _counts(one, include=(), exclude=(), access="", ceiling_min=None, **state):
    above = {one.identifier}
    node = one
    while node.parent_id and one.in_tree:
        node = node.parent
        above.add(node.identifier)
    ceiling = BenchmarkVersion.objects.get(benchmark=one, version=one.version).ceiling
    wanted = {name: state.get(name) for name in ("region", "species", "task", "stimuli", "metric")}
    return (
        (not include or above & set(include))
        and not above & set(exclude)
        and (not access or one.access == access)
        and (ceiling_min is None or ceiling >= ceiling_min)
        and all(not texts or getattr(one, name).lower() in [t.lower() for t in texts] for name, texts in wanted.items())
    )


def test_columns_ranks_and_colours_with_pandas(snapshot):
    board = shown(snapshot, q="NOT vit", coverage=0)
    frame = pd.DataFrame(board.values, columns=[node.identifier for node in board.nodes])
    kinds = pd.Series({node.identifier: node.kind for node in board.nodes})
    numbers = frame[kinds.index[kinds != "heading"]]
    np.testing.assert_allclose(board.node_best[kinds != "heading"], numbers.max())
    np.testing.assert_allclose(board.node_median[kinds != "heading"], numbers.median())
    assert np.isnan(board.node_best[kinds == "heading"]).all()
    everyone = shown(snapshot, coverage=0)
    rows = [everyone.models.index(model) for model in board.models]
    ranks = pd.Series(everyone.values[:, 0]).rank(ascending=False, method="min").fillna(0)
    np.testing.assert_array_equal(board.rank, ranks[rows])
    np.testing.assert_array_equal(board.rank, sorted(board.rank))
    place = board.place("IT")
    ranks = pd.Series(everyone.values[:, place]).rank(ascending=False, method="min").fillna(0)
    np.testing.assert_array_equal(board.rank_of(place)[0], ranks[rows])
    for place, (name, column) in enumerate(frame.items()):
        width = (column.max() - column.min()) / 10
        expected = ((column - column.min()) / width).clip(upper=9).fillna(-1).astype(int)
        differing = board.shade[:, place] != expected
        edges = (column - column.min()) / width % 1
        assert (~differing | (edges < 1e-9) | (edges > 1 - 1e-9)).all(), name


@pytest.mark.parametrize(
    "of_models",
    [
        {"q": "vit"}, {"models": ("simulated-vit-002",)}, {"family": ("resnet",)}, {"architecture": ("transformer",)},
        {"training": ("imagenet",)}, {"parameters_min": 2.5e7}, {"parameters_max": 2.5e7}, {"size_max": 100.0},
        {"runnable": True}, {"q": "vit", "sort": "model"}, {"q": "vit", "region": ("IT",)},
        {"family": ("resnet",), "common": "all"}, {"q": "vit", "unscored": False}, {"q": "vit", "exposure": "clean"},
    ],
    ids=str,
)  # fmt: skip
def test_filters_on_models_do_not_change_ranks(snapshot, of_models):
    board = board_for(snapshot, BoardState(**{"unscored": True, "coverage": 0.0, **of_models}))
    assert 0 < len(board.models) < 11
    whole = {name: of_models[name] for name in ("region", "unscored", "exposure") if name in of_models}
    if "common" in of_models:  # a choice of benchmarks, which the shown models make
        whole["include"] = tuple(node.identifier for node in board.nodes if node.kind == "benchmark")
    whole = board_for(snapshot, BoardState(**{"unscored": True, "coverage": 0.0, **whole}))
    rows = zip(whole.models, whole.rank, whole.best, whole.groups, strict=True)
    ranks = {model.identifier: ranked for model, *ranked in rows}
    for row, model in enumerate(board.models):
        assert [board.rank[row], board.best[row], board.groups[row]] == ranks[model.identifier]
    assert f"Ranks are among all {len(whole.models)}" in " ".join(board.notes)


def test_intervals_of_means_are_those_of_student(snapshot):
    board = shown(snapshot, region=("V1",))
    place = board.place("V1")
    known = np.isfinite(board.errors[:, place]) & (board.n_scored[:, place] > 1)
    assert known.any()
    half = (board.high - board.low)[known, place] / 2
    np.testing.assert_allclose(board.values[known, place] - half, board.low[known, place])
    t = half / board.errors[known, place]
    assert (t > stats.norm.ppf(0.975)).all()
    assert (t <= stats.t.ppf(0.975, 29)).all()  # of one benchmark; each has 30 stimuli
    without = ~np.isfinite(board.errors[:, place])
    assert np.isnan(board.low[without, place]).all()
    leaf = next(place for place, node in enumerate(board.nodes) if node.kind == "benchmark")
    column = board.nodes[leaf].column
    np.testing.assert_array_equal(board.low[:, leaf], snapshot.low[board.rows, column])


@pytest.fixture
def sure(db):
    """Three models and one benchmark; a is better than the others, which were not told apart, and d was not scored."""
    root = Benchmark.objects.create(identifier="root", is_mean=True, title="Root")
    for name in ("one", "two"):
        leaf = Benchmark.objects.create(identifier=name, parent=root, version="1", region="V1, V2")
        BenchmarkVersion.objects.create(benchmark=leaf, version="1", since="2026-01-01T00:00Z", ceiling=0.8)
    for name, value in (("a", 0.9), ("b", 0.5), ("c", 0.48), ("d", None)):
        model = VisionModel.objects.create(identifier=name)
        leaf = Benchmark.objects.get(identifier="one")
        Score.objects.create(
            receipt=name, model=model, benchmark=leaf, version="1", created="2026-01-02T00:00Z", value=value,
            error=0.02, low=None if value is None else value - 0.05, high=None if value is None else value + 0.05,
            state="failed" if value is None else "scored",
        )  # fmt: skip
    revision.bump()
    return snapshot_for(EVERYBODY)


@pytest.fixture
def store_influences(sure):
    """Of these models: twenty stimuli, whose difficulty they share."""

    def store(*names, bias=0.0):
        rng = np.random.default_rng(0)
        for score in Score.objects.filter(receipt__in=names).order_by("receipt"):
            part = unit_influence("stimuli", "one", range(20), 0.003 * rng.standard_normal(20))
            row = pack(ScoreInfluence(score.value, (part,), bias))
            row.score = score
            write_influences([row])
        return snapshot_for(EVERYBODY)

    return store


def test_ranks_with_intervals_and_groups(store_influences):
    snapshot = store_influences("a", "b", "c")
    board = shown(snapshot, include=("one",))
    assert [model.identifier for model in board.models] == ["a", "b", "c", "d"]
    assert board.rank.tolist() == [1, 2, 3, 0]
    assert board.best.tolist() == [1, 2, 2, 0]
    assert board.worst.tolist() == [1, 3, 3, 0]
    assert board.groups == ("a", "b", "b", "")
    assert any("95 % confidence" in note for note in board.notes)
    raw = shown(snapshot, include=("one",), values="raw")
    assert not raw.best.any()


def test_means_over_benchmarks_of_each_model_are_not_tested(store_influences):
    snapshot = store_influences("a", "b", "c")
    assert any(ASSUMPTION in note for note in shown(snapshot, include=("one",)).notes)  # also fills the cache
    for state in ({"over": "scored"}, {"exposure": "not-trained"}):
        board = shown(snapshot, include=("one",), **state)
        assert not board.tested.any()
        assert not board.best.any()
        assert not any("95 %" in note for note in board.notes)
        assert any(
            "not tested: the mean of each model is over the scores that it has here." in note for note in board.notes
        )


def test_means_with_missing_scores_are_not_tested(store_influences):
    board = shown(store_influences("a", "b", "c"), coverage=0)  # nothing was scored on the other benchmark
    assert board.rank.tolist() == [1, 2, 3, 0]
    assert not board.best.any()
    assert board.groups == ("", "", "", "")


def test_scores_without_influences_enter_no_test(sure, store_influences):
    board = shown(sure, include=("one",))
    assert board.rank.tolist() == [1, 2, 3, 0]
    assert (board.best.tolist(), board.worst.tolist(), set(board.groups)) == ([0] * 4, [0] * 4, {""})
    assert f"Ranks are by Mean of 1 benchmark; {NOT_TESTED}." in board.notes
    some = store_influences("a", "c")
    assert some.digest != sure.digest
    board = shown(some, include=("one",))
    assert (board.best.tolist(), board.worst.tolist()) == ([1, 1, 2, 0], [2, 3, 3, 0])
    assert board.tested.tolist() == [True, False, True, False]
    assert board.groups == ("a", "", "b", "")
    assert any(note.startswith("1 of 3 ranked models is not tested") for note in board.notes)


def test_ranks_of_the_same_scores_are_computed_once(store_influences, monkeypatch):
    calls = []
    monkeypatch.setattr(board_module, "rank_means", lambda *args: calls.append(1) or rank_means(*args))
    store_influences("a")
    first = shown(store_influences("b", "c"))
    assert (first.tested.sum(), len(calls)) == (3, 1)
    revision.bump()
    board = shown(snapshot_for(EVERYBODY))
    assert (board.best.tolist(), board.worst.tolist(), len(calls)) == (first.best.tolist(), first.worst.tolist(), 1)
    assert not shown(snapshot_for(EVERYBODY), values="raw").tested.any()
    Score.objects.filter(model__identifier="a").update(value=0.123)
    revision.bump()
    n = len(calls)
    shown(snapshot_for(EVERYBODY))
    assert len(calls) == n + 1


def test_biases_are_subtracted_before_ranks(store_influences):
    store_influences("a", bias=0.6)
    board = shown(store_influences("b", "c"), include=("one",))
    assert [model.identifier for model in board.models] == ["b", "c", "a", "d"]


def test_a_mean_of_one_score_has_its_interval(sure):
    board = shown(sure)
    leaf = board.place("one")
    for array in (board.values, board.errors, board.low, board.high):
        np.testing.assert_allclose(array[:3, 0], array[:3, leaf] / 2)


@pytest.mark.parametrize(
    ("n_groups", "letters", "text"),
    [
        (0, (), ""),
        (3, ("a",), "a"),
        (3, ("a", "b"), "ab"),
        (3, ("a", "b", "c"), "a–c"),
        (9, ("a", "c", "d", "e", "f", "h"), "ac–fh"),
        (27, ("a", "z", "aa"), "a z aa"),
        (30, ("b", "x", "y", "z", "aa", "ad"), "b x–aa ad"),
    ],
)
def test_letters_in_a_row_are_a_range(n_groups, letters, text):
    groups = tuple((0,) for _ in range(n_groups))
    assert group_texts(Ranks(None, None, None, (letters,), groups, False, None)) == [text]


def test_a_mean_without_a_value_tells_failed_from_never_scored(sure):
    board = shown(sure)  # one failed, the other was never scored
    assert STATES[board.states[3, 0]] == "failed"
    board = shown(sure, include=("two",))
    assert STATES[board.states[3, 0]] == "missing"


class TestCoverage:
    def rows(self, scores):
        """Models with a score on each benchmark of which there is a number; ``x`` failed."""
        root = Benchmark.objects.create(identifier="root", is_mean=True, title="Root")
        for name in sorted({name for numbers in scores.values() for name in numbers}):
            leaf = Benchmark.objects.create(identifier=name, parent=root, version="1", n_stimuli=100 * len(name))
            BenchmarkVersion.objects.create(benchmark=leaf, version="1", since="2026-01-01T00:00Z")
        for model, numbers in scores.items():
            row, _ = VisionModel.objects.get_or_create(identifier=model)
            for name, value in numbers.items():
                if value is not None:
                    self.score(row, name, value)
        revision.bump()

    def score(self, model, name, value):
        Score.objects.create(
            receipt=f"{model}-{name}", model=model, benchmark=Benchmark.objects.get(identifier=name), version="1",
            created="2026-01-02T00:00Z", value=None if value == "x" else value,
            state="failed" if value == "x" else "scored",
        )  # fmt: skip
        revision.bump()

    def board(self, **state):
        return board_of(snapshot_for(EVERYBODY), BoardState(**state))

    def ranks(self, **state):
        board = self.board(**state)
        return dict(zip((model.identifier for model in board.models), board.rank.tolist(), strict=True))

    def test_models_scored_on_less_than_half_are_listed_below_with_the_reason(self, db):
        few = {"a": 0.99, "b": None, "c": "x", "d": None}
        self.rows({
            "all": {"a": 0.3, "b": 0.3, "c": 0.3, "d": 0.3}, "half": {"a": 0.5, "b": 0.5},
            "few": few, "none": {"a": "x"},
        })  # fmt: skip
        board = self.board()
        assert self.ranks() == {"all": 1, "half": 2, "few": 0}  # without a score: not listed
        assert board.unranked == ("", "", "scored on 1 of 4 benchmarks, ranked from 2; 1 failed, 2 never scored")
        assert board.notes[:2] == (
            "1 model without a score on any of these benchmarks is not listed.",
            "1 model not scored on at least 50 % of the benchmarks (2 of 4) is listed below the others, "
            "without a rank.",
        )
        assert self.ranks(coverage=25) == {"all": 1, "half": 2, "few": 3}
        assert self.ranks(coverage=51) == {"all": 1, "half": 0, "few": 0}
        assert self.ranks(unscored=True)["none"] == 0
        assert self.ranks(include=("a",)) == {"few": 1, "half": 2, "all": 3}  # of what is selected

    def test_without_a_model_above_the_threshold_all_are_unranked(self, db):
        self.rows({"m": {"a": 0.5, "b": None, "c": None}, "n": {"b": 0.4}})
        assert self.ranks() == {"m": 0, "n": 0}
        text = "No model was scored on at least 50 % of the benchmarks (2 of 3), so all are listed without a rank."
        assert text in self.board().notes

    def test_no_model_rises_by_being_scored_first(self, db):
        numbers = {f"m{n}": dict.fromkeys("abcd", 0.5 - 0.01 * n) for n in range(5)}
        numbers["m0"]["new"] = None
        self.rows(numbers)
        before = self.ranks()
        assert before == {f"m{n}": n + 1 for n in range(5)}
        last = VisionModel.objects.get(identifier="m4")
        self.score(last, "new", 1.0)
        assert self.ranks() == before
        (left_out,) = (note for note in self.board().notes if note.startswith("Ranks leave out 1 benchmark "))
        assert left_out.endswith(" first: new.")
        for n in (3, 2):
            self.score(VisionModel.objects.get(identifier=f"m{n}"), "new", "x")
        assert self.ranks()["m4"] == 1  # most have a result by now, and those that failed count as 0
        assert self.board().rank_nodes == ()

    def test_what_models_have_in_common_is_selected(self, db):
        complete = {"a": 0.5, "b": 0.4, "c": 0.3}
        self.rows({"m": complete, "n": complete, "o": {"a": 0.9, "b": 0.1}, "p": {"a": 0.2}})
        everyone, most = self.board().common
        assert (everyone.n_models, everyone.n_benchmarks) == (4, 1)
        assert (most.n_models, most.n_benchmarks) == (2, 3)
        board = self.board(common="all", coverage=100)
        assert [node.identifier for node in board.nodes] == ["root", "a"]
        assert self.ranks(common="all", coverage=100) == {"o": 1, "m": 2, "n": 2, "p": 4}
        assert self.ranks(common="most", coverage=100) == {"m": 1, "n": 1, "o": 0, "p": 0}

    def test_number_of_stimuli(self, db):
        self.rows({"m": {"a": 0.5, "bb": 0.5, "ccc": 0.5}})
        leaves = [node.identifier for node in self.board(stimuli_min=150, stimuli_max=250).nodes]
        assert leaves == ["root", "bb"]

    def test_facts_about_models_sort(self, db):
        self.rows({"m": {"a": 0.5, "b": 0.5}, "n": {"a": 0.6, "b": None}, "o": {"a": 0.1, "b": 0.1}})
        for name, parameters, year in (("m", 10, 2015), ("n", None, 2020), ("o", 20, None)):
            bibtex = f"@misc{{x, title = {{T}}, year = {{{year}}}}}" if year else ""
            VisionModel.objects.filter(identifier=name).update(parameters=parameters, bibtex=bibtex)
        revision.bump()
        order = {
            sort: "".join(model.identifier for model in self.board(sort=sort).models)
            for sort in ("parameters", "-parameters", "published", "scored")
        }
        assert order == {"parameters": "omn", "-parameters": "mon", "published": "nmo", "scored": "mon"}
        only = self.board(models=("n", "o")).models
        assert {model.identifier for model in only} == {"n", "o"}


def test_a_list_of_regions_is_several(sure):
    assert len(shown(sure, region=("v2",)).nodes) == 3
    assert len(shown(sure, region=("V1, V2",)).nodes) == 3
    assert len(shown(sure, region=("V",)).nodes) == 0


def test_ceilings_are_those_of_benchmarks(sure):
    for values in ("ceiled", "raw"):
        board = shown(sure, values=values)
        assert board.node_ceiling.tolist() == pytest.approx([np.nan, 0.8, 0.8], nan_ok=True)


def test_scores_without_a_raw_value_are_undefined_there(sure):
    board = shown(sure, values="raw")
    assert [STATES[code] for code in board.states[:, board.place("one")]] == ["undefined"] * 3 + ["failed"]
    assert any("3 scores without a raw value" in note for note in board.notes)
    assert board.rank.tolist() == [0] * 4


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("rank", "abcd"),
        ("-rank", "cbad"),
        ("model", "abcd"),
        ("-model", "dcba"),
        ("one", "abcd"),
        ("-one", "cbad"),
        ("two", "abcd"),
        ("-two", "abcd"),
        ("root", "abcd"),
    ],
)
def test_sorting_puts_what_has_no_value_last(sure, sort, names):
    board = shown(sure, sort=sort)
    assert "".join(model.identifier for model in board.models) == names
    for array in (board.values, board.errors, board.states, board.shade, board.rank, board.n_scored):
        reference = getattr(shown(sure, sort="model"), next(k for k, v in vars(board).items() if v is array))
        np.testing.assert_array_equal(array, reference[["abcd".index(name) for name in names]])


def test_equal_models_share_a_rank_and_stand_by_name(sure):
    Score.objects.filter(receipt="a").update(value=0.48)
    revision.bump()
    board = shown(snapshot_for(EVERYBODY))
    assert "".join(model.identifier for model in board.models) == "bacd"
    assert board.rank.tolist() == [1, 2, 2, 0]
    assert board.rank_of(1)[0].tolist() == [1, 2, 2, 0]


def test_means_over_a_selection_are_not_called_like_those_over_all(snapshot):
    titles = {node.identifier: node.title for node in shown(snapshot).nodes}
    assert (titles["average_vision"], titles["IT"]) == ("Global Score", "IT")
    n_all = {node.identifier: node.n_benchmarks for node in shown(snapshot).nodes}
    for state in ({"region": ("IT",)}, {"exclude": ("V1",)}, {"metric": ("ridge",)}, {"include": ("IT",)}):
        board = shown(snapshot, **state)
        assert board.nodes[0].title == f"Mean of {board.nodes[0].n_benchmarks} benchmarks"
        for node in (node for node in board.nodes if node.kind == "mean" and node.parent >= 0):
            complete = node.n_benchmarks == n_all[node.identifier]
            assert node.title == titles[node.identifier] + (
                "" if complete else f" ({node.n_benchmarks} of {n_all[node.identifier]})"
            )


@pytest.mark.parametrize("parameter", ["include", "exclude", "sort"])
def test_what_there_is_not_is_named_with_what_is_close(snapshot, parameter):
    value = "neural_visoin"
    with pytest.raises(UserError, match=parameter) as caught:
        shown(snapshot, **{parameter: value if parameter == "sort" else (value,)})
    assert "neural_vision" in str(caught.value)


def test_sorting_by_what_was_filtered_out_falls_back_and_says_so(snapshot):
    board = shown(snapshot, exclude=("IT",), sort="IT")
    assert board.rank.tolist() == sorted(board.rank)
    assert any(note.startswith("IT does not pass") for note in board.notes)


class TestNodes:
    def test_those_apart_have_headings_behind_the_tree(self, snapshot, board):
        shown_board = shown(snapshot)
        headings = [place for place, node in enumerate(shown_board.nodes) if node.kind == "heading"]
        assert [shown_board.nodes[place].title for place in headings] == ["Not in the averages", "Controls"]
        below = [[node.identifier for node in shown_board.nodes if node.parent == place] for place in headings]
        assert below == [board.benchmarks[:2], board.benchmarks[2:4]]
        assert headings[0] > max(shown_board.place(name) for name in snapshot.tree)
        assert [shown_board.n_all[0, place] for place in headings] == [2, 2]

    def test_parents_come_first_and_depths_count(self, snapshot):
        nodes = shown(snapshot).nodes
        for place, node in enumerate(nodes):
            assert node.parent < place
            assert node.depth == (nodes[node.parent].depth + 1 if node.parent >= 0 else 0)
        assert [node.n_benchmarks for node in nodes if node.identifier == "average_vision"] == [
            sum(node.kind == "benchmark" and _root(nodes, node) == "average_vision" for node in nodes)
        ]

    def test_means_of_means_are_open_at_first(self, snapshot):
        nodes = shown(snapshot).nodes
        assert [node.identifier for node in nodes if node.open] == [
            "average_vision", "neural_vision", "Not in the averages", "Controls",
        ]  # fmt: skip
        visible = [node.identifier for node in nodes if node.shown and node.kind == "mean"]
        assert visible == [
            "average_vision", "neural_vision", "V1", "V2", "V4", "IT", "behavior_vision", "engineering_vision",
        ]  # fmt: skip

    def test_open_nodes_show_what_is_below_if_they_are_shown(self, snapshot):
        nodes = shown(snapshot, open=("V1", "average_vision")).nodes
        assert {node.identifier for node in nodes if node.open} == {"V1", "average_vision"}
        assert [node.identifier for node in nodes if node.shown] == [
            "average_vision", "neural_vision", "behavior_vision", "engineering_vision",
            "Not in the averages", "Controls",
        ]  # fmt: skip
        assert [node.identifier for node in shown(snapshot, open=()).nodes if node.open] == []

    def test_columns_have_scores(self, snapshot):
        names = ("Simulated000.V1-pls", "Simulated006.V1-ridge")
        Score.objects.filter(benchmark__identifier__in=names[:1]).delete()
        revision.bump()
        board = shown(snapshot_for(EVERYBODY), include=names)
        assert [node.identifier for node in board.nodes if node.kind == "benchmark" and not node.listed] == [names[0]]
        assert (board.n_listed, board.n_benchmarks) == (1, 2)
        assert {node.identifier for node in board.nodes if node.open} >= {"average_vision", "V1"}  # few: all are open
        assert shown(snapshot_for(EVERYBODY), include=names, empty=True).n_listed == 2
        np.testing.assert_array_equal(board.values, shown(snapshot_for(EVERYBODY), include=names, empty=True).values)

    def test_toggling_leads_from_any_board_to_the_next(self, snapshot):
        board = shown(snapshot)
        place = board.place("V1")
        opened = board_of(snapshot, board.toggled(place))
        assert opened.nodes[place].open
        assert [node.identifier for node in board_of(snapshot, opened.toggled(place)).nodes if node.open] == [
            node.identifier for node in board.nodes if node.open
        ]


def _root(nodes, node):
    while node.parent >= 0:
        node = nodes[node.parent]
    return node.identifier


class TestNotes:
    @pytest.mark.parametrize(
        ("state", "texts"),
        [
            (
                {},
                [
                    "counts as 0",
                    "Ranks are by Global Score",
                    "Models are tested in pairs on the benchmarks that both have",
                ],
            ),
            ({"over": "scored"}, ["not comparable"]),
            ({"values": "raw"}, ["Raw values"]),
            ({"q": "vit"}, ["3 of 11 models of this board are shown. Ranks are among all 11"]),
            ({"q": "vit and resnet"}, ["0 of 11 models of this board", "capitals"]),
            ({"access": "public"}, ["of 24 benchmarks pass the filters"]),
            ({"parameters_min": 1.0}, ["1 model whose number of parameters is not known is excluded"]),
        ],
    )
    def test_what_is_said(self, snapshot, state, texts):
        first = snapshot.models[0].pk
        VisionModel.objects.filter(pk=first).update(parameters=None)
        revision.bump()
        notes = " ".join(shown(snapshot_for(EVERYBODY), **state).notes)
        assert all(text in notes for text in texts), notes

    def test_nothing_is_said_of_filters_where_there_are_none(self, snapshot):
        assert not any("filters" in note for note in shown(snapshot).notes)

    def test_a_day_is_named(self, board):
        snapshot = snapshot_for(EVERYBODY, at=date(2024, 6, 1))
        assert any("2024-06-01" in note for note in shown(snapshot, at=date(2024, 6, 1)).notes)


@pytest.mark.parametrize("state", [{"q": "nothing-of-the-kind"}, {"region": ("nowhere",)}, {"ceiling_min": 2.0}])
def test_boards_may_be_empty(snapshot, state):
    board = shown(snapshot, **state)
    assert board.values.shape == (len(board.models), len(board.nodes))
    assert not board.rank.any()
    assert 0 in board.values.shape
    assert board.notes


def test_an_empty_site_has_an_empty_board(db):
    board = shown(snapshot_for(EVERYBODY))
    assert board.models == board.nodes == ()
    assert board.root == -1


def test_only_controls_make_no_ranks(snapshot, board):
    only = shown(snapshot, include=(board.benchmarks[2],))
    assert [node.kind for node in only.nodes] == ["heading", "benchmark"]
    assert not only.rank.any()
    assert (np.diff(np.nan_to_num(only.values[:, 1], nan=-1)) <= 0).all()  # the best first, as in a report


class TestCache:
    def test_what_only_looks_different_is_the_same_board(self, snapshot):
        first = board_for(snapshot, BoardState(over="scored"))
        second = board_for(snapshot, BoardState(over="scored", open=("V1",), page=3, errors=True))
        assert second.values is first.values
        assert second.state.page == 3
        assert [node.identifier for node in second.nodes if node.open] == ["V1"]
        assert board_for(snapshot, BoardState()).values is not first.values

    def test_it_asks_the_database_for_influences_once(self, snapshot, django_assert_num_queries):
        with django_assert_num_queries(1):
            board_for(snapshot, BoardState())
        with django_assert_num_queries(0):
            board_for(snapshot, BoardState(q="vit"))

    def test_boards_of_an_audience_are_its_own(self, board, owner):
        private = board.models[-1]
        own = board_for(snapshot_for(owner), BoardState())
        public = board_for(snapshot_for(EVERYBODY), BoardState())
        assert private in {model.identifier for model in own.models}
        assert private not in {model.identifier for model in public.models}

    def test_it_does_not_outlive_a_revision(self, snapshot):
        first = board_for(snapshot, BoardState())
        revision.bump()
        assert board_for(snapshot_for(EVERYBODY), BoardState()).values is not first.values
        clear_caches()


def test_arrays_cannot_be_written_to(snapshot):
    board = shown(snapshot)
    for name in ("values", "errors", "states", "rank", "n_all", "shade", "node_best"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(board, name)[...] = 0


def test_a_model_is_listed_by_its_last_state(board, member):
    states = [f"net@epoch{epoch}" for epoch in (0, 5, 10)]
    for name, state in zip(board.models, states, strict=False):
        VisionModel.objects.filter(identifier=name).update(identifier=state, title="")
    snapshot = snapshot_for(member)
    listed = board_for(snapshot, BoardState())
    names = {model.identifier for model in listed.models}
    assert set(states) & names == {"net@epoch10"}
    assert "2 other states of models during training are not listed" in " ".join(listed.notes)
    everything = board_for(snapshot, BoardState.from_query({"states": "1"}))
    assert {model.identifier for model in everything.models} == {*names, *states}
    named = board_for(snapshot, BoardState(models=("net@epoch5",)))
    assert [model.identifier for model in named.models] == ["net@epoch5"]
