"""What a search finds, in which order, for whom; and how the index follows the data."""

import pytest
from django.contrib.auth.models import AnonymousUser

from brainscore_web.accounts.models import Lab
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.pages.models import News, Page
from brainscore_web.search.index import refresh
from brainscore_web.search.models import Entry, Words
from brainscore_web.search.results import search

VISITOR = AnonymousUser()
MODELS = ("resnet-50", "alexnet", "alexnet-places", "places-alexnet", "CORnet-S", "simulated-vit7")
BENCHMARKS = ("MajajHong2015public.IT-pls", "MajajHong2015public.V4-pls", "Rajalingham2018-i2n")


@pytest.fixture
def models(db, owner):
    """Models and benchmarks whose names are written in several ways, and a private model."""
    rows = [VisionModel(identifier=name, family="convnet") for name in MODELS]
    VisionModel.objects.bulk_create(
        [*rows, VisionModel(identifier="alexnet-secret", owner=owner, visibility="private")]
    )
    Benchmark.objects.bulk_create([Benchmark(identifier=name) for name in BENCHMARKS])
    revision.bump()
    refresh()


def names(text, visitor=VISITOR, **options):
    """Titles of results by kind."""
    groups = search(text, visitor, **{"most": 10, **options}).groups
    return {group.kind: [result.entry.title for result in group.results] for group in groups}


def test_names_match_in_whole_by_beginnings_and_by_components(models):
    for text, kind, expected in (
        ("alexnet", "model", ["alexnet", "alexnet-places", "places-alexnet"]),
        ("ALEXNET pl", "model", ["alexnet-places", "places-alexnet"]),
        ("ResNet50", "model", ["resnet-50"]),
        ("resnet 50", "model", ["resnet-50"]),
        ("cornets", "model", ["CORnet-S"]),
        ("vit", "model", ["simulated-vit7"]),
        ("majajhong2015", "benchmark", list(BENCHMARKS[:2])),
        ("hong pls v4", "benchmark", [BENCHMARKS[1]]),
        ("Hong2015", "benchmark", list(BENCHMARKS[:2])),
        ("majajhong2015public.it-pls", "benchmark", [BENCHMARKS[0]]),
        ("2018", "benchmark", [BENCHMARKS[2]]),
    ):
        assert names(text)[kind] == expected, text


def test_misspelt_names_lead_to_similar_ones(models):
    for text, best in (
        ("alexnt", "alexnet"),
        ("rsnet-50", "resnet-50"),
        ("MajjHong2015.IT-pls", BENCHMARKS[0]),
        ("Rajalinghm", BENCHMARKS[2]),
    ):
        results = search(text, VISITOR, most=5)
        assert results.similar, text
        assert results.groups[0].results[0].entry.title == best, text


def test_the_group_of_the_best_match_is_first(models):
    Page.objects.create(slug="networks", title="AlexNet and others", body="A text.")
    refresh()
    assert next(iter(names("alexnet"))) == "model"
    assert next(iter(names("alexnet and"))) == "page"
    assert names("alexnet", kind="model", most=1, start=1) == {"model": ["alexnet-places"]}


def test_texts_are_found_with_their_context(models):
    News.objects.create(slug="x", title="Something", body="Long ago. " * 40 + "The <b>okapi</b> came.", draft=False)
    refresh()
    (result,) = search("okapi", VISITOR, most=5).groups[0].results
    assert "&lt;b&gt;<mark>okapi</mark>&lt;/b&gt; came" in result.excerpt
    assert len(result.excerpt) < 300
    assert "competition" in names("competition 2024")


def test_any_text_is_a_search(models):
    for text in (
        "",
        " ",
        "-",
        "\0",
        "'",
        '"*) OR (',
        "a" * 10_000,
        "x " * 5_000,
        "NEAR(",
        "ß İ ﬁ",
        "\uff9e",
        "\uff9e x",
    ):
        search(text, VISITOR, most=5)


def test_the_documentation_is_found(db):
    refresh()
    assert "How certain is a score" in names("how certain is a score")["tutorial"]
    assert names("jobs:run")["tutorial"]


def test_private_models_are_found_by_their_owner_only(models, owner, member, staff):
    private = {"model": ["alexnet-secret"]}
    assert names("alexnet-secret", owner) == names("alexnet-secret", staff) == private
    for visitor in (VISITOR, member):
        assert "alexnet-secret" not in names("alexnet-secrt", visitor).get("model", [])
        assert "alexnet-secret" not in names("alexnet", visitor)["model"]
    VisionModel.objects.filter(identifier="alexnet").update(visibility="private")  # the index does not know yet
    assert names("alexnet")["model"] == ["alexnet-places", "places-alexnet"]


def test_unpublished_texts_are_for_administrators(db, staff):
    Page.objects.create(slug="plan", title="Plan of okapis", published=False)
    News.objects.create(slug="soon", title="News of okapis", body="x", draft=True)
    refresh()
    assert names("okapis") == {}
    assert names("okapis", staff) == {"page": ["Plan of okapis"], "news": ["News of okapis"]}


def test_people_are_found_by_their_public_page_only(owner):
    owner.public_page, owner.affiliation = True, "Institute of Okapis"
    owner.save()
    refresh()
    assert names("olga") == names("okapis") == {"person": ["Olga Owner"]}
    type(owner).objects.update(public_page=False)  # the index does not know yet
    assert names("olga") == {}
    refresh()
    assert not Entry.objects.filter(kind="person").exists()


def test_labs_are_found(owner):
    Lab.objects.create(name="Okapi Lab", slug="okapi-lab", description="We see <b>quaggas</b>.")
    refresh()
    assert names("okapi") == names("quaggas") == {"lab": ["Okapi Lab"]}
    Lab.objects.all().delete()  # the index does not know yet
    assert names("okapi") == {}


def test_the_index_follows_the_data(models):
    assert refresh() == 0
    VisionModel.objects.filter(identifier="alexnet").delete()
    VisionModel.objects.filter(identifier="resnet-50").update(family="okapi")
    revision.bump()
    assert refresh() == 2
    assert names("alexnet")["model"] == ["alexnet-places", "places-alexnet"]
    assert names("okapi") == {"model": ["resnet-50"]}
    assert Words.objects.count() == Entry.objects.count()
    Entry.objects.filter(kind="model").delete()  # as if an earlier database was restored
    assert refresh() == len(MODELS)


def test_queries_do_not_grow_with_results(models, django_assert_num_queries):
    for text, number in (("alexnet", 3), ("alexnt", 4)):
        with django_assert_num_queries(number):
            search(text, VISITOR, most=10)
