"""What is shown, against SciPy and pandas on what the database holds."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from django.contrib.auth.models import AnonymousUser
from scipy import stats

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.numerics.means import NOT_TESTED
from brainscore_web.compare.question import Question
from brainscore_web.compare.views import compare, csv_of
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Score, StoredInfluence
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

pytestmark = pytest.mark.django_db
X, Y = "Simulated000.V1-pls", "Simulated003.IT-pls"


def found(**question):
    state = {name: question.pop(name) for name in list(question) if name in BoardState.__dataclass_fields__}
    asked = Question(board=BoardState(**state), **question)
    return compare(snapshot_for(AnonymousUser(), at=asked.board.at), asked)


def rows_of(made):
    return list(csv.DictReader(io.StringIO(csv_of(made), newline="")))


@pytest.mark.parametrize(("values", "column"), [("ceiled", "value"), ("raw", "raw")])
def test_two_benchmarks_are_correlated_as_by_scipy(scores, values, column):
    made = found(x=X, y=Y, values=values)
    wide = scores.pivot(index="model", columns="benchmark", values=column)
    both = wide[[X, Y]].dropna()
    n = len(both)
    assert made.association.n == n
    assert 4 < n < 11
    pearson = stats.pearsonr(both[X], both[Y])
    assert made.association.pearson == pytest.approx(pearson.statistic)
    assert made.association.pearson_ci == pytest.approx(tuple(pearson.confidence_interval()))
    spearman = stats.spearmanr(both[X], both[Y]).statistic
    assert made.association.spearman == pytest.approx(spearman)
    half = stats.norm.ppf(0.975) * np.sqrt((1 + spearman**2 / 2) / (n - 3))
    assert made.association.spearman_ci == pytest.approx(tuple(np.tanh(np.arctanh(spearman) + np.array([-half, half]))))
    assert {model.identifier for model, _, _ in made.missing} == set(wide.index) - set(both.index)
    shown = {model.identifier: place for place, model in enumerate(made.models)}
    np.testing.assert_allclose(made.x.values[[shown[name] for name in both.index]], both[X])


def test_models_that_lack_a_value_are_named_with_the_reason(scores):
    made = found(x=X, y=Y)
    state = scores.set_index(["model", "benchmark"])["state"]
    for model, x, y in made.missing:
        for said, name in ((x, X), (y, Y)):
            kept = state.get((model.identifier, name))
            if kept is None:  # of no or only of the first version
                assert said in ("missing", "outdated")
            elif kept != "scored":
                assert said == kept
            else:
                assert float(said.split(" (")[0].replace("−", "-")) == pytest.approx(
                    scores.set_index(["model", "benchmark"]).loc[(model.identifier, name), "value"], abs=5e-4
                )


def test_means_are_those_of_the_leaderboard(board):
    from brainscore_web.leaderboard.board import board_of

    made = found(x="neural_vision", y="behavior_vision")
    shown = board_of(snapshot_for(AnonymousUser()), BoardState())
    np.testing.assert_array_equal(made.x.values, shown.values[:, shown.place("neural_vision")])
    assert made.x.is_mean
    assert any("count as 0" in note.text for note in made.notes)
    assert not any("count as 0" in note.text for note in found(x="V1", y="V2", over="scored").notes)


def test_filters_choose_models_and_what_means_are_over_but_not_what_is_named(board):
    few = found(x=X, y="neural_vision", family=("vit",), region=("IT",))
    assert {model.family for model in few.models} == {"vit"}
    assert few.x.identifier == X  # although it is not of IT
    of_it = found(x=X, y="IT", family=("vit",))
    by_name = [dict(zip([m.identifier for m in one.models], one.y.values, strict=True)) for one in (few, of_it)]
    assert by_name[0] == by_name[1]
    assert len(by_name[0]) == 3
    with pytest.raises(UserError, match="the filters exclude all benchmarks of 'behavior_vision'"):
        found(x=X, y="behavior_vision", region=("IT",))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"x": "IT", "y": "Simulated.IT"}, "Simulated.IT is part of IT"),
        ({"x": "Simulated003.IT-pls", "y": "neural_vision"}, "is part of Neural"),
        ({"x": X, "y": X}, "with itself"),
    ],
)
def test_what_is_correlated_by_what_it_is_made_of_says_so(board, question, said):
    assert any(said in note.text for note in found(**question).notes)


def test_scores_of_one_data_set_share_their_noise(board):
    Benchmark.objects.filter(identifier=Y).update(identifier="Simulated000.IT-pls")
    assert any("Both use data of Simulated000" in note.text for note in found(x=X, y="Simulated000.IT-pls").notes)


def test_what_is_not_named_is_chosen_apart(board):
    assert [found().x.identifier, found().y.identifier] == ["neural_vision", "behavior_vision"]
    alone = found(region=("IT",))
    assert not any("is part of" in note.text for note in alone.notes)
    again = found(x="behavior_vision")
    assert again.y.identifier == "neural_vision"


def two(first, second, scores, column="value"):
    wide = scores.pivot(index="benchmark", columns="model", values=column)
    both = wide[[first, second]].dropna()
    return both[first] - both[second]


def effects(model):
    """How each of the thirty stimuli influences the scores of a model, by benchmark."""
    rows = StoredInfluence.objects.filter(score__model__identifier=model, score__version="2")
    rows = rows.select_related("score__benchmark")
    return {row.score.benchmark.identifier: np.frombuffer(row.content, "<f4", 30, 8 * 30).astype(float) for row in rows}


@pytest.mark.parametrize("other", [3, 9])
def test_two_models_differ_as_by_the_paired_t_test(board, scores, other):
    first, second = board.models[0], board.models[other]
    made = found(mode="models", first=first, second=second)
    difference, known = two(first, second, scores), [effects(model) for model in (first, second)]
    shown = [one for group in made.groups for one in group.differences]
    assert {one.identifier for one in shown} == set(difference.index)
    assert len(made.summary.differences) == len(difference)
    variance = {}
    for one in shown:
        assert one.test.difference == pytest.approx(difference[one.identifier])
        if other == 9:  # nothing is stored of that model
            assert one.outcome == "untested"
            assert np.isnan([one.test.error, one.test.low, one.test.high]).all()
            assert one.test.reason == f"{NOT_TESTED} on {one.identifier}"
            continue
        variance[one.identifier] = np.sum((known[0][one.identifier] - known[1][one.identifier]) ** 2)
        assert one.test.error == pytest.approx(np.sqrt(variance[one.identifier]))
        half = stats.t.ppf(0.975, 29) * one.test.error
        assert (one.test.low, one.test.high) == pytest.approx((one.test.difference - half, one.test.difference + half))
        assert one.outcome == ("win" if one.test.low > 0 else "loss" if one.test.high < 0 else "tie")
    outcomes = [one.outcome for one in shown]
    summary = made.summary
    tally = [outcomes.count(name) for name in ("win", "tie", "loss", "untested")]
    assert [summary.counts[name] for name in ("win", "tie", "loss", "untested")] == tally
    assert made.mean.difference == pytest.approx(difference.mean())
    if other == 9:
        assert made.mean.reason.startswith(NOT_TESTED)
        assert any(NOT_TESTED in note.text for note in made.notes)
        assert {one.outcome for one in made.means} == {"untested"}
        return
    assert not any(NOT_TESTED in note.text for note in made.notes)
    assert made.mean.error == pytest.approx(np.sqrt(sum(variance.values())) / len(variance))


def test_means_are_compared_on_the_common_benchmarks(board, scores):
    first, second = board.models[0], board.models[3]
    made = {one.identifier: one for one in found(mode="models", first=first, second=second).means}
    one = made["behavior_vision"]  # without further nodes below
    names = [node.identifier for node in Benchmark.objects.filter(parent__identifier="behavior_vision")]
    difference = two(first, second, scores)
    common = [name for name in names if name in difference.index]
    assert one.test.difference == pytest.approx(difference[common].mean())
    known = [effects(model) for model in (first, second)]
    variance = sum(np.sum((known[0][name] - known[1][name]) ** 2) for name in common)
    of_units = variance / len(common) ** 2
    share = len(common) / len(names)  # one of them lacks the others, which may differ as these do
    of_others = difference[common].var() * ((1 - share) ** 2 / len(common) + (1 - share) / len(names))
    assert 0 < share < 1
    assert one.test.error == pytest.approx(np.sqrt(of_units + of_others))


def test_means_over_less_than_half_of_the_weight_are_not_compared(board):
    first, second = board.models[0], board.models[3]
    names = Benchmark.objects.filter(parent__identifier="behavior_vision").values_list("identifier", flat=True)
    names, half = list(names), len(names) // 2
    Score.objects.filter(model__identifier=first, benchmark__identifier__in=names[:half]).delete()
    Score.objects.filter(model__identifier=second, benchmark__identifier__in=names[-half:]).delete()
    revision.bump()
    made = {one.identifier: one for one in found(mode="models", first=first, second=second).means}
    one = made["behavior_vision"]
    assert one.outcome == "untested"
    assert one.test.reason.startswith("not comparable: both models were scored on")


def test_differences_of_raw_scores_are_not_tested(board, scores):
    first, second = board.models[0], board.models[3]
    made = found(mode="models", first=first, second=second, values="raw")
    difference = two(first, second, scores, "raw")
    shown = {one.identifier: one for group in made.groups for one in group.differences}
    assert set(shown) == set(difference.index)
    assert {one.outcome for one in shown.values()} == {"untested"}
    assert all(one.test.difference == pytest.approx(difference[name]) for name, one in shown.items())


def test_benchmarks_are_grouped_by_region_and_sorted(board):
    made = found(mode="models", first=board.models[0], second=board.models[1])
    assert [group.title for group in made.groups] == ["V1", "V2", "V4", "IT", "Behavior", "Engineering"]
    for group in made.groups:
        values = [one.test.difference for one in group.differences]
        assert values == sorted(values, reverse=True)
        for outcome, word in (("win", "win"), ("tie", "tie")):
            n = group.counts[outcome]
            assert (f"{n} {word}" in group.tally) == (n > 0)
    listed = {one.identifier for group in made.groups for one in group.differences} | {
        one.identifier for one in made.absent
    }
    assert listed == set(board.benchmarks)


def test_exchanging_two_models_turns_every_sign(board):
    here, there = (found(mode="models", first=board.models[a], second=board.models[b]) for a, b in ((0, 5), (5, 0)))
    assert (here.summary.counts["win"], here.summary.counts["loss"]) == (
        there.summary.counts["loss"],
        there.summary.counts["win"],
    )
    assert here.mean.difference == -there.mean.difference


def test_filters_on_models_do_not_hide_those_that_are_named(board):
    made = found(mode="models", first=board.models[0], second=board.models[1], family=("vit",), q="nothing")
    assert (made.first.identifier, made.second.identifier) == tuple(board.models[:2])


def test_filters_on_benchmarks_choose_what_is_compared(board, scores):
    made = found(mode="models", first=board.models[0], second=board.models[1], region=("IT",))
    assert [group.title for group in made.groups] == ["IT"]


def test_controls_and_what_is_in_no_mean_are_not_compared(board):
    Benchmark.objects.filter(identifier=X).update(in_tree=False, control=True)
    Benchmark.objects.get(identifier=X).save()  # counts a revision
    made = found(mode="models", first=board.models[0], second=board.models[1])
    assert X not in {one.identifier for group in made.groups for one in group.differences}
    assert found(x=X, y=Y).x.identifier == X  # but can be asked for


def test_a_model_against_itself_ties_everywhere(board):
    made = found(mode="models", first=board.models[0], second=board.models[0])
    assert set(made.summary.counts) <= {"tie", "untested"}
    assert any("with itself" in note.text for note in made.notes)


def test_the_two_best_are_compared_where_none_is_named(board):
    from brainscore_web.leaderboard.board import board_of

    best = board_of(snapshot_for(AnonymousUser()), BoardState()).models
    made = found(mode="models")
    assert (made.first.identifier, made.second.identifier) == (best[0].identifier, best[1].identifier)
    assert found(mode="models", first=best[0].identifier).second.identifier == best[1].identifier
    assert found(mode="models", second=best[0].identifier).first.identifier == best[1].identifier


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("least", [3, 8, 11])
def test_the_matrix_is_that_of_pandas(board, scores, method, least):
    made = found(mode="matrix", level="benchmarks", method=method, least=least)
    names = [node.identifier for node in made.nodes]
    wide = scores.pivot(index="model", columns="benchmark", values="value")[names]
    wanted = wide.corr(method, min_periods=least).to_numpy()
    np.testing.assert_allclose(made.shown, wanted, atol=1e-12)
    there = wide.notna().astype(int)
    np.testing.assert_array_equal(made.n, there.T @ there)
    upper = np.triu_indices(len(names), 1)
    assert made.n_blank == np.isnan(wanted[upper]).sum()
    ordered = sorted(wanted[upper][~np.isnan(wanted[upper])])
    if len(ordered) >= 16:
        assert [pair.value for pair in made.highest] == pytest.approx(ordered[::-1][:8])
        assert [pair.value for pair in made.lowest] == pytest.approx(ordered[:8])


def test_pairs_of_a_part_and_its_whole_are_not_named(board):
    made = found(mode="matrix", level="all", least=3)
    tree = snapshot_for(AnonymousUser()).tree
    for pair in (*made.highest, *made.lowest):
        assert pair.first.identifier not in tree.ancestors(pair.second.identifier)
        assert pair.second.identifier not in tree.ancestors(pair.first.identifier)
    assert {node.kind for node in made.nodes} == {"mean", "benchmark"}


def test_a_matrix_is_kept_as_long_as_what_it_is_of(board):
    first = found(mode="matrix", level="benchmarks", x=X)
    assert found(mode="matrix", level="benchmarks") is first
    Score.objects.filter(benchmark__identifier=X, state="scored").first().delete()
    again = found(mode="matrix", level="benchmarks")
    assert again is not first
    assert again.n.sum() < first.n.sum()


def test_what_a_script_reads_of_a_matrix_is_what_is_shown(board):
    made = found(mode="matrix", level="benchmarks", least=9)
    data = made.data()
    n = len(made.nodes)
    full = np.full((n, n), np.nan)
    full[np.triu_indices(n)] = [np.nan if one is None else one for one in data["values"]]
    np.testing.assert_allclose(full[np.triu_indices(n)], np.round(made.shown[np.triu_indices(n)] * 100))


def test_groups_of_a_matrix_are_runs_of_regions(board):
    made = found(mode="matrix", level="benchmarks")
    assert [group.title for group in made.groups] == ["V1", "V2", "V4", "IT", "Behavior", "Engineering"]
    assert [group.start for group in made.groups[1:]] == [group.stop for group in made.groups[:-1]]
    assert made.groups[-1].stop == len(made.nodes)


def test_unknown_names_meet_the_nearest_that_are_visible(board):
    with pytest.raises(UnknownIdentifier, match="no model 'simulated-convnet-00'") as caught:
        found(mode="models", first="simulated-convnet-00", second=board.models[0])
    assert "'simulated-convnet-000'" in caught.value.remedy
    with pytest.raises(UnknownIdentifier) as caught:
        found(x="Simulated000.V1-plz")
    assert f"'{X}'" in caught.value.remedy
    with pytest.raises(UnknownIdentifier) as caught:
        found(x="qqqqqqqq")
    assert caught.value.remedy == "choose a benchmark or mean from the list"
    assert found(x=X.upper(), y="neural").x.identifier == X  # titles and other cases are understood
    assert found(x=X, y="neural").y.identifier == "neural_vision"


def test_the_table_of_two_benchmarks_has_all_models_at_full_precision(scores):
    made = found(x=X, y=Y)
    rows = rows_of(made)
    assert [row["model"] for row in rows] == [model.identifier for model in made.models]
    table = scores.set_index(["model", "benchmark"])
    for row in rows:
        for name in (X, Y):
            if (row["model"], name) in table.index and not pd.isna(table.loc[(row["model"], name), "value"]):
                kept = table.loc[(row["model"], name)]
                assert float(row[name]) == kept["value"]
                assert row[f"{name}:state"] == "scored"
                assert row[f"{name}:error"] == ("" if pd.isna(kept["error"]) else repr(float(kept["error"])))
            else:
                assert row[name] == ""
                assert row[f"{name}:state"] != "scored"


def test_the_table_of_two_models_has_all_benchmarks(board, scores):
    first, second = board.models[0], board.models[3]
    made = found(mode="models", first=first, second=second)
    rows = {row["benchmark"]: row for row in rows_of(made)}
    difference = two(first, second, scores)
    for name in board.benchmarks:
        if name in difference:
            assert float(rows[name]["difference"]) == pytest.approx(difference[name])
            assert rows[name]["version"] == "2"
        else:
            assert rows[name]["difference"] == ""
            assert rows[name]["outcome"].startswith("first ")
    assert rows["neural_vision"]["group"] == "mean"


def test_the_table_of_the_matrix_has_all_pairs(board):
    made = found(mode="matrix", level="benchmarks", least=3)
    rows = rows_of(made)
    n = len(made.nodes)
    assert len(rows) == n * (n - 1) // 2
    names = [node.identifier for node in made.nodes]
    for row in rows[::17]:
        i, j = names.index(row["first"]), names.index(row["second"])
        assert float(row["pearson"]) == made.pearson[i, j]
        assert float(row["spearman"]) == made.spearman[i, j]
        assert int(row["n"]) == made.n[i, j]


def test_nothing_at_all(db):
    for mode in ("benchmarks", "models", "matrix"):
        with pytest.raises(UserError) as caught:
            found(mode=mode)
        assert caught.value.remedy


def test_wayback_compares_what_was_known(board, scores):
    from datetime import date

    made = found(x=X, y=Y, at=date(2024, 7, 1))  # before the second versions
    old = {
        row[0]: row[1]
        for row in Score.objects.filter(
            benchmark__identifier=X, version="1", state="scored", model__visibility="public"
        ).values_list("model__identifier", "value")
    }
    shown = {m.identifier: v for m, v in zip(made.models, made.x.values, strict=True) if np.isfinite(v)}
    assert shown == pytest.approx(old)
