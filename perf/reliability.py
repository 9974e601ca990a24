"""What becomes of many submissions at once while workers, server and database are killed again and again.

Run with ``python perf/reliability.py [--submissions 200] [--database postgresql] [--write]``. Needs bubblewrap, and
with PostgreSQL its server programs (on Debian: ``apt install bubblewrap postgresql``). Everything happens in a
temporary folder and on loopback.
"""

import argparse
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from _tables import table, write_section

HERE = Path(__file__).parent
BENCHMARKS = "Simulated2026.V1-rdm"
STEPS = ("check", "test", "publish", "score", "pair")
VICTIMS = ("worker", "server", "database")


def module(path):
    """A file of the tests, for what they have already."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


plugins = module(HERE.parent / "tests" / "web" / "_plugins.py")
postgres = module(HERE.parent / "tests" / "web" / "on_postgres.py")


class Process:
    """A process that is started again after it was killed."""

    def __init__(self, name, command, environment, log):
        self.name, self.command, self.environment = name, command, environment
        self.log = log.open("ab")
        self.kills = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command, env=self.environment, stdout=self.log, stderr=self.log, start_new_session=True
        )

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.kills += 1
        self.start()

    def end(self):
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(40)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Postgres:
    """A database server of its own; killed, it starts again and recovers."""

    def __init__(self, place):
        self.programs, self.place = postgres.folder_of_programs(), place
        self.prefix, owner = postgres.as_server()
        place.mkdir()
        if owner is not None:
            os.chown(place, owner, -1)
        self.kills = 0
        self.run("initdb", "-D", place / "data", "-U", "site", "--auth=trust", "--encoding=UTF8", "--locale=C")
        self.start()

    def run(self, program, *arguments):
        done = subprocess.run(
            [*self.prefix, self.programs / program, *arguments],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.place,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"{program} failed: {done.stderr}")

    def start(self):
        options = f"-c listen_addresses= -c unix_socket_directories={self.place} -c max_connections=200"
        self.run("pg_ctl", "-D", self.place / "data", "-l", self.place / "log", "-w", "-o", options, "start")

    @property
    def address(self):
        return f"postgres://site@{str(self.place).replace('/', '%2F')}/postgres"

    def kill(self):
        pid = int((self.place / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        self.kills += 1
        time.sleep(1)
        for _ in range(20):  # what it had started ends by itself
            with suppress(SystemExit):
                self.start()
                return
            time.sleep(1)
        sys.exit("the database does not start again")

    def end(self):
        self.run("pg_ctl", "-D", self.place / "data", "-m", "immediate", "stop")


def ask(site, path, token, *, body=None, kind=None):
    """One request; None where the server or its database is away."""
    headers = {"Authorization": f"Bearer {token}"} | ({"Content-Type": kind} if kind else {})
    try:
        with urlopen(Request(f"{site}/api/v1/{path}", data=body, headers=headers), timeout=60) as answer:
            return json.load(answer)
    except HTTPError as error:
        said = error.read().decode(errors="replace")
        if error.code >= 500 or error.code == 429:
            return None
        raise RuntimeError(f"{path}: {error.code} {said[:500]}") from None
    except (URLError, OSError, ValueError):
        return None


def submit(site, token, files, note):
    """Send until there is an answer that it is there; what was lost on the way is sent again."""
    border = "----reliability"
    parts = [
        f'--{border}\r\nContent-Disposition: form-data; name="note"\r\n\r\n{note}\r\n'.encode(),
        f'--{border}\r\nContent-Disposition: form-data; name="archive"; filename="{note}.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n".encode(),
        plugins.zipped(files),
        f"\r\n--{border}--\r\n".encode(),
    ]
    tries = 0
    while True:
        tries += 1
        try:
            kind = f"multipart/form-data; boundary={border}"
            answer = ask(site, "submissions", token, body=b"".join(parts), kind=kind)
        except RuntimeError as error:
            if tries > 1 and ("taken" in str(error) or "open submission" in str(error)):
                return "lost answer", tries  # the one before arrived, its answer did not
            raise
        if answer is not None:
            return answer["id"], tries
        time.sleep(random.uniform(0.5, 2))


def observe():
    """What goes on now, by kind of step."""
    from django.db import Error, connections

    from brainscore_web.scoring.models import Job
    from brainscore_web.submissions.models import Step, Submission

    try:
        steps = Counter(Step.objects.filter(state="running").values_list("kind", flat=True))
        steps["pair"] = Job.objects.filter(state="running").count()
        states = Counter(Submission.objects.values_list("state", flat=True))
        return steps, states
    except Error:
        connections.close_all()
        return Counter(), Counter()


def chaos(victims, hits, kills, stop, seconds):
    """Kill each victim during each step, while there are any; what was hit least comes first."""
    done = 0
    while not stop.is_set():
        steps, _ = observe()
        running = [kind for kind in STEPS if steps[kind]]
        wanted = [(hits[step, name], random.random(), name) for step in running for name in victims]
        if wanted and done < kills:
            name = min(wanted)[-1]
            done += 1
            for kind in running:
                hits[kind, name] += 1
            random.choice(victims[name]).kill()
            print(f"killed {name} during {', '.join(running)}", flush=True)
            stop.wait(seconds)
        stop.wait(0.1)


def counts(results, mail):
    """What there is in the end."""
    from brainscore_core.scoring import ResultsStore
    from brainscore_web.leaderboard.models import Score
    from brainscore_web.scoring.models import Job
    from brainscore_web.submissions.models import Letter, Plugin, Revision, Step, Submission

    pairs = Counter(Score.objects.values_list("model__identifier", "benchmark__identifier"))
    jobs = Counter(Job.objects.exclude(state="cancelled").values_list("model__identifier", "benchmark__identifier"))
    written = Counter()
    for receipt in ResultsStore(results):
        written[receipt.model.identifier, receipt.benchmark.identifier] += 1
    return {
        "submissions": Submission.objects.count(),
        "states": dict(Counter(Submission.objects.values_list("state", flat=True))),
        "revisions": Revision.objects.count(),
        "steps": dict(Counter(f"{kind} {state}" for kind, state in Step.objects.values_list("kind", "state"))),
        "attempts": dict(Counter(Step.objects.exclude(attempts__lte=1).values_list("kind", flat=True))),
        "live plugins": Plugin.objects.count(),
        "pairs": len(jobs),
        "jobs": dict(Counter(Job.objects.values_list("state", flat=True))),
        "pairs with several jobs": sum(count > 1 for count in jobs.values()),
        "pairs with a score": len(pairs),
        "pairs with several scores": sum(count > 1 for count in pairs.values()),
        "receipts": sum(written.values()),
        "letters": Letter.objects.count(),
        "letters unsent": Letter.objects.filter(sent=None).count(),
        "mails": len(list(mail.glob("*"))),
    }


def main():
    """Start everything, submit, kill, wait, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--pause", type=float, default=15, help="seconds between two kills")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which it is given up")
    parser.add_argument("--write", action="store_true", help="write docs/reliability.md")
    options = parser.parse_args()
    if shutil.which("bwrap") is None:
        sys.exit("bubblewrap is needed (on Debian: apt install bubblewrap)")
    with tempfile.TemporaryDirectory(prefix="reliability-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)  # the database's server is somebody else
        mail, results, log = home / "mail", home / "results", home / "log"
        mail.mkdir()
        server = Postgres(home / "postgres") if options.database == "postgresql" else None
        foreign = ("BRAINSCORE_", "DJANGO_", "DATABASE_")
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(foreign)},
            "BRAINSCORE_SITE_HOME": str(home / "site"), "BRAINSCORE_HOME": str(home / "home"),
            "BRAINSCORE_SITE_RESULTS": str(results), "BRAINSCORE_SITE_MAIL": f"file://{mail}",
            "BRAINSCORE_SITE_SCORED_BENCHMARKS": BENCHMARKS, "BRAINSCORE_SITE_SCORED_MODELS": "none",
            "BRAINSCORE_SITE_OPEN_SUBMISSIONS": "1000", "BRAINSCORE_SITE_SUBMISSIONS_A_DAY": "10000",
            "BRAINSCORE_SITE_RATE_KNOWN": "100000", "OMP_NUM_THREADS": "1",
            **({"DATABASE_URL": server.address} if server else {}),
        }  # fmt: skip
        os.environ.clear()
        os.environ.update(environment)
        report = watch(options, home, server, environment, mail, results, log)
        if server:
            server.end()
    print(json.dumps(report, indent=1))
    if options.write:
        write(options, report)


def watch(options, home, server, environment, mail, results, log):
    """The experiment itself."""
    from brainscore_web.serving import prepare

    results.mkdir()
    prepare(str(results), say=print)
    from allauth.account.models import EmailAddress

    from brainscore_web.accounts.models import ApiToken, User

    user = User.objects.create_user("modeller@example.org", "correct horse battery")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    token = ApiToken.issue(user, "reliability", ["read", "submit"])[1]
    program = [sys.executable, "-m", "brainscore"]
    port = free_port()
    serve = [*program, "serve", "--port", str(port), "--no-worker", "--results", str(results)]
    web = Process("server", serve, environment, log)
    site = f"http://127.0.0.1:{port}"
    wait_for(site)
    workers = [Process("worker", [*program, "worker"], environment, log) for _ in range(options.workers)]
    victims = {"worker": workers, "server": [web], **({"database": [server]} if server else {})}
    hits, stop = Counter(), threading.Event()
    began = time.monotonic()
    killer = threading.Thread(target=chaos, args=(victims, hits, options.kills, stop, options.pause))
    killer.start()
    try:

        def one(number):
            name = f"tiles-{number:03d}"
            return submit(site, token, plugins.model_files(name, size=8 + number % 8), name)

        with ThreadPoolExecutor(options.at_once) as pool:
            sent = list(pool.map(one, range(options.submissions)))
        received = time.monotonic() - began
        done = wait_until_done(options, began)
    finally:
        stop.set()
        killer.join()
        for one in (*workers, web):
            one.end()
        if os.environ.get("RELIABILITY_LOG"):
            shutil.copy(log, os.environ["RELIABILITY_LOG"])
    return {
        "seconds until all were received": round(received), "seconds": round(time.monotonic() - began), "done": done,
        "requests": sum(tries for _, tries in sent), **counts(results, mail),
        "kills": {f"{name} during {step}": number for (step, name), number in sorted(hits.items())},
        "killed": {name: sum(one.kills for one in those) for name, those in victims.items()},
    }  # fmt: skip


def wait_until_done(options, began):
    """Whether everything came to an end in time."""
    shown = 0.0
    while time.monotonic() - began < options.limit:
        steps, states = observe()
        if time.monotonic() - shown > 30:
            print(f"{time.monotonic() - began:.0f} s: {dict(states)}, running: {dict(steps)}", flush=True)
            shown = time.monotonic()
        if (
            states
            and sum(states.values()) >= options.submissions
            and not set(states) & {"queued", "publishing", "scoring"}
        ):
            return True
        time.sleep(1)
    return False


def free_port():
    """A port that nobody has."""
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(site):
    """Until it answers."""
    for _ in range(120):
        with suppress(OSError), urlopen(site, timeout=5):
            return
        time.sleep(0.5)
    sys.exit("the site does not answer")


def write(options, report):
    """Tables for the documentation."""
    kills = [
        [step, *(str(report["kills"].get(f"{name} during {step}", 0)) for name in VICTIMS if name in report["killed"])]
        for step in STEPS
    ]
    lines = [
        f"{options.submissions} submissions sent {options.at_once} at a time, {options.workers} workers, "
        f"{options.database}; {report['seconds']} s in all, on 2 cores:",
        "",
        table(["", "number"], [[name, str(value)] for name, value in report.items() if type(value) is int]),
        "",
        "States in the end: "
        + ", ".join(f"{count} {state}" for state, count in sorted(report["states"].items()))
        + ".",
        "",
        "Killed with signal 9 while a step of this kind was running (one kill may count in several rows):",
        "",
        table(["step", *(name for name in VICTIMS if name in report["killed"])], kills),
    ]
    write_section(f"kills-{options.database}", "\n".join(lines), HERE.parent / "docs" / "reliability.md")


if __name__ == "__main__":
    main()
