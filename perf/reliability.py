"""What becomes of many submissions at once while workers, server and database are killed again and again.

Run with ``python perf/reliability.py [--submissions 200] [--database postgresql] [--write SECTION]``. Needs
bubblewrap, and with PostgreSQL its server programs (on Debian: ``apt install bubblewrap postgresql``). Everything
happens in a temporary folder and on loopback.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _running_site import HERE, Postgres, Process, clean_environment, free_port, member, plugins, submit, wait_for
from _tables import table, write_section

BENCHMARKS = "Simulated2026.V1-rdm"
STEPS = ("check", "test", "publish", "score")
VICTIMS = ("worker", "server", "database")
SOON = 2.0  # seconds after the kill before, for a victim and step of which there was none


def observe():
    """The present state: running steps by kind, submissions by state, number of e-mails that are not sent.

    A step is running if its worker has renewed its lease recently; scoring is, while one of its pairs is.
    """
    from datetime import timedelta

    from django.db import Error, connections
    from django.utils import timezone

    from brainscore_web.jobs.models import Email
    from brainscore_web.scoring.models import Job
    from brainscore_web.submissions.models import Step, Submission

    try:
        lately = timezone.now() - timedelta(seconds=11)  # workers renew their leases every two or ten seconds
        steps = Counter(Step.objects.filter(state="running", claimed__gt=lately).values_list("kind", flat=True))
        steps["score"] = Job.objects.filter(state="running", claimed__gt=lately).count()
        states = Counter(Submission.objects.values_list("state", flat=True))
        return steps, states, Email.objects.filter(sent=None).count()
    except Error:
        connections.close_all()
        return Counter(), Counter(), 0


def chaos(victims, hits, kills, stop, seconds):
    """Kill each victim during each step, while there are any; what was never hit comes first, and soon."""
    done, last = 0, -seconds
    while not stop.is_set():
        for one in (*victims["worker"], *victims["server"]):
            one.restart_if_ended()
        steps, *_ = observe()
        running = [kind for kind in STEPS if steps[kind]]
        wanted = [(hits[step, name], random.random(), name) for step in running for name in victims]
        least, _, name = min(wanted, default=(0, 0, ""))
        if name and done < kills and time.monotonic() - last > (seconds if least else min(seconds, SOON)):
            done, last = done + 1, time.monotonic()
            for kind in running:
                hits[kind, name] += 1
            random.choice(victims[name]).kill()
            print(f"killed {name} during {', '.join(running)}", flush=True)
        stop.wait(0.1)


def counts(results, mail):
    """What there is in the end."""
    from brainscore_core.scoring import ResultsStore
    from brainscore_web.jobs.models import Email
    from brainscore_web.leaderboard.models import Score
    from brainscore_web.scoring.models import Job
    from brainscore_web.submissions.models import Plugin, Revision, Step, Submission

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
        "letters": Email.objects.count(),
        "letters unsent": Email.objects.filter(sent=None).count(),
        "mails": sum(file.read_text().count("\nMessage-ID: ") for file in mail.glob("*")),
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
    parser.add_argument("--write", metavar="SECTION", help="write this section of docs/operators/reliability.md")
    options = parser.parse_args()
    if shutil.which("bwrap") is None:
        sys.exit("bubblewrap is needed (on Debian: apt install bubblewrap)")
    with tempfile.TemporaryDirectory(prefix="reliability-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)  # the database's server runs as another user
        mail, results, log = home / "mail", home / "results", home / "log"
        mail.mkdir()
        server = Postgres(home / "postgres") if options.database == "postgresql" else None
        environment = clean_environment(
            home,
            BRAINSCORE_SITE_RESULTS=str(results),
            BRAINSCORE_SITE_MAIL=f"file://{mail}",
            BRAINSCORE_SITE_SCORED_BENCHMARKS=BENCHMARKS,
            BRAINSCORE_SITE_SCORED_MODELS="none",
            BRAINSCORE_SITE_OPEN_SUBMISSIONS="1000",
            BRAINSCORE_SITE_SUBMISSIONS_A_DAY="10000",
            BRAINSCORE_SITE_RATE_KNOWN="100000",
            BRAINSCORE_SITE_COMPUTING_KNOWN="100000",
            **({"DATABASE_URL": server.address} if server else {}),
        )
        os.environ.clear()
        os.environ.update(environment)
        report = watch(options, server, environment, mail, results, log)
        if server:
            server.end()
    print(json.dumps(report, indent=1))
    if options.write:
        write(options, report)


def watch(options, server, environment, mail, results, log):
    """The experiment itself."""
    from brainscore_web.serving import prepare

    results.mkdir()
    prepare(str(results), say=print)
    token = member("modeller@example.org")
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
            return submit(site, token, plugins.model_files(name, size=16 + number % 8), name)

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
        "ended by themselves": sum(one.ended for one in (*workers, web)),
    }  # fmt: skip


def wait_until_done(options, began):
    """Whether everything came to an end in time, and all letters have left."""
    shown = 0.0
    while time.monotonic() - began < options.limit:
        steps, states, letters = observe()
        if time.monotonic() - shown > 30:
            print(f"{time.monotonic() - began:.0f} s: {dict(states)}, running: {dict(steps)}", flush=True)
            shown = time.monotonic()
        if (
            states
            and sum(states.values()) >= options.submissions
            and not set(states) & {"queued", "publishing", "scoring"}
            and not letters
        ):
            return True
        time.sleep(1)
    return False


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
    write_section(options.write, "\n".join(lines), HERE.parent / "docs" / "operators" / "reliability.md")


if __name__ == "__main__":
    main()
