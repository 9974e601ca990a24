"""What readers notice while the server is attacked, with no proxy before it.

Run with ``python perf/attacks.py [--seconds 30] [--write]``. Needs bubblewrap (on Debian: ``apt install bubblewrap``).
Everything happens in a temporary folder and on loopback; scores of the leaderboard are simulated.
"""

import argparse
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles

from _running_site import (
    HERE,
    PASSWORD,
    Process,
    Visitor,
    ask,
    clean_environment,
    free_port,
    member,
    plugins,
    submit,
    wait_for,
)
from _tables import table, write_section
from soak import Counts, memory_of, reader

PAUSE = 2.0  # seconds between two pages of a reader, on average
SPACES = "numpy" + " " * 180_000 + "x\n"
LONG_TO_COLOUR = "\n".join(["a " * 500] * 60) + "\n"
FOLDERS = """import os


def test_folders():
    for number in range(150_000):
        os.mkdir(f"/tmp/home/{number}")


def test_folders_within_folders():
    os.chdir("/tmp")
    for _ in range(3_000):
        os.mkdir("d")
        os.chdir("d")
"""


class Site:
    """A site that can be attacked, with a member and a token."""

    def __init__(self, address, token):
        self.address, self.token = address, token
        self.port = int(address.rpartition(":")[2])
        self.stop = threading.Event()
        self.attempts = 0
        self._sent = 0

    def model(self, **more):
        """The files of a model of a new name, and others."""
        self._sent += 1
        name = f"tiles-{self._sent:04d}"
        files = plugins.model_files(name, size=16)
        folder = next(iter(files)).rpartition("/")[0]
        return name, files | {f"{folder}/{file.replace('_dot_', '.')}": text for file, text in more.items()}


def nothing(site):
    """Readers alone."""
    site.stop.wait()


def requirements(site):
    """Four members' forms with 180,000 spaces in a line of their requirements, again and again."""

    def send():
        while not site.stop.is_set():
            name, files = site.model(requirements_dot_txt=SPACES)
            with suppress(RuntimeError):  # that it is refused is as it should be
                submit(site.address, site.token, files, name)
            site.attempts += 1

    together([send] * 4)


def highlighting(site):
    """Eight requests at once for source that is long to colour, by the submitter."""
    name, files = site.model(slow_dot_java=LONG_TO_COLOUR, slow_dot_py=LONG_TO_COLOUR)
    visitor = Visitor(site.address)
    visitor.post("/accounts/login/", login="modeller@example.org", password=PASSWORD)
    try:
        key, _ = submit(site.address, site.token, files, name)
    except RuntimeError:  # source that is no Python, and a language of no plugin
        del files[next(file for file in files if file.endswith("slow.java"))]
        path = next(file for file in files if file.endswith("slow.py"))
        files[path] = "x = (" + "a + " * 100_000 + "a)\n"
        key, _ = submit(site.address, site.token, files, name)

    def look():
        while not site.stop.is_set():
            with suppress(OSError):
                visitor.get(f"/submissions/{key}/1/code/")
            site.attempts += 1

    together([look] * 8)


def slow_clients(site):
    """Two hundred connections that send the form of the login a byte at a time."""
    head = b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    head += b"Content-Length: 5000\r\n\r\n"
    open_ones = []
    while not site.stop.is_set():
        while len(open_ones) < 200:
            with suppress(OSError):
                one = socket.create_connection(("127.0.0.1", site.port), timeout=5)
                one.sendall(head)
                open_ones.append(one)
                site.attempts += 1
        for one in list(open_ones):
            try:
                one.sendall(b"x")
            except OSError:  # the server has enough of it: try anew
                one.close()
                open_ones.remove(one)
        site.stop.wait(0.5)
    for one in open_ones:
        one.close()


def folders(site):
    """Submissions whose tests make 150,000 folders, and 3,000 within each other; the worker is beside the server."""
    while not site.stop.is_set():
        name, files = site.model(test_dot_py=FOLDERS)
        key, _ = submit(site.address, site.token, files, name)
        site.attempts += 1
        while not site.stop.wait(1):
            answer = ask(site.address, f"submissions/{key}", site.token)
            if answer is not None and answer["state"] != "queued":
                break


def together(jobs):
    """Run all of them in threads, until they end."""
    threads = [threading.Thread(target=job) for job in jobs]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


ATTACKS = {
    "none": nothing,
    "spaces in requirements": requirements,
    "source that is long to colour": highlighting,
    "200 slow clients": slow_clients,
    "folders in the sandbox": folders,
}


def main():
    """Attack, watch readers, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30, help="for each attack")
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--attack", choices=ATTACKS, action="append", help="only this one; again for another")
    parser.add_argument("--write", action="store_true", help="write docs/operators/reliability.md")
    options = parser.parse_args()
    if shutil.which("bwrap") is None:
        sys.exit("bubblewrap is needed (on Debian: apt install bubblewrap)")
    with tempfile.TemporaryDirectory(prefix="attacks-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)  # sandboxed code runs as another user
        environment = clean_environment(
            home,
            BRAINSCORE_SITE_RESULTS=str(home / "results"),
            BRAINSCORE_SITE_SCORED_BENCHMARKS="none",
            BRAINSCORE_SITE_SCORED_MODELS="none",
            BRAINSCORE_SITE_OPEN_SUBMISSIONS="100000",
            BRAINSCORE_SITE_SUBMISSIONS_A_DAY="100000",
            BRAINSCORE_SITE_RATE_ANONYMOUS="1000000",
            BRAINSCORE_SITE_COMPUTING_ANONYMOUS="1000000",
            BRAINSCORE_SITE_COMPUTING_KNOWN="1000000",
            BRAINSCORE_SITE_RATE_KNOWN="1000000",
        )
        os.environ.clear()
        os.environ.update(environment)
        rows, errors = measure(options, home, environment)
    text = "\n".join(
        [
            f"{options.readers} readers, each with a page every {PAUSE:.0f} seconds, on 2 cores, SQLite, the server's "
            f"2 processes without a proxy, 1 worker, {options.seconds:.0f} seconds each:",
            "",
            table(["attack", "attempts", "pages", "median, ms", "99 %, ms", "errors", "server, MB"], rows),
        ]
    )
    print(text)
    for error in errors[:20]:
        print("error:", error)
    if options.write:
        write_section("attacks", text, HERE.parent / "docs" / "operators" / "reliability.md")


def measure(options, home, environment):
    """The experiment itself: a site for each attack, so that none leaves something to the next."""
    from brainscore_web.serving import prepare

    (home / "results").mkdir()
    prepare(None, say=print)
    from brainscore_web.leaderboard.simulation import simulate_leaderboard

    simulate_leaderboard(models=100, benchmarks=60, versions=2, private=0)
    token = member("modeller@example.org")
    rows, errors = [], []
    for name in options.attack or ATTACKS:
        address = f"http://127.0.0.1:{free_port()}"
        program = [sys.executable, "-m", "brainscore"]
        serve = [*program, "serve", "--port", address.rpartition(":")[2], "--no-worker"]
        web = Process("server", [*serve, "--results", str(home / "results")], environment, home / "log")
        worker = Process("worker", [*program, "worker"], environment, home / "log")
        counts, site = Counts(), Site(address, token)
        try:
            wait_for(address)
            attacker = threading.Thread(target=ATTACKS[name], args=(site,), daemon=True)
            attacker.start()
            time.sleep(3)  # until it has effect
            readers = [
                threading.Thread(target=reader, args=(address, counts, site.stop, PAUSE), daemon=True)
                for _ in range(options.readers)
            ]
            for one in readers:
                one.start()
            time.sleep(options.seconds)
            memory = memory_of(web.process.pid) / 1e6
            site.stop.set()
            for one in (*readers, attacker):
                one.join(70)
        finally:
            worker.end()
            web.end()
        times = counts.times
        shown = (
            [f"{1000 * median(times):.0f}", f"{1000 * quantiles(times, n=100)[98]:.0f}"]
            if len(times) > 1
            else ["–"] * 2
        )
        rows.append([name, str(site.attempts), str(len(times)), *shown, str(len(counts.errors)), f"{memory:.0f}"])
        print(*rows[-1], flush=True)
        errors += [f"{name}: {error}" for error in counts.errors]
    if errors:
        errors.append(f"the end of the log:\n{(home / 'log').read_text(errors='replace')[-5000:]}")
    return rows, errors


if __name__ == "__main__":
    main()
