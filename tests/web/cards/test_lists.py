"""Lists of benchmarks and models: filters, search, order, pages."""

import re

import numpy as np
import pytest

from brainscore_web.leaderboard.models import Benchmark, VisionModel

from .._databases import fill


def listed(answer, kind):
    return re.findall(rf'<th scope="row"><a href="/vision/{kind}/([^"]+)/">', answer.content.decode())


def test_benchmarks_as_the_tree(board, averaged, get):
    answer = get("/vision/benchmarks/")
    some = next(iter(averaged(model__visibility="public").values()))
    assert listed(answer, "benchmark") == list(some)


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("region=V1", {"region": "V1"}),
        ("region=V1&region=IT", {"region__in": ["V1", "IT"]}),
        ("species=human&metric=ridge", {"species": "human", "metric": "ridge"}),
        ("access=public", {"access": "public"}),
        ("q=cka", {"identifier__contains": "cka"}),
        ("q=CKA+macaque", {"identifier__contains": "cka", "species": "macaque"}),
        ("ceiling_min=0.8", {"versions__version": "2", "versions__ceiling__gte": 0.8}),
        ("q=no-such-thing", {"pk": -1}),
        ("task=object+recognition&q=", {"task": "object recognition"}),
        ("include=V4", {"region": "V4"}),
    ],
)
def test_filters_of_benchmarks(board, get, read, query, where):
    answer = get(f"/vision/benchmarks/?{query}")
    expected = set(Benchmark.objects.filter(is_mean=False, **where).values_list("identifier", flat=True))
    means = set(Benchmark.objects.filter(is_mean=True).values_list("identifier", flat=True))
    assert set(listed(answer, "benchmark")) - means == expected
    assert f"{len(expected)} of 24 benchmarks" in read(answer)
    parents = dict(Benchmark.objects.values_list("identifier", "parent__identifier"))
    above = set()
    for name in expected:
        while parents[name]:
            above.add(name := parents[name])
    assert set(listed(answer, "benchmark")) & means == above


def test_a_filter_shows_how_many_benchmarks_it_matches(board, get):
    page = get("/vision/benchmarks/").content.decode()
    expected = Benchmark.objects.filter(is_mean=False, region="V1").count()
    assert f'<option value="V1">V1 ({expected})</option>' in page


def test_numbers_of_benchmarks(board, averaged, get, read):
    expected = averaged(model__visibility="public")
    page = get("/vision/benchmarks/").content.decode()
    for name in (board.benchmarks[0], "V4"):
        row = re.search(rf'href="/vision/benchmark/{name}/">.*?</tr>', page, re.S)[0]
        values = [one[name].value for one in expected.values() if one[name].value is not None]
        assert re.findall(r'"to-right">([^<]*)<', row)[-3:] == [
            str(len(values)),
            f"{max(values):.3f}",
            f"{np.median(values):.3f}",
        ]


def test_filters_in_force_can_be_removed(board, get):
    page = get("/vision/benchmarks/?region=V1&region=IT&q=pls").content.decode()
    chips = re.search(r'<ul class="chips".*?</ul>', page, re.S)[0]
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="([^"]+)"', chips)]
    assert links == ["?region=IT&region=V1", "?region=V1&q=pls", "?region=IT&q=pls", "?"]
    assert [get(f"/vision/benchmarks/{link}").status_code for link in links] == [200] * 4


@pytest.mark.parametrize("address", ["/vision/benchmarks/?regoin=V1", "/vision/models/?q=(", "/vision/models/?page=0"])
def test_what_cannot_be_read_is_refused(board, get, address):
    get(address, status=400)


def test_models_in_the_order_of_the_leaderboard(board, averaged, get):
    expected = {model: one["average_vision"].value for model, one in averaged(model__visibility="public").items()}
    answer = get("/vision/models/")
    assert listed(answer, "model") == sorted(expected, key=lambda model: -expected[model])
    coverages = {model: one["average_vision"].coverage for model, one in averaged(model__visibility="public").items()}
    for model, row in zip(listed(answer, "model"), answer.content.decode().split("<tr>")[2:], strict=True):
        assert f">{coverages[model].n_scored} of {coverages[model].n_all}</td>" in row
    assert listed(get("/vision/models/?sort=model"), "model") == sorted(expected)
    assert listed(get("/vision/models/?sort=-model"), "model") == sorted(expected, reverse=True)


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("q=vit+OR+recurrent", {"family__in": ["vit", "recurrent"]}),
        ("architecture=CNN", {"architecture": "CNN"}),
        ("training=none&runnable=1", {"training_data": "none", "runnable": True}),
        ("parameters_max=5M", {"parameters__lte": 5_000_000}),
    ],
)
def test_filters_of_models(board, get, query, where):
    expected = set(VisionModel.objects.filter(visibility="public", **where).values_list("identifier", flat=True))
    assert set(listed(get(f"/vision/models/?{query}"), "model")) == expected
    assert expected


def test_models_that_were_not_scored_yet_come_last(board, get, read, owner):
    VisionModel.objects.create(identifier="new", architecture="CNN")
    VisionModel.objects.create(identifier="secret", architecture="CNN", owner=owner, visibility="private")
    for query, who, names in (
        ("", None, ["new"]),
        ("?architecture=CNN", owner, ["new", "secret private"]),
        ("?q=vit", None, []),
    ):
        said = read(get(f"/vision/models/{query}", who))
        assert ("Without results" in said) is bool(names)
        if names:
            assert said.split("Without results ")[1].startswith(" CNN ".join(names))
    assert "secret" not in get("/vision/models/").content.decode()


def test_pages(db, get, read):
    fill(models=53, benchmarks=6, private=0)
    first, second, beyond = (get(f"/vision/models/?sort=model{page}") for page in ("", "&page=2", "&page=9"))
    assert (len(listed(first, "model")), len(listed(second, "model"))) == (50, 3)
    assert set(listed(first, "model")).isdisjoint(listed(second, "model"))
    assert "53 of 53 models with results, page 2 of 2" in read(beyond)


def test_an_earlier_day(board, get, read):
    assert "as of: 2024-03-01" in read(get("/vision/benchmarks/?at=2024-03-01"))
    assert get("/vision/models/?at=2023-01-01").status_code == 200
