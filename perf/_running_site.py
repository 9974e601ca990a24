"""A site that runs for a measurement: its processes, its database, and those who use it."""

import importlib.util
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

HERE = Path(__file__).parent
FOREIGN = ("BRAINSCORE_", "DJANGO_", "DATABASE_")
PASSWORD = "correct horse battery"  # of a site that lives for minutes


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
        self.kills = self.ended = 0
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

    def restart_if_ended(self):
        """Start it again if it ended by itself, as a service manager does."""
        if self.process.poll() is not None:
            self.ended += 1
            print(f"{self.name} ended by itself with {self.process.returncode}", flush=True)
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


def free_port():
    """Return an unused port."""
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


def clean_environment(home, **settings):
    """Environment of a site below a folder, with nothing of the caller's own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
    places = {"BRAINSCORE_SITE_HOME": str(home / "site"), "BRAINSCORE_HOME": str(home / "home")}
    return {**kept, **places, "OMP_NUM_THREADS": "1", **settings}


def member(email):
    """Make a person with a confirmed address, and give a token of theirs; Django must be set up."""
    from allauth.account.models import EmailAddress

    from brainscore_web.accounts.models import ApiToken, User

    user = User.objects.create_user(email, PASSWORD)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return ApiToken.issue(user, "measurement", ["read", "submit"])[1]


class Visitor:
    """A browser, as far as forms need one."""

    def __init__(self, site):
        self.site, self.jar = site, CookieJar()
        self.opener = build_opener(HTTPCookieProcessor(self.jar))

    def get(self, path):
        with self.opener.open(f"{self.site}{path}", timeout=60) as answer:
            return answer.url, answer.read().decode()

    def post(self, path, *, page="", files=None, **fields):
        """Send a form of a page."""
        _, shown = self.get(page or path)
        fields["csrfmiddlewaretoken"] = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', shown)[1]
        headers = {"Referer": f"{self.site}{path}"}
        if files:
            border = "----measurement"
            headers["Content-Type"] = f"multipart/form-data; boundary={border}"
            body = b""
            for name, value in fields.items():
                body += f'--{border}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, (called, content) in files.items():
                head = f'--{border}\r\nContent-Disposition: form-data; name="{name}"; filename="{called}"\r\n\r\n'
                body += head.encode() + content + b"\r\n"
            body += f"--{border}--\r\n".encode()
        else:
            body = urlencode(fields).encode()
        with self.opener.open(Request(f"{self.site}{path}", data=body, headers=headers), timeout=120) as answer:
            return answer.url, answer.read().decode()
