"""Organisers make a competition, freeze it, award it."""

import csv
import io
import json

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.competitions.actions import (
    announce,
    freeze,
    missing_parts,
    publish,
    reopen,
    take_winners,
    undecided_awards,
)
from brainscore_web.competitions.models import Award, Competition, Entry, Milestone, Snapshot, Track
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score

TEXTS = {"slug": "okapi", "year": "2031", "title": "Okapi Cup", "summary": "Short.", "currency": "€", "pool": "5000"}
TRACK = {
    "title": "Neural", "competes": "benchmarks", "wins": "lowest", "listed": "alexnet\npixels",
    "inapplicable": "leave out",
    "prizes": "3000\n2,000", "one_a_team": "on", "split_ties": "on", "regions": "V1, IT", "order": "1",
}  # fmt: skip


@pytest.fixture
def organiser(db):
    user = User.objects.create_user("organiser@example.org", "correct horse battery", display_name="Orla")
    user.user_permissions.add(Permission.objects.get(codename="manage", content_type__app_label="competitions"))
    return user


@pytest.fixture
def as_organiser(client, organiser):
    client.force_login(organiser)
    return client


def at(name, *keys):
    return reverse(f"competitions:{name}", args=keys)


def rows(*values, initial=0, prefix):
    sent = {f"{prefix}-TOTAL_FORMS": len(values), f"{prefix}-INITIAL_FORMS": initial}
    return sent | {f"{prefix}-{n}-{name}": value for n, row in enumerate(values) for name, value in row.items()}


def test_a_competition_is_made_by_forms(as_organiser, client):
    assert client.post(at("new"), TEXTS).headers["Location"] == "/competitions/okapi/manage/"
    made = Competition.objects.get(slug="okapi")
    assert missing_parts(made) == ["it has no track", "it has no deadline for entries"]
    assert client.post(at("publish", "okapi")).status_code == 302
    assert not Competition.objects.get(slug="okapi").published
    assert client.post(at("new-track", "okapi"), TRACK).status_code == 302
    dates = rows({"kind": "deadline", "title": "Until", "announced": "2131-06-30", "order": "0"}, prefix="milestones")
    assert client.post(at("section", "okapi", "dates"), dates).status_code == 302
    people = rows({"role": "sponsor", "name": "ACME", "order": "0"}, prefix="people")
    assert client.post(at("section", "okapi", "people"), people).status_code == 302
    client.logout()
    assert client.get("/competitions/okapi/").status_code == 404
    assert "Okapi" not in client.get("/competitions/").content.decode()


def test_a_draft_is_previewed_and_opened(as_organiser, client, competition):
    Competition.objects.filter(pk=competition.pk).update(published=False)
    assert "This is a draft that only organisers can see." in client.get("/competitions/quagga/").content.decode()
    assert client.post(at("publish", "quagga")).status_code == 302
    client.logout()
    assert "Quagga Cup" in client.get("/competitions/quagga/").content.decode()


WRONG = {
    # what: (address, form, what it says)
    "a taken address": ("new", {**TEXTS, "slug": "2024"}, "already exists"),
    "the site's address": ("new", {**TEXTS, "slug": "new"}, "reserved by the site"),
    "an invalid address": ("new", {**TEXTS, "slug": "a/b"}, "Small letters"),
    "The year must be": ("new", {**TEXTS, "year": "31"}, "The year must be"),
    "zero wins": ("new-track", {**TRACK, "inapplicable": "zero"}, "must not count as 0"),
    "listed twice": ("new-track", {**TRACK, "listed": "a\na"}, "listed twice"),
    "no money": ("new-track", {**TRACK, "prizes": "many"}, "is not an amount"),
    "infinite money": ("new-track", {**TRACK, "prizes": "inf"}, "is not an amount"),
    "another region": ("new-track", {**TRACK, "regions": "MT"}, "must be one of V1, V2, V4, IT"),
    "another task": ("new-track", {**TRACK, "tasks": "reading"}, "must be one of label"),
}


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_told(as_organiser, client, competition, what):
    name, sent, told = WRONG[what]
    before = Competition.objects.count(), Track.objects.count()
    answer = client.post(at(name) if name == "new" else at(name, "quagga"), sent)
    assert answer.status_code == 400
    assert told in answer.content.decode()
    assert (Competition.objects.count(), Track.objects.count()) == before


DATES = {
    "no day": ({"kind": "deadline", "title": "x", "announced": "soon"}, "must be a date"),
    "an invalid date": ({"kind": "other", "title": "x", "announced": "2024-13-01"}, "is not a valid date"),
}


@pytest.mark.parametrize("what", DATES)
def test_dates_that_are_none(as_organiser, client, competition, what):
    sent, told = DATES[what]
    (old,) = competition.milestones.all()
    kept = {"id": old.pk, "kind": "opens", "title": "From", "announced": "2031-01-01", "order": "0"}
    answer = client.post(
        at("section", "quagga", "dates"), rows(kept, {**sent, "order": "1"}, initial=1, prefix="milestones")
    )
    assert answer.status_code == 400
    assert told in answer.content.decode()


def test_two_deadlines_are_refused(as_organiser, client, competition):
    (old,) = competition.milestones.all()
    both = [{"kind": "deadline", "title": "x", "announced": "2031-01-01", "order": n} for n in (0, 1)]
    both[0]["id"] = old.pk
    answer = client.post(at("section", "quagga", "dates"), rows(*both, initial=1, prefix="milestones"))
    assert "all its announced dates in one" in answer.content.decode()
    assert competition.milestones.get().announced == "2131-06-30"


CHANGES = {
    # what: (the new lines, whether it is removed, whether it is taken)
    "later": ("2131-06-30\n2131-07-08", False, True),
    "instead": ("2131-07-08", False, False),
    "removed": ("2131-06-30", True, False),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_announced_stays(as_organiser, client, competition, what):
    announced, removed, taken = CHANGES[what]
    (old,) = competition.milestones.all()
    sent = {"id": old.pk, "kind": "deadline", "title": "x", "announced": announced, "order": "0"}
    sent |= {"DELETE": "on"} if removed else {}
    answer = client.post(at("section", "quagga", "dates"), rows(sent, initial=1, prefix="milestones"))
    assert answer.status_code == (302 if taken else 400)
    assert competition.milestones.get().announced.split() == (announced.split() if taken else ["2131-06-30"])


@pytest.fixture
def entered(track, put):
    """Two teams tie; one more."""
    put(
        {
            "A": {"alexnet": 0.2, "pixels": 0.4},
            "B": {"alexnet": 0.4, "pixels": 0.2},
            "C": {"alexnet": 0.5, "pixels": 0.5},
        }
    )
    return [Entry.objects.create(track=track, team=f"team {name}", identifier=name, known=True) for name in "ABC"]


def test_for_whom_standings_hold(client, competition, track, entered):
    few = "these 2 subjects only; other subjects: unknown"
    leaf = Benchmark.objects.get(identifier="A")
    BenchmarkVersion.objects.create(benchmark=leaf, version="1", since=timezone.now(), condition=few)
    revision.bump()

    def shown():
        page, file = (client.get(f"/competitions/quagga/{name}").content.decode() for name in ("", "standings.csv"))
        return page, list(csv.DictReader(io.StringIO(file)))

    page, rows = shown()
    assert page.count(f"holds for {few}") == 1  # the entry that is this benchmark
    assert {row["identifier"]: row["condition"] for row in rows} == {"A": few, "B": "", "C": ""}
    Entry.objects.all().delete()
    Entry.objects.create(track=track, team="team", identifier="alexnet", known=True)
    Track.objects.update(competes="models", listed="A\nB")
    page, rows = shown()
    assert "Means and places hold for these 2 subjects only, on 1 of 2 benchmarks; others: unknown." in page
    assert [row["condition"] for row in rows] == ["these 2 subjects only, on 1 of 2 benchmarks; others: unknown"]


def test_frozen_standings_never_change(as_organiser, client, competition, entered):
    before = json.loads(client.get("/competitions/quagga/standings.json").content)
    assert client.post(at("freeze", "quagga")).headers["Location"] == "/competitions/quagga/manage/"
    snapshot = Snapshot.objects.get()
    assert snapshot.by.display_name == "Orla"
    Score.objects.update(value=0.99)
    Track.objects.update(prizes="1")
    revision.bump()
    client.logout()
    after = json.loads(client.get("/competitions/quagga/standings.json").content)
    assert after["tracks"] == before["tracks"]
    assert [cell["receipt"] for cell in after["tracks"][0]["rows"][0]["cells"]] == [
        f"20240101T000000000000Z-{n:012x}" for n in (0, 1)
    ]
    page = client.get("/competitions/quagga/").content.decode()
    assert "0.300" in page
    assert snapshot.digest in page
    assert "0.990" not in page
    assert "0.990" in client.get("/competitions/quagga/?standings=now").content.decode()
    told = client.get(at("frozen", "quagga", snapshot.pk)).json()
    assert told["standings"]["tracks"] == before["tracks"]
    snapshot.refresh_from_db()
    assert snapshot.is_intact


def test_a_snapshot_cannot_be_written_again(competition, entered, staff):
    snapshot = freeze(competition, staff)
    snapshot.document = {}
    with pytest.raises(UserError, match="cannot be changed"):
        snapshot.save()
    assert not snapshot.is_intact


def test_rules_and_entries_are_settled_by_freezing(as_organiser, client, competition, track, entered, organiser):
    freeze(competition, organiser)
    client.post(at("track", "quagga", track.pk), {**TRACK, "title": "Other"})
    assert Track.objects.get(pk=track.pk).title == "Main track"
    client.post(at("add-entry", "quagga", track.pk), {"title": "Late one"})
    assert not Entry.objects.filter(title="Late one").exists()
    answer = client.post(at("withdraw", "quagga", entered[0].pk), {"because": "no"})
    assert "are frozen" in answer.content.decode()
    assert not Entry.objects.filter(track=track, withdrawn__isnull=False).exists()
    assert "teams can no longer be created" in client.get(at("team", "quagga")).content.decode()


def test_awards_of_a_tie(as_organiser, client, competition, track, entered, organiser):
    with pytest.raises(UserError, match="not frozen"):
        take_winners(competition)
    with pytest.raises(UserError, match="not frozen"):
        announce(competition)
    freeze(competition, organiser)
    with pytest.raises(UserError, match="these tracks have no awards: Main track"):
        announce(competition)
    client.post(at("take-winners", "quagga"))
    found = [(one.place, one.people, one.prize) for one in Award.objects.filter(track=track)]
    assert found == [(1, "team A", "$2,500"), (1, "team B", "$2,500")]
    client.post(at("take-winners", "quagga"))  # again: replaced
    assert Award.objects.filter(track=track).count() == 2
    client.logout()
    assert "winners_" not in client.get("/competitions/quagga/").content.decode()
    client.force_login(organiser)
    client.post(at("announce", "quagga"))
    client.logout()
    page = client.get("/competitions/quagga/").content.decode()
    assert page.index('<h2 id="winners_">') < page.index("Frozen standings")
    assert "team A ($2,500)" in page
    with pytest.raises(UserError, match="already announced"):
        take_winners(competition)


def test_organisers_decide_on_a_tie(competition, track, entered, organiser):
    Track.objects.filter(pk=track.pk).update(split_ties=False)
    freeze(competition, organiser)
    assert take_winners(competition) == 2
    assert [one.prize for one in Award.objects.filter(track=track)] == ["", ""]
    assert undecided_awards(competition) == ["A", "B"]


def test_organisers_close_and_reopen(as_organiser, client, competition, track):
    client.post(at("close", "quagga"))
    assert Competition.objects.get(pk=competition.pk).phase == "closed"
    assert "Enter<span" not in client.get("/competitions/quagga/").content.decode()
    page = client.post(at("close", "quagga"), follow=True).content.decode()
    assert "the competition is closed: close a competition that is open" in page
    client.post(at("reopen", "quagga"))
    assert Competition.objects.get(pk=competition.pk).phase == "open"
    client.post(at("close", "quagga"))
    Milestone.objects.filter(competition=competition).update(announced="2021-01-01")
    with pytest.raises(UserError, match="the deadline has passed"):
        reopen(competition)
    assert Competition.objects.get(pk=competition.pk).closed is not None


LISTINGS = {
    # text: the message, if it is refused
    "# V1\n## Size\na\n# IT\nb": None,
    "#\na": "has no name",
    "a\n## Size\nb": "Write # Size instead",
}


@pytest.mark.parametrize("text", LISTINGS)
def test_components_of_a_list(as_organiser, client, competition, track, text):
    answer = client.post(at("track", "quagga", track.pk), {**TRACK, "listed": text})
    assert answer.status_code == (302 if LISTINGS[text] is None else 400)
    assert LISTINGS[text] is None or LISTINGS[text] in answer.content.decode()


def test_winners_can_be_written(as_organiser, client, competition, track, entered):
    award = {"place": "1", "title": "Won", "people": "P", "prize": "a book", "entries": [entered[0].pk], "order": "0"}
    assert client.post(at("awards", "quagga", track.pk), rows(award, prefix="awards")).status_code == 302
    assert Award.objects.get(title="Won").entries.get() == entered[0]
    foreign = Entry.objects.filter(track__competition__slug="2024").first()
    answer = client.post(at("awards", "quagga", track.pk), rows({**award, "entries": [foreign.pk]}, prefix="awards"))
    assert answer.status_code == 400


def test_a_track_with_entries_stays(as_organiser, client, competition, track):
    Entry.objects.create(track=track, identifier="x", known=True)
    client.post(at("track", "quagga", track.pk), {"remove": "1"})
    assert Track.objects.filter(pk=track.pk).exists()
    Entry.objects.filter(track=track).delete()
    client.post(at("track", "quagga", track.pk), {"remove": "1"})
    assert not Track.objects.filter(pk=track.pk).exists()


def test_entries_that_came_another_way(as_organiser, client, competition, track):
    sent = {"team": "Post", "identifier": "Mail2031", "entered": "2031-06-01 12:00"}
    assert client.post(at("add-entry", "quagga", track.pk), sent).status_code == 302
    assert "already entered this track" in client.post(at("add-entry", "quagga", track.pk), sent).content.decode()
    assert client.post(at("add-entry", "quagga", track.pk), {"team": "Nobody"}).status_code == 400
    client.logout()
    assert "Mail2031" in client.get("/competitions/quagga/").content.decode()


def test_the_address_of_what_others_know_stays(as_organiser, client, competition):
    client.post(at("texts", "quagga"), {**TEXTS, "slug": "moved"})
    competition.refresh_from_db()
    assert (competition.slug, competition.title) == ("quagga", "Okapi Cup")


def test_freezing_takes_an_open_or_closed_one(competition, staff):
    Competition.objects.filter(pk=competition.pk).update(published=False)
    with pytest.raises(UserError, match="the competition is draft"):
        freeze(competition, staff)
    Milestone.objects.filter(competition=competition).delete()
    with pytest.raises(UserError, match="no deadline"):
        publish(Competition.objects.get(pk=competition.pk))


def test_texts_for_spreadsheets_are_no_formulas(client, competition, track):
    Entry.objects.create(track=track, identifier="x", team="=HYPERLINK(1)", title="+1", known=True)
    text = client.get("/competitions/quagga/standings.csv").content.decode()
    assert ",'=HYPERLINK(1),'+1,x," in text
