"""``brainscore compare``."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import click
from click.core import ParameterSource

from brainscore.cli._options import json_option, results_option
from brainscore.cli._output import echo, echo_columns, echo_json
from brainscore_core.errors import UnknownIdentifier, UserError, nearest
from brainscore_core.formatting import estimate_text, number_text, printable
from brainscore_core.progress import stage

if TYPE_CHECKING:
    from brainscore.client import Compared
    from brainscore_core.scoring import ResultsStore
    from brainscore_core.statistics.comparison import Comparison, Comparisons, Ranking

_UNTESTED_NOTE = (
    "Untested: the site does not store the data to compare the models. To compare them by receipts, run brainscore "
    "compare without --site."
)


def compare_on(site: str, models: Sequence[str], benchmarks: Sequence[str], *, json_: bool) -> bool:
    """Print the scores and differences of two models on a site; return whether there was any difference."""
    from brainscore.client import Client

    if len(models) != 2:
        remedy = "run brainscore compare FIRST SECOND --site URL"
        raise UserError(f"--site compares exactly two models; {len(models) or 'none'} given", remedy=remedy)
    with Client(site) as client:
        rows = _select_rows(client.compare(*models), benchmarks)
        if json_:
            echo_json([asdict(row) for row in rows])
        else:
            _print_rows(rows)
            if rows:
                query = {"mode": "models", "first": rows[0].first_model, "second": rows[0].second_model}
                echo(f"See {client.url}/{rows[0].domain}/compare/?{urlencode(query)}", err=True)
            if any(row.outcome == "untested" for row in rows):
                echo(_UNTESTED_NOTE, err=True)
    return any(row.difference is not None for row in rows)


def _select_rows(rows: list[Compared], benchmarks: Sequence[str]) -> list[Compared]:
    """Select the rows of the given benchmarks and means; all rows if none are given."""
    names = [row.benchmark for row in rows]
    for name in benchmarks:
        if name not in names:
            near = nearest(name, names, limit=3)
            raise UnknownIdentifier(
                f"the site has no comparison on {name!r}",
                remedy=f"did you mean {' or '.join(map(repr, near))}?" if near else "leave out --benchmark to see all",
            )
    return [row for row in rows if row.benchmark in benchmarks] if benchmarks else rows


def _print_rows(rows: Sequence[Compared]) -> None:
    if not rows:
        echo("There is nothing to compare.", err=True)
        return
    cells = [
        (
            printable(row.benchmark),
            number_text(row.first),
            number_text(row.second),
            estimate_text(row.difference, error=row.error, ci=(row.low, row.high), brief=True),
            printable(f"{row.outcome} ({row.condition})" if row.condition else row.outcome),
        )
        for row in rows
    ]
    first, second = printable(rows[0].first_model), printable(rows[0].second_model)
    echo_columns(("Benchmark", first, second, "Difference (95 % interval)", "Outcome"), cells)


_CORRECTIONS = ("holm", "benjamini-hochberg", "none")
_RECEIPT_OPTIONS = ("with_untrained", "ranks", "each", "correction", "level", "results", "table")


@click.command("compare")
@click.argument("models", nargs=-1, metavar="[MODEL MODEL...]")
@click.option(
    "--benchmark",
    "-b",
    "benchmarks",
    multiple=True,
    help="Compare on this benchmark; may be repeated. Default: all that each MODEL has a receipt of.",
)
@click.option(
    "--with-untrained",
    is_flag=True,
    help="Compare MODEL with its untrained twin on BENCHMARK; both are scored first, unless they are scored already.",
)
@click.option(
    "--ranks",
    is_flag=True,
    help="Rank the models, with intervals and groups of models that do not differ significantly.",
)
@click.option(
    "--each", is_flag=True, help="With --ranks: intervals for each model alone instead of simultaneous intervals."
)
@click.option(
    "--correction",
    type=click.Choice(_CORRECTIONS),
    default="holm",
    show_default=True,
    help="Correction for multiple comparisons.",
)
@click.option("--level", default=0.95, show_default=True, help="Confidence level.")
@results_option
@click.option(
    "--site", metavar="URL", help="Compare two models on this site, as its page does, instead of stored receipts."
)
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the differences as LaTeX (.tex), Markdown (.md) or CSV (.csv).",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    with_untrained: bool,
    ranks: bool,
    each: bool,
    correction: Any,
    level: float,
    results: str | None,
    site: str | None,
    table: Path | None,
    json_: bool,
) -> None:
    """Compare the newest scores of models, pair by pair.

    brainscore compare MODEL MODEL -b BENCHMARK
    brainscore compare MODEL BENCHMARK --with-untrained

    MODEL may be a pattern such as 'resnet*'. Without MODEL, all models with a receipt of the benchmarks are compared;
    without --benchmark, the models on all benchmarks that each of them has a receipt of.

    Differences are tested on the stimuli, neuroids or subjects that both models were scored on, with data stored beside
    the receipts; p-values are corrected over all pairs and benchmarks. The exit code is 1 if nothing could be compared.

    With --site URL, two models of one domain are compared as on the site's page of comparisons: on all benchmarks and
    their means, or those given with --benchmark. To include your private models, log in with brainscore login, or set
    BRAINSCORE_TOKEN.
    """
    if site is not None:
        _refuse_receipt_options(context)
        if not compare_on(site, models, benchmarks, json_=json_):
            context.exit(1)
        return
    with stage("starting"):  # imports take a second
        from brainscore_core.scoring import ResultsStore
        from brainscore_core.statistics.comparison import compare

    store = ResultsStore(results)
    chosen: Sequence[str] = benchmarks
    selected: Sequence[str]
    if with_untrained:
        selected, chosen = _score_with_twin(models, benchmarks, store)
    elif benchmarks:
        selected = _select_models(models, benchmarks, store)
    else:
        selected, chosen = _select_common(models, store)
    comparisons = compare(selected, chosen, results=store, correction=correction, level=level)
    if table is not None:
        from brainscore.report import write_comparisons

        write_comparisons(comparisons, table)
    if ranks:
        rankings = [comparisons.ranks(benchmark, simultaneous=not each) for benchmark in dict.fromkeys(chosen)]
        if json_:
            echo_json([asdict(ranking) for ranking in rankings])
        else:
            _print_ranks(rankings)
    elif json_:
        echo_json([_as_dict(comparison, comparisons.correction) for comparison in comparisons])
    else:
        _print_comparisons(comparisons)
    if all(comparison.p is None for comparison in comparisons):
        context.exit(1)


def _refuse_receipt_options(context: click.Context) -> None:
    """Raise an error if an option is given that has no effect with --site."""
    for name in _RECEIPT_OPTIONS:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise UserError(f"{option} is for stored receipts, not for a site", remedy=f"leave out {option} or --site")


def _score_with_twin(
    names: Sequence[str], benchmarks: Sequence[str], store: ResultsStore
) -> tuple[Sequence[str], Sequence[str]]:
    """Score the named model and its untrained twin; return both names, and those of the benchmarks."""
    from brainscore_core.domains import domain_of

    model, *others = names or [""]
    if not model or len(others) + len(benchmarks) < 1:
        raise UserError(
            "--with-untrained needs a model and a benchmark",
            remedy="write it as brainscore compare MODEL BENCHMARK --with-untrained",
        )
    named = [*others, *benchmarks]
    score_with_twin = domain_of("benchmark", named[0]).feature("untrained twins")
    pairs = score_with_twin(model, named, results=store)
    echo("The twin has one draw of initial weights (seed 0); other draws are not part of the interval.", err=True)
    return pairs.models, pairs.benchmarks


def _select_common(names: Sequence[str], store: ResultsStore) -> tuple[list[str], list[str]]:
    """Return the models that match the names and patterns, and the benchmarks that all of them have a receipt of."""
    if not names:
        raise UserError(
            "no models and no benchmark are named",
            remedy="name two models, brainscore compare FIRST SECOND, or a benchmark, brainscore compare -b BENCHMARK",
        )
    by_model: dict[str, set[str]] = {}
    for model, benchmark in store.pairs():
        by_model.setdefault(model, set()).add(benchmark)
    models = _selected(names, sorted(by_model), f"a receipt in {store.address}")
    for model in models:
        if model not in by_model:
            near = nearest(model, by_model, limit=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "score it first: brainscore run"
            raise UserError(f"{model!r} has no receipt in {store.address}", remedy=hint)
    common = set.intersection(*(by_model[model] for model in models))
    if not common:
        raise UserError(
            f"{', '.join(models)} have no benchmark in common in {store.address}",
            remedy="score them on the same benchmarks: brainscore run",
        )
    return models, sorted(common)


def _select_models(names: Sequence[str], benchmarks: Sequence[str], store: ResultsStore) -> list[str]:
    """Return the models that match any of the names and patterns; all models with a receipt if there are none."""
    if len(set(names)) > 1 and not any(map(_is_pattern, names)):
        return list(dict.fromkeys(names))
    scored = sorted({model for model, benchmark in store.pairs() if benchmark in benchmarks})
    return _selected(names or ["*"], scored, f"a receipt of {' or '.join(benchmarks)} in {store.address}")


def _selected(names: Sequence[str], scored: Sequence[str], receipt: str) -> list[str]:
    """Return at least two models, each once: names as they are, and the known models that match the patterns."""
    selected: list[str] = []
    for name in names:
        matching = [model for model in scored if fnmatch.fnmatchcase(model, name)] if _is_pattern(name) else [name]
        if not matching:
            which = "no model" if name == "*" else f"no model {name!r}"
            raise UserError(
                f"{which} has {receipt}",
                remedy=f"models with a receipt: {', '.join(scored)}"
                if scored
                else "score a model first: brainscore run",
            )
        selected += matching
    selected = list(dict.fromkeys(selected))
    if len(selected) < 2:
        unselected = [model for model in scored if model not in selected]
        raise UserError(
            f"a comparison needs two models; only {selected[0]!r} is selected",
            remedy=f"add one of those with {receipt}: {', '.join(unselected[:10])}{' …' * (len(unselected) > 10)}"
            if unselected
            else f"score another model first: no other has {receipt}",
        )
    return selected


def _is_pattern(name: str) -> bool:
    return any(character in name for character in "*?[")


def _print_comparisons(comparisons: Comparisons) -> None:
    rows = [
        (
            pair.benchmark,
            f"{pair.first} − {pair.second}",
            "" if pair.difference is None else estimate_text(pair.difference, error=pair.error, ci=pair.ci, brief=True),
            _p_text(pair.p),
            _p_text(pair.p_corrected),
            pair.units or "",
            pair.verdict + (" (raw scores)" if pair.scale == "raw" else ""),
        )
        for pair in comparisons
    ]
    corrected = {"holm": "p (Holm)", "benjamini-hochberg": "p (BH)", "none": "p (uncorrected)"}[comparisons.correction]
    difference = f"Difference ({100 * comparisons.level:g} % interval)"
    echo_columns(("Benchmark", "Models", difference, "p", corrected, "Resampled", "Outcome"), rows)
    for pair in comparisons:
        if pair.reason:
            echo(f"{pair.benchmark}, {pair.first} and {pair.second}: {pair.reason}", err=True)
    for note in dict.fromkeys(f"{pair.benchmark}: {note}" for pair in comparisons for note in pair.notes):
        echo(f"Note: {note}", err=True)


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
            echo(f"{ranking.benchmark}, {model} is not ranked: {reason}", err=True)
        if ranking.condition:
            echo(f"{ranking.benchmark}: ranks hold for {ranking.condition}", err=True)
        for note in ranking.notes:
            echo(f"{ranking.benchmark}, not compared: {note}", err=True)


def _p_text(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _as_dict(comparison: Comparison, correction: str) -> dict[str, Any]:
    return asdict(comparison) | {
        "correction": correction,
        "better": comparison.better,
        "outcome": comparison.verdict,
    }
