"""``brainscore serve``."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import click

from brainscore_core.errors import UserError

__all__ = ["command"]


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
@click.option("--demo", is_flag=True, help="Show simulated scores, in a separate database.")
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True, help="Number of server processes.")
@click.option("--no-worker", is_flag=True, help="Do not start a worker, because `brainscore worker` runs separately.")
def command(port: int, host: str, results: str | None, demo: bool, workers: int, no_worker: bool) -> None:
    """Start the website on this machine, with the results of this machine.

    New receipts are imported first. If there are no receipts, a simulated leaderboard is shown.
    The site's database is in $BRAINSCORE_HOME/site, or at DATABASE_URL.
    A worker process checks, tests and scores submissions, except in a demonstration with simulated scores.
    """
    if importlib.util.find_spec("django") is None:
        raise UserError("the website needs Django", remedy='pip install "brainscore[web]"')
    if sys.platform == "win32":
        raise UserError("the website's server does not run on Windows", remedy="run it in WSL")
    from brainscore_core.paths import default_results_address
    from brainscore_web.serving import has_database, listen, prepare, serve, use_demonstration

    if demo and results:
        raise UserError("--demo shows simulated scores, not --results", remedy="omit --demo or --results")
    chosen = results or os.environ.get("BRAINSCORE_SITE_RESULTS")
    address = chosen or default_results_address()
    to_import = str(address) if chosen or _has_receipts(address) else None
    if to_import is None and not demo and not has_database():
        click.echo("There are no results yet; a simulated leaderboard is shown.")
        demo = True
    if demo:
        use_demonstration()
    server_socket = listen(host, port)
    url_host = f"[{host}]" if ":" in host else host  # an IPv6 address needs brackets
    url = f"http://{url_host}:{server_socket.getsockname()[1]}"
    if not os.environ.get("BRAINSCORE_SITE_HOSTS"):
        os.environ.setdefault("BRAINSCORE_SITE_ADDRESS", url)  # for links in e-mails
    if not demo:
        os.environ["BRAINSCORE_SITE_RESULTS"] = str(address)  # the worker stores new scores there
    count = prepare(None if demo else to_import, demonstration=demo, say=click.echo)
    if demo:
        click.echo("This demonstration runs without a worker: submissions stay queued.")
    click.echo(f"{count:,} scores at {url}/  (press Ctrl-C to stop)")
    serve(server_socket, workers=workers, worker=not (demo or no_worker))


def _has_receipts(address: str) -> bool:
    """Whether a folder of results contains a receipt; a bucket is assumed to contain some."""
    if "://" in address:
        return True
    return next(Path(address).glob("*/*/*.json"), None) is not None
