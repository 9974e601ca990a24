"""``brainscore new``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._output import echo
from brainscore_core.domain_names import DOMAINS, FIRST

if TYPE_CHECKING:
    from brainscore.scaffold import Experiment

_FOLDER = click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), metavar="PLUGINS",
    help="Folder that holds benchmarks/, data/, metrics/ and models/. Default: the domain's package in a source "
    "checkout, else the first of $BRAINSCORE_PLUGINS, else this folder.",
)  # fmt: skip
_DOMAIN = click.option(
    "--domain", type=click.Choice(list(DOMAINS)), default=FIRST, show_default=True, help="Domain of the plugin."
)


@click.group("new", cls=Subcommands)
def command() -> None:
    """Write a new plugin from a template; it passes its own tests."""


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command.command("benchmark")
@click.argument("name")
@_FOLDER
@_DOMAIN
@click.option("--from", "source", type=_FILE, help="Your measurements: a table of trials (.csv, .parquet) or NWB.")
@click.option("--stimuli", type=_FILE, help="With --from: table of the stimuli, with a column stimulus_id.")
@click.option(
    "--images",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --from: folder of their files.",
)
@click.option(
    "--column",
    "columns",
    metavar="MEANING=COLUMN",
    multiple=True,
    help="With --from: a column of the trials, such as stimulus_id=image, response=answer, truth=category, "
    "subject=participant; of NWB: stimulus=image. May be repeated.",
)
@click.option(
    "--visual-degrees", type=click.FloatRange(min=0, min_open=True), help="With --from: angle of the stimuli."
)
def new_benchmark(
    *,
    name: str,
    folder: Path | None,
    domain: str,
    source: Path | None,
    stimuli: Path | None,
    images: Path | None,
    columns: tuple[str, ...],
    visual_degrees: float | None,
) -> None:
    """Write a benchmark, and data if its study has no data yet.

    NAME is AuthorYear-metric, such as Smith2026-accuracy, or AuthorYear.region-metric, such as Smith2026.IT-pls. Of
    language: Smith2026-pearsonr for reading times, Smith2026-ridge for recordings.

    Without --from the data are simulated. With it they are read from FILE and packaged beside the benchmark; nothing
    is uploaded.
    """
    if source is None:
        if stimuli or images or columns or visual_degrees:
            raise click.UsageError("--stimuli, --images, --column and --visual-degrees need --from")
        _write("benchmark", name, folder, domain)
        return
    if domain != FIRST:
        raise click.UsageError(f"--from reads measurements of {FIRST} only")
    if stimuli is None or visual_degrees is None:
        raise click.UsageError("--from needs --stimuli and --visual-degrees")
    from brainscore.cli.package import read_stimuli
    from brainscore.scaffold import read_experiment

    meanings = dict(column.partition("=")[::2] for column in columns)
    if not all(meanings.values()):
        raise click.UsageError("--column is MEANING=COLUMN, such as response=answer")
    experiment = read_experiment(source, read_stimuli(stimuli, images, None, (), ()), meanings, visual_degrees)
    for line in experiment.changes:
        echo(line, err=True)
    _write("benchmark", name, folder, domain, experiment=experiment)


@command.command("data")
@click.argument("name")
@click.option(
    "--neural", is_flag=True, help="Write neural recordings instead of behavioural choices, of language: reading times."
)
@_FOLDER
@_DOMAIN
def new_data(name: str, neural: bool, folder: Path | None, domain: str) -> None:
    """Write data: generated stimuli and measurements, and the code that packages them.

    NAME is AuthorYear, such as Smith2026.
    """
    _write("data", name, folder, domain, behavioral=not neural)


@command.command("metric")
@click.argument("name")
@_FOLDER
@_DOMAIN
def new_metric(name: str, folder: Path | None, domain: str) -> None:
    """Write a metric."""
    _write("metric", name, folder, domain)


@command.command("model")
@click.argument("name")
@_FOLDER
@_DOMAIN
def new_model(name: str, folder: Path | None, domain: str) -> None:
    """Write a model: a small PyTorch network, of language with its tokenizer."""
    _write("model", name, folder, domain)


def _write(
    kind: str,
    name: str,
    folder: Path | None,
    domain: str,
    *,
    behavioral: bool | None = None,
    experiment: Experiment | None = None,
) -> None:
    from brainscore.scaffold import default_root, write_plugin
    from brainscore_core.domains import domain as described
    from brainscore_core.submission.package import is_discoverable

    of = described(domain)
    variable = of.plugin_index.variable or ""
    root = (folder or default_root(of)).absolute()
    before, visible = os.environ.get(variable), is_discoverable(root, of)
    try:
        written = write_plugin(kind, name, root=root, behavioral=behavioral, experiment=experiment, of=of)
    finally:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before
    all_of_them = [*written.others, written]
    for plugin in all_of_them:
        echo(f"Written: {_short(plugin.folder)}")
        for file in sorted(plugin.folder.glob("*.py")):
            echo(f"    {file.name}")
    echo("Next:")
    listed = [*filter(None, (before or "").split(os.pathsep))]
    if not visible and str(root) not in listed:
        echo(f"    export {variable}={shlex.quote(os.pathsep.join([*listed, str(root)]))}")
    echo(f"    brainscore test {' '.join(shlex.quote(_short(plugin.folder)) for plugin in all_of_them)}")
    stated = f" --domain {domain}" if kind == "metric" and domain != FIRST else ""
    echo(f"    brainscore check {kind} {shlex.quote(name)}{stated}")
    if kind == "benchmark":
        if of.offers("assessment"):
            echo(f"    brainscore assess {shlex.quote(name)}")
        echo(f"    brainscore score {written.model} {shlex.quote(name)}")
    elif kind == "model":
        echo(f"    brainscore score {shlex.quote(name)} {of.control}")


def _short(folder: Path) -> str:
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)
