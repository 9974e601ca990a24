"""What a model's card shows, against what is computed here from the database."""

import re
from urllib.parse import quote

import numpy as np
import pytest
from django.urls import reverse

from brainscore_core.provenance import NOT_REPEATABLE
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.cards.model import find_model, model_card, model_data
from brainscore_web.leaderboard.cards.scores import standings
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, LayerProfile, Score, VisionModel
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

from .conftest import as_read

PUBLIC = {"model__visibility": "public"}


@pytest.fixture
def card_of():
    def make(identifier, visitor, opened=None):
        board = board_for(snapshot_for(visitor), BoardState())
        model = find_model(identifier, visitor)
        return as_read(model_card(model, board, model_data(model, visitor), opened))

    return make


def test_values_ranks_best_and_median(board, averaged, card_of, member):
    expected = averaged(**PUBLIC)
    for model in board.models[:3]:
        rows = card_of(model, member).rows
        assert [row.identifier for row in rows] == list(expected[model])
        for row in rows:
            mine = expected[model][row.identifier]
            enough = 2 * mine.coverage.n_scored >= max(1, mine.coverage.n_all)
            values = np.array(
                [
                    one.value
                    for one in (one[row.identifier] for one in expected.values())
                    if 2 * one.coverage.n_scored >= max(1, one.coverage.n_all)
                ]
            )
            assert row.value == (pytest.approx(mine.value) if enough else None)
            assert row.best == f"{values.max():.3f}"
            assert row.median == f"{np.median(values):.3f}"
            assert row.standing.among == len(values)
            if enough:
                assert row.standing.rank == 1 + sum(values > mine.value + 1e-12)
                assert row.standing.ties == sum(np.isclose(values, mine.value, atol=1e-12)) - 1
            else:
                assert row.standing.rank == 0
            if row.kind == "benchmark":
                assert row.state_name == mine.state
            else:
                assert row.coverage == f"{mine.coverage.n_scored} of {mine.coverage.n_all}"
            if mine.error is None:
                assert "(" not in row.score
            elif row.kind == "mean":
                assert row.score == f"{mine.value:.3f} ({mine.ci[0]:.3f}–{mine.ci[1]:.3f})"
            else:
                low, high = Score.objects.values_list("low", "high").get(receipt=row.receipt)
                assert row.score == f"{mine.value:.3f} ({low:.3f}–{high:.3f})"


def test_scores_are_marked_if_the_model_was_trained_on_the_stimuli(board, card_of, member, get, read):
    model = VisionModel.objects.filter(trained_on=["ImageNet (ILSVRC 2012)"]).first()
    taken_from = dict(Benchmark.objects.filter(is_mean=False).values_list("identifier", "taken_from"))
    card = card_of(model.identifier, member)
    signs = {None: "°", "ImageNet (ILSVRC 2012)": "†"}
    found = set()
    for row in card.rows:
        if row.kind == "benchmark" and row.state_name == "scored":
            names = taken_from[row.identifier]
            sign = signs.get(None if names is None else (names or [""])[0], "")
            assert (sign in row.exposure) if sign else row.exposure == ""
            found.add(sign)
        else:
            assert row.exposure == ""
    assert found == {"", "°", "†"}
    facts = {fact.name: fact.value for fact in card.facts}
    assert facts["Trained on"] == "ImageNet (ILSVRC 2012)"
    opened = "&".join(
        f"open={name}" for name in Benchmark.objects.filter(is_mean=True).values_list("identifier", flat=True)
    )
    html = get(f"/vision/model/{model.identifier}/?{opened}").content.decode()
    assert "which the model was trained on" in html
    name = next(name for name, names in taken_from.items() if names == ["ImageNet (ILSVRC 2012)"])
    html = get(f"/vision/benchmark/{name}/").content.decode()
    assert "Stimuli taken from" in html
    assert "trained on it: the stimuli are from ImageNet (ILSVRC 2012)" in html


def test_the_newest_score_of_the_version_is_shown_with_its_receipt(board, card_of, member):
    one = Score.objects.filter(model__identifier=board.models[0], state="scored", version="2").first()
    Score.objects.create(
        receipt="newer", model=one.model, benchmark=one.benchmark, version="2", state="scored", value=0.123, error=0.01,
        low=0.1, high=0.15, raw=0.1, raw_error=0.008, created=one.created.replace(year=2025),
    )  # fmt: skip
    row = next(row for row in card_of(board.models[0], member).rows if row.identifier == one.benchmark.identifier)
    assert (row.score, row.raw) == ("0.123 (0.100–0.150)", "0.100 (standard error 0.008)")
    assert (row.receipt, row.created[:4]) == ("newer", "2025")


def test_a_score_says_that_responses_are_not_a_function_of_the_stimulus(board, card_of, member):
    score = Score.objects.filter(model__identifier=board.models[0], state="scored", version="2").first()
    score.document = {"notes": [f"the responses of it are {NOT_REPEATABLE}: they are random"]}
    score.save()
    reasons = {row.receipt: row.reason for row in card_of(board.models[0], member).rows}
    assert reasons.pop(score.receipt) == "responses are not a function of the stimulus"
    assert not any(NOT_REPEATABLE in reason for reason in reasons.values())


@pytest.mark.parametrize(
    ("angle", "fact"),
    [
        (
            {"degrees": 8, "stated": False, "others": [{"degrees": 4, "value": 0.2}]},
            "8°, not stated by the model: a default",
        ),
        ({"degrees": 6, "stated": True, "others": []}, "6°, as the model states"),
        (None, None),
    ],
)
def test_the_visual_angle_is_that_of_the_last_receipt_with_one(board, card_of, member, angle, fact):
    score = Score.objects.filter(model__identifier=board.models[0], state="scored", version="2").first()
    score.document = {"model": {"visual_angle": angle}}
    score.save()
    assert dict(fact[:2] for fact in card_of(board.models[0], member).facts).get("Visual angle") == fact


def test_what_has_no_score_says_why(board, card_of, member):
    card = card_of(board.models[1], member)
    of_state = {group.state.word: group.rows for group in card.unscored}
    counted = {}
    for benchmark in Benchmark.objects.filter(is_mean=False):
        rows = Score.objects.filter(model__identifier=board.models[1], benchmark=benchmark)
        current = rows.filter(version=benchmark.version).first()
        state = current.state if current else "outdated" if rows else "missing"
        reason = (
            benchmark.reason_to(member, current.state, current.reason)
            if current
            else f"version 1: {_text(rows.get())}"
            if rows
            else ""
        )
        if state != "scored":
            counted.setdefault(state, set()).add((benchmark.identifier, benchmark.identifier, reason))
    assert {state: set(found) for state, found in of_state.items()} == counted
    assert counted


def _text(score):
    return score.state if score.value is None else f"{score.value:.3f} ({score.low:.3f}–{score.high:.3f})"


def test_equal_values_share_a_rank():
    values = np.array([[0.5], [0.5], [0.52], [0.9], [0.1], [np.nan]])
    first, _, third, fourth, last, none = (standings(values, row)[0] for row in range(6))
    assert (first.rank, first.ties, first.text) == (3, 1, "3=")
    assert (third.rank, fourth.rank, last.rank) == (2, 1, 5)
    assert (none.rank, none.among, none.text) == (0, 5, "")


def test_the_roots_rank_is_that_of_the_leaderboard(board, card_of, member):
    shown = board_for(snapshot_for(member), BoardState())
    for place, model in enumerate(shown.models):
        first = card_of(model.identifier, member).headline[0]
        letters, best, worst = shown.groups[place], shown.best[place], shown.worst[place]
        assert first.standing.rank == shown.rank[place]
        assert first.places == ("" if not best else f"{best}–{worst}" if best != worst else f"{best}")
        assert first.group == letters


def test_metadata_and_layers(board, get, read):
    model = VisionModel.objects.get(identifier=board.models[0])
    model.title, model.parameters, model.size_mb = "A <b>model</b>", 61_100_840, 244.4
    model.regions = {"V1": ["conv1"], "IT": ["layer4.0", "layer4.1"]}
    model.details = {
        "notes": ["Needs care & attention."], "code_licence": "MIT", "weights_licence": "CC-BY-4.0",
        "total_parameters": 62_000_000, "image_size": 224,
    }  # fmt: skip
    model.save()
    answer = get(f"/vision/model/{model.identifier}/")
    assert "A &lt;b&gt;model&lt;/b&gt;" in answer.content.decode()
    said = read(answer)
    for text in (
        "61.1 M trained, 62.0 M in all", "244 MB", "224 × 224 pixels", "Needs care & attention.",
        "Licence of the code MIT", "Licence of the weights CC-BY-4.0", "layer4.0 , layer4.1", model.identifier,
    ):  # fmt: skip
        assert text in said, text


def test_profiles_of_layers(board, card_of, member, get, read):
    model = VisionModel.objects.get(identifier=board.models[0])
    model.regions = {"IT": ["b"], "V1": ["a"]}
    model.save()
    scores = [
        {
            "layer": layer,
            "features": n,
            "score": score,
            "error": error,
            "ci": ci,
            "raw": None,
            "halves": [],
            "reason": why,
        }
        for layer, n, score, error, ci, why in (
            ("a", 64, 0.2, 0.01, [0.18, 0.22], None),
            ("b", 1200, None, None, [None, None], "constant"),
            ("c", 10, 0.4, 0.02, [0.36, 0.44], None),
        )
    ]
    document = {"scores": scores, "best": "c", "ceiling": 0.8, "stimuli": 300, "held_out": None, "no_halves": "too few"}
    for region in ("V1", "IT"):
        LayerProfile.objects.create(model=model, benchmark=f"Some.{region}", region=region, document=document)
    LayerProfile.objects.create(model=model, benchmark="Broken", region="V2", document={"scores": "none"})
    profiles = card_of(model.identifier, member).profiles
    assert [profile.region for profile in profiles] == ["IT", "V1"]  # as in the model's map; what is broken is left out
    assert [(line.layer, line.mark, line.score, line.features) for line in profiles[0].lines] == [
        ("a", "", "0.200 (0.180–0.220)", "64"),
        ("b", "chosen", "constant", "1,200"),
        ("c", "best", "0.400 (0.360–0.440)", "10"),
    ]
    answer = get(f"/vision/model/{model.identifier}/")
    assert "300 stimuli; relative to the ceiling, 0.800; too few." in read(answer)
    assert answer.content.decode().count("chart-lines") >= 2


def test_benchmarks_never_run_are_only_counted(board, card_of, member, get, read):
    model = board.models[0]
    below = Benchmark.objects.filter(parent__identifier__in=("IT", "Simulated.IT"), is_mean=False)
    other = Benchmark.objects.filter(is_mean=False, parent__identifier="V1").first().identifier
    Score.objects.filter(model__identifier=model, benchmark__in=below).delete()
    Score.objects.filter(model__identifier=model, benchmark__identifier=other).delete()
    revision.bump()
    opened = ("average_vision", "neural_vision", "V1")
    rows = {row.identifier: row for row in card_of(model, member, opened).rows}
    names = [row.identifier for row in rows.values() if row.state_name == "missing"]
    assert {other, *below.values_list("identifier", flat=True)} <= set(names)
    assert not any(rows[name].shown for name in (*names, "IT"))
    assert rows["neural_vision"].missing >= below.count()
    assert rows["V1"].missing >= 1
    page = read(get(f"/vision/model/{model}/?{'&'.join(f'open={name}' for name in opened)}"))
    assert f"V1 {rows['V1'].missing} missing" in page
    assert all(name in page for name in names)  # in the list below


def test_the_figure_has_the_means_with_best_and_median(board, card_of, member, get):
    VisionModel.objects.create(identifier="new")
    model = board.models[0]
    rows = [
        row for row in card_of(model, member).rows if row.kind == "mean" and row.depth < 3 and row.value is not None
    ]
    chart = (
        get(f"/vision/model/{model}/").content.decode().partition('class="card-figure"')[2].partition("</figure>")[0]
    )
    assert chart.count("chart-row-label") == len(rows) > 4
    texts = (f"{row.title}: {row.score}, best model {row.best}, median model {row.median}" for row in rows)
    assert "; ".join(texts) in chart
    assert "card-figure" not in get("/vision/model/new/").content.decode()


def test_links_to_the_discussion_are_web_addresses(board, get):
    for kind, rows, identifier in (
        ("model", VisionModel.objects, board.models[0]),
        ("benchmark", Benchmark.objects, board.benchmarks[0]),
    ):
        for address, shown in (("https://forum.example/1", True), ("javascript:alert(1)", False)):
            rows.filter(identifier=identifier).update(details={"discussion": address})
            revision.bump()
            assert (f'href="{address}"' in get(f"/vision/{kind}/{identifier}/").content.decode()) is shown


def test_a_model_without_scores_has_a_card(board, get, read):
    VisionModel.objects.create(identifier="new", bibtex="@misc{new}")
    assert "This model has not been scored yet." in read(get("/vision/model/new/"))


def test_an_empty_site(db, get, read):
    VisionModel.objects.create(identifier="new", regions=["not", "a", "map"], details=["nor", "this"])
    assert "This model has not been scored yet." in read(get("/vision/model/new/"))
    assert "0 of 0 models with results" in read(get("/vision/models/"))
    assert "0 of 0 benchmarks" in read(get("/vision/benchmarks/"))


def test_a_model_that_cannot_be_run_shows_no_code(board, get, read):
    VisionModel.objects.filter(identifier=board.models[0]).update(runnable=False)
    said = read(get(f"/vision/model/{board.models[0]}/"))
    assert "This model cannot be loaded from published code." in said
    assert "brainscore_vision" not in said


def test_the_link_to_compare_works(board, get, read):
    page = get(f"/vision/model/{board.models[0]}/").content.decode()
    link = re.search(r'href="(/vision/compare/[^"]+)"', page)[1].replace("&amp;", "&")
    assert board.models[0] in read(get(link))


def test_citation(board, get):
    answer = get(f"/vision/model/{board.models[0]}/?download=bibtex")
    assert answer.content.decode() == "@misc{model000, title = {Simulated model 0}, year = {2026}}\n"
    assert answer["Content-Type"].startswith("application/x-bibtex")
    assert answer["Content-Disposition"] == f'attachment; filename="{board.models[0]}.bib"'


def test_opening_nodes(board, card_of, member, get):
    address = f"/vision/model/{board.models[0]}/"
    page = get(f"{address}?open=average_vision&open=neural_vision&open=no-such-node").content.decode()
    shown = set(re.findall(r'data-node="([^"]+)"', page))
    parents = dict(Benchmark.objects.values_list("identifier", "parent__identifier"))
    opened = {None, "average_vision", "neural_vision"}
    assert shown == {name for name, parent in parents.items() if parent in opened}
    every = card_of(board.models[0], member, ["average_vision", "V1"])
    toggles = {row.identifier: row.toggle for row in every.rows}
    assert toggles["V1"] == "open=average_vision"
    assert toggles["average_vision"] == "open=V1"
    assert toggles["neural_vision"] == "open=V1&open=average_vision&open=neural_vision"
    assert 'open="' not in page
    assert get(f"{address}?open=").content.decode().count("data-node=") == 2  # the two roots


@pytest.mark.parametrize("query", ["?opne=V1", "?download=svg", "?at=2024-01-01"])
def test_unknown_parameters_are_refused(board, get, read, query):
    assert query[1:].split("=")[query[1] == "d"] in read(get(f"/vision/model/{board.models[0]}/{query}", status=400))


def test_ceilings_are_drawn_where_there_is_one(board, card_of, member):
    BenchmarkVersion.objects.filter(benchmark__identifier=board.benchmarks[0]).update(ceiling=None)
    from brainscore_web.leaderboard import revision

    revision.bump()
    rows = {row.identifier: row for row in card_of(board.models[0], member).rows}
    without = {board.benchmarks[0], "V1", "neural_vision", "average_vision"}
    drawn = {name for name, row in rows.items() if "bar-ceiling" in row.bar}
    assert drawn == set(rows) - without


def test_scores_during_training_are_on_the_cards_of_all_states(board, member, get, read):
    states = ["lab/net@epoch0", "lab/net@epoch5", "lab/net@epoch10"]
    for name, state in zip(board.models, states, strict=False):
        VisionModel.objects.filter(identifier=name).update(identifier=state, title="")
    last = get(reverse("cards:model", args=["vision", states[2]]))
    assert "During training" in read(last)
    assert all(f"/model/{quote(state)}/" in last.content.decode() for state in states[:2])
    one = snapshot_for(member)
    column = int(np.flatnonzero(np.isfinite(one.value[[one.model_index[state] for state in states]]).all(axis=0))[0])
    assert f"{one.value[one.model_index[states[0]], column]:.3f}" in read(last)
    first = read(get(reverse("cards:model", args=["vision", states[0]]) + "?history=rank"))
    assert "This is a state of lab/net during its training. The leaderboard lists lab/net@epoch10" in first
    assert "During training" not in read(get(reverse("cards:model", args=["vision", board.models[4]])))
