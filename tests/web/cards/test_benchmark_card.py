"""What a benchmark's card shows, against what is computed here from the database."""

import re
import statistics
import xml.etree.ElementTree as ET
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from brainscore_core.formatting import number_text
from brainscore_core.metrics import ABOVE_CEILING
from brainscore_core.numerics.means import NOT_TESTED
from brainscore_core.numerics.ranks import ranks_from_influence
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.cards.benchmark import benchmark_card, benchmark_data, find_benchmark
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, StoredInfluence
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

from .._databases import fill
from .conftest import as_read

FIRST = "Simulated000.V1-pls"  # public; Simulated002.V4-pls is withheld
OPENED = "open=average_vision&open=neural_vision&open=V1&open=Simulated.V1"  # the nodes above it


@pytest.fixture
def card_of():
    def make(identifier, visitor):
        board = board_for(snapshot_for(visitor), BoardState())
        benchmark = find_benchmark(identifier)
        return as_read(benchmark_card(benchmark, board, benchmark_data(benchmark, visitor)))

    return make


@pytest.mark.parametrize("identifier", [FIRST, "V1", "Simulated.IT", "average_vision"])
def test_models_in_order(board, averaged, card_of, member, identifier):
    expected = {
        model: one[identifier]
        for model, one in averaged(model__visibility="public").items()
        if 2 * one[identifier].coverage.n_scored >= max(1, one[identifier].coverage.n_all)
    }
    card = card_of(identifier, member)
    order = sorted(expected, key=lambda model: (-expected[model].value, model))
    assert [line.identifier for line in card.models] == order
    values = np.array([expected[model].value for model in order])
    for number, line in enumerate(card.models):
        assert line.value == pytest.approx(values[number])
        assert line.rank == f"{1 + sum(values > values[number])}"
    assert card.median == f"{np.median(values):.3f}"
    assert card.best == f"{values.max():.3f}"
    assert sum(one.number for one in card.bins) == len(values)
    assert len(card.models) + sum(len(group.rows) for group in card.unscored) == 11


def test_ranks_have_intervals_where_models_can_be_compared(board, card_of, member, get, read):
    lines = {line.identifier: line for line in card_of(FIRST, member).models}
    rows = StoredInfluence.objects.filter(score__benchmark__identifier=FIRST, score__version="2")
    effects = {
        row.score.model.identifier: np.frombuffer(row.content, "<f4", 30, 8 * 30) for row in rows if row.score_id
    }
    influence = np.array([effects.get(name, np.full(30, np.nan)) for name in lines])
    ranks = ranks_from_influence([line.value for line in lines.values()], [influence])
    for number, line in enumerate(lines.values()):
        best, worst = ranks.best[number], ranks.worst[number]
        places = f"{best}–{worst}" if best != worst else f"{best}"
        assert line.places == places
        assert bool(line.group) == ranks.tested[number]
    assert 0 < ranks.tested.sum() < len(lines)  # one model has no errors, and no influences
    assert "with the range of each rank (95 % confidence)" in read(get(f"/vision/benchmark/{FIRST}/"))
    StoredInfluence.objects.all().delete()
    revision.bump()
    card = card_of(FIRST, member)
    assert card.untested == NOT_TESTED
    assert {(line.places, line.group) for line in card.models} == {("", "")}
    page = read(get(f"/vision/benchmark/{FIRST}/"))
    assert f"Ranks are {NOT_TESTED}." in page
    assert "range of each rank" not in page


def test_intervals_raw_scores_and_receipts(board, card_of, member):
    lines = {line.identifier: line for line in card_of(FIRST, member).models}
    rows = Score.objects.filter(benchmark__identifier=FIRST, version="2", state="scored", model__visibility="public")
    assert set(lines) == {row.model.identifier for row in rows}
    for row in rows:
        line = lines[row.model.identifier]
        assert line.receipt == row.receipt
        assert line.raw.startswith(f"{row.raw:.3f}")
        interval = "" if row.low is None else f" ({row.low:.3f}–{row.high:.3f})"
        assert line.score == f"{row.value:.3f}{interval}"
        assert line.reason == row.error_reason


def test_versions(board, card_of, member):
    BenchmarkVersion.objects.filter(benchmark__identifier=FIRST, version="2").update(changes="Other splits.")
    card = card_of(FIRST, member)
    assert [(line.version, line.current, line.changes) for line in card.versions] == [
        ("2", True, "Other splits."), ("1", False, ""),
    ]  # fmt: skip
    for line in card.versions:
        scored = Score.objects.filter(benchmark__identifier=FIRST, version=line.version, state="scored")
        assert line.n_models == scored.filter(model__visibility="public").values("model").distinct().count()
        ceiling = BenchmarkVersion.objects.get(benchmark__identifier=FIRST, version=line.version)
        assert line.ceiling == f"{ceiling.ceiling:.3f} ({ceiling.ceiling_low:.3f}–{ceiling.ceiling_high:.3f})"


def test_discussions_are_where_the_plugin_or_the_operators_say(board, get, settings):
    settings.DISCUSSIONS = "https://forum.example/?q={identifier}"
    address = f"/vision/benchmark/{FIRST}/"
    assert f'<a href="https://forum.example/?q={FIRST}" rel="noopener">Discuss</a>' in get(address).content.decode()
    for stated, shown in (("https://a.example/1", "https://a.example/1"), ("javascript:x", "https://forum.example/")):
        Benchmark.objects.filter(identifier=FIRST).update(details={"discussion": stated})
        revision.bump()
        assert f'href="{shown}' in get(address).content.decode()
    assert "javascript:x" not in get(address).content.decode()


def test_versions_say_what_differs_from_the_one_before(board, card_of, member):
    """In ceilings, conditions, and the scores of models that have both."""
    versions = {row.version: row for row in BenchmarkVersion.objects.filter(benchmark__identifier=FIRST)}
    BenchmarkVersion.objects.filter(pk=versions["2"].pk).update(ceiling=0.5, condition="these two monkeys")
    scores = Score.objects.filter(benchmark__identifier=FIRST, state="scored", model__visibility="public")
    values = [dict(scores.filter(version=version).values_list("model", "value")) for version in "12"]
    both = values[0].keys() & values[1].keys()
    median = statistics.median(values[1][model] - values[0][model] for model in both)
    newest, first = card_of(FIRST, member).versions
    assert newest.facts == (
        f"ceiling {versions['1'].ceiling:.3f} → 0.500",
        "scores hold for these two monkeys",
        f"median change of the score of {len(both)} models: {number_text(median, plus=True)}",
    )
    assert first.facts == ()


@pytest.mark.parametrize(
    ("meaning", "words"),
    [("reliability", "agree with each other"), ("upper bound", "best possible model"), ("human-human", "people agree")],
)
def test_ceiling_in_words(board, get, read, meaning, words):
    BenchmarkVersion.objects.filter(benchmark__identifier=FIRST, version="2").update(
        ceiling=0.8, ceiling_error=0.01, ceiling_low=0.78, ceiling_high=0.82, ceiling_level=0.95,
        ceiling_meaning=meaning, ceiling_estimates="median over neuroids", lower_bound=0.7,
    )  # fmt: skip
    said = read(get(f"/vision/benchmark/{FIRST}/"))
    assert "0.800 (0.780–0.820) , lower bound 0.700" in said
    assert words in said
    assert "The interval estimates: median over neuroids" in said


def test_for_whom_results_hold(board, get, read):
    few = "these 2 subjects only; other subjects: unknown"
    BenchmarkVersion.objects.filter(benchmark__identifier=FIRST, version="2").update(condition=few)
    revision.bump()
    assert f"Intervals and ranks hold for {few}." in read(get(f"/vision/benchmark/{FIRST}/"))
    scored = Score.objects.filter(benchmark__identifier=FIRST, version="2", state="scored", model__visibility="public")
    first, second = scored.values_list("model__identifier", flat=True).distinct().order_by("model__identifier")[:2]
    card = read(get(f"/vision/model/{first}/?{OPENED}"))
    assert few in card  # beside the score
    assert "holds for these 2 subjects only, on 1 of " in card  # beside the means
    compared = read(get(f"/vision/compare/?mode=models&first={first}&second={second}"))
    assert "Outcomes hold for these 2 subjects only, on 1 of " in compared
    assert "Means and ranks hold for these 2 subjects only, on 1 of " in read(get("/vision/models/"))
    assert "Means, intervals and ranks hold for these 2 subjects only, on 1 of " in read(get("/"))
    assert few[:30] in read(get("/vision/benchmarks/"))
    for query in (f"x={FIRST}&y={FIRST}", f"mode=size&y={FIRST}"):
        assert f"hold for {few}." in read(get(f"/vision/compare/?{query}"))


def test_a_score_above_the_ceiling_is_shown_with_the_finding(board, get, read):
    finding = f"{ABOVE_CEILING}: 1.940 (1.770–2.140) before it was limited to 1"
    score = Score.objects.filter(benchmark__identifier=FIRST, version="2", state="scored").first()
    Score.objects.filter(pk=score.pk).update(value=1.0, error=0.1, low=None, high=None, error_reason=finding)
    revision.bump()
    for page in (f"/vision/benchmark/{FIRST}/", f"/vision/model/{score.model.identifier}/?{OPENED}"):
        assert f"1.000 {finding}"[:60] in read(get(page))
    assert list(Score.objects.above_ceiling()) == [Score.objects.get(pk=score.pk)]
    found = get("/api/v1/scores?above_ceiling=true").json()
    assert [row["error_reason"] for row in found["items"]] == [finding]


def test_no_ceiling(board, get, read):
    BenchmarkVersion.objects.filter(benchmark__identifier=FIRST).update(ceiling=None, ceiling_meaning="none")
    assert "This benchmark has no ceiling: its scores are not divided by one." in read(
        get(f"/vision/benchmark/{FIRST}/")
    )
    BenchmarkVersion.objects.filter(benchmark__identifier=FIRST).update(ceiling_meaning="")
    revision.bump()
    assert "The ceiling is not known yet" in read(get(f"/vision/benchmark/{FIRST}/"))


def test_what_it_measures_and_credit(board, get, read):
    row = Benchmark.objects.get(identifier=FIRST)
    row.description, row.n_subjects, row.n_neuroids, row.source = "Says what.", 2, 168, "https://example.org/data"
    row.credit = "A. Contributor"
    row.details = {
        "visual_degrees": 8.0, "duration_ms": 100, "mapping": "linear", "hemisphere": "left",
        "notes": ["One."], "data_notes": ["Two."], "distribution": "other-package",
    }  # fmt: skip
    row.save()
    said = read(get(f"/vision/benchmark/{FIRST}/"))
    for text in (
        "Says what.",
        "Subjects 2",
        "Neuroids 168",
        "natural images, n = 100, 8°, 100 ms",
        "Mapping linear",
        "Species macaque",
        "Hemisphere left",
        "Contributed by A. Contributor",
        "Data from https://example.org/data",
        "One. Two.",
        "pip install brainscore other-package",
        "@misc{simulated000",
    ):
        assert text in said, text


def test_the_way_from_the_root(board, get):
    page = get("/vision/benchmark/Simulated006.V1-ridge/").content.decode()
    way = re.search(r'<nav aria-label="Place in the tree".*?</nav>', page, re.S)[0]
    assert re.findall(r'href="([^"]+)"', way) == [
        "/vision/benchmarks/", "/vision/benchmark/average_vision/", "/vision/benchmark/neural_vision/",
        "/vision/benchmark/V1/", "/vision/benchmark/Simulated.V1/",
    ]  # fmt: skip


def test_a_mean_shows_what_is_below_and_leads_to_correlations(board, card_of, member, get, client):
    card = card_of("neural_vision", member)
    assert [(child.identifier, child.n_benchmarks) for child in card.children] == [
        ("V1", 4),
        ("V2", 4),
        ("V4", 4),
        ("IT", 4),
    ]
    assert (card.ceiling, card.code, card.versions, card.samples) == (None, None, (), ())
    for identifier, level in (("neural_vision", "means"), ("Simulated.IT", "benchmarks")):
        page = get(f"/vision/benchmark/{identifier}/").content.decode()
        link = re.search(r'href="(/vision/compare/[^"]+)"', page)[1].replace("&amp;", "&")
        assert link == f"/vision/compare/?mode=matrix&level={level}&include={identifier}"
        assert client.get(link).status_code == 200


def test_links_to_the_leaderboard_and_to_compare_work(board, get, client):
    page = get(f"/vision/benchmark/{FIRST}/").content.decode()
    links = [
        link.replace("&amp;", "&") for link in re.findall(r'href="(/vision/(?:compare|leaderboard)/\?[^"]+)"', page)
    ]
    assert len(links) == 2
    assert [client.get(link).status_code for link in links] == [200, 200]


def test_controls_and_what_is_not_in_the_averages(board, get, read):
    Benchmark.objects.filter(identifier=FIRST).update(control=True, in_tree=False)
    Benchmark.objects.filter(identifier="Simulated001.V2-pls").update(in_tree=False)
    revision.bump()
    assert "a control: it checks the method, and is not part of the averages" in read(
        get(f"/vision/benchmark/{FIRST}/")
    )
    assert "not in the averages" in read(get("/vision/benchmark/Simulated001.V2-pls/"))
    said = read(get("/vision/benchmarks/"))
    assert said.index("Not in the averages 1") < said.index("Controls 1")


def test_thirty_models_unless_all_are_asked_for(db, get, read):
    fill(models=34, benchmarks=12, private=0)
    few, every = (get(f"/vision/benchmark/V1/{query}").content.decode() for query in ("", "?models=all"))
    assert few.count("simulated-") < every.count("simulated-")
    assert few.count('<th scope="row"><a href="/vision/model/') == 30
    assert every.count('<th scope="row"><a href="/vision/model/') == 34
    assert "Show all 34 models" in few
    assert "Show all" not in every
    assert "models is" in read(get("/vision/benchmark/V1/?models=some", status=400))


def test_the_figure(board, get):
    answer = get(f"/vision/benchmark/{FIRST}/?download=svg")
    assert answer["Content-Type"] == "image/svg+xml"
    assert answer["Content-Disposition"] == 'attachment; filename="models.svg"'
    text = "".join(ET.fromstring(answer.content.decode()).itertext())
    scored = Score.objects.filter(benchmark__identifier=FIRST, version="2", state="scored", model__visibility="public")
    assert all(row.model.identifier in text for row in scored)
    assert board.models[-1] not in text


def test_a_benchmark_without_models(db, get, read):
    Benchmark.objects.create(identifier="alone", version="1", in_tree=False)
    Benchmark.objects.create(identifier="mean", is_mean=True)
    reasons = {"alone": "a score on this benchmark", "mean": "been scored on enough of the benchmarks"}
    for identifier, reason in reasons.items():
        assert f"No model has {reason}" in read(get(f"/vision/benchmark/{identifier}/"))


def test_failed_and_missing_models_are_named_with_reasons(board, card_of, member):
    groups = {}
    for name in board.benchmarks:
        for group in card_of(name, member).unscored:
            groups.setdefault(group.state.word, []).extend(group.rows)
    assert {"failed", "missing", "outdated", "not applicable"} <= set(groups)
    withheld = "It raised an error; its text is withheld since the benchmark's data are private"
    assert {reason for _, _, reason in groups["failed"]} == {"ValueError: simulated failure", withheld}
    assert {reason for _, _, reason in groups["missing"]} == {""}
    assert all(reason.startswith("version 1: ") for _, _, reason in groups["outdated"])


def test_private_models_do_not_count_among_versions(board, card_of, member, staff):
    row = Score.objects.get(model__identifier=board.models[-1], benchmark__identifier=FIRST, version="1")
    assert row.state == "scored"
    of_all, of_public = (card_of(FIRST, who).versions[1].n_models for who in (staff, member))
    assert of_all == of_public + 1


def test_a_newer_version_that_does_not_count_yet(board, card_of, member):
    row = Benchmark.objects.get(identifier=FIRST)
    BenchmarkVersion.objects.create(benchmark=row, version="3", since=timezone.now() + timedelta(days=1))
    card = card_of(FIRST, member)
    assert [(line.version, line.current) for line in card.versions] == [("3", False), ("2", True), ("1", False)]
    assert card.ceiling.text == card.versions[1].ceiling


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    "address",
    [
        "/vision/leaderboard/?open=V1",
        "/vision/leaderboard/data.json?open=V1",
        "/vision/leaderboard/export.csv",
        "/vision/benchmark/{benchmark}/",
        "/vision/benchmark/{benchmark}/?download=svg",
        "/vision/benchmark/V1/",
        "/vision/model/{first}/",
        "/vision/model/{second}/",
        "/vision/compare/?x={benchmark}&y={other}",
        "/vision/compare/?mode=matrix&level=benchmarks&least=3",
        "/vision/compare/?mode=models&first={first}&second={second}",
        "/api/v1/leaderboard",
        "/api/v1/scores",
    ],
)
def test_numbers_from_before_there_was_a_limit_break_no_page(board, client, address):
    benchmark, other = board.benchmarks[0], board.benchmarks[4]
    far = {"value": 1.7e308, "error": 1.6e308, "low": -1.7e308, "high": 1.7e308, "raw": 1.7e308, "raw_error": 1.6e308}
    of = Score.objects.filter(benchmark__identifier=benchmark)
    of.update(state="scored", **far)
    of.filter(model__identifier=board.models[1]).update(value=-1.7e308, raw=-1.7e308)
    address = address.format(benchmark=benchmark, other=other, first=board.models[0], second=board.models[1])
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer.getvalue()


def test_a_name_its_meaning_and_the_access_to_its_data(board, get, read):
    Benchmark.objects.filter(identifier=FIRST).update(title="Gratings in V1", species="macaque")
    Benchmark.objects.filter(identifier="Simulated002.V4-pls").update(title="Gratings in V4")
    revision.bump()
    text = read(get(f"/vision/benchmark/{FIRST}/"))
    assert "V1, macaque, PLS regression" in text
    assert "Stimuli and measurements are public. This site has no samples of the stimuli yet." in text
    withheld = read(get("/vision/benchmark/Simulated002.V4-pls/"))
    assert "Stimuli and measurements are withheld, so that models cannot be fitted to them." in withheld
    page = get("/vision/benchmarks/").content.decode()
    for name, word in ((FIRST, "public"), ("Simulated002.V4-pls", "withheld")):
        row = page.split(f">{name}</a>")[1].split("</tr>")[0]
        assert f"<td>{word}</td>" in row


@pytest.mark.parametrize(
    "address",
    [
        "/vision/leaderboard/?picks=1", "/vision/leaderboard/data.json", "/vision/benchmarks/", "/vision/benchmark/V1/",
        "/vision/model/{model}/", "/vision/compare/?mode=models", "/vision/compare/?mode=matrix&level=all",
        "/vision/compare/?mode=size&y={name}", "/vision/compare/?x={name}", "/vision/benchmark/{name}/",
    ],
)  # fmt: skip
def test_every_page_calls_a_benchmark_by_its_identifier(board, get, address):
    Benchmark.objects.filter(identifier=FIRST).update(title="Gratings in V1")
    revision.bump()
    page = get(address.format(name=FIRST, model=board.models[0])).content.decode()
    assert FIRST in page
    assert "Gratings in V1" not in page


def test_an_installed_benchmark_names_its_package(board, get, read):
    Benchmark.objects.create(
        identifier="Simulated2026.V1-pls", access="public", details={"distribution": "lab-benchmarks"}
    )
    revision.bump()
    assert "the authors of the package lab-benchmarks" in read(get("/vision/benchmark/Simulated2026.V1-pls/"))


def test_best_score_over_time_and_links_to_the_paper(board, get):
    scores = Score.objects.filter(benchmark__identifier=FIRST, state="scored", model__visibility="public")
    scores.update(created=timezone.now())
    Benchmark.objects.filter(identifier=FIRST).update(bibtex="@misc{a, doi = {10.1/x}}", source="https://example.org/a")
    revision.bump()
    html = get(f"/vision/benchmark/{FIRST}/").content.decode()
    assert re.findall(r'<li><a href="([^"]+)" rel="noopener">(\w+)<', html)[:2] == [
        ("https://doi.org/10.1/x", "Paper"),
        ("https://example.org/a", "Source"),
    ]
    assert "records-chart" not in html  # all receipts are of one day
    lowest = scores.order_by("value").first()
    Score.objects.filter(pk=lowest.pk).update(created=timezone.now() - timedelta(days=30))
    revision.bump()
    html = get(f"/vision/benchmark/{FIRST}/").content.decode()
    described = re.search(r'<desc id="records-chart-desc">(.*?)</desc>', html)[1]
    assert described.startswith(f"{timezone.now() - timedelta(days=30):%Y-%m-%d}: {lowest.model.identifier}")
    assert described.count("; ") == 1
