"""``brainscore serve``: the site as a visitor of one's own machine sees it."""

import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import requests

from brainscore_core.errors import UserError
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, ResultsStore

pytestmark = pytest.mark.skipif(importlib.util.find_spec("django") is None, reason="needs Django")


@contextmanager
def serving(home, *arguments, lines=None):
    """The site's address while it runs, and what it said before; what it says later is added to `lines`."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("BRAINSCORE_", "DJANGO_"))}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, "-m", "brainscore", "serve", "--port", "0", "--workers", "1", *arguments]
    process = subprocess.Popen(
        command,
        env={**environment, "BRAINSCORE_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    said = []
    try:
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"http://\S+/", line):
                if lines is not None:
                    lines.append(process.stdout)
                yield found[0], "".join(said)
                break
        else:
            pytest.fail(f"it did not start: {''.join(said)}")
    finally:
        begun = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        rest = process.communicate(timeout=30)[0]
        if lines is not None:
            lines.append(rest)
        assert time.monotonic() - begun < 10
        assert "Traceback" not in rest, rest
        assert ends_within(15, process.pid), "something is left running"


def ends_within(seconds, group):
    """Whether all of a group of processes is gone after a while."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


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
    for more in ((), ("--no-worker",)):  # the second time nothing is new
        with serving(tmp_path, *more) as (address, said):
            assert "1 scores at" in said
            assert "no worker runs" not in said
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
        assert "no worker runs" in said
        home = requests.get(address, timeout=30).text
        assert "All of these are simulated" in home
        assert not (tmp_path / "site").exists()
        assert (tmp_path / "site-demonstration" / "site.sqlite3").exists()
        assert requests.get(f"{address}nothing/", timeout=30).status_code == 404
        assert requests.get(address, headers={"Host": "elsewhere.example"}, timeout=30).status_code == 400


def test_a_worker_runs_beside_and_ends_with_the_server(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "site.sqlite3").touch()  # there is a site: no demonstration
    lines = []
    with serving(tmp_path, lines=lines):
        said = next(line for line in lines[0] if line.startswith("Worker"))
        os.kill(int(said.split()[1]), 0)
    assert lines[1].rstrip().endswith(f"Worker {said.split()[1]} ends")


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


def test_two_at_once_on_a_fresh_site(tmp_path):
    said = []

    def start():
        with serving(tmp_path, "--demo") as (address, before):
            said.append(before)
            assert requests.get(address, timeout=30).status_code == 200

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(start) for _ in range(2)]:
            done.result()
    assert len(said) == 2


def test_a_site_that_another_makes_ready_is_waited_for(tmp_path):
    import fcntl

    home = tmp_path / "site-demonstration"
    home.mkdir()
    with (home / ".preparing").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = {
            name: text for name, text in os.environ.items() if not name.startswith(("BRAINSCORE_", "DJANGO_"))
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "brainscore", "serve", "--demo", "--port", "0", "--workers", "1"],
            env={**environment, "BRAINSCORE_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert "Waiting" in process.stdout.readline()
            assert not (home / "site.sqlite3").exists()
        finally:
            process.kill()
            process.communicate(timeout=30)


def test_files_of_a_running_server_stay(tmp_path):
    with serving(tmp_path, "--demo") as (address, _):
        style = re.search(r'href="(/static/site/site[^"]*css)"', requests.get(address, timeout=30).text)[1]
        (tmp_path / "site-demonstration" / "static" / ".collected").write_text("of another version")
        of_before = tmp_path / "site-demonstration" / "static" / "of-before.txt"
        of_before.write_text("still there")
        with serving(tmp_path, "--demo"):
            assert requests.get(address.rstrip("/") + style, timeout=30).status_code == 200
            assert of_before.exists()


SECRET = "hidden-word"


@pytest.mark.parametrize(
    "value",
    [
        f"nonsense-{SECRET}",
        f"mysql://me:{SECRET}@localhost/site",
        f"postgres://me:{SECRET}@localhost:port/site",
        f"postgres://me:{SECRET}@localhost:70000/site",
        f"postgres://me:{SECRET}@localhost",
    ],
)
def test_addresses_of_databases_that_cannot_be_read(monkeypatch, value):
    from brainscore_web import _environment

    monkeypatch.setenv("DATABASE_URL", value)
    with pytest.raises(UserError, match="DATABASE_URL") as error:
        _environment.database()
    assert SECRET not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DATABASE_URL", f"postgres://me:{SECRET}@localhost:port/site"),
        ("DATABASE_URL", f"sqlite:////dev/null/{SECRET}"),
        ("BRAINSCORE_SITE_HOME", f"/dev/null/{SECRET}"),
    ],
)
@pytest.mark.parametrize("way", ["serve", "manage"])
def test_settings_that_are_wrong_are_named_and_not_shown(tmp_path, variable, value, way):
    (tmp_path / "results" / "a" / "b").mkdir(parents=True)
    (tmp_path / "results" / "a" / "b" / "c.json").touch()  # so that it is no demonstration
    command = ["brainscore", "serve", "--port", "0"] if way == "serve" else ["brainscore_web", "migrate"]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "BRAINSCORE_HOME": str(tmp_path), variable: value},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert variable in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stdout + done.stderr


def test_without_a_driver_for_postgresql(monkeypatch):
    from brainscore_web import _environment

    monkeypatch.setenv("DATABASE_URL", f"postgres://me:{SECRET}@localhost/site")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UserError, match="DATABASE_URL") as error:
        _environment.database()
    assert "brainscore[postgres]" in str(error.value)
    assert SECRET not in str(error.value)
