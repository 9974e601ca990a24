"""The competitions of 2022 and 2024: their texts, and standings from the site's scores."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from brainscore_web.competitions.actions import PAST, create_past_competitions
from brainscore_web.competitions.models import Award, Competition, Entry, listing
from brainscore_web.leaderboard.models import Benchmark, VisionModel

from .._html import html_problems

BAKER = [f"Baker2022{kind}-accuracy_delta" for kind in ("fragmented", "frankenstein", "inverted")]
BMD = [f"BMD2024.{kind}Behavioral-accuracy_distance" for kind in ("dotted_1", "dotted_2", "texture_1", "texture_2")]
COGGAN = [f"tong.Coggan2024_fMRI.{region}-rdm" for region in ("V1", "V2", "V4", "IT")]
MODELS = [
    "hmax", "alexnet", "CORnet-S", "resnet-50-robust", "voneresnet-50-non_stochastic", "resnet18-local_aggregation",
    "grcnn_robust_v1", "custom_model_cv_18_dagger_408", "ViT_L_32_imagenet1k", "mobilenet_v2_1.4_224", "pixels",
]  # fmt: skip
LISTED_2022 = [[names[0] for _, names in listing(track["fields"]["listed"])] for track in PAST["2022"]["tracks"]]


def standings(client, slug="2024", **asked):
    return json.loads(client.get(f"/competitions/{slug}/standings.json", asked).content)


@pytest.mark.parametrize("year", ["2022", "2024"])
def test_the_footer_has_the_contact_of_the_site(client, db, settings, year):
    settings.CONTACT = "mailto:help@example.org"
    text = client.get(f"/competition{year}/").content.decode()
    assert '<li><a href="mailto:help@example.org">Contact</a></li>' in text
    assert 'id="contact_"' in text
    assert html_problems(text) == []


def test_the_page_of_2024_tells_what_the_document_does(client, db):
    text = client.get("/competition2024/").content.decode()
    assert "<del>June 30, 2024</del> → <ins>July 8, 2024</ins>" in text
    for told in (
        "$10,000", "$3,000, $2,000", "Martin Schrimpf", "York University", "Jim DiCarlo",
        "Do Neural Networks Care How Parts", "Andrea Ivan Costantino", "help modelers game the system",
        "August 6, 2024", "<li>hmax</li>", "What is not available here", "No entry has a place",
        'href="https://github.com/brain-score/vision/issues"',
    ):  # fmt: skip
        assert told in text, told
    assert (
        text.index("Do Neural Networks Care How Parts") < text.index("In 2022, models competed") < text.index("<table")
    )
    assert "not scored here" not in text
    assert text.index("entries without a place, with the reasons") < text.index("missing: all 11")


def test_the_page_of_2022_has_all_facts_of_the_published_page(client, db):
    text = client.get("/competition2022/").content.decode()
    for fact in (
        "February 28, 2022", "23:59", "Cosyne 2022, Cascais, Portugal", "March 21–22, 2022", "$6,000",
        "Brain-Score and beyond: confronting brain-like ANNs with neuroscientific data",
        "Prizes: $2,000, $1,250, $750.", "Prizes: $1,000.", "over V1, V2, V4, IT and Behavior, with equal weights",
        "over Neural predictivity and Response properties", "25 components and 10 splits", "from a single monkey",
        "V1 › Response properties › Surround modulation", "winners were contacted",
        "the 33 benchmarks", "the 1 benchmark",
    ):  # fmt: skip
        assert fact in text, fact
    assert text.index("1.</strong> <strong>effnetb1") < text.index("(second or third place not known)")
    assert text.count("What is not available here") == 1
    assert text.count("Its entries are not known here.") == 2
    assert Award.objects.filter(track__competition__slug="2022", place=1).get().title.startswith("effnetb1_cutmixpatch")


def test_addresses(client, db):
    assert client.get("/competitions/2024/").headers["Location"] == "/competition2024/"
    assert client.get("/competition2023/").status_code == 404
    overview = client.get("/competitions/").content.decode()
    assert overview.index("/competition2024/") < overview.index("/competition2022/")


def test_they_are_put_there_once_and_edits_stay(db):
    Competition.objects.filter(slug="2024").update(title="Edited")
    assert create_past_competitions() == []
    call_command("migrate", verbosity=0)
    assert Competition.objects.filter(slug__in=PAST).count() == 2
    assert Competition.objects.get(slug="2024").title == "Edited"
    Entry.objects.filter(track__competition__slug="2022").delete()
    Competition.objects.filter(slug="2022").delete()
    assert create_past_competitions() == ["2022"]


def test_names_are_those_of_the_platform(db):
    from brainscore_vision import model_registry
    from brainscore_vision.catalogue import leaderboard_tree

    known = set(leaderboard_tree().benchmarks)
    assert [len(set(names)) for names in LISTED_2022] == [len(names) for names in LISTED_2022] == [33, 23, 1]
    entered = set(
        Entry.objects.filter(track__competition__slug="2024")
        .exclude(identifier="")
        .values_list("identifier", flat=True)
    )
    assert entered == {*BAKER, *BMD, *COGGAN}
    assert entered <= known
    assert set(LISTED_2022[0]) <= known
    listed = Competition.objects.get(slug="2024").tracks.first().listed_names
    assert [names[0] for names in listed] == MODELS
    assert [name for names in listed for name in names if name not in model_registry] == []


def generated(seed=7):
    """A score table with gaps; rows are benchmarks."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.uniform(-0.2, 0.8, (11, 11)), index=[*BAKER, *BMD, *COGGAN], columns=MODELS).astype(object)
    table.loc[BAKER[0], "hmax"] = "not applicable"
    table.loc[BAKER[1], "pixels"] = "failed"
    table.loc[BMD[0], "alexnet"] = None
    table.loc[COGGAN[2], MODELS[:6]] = "not applicable"  # 5 of 11 remain: fewer than half
    return table


def test_standings_of_2024_equal_a_hand_computation(client, put):
    table = generated()
    put({name: {m: v for m, v in row.items() if v is not None} for name, row in table.iterrows()})
    told = standings(client)
    for track, names, teams in (
        (
            told["tracks"][0],
            [*BAKER, *BMD],
            [*["Nick Baker, James Elder"] * 3, *["Marin Dujmović, Gaurav Malhotra, Jeff Bowers"] * 4],
        ),
        (told["tracks"][1], COGGAN, ["David Coggan"] * 4),
    ):
        rows = table.loc[names]
        numbers = rows.apply(pd.to_numeric, errors="coerce").clip(lower=0)
        complete = (numbers.notna() | (rows == "not applicable")).all(axis=1) & (numbers.notna().sum(axis=1) >= 6)
        mean = numbers.mean(axis=1)[complete]
        best = mean.groupby(np.array(teams)[complete]).idxmin()
        places = mean[best].rank(method="min").astype(int)
        found = {row["identifier"]: row for row in track["rows"] if row["identifier"]}
        assert set(found) == set(names)
        assert {name: row["place"] for name, row in found.items() if row["place"]} == places.to_dict()
        for name in names:
            expected = mean.get(name)
            assert found[name]["mean"] == (None if expected is None else pytest.approx(expected, abs=1e-12))
        prizes = {1: "3000", 2: "2000"}
        assert {n: r["prize"] for n, r in found.items() if r["place"]} == {n: prizes[p] for n, p in places.items()}
    behaviour = {row["identifier"]: row for row in told["tracks"][0]["rows"]}
    assert behaviour[BAKER[1]]["why"] == ["failed: pixels (RuntimeError: out of luck)"]
    assert behaviour[BMD[0]]["why"] == ["missing: alexnet"]
    assert behaviour[BAKER[0]]["n_counted"] == 10
    assert [row["components"] for row in told["tracks"][0]["rows"]] == [[]] * 7
    unknown = next(row for row in told["tracks"][1]["rows"] if not row["identifier"])
    assert unknown["standing"] == "incomplete"
    page = client.get("/competition2024/").content.decode()
    assert "failed: pixels (RuntimeError: out of luck)" in page
    assert f"{mean.min():.3f}" in page


def test_another_name_of_a_listed_model_counts(client, put):
    scores = dict.fromkeys(MODELS, 0.5)
    scores["mobilenet_v2_1_4_224"] = scores.pop("mobilenet_v2_1.4_224")
    put({BAKER[0]: scores})
    row = standings(client)["tracks"][0]["rows"][0]
    assert (row["identifier"], row["place"], row["mean"]) == (BAKER[0], 1, 0.5)
    page = client.get("/competition2024/").content.decode()
    assert '"/vision/model/mobilenet_v2_1_4_224/"' in page


def test_standings_of_2022(client, put):
    for model, value in (("grcnn_robust_v1", 0.4), ("custom_model_cv_18_dagger_408", 0.45)):
        put({name: {model: value} for name in LISTED_2022[0]})
    put({LISTED_2022[0][0]: {"grcnn_robust_v1": "not applicable"}})  # counts as 0
    told = standings(client, "2022")
    rows = {row["identifier"]: row for row in told["tracks"][0]["rows"]}
    assert rows["custom_model_cv_18_dagger_408"]["place"] == 1
    # the first benchmark is half of V1, which is a fifth of the whole
    assert rows["grcnn_robust_v1"]["mean"] == pytest.approx(0.4 * (1 - 1 / 10))
    means = {part["name"]: part["mean"] for part in rows["grcnn_robust_v1"]["components"]}
    assert means == {name: pytest.approx(0.2 if name == "V1" else 0.4) for name in ("V1", "V2", "V4", "IT", "Behavior")}
    v1 = {row["identifier"]: row for row in told["tracks"][1]["rows"]}
    assert v1 == {}  # entries of this track are not known
    winner = rows["effnetb1_cutmixpatch_augmix_robust32_avge4e7_manylayers_324x288"]
    assert winner["standing"] == "incomplete"
    assert "missing: all 33" in winner["why"][0]


def test_private_models_count_for_nobody(client, put, staff, owner):
    put({BAKER[0]: dict.fromkeys(MODELS, 0.5)})
    VisionModel.objects.filter(identifier="pixels").update(visibility="private", owner=owner)
    from brainscore_web.leaderboard import revision

    revision.bump()
    answers = []
    for user in (None, owner, staff):
        if user is not None:
            client.force_login(user)
        told = standings(client)
        answers.append(told["tracks"])
        assert told["tracks"][0]["rows"][-1]["place"] is None
        page = client.get("/competition2024/").content.decode()
        assert "<li>pixels</li>" in page
    assert answers[0] == answers[1] == answers[2]


def test_csv_holds_the_same(client, put):
    put({name: dict.fromkeys(MODELS, 0.25) for name in BAKER})
    answer = client.get("/competitions/2024/standings.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    first = rows[0]
    assert (first["track"], first["place"], first["mean"], first["prize"]) == ("Behavioral track", "1", "0.25", "3000")
    assert [first[name] for name in MODELS] == ["0.25"] * 11
    assert len(rows) == sum(len(track["rows"]) for track in standings(client)["tracks"])


@pytest.mark.parametrize("extra", [0, 40])
def test_queries_do_not_grow(client, put, extra, django_assert_max_num_queries):
    track = Competition.objects.get(slug="2024").tracks.first()
    names = [f"Extra{number}" for number in range(extra)]
    put({name: {"hmax": "failed", "alexnet": 0.5} for name in [*BAKER, *names]})
    Entry.objects.bulk_create(Entry(track=track, team=name, identifier=name, known=True) for name in names)
    client.get("/competition2024/")
    with django_assert_max_num_queries(18):
        assert client.get("/competition2024/").status_code == 200
    with django_assert_max_num_queries(5):
        assert client.get("/competitions/").status_code == 200


def test_benchmarks_are_linked_once_they_are_here(client, db):
    Benchmark.objects.create(identifier=COGGAN[0])
    page = client.get("/competition2024/").content.decode()
    assert f'"/vision/benchmark/{COGGAN[0]}/"' in page
    assert f"<small>{COGGAN[1]}</small>" in page
