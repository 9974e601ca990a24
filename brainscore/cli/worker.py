"""``brainscore worker``."""

from __future__ import annotations

import importlib.util
import signal
import sys
from typing import Any

import click

from brainscore_core.errors import UserError

__all__ = ["command"]


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
@click.option("--beside", type=int, hidden=True, help="Exit when this process exits.")
def command(
    once: bool,
    until_idle: bool,
    jobs_only: bool,
    scheduler: str | None,
    max_memory: str | None,
    timeout: float,
    beside: int | None,
) -> None:
    """Run the website's background jobs: check, test and publish submissions, and score pairs.

    Start one or more workers, on any machines that share the site's database and folders. Ctrl-C stops a worker: the
    pair that is being scored is released, and another worker scores it.
    """
    if importlib.util.find_spec("django") is None:
        raise UserError("the website needs Django", remedy='pip install "brainscore[web]"')
    if sys.platform == "win32":
        raise UserError("the website's worker does not run on Windows", remedy="run it in WSL")
    if once and until_idle:
        raise UserError("--once and --until-idle cannot be combined", remedy="omit one of them")
    from brainscore_core.memory import memory_limit, parse_size
    from brainscore_web.serving import end_with_parent, make_worker

    if beside is not None:
        end_with_parent(beside)
    limit = parse_size(max_memory) if max_memory else memory_limit()
    worker = make_worker(
        say=_echo_line, once=once, until_idle=until_idle, jobs_only=jobs_only, limit=limit, timeout=timeout,
        scheduler=scheduler,
    )  # fmt: skip

    def stop(number: int, frame: Any) -> None:
        worker.stop()

    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, stop)
    worker.run()


def _echo_line(line: str) -> None:
    click.echo(" ".join(line.split("\n")))
    sys.stdout.flush()
