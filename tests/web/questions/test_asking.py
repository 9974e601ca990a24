"""Questions from pages and the API: who may ask, limits, the queue, and answers on the card."""

import html
from dataclasses import replace

import pytest
from allauth.account.models import EmailAddress

from brainscore.client import Client
from brainscore_core.errors import UserError
from brainscore_vision import score
from brainscore_web.accounts.models import ApiToken
from brainscore_web.leaderboard.ingest import ingest_store
from brainscore_web.leaderboard.models import Benchmark, Score
from brainscore_web.questions import answering
from brainscore_web.questions.models import AskedQuestion

from .._browsing import barriers

SCORED, SIMULATED = "Simulated2026.V1-rdm", "Simulated000.V1-pls"
ASKED = {"part": "question", "stimuli": 'object_name != "cross"', "metric": "cka"}


def page_of(benchmark):
    return f"/vision/ask/{benchmark}/"


PAGE, CARD = page_of(SIMULATED), f"/vision/benchmark/{SIMULATED}/"


@pytest.fixture
def asker(board, client, member):
    """A member with a confirmed address, on a site whose receipts name products."""
    Benchmark.objects.filter(identifier=SIMULATED).update(access="public")
    Score.objects.update(document={"products": [{}]})
    EmailAddress.objects.create(user=member, email=member.email, verified=True, primary=True)
    client.force_login(member)
    return client


@pytest.fixture
def results(asker, settings, tmp_path):
    """Results of two models with products, which the site has read."""
    for model in ("pixels", "gabor"):
        score(model, SCORED, results=tmp_path)
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "results": str(tmp_path)}
    ingest_store(str(tmp_path))
    Benchmark.objects.filter(identifier=SCORED).update(access="public")
    return tmp_path


def ask(client, benchmark=SIMULATED, **values):
    return client.post(page_of(benchmark), {**ASKED, **values})


@pytest.mark.slow(reason="a process computes each answer")
def test_an_answer_appears_on_the_card(results, asker, member):
    page, card_address = page_of(SCORED), f"/vision/benchmark/{SCORED}/"
    assert f'href="{page}"' in asker.get(card_address).content.decode()
    assert ask(asker, SCORED).status_code == 302
    assert ask(asker, SCORED, part="explanation", metric="", models=["pixels", "gabor"]).status_code == 302
    assert ask(asker, SCORED, stimuli="colour == 3").status_code == 302
    assert b"waiting" in asker.get(page).content
    while answering.answer_next():
        pass
    *answered, refused = AskedQuestion.objects.order_by("created")
    assert [row.state for row in answered] == ["answered"] * 2, [row.reason for row in answered]
    card, questions = asker.get(card_address).content.decode(), asker.get(f"{page}live/").content.decode()
    for row in answered:
        assert f'id="answer-{row.answer}"' in card
        assert f"#answer-{row.answer}" in questions
    assert (refused.state, "no column" in refused.reason) == ("failed", True)
    assert refused.reason in html.unescape(questions)
    assert str(results) not in refused.reason
    assert "1 question was asked about these data" in card.replace("1 Question", "1 question")
    assert member.email not in card


def test_errors_of_the_question_are_shown(asker, board):
    response = ask(asker, stimuli="__import__('os').system('true') ==")
    assert response.status_code == 400
    assert b"cannot be read" in response.content
    assert ask(asker, split="every:one").status_code == 400
    assert ask(asker, stimuli="x" * 1001).status_code == 400
    assert ask(asker, part="explanation", metric="", models=board.models[:1]).status_code == 400
    assert ask(asker, part="atlas").status_code == 400  # with a metric
    assert not AskedQuestion.objects.exists()


@pytest.mark.parametrize("limit", ["open", "day", "site_open", "site_day"])
def test_the_number_of_questions_is_limited(asker, settings, limit):
    settings.QUESTIONS = {**settings.QUESTIONS, limit: 1}
    assert ask(asker).status_code == 302
    assert ask(asker).status_code == 429
    assert AskedQuestion.objects.count() == 1


def test_only_who_sees_the_data_and_the_models_may_ask(client, asker, board):
    *_, private = board.models
    assert ask(asker, models=[private]).status_code == 400
    assert f'value="{private}"' not in asker.get(PAGE).content.decode()
    ask(asker)
    (row,) = AskedQuestion.objects.all()
    Benchmark.objects.filter(identifier=SIMULATED).update(access="private")
    assert asker.get(PAGE).status_code == ask(asker).status_code == 404
    assert PAGE not in asker.get(CARD).content.decode()
    answering.answer_next()  # the data were withheld after the question
    row.refresh_from_db()
    assert (row.state, "withheld" in row.reason) == ("failed", True)
    client.logout()
    assert client.get(PAGE).headers["Location"].startswith("/accounts/login/")


def test_the_interface_asks_and_shows(asker, client, member, owner):
    client.logout()
    post = {"content_type": "application/json"}
    assert client.post("/api/v1/questions", {"benchmark": SIMULATED}, **post).status_code == 401
    headers = {"Authorization": f"Bearer {ApiToken.issue(member, 'asks', ['submit', 'read'])[1]}"}
    for wrong in ({"split": "x"}, {"stimuli": "size >"}, {"part": "explanation"}, {"models": ["no-such-model"]}):
        response = client.post("/api/v1/questions", {"benchmark": SIMULATED, **wrong}, headers=headers, **post)
        assert (response.status_code, bool(response.json()["message"])) == (400, True), wrong
    asked = client.post("/api/v1/questions", {"benchmark": SIMULATED, "metric": "cka"}, headers=headers, **post)
    assert asked.status_code == 201
    address = f"/api/v1/questions/{asked.json()['id']}"
    assert client.get(address, headers=headers).json()["state"] == "waiting"
    client.force_login(owner)
    assert client.get(address).status_code == 404


def test_the_client_asks_and_shows(asker, member, live_server):
    with Client(live_server.url, ApiToken.issue(member, "asks", ["submit", "read"])[1]) as client:
        asked = client.ask(SIMULATED, metric="cka", stimuli="size > 3")
        assert (asked.state, asked.question["metric"]) == ("waiting", "cka")
        AskedQuestion.objects.update(state="failed", reason="no column")
        assert client.question(asked.id) == replace(asked, state="failed", reason="no column")
        with pytest.raises(UserError, match="unknown splits"):
            client.ask(SIMULATED, split="x")


def test_without_a_choice_all_public_models_are_asked(asker, board, owner, monkeypatch):
    """Also if the user could see others: their answers would be hidden from everybody else."""
    asked = []
    monkeypatch.setattr(answering, "_computed", lambda lease, models: asked.append(models))
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    asker.force_login(owner)
    ask(asker)
    answering.answer_next()
    assert asked == [sorted(board.models[:-1])]


def test_an_interrupted_question_is_asked_once_more(asker, monkeypatch):
    def fail(*_):
        raise OSError("no space")

    monkeypatch.setattr(answering, "_computed", fail)
    ask(asker)
    (row,) = AskedQuestion.objects.all()
    for state in ("waiting", "failed"):
        AskedQuestion.objects.update(due=row.created)
        answering.answer_next()
        row.refresh_from_db()
        assert row.state == state
    assert "administrators" in row.reason


@pytest.mark.slow(reason="a browser")
def test_the_page_in_a_browser(asker, member, live_server, new_page):
    ask_page = new_page(member)
    assert barriers(ask_page, PAGE) == []
    ask_page.get_by_role("button", name="Ask").click()
    assert ask_page.locator("#asked .state").inner_text() == "waiting"
