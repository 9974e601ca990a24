"""``brainscore worker``."""

from __future__ import annotations

import importlib.util
import re
import signal
import sys
from typing import Any

import click

from brainscore.cli._output import echo
from brainscore_core.errors import UserError


@click.command("worker")
@click.option("--once", is_flag=True, help="Exit after one pair.")
@click.option("--until-idle", is_flag=True, help="Exit when there is no work left.")
@click.option("--jobs-only", is_flag=True, help="Only score pairs; another worker does checks, tests and e-mails.")
@click.option(
    "--scheduler", metavar="ADDRESS", help="Score on the workers of this Dask scheduler, such as tcp://host:8786."
)
@click.option("--max-memory", help="Memory limit of a pair, such as 16GB.  [default: 80 % of the available memory]")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), default=43_200, show_default=True,
    help="Time limit of a pair in seconds.",
)  # fmt: skip
@click.option("--site", metavar="URL", help="Score for a site on another machine, over HTTPS.")
@click.option("--token", metavar="TOKEN", help="Token for --site.  [default: $BRAINSCORE_TOKEN]")
@click.option("--name", metavar="NAME", help="Name of this worker on --site.  [default: the name of this machine]")
@click.option("--beside", type=int, hidden=True, help="Exit when this process exits.")
def command(
    once: bool,
    until_idle: bool,
    jobs_only: bool,
    scheduler: str | None,
    max_memory: str | None,
    timeout: float,
    site: str | None,
    token: str | None,
    name: str | None,
    beside: int | None,
) -> None:
    """Run the website's background jobs: check, test and publish submissions, and score pairs.

    Start one or more workers, on any machines that share the site's database and folders. Ctrl-C stops a worker: the
    pair that is being scored is released, and another worker scores it.

    With --site, a worker takes pairs of public models and benchmarks from a site on another machine, scores them here,
    and uploads the results. The site's administrators must permit it.
    """
    if site is not None:
        if scheduler is not None or jobs_only:
            raise UserError("--site cannot be combined with --scheduler or --jobs-only", remedy="omit one of them")
        _run_remote_worker(site, token, name, once, until_idle, max_memory, timeout)
        return
    if token is not None or name is not None:
        raise UserError("--token and --name are options of --site", remedy="add --site URL")
    if importlib.util.find_spec("django") is None:
        raise UserError("the website needs Django", remedy='pip install "brainscore[worker]"')
    if sys.platform == "win32":
        raise UserError("the website's worker does not run on Windows", remedy="run it in WSL")
    _require_one(once, until_idle)
    from brainscore_core.memory import memory_limit, parse_size
    from brainscore_web.processes import end_with_parent
    from brainscore_web.serving import make_worker

    if beside is not None:
        end_with_parent(beside)
    limit = parse_size(max_memory) if max_memory else memory_limit()
    worker = make_worker(
        say=_echo_line, once=once, until_idle=until_idle, jobs_only=jobs_only, limit=limit, timeout=timeout,
        scheduler=scheduler,
    )  # fmt: skip

    _stop_on_signals(worker)
    worker.run()


def _run_remote_worker(
    site: str, token: str | None, name: str | None, once: bool, until_idle: bool, max_memory: str | None, timeout: float
) -> None:
    import platform

    from brainscore.client.connection import Connection, site_of, token_for
    from brainscore.remote_worker import RemoteWorker
    from brainscore_core.isolation.children import hide_environment
    from brainscore_core.memory import memory_limit, parse_size

    _require_one(once, until_idle)
    if importlib.util.find_spec("psutil") is None:
        raise UserError("the worker needs psutil", remedy='pip install "brainscore[worker]"')
    address = site_of(site)
    found_token = token_for(address, token)
    if found_token is None:
        raise UserError(f"a token is needed for {address}", remedy="create one there, and set BRAINSCORE_TOKEN")
    hide_environment()  # with the token, from benchmarks
    worker = RemoteWorker(
        Connection(address, found_token, timeout=60),
        name or re.sub(r"[^A-Za-z0-9._-]", "-", platform.node())[:60] or "worker",
        say=_echo_line, once=once, until_idle=until_idle,
        limit=parse_size(max_memory) if max_memory else memory_limit(), timeout=timeout,
    )  # fmt: skip
    _stop_on_signals(worker)
    worker.run()


def _require_one(once: bool, until_idle: bool) -> None:
    if once and until_idle:
        raise UserError("--once and --until-idle cannot be combined", remedy="omit one of them")


def _stop_on_signals(worker: Any) -> None:
    def stop(number: int, frame: Any) -> None:
        worker.stop()

    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, stop)


def _echo_line(line: str) -> None:
    echo(" ".join(line.split("\n")))
    sys.stdout.flush()
