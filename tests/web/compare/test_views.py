"""The page and its files as visitors get them."""

import csv
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from django.urls import resolve

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel

pytestmark = pytest.mark.django_db
PAGE, SVG, CSV = "/vision/compare/", "/vision/compare/compare.svg", "/vision/compare/compare.csv"
X, Y = "Simulated000.V1-pls", "Simulated003.IT-pls"
MODES = [
    "",
    f"?x={X}&y={Y}",
    "?mode=models",
    "?mode=matrix",
    "?mode=matrix&level=benchmarks&least=3&method=spearman",
    "?mode=size",
]


class Reader(HTMLParser):
    """Elements with their attributes, and whether all that is opened is closed."""

    void = frozenset({"meta", "link", "input", "br", "hr", "img"})

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag, **wanted):
        return [
            found for name, found in self.elements if name == tag and all(found.get(k) == v for k, v in wanted.items())
        ]


@pytest.mark.parametrize("query", MODES)
def test_each_mode_is_a_page_with_a_chart_and_files(client, board, query):
    response = client.get(PAGE + query)
    assert response.status_code == 200
    page = Reader(response.content.decode())
    assert len([one for one in page.all("svg") if "chart" in one["class"].split()]) == 1
    assert not [one for _, one in page.elements if "style" in one or any(name.startswith("on") for name in one)]
    assert not [one for one in page.all("script") if "src" not in one and one.get("type") != "application/json"]
    ids = [one["id"] for _, one in page.elements if "id" in one]
    assert len(ids) == len(set(ids))
    links = {
        one["href"] for one in page.all("a") if one["href"].startswith(("/vision/compare/compare", "/vision/model"))
    }
    for link in links:
        resolve(link.split("?")[0])
    files = [link for link in links if "/compare/compare." in link]
    assert sorted(link.split("?")[0] for link in files) == [CSV, SVG]
    for link in files:
        answer = client.get(link)
        assert answer.status_code == 200
        assert "attachment" in answer["Content-Disposition"]


@pytest.mark.parametrize("query", MODES)
def test_the_file_shows_what_the_page_shows(client, board, query):
    page = client.get(PAGE + query).content.decode()
    shown = re.search(r'<svg [^>]*class="chart.*?</svg>', page, re.DOTALL)[0]
    root = ET.fromstring(client.get(SVG + query).content)
    space = "{http://www.w3.org/2000/svg}"
    texts = [one.text for one in root.iter(f"{space}text")]
    assert texts
    assert texts == [one.text for one in ET.fromstring(shown).iter(f"{space}text")]
    assert root.get("width").endswith("mm")


def test_forms_carry_along_what_they_do_not_ask(client, board):
    query = f"?x={X}&y={Y}&region=IT&over=scored&family=vit&exclude={Y}"
    page = Reader(client.get(PAGE + query).content.decode())
    hidden = {(one["name"], one["value"]) for one in page.all("input", type="hidden")}
    assert {("region", "IT"), ("over", "scored"), ("family", "vit"), ("exclude", Y), ("x", X), ("y", Y)} <= hidden
    modes = [one["href"] for one in page.all("a") if one["href"].startswith("?mode=")]
    assert all("family=vit" in href for href in modes[:2])
    assert any(one["href"] == "/vision/leaderboard/?family=vit&exclude=Simulated003.IT-pls&region=IT&over=scored"
               for one in page.all("a"))  # fmt: skip


def test_a_filter_is_named_and_can_be_removed(client, board):
    text = client.get(PAGE + "?region=IT&region=V1&runnable=1&parameters_max=25M").content.decode()
    page = Reader(text)
    hrefs = [one["href"] for one in page.all("a")]
    assert "?parameters_max=25000000&runnable=1&region=V1" in hrefs
    assert "?parameters_max=25000000&region=IT&region=V1" in hrefs
    assert "parameters to: 25,000,000" in text
    assert "family: vit" not in client.get(PAGE + "?mode=models&family=vit").content.decode()  # no effect there


MISTAKES = [
    ("?x=nothing-like-it", 404, "there is no benchmark or mean"),
    ("?mode=models&first=simulated-vit", 404, "did you mean"),
    (f"?x={X}&y=behavior_vision&region=IT", 400, "remove filters"),
    ("?region=nowhere", 400, "remove filters"),
    ("?mode=matrix&region=nowhere", 400, "there are fewer than two"),
    ("?mode=models&region=nowhere", 400, "no benchmark passes"),
    ("?mode=models&at=2020-01-01", 400, "choose a later day"),
    ("?mode=cube", 400, "give one of"),
    ("?colour=red&x=1", 400, "give one of"),
    ("?least=x", 400, "give a number of models from 3"),
    ("?nonsense=1", 400, "unknown parameter"),
    ("?q=(", 400, "missing"),
]


def test_what_cannot_be_compared_is_said(client, board):
    for query, status, said in MISTAKES:
        for address in (PAGE, SVG, CSV):
            response = client.get(address + query)
            assert response.status_code == status, query
            assert said in response.content.decode(), query
            assert response["Cache-Control"] == "no-store"


@pytest.mark.parametrize("query", MODES)
def test_queries_are_few_and_do_not_grow(client, board, query, django_assert_max_num_queries):
    with django_assert_max_num_queries(10):
        client.get(PAGE + query)
    with django_assert_max_num_queries(3):  # what was read is kept
        client.get(CSV + query)


def test_two_without_anything_in_common_say_so(client, board):
    Score.objects.filter(benchmark__identifier=X).delete()
    Score.objects.filter(model__identifier=board.models[0]).exclude(benchmark__identifier=Y).delete()
    Score.objects.filter(model__identifier=board.models[1], benchmark__identifier=Y).delete()
    for query, said in (
        (f"?x={X}&y={Y}", "No model has both values"),
        (
            f"?mode=models&first={board.models[0]}&second={board.models[1]}",
            "There is no benchmark on which both models have scores",
        ),
    ):
        response = client.get(PAGE + query)
        assert response.status_code == 200
        assert said in response.content.decode()
        ET.fromstring(client.get(SVG + query).content)


def test_an_empty_site_says_so(client, db):
    for query in MODES:
        response = client.get(PAGE + query)
        assert response.status_code == 200
        assert "no scores to compare yet" in response.content.decode()


def test_a_large_matrix_carries_its_numbers(client, board, django_user_model):
    from brainscore_web.leaderboard import simulation

    for model in (Score, VisionModel):
        model.objects.all().delete()
    Benchmark.objects.filter(is_mean=False).delete()
    while Benchmark.objects.exists():
        Benchmark.objects.filter(children=None).delete()
    simulation.simulate_leaderboard(models=15, benchmarks=54, private=0, seed=3)
    text = client.get(PAGE + "?mode=matrix&level=benchmarks&least=3").content.decode()
    data = json.loads(re.search(r'<script id="matrix-values" type="application/json">(.*?)</script>', text)[1])
    assert len(data["labels"]) == 54
    assert len(data["values"]) == 54 * 55 // 2
    assert data["values"][0] == 100
    assert len(re.findall(r"<path class=\"chart-run", text)) <= 42


def test_scores_against_size(board, client):
    VisionModel.objects.filter(identifier=board.models[0]).update(parameters=None)
    revision.bump()
    page = client.get(f"{PAGE}?mode=size&y={X}").content.decode()
    assert f"{X} against number of parameters" in page
    assert "1 model whose number of parameters is not known: not shown." in page
    lines = client.get(f"{CSV}?mode=size&y={X}").content.decode().splitlines()
    sizes = [int(line.split(",")[4]) for line in lines[1:]]
    assert sizes == sorted(sizes)
    known = {model.identifier: model.parameters for model in VisionModel.objects.exclude(parameters=None)}
    assert {line.split(",")[0]: int(line.split(",")[4]) for line in lines[1:]}.items() <= known.items()
    assert client.get(f"{PAGE}?mode=size&y=nothing").status_code == 404


def test_chosen_models_are_compared_side_by_side(board, client, scores):
    chosen = board.models[2::-1]  # in the order in which they were chosen, not by name
    query = "mode=models&" + "&".join(f"models={name}" for name in chosen)
    page = client.get(f"{PAGE}?{query}")
    comparison = page.context["comparison"]
    assert [model.identifier for model in comparison.models] == [*chosen[:2], chosen[2]]
    first, second = (
        client.get(f"{PAGE}?mode=models&first={chosen[0]}&second={name}").context["comparison"].means[0]
        for name in chosen[1:]
    )
    assert [test.difference for test in comparison.differences[0][1:]] == [
        first.test.difference,
        second.test.difference,
    ]
    assert comparison.differences[1][0].difference == -first.test.difference
    lines = list(csv.DictReader(client.get(f"{CSV}?{query}").content.decode().splitlines()))
    of_file = {(line["benchmark"], line["model"]): line["value"] for line in lines}
    for row in scores[scores.model.isin(chosen) & (scores.state == "scored")].itertuples():
        if of_file.get(row.benchmark, row.model):
            assert float(of_file[row.benchmark, row.model]) == pytest.approx(row.value, nan_ok=True)
    assert {model for _, model in of_file} == set(chosen)
    assert ET.fromstring(client.get(f"{SVG}?{query}").content).get("width").endswith("mm")
    form = Reader(page.content.decode())
    assert [one["value"] for one in form.all("input", name="models", list="models")] == [chosen[2], ""]

    many = "mode=models&" + "&".join(f"models={name}" for name in board.models[:8])
    page = client.get(f"{PAGE}?{many}")
    assert len(page.context["comparison"].models) == 6
    assert "8 models were chosen. These are the first 6 of them." in page.content.decode()
    # two fields and models that a board was limited to
    other = f"{PAGE}?mode=models&first={chosen[0]}&second={chosen[1]}&models={chosen[1]}"
    assert "difference of ceiled scores" in client.get(other).content.decode()
    assert client.get(f"{PAGE}?{query}&models=nothing-like-it").status_code == 404
