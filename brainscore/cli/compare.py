"""``brainscore compare``."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import click
from click.core import ParameterSource

from brainscore.cli._output import echo_columns, echo_json, printable
from brainscore_core.errors import UnknownIdentifier, UserError, nearest
from brainscore_core.formatting import estimate_text, number_text

if TYPE_CHECKING:
    from brainscore.client import Compared
    from brainscore_core.scoring import ResultsStore
    from brainscore_core.statistics.comparison import Comparison, Comparisons, Ranking

__all__ = ["command"]

_NOTE = (
    "Untested: the site does not store the data to compare the models. To compare them by receipts, run brainscore "
    "compare without --site."
)


def compare_on(site: str, models: Sequence[str], benchmarks: Sequence[str], *, json_: bool) -> bool:
    """Print two models on the benchmarks of a site; return whether there was a difference to compute."""
    from brainscore.client import Client

    if len(models) != 2:
        remedy = "run brainscore compare FIRST SECOND --site URL"
        raise UserError(f"--site compares exactly two models; {len(models) or 'none'} given", remedy=remedy)
    with Client(site) as client:
        found = _only(client.compare(*models), benchmarks)
        if json_:
            echo_json([asdict(one) for one in found])
        else:
            _print(found)
            if found:
                asked = {"mode": "models", "first": found[0].first_model, "second": found[0].second_model}
                click.echo(f"See {client.url}/vision/compare/?{urlencode(asked)}", err=True)
            if any(one.outcome == "untested" for one in found):
                click.echo(_NOTE, err=True)
    return any(one.difference is not None for one in found)


def _only(found: list[Compared], benchmarks: Sequence[str]) -> list[Compared]:
    """Select the rows of some benchmarks and means; all rows if none are given."""
    names = [one.benchmark for one in found]
    for name in benchmarks:
        if name not in names:
            near = nearest(name, names, limit=3)
            raise UnknownIdentifier(
                f"the site has no comparison on {name!r}",
                remedy=f"did you mean {' or '.join(map(repr, near))}?" if near else "leave out --benchmark to see all",
            )
    return [one for one in found if one.benchmark in benchmarks] if benchmarks else found


def _print(found: Sequence[Compared]) -> None:
    if not found:
        click.echo("There is nothing to compare.", err=True)
        return
    rows = [
        (
            printable(one.benchmark),
            number_text(one.first),
            number_text(one.second),
            estimate_text(one.difference, error=one.error, ci=(one.low, one.high), brief=True),
            printable(one.outcome),
        )
        for one in found
    ]
    first, second = printable(found[0].first_model), printable(found[0].second_model)
    echo_columns(("Benchmark", first, second, "Difference (95 % interval)", "Outcome"), rows)


_CORRECTIONS = ("holm", "benjamini-hochberg", "none")
_OF_RECEIPTS = ("ranks", "each", "correction", "level", "results")


@click.command("compare")
@click.argument("models", nargs=-1, metavar="[MODEL MODEL...]")
@click.option(
    "--benchmark",
    "-b",
    "benchmarks",
    multiple=True,
    help="Compare on this benchmark; may be repeated. Required without --site.",
)
@click.option(
    "--ranks",
    is_flag=True,
    help="Rank the models, with intervals and groups of models that do not differ significantly.",
)
@click.option("--each", is_flag=True, help="With --ranks: intervals for each model alone, not simultaneous ones.")
@click.option(
    "--correction",
    type=click.Choice(_CORRECTIONS),
    default="holm",
    show_default=True,
    help="Correction for multiple comparisons.",
)
@click.option("--level", default=0.95, show_default=True, help="Confidence level.")
@click.option(
    "--results",
    metavar="FOLDER",
    help="Folder of receipts, or s3://bucket/prefix. Default: $BRAINSCORE_RESULTS, else $BRAINSCORE_HOME/results.",
)
@click.option(
    "--site", metavar="URL", help="Compare two models on this site, as its page does, instead of stored receipts."
)
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    context: click.Context,
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    ranks: bool,
    each: bool,
    correction: Any,
    level: float,
    results: str | None,
    site: str | None,
    json_: bool,
) -> None:
    """Compare the newest scores of models, pair by pair.

    MODEL may be a pattern such as 'resnet*'. Without MODEL, all models with a receipt of the benchmarks are compared.

    Differences are tested on the stimuli, neuroids or subjects that both models were scored on, from what the receipts
    keep; p-values are corrected over all pairs and benchmarks. The exit code is 1 if nothing could be compared.

    With --site URL, two models are compared as on the site's page /vision/compare/: on all benchmarks and their means,
    or those given with --benchmark. To see the differences of your private models, which are then not tested, log in
    with brainscore login, or set BRAINSCORE_TOKEN.
    """
    if site is not None:
        _refuse(context)
        if not compare_on(site, models, benchmarks, json_=json_):
            context.exit(1)
        return
    if not benchmarks:
        raise UserError("no benchmark is named", remedy="name one with --benchmark, or a site with --site")
    from brainscore_core.scoring import ResultsStore
    from brainscore_core.statistics.comparison import compare

    store = ResultsStore(results)
    found = compare(_chosen(models, benchmarks, store), benchmarks, results=store, correction=correction, level=level)
    if ranks:
        rankings = [found.ranks(benchmark, simultaneous=not each) for benchmark in dict.fromkeys(benchmarks)]
        if json_:
            echo_json([_ranking(ranking) for ranking in rankings])
        else:
            _print_ranks(rankings)
    elif json_:
        echo_json([_comparison(one, found) for one in found])
    else:
        _print_comparisons(found)
    if all(one.p is None for one in found):
        context.exit(1)


def _refuse(context: click.Context) -> None:
    """Refuse options that are about receipts."""
    for name in _OF_RECEIPTS:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UserError(
                f"--{name} is for stored receipts, not for what a site shows", remedy=f"leave out --{name} or --site"
            )


def _chosen(wanted: Sequence[str], benchmarks: Sequence[str], store: ResultsStore) -> list[str]:
    """Models that match names and patterns, each once."""
    if wanted and not any(map(_is_pattern, wanted)):
        return list(dict.fromkeys(wanted))
    known = sorted({model for model, benchmark in store.pairs() if benchmark in benchmarks})
    chosen: list[str] = []
    for name in wanted or ("*",):
        found = [model for model in known if fnmatch.fnmatchcase(model, name)] if _is_pattern(name) else [name]
        if not found:
            which = f"no model {name!r}" if wanted else "no model"
            raise UserError(
                f"{which} has a receipt of {' or '.join(benchmarks)} in {store.address}",
                remedy=f"there are {', '.join(known)}" if known else "score something first: brainscore run",
            )
        chosen += found
    return list(dict.fromkeys(chosen))


def _is_pattern(name: str) -> bool:
    return any(character in name for character in "*?[")


def _print_comparisons(found: Comparisons) -> None:
    rows = [
        (
            one.benchmark,
            f"{one.first} − {one.second}",
            estimate_text(one.difference, error=one.error, ci=one.ci, brief=True) if one.difference is not None else "",
            _p(one.p),
            _p(one.p_corrected),
            one.units or "",
            one.verdict + (" (raw scores)" if one.scale == "raw" else ""),
        )
        for one in found
    ]
    adjusted = {"holm": "p (Holm)", "benjamini-hochberg": "p (BH)", "none": "p (uncorrected)"}[found.correction]
    difference = f"Difference ({100 * found.level:g} % interval)"
    echo_columns(("Benchmark", "Models", difference, "p", adjusted, "Resampled", "Outcome"), rows)
    for one in found:
        if one.reason:
            click.echo(f"{one.benchmark}, {one.first} and {one.second}: {one.reason}", err=True)
    for note in dict.fromkeys(f"{one.benchmark}: {note}" for one in found for note in one.notes):
        click.echo(f"Note: {note}", err=True)


def _print_ranks(rankings: Sequence[Ranking]) -> None:
    rows = [
        (
            ranking.benchmark,
            str(model.rank),
            f"{model.best} to {model.worst}" if model.best < model.worst else str(model.best),
            model.groups,
            f"{model.score:.4f}",
            model.model,
        )
        for ranking in rankings
        for model in ranking.models
    ]
    echo_columns(("Benchmark", "Rank", "Interval", "Groups", "Score", "Model"), rows)
    for ranking in rankings:
        for model, reason in ranking.left_out.items():
            click.echo(f"{ranking.benchmark}, {model} is not ranked: {reason}", err=True)
        for note in ranking.notes:
            click.echo(f"{ranking.benchmark}, not compared: {note}", err=True)


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _comparison(one: Comparison, found: Comparisons) -> dict[str, Any]:

    return asdict(one) | {"correction": found.correction, "better": one.better, "outcome": one.verdict}


def _ranking(ranking: Ranking) -> dict[str, Any]:

    return asdict(ranking)
