import csv
import io
import json
import os
import pty
import subprocess
import sys
from datetime import date
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("django")
pytest.importorskip("ninja")

from django.core.cache import caches

from brainscore.cli.leaderboard import _print_csv
from brainscore_core.training_data import MARKS
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.leaderboard.board import board_of
from brainscore_web.leaderboard.exposure import EXPOSURES
from brainscore_web.leaderboard.models import VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState


@pytest.fixture
def site(live_server, monkeypatch):
    """Twelve models, the last of them private, on 24 benchmarks of two versions; named by BRAINSCORE_SITE."""
    monkeypatch.setenv("BRAINSCORE_SITE", live_server.url)
    monkeypatch.delenv("BRAINSCORE_TOKEN", raising=False)
    caches["rates"].clear()
    made = simulate_leaderboard(models=12, benchmarks=24, versions=2, private=1)
    owner = User.objects.create_user("owner@example.org")
    VisionModel.objects.filter(identifier=made.models[-1]).update(owner=owner)
    return made


def _board(**state):
    from django.contrib.auth.models import AnonymousUser

    state = BoardState(**state)
    return board_of(snapshot_for(AnonymousUser(), at=state.at), state)


def test_table(cli, site):
    found = cli("leaderboard")
    assert found.exit_code == 0, found.output
    head, *rows = (line.split("\t") for line in found.stdout.splitlines())
    assert head == ["Rank", "Model", "Global Score", "Neural", "Behavior", "Engineering"]
    board = _board()
    assert [row[1] for row in rows] == [model.title for model in board.models]
    assert [row[0].split()[0] for row in rows] == [str(rank) for rank in board.rank.tolist()]
    place = board.place("engineering_vision")
    sign = MARKS[EXPOSURES[board.exposure[0, place]]].sign
    assert rows[0][5] == f"{board.values[0, place]:.3f} {sign}".strip()  # no error: no influences are stored
    assert rows[0][0] == "1"
    assert f"See {os.environ['BRAINSCORE_SITE']}/vision/leaderboard/" in found.stderr


def test_options_mean_what_they_mean_on_the_page(cli, site):
    arguments = ("-b", "IT", "-b", "V4", "--over", "scored", "--raw", "--sort=-V4", "--search", "vit OR resnet")
    found = cli("leaderboard", *arguments, "--models", "4", "--at", "2024-12-31")
    assert found.exit_code == 0, found.output
    head, *rows = (line.split("\t") for line in found.stdout.splitlines())
    assert head == ["Rank", "Model", "IT", "V4"]
    board = _board(q="vit OR resnet", over="scored", values="raw", sort="-V4", at=date(2024, 12, 31))
    assert [row[1] for row in rows] == [model.title for model in board.models[:4]]
    assert [row[3].split()[0] for row in rows] == [f"{value:.3f}" for value in board.values[:4, board.place("V4")]]
    assert f"?{board.state.query()}" in found.stderr


def test_what_has_no_value_says_why(cli, site):
    found = cli("leaderboard", "--json", *(f"--benchmark={name}" for name in site.benchmarks))
    document = json.loads(found.stdout)
    scores = [score for model in document["models"] for score in model["scores"].values()]
    assert {score["state"] for score in scores if score["value"] is None} >= {"failed", "missing", "not applicable"}
    gaps = [
        (model["identifier"], name, score["state"])
        for model in document["models"]
        for name, score in model["scores"].items()
        if score["value"] is None
    ]
    model, name, state = gaps[0]
    _, *rows = (line.split("\t") for line in cli("leaderboard", "-b", name).stdout.splitlines())
    assert dict(row[1:] for row in rows)[model] == state


def test_csv(cli, site):
    found = cli("leaderboard", "--csv", "-b", "IT")
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    board = _board()
    assert [row["model"] for row in rows] == [model.identifier for model in board.models]
    assert [float(row["IT"]) for row in rows] == board.values[:, board.place("IT")].tolist()
    assert {row["IT:state"] for row in rows} == {"scored"}


def test_csv_has_no_formulas(capsys):
    board = SimpleNamespace(
        nodes=[SimpleNamespace(identifier="+node")],
        models=[SimpleNamespace(identifier="=model", rank=1, best=1, worst=1, groups="@groups")],
    )
    for name in ("value", "error", "low", "high"):
        setattr(board, name, np.array([[-0.5]]))
    for name in ("state", "exposure", "verification"):
        setattr(board, name, np.array([["=text"]]))
    _print_csv(board)
    head, row = csv.reader(io.StringIO(capsys.readouterr().out))
    assert head[5] == "'+node"
    assert row == ["'=model", "1", "1", "1", "'@groups", *["-0.5"] * 4, *["'=text"] * 3]


def test_ones_own_models(cli, site, monkeypatch):
    assert f"{site.models[-1]} (private)" not in cli("leaderboard").stdout
    token = ApiToken.issue(User.objects.get(email="owner@example.org"), "terminal", ["read"])[1]
    monkeypatch.setenv("BRAINSCORE_TOKEN", token)
    assert f"{site.models[-1]} (private)" in cli("leaderboard").stdout


def test_a_site_cannot_steer_the_terminal(cli, site):
    VisionModel.objects.filter(identifier=site.models[0]).update(title="\x1b[2Jgone")
    from brainscore_web.leaderboard import revision

    revision.bump()
    found = cli("leaderboard")
    assert "\x1b" not in found.stdout
    assert "�[2Jgone" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-b", "V9"), "'V9' is not on this leaderboard"),
        (("--search", "(vit"), "parenthesis is not closed"),
        (("--at", "yesterday"), "at is 'yesterday'"),
        (("--json", "--csv"), "cannot be combined"),
        (("--site", "nowhere"), "not the address of a site"),
    ],
)
def test_errors(cli, site, arguments, message):
    found = cli("leaderboard", *arguments)
    assert found.exit_code == 2
    assert message in found.stderr


def test_nothing_found(cli, site):
    found = cli("leaderboard", "--search", "absent")
    assert (found.exit_code, found.stdout) == (0, "")
    assert "No models." in found.stderr


def test_no_site(cli, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_TOKEN", "")
    found = cli("leaderboard", "--site", "http://127.0.0.1:1")
    assert found.exit_code == 2
    assert "cannot be reached" in found.stderr
    assert "brainscore serve" in found.stderr


def test_in_a_terminal(site, tmp_path):
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": "120", "BRAINSCORE_HOME": str(tmp_path), "TERM": "xterm"}
    command = [sys.executable, "-m", "brainscore", "leaderboard", "--models", "2"]
    subprocess.run(command, stdout=slave, stderr=subprocess.PIPE, env=environment, timeout=60, check=True)
    os.close(slave)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert "Global Score" in shown
    assert "\t" not in shown
