"""Run a command with a PostgreSQL server of its own: ``python tests/web/on_postgres.py pytest tests/web``.

The server is Debian's (`apt install postgresql`), or the one whose `initdb` is in PATH. It listens on a socket in
a temporary folder only, and everything is removed at the end.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FORGETFUL = " ".join(
    f"-c {name}={value}"
    for name, value in {
        "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "wal_level": "minimal",
        "max_wal_senders": 0, "autovacuum": "off", "shared_buffers": "256MB",
    }.items()
)  # fmt: skip
"""What makes the server quick: after a crash nothing would be there, and nobody would want it."""


def folder_of_programs():
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not versions:
        sys.exit("PostgreSQL is not installed (on Debian: apt install postgresql)")
    return versions[-1].parent


def as_server():
    """How to start a program as somebody who is not root: the server refuses to run as root."""
    if os.geteuid() != 0:
        return [], None
    return ["runuser", "-u", "postgres", "--"], pwd.getpwnam("postgres").pw_uid


def main(command):
    programs = folder_of_programs()
    prefix, owner = as_server()
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        if owner is not None:
            os.chown(place, owner, -1)
        data = place / "data"

        def run(*arguments):
            done = subprocess.run([*prefix, *arguments], capture_output=True, text=True, cwd=place)
            if done.returncode:
                log = place / "log"
                sys.exit(f"{arguments[0]} failed:\n{done.stdout}{done.stderr}{log.read_text() if log.exists() else ''}")

        run(programs / "initdb", "-D", data, "-U", "site", "--auth=trust", "--encoding=UTF8", "--locale=C", "-N")
        options = f"-c listen_addresses= -c unix_socket_directories={place} {FORGETFUL}"
        run(programs / "pg_ctl", "-D", data, "-l", place / "log", "-w", "-o", options, "start")
        try:
            address = f"postgres://site@{str(place).replace('/', '%2F')}/postgres"
            return subprocess.run(command, env={**os.environ, "DATABASE_URL": address}).returncode
        finally:
            run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
