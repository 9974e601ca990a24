"""Drills on a running site: each is performed once, and its result is a row in ``docs/operators/reliability.md``.

Run with ``python perf/drills.py [--drill NAME] [--write]``. Everything happens in a temporary folder and on loopback,
with SQLite, the server's two processes and a worker.
"""

import argparse
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from _running_site import HERE, PASSWORD, Process, Visitor, clean_environment, free_port, member, wait_for
from _tables import table, write_section

LOCKED_SECONDS = 60.0
SIGN_UPS = 200
API_CALLS = 150


def status_of(request):
    """The status of a response; None without one."""
    try:
        with urlopen(request, timeout=90) as answer:
            answer.read()
            return answer.status
    except HTTPError as error:
        return error.code
    except (URLError, OSError):
        return None


def sign_up(address, number):
    """Fill in the form as a visitor without a history; returns the status."""
    visitor = Visitor(address)
    try:
        answers = {"email": f"person-{number}@example.org", "password1": PASSWORD, "display_name": "P", "consent": "on"}
        visitor.post("/accounts/signup/", **answers)
    except HTTPError as error:
        return error.code
    except (URLError, OSError):
        return None
    return 200


def counted(statuses):
    """Statuses and how often each occurred, as text."""
    return ", ".join(f"{number} × {status}" for status, number in sorted(Counter(map(str, statuses)).items()))


def sqlite_locked(address, home):
    """Another process holds the write lock of the database for a minute, while pages are read and users sign up."""
    database = sqlite3.connect(home / "site" / "site.sqlite3", isolation_level=None, check_same_thread=False)
    database.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    release = threading.Timer(LOCKED_SECONDS, lambda: database.execute("ROLLBACK"))
    release.start()
    pages, writers = [], []
    with ThreadPoolExecutor(2) as pool:
        pending = [pool.submit(sign_up, address, 9000 + number) for number in range(2)]
        while time.monotonic() - begun < LOCKED_SECONDS:
            pages.append(status_of(f"{address}/vision/leaderboard/"))
            time.sleep(2)
        writers = [one.result() for one in pending]
    release.join()
    database.close()
    after = sign_up(address, 9100)
    return f"pages: {counted(pages)}; sign-ups while locked: {counted(writers)}; afterwards: {after}"


def mass_sign_up(address, home):
    """One address signs up as many users at once."""
    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(lambda number: sign_up(address, number), range(SIGN_UPS)))
    page = status_of(f"{address}/vision/leaderboard/")
    with sqlite3.connect(home / "site" / "site.sqlite3") as database:
        (users,) = database.execute("SELECT count(*) FROM accounts_user WHERE email LIKE 'person-%'").fetchone()
    return f"{counted(statuses)}; {users} accounts, none confirmed; a page meanwhile: {page}"


def anonymous_calls(address, home):
    """One address calls the API without a token within a minute."""
    time.sleep(max(0.0, 61 - time.time() % 60) % 60)  # the count begins at whole minutes
    begun = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: status_of(f"{address}/api/v1/benchmarks?limit=1"), range(API_CALLS)))
    return f"{counted(statuses)} in {time.monotonic() - begun:.0f} s"


def restore_while_running(address, home):
    """A backup is restored while server and worker run."""
    from django.core.management import call_command

    from brainscore_core.errors import UserError

    call_command("backup", str(home / "backup"), verbosity=0)
    try:
        call_command("restore", str(home / "backup"), "--replace", verbosity=0)
    except UserError as error:
        return f"refused: {error.message}; a page afterwards: {status_of(f'{address}/vision/leaderboard/')}"
    return "restored, although the site was running"


def token_scopes(address, home):
    """A token for reading is used to submit, to post receipts, and to take pairs."""
    token = member("reader@example.org")
    from brainscore_web.accounts.models import ApiToken

    ApiToken.objects.filter(user__email="reader@example.org").update(scopes=["read"])
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    statuses = [
        status_of(Request(f"{address}/api/v1/{path}", data=b"{}", headers=headers, method="POST"))
        for path in ("submissions", "receipts", "work")
    ]
    return f"reading: {status_of(Request(f'{address}/api/v1/me', headers=headers))}; others: {counted(statuses)}"


DRILLS = {
    "SQLite is locked for a minute": sqlite_locked,
    f"{SIGN_UPS} sign-ups from one address": mass_sign_up,
    f"{API_CALLS} anonymous calls of the API from one address": anonymous_calls,
    "a backup is restored onto a running site": restore_while_running,
    "a token with the scope `read` is used for all else": token_scopes,
}


def main():
    """Perform the drills, print and write their results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drill", choices=DRILLS, action="append", help="only this one; again for another")
    parser.add_argument("--write", action="store_true", help="write docs/operators/reliability.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="drills-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)
        environment = clean_environment(
            home,
            BRAINSCORE_SITE_RESULTS=str(home / "results"),
            BRAINSCORE_SITE_SCORED_BENCHMARKS="none",
            BRAINSCORE_SITE_SCORED_MODELS="none",
            BRAINSCORE_SITE_MAIL=f"file://{home / 'mail'}",
        )
        os.environ.clear()
        os.environ.update(environment)
        rows = perform(options.drill or list(DRILLS), home, environment)
    text = table(["drill", "result"], rows)
    print(text)
    if options.write:
        write_section("drills", text, HERE.parent / "docs" / "operators" / "reliability.md")


def perform(names, home, environment):
    """Perform drills on one site; returns rows of the table."""
    from brainscore_web.serving import prepare

    (home / "results").mkdir()
    prepare(None, say=print)
    from brainscore_web.leaderboard.simulation import simulate_leaderboard

    simulate_leaderboard(models=30, benchmarks=20, versions=1, private=0)
    address = f"http://127.0.0.1:{free_port()}"
    program = [sys.executable, "-m", "brainscore"]
    serve = [*program, "serve", "--port", address.rpartition(":")[2], "--no-worker", "--results", str(home / "results")]
    web = Process("server", serve, environment, home / "log")
    worker = Process("worker", [*program, "worker"], environment, home / "log")
    rows = []
    try:
        wait_for(address)
        time.sleep(15)  # until the worker has a heartbeat
        for name in names:
            rows.append([name, DRILLS[name](address, home)])
            print(*rows[-1], sep=": ", flush=True)
        ended = [process.name for process in (web, worker) if process.process.poll() is not None]
        rows.append(["processes that ended by themselves in all drills", ", ".join(ended) or "none"])
    finally:
        worker.end()
        web.end()
    return rows


if __name__ == "__main__":
    main()
