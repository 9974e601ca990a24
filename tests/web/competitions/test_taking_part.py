"""Members enter what is theirs, and take it back."""

import pytest
from django.urls import reverse
from django.utils import timezone

from brainscore_web.competitions.models import Entry, Milestone, Snapshot, Track
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions.models import Revision, Submission

SAID = {"team": "Ada & Co", "title": "Mine", "regions": ["V1"], "time_bins": "1"}


@pytest.fixture
def mine(owner):
    return Benchmark.objects.create(identifier="Ada2031.V1-pls", owner=owner, region="V1", species="macaque")


@pytest.fixture
def enter(client, track):
    def do(user, what, **more):
        client.force_login(user)
        sent = {**SAID, "what": what, **more}
        return client.post(reverse("competitions:enter", args=[track.competition.slug, track.pk]), sent)

    return do


def page(client, competition):
    return client.get(competition.get_absolute_url()).content.decode()


def test_an_own_benchmark_enters(client, enter, mine, owner, track, put):
    put({"Ada2031.V1-pls": {"alexnet": 0.2, "pixels": 0.1}})
    assert enter(owner, "own:Ada2031.V1-pls").status_code == 302
    entry = Entry.objects.get(track=track)
    assert (entry.identifier, entry.benchmark, entry.team, entry.by) == (mine.identifier, mine, "Ada & Co", owner)
    client.logout()
    text = page(client, track.competition)
    assert "Ada2031.V1-pls" in text
    assert "0.150" in text
    assert "Ada &amp; Co" in text
    assert "Your entries" not in text


def test_what_is_others_cannot_be_entered(enter, mine, member, track):
    answer = enter(member, "own:Ada2031.V1-pls")
    assert answer.status_code == 400
    assert not Entry.objects.filter(track=track).exists()


def test_all_findings_are_told_at_once(enter, owner, track):
    Track.objects.filter(pk=track.pk).update(species="human", single_time_bin=True, static_images=True)
    Benchmark.objects.create(
        identifier="Ada2031.MT-pls", owner=owner, region="MT", species="mouse", details={"datatype": "video"}
    )
    text = enter(owner, "own:Ada2031.MT-pls", time_bins="4", species=["human"]).content.decode()
    for told in ("region MT is not part of this track", "species mouse", "not static images", "records 4 time bins"):
        assert told in text, told
    assert not Entry.objects.filter(track=track).exists()


def test_what_the_member_says_counts_where_nothing_is_known(enter, owner, track):
    Benchmark.objects.create(identifier="Ada2031.x", owner=owner)
    assert enter(owner, "own:Ada2031.x", regions=[]).status_code == 302  # with a warning
    entry = Entry.objects.get(identifier="Ada2031.x")
    assert [one["check"] for one in entry.findings] == ["regions"]
    Benchmark.objects.create(identifier="Ada2031.y", owner=owner)
    assert enter(owner, "own:Ada2031.y", regions=["IT"]).status_code == 400
    assert enter(owner, "own:Ada2031.y", regions=["V4"]).status_code == 302
    assert Entry.objects.get(identifier="Ada2031.y").declared["regions"] == ["V4"]


def test_nothing_enters_twice_but_after_it_was_withdrawn(client, enter, mine, owner, track):
    assert enter(owner, "own:Ada2031.V1-pls").status_code == 302
    assert "has already entered this track" in enter(owner, "own:Ada2031.V1-pls").content.decode()
    entry = Entry.objects.get(track=track)
    address = reverse("competitions:withdraw", args=["quagga", entry.pk])
    assert client.post(address, {"because": ""}).status_code == 302
    assert client.post(address, {"because": ""}).status_code == 400  # it is withdrawn already
    assert enter(owner, "own:Ada2031.V1-pls").status_code == 302
    assert [bool(one.withdrawn) for one in Entry.objects.filter(track=track).order_by("pk")] == [True, False]


def test_teams_belong_to_who_named_them(enter, mine, owner, member, track):
    Benchmark.objects.create(identifier="Eve2031.V1-pls", owner=member, region="V1")
    Benchmark.objects.create(identifier="Ada2031.V4-pls", owner=owner, region="V4")
    assert enter(owner, "own:Ada2031.V1-pls").status_code == 302
    assert "there is already a team" in enter(member, "own:Eve2031.V1-pls", team="ada  & CO").content.decode()
    assert enter(member, "own:Eve2031.V1-pls", team="Eve").status_code == 302
    assert enter(owner, "own:Ada2031.V4-pls", team="Another").status_code == 302  # the team's name stays
    assert set(Entry.objects.filter(by=owner).values_list("team", "belongs_to__name")) == {("Ada & Co", "Ada & Co")}


@pytest.mark.parametrize("why", ["closed", "frozen", "not yet", "draft"])
def test_entries_are_taken_only_while_it_is_open(enter, mine, owner, competition, track, why):
    if why == "closed":
        Milestone.objects.filter(competition=competition).update(announced="2020-01-01")
    elif why == "frozen":
        Snapshot.objects.create(competition=competition, document={"tracks": [], "currency": "$"})
    elif why == "not yet":
        Milestone.objects.create(competition=competition, kind="opens", title="From", announced="2131-01-01")
    else:
        type(competition).objects.update(published=False)
    answer = enter(owner, "own:Ada2031.V1-pls")
    assert answer.status_code == (404 if why == "draft" else 400)
    assert not Entry.objects.filter(track=track).exists()


def test_a_submission_enters_and_is_shown_once_it_is_public(client, enter, owner, staff, track, put):
    sent = Submission.objects.create(owner=owner, title="benchmarks/secretbench")
    Revision.objects.create(
        submission=sent, number=1, archive=b"", digest="0", size=0,
        plugins=[{"kind": "benchmarks", "name": "secretbench", "registrations": [
            {"registry": "benchmark_registry", "key": "Secret2031.V1-pls", "line": 3},
            {"registry": "model_registry", "key": "a-model", "line": 4},
        ]}],
    )  # fmt: skip
    client.force_login(owner)
    form = client.get(reverse("competitions:enter", args=["quagga", track.pk])).content.decode()
    assert "Secret2031.V1-pls" in form
    assert "a-model" not in form
    assert enter(owner, f"{sent.pk}:Secret2031.V1-pls").status_code == 302
    assert "Secret2031.V1-pls" in page(client, track.competition)  # own entries
    assert "not published yet" in page(client, track.competition)
    for user in (None, staff):
        client.logout() if user is None else client.force_login(user)
        assert "Secret2031" not in page(client, track.competition)
        assert "Secret2031" not in client.get("/competitions/quagga/standings.json").content.decode()
    assert "Secret2031" not in client.get(reverse("competitions:manage", args=["quagga"])).content.decode()
    put({"Secret2031.V1-pls": {"alexnet": 0.4, "pixels": 0.2}})
    client.logout()
    assert "0.300" in page(client, track.competition)


def test_a_private_model_shows_once_it_is_public(client, enter, owner, track, put):
    Track.objects.filter(pk=track.pk).update(competes="models", wins="highest", listed="B1\nB2", floor=None, regions="")
    put({"B1": {"secret-quokka": 0.4}, "B2": {"secret-quokka": 0.2}})
    VisionModel.objects.update(owner=owner, visibility="private")
    assert enter(owner, "own:secret-quokka").status_code == 302
    assert "make it public" in page(client, track.competition)
    client.logout()
    assert "quokka" not in page(client, track.competition)
    VisionModel.objects.get().save()
    row = VisionModel.objects.get()
    row.visibility = "public"
    row.save()
    assert "secret-quokka" in page(client, track.competition)
    assert "0.300" in page(client, track.competition)


def test_only_its_people_and_organisers_withdraw(client, enter, mine, owner, member, staff, track):
    enter(owner, "own:Ada2031.V1-pls")
    address = reverse("competitions:withdraw", args=["quagga", Entry.objects.get(track=track).pk])
    client.force_login(member)
    assert client.post(address, {"because": "envy"}).status_code == 404
    client.force_login(staff)
    assert client.post(address, {"because": ""}).status_code == 400  # organisers say why
    assert client.post(address, {"because": "broken stimuli"}).status_code == 302
    client.logout()
    text = page(client, track.competition)
    assert "Late or withdrawn" in text
    assert "withdrawn: broken stimuli" in text


def test_a_later_deadline_saves_who_was_late(client, track, competition, put):
    put({"Late2031": {"alexnet": 0.2, "pixels": 0.1}})
    Entry.objects.create(track=track, team="Slow", identifier="Late2031", known=True, entered=timezone.now())
    dates = Milestone.objects.get(competition=competition)
    Milestone.objects.filter(pk=dates.pk).update(announced="2020-06-30")
    assert "entered after the deadline" in page(client, competition)
    Milestone.objects.filter(pk=dates.pk).update(announced="2020-06-30\n2131-07-08")
    text = page(client, competition)
    assert "entered after the deadline" not in text
    assert "<del>June 30, 2020</del> → <ins>July 8, 2131</ins>" in text


def test_own_data_hold_entries(client, enter, mine, owner, track):
    enter(owner, "own:Ada2031.V1-pls")
    told = client.get("/accounts/data/").json()["competition_entries"]
    assert [(one["competition"], one["track"], one["identifier"]) for one in told] == [
        ("quagga", "Main track", "Ada2031.V1-pls")
    ]


MARKUP = "<script>alert(1)</script>[x](javascript:alert(1))<img src=x onerror=alert(1)>"


def test_texts_run_nothing(client, competition, track, staff):
    type(competition).objects.update(
        **dict.fromkeys(("title", "summary", "about", "critiques_answered", "contact", "unknown", "place"), MARKUP)
    )
    Track.objects.filter(pk=track.pk).update(
        title=MARKUP, text=MARKUP, notes=MARKUP, listed=f"{MARKUP}\nother", regions="V1"
    )
    competition.people.create(name=MARKUP, affiliation=MARKUP)
    competition.programme.create(time="<b>", title=MARKUP, people=MARKUP)
    for kind in ("faq", "critique"):
        competition.questions.create(kind=kind, question=MARKUP, answer=MARKUP)
    Entry.objects.create(
        track=track, team=MARKUP, title=MARKUP, identifier=MARKUP, known=True, withdrawn=timezone.now(),
        withdrawn_because=MARKUP,
    )  # fmt: skip
    client.force_login(staff)
    for name in ("show", "manage", "texts", "new-track"):
        address = reverse(f"competitions:{name}", args=["quagga"])
        text = client.get(address).content.decode()
        assert "&lt;script&gt;" in text or name == "new-track", name
        assert "<script>alert" not in text, name
        assert "<img src=x" not in text, name
        assert 'href="javascript:' not in text, name


def test_markdown_is_used(client, competition):
    type(competition).objects.update(
        about="# Why\n\n*Because* [so](/about/)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Deeper"
    )
    text = page(client, competition)
    assert '<em>Because</em> <a href="/about/">so</a>' in text
    assert "<h3>Deeper</h3>" in text
    assert 'aria-label="About table 1"' in text


def test_the_leaderboard_has_a_tab_with_the_benchmarks_of_a_competition(competition, put, client):
    put({"dicarlo.X-pls": {"alexnet": 0.5}, "dicarlo.Y-pls": {"alexnet": 0.4}})
    board = "/vision/leaderboard/"
    assert "Quagga Cup" not in client.get(f"{board}?sort=model").content.decode()
    competition.tracks.create(
        title="Models", competes="models", wins="highest", listed="dicarlo.X-pls | other\nunknown"
    )
    tab = 'href="?include=dicarlo.X-pls" data-preset="include=dicarlo.X-pls">Quagga Cup<'
    assert tab in client.get(board).content.decode()
