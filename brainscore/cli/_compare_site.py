"""``brainscore compare --site``: two models as a site's page compares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import click

from brainscore.cli._output import clean, echo_columns, echo_json
from brainscore_core.errors import UnknownIdentifier, UserError, nearest

if TYPE_CHECKING:
    from brainscore.web import Compared

__all__ = ["compare_on"]

_NOTE = (
    "Intervals take the errors of the two models as independent; the paired test needs receipts: "
    "brainscore compare without --site."
)


def compare_on(site: str, models: Sequence[str], benchmarks: Sequence[str], *, json_: bool) -> bool:
    """Print two models on the benchmarks of a site; say whether there was anything to compare."""
    from brainscore.web import Client

    if len(models) != 2:
        remedy = "name two: brainscore compare FIRST SECOND --site URL"
        raise UserError(f"a site compares two models; {len(models) or 'none'} named", remedy=remedy)
    with Client(site) as client:
        found = _only(client.compare(*models), benchmarks)
        if json_:
            echo_json([asdict(one) for one in found])
        else:
            _print(found)
            if found:
                asked = {"mode": "models", "first": found[0].first_model, "second": found[0].second_model}
                click.echo(f"See {client.url}/vision/compare/?{urlencode(asked)}", err=True)
            click.echo(_NOTE, err=True)
    return any(one.difference is not None for one in found)


def _only(found: list[Compared], benchmarks: Sequence[str]) -> list[Compared]:
    """Rows of the benchmarks and means that are named; all where none is."""
    names = [one.benchmark for one in found]
    for name in benchmarks:
        if name not in names:
            near = nearest(name, names, limit=3)
            raise UnknownIdentifier(
                f"the site compares nothing on {name!r}",
                remedy=f"did you mean {' or '.join(map(repr, near))}?" if near else "leave out --benchmark to see all",
            )
    return [one for one in found if one.benchmark in benchmarks] if benchmarks else found


def _print(found: Sequence[Compared]) -> None:
    from brainscore.report import number

    if not found:
        click.echo("Nothing to compare.", err=True)
        return
    rows = [
        (
            clean(one.benchmark),
            number(one.first, one.first_error),
            number(one.second, one.second_error),
            number(one.difference, one.error),
            f"{number(one.low)} to {number(one.high)}" if one.low is not None and one.high is not None else "",
            clean(one.outcome),
        )
        for one in found
    ]
    first, second = clean(found[0].first_model), clean(found[0].second_model)
    echo_columns(("Benchmark", first, second, "Difference", "95 % interval", "Outcome"), rows)
