"""``brainscore run``."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from brainscore.cli._options import domain_option
from brainscore.cli._output import echo, echo_json
from brainscore_core.errors import UserError, nearest
from brainscore_core.progress import stage

KEYS = (
    *("models", "benchmarks", "results", "workers", "max_memory", "gpus", "isolated", "sandbox", "scheduler", "slurm"),
    *("again", "timeout", "domain"),
)
"""The keys of a run file: options, which check and convert their values."""


def read_run_file(path: Path) -> dict[str, Any]:
    """Read a run file; names of files are relative to its folder."""
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise UserError("run files need PyYAML", remedy='install it: pip install "brainscore[cluster]"') from error
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {error}") from error
    if values is None:
        raise UserError(f"{path} is empty", remedy="it needs models and benchmarks")
    if not isinstance(values, dict):
        raise UserError(f"{path}: keys with values are needed, such as  models: [pixels, gabor]")
    if "cage" in values:  # earlier name
        values["sandbox"] = values.pop("cage")
    for name in values:
        if name not in KEYS:
            near = nearest(str(name), KEYS, limit=2)
            remedy = f"did you mean {' or '.join(near)}?" if near else f"the keys are: {', '.join(KEYS)}"
            raise UserError(f"{path}: unknown key {name!r}", remedy=remedy)
    for name in ("models", "benchmarks"):
        names = values.get(name) or []
        values[name] = [str(item) for item in (names if isinstance(names, list) else [names])]
    return {name: _placed(name, value, path.parent) for name, value in values.items()}


def _use_file(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    """Let the values of a run file be the defaults of the options."""
    if value is not None:
        ctx.default_map = read_run_file(value)


def _placed(name: str, value: Any, folder: Path) -> Any:
    """Make names of files relative to the folder of the run file."""
    if name == "slurm" or (name == "results" and "://" not in str(value)):
        return str(folder / Path(str(value)).expanduser())
    if name == "models":
        return [_model(model, folder) for model in value]
    return value


def _model(one: str, folder: Path) -> str:
    from brainscore_core.plugins.loading import is_file_reference

    if not is_file_reference(one):
        return one
    name, separator, reference = one.rpartition("=") if "=" in one.partition(".py:")[0] else ("", "", one)
    return f"{name}{separator}{folder / Path(reference).expanduser()}"


_SEVERAL = ("--models", "--benchmarks")
_INTERRUPTED = 130


class _RunCommand(click.Command):
    """A command without arguments, so that all names between ``--models`` and the next option are models."""

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
    help="Identifiers, patterns such as 'resnet*', models of libraries such as 'timm:resnet18.*', or "
    "path/to/file.py:make_model.",
)  # fmt: skip
@click.option(
    "--benchmarks", multiple=True, metavar="NAME…",
    help="Identifiers, patterns such as 'MajajHong2015public.*', or all:neural, all:behavior, all:engineering, all:V1, "
    "all:simulated, all.",
)  # fmt: skip
@click.option(
    "--file", type=click.Path(exists=True, dir_okay=False, path_type=Path), is_eager=True, expose_value=False,
    callback=_use_file,
    help="A YAML file with models, benchmarks and options; options on the command line take precedence.",
)  # fmt: skip
@click.option(
    "--results",
    help="Folder or s3://bucket/prefix of the receipts. Default: $BRAINSCORE_RESULTS, else $BRAINSCORE_HOME/results.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan with predicted time and memory, and score nothing.")
@click.option(
    "--again", type=click.Choice(["failed", "none", "all"]),
    help="Pairs to score again: failed and outdated ones, none that have a receipt, or all.  [default: failed]",
)  # fmt: skip
@click.option(
    "--workers", type=click.IntRange(min=1), help="Number of pairs scored at the same time.  [default: one per core]"
)
@click.option(
    "--max-memory", help="Memory limit of the whole run, such as 16GB.  [default: 80 % of the available memory]"
)
@click.option(
    "--gpus", type=click.IntRange(min=0), help="Number of this machine's GPUs to use; each model requests one."
)
@click.option("--isolated", is_flag=True, default=None, help="Run each model in a process and environment of its own.")
@click.option(
    "--sandbox", "--cage", is_flag=True, default=None,
    help="Like --isolated, also without access to the network and your files (needs bubblewrap).",
)  # fmt: skip
@click.option(
    "--sandbox-shows", "--cage-shows", multiple=True, metavar="PATH", type=click.Path(exists=True, resolve_path=True),
    help="A file or folder that is visible in the sandbox, such as weights; may be repeated.",
)  # fmt: skip
@click.option(
    "--no-products",
    is_flag=True,
    default=None,
    help="Do not store products of the models' features, from which brainscore ask answers questions.",
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Time limit of a pair in seconds.")
@click.option("--scheduler", metavar="ADDRESS", help="Use an existing Dask scheduler, such as tcp://host:8786.")
@click.option("--slurm", metavar="PROFILE", help="Run as SLURM jobs, described by this YAML file.")
@domain_option
@click.option("--json", "json_", is_flag=True, help="Print the plan or the results as JSON.")
@click.pass_context
def command(ctx: click.Context, dry_run: bool, json_: bool, **given: Any) -> None:
    """Score many models on many benchmarks; pairs that are scored already are skipped.

    \b
    brainscore run --models pixels 'resnet*' --benchmarks 'MajajHong2015public.*' all:V1

    Each model is scored on each benchmark, in separate processes. If a pair fails, its error and output are recorded,
    the other pairs are scored, and the exit code is 1. After Ctrl-C or a power failure, the same command continues
    the run.
    """  # noqa: D301 - click needs the character \b
    with stage("planning the run"):  # imports take seconds, and so does a store with many receipts
        from brainscore.cli._run_output import Progress, echo_plan, echo_summary, plan_as_dict, summary_as_dict
        from brainscore.runs import cluster_options, execute, starting_early

        # a missing option is None, an empty tuple, or False
        how = {name: value for name, value in given.items() if value is not None and value is not False and value != ()}
        names = ("workers", "max_memory", "gpus", "scheduler", "slurm", "timeout")
        options = cluster_options(**{name: how[name] for name in names if name in how})
        if not dry_run:
            ctx.with_resource(starting_early(options))  # before the imports that follow, which take a second
        from brainscore_core.memory import format_size
        from brainscore_core.results.products import products_wanted
        from brainscore_core.results.store import ResultsStore
        from brainscore_core.runner.selection import plan_selection, select

        selection = select(_required(how, "models"), _required(how, "benchmarks"), how.get("domain"))
        store = ResultsStore(how.get("results"))
        plan = plan_selection(selection, store, again=how.get("again", "failed"), gpu=int(how.get("gpus", 0) > 0))
    if dry_run:
        wanted = products_wanted() and not how.get("no_products", False)
        size = store.expected_products(entry.pair for entry in plan.pending) if wanted else 0
        if json_:
            echo_json(plan_as_dict(plan, options.workers) | {"products_bytes": size})
        else:
            echo_plan(plan, options.workers)
            if size:
                echo(f"Products of features will need at most {format_size(size)}; --no-products leaves them out.")
        return
    interrupted = False
    with Progress(len(plan.pending)) as progress, _terminated_as_interrupted():
        try:
            if plan.tasks:
                store.require_writable()
                execute(
                    selection,
                    plan,
                    store,
                    options,
                    isolated=how.get("isolated", False),
                    cage=_sandbox_options(how),
                    products=not how.get("no_products", False),
                    on_event=progress,
                )
        except KeyboardInterrupt:
            interrupted = True
    if json_:
        echo_json(summary_as_dict(progress.finished, progress.skipped, plan.done, store))
    else:
        echo_summary(progress.finished, progress.skipped, len(plan.done), store, progress.seconds)
    if interrupted:
        n_unscored = len(plan.pending) - len(progress.finished) - len(progress.skipped)
        echo(f"Interrupted; {n_unscored} not scored. The same command continues the run.", err=True)
        ctx.exit(_INTERRUPTED)
    if not json_:
        where = "" if how.get("results") is None else f" --results {how['results']}"
        echo(f"Next: brainscore results tree{where}, brainscore report{where}")
    if any(event.state == "failed" for event in progress.finished):
        ctx.exit(1)


def _sandbox_options(options: dict[str, Any]) -> dict[str, Any] | None:
    files = list(options.get("sandbox_shows", ()))
    return {"files": files} if options.get("sandbox") or files else None


def _required(how: dict[str, Any], name: str) -> Sequence[str]:
    if not how.get(name):
        raise click.UsageError(f"No {name}: pass --{name}, or a run file with --file.")
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
