"""Scores of remote workers that the site has not verified are marked wherever they are shown."""

import io
import json

import pandas as pd
import pytest
from django.contrib.auth.models import AnonymousUser

from brainscore_web.leaderboard import export, revision
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.exposure import VERIFICATIONS
from brainscore_web.leaderboard.models import Score
from brainscore_web.leaderboard.page import cell_facts
from brainscore_web.leaderboard.payload import board_data
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.scoring.models import RemoteResult, RemoteWorker

STRANGER = AnonymousUser()
STATES = ("trusted", "verified", "not verified", "waits for verification", "contradicted")


@pytest.fixture
def uploaded(board):
    """The newest scores of one benchmark, each by a remote worker; returns state → (model, benchmark)."""
    snapshot = snapshot_for(STRANGER)
    worker = RemoteWorker.objects.create(name="lab")
    column = next(at for at in range(len(snapshot.benchmarks)) if (snapshot.state[:, at] == 0).sum() >= len(STATES))
    rows = [row for row in range(len(snapshot.models)) if snapshot.state[row, column] == 0][: len(STATES)]
    for row, state in zip(rows, STATES, strict=True):
        receipt = Score.objects.get(pk=snapshot.score[row, column]).receipt
        RemoteResult.objects.create(receipt=receipt, worker=worker, state=state)
    revision.bump()
    name = snapshot.benchmarks[column].identifier
    return {state: (snapshot.models[row].identifier, name) for row, state in zip(rows, STATES, strict=True)}


def shown(**query):
    return board_for(snapshot_for(STRANGER), BoardState(unscored=True, coverage=0.0, **query))


def row_of(board, model):
    return next(row for row, one in enumerate(board.models) if one.identifier == model)


EXPECTED = {"not verified": 1, "waits for verification": 1, "contradicted": 2}


@pytest.mark.parametrize("sort", ["rank", "model", "-model"])
def test_scores_and_their_means_are_marked(uploaded, sort):
    board = shown(sort=sort)
    for state, (model, benchmark) in uploaded.items():
        row, place = row_of(board, model), board.place(benchmark)
        assert board.verification[row, place] == EXPECTED.get(state, 0)
        assert board.verification[row, board.nodes[place].parent] == EXPECTED.get(state, 0)
        assert sum(board.verification[row, at] > 0 for at, node in enumerate(board.nodes) if node.column >= 0) <= 1
        facts = " ".join(cell_facts(board, row, place, STRANGER).texts)
        assert ("this site" in facts) == (state in EXPECTED)


@pytest.mark.parametrize("sort", ["model", "-model"])
def test_marks_of_exposure_follow_their_models_in_any_order(uploaded, sort):
    ranked, board = shown(), shown(sort=sort)
    assert [model.identifier for model in ranked.models] != [model.identifier for model in board.models]
    for row, model in enumerate(board.models):
        assert board.exposure[row].tolist() == ranked.exposure[row_of(ranked, model.identifier)].tolist()


def test_pages_and_exports_say_it(uploaded, client):
    model, benchmark = uploaded["not verified"]
    board = shown(open=tuple(node.identifier for node in shown().nodes))
    page = client.get(f"/vision/leaderboard/?unscored=1&coverage=0&{board.state.query()}").content.decode()
    mark = '<span class="unverified"><span aria-hidden="true">‡</span><span class="said"> not verified</span></span>'
    assert page.count(mark) >= 2
    assert "computed by a remote worker, and not repeated by this site" in page
    assert "computed by a remote worker; this site got another result" in page
    sent = board_data(board)["columns"][benchmark]
    assert sorted(set(sent["u"])) == ["0", "1", "2"]
    opened = {"open": [node.identifier for node in board.nodes]}
    for address, query in ((f"/vision/model/{model}/", opened), (f"/vision/benchmark/{benchmark}/", {"models": "all"})):
        card = client.get(address, query)
        assert card.status_code == 200
        text = 'title="not verified: computed by a remote worker, and not repeated by this site"'
        assert text in card.content.decode(), address
        assert "‡ computed by a" in card.content.decode()
    answer = json.loads(client.get(f"/api/v1/leaderboard?{board.state.query()}").content)
    row = next(at for at, one in enumerate(answer["models"]) if one["identifier"] == model)
    place = next(at for at, one in enumerate(answer["nodes"]) if one["identifier"] == benchmark)
    assert answer["verification_names"][answer["verification"][row][place]] == "not verified"
    frame = pd.read_csv(io.BytesIO(export.csv(board))).set_index("model")
    assert frame.loc[model, f"{benchmark}:verification"] == "not verified"
    long = export.table(board, form="long").to_pylist()
    found = {(one["model"], one["node"]): one["verification"] or "" for one in long}
    for state, pair in uploaded.items():
        assert found[pair] == VERIFICATIONS[EXPECTED.get(state, 0)]


def test_without_remote_workers_no_page_speaks_of_them(board, client):
    model, benchmark = board.models[0], board.benchmarks[0]
    for address in ("/vision/leaderboard/", f"/vision/model/{model}/", f"/vision/benchmark/{benchmark}/"):
        page = client.get(address).content.decode()
        assert "remote worker" not in page
        assert "‡" not in page


def test_a_verified_score_loses_its_mark(uploaded):
    RemoteResult.objects.update(state="verified")
    revision.bump()
    board = shown()
    assert not board.verification.any()
