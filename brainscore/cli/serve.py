"""``brainscore serve``."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Literal

import click

from brainscore.cli._output import echo
from brainscore_core.errors import UserError
from brainscore_core.plurals import counted


@click.command("serve")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 chooses a free port."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--results",
    metavar="PLACE",
    help="Folder or s3://bucket/prefix with receipts.  [default: $BRAINSCORE_SITE_RESULTS, else $BRAINSCORE_RESULTS, "
    "else $BRAINSCORE_HOME/results]",
)
@click.option("--demo", is_flag=True, help="Show a large simulated leaderboard, in a separate database.")
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True, help="Number of server processes.")
@click.option("--no-worker", is_flag=True, help="Do not start a worker, because `brainscore worker` runs separately.")
@click.option("--reset", is_flag=True, help="Delete a demonstration, after a question, and start it afresh.")
def command(port: int, host: str, results: str | None, demo: bool, workers: int, no_worker: bool, reset: bool) -> None:
    """Start the website on this machine, with the results of this machine.

    New receipts are imported first. If there are no receipts and no site yet, an example site is shown, in a separate
    database: two models, which are scored on simulated measurements.
    The site's database is in $BRAINSCORE_HOME/site, or at DATABASE_URL.
    A worker process checks, tests and scores submissions, except in a demonstration with simulated scores; it is
    started again if it ends. It needs pip install "brainscore[worker]".
    """
    if importlib.util.find_spec("django") is None:
        raise UserError("the website needs Django", remedy='pip install "brainscore[web]"')
    if sys.platform == "win32":
        raise UserError("the website's server does not run on Windows", remedy="run it in WSL")
    from brainscore_core.paths import default_results_address
    from brainscore_web.environment import worker_problem
    from brainscore_web.serving import has_database, listen, prepare, serve, use_demonstration

    if demo and results:
        raise UserError("--demo shows simulated scores, not --results", remedy="omit --demo or --results")
    chosen = results or os.environ.get("BRAINSCORE_SITE_RESULTS")
    address = chosen or default_results_address()
    to_import = str(address) if chosen or _has_receipts(address) else None
    demonstration: Literal["simulated", "example"] | None = None
    if demo:
        demonstration = "simulated"
    elif to_import is None and not has_database():
        demonstration = "example"
    if reset:
        _reset(demonstration)
    if demonstration == "example":
        echo("There are no results yet: an example site is shown, with simulated measurements.")
    if demonstration:
        use_demonstration(demonstration)
    server_socket = listen(host, port)
    url_host = f"[{host}]" if ":" in host else host  # an IPv6 address needs brackets
    url = f"http://{url_host}:{server_socket.getsockname()[1]}"
    if not os.environ.get("BRAINSCORE_SITE_HOSTS"):
        os.environ.setdefault("BRAINSCORE_SITE_ADDRESS", url)  # for links in e-mails
    if demonstration is None:
        os.environ["BRAINSCORE_SITE_RESULTS"] = str(address)  # the worker stores new scores there
    missing = worker_problem()
    with_worker = not (demo or no_worker or missing)
    if with_worker:
        os.environ.setdefault("BRAINSCORE_SITE_WORKER", "1")  # the site is not ready without it
    count = prepare(None if demonstration else to_import, demonstration=demonstration, say=echo)
    if demo:
        echo("This demonstration runs without a worker: submissions stay queued.")
    elif missing and not no_worker:
        echo(f"The site runs without a worker: {missing.message}; {missing.remedy}")
    elif demonstration and with_worker and not count:
        echo("A worker scores two models on four benchmarks, which takes some minutes.")
    ready = f"The site shows {counted(count, 'score')} at {url}/ (press Ctrl-C to stop)."
    serve(server_socket, workers=workers, worker=with_worker, announce=lambda: echo(ready))


def _reset(demonstration: Literal["simulated", "example"] | None) -> None:
    """Delete the folder of a demonstration, if the user confirms it."""
    from brainscore_web.serving import demonstration_to_reset

    if demonstration is None:
        raise UserError(
            "this site is not a demonstration, and is not deleted",
            remedy="use --reset with --demo, or without results and without a site of your own",
        )
    folder = demonstration_to_reset(demonstration)
    if folder is None:
        return
    click.confirm(f"Delete {folder} with all accounts, submissions and scores in it?", abort=True)
    shutil.rmtree(folder)


def _has_receipts(address: str) -> bool:
    """Whether a folder of results contains a receipt; a bucket is assumed to contain some."""
    if "://" in address:
        return True
    return next(Path(address).glob("*/*/*.json"), None) is not None
