"""Several processes, processes that die, and removal."""

import errno
import functools
import os
import platform
import signal
import subprocess
import sys
import time

import pytest

from brainscore_core.plugins.environments import collect_garbage, environments, folder, remove_environment

pytestmark = pytest.mark.slow(reason="makes virtual environments")

CHILD = """
import sys, time
from pathlib import Path
from brainscore_core.plugins.environments import environment_of

def say(text):
    print(text, flush=True)
    if text.startswith(wait_at):
        while not go.exists():
            time.sleep(0.01)

base, requirements, wait_at, go = sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])
environment = environment_of([Path(requirements)], plugin="mine", base=Path(base), on_progress=say)
say(environment.key)
"""


@pytest.fixture
def start(base, tmp_path):
    """Start a process that makes an environment, and waits where it says a word until the file `go` is there."""
    children = []

    def child(path, wait_at="never"):
        command = [sys.executable, "-c", CHILD, base.python, path, wait_at, tmp_path / "go"]
        children.append(subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True))
        return children[-1]

    yield child
    for process in children:
        process.kill()
        process.wait()
        process.stdout.close()


def unfinished(home):
    return [name for name in os.listdir(home) if name.endswith(".part")]


@pytest.mark.slow(reason="installs several times")
def test_two_processes_make_it_once(start, wheels, plugin, home, tmp_path):
    wheels.add("tiny")
    path = plugin("tiny\n")
    first = start(path, "installing")
    assert [first.stdout.readline() for _ in range(2)][1] == "installing tiny\n"
    second = start(path)
    assert second.stdout.readline().startswith(f"waiting: process {first.pid} on ")
    (tmp_path / "go").touch()
    keys = {process.communicate()[0].split()[-1] for process in (first, second)}
    assert keys == {entry.key for entry in environments()}
    assert len(keys) == 1
    assert not unfinished(home)


@pytest.mark.slow(reason="installs several times")
def test_what_a_killed_process_left_is_removed_and_made_anew(start, make, wheels, plugin, home, run):
    wheels.add("tiny")
    path = plugin("tiny\n")
    killed = start(path, "installing")
    assert [killed.stdout.readline() for _ in range(2)][1] == "installing tiny\n"
    assert len(unfinished(home)) == 1
    assert collect_garbage().remains == ()  # it is being built
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    told = []
    environment = make(path, say=told.append)
    assert told == ["building the environment of mine", "installing tiny"]  # nothing to wait for
    assert run(environment, "import tiny; print(tiny.version)") == "1.0"
    assert not unfinished(home)


@pytest.mark.slow(reason="installs several times")
def test_without_patience_what_others_build_stays(start, make, wheels, plugin, home, monkeypatch, tmp_path):
    wheels.add("tiny")
    path = plugin("tiny\n")
    slow = start(path, "installing")
    assert [slow.stdout.readline() for _ in range(2)][1] == "installing tiny\n"
    monkeypatch.setattr(folder, "exclusive", functools.partial(folder.exclusive, patience=0))
    environment = make(path)
    assert len(unfinished(home)) == 1
    (tmp_path / "go").touch()
    assert slow.communicate()[0].split()[-1] == environment.key
    assert not unfinished(home)


def test_a_lock_says_whether_one_is_alone(tmp_path, monkeypatch):
    path, told = tmp_path / "lock", []
    with folder.exclusive(path, waiting=told.append) as alone:
        assert alone is True
        with folder.exclusive(path, waiting=told.append, patience=0.1) as second:
            assert second is False
    assert told == [f"process {os.getpid()} on {platform.node()}"]
    monkeypatch.setattr(folder, "fcntl", None)
    with folder.exclusive(path, waiting=told.append) as alone:
        assert alone is False


def test_a_lease_in_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    path, open_file = tmp_path / "lock", os.open
    path.touch()

    def read_only(name, flags, *args):
        if flags & (os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, "read-only file system")
        return open_file(name, flags, *args)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", read_only)
        lease = folder.lease(path)
        assert lease >= 0
        assert folder.take_alone(path) == -1
        assert folder.lease(tmp_path / "none") == -1
    assert folder.take_alone(path) is None  # it is in use
    folder.release(lease)
    alone = folder.take_alone(path)
    assert alone >= 0
    folder.release(alone)


def test_garbage_collection_removes_what_killed_processes_left(start, wheels, plugin, home):
    wheels.add("tiny")
    killed = start(plugin("tiny\n"), "installing")
    assert [killed.stdout.readline() for _ in range(2)][1] == "installing tiny\n"
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(collect_garbage(dry_run=True).remains) == 1
    assert len(collect_garbage().remains) == 1
    assert not unfinished(home)


def test_what_another_process_uses_stays(start, make, plugin, home):
    path = plugin("numpy\n")
    make(path).release()
    [stored] = environments()
    user = start(path, stored.key)
    assert user.stdout.readline().strip() == stored.key
    [stored] = environments()
    assert stored.in_use
    assert not remove_environment(stored)
    assert collect_garbage(older_than=0, max_bytes=1).removed == ()
    user.kill()
    user.wait()
    [stored] = environments()
    assert not stored.in_use
    assert [entry.key for entry in collect_garbage(older_than=0).removed] == [stored.key]
    assert environments() == []
    assert [name for name in os.listdir(home) if name != ".locks"] == []


def test_what_this_process_uses_stays_until_all_have_released_it(make, plugin):
    first, second = make(), make()
    first.release()
    [stored] = environments()
    assert not remove_environment(stored)
    second.release()
    second.release()  # once too often
    assert remove_environment(stored)


@pytest.fixture
def three(make, plugin):
    """Environments last used a day, two and three ago; the second takes 10 kB more than the first, the third 1 MB."""
    made = [make(), make(plugin("numpy\n")), make(plugin("numpy>=1\n"))]
    for days, (environment, size) in enumerate(zip(made, (0, 10_000, 1_000_000), strict=True), start=1):
        environment.release()
        (environment.folder / "more").write_bytes(b"x" * size)
        then = time.time() - days * 86400 - 60
        os.utime(environment.folder / "environment.json", (then, then))
    return [environment.key for environment in made]


def test_environments_are_listed_by_last_use(three, make, plugin):
    assert [entry.key for entry in environments()] == three
    make(plugin("numpy\n")).release()
    assert [entry.key for entry in environments()] == [three[1], three[0], three[2]]


def test_collecting_by_age(three):
    assert collect_garbage().removed == ()
    would = collect_garbage(older_than=2 * 86400, dry_run=True)
    assert [entry.key for entry in would.removed] == three[1:]
    assert [entry.key for entry in environments()] == three
    done = collect_garbage(older_than=2 * 86400)
    assert [entry.key for entry in done.removed] == three[1:]
    assert [entry.key for entry in done.kept] == [entry.key for entry in environments()] == three[:1]


def test_collecting_by_size(three):
    sizes = {entry.key: entry.nbytes for entry in environments()}
    assert sizes[three[2]] > 1_000_000 > sizes[three[1]] > 10_000 > sizes[three[0]] > 0
    assert collect_garbage(max_bytes=sum(sizes.values())).removed == ()
    assert [entry.key for entry in collect_garbage(max_bytes=600_000).removed] == three[2:]
    assert [entry.key for entry in collect_garbage(max_bytes=1).removed] == three[:2]


def test_collecting_what_cannot_be_used(three, home, base):
    (home / three[0] / "environment.json").unlink()
    assert [entry.key for entry in collect_garbage().removed] == three[:1]
    base.python.unlink()
    assert {entry.state for entry in environments()} == {"base missing"}
    assert len(collect_garbage().removed) == 2


def test_an_empty_folder_and_files_of_others(home):
    assert environments() == []
    assert collect_garbage(older_than=0).removed == ()
    home.mkdir(parents=True)
    (home / "notes").mkdir()
    (home / "mine.txt").write_text("mine")
    assert environments() == []
    collect_garbage(older_than=0, max_bytes=1)
    assert sorted(os.listdir(home)) == ["mine.txt", "notes"]
