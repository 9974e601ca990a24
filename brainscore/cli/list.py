"""``brainscore list``."""

from __future__ import annotations

import fnmatch
import sys
from typing import Any

import click

from brainscore.cli._options import json_option
from brainscore.cli._output import echo, echo_json, echo_table
from brainscore_core.domain_names import DOMAINS, FIRST
from brainscore_core.domains import KINDS
from brainscore_core.domains import domain as domain_named
from brainscore_core.errors import UserError, nearest


class _Kind(click.Choice[str]):
    """A choice that suggests the nearest kinds for a misspelt one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        near = nearest(str(value), KINDS, limit=2)
        if value not in KINDS and near:
            self.fail(f"{value!r} is not a kind. Did you mean {' or '.join(near)}?", param, ctx)
        return super().convert(value, param, ctx)


def _matches(identifier: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    name, sought = identifier.lower(), pattern.lower()
    return fnmatch.fnmatchcase(name, sought) if any(sign in sought for sign in "*?[") else sought in name


@click.command("list")
@click.argument("kind", metavar="[KIND]", type=_Kind(list(KINDS)), required=False)
@click.argument("pattern", required=False)
@click.option("--like", metavar="PATTERN", help="The same as PATTERN.")
@click.option(
    "--library", type=click.Choice(["timm", "torchvision", "huggingface", "open_clip"]),
    help="Instead of registered models, list a library's models with weights; of Hugging Face, those in the local "
    "cache.",
)  # fmt: skip
@click.option("--domain", type=click.Choice(list(DOMAINS)), default=FIRST, show_default=True, help="Which domain's.")
@json_option
def command(
    kind: str | None, pattern: str | None, like: str | None, library: str | None, domain: str, json_: bool
) -> None:
    """List models, benchmarks, metrics, data or stimulus sets.

    KIND is models, benchmarks, metrics, data or stimulus-sets. Without it, the number of each kind is shown.
    PATTERN is a part of the name, or a pattern such as '*.IT-*'; case is ignored.
    No plugin is imported. When the output is not a terminal, only the identifiers are printed, one per line.

    A benchmark can also combine the recordings of a listed one with any metric, by the name
    <data set>.<region>:<metric>[@<ceiling>], such as MajajHong2015public.IT:cka_cv.
    """
    if like is not None:
        if pattern is not None and pattern != like:
            raise click.UsageError("PATTERN and --like are the same: give one of them")
        pattern = like
    if library is not None:
        if kind != "models":
            raise click.UsageError("--library lists models: brainscore list models --library NAME")
        _echo_library(library, pattern, json_=json_)
        return
    registries = domain_named(domain).registries
    if kind is None:
        counts = {kind: len(registries[name]) for kind, name in KINDS.items() if name in registries}
        _echo_counts(counts, json_=json_)
        return
    if KINDS[kind] not in registries:
        raise UserError(f"{domain} has no {kind}", remedy=f"brainscore list data --domain {domain}")
    registry = registries[KINDS[kind]]
    rows: list[dict[str, Any]] = []
    for identifier in registry:
        if _matches(identifier, pattern):
            locations = registry.locations(identifier)
            rows.append(
                {
                    "identifier": identifier,
                    "package": locations[0].package,
                    "source": locations[0].source,
                    "file": locations[0].file,
                    "line": locations[0].line,
                    "also_in": [str(location) for location in locations[1:]],
                }
            )
    if json_:
        echo_json(rows)
        return
    if not rows:
        matching = f" match {pattern!r}" if pattern is not None else " are registered"
        echo(f"No {kind.replace('-', ' ')}{matching}.", err=True)
    echo_table(
        ("identifier", "plugin", "from"),
        [(row["identifier"], row["package"], _origin(row)) for row in rows],
    )
    if registry.resolver is not None and registry.resolver.about and sys.stdout.isatty():
        echo(registry.resolver.about, err=True)


def _echo_library(library: str, pattern: str | None, *, json_: bool) -> None:
    library_names = domain_named(FIRST).feature("models of libraries")
    # a pattern may also begin with the name of the library, as identifiers do
    name_pattern = None if pattern is None else pattern.removeprefix(f"{library}:")
    matching_names = [f"{library}:{name}" for name in library_names(library) if _matches(name, name_pattern)]
    if json_:
        echo_json([{"identifier": name, "library": library} for name in matching_names])
        return
    if not matching_names:
        where = " in the local cache" if library == "huggingface" else ""
        matching = "" if pattern is None else f" matches {pattern!r}"
        echo(f"No model of {library}{where}{matching}.", err=True)
    for name in matching_names:
        echo(name)


def _echo_counts(counts: dict[str, int], *, json_: bool) -> None:
    if json_:
        echo_json(counts)
        return
    for kind, count in counts.items():
        echo(f"{kind}\t{count:,}" if not sys.stdout.isatty() else f"{kind:13} {count:>5,}")
    if sys.stdout.isatty():
        echo("List one kind with: brainscore list KIND [PATTERN]", err=True)


def _origin(row: dict[str, Any]) -> str:
    if row["also_in"]:
        return f"COLLISION: {row['file']}:{row['line']} and {', '.join(row['also_in'])}"
    return str(row["source"])
