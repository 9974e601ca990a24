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
from contextlib import ExitStack, contextmanager
from itertools import chain

import pytest
import requests

from brainscore_core.errors import UserError
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, ResultsStore

pytestmark = pytest.mark.skipif(importlib.util.find_spec("django") is None, reason="needs Django")


def started(home, *arguments):
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("BRAINSCORE_", "DJANGO_"))}
    environment.pop("DATABASE_URL", None)
    return subprocess.Popen(
        [sys.executable, "-m", "brainscore", "serve", "--port", "0", "--workers", "1", *arguments],
        env={**environment, "BRAINSCORE_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@contextmanager
def serving(home, *arguments, lines=None):
    """The site's address while it runs, and what it said before; what it says later is added to `lines`."""
    process = started(home, *arguments)
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
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        rest = process.communicate(timeout=120)[0]
        if lines is not None:
            lines.append(rest)
        assert "Traceback" not in rest, rest
        assert ends_within(60, process.pid), "something is left running"


def ends_within(seconds, group):
    """Whether all of a group of processes is gone after a while."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.slow(reason="starts a server and a worker")
def test_results_at_hand_are_shown_and_a_worker_ends_with_the_server(tmp_path):
    store = ResultsStore(tmp_path / "results")
    store.write(
        Receipt(
            model=ModelInfo(identifier="alexnet"),
            benchmark=BenchmarkInfo(identifier="MajajHong2015.IT-pls", version=4, parent="IT"),
            state="scored",
            score=Estimate(value=0.512, error=0.01, ci=(0.49, 0.53), ci_level=0.95),
        )
    )
    lines = []
    with serving(tmp_path, lines=lines) as (address, said):
        assert "1 score at" in said
        assert "without a worker" not in said
        page = requests.get(f"{address}vision/leaderboard/", timeout=60)
        assert page.status_code == 200
        assert "alexnet" in page.text
        assert "All scores are simulated" not in requests.get(address, timeout=60).text
        packed = requests.get(address.rstrip("/") + style_of(page.text), timeout=60)
        assert packed.headers["Content-Encoding"] == "br"
        assert "immutable" in packed.headers["Cache-Control"]
        assert requests.get(f"{address}nothing/", timeout=60).status_code == 404
        assert requests.get(address, headers={"Host": "elsewhere.example"}, timeout=60).status_code == 400
        ready = next(line for line in chain(said.splitlines(), lines[0]) if line.startswith("Worker"))
        os.kill(int(ready.split()[1]), 0)
    assert lines[1].rstrip().endswith(f"Worker {ready.split()[1]} ends")


def style_of(page):
    return re.search(r'href="(/static/site/site[^"]*css)"', page)[1]


@pytest.mark.slow(reason="starts four servers")
def test_a_demonstration_is_simulated(tmp_path):
    """Two servers are started at once on a fresh site, then a third while one runs; last one with a result."""
    with ThreadPoolExecutor(2) as threads, ExitStack() as running:
        entered = [threads.submit(running.enter_context, serving(tmp_path, "--demo")) for _ in range(2)]
        (address, said), (other, said_by_other) = [one.result() for one in entered]
        for text in (said, said_by_other):
            assert "without a worker" in text
        assert requests.get(other, timeout=60).status_code == 200
        home = requests.get(address, timeout=60).text
        assert "All scores are simulated" in home
        assert "all models and scores are simulated" in requests.get(f"{address}faq/", timeout=60).text
        assert not (tmp_path / "site").exists()
        assert (tmp_path / "site-demonstration" / "site.sqlite3").exists()

        # files of a running server stay
        static = tmp_path / "site-demonstration" / "static"
        (static / ".collected").write_text("of another version")
        (static / "of-before.txt").write_text("still there")
        with serving(tmp_path, "--demo"):
            assert requests.get(address.rstrip("/") + style_of(home), timeout=60).status_code == 200
            assert (static / "of-before.txt").exists()
        assert "is running" in refused(tmp_path, "--demo", "--reset")
        assert (static / "of-before.txt").exists()

    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "site.sqlite3").touch()  # there is a site: no demonstration
    with serving(tmp_path, "--no-worker") as (address, said):
        assert "0 scores at" in said
        assert "without a worker" not in said
        assert "All scores are simulated" not in requests.get(address, timeout=60).text
    assert "not a demonstration" in refused(tmp_path, "--reset")
    assert (tmp_path / "site" / "site.sqlite3").exists()


def refused(home, *arguments):
    process = started(home, *arguments)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "Traceback" not in said
    return said


def fails(cli, *arguments):
    done = cli("serve", *arguments)
    assert done.exit_code == 2
    return done.stderr


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """What the command would write is in a folder of the test's own, what it sets is set back."""
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    monkeypatch.setenv("BRAINSCORE_SITE_HOME", str(tmp_path / "site"))
    monkeypatch.setenv("DATABASE_URL", "")
    for name in ("DEMONSTRATION", "RESULTS", "SCORED_MODELS", "SCORED_BENCHMARKS"):
        monkeypatch.setenv(f"BRAINSCORE_SITE_{name}", "")


def test_a_port_that_is_taken(cli, fresh):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = fails(cli, "--demo", "--port", str(port))
    assert f"127.0.0.1:{port}" in said
    assert "--port" in said


def test_others_are_let_in_by_name_only(cli, fresh):
    assert "BRAINSCORE_SITE_HOSTS" in fails(cli, "--demo", "--host", "0.0.0.0")


@pytest.mark.parametrize(("kind", "options"), [("site-demonstration", ["--demo"]), ("site-example", [])])
def test_only_folders_of_demonstrations_are_reset_and_only_after_a_question(cli, fresh, tmp_path, kind, options):
    """The port is taken, so that no server starts."""
    folder = tmp_path / kind
    folder.mkdir()
    (folder / "mine").touch()
    assert "was not created as the folder of a demonstration" in fails(cli, *options, "--reset")
    assert (folder / "mine").exists()
    (folder / ".demonstration").touch()
    done = cli("serve", *options, "--reset", input="n\n")
    assert done.exit_code == 130
    assert str(folder) in done.output
    assert (folder / "mine").exists()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        cli("serve", *options, "--reset", "--port", str(taken.getsockname()[1]), input="y\n")
    assert not (folder / "mine").exists()
    assert [path.name for path in folder.iterdir()] == [".demonstration"]


def test_demo_and_results_exclude_each_other(cli, fresh, tmp_path):
    assert "--demo" in fails(cli, "--demo", "--results", str(tmp_path))


@pytest.mark.slow(reason="makes a site ready")
def test_results_that_are_not_there(tmp_path):
    process = started(tmp_path, "--results", str(tmp_path / "nowhere"))
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "nowhere" in said
    assert "Traceback" not in said


def test_a_site_that_another_makes_ready_is_waited_for(tmp_path):
    import fcntl

    home = tmp_path / "site-demonstration"
    home.mkdir()
    with (home / ".preparing").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = started(tmp_path, "--demo")
        try:
            assert "Waiting" in process.stdout.readline()
            assert not (home / "site.sqlite3").exists()
        finally:
            process.kill()
            process.communicate()


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
    from brainscore_web import environment as _environment

    monkeypatch.setenv("DATABASE_URL", value)
    with pytest.raises(UserError, match="DATABASE_URL") as error:
        _environment.database_settings()
    assert SECRET not in "".join(traceback.format_exception(error.value))


UNREADABLE = ("DATABASE_URL", f"postgres://me:{SECRET}@localhost:port/site")
UNUSABLE = ("DATABASE_URL", f"sqlite:////dev/null/{SECRET}")
NO_FOLDER = ("BRAINSCORE_SITE_HOME", f"/dev/null/{SECRET}")
LATER = pytest.mark.slow(reason="as the two that run by default, in a process of its own")


@pytest.mark.slow(reason="starts commands")
@pytest.mark.parametrize(
    ("way", "variable", "value"),
    [
        ("serve", *UNUSABLE),
        ("manage", *NO_FOLDER),
        pytest.param("serve", *UNREADABLE, marks=LATER),
        pytest.param("serve", *NO_FOLDER, marks=LATER),
        pytest.param("manage", *UNREADABLE, marks=LATER),
        pytest.param("manage", *UNUSABLE, marks=LATER),
    ],
)
def test_settings_that_are_wrong_are_named_and_not_shown(tmp_path, variable, value, way):
    (tmp_path / "results" / "a" / "b").mkdir(parents=True)
    (tmp_path / "results" / "a" / "b" / "c.json").touch()  # so that it is no demonstration
    command = ["brainscore", "serve", "--port", "0"] if way == "serve" else ["brainscore_web", "migrate"]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "BRAINSCORE_HOME": str(tmp_path), variable: value},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert variable in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stdout + done.stderr


def test_without_a_driver_for_postgresql(monkeypatch):
    from brainscore_web import environment as _environment

    monkeypatch.setenv("DATABASE_URL", f"postgres://me:{SECRET}@localhost/site")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UserError, match="DATABASE_URL") as error:
        _environment.database_settings()
    assert "brainscore[postgres]" in str(error.value)
    assert SECRET not in str(error.value)
