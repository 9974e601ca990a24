"""Following models and benchmarks: the pages, the e-mails, and the links that end them."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone

from brainscore_web.accounts.models import Lab
from brainscore_web.follows import digests, views
from brainscore_web.follows.models import Follow, Notifications
from brainscore_web.jobs.models import Email
from brainscore_web.jobs.outbox import send_due_emails
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.pages.models import News
from brainscore_web.profile.personal_data import follows_of

BENCHMARK = "Simulated000.V1-pls"


def page_of(kind, identifier):
    return f"/following/vision/{kind}/{identifier}/"


@pytest.fixture
def follower(board, client, member):
    """A member with a confirmed address who follows a model and the mean of V1."""
    EmailAddress.objects.create(user=member, email=member.email, verified=True, primary=True)
    client.force_login(member)
    for page in (page_of("model", board.models[0]), page_of("benchmark", "V1")):
        assert "You follow" in client.post(page, {"change": "follow"}, follow=True).content.decode()
    return member


def add_score(model, benchmark=BENCHMARK, receipt="20270101T000000000000Z-0123456789ab", **values):
    row = Benchmark.objects.get(identifier=benchmark)
    return Score.objects.create(
        receipt=receipt, model=VisionModel.objects.get(identifier=model), benchmark=row, version=row.version,
        state="scored", created=timezone.now(), **{"value": 0.4321, "low": 0.41, "high": 0.45, **values},
    )  # fmt: skip


def due_again(days=8):
    Notifications.objects.update(due=timezone.now() - timedelta(days=days))
    return digests.queue_digests()


def test_an_e_mail_reports_what_is_new_once(board, follower):
    assert due_again() == 0  # scores from before the first follow are not new
    Benchmark.objects.get(identifier=BENCHMARK).versions.update(condition="these two monkeys")
    add_score(board.models[3])  # on a benchmark below the mean
    other = Benchmark.objects.filter(is_mean=False).exclude(parent__identifier="V1").first().identifier
    add_score(board.models[4], other, "20270102T000000000000Z-0123456789ab")  # of neither
    Benchmark.objects.get(identifier=BENCHMARK).versions.create(version="9", since=timezone.now(), changes="New trials")
    assert due_again() == 1
    assert due_again() == 0
    email = Email.objects.get()
    assert email.subject == "[Brain-Score] 1 new score, 1 new version"
    assert f"{board.models[3]} on {BENCHMARK}: 0.432 (0.410–0.450)" in email.body
    assert "holds for these two monkeys" in email.body
    assert f"{BENCHMARK}, version 9\n  New trials" in email.body
    assert board.models[4] not in email.body
    assert digests.queue_digests() == 0
    assert Notifications.objects.get().due > timezone.now() + timedelta(days=6)


def test_private_models_are_neither_reported_nor_listed_to_others(board, client, follower):
    VisionModel.objects.filter(identifier=board.models[0]).update(visibility="private")
    add_score(board.models[0])
    assert due_again() == 0
    assert board.models[0] not in client.get("/following/").content.decode()
    exported = client.get("/accounts/data/").json()["follows"]
    assert [row.get("model", row.get("benchmark")) for row in exported] == ["V1", None]


@pytest.mark.parametrize(("setting", "subject"), [("scores", "1 new version"), ("versions", "1 new score")])
def test_settings_say_what_is_reported(board, client, follower, setting, subject):
    sent = {"frequency": "daily", "scores": "on", "versions": "on"}
    del sent[setting]
    assert client.post("/following/", sent).status_code == 302
    add_score(board.models[0])
    Benchmark.objects.get(identifier=BENCHMARK).versions.create(version="9", since=timezone.now())
    due_again()
    assert Email.objects.get().subject.endswith(f"] {subject}")


def test_news_are_reported_to_members_who_want_them(client, follower):
    client.post("/following/", {"frequency": "daily", "news": "on"})
    News.objects.create(slug="new", title="A new kind of benchmark", body="-", draft=False)
    News.objects.create(slug="draft", title="Not yet", body="-")
    assert due_again() == 1
    assert "A new kind of benchmark\n  " in Email.objects.get().body
    assert "Not yet" not in Email.objects.get().body


def test_one_click_without_a_login_ends_the_e_mails(board, client, follower, django_assert_max_num_queries):
    """The headers of RFC 8058; a GET request, as programs that check links make it, changes nothing."""
    add_score(board.models[0])
    due_again()
    assert send_due_emails() == 1
    (sent,) = mail.outbox
    assert sent.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = re.fullmatch(r"<https?://[^/]+(/\S+)>", sent.extra_headers["List-Unsubscribe"])[1]
    client.logout()
    program = type(client)(enforce_csrf_checks=True)
    assert program.get(address).status_code == 200
    assert Notifications.objects.get().frequency == "weekly"
    assert program.post(address, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert Notifications.objects.get().frequency == "never"
    add_score(board.models[0], receipt="20270103T000000000000Z-0123456789ab")
    assert due_again() == 0
    assert program.post(address[:-3] + "x/").status_code == 404


def test_following_is_limited_and_can_end(board, client, follower, monkeypatch):
    monkeypatch.setattr(views, "MOST_FOLLOWS", 2)
    page = page_of("model", board.models[1])
    assert "Unfollow one first" in client.post(page, {"change": "follow"}, follow=True).content.decode()
    client.post(page_of("benchmark", "V1"), {"change": "unfollow"})
    assert [row.followed.identifier for row in Follow.objects.all()] == [board.models[0]]
    client.post(page, {"change": "follow"})
    client.post(page, {"change": "follow"})  # twice is once
    assert Follow.objects.count() == 2


def test_a_lab_stands_for_what_it_owns(board, client, follower):
    lab = Lab.objects.create(name="Lab", slug="lab")
    assert "Get e-mails about" in client.get(lab.page).content.decode()
    for _ in range(2):
        text = client.post("/following/labs/lab/", {"change": "follow"}, follow=True).content.decode()
    assert "You follow Lab." in text
    assert 'value="unfollow"' in text
    assert follows_of(follower)[0]["lab"] == "Lab"
    home = client.get("/following/").content.decode()
    assert lab.page in home
    assert 'action="/following/labs/lab/"' in home
    benchmark = Benchmark.objects.filter(is_mean=False).exclude(parent__identifier="V1").first()
    for number, model in enumerate((board.models[2], board.models[3], board.models[-1])):  # the last one is private
        add_score(model, benchmark.identifier, f"2027010{number + 1}T000000000000Z-0123456789ab")
    VisionModel.objects.filter(identifier__in=(board.models[2], board.models[-1])).update(lab=lab)
    assert due_again() == 1
    body = Email.objects.get().body
    assert board.models[2] in body
    assert board.models[3] not in body
    assert board.models[-1] not in body
    Benchmark.objects.filter(pk=benchmark.pk).update(lab=lab)
    benchmark.versions.create(version="9", since=timezone.now(), changes="New trials")
    assert due_again() == 1
    client.post("/following/labs/lab/", {"change": "unfollow"})
    assert not Follow.objects.filter(lab=lab).exists()


def test_visitors_find_feeds_and_the_way_to_log_in(board, client):
    text = client.get(page_of("benchmark", BENCHMARK)).content.decode()
    assert f'href="/vision/feeds/scores/?benchmark={BENCHMARK}"' in text
    assert "/accounts/login/?next=%2Ffollowing%2F" in text
    response = client.post(page_of("benchmark", BENCHMARK), {"change": "follow"})
    assert response["Location"] == "/accounts/login/"
