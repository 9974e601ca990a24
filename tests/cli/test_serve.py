"""``brainscore serve``: the site as a visitor of one's own machine sees it."""

import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
import requests

from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, ResultsStore

pytestmark = pytest.mark.skipif(importlib.util.find_spec("django") is None, reason="needs Django")


@contextmanager
def serving(home, *arguments):
    """The site's address while it runs, and what it said before."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("BRAINSCORE_", "DJANGO_"))}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, "-m", "brainscore", "serve", "--port", "0", "--workers", "1", *arguments]
    process = subprocess.Popen(
        command,
        env={**environment, "BRAINSCORE_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = []
    try:
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"http://\S+/", line):
                yield found[0], "".join(said)
                break
        else:
            pytest.fail(f"it did not start: {''.join(said)}")
    finally:
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
        assert "Traceback" not in rest, rest


def test_results_at_hand_are_shown(tmp_path):
    store = ResultsStore(tmp_path / "results")
    store.write(
        Receipt(
            model=ModelInfo(identifier="alexnet"),
            benchmark=BenchmarkInfo(identifier="MajajHong2015.IT-pls", version=4, parent="IT"),
            state="scored",
            score=Estimate(value=0.512, error=0.01, ci=(0.49, 0.53), ci_level=0.95),
        )
    )
    for _ in range(2):  # the second time nothing is new
        with serving(tmp_path) as (address, said):
            assert "1 scores at" in said
            page = requests.get(f"{address}vision/leaderboard/", timeout=30)
            assert page.status_code == 200
            assert "alexnet" in page.text
            assert "All of these are simulated" not in requests.get(address, timeout=30).text
            style = re.search(r'href="(/static/site/site[^"]*css)"', page.text)[1]
            packed = requests.get(address.rstrip("/") + style, timeout=30)
            assert packed.headers["Content-Encoding"] == "gzip"
            assert "immutable" in packed.headers["Cache-Control"]


def test_without_results_the_leaderboard_is_simulated(tmp_path):
    with serving(tmp_path) as (address, said):
        assert "simulated" in said
        home = requests.get(address, timeout=30).text
        assert "All of these are simulated" in home
        assert not (tmp_path / "site").exists()
        assert (tmp_path / "site-demonstration" / "site.sqlite3").exists()
        assert requests.get(f"{address}nothing/", timeout=30).status_code == 404
        assert requests.get(address, headers={"Host": "elsewhere.example"}, timeout=30).status_code == 400


def fails(tmp_path, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "brainscore", "serve", *arguments],
        env={**os.environ, "BRAINSCORE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = fails(tmp_path, "--demo", "--port", str(port))
    assert f"127.0.0.1:{port}" in said
    assert "--port" in said


def test_others_are_let_in_by_name_only(tmp_path):
    assert "BRAINSCORE_SITE_HOSTS" in fails(tmp_path, "--demo", "--host", "0.0.0.0")


def test_demo_and_results_exclude_each_other(tmp_path):
    assert "--demo" in fails(tmp_path, "--demo", "--results", str(tmp_path))


def test_results_that_are_not_there(tmp_path):
    assert "nowhere" in fails(tmp_path, "--results", str(tmp_path / "nowhere"))
