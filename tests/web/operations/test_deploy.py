"""Files for servers: what they call is there, and what they set is known."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from django.core.management import get_commands

from brainscore.cli import app

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
UNITS = sorted(path.name for path in DEPLOY.glob("*.service"))
RUNBOOK = (ROOT / "docs" / "operators" / "operations.md").read_text()


def environment():
    lines = (DEPLOY / "site.env").read_text().splitlines()
    pairs = (line.lstrip("#").split("=", 1) for line in lines if re.match(r"#?[A-Z_]+=", line))
    return {name: value.strip('"') for name, value in pairs}


def require_command(line):
    """That a command line of `brainscore`, or of Django, would be understood."""
    program, *arguments = shlex.split(line)
    if Path(program).name == "brainscore":
        context, command = click.Context(app), app
        while isinstance(command, click.Group):
            name, *arguments = arguments
            command = command.get_command(context, name)
            assert command is not None, line
        command.make_context(name, arguments)  # refuses options that it does not know
    else:
        assert arguments[:2] == ["-m", "brainscore_web"], line
        assert arguments[2] in get_commands(), line


def test_there_are_units():
    assert {"brainscore-web.service", "brainscore-worker@.service"} <= set(UNITS)


@pytest.mark.parametrize("unit", UNITS)
def test_units_start_what_there_is(unit):
    text = (DEPLOY / unit).read_text()
    (line,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    if line.startswith("/bin/sh -c "):
        (script,) = shlex.split(line)[2:]
        line = script.removeprefix("exec ").partition('"')[0]
    require_command(line)
    assert "EnvironmentFile=/etc/brainscore/site.env" in text
    assert "NoNewPrivileges=yes" in text


def test_units_are_valid(tmp_path):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("needs systemd-analyze")
    for path in (*DEPLOY.glob("*.service"), *DEPLOY.glob("*.timer")):
        text = re.sub(r"/opt/brainscore/bin/\w+", "/bin/true", path.read_text())
        (tmp_path / path.name.replace("@.", "@1.")).write_text(text)
    done = subprocess.run(
        [program, "verify", *sorted(map(str, tmp_path.iterdir()))], capture_output=True, text=True, timeout=60
    )
    newer = "Unknown key 'DelegateSubgroup'"  # of systemd 254; earlier ones pass over it
    own = [line for line in done.stderr.splitlines() if "brainscore" in line and newer not in line]
    assert not own, "\n".join(own)


def test_the_container_starts_what_there_is():
    text = (DEPLOY / "Containerfile").read_text()
    (command,) = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)
    require_command(shlex.join(eval(command)))  # a list of words
    assert re.search(r"^USER \d+$", text, re.MULTILINE)


def test_every_variable_is_one_that_the_site_reads():
    code = "\n".join(
        path.read_text()
        for folder in ("brainscore_core", "brainscore_web", "brainio")
        for path in (ROOT / folder).rglob("*.py")
    )
    told = "\n".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    for name in environment():
        if not name.startswith("AWS_"):  # of boto3
            assert name in code, name
        assert name in told, name


@pytest.mark.slow(reason="checks a site in a process")
def test_with_this_environment_nothing_is_to_be_deplored(tmp_path):
    """Django's own list of what a public site needs."""
    chosen = {name: value.replace("CHANGE-ME", "long-and-random-" * 4) for name, value in environment().items()}
    chosen |= {"BRAINSCORE_SITE_HOME": str(tmp_path), "BRAINSCORE_SITE_UPLOADS": "s3://somewhere/x"}
    known = {name: value for name, value in os.environ.items() if not name.startswith(("BRAINSCORE_", "DJANGO_"))}
    done = subprocess.run(
        [sys.executable, "-m", "brainscore_web", "check", "--deploy", "--fail-level", "WARNING"],
        env={**known, **chosen},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_a_public_site_installs_exact_versions_by_hash():
    locked = re.sub(r"\\\n", "", (ROOT / "requirements" / "site.txt").read_text())
    entries = [line for line in locked.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(entries) > 80
    assert all(re.search(r"==\S+.*--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    versions = dict(re.match(r"([\w.-]+?)(?:\[.*?\])?==([^\s;+]+)", entry).groups() for entry in entries)
    known = dict(
        line.split("==") for line in (ROOT / "requirements" / "constraints.txt").read_text().split() if "==" in line
    )
    known = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in known.items()}
    assert {name: known[name] for name in versions if name in known}.items() <= versions.items()
    for text in ((ROOT / "docs" / "operators" / "deploy.md").read_text(), (DEPLOY / "Containerfile").read_text()):
        for install in re.findall(r"pip install (.*)", text):
            assert "--require-hashes" in install or "--no-deps" in install, install


@pytest.mark.slow(reason="checks a site in a process")
def test_a_public_site_that_names_no_contact_is_refused(tmp_path):
    known = {name: value for name, value in os.environ.items() if not name.startswith(("BRAINSCORE_", "DJANGO_"))}
    done = subprocess.run(
        [sys.executable, "-m", "brainscore_web", "check", "--deploy"],
        env={**known, "BRAINSCORE_SITE_HOME": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1
    for name in ("CONTACT", "REPOSITORY", "ISSUES"):
        assert f"Set BRAINSCORE_SITE_{name}" in done.stderr


def test_the_proxies_say_who_asks_and_hide_the_metrics():
    nginx, caddy = ((DEPLOY / name).read_text() for name in ("nginx.conf", "Caddyfile"))
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in nginx  # not what the visitor says of himself
    assert "header_up X-Forwarded-For {remote_host}" in caddy
    for text in (nginx, caddy):
        assert re.search(r"/metrics\b.*404", text, re.DOTALL)
        sizes = [int(size) for size in re.findall(r"(?:client_max_body_size|max_size) (\d+)", text)]
        assert min(sizes) < 50
        assert max(sizes) >= 5000
    assert nginx.index("location /uploads/") < nginx.index("proxy_request_buffering off")
    assert re.search(r"^    (client_body_timeout) 10s;", nginx, re.MULTILINE)
    assert "limit_conn brainscore_visitors" in nginx
    assert "request_buffers" in caddy


def test_the_cages_of_a_worker_can_have_control_groups():
    assert "\nDelegate=yes\n" in (DEPLOY / "brainscore-worker@.service").read_text()


def test_the_runbook_names_commands_units_and_variables_that_exist():
    for name in re.findall(r"\bmanage ([a-z_]+)|python -m brainscore_web ([a-z_]+)", RUNBOOK):
        assert "".join(name) in get_commands(), name
    units = {path.name.partition(".")[0] for path in DEPLOY.iterdir()}
    for name in re.findall(r"\b(brainscore-[a-z]+@?)", RUNBOOK):
        assert name in units, name
    for line in re.findall(r"^(brainscore [a-z]+ [a-z]+)$", RUNBOOK, re.MULTILINE):
        require_command(line)
    settings = (ROOT / "brainscore_web" / "settings.py").read_text()
    settings += (ROOT / "brainscore_web" / "environment.py").read_text()
    for name in re.findall(r"`(BRAINSCORE_SITE_[A-Z_]+)", RUNBOOK):
        assert name in settings, name
    assert RUNBOOK.count("*Symptoms*") >= 10


def test_metrics_that_are_there_are_documented(client, db):
    text = client.get("/metrics").content.decode()
    names = re.findall(r"^# TYPE brainscore_(\w+) ", text, re.MULTILINE)
    assert len(names) > 10
    missing = [name for name in names if not re.search(rf"`{name}[`{{]", RUNBOOK)]
    assert not missing
