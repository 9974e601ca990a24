"""``brainscore run``."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from brainscore.cli._output import echo_json

__all__ = ["command"]

_SEVERAL = ("--models", "--benchmarks")
_INTERRUPTED = 130


class _RunCommand(click.Command):
    """A command without arguments, so that what follows ``--models A`` up to the next option are models, too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line."""
        return super().parse_args(ctx, _repeated(args))


def _repeated(args: Sequence[str]) -> list[str]:
    """Write ``--models A B`` as ``--models A --models B``.

    Examples
    --------
    >>> _repeated(["--models", "A", "B", "--dry-run"])
    ['--models', 'A', '--models', 'B', '--dry-run']
    """
    written: list[str] = []
    option: str | None = None
    for argument in args:
        if argument.startswith("-") and argument != "-":
            name, equals, _ = argument.partition("=")
            option = name if name in _SEVERAL else None
            written += [argument] if option is None or equals else []
        elif option is not None:
            written += [option, argument]
        else:
            written.append(argument)
    return written


@click.command("run", cls=_RunCommand)
@click.option(
    "--models", multiple=True, metavar="NAME…",
    help="Identifiers, patterns such as 'resnet*', or path/to/file.py:make_model.",
)  # fmt: skip
@click.option(
    "--benchmarks", multiple=True, metavar="NAME…",
    help="Identifiers, patterns such as 'MajajHong2015public.*', or all:neural, all:behavior, all:engineering, all:V1, "
    "all:simulated, all.",
)  # fmt: skip
@click.option(
    "--file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A YAML file that holds the run: models, benchmarks, options. What is given here as well counts.",
)  # fmt: skip
@click.option("--results", help="Folder or s3://bucket/prefix of the receipts. Default: where scores are kept.")
@click.option("--dry-run", is_flag=True, help="Show the plan with predicted time and memory; do nothing.")
@click.option(
    "--again", type=click.Choice(["failed", "none", "all"]),
    help="Score again what failed or is outdated, nothing that has a receipt, or everything.  [default: failed]",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(min=1), help="Pairs scored at a time.  [default: one a core]")
@click.option("--max-memory", help="Most memory to use in all, such as 16GB.  [default: 80 % of what there is]")
@click.option("--gpus", type=click.IntRange(min=0), help="GPUs of this machine to share out; each model asks for one.")
@click.option("--isolated", is_flag=True, default=None, help="Run each model in a process and environment of its own.")
@click.option("--cage", is_flag=True, default=None, help="Isolated, and without network and files (needs bubblewrap).")
@click.option(
    "--cage-shows", multiple=True, metavar="PATH", type=click.Path(exists=True, resolve_path=True),
    help="A file or folder that models see in their cages, such as weights; repeat it.",
)  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Give up a pair after so many seconds.")
@click.option("--scheduler", metavar="ADDRESS", help="Use a Dask scheduler that runs already, such as tcp://host:8786.")
@click.option("--slurm", metavar="PROFILE", help="Run as SLURM jobs, as this YAML file describes them.")
@click.option("--json", "json_", is_flag=True, help="Print the plan or what came out as JSON.")
@click.pass_context
def command(ctx: click.Context, file: Path | None, dry_run: bool, json_: bool, **given: Any) -> None:
    r"""Score many models on many benchmarks, but for what has been scored.

    \b
    brainscore run --models pixels 'resnet*' --benchmarks 'MajajHong2015public.*' all:V1

    Each model is scored on each benchmark, in processes of their own. A pair that fails is recorded with its error and
    what it printed; the others go on, and the exit code is 1. After Ctrl-C or a power cut, the same command goes on
    where it stopped.
    """
    from brainscore._running import cluster_options, execute
    from brainscore.cli._run_progress import Progress
    from brainscore.cli._run_view import echo_plan, echo_summary, plan_as_dict, summary_as_dict
    from brainscore_core.scoring import ResultsStore
    from brainscore_vision.pair_selection import plan_selection, select

    how = _with_file(file, given)
    selection = select(_required(how, "models"), _required(how, "benchmarks"))
    names = ("workers", "max_memory", "gpus", "scheduler", "slurm", "timeout")
    options = cluster_options(**{name: how[name] for name in names if name in how})
    store = ResultsStore(how.get("results"))
    plan = plan_selection(selection, store, again=how.get("again", "failed"), gpu=int(how.get("gpus", 0) > 0))
    if dry_run:
        if json_:
            echo_json(plan_as_dict(plan, options.workers))
        else:
            echo_plan(plan, options.workers)
        return
    interrupted = False
    with Progress(plan, options.workers) as progress, _terminated_as_interrupted():
        try:
            if plan.tasks:
                store.require_writable()
                execute(
                    selection,
                    plan,
                    store,
                    options,
                    isolated=how.get("isolated", False),
                    cage=_cage(how),
                    on_event=progress,
                )
        except KeyboardInterrupt:
            interrupted = True
    if json_:
        echo_json(summary_as_dict(progress.finished, progress.skipped, plan.done, store))
    else:
        echo_summary(progress.finished, progress.skipped, len(plan.done), store, progress.seconds)
    if interrupted:
        left = len(plan.pending) - len(progress.finished) - len(progress.skipped)
        click.echo(f"Interrupted; {left} not scored. The same command goes on from here.", err=True)
        ctx.exit(_INTERRUPTED)
    if not json_:
        where = "" if how.get("results") is None else f" --results {how['results']}"
        click.echo(f"Next: brainscore results tree{where}, brainscore report{where}")
    if any(event.state == "failed" for event in progress.finished):
        ctx.exit(1)


def _with_file(file: Path | None, given: dict[str, Any]) -> dict[str, Any]:
    """Options of the command line, those of the file where there are none."""
    how: dict[str, Any] = {}
    if file is not None:
        from brainscore.cli._run_file import read_run_file

        how = read_run_file(file)
    # what is not given is None, an empty tuple, or False
    return how | {
        name: value for name, value in given.items() if value is not None and value is not False and value != ()
    }


def _cage(how: dict[str, Any]) -> dict[str, Any] | None:
    shown = how.get("cage_shows", ())
    return {"files": list(shown)} if how.get("cage") or shown else None


def _required(how: dict[str, Any], name: str) -> Sequence[str]:
    if not how.get(name):
        raise click.UsageError(f"No {name}: name some with --{name}, or in a file with --file.")
    names: Sequence[str] = how[name]
    return names


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM, which batch systems send, end a run as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
