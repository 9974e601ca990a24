"""``brainscore results``."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._options import (
    Filters,
    domain_option,
    filter_options,
    json_option,
    listed,
    of_one_domain,
    parse_moment,
    report_problems,
    results_option,
    yes_option,
)
from brainscore.cli._output import (
    aligned,
    difference_lines,
    echo,
    echo_json,
    echo_lines,
    echo_methods,
    echo_pairs,
    echo_table,
    style,
)
from brainscore_core.errors import UserError
from brainscore_core.formatting import estimate_text, number_text
from brainscore_core.identifiers import series_point, states_of_models
from brainscore_core.plurals import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from brainscore_core.results.aggregates import Aggregate, LeafResult, ModelAggregates, Over, Tree
    from brainscore_core.runner.verification import Stored
    from brainscore_core.scoring import Receipt, ResultsStore
    from brainscore_core.training_data import Finding


def tolerance_options(command: click.decorators.FC) -> click.decorators.FC:
    """Add ``--tolerance`` and ``--tolerance-errors``."""
    command = click.option(
        "--tolerance-errors", type=click.FloatRange(min=0), default=1e-3, show_default=True,
        help="Allowed difference in standard errors; the larger of the two tolerances applies.",
    )(command)  # fmt: skip
    return click.option(
        "--tolerance", type=click.FloatRange(min=0), default=1e-6, show_default=True,
        help="Allowed difference; relative for numbers above 1.",
    )(command)  # fmt: skip


@click.command("diff")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@results_option
@tolerance_options
@json_option
def diff(a: str, b: str, results: str | None, tolerance: float, tolerance_errors: float, json_: bool) -> None:
    """Compare two receipts: their numbers, versions, data, code and environment.

    A and B are ids, the beginnings of ids, or files of receipts. The exit code is 1 if the numbers differ by more
    than the tolerance.
    """
    from brainscore_core.runner.verification import compare_attachments
    from brainscore_core.scoring import ResultsStore, Tolerance, difference

    store = ResultsStore(results)
    first, second = stored_receipt(store, a), stored_receipt(store, b)
    compared = difference(
        first.receipt,
        second.receipt,
        tolerance=Tolerance(absolute=tolerance, errors=tolerance_errors),
        arrays=compare_attachments(first, second),
    )
    if json_:
        echo_json(compared.to_dict())
    else:
        echo_pairs(
            [("first", _title(first.receipt)), ("second", _title(second.receipt)), ("verdict", compared.verdict)]
        )
        echo()
        echo_lines(difference_lines(compared))
    if compared.verdict == "different":
        sys.exit(1)


def stored_receipt(store: ResultsStore, name: str) -> Stored:
    """Read the receipt that an id, the beginning of one, or a file names."""
    from brainscore_core.runner.verification import read_receipt, stored_in

    path = Path(name).expanduser()
    if path.suffix == ".json" or path.is_file():
        return read_receipt(path)
    return stored_in(store, store.load(name))


def _title(receipt: Receipt) -> str:
    return f"{receipt.id}: {receipt.model.identifier} on {receipt.benchmark.identifier}, {receipt.state}"


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@results_option
@filter_options
@click.option("--newest", is_flag=True, help="Only the newest receipt of each model and benchmark.")
@click.option(
    "--assessments", is_flag=True, help="Assessments of benchmarks instead of scores, one row for each number."
)
@json_option
def export(file: Path, results: str | None, filters: Filters, newest: bool, assessments: bool, json_: bool) -> None:
    """Write receipts as a table, one row each, to FILE.csv or FILE.parquet.

    Both formats have the same columns; docs/verification.md describes them.
    """
    from brainscore_core.scoring import EXPORT_COLUMNS, ResultsStore, export_table

    if assessments:
        _export_assessments(file, results, filters, newest, json_)
        return
    listing = listed(ResultsStore(results), filters)
    rows = export_table(listing.newest_of_each() if newest else listing.receipts, file)
    if json_:
        echo_json({"file": file, "rows": rows, "columns": len(EXPORT_COLUMNS), "unreadable": len(listing.problems)})
    else:
        echo(f"{counted(rows, 'receipt')}: {file}")


def _export_assessments(file: Path, results: str | None, filters: Filters, newest: bool, json_: bool) -> None:
    from brainscore_core.receipts.assessment import Assessment
    from brainscore_core.results.assessments import ASSESSMENT_COLUMNS, AssessmentStore, export_assessments

    if filters.states or filters.run:
        raise UserError(
            "assessments have no run, and other states than scores", remedy="omit --state and --run with --assessments"
        )
    store = AssessmentStore(results)
    entries = [entry for group in store.newest() for entry in group] if newest else list(store.unread(()))
    assessments = [entry for entry in entries if isinstance(entry, Assessment)]
    for entry in entries:
        if not isinstance(entry, Assessment):
            echo(f"Warning: an assessment cannot be read: {entry}", err=True)
    assessments = sorted(
        (assessment for assessment in assessments if filters.match_assessment(assessment)),
        key=lambda assessment: assessment.id or "",
    )
    rows = export_assessments(assessments, file)
    if json_:
        unreadable = len(entries) - sum(isinstance(entry, Assessment) for entry in entries)
        numbers = {"assessments": len(assessments), "columns": len(ASSESSMENT_COLUMNS), "unreadable": unreadable}
        echo_json({"file": file, "rows": rows, **numbers})
    else:
        echo(f"{len(assessments)} assessments, {rows} rows: {file}")


_RECEIPTS_SHOWN = 20


@click.command("rm")
@click.argument("receipt_ids", nargs=-1, metavar="[RECEIPT]...")
@results_option
@filter_options
@click.option("--older-than", help="Only receipts older than this: an age such as 30d, or a date (UTC).")
@click.option(
    "--superseded",
    is_flag=True,
    help="Only receipts of pairs that have a newer receipt; the newest score of a pair is kept.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@yes_option
@json_option
def remove(
    receipt_ids: tuple[str, ...],
    results: str | None,
    filters: Filters,
    older_than: str | None,
    superseded: bool,
    dry_run: bool,
    yes: bool,
    json_: bool,
) -> None:
    """Remove receipts and their attachments, and products of features that no other receipt names.

    RECEIPT is an id or its beginning; without ids, the options select receipts. Receipts of pairs that are being scored
    are kept, and so are unreadable ones. The exit code is 1 if a selected receipt was kept.
    """
    from brainscore_core.scoring import ResultsStore

    if older_than:
        filters = replace(filters, before=parse_moment(older_than))
    store = ResultsStore(results)
    chosen = _chosen(store, receipt_ids, filters, superseded)
    if dry_run or not chosen:
        _report_removal(store, chosen, [], dry_run=True, json_=json_)
        return
    if not yes:
        _echo_receipts(chosen)
        click.confirm(f"Remove {counted(len(chosen), 'receipt')} from {store.address}?", abort=True, err=True)
    removed, remaining = _remove(store, chosen)
    _report_removal(store, removed, remaining, dry_run=False, json_=json_)
    if remaining:
        sys.exit(1)


def _chosen(store: ResultsStore, receipt_ids: Sequence[str], filters: Filters, superseded: bool) -> tuple[Receipt, ...]:
    if receipt_ids and (filters or superseded):
        raise UserError("receipt ids and options that select receipts cannot be combined", remedy="use two commands")
    if receipt_ids:
        by_id = {receipt.id: receipt for receipt in map(store.load, receipt_ids)}
        return tuple(by_id.values())
    if not filters and not superseded:
        raise UserError(
            "no receipts are selected",
            remedy="pass ids, or use --model, --benchmark, --state, --run, --older-than or --superseded",
        )
    listing = listed(store, filters)
    if not superseded:
        return listing.receipts
    # the newest receipt of a pair may not be among those that the options select
    every = store.listing()
    scored = replace(every, receipts=tuple(receipt for receipt in every.receipts if receipt.state == "scored"))
    newest = {receipt.id for some in (every, scored) for receipt in some.newest_of_each()}
    return tuple(receipt for receipt in listing.receipts if receipt.id not in newest)


def _remove(store: ResultsStore, chosen: Sequence[Receipt]) -> tuple[list[Receipt], list[tuple[Receipt, str]]]:
    """Remove the receipts pair by pair; a claim keeps other processes from scoring the pair meanwhile."""
    by_pair: dict[tuple[str, str], list[Receipt]] = {}
    for receipt in chosen:
        by_pair.setdefault((receipt.model.identifier, receipt.benchmark.identifier), []).append(receipt)
    removed: list[Receipt] = []
    remaining: list[tuple[Receipt, str]] = []
    for (model, benchmark), receipts in by_pair.items():
        claim = store.claim(model, benchmark, owner="brainscore results rm")
        if claim is None:
            remaining += [(receipt, "its pair is being scored") for receipt in receipts]
            continue
        with claim:
            for receipt in receipts:
                try:
                    store.remove(receipt)
                except (UserError, OSError) as error:
                    remaining.append((receipt, getattr(error, "message", None) or str(error)))
                else:
                    removed.append(receipt)
    store.remove_products(removed)
    return sorted(removed, key=lambda receipt: receipt.id), remaining


def _report_removal(
    store: ResultsStore, receipts: Sequence[Receipt], kept: Sequence[tuple[Receipt, str]], *, dry_run: bool, json_: bool
) -> None:
    if json_:
        echo_json(
            {
                "results": store.address,
                "dry_run": dry_run,
                "would_remove" if dry_run else "removed": [_receipt_values(receipt) for receipt in receipts],
                "kept": [{**_receipt_values(receipt), "why": why} for receipt, why in kept],
            }
        )
        return
    for receipt, why in kept:
        echo(f"Kept {receipt.id} ({receipt.model.identifier} on {receipt.benchmark.identifier}): {why}", err=True)
    if dry_run:
        _echo_receipts(receipts)
        echo(f"Would remove {counted(len(receipts), 'receipt')} from {store.address}")
        return
    for receipt in receipts:
        echo(f"Removed {_line(receipt)}")


def _echo_receipts(receipts: Sequence[Receipt]) -> None:
    for receipt in receipts[:_RECEIPTS_SHOWN]:
        echo(_line(receipt), err=True)
    if len(receipts) > _RECEIPTS_SHOWN:
        echo(f"… and {len(receipts) - _RECEIPTS_SHOWN} more", err=True)


def _line(receipt: Receipt) -> str:
    return f"{receipt.id}  {receipt.model.identifier} on {receipt.benchmark.identifier}: {receipt.state}"


def _receipt_values(receipt: Receipt) -> dict[str, str]:
    pair = {"model": receipt.model.identifier, "benchmark": receipt.benchmark.identifier}
    return {"id": receipt.id, **pair, "state": receipt.state}


@click.command("trajectory")
@click.argument("model")
@results_option
@click.option("--benchmark", "benchmarks", multiple=True, metavar="NAME", help="Only this benchmark; may be repeated.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Write a plot (.png, .svg or .pdf).")
@json_option
def trajectory(model: str, results: str | None, benchmarks: tuple[str, ...], plot: Path | None, json_: bool) -> None:
    """Show the scores of a model over epochs and seeds of its training.

    MODEL is the name without @seed and @epoch, such as my-net for my-net@seed1@epoch5.
    """
    from brainscore.training import plot_trajectory
    from brainscore.training import trajectory as read_trajectory

    frame = read_trajectory(model, benchmarks or None, results=results)
    if plot is not None:
        plot_trajectory(frame, plot)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    if json_:
        echo_json({"model": model, "scores": rows, "plot": plot})
        return
    table = [("benchmark", "seed", "epoch", "score (95 % interval)")]
    for row in rows:
        interval = None if row["low"] is None else (row["low"], row["high"])
        seed, epoch = ("" if row[name] is None else str(row[name]) for name in ("seed", "epoch"))
        table.append((row["benchmark"], seed, epoch, estimate_text(row["score"], ci=interval, brief=True)))
    echo_lines(aligned(table))
    if plot is not None:
        echo(f"Plot: {plot}")


@click.command("tree")
@results_option
@click.option("--model", "models", multiple=True, help="Only this model; may be repeated.")
@click.option(
    "--over", type=click.Choice(["all", "scored"]), default="all", show_default=True,
    help="In means, count missing scores as 0 (all), or omit them (scored).",
)  # fmt: skip
@click.option("--benchmarks", is_flag=True, help="Also show the benchmarks, not only the means.")
@click.option("--own", is_flag=True, help="Also average benchmarks of other plugins, below their parents.")
@click.option(
    "--errors", is_flag=True,
    help="Compute standard errors of means, from what is stored with the receipts, which can be slow.",
)  # fmt: skip
@domain_option
@json_option
def tree(
    results: str | None,
    models: tuple[str, ...],
    over: Over,
    benchmarks: bool,
    own: bool,
    errors: bool,
    domain: str | None,
    json_: bool,
) -> None:
    """Average scores along the tree of the leaderboard.

    A mean is over the nodes directly below it. As on the published leaderboard, missing scores count as 0. The
    columns next to each mean show how many benchmarks were scored, and the states of the others. Models are ordered
    as on the leaderboard: ranked ones by rank, then those with the most scores. Benchmarks of other plugins are shown
    below their parents, and are not averaged unless --own is given.
    """
    from brainscore_core.populations import condition_of_all, condition_of_benchmark
    from brainscore_core.results.aggregates import results_of
    from brainscore_core.results.board import rank_models
    from brainscore_core.scoring import ResultsStore
    from brainscore_core.statistics.units import read_influences
    from brainscore_core.training_data import explained_signs

    store = ResultsStore(results)
    described, receipts = of_one_domain(_receipts(store, models), domain)
    nodes, registry = described.tree(), described.registries["benchmark"]
    registered = (receipt.benchmark for receipt in receipts if receipt.benchmark.identifier in registry)
    shown = nodes.extended(described.table.own_benchmarks(nodes, registered))
    if own:
        nodes = shown
    scored_models = {receipt.model.identifier for receipt in receipts}
    states = states_of_models(scored_models)
    requested = {_listed_state(name, scored_models, states) for name in models} or set(states)
    receipts = tuple(receipt for receipt in receipts if receipt.model.identifier in requested)
    influences = read_influences(store, receipts) if errors else None
    ranked = rank_models(nodes, results_of(receipts, influences=influences), over=over)
    aggregates = ranked.models
    exposure = described.exposure(
        (model_aggregates.model, name)
        for model_aggregates in aggregates
        for name, node in model_aggregates.items()
        if nodes[name].benchmark and node.value is not None
    )
    own_receipts = {
        (receipt.model.identifier, receipt.benchmark.identifier): receipt
        for receipt in receipts  # the oldest first
        if receipt.benchmark.identifier in shown and receipt.benchmark.identifier not in nodes
    }
    conditions: dict[str, list[str]] = {}
    for receipt in receipts:
        if receipt.score is not None and receipt.score.value is not None and receipt.benchmark.identifier in nodes:
            conditions.setdefault(receipt.benchmark.identifier, []).append(receipt.condition)
    holds_for = condition_of_all(map(condition_of_benchmark, conditions.values()))
    if json_:
        models_values = [_tree_values(nodes, model_aggregates, exposure) for model_aggregates in aggregates]
        for values in models_values:
            values["rank"] = ranked.standings[values["model"]].rank
            values["not_averaged"] = [
                {**_as_row(receipt), "parent": shown[benchmark].parent}
                for (model, benchmark), receipt in own_receipts.items()
                if model == values["model"]
            ]
        echo_json({"over": over, "condition": holds_for, "models": models_values})
        return
    if not aggregates:
        echo("No receipts.", err=True)
        return
    for number, model_aggregates in enumerate(aggregates):
        if number:
            echo()
        echo(style(model_aggregates.model, bold=True))
        own_of_model = {
            benchmark: receipt
            for (model, benchmark), receipt in own_receipts.items()
            if model == model_aggregates.model
        }
        rows = list(_tree_rows(shown, model_aggregates, benchmarks, exposure, own_of_model))
        echo_lines(aligned(rows))
    if benchmarks:
        for sign in explained_signs(finding.state for finding in exposure.values()):
            echo(sign, err=True)
    if holds_for:
        echo(f"Intervals hold for {holds_for}", err=True)
    if own_receipts:
        names = sorted({benchmark for _, benchmark in own_receipts})
        echo(f"Shown below their parents, but not averaged: {', '.join(names)}. --own averages them.", err=True)
    outside = sorted({name for model_aggregates in aggregates for name in model_aggregates.outside} - set(shown))
    if outside:
        echo(f"Not on the leaderboard: {', '.join(outside)}", err=True)
    for name in sorted(name for name in requested if len(states.get(name, ())) > 1):
        model = series_point(name).model
        echo(f"{name} is one of {len(states[name])} states of {model}: brainscore results trajectory {model}", err=True)


def _listed_state(name: str, known: Collection[str], states: Mapping[str, Sequence[str]]) -> str:
    """The identifier itself, or that of the state by which a model is listed."""
    return name if name in known else next(listed for listed in states if series_point(listed).model == name)


def _receipts(store: ResultsStore, models: Sequence[str]) -> tuple[Receipt, ...]:

    listing = store.listing()
    for problem in listing.problems:
        echo(f"Warning: a receipt cannot be read: {problem}", err=True)
    scored = {receipt.model.identifier for receipt in listing.receipts}
    trained = {series_point(name).model for name in scored}
    for model in models:
        if model not in scored | trained:
            there = f"there are: {', '.join(sorted(scored))}" if scored else "there are no receipts"
            raise UserError(f"no receipts of the model {model!r} in {store.address}", remedy=there)
    return listing.receipts


def _tree_values(nodes: Tree, made: ModelAggregates, exposure: Mapping[tuple[str, str], Finding]) -> dict[str, Any]:
    return {
        "model": made.model,
        "outside": list(made.outside),
        "nodes": [
            {
                "identifier": node.identifier,
                "title": nodes[node.identifier].title,
                "parent": nodes[node.identifier].parent,
                "benchmark": nodes[node.identifier].benchmark,
                "version": nodes[node.identifier].version,
                "value": node.value,
                "error": node.error,
                "error_reason": node.error_reason,
                "state": node.state,
                "result": _result_values(node.result) if node.result else None,
                "exposure": finding._asdict() if (finding := exposure.get((made.model, node.identifier))) else None,
                **asdict(node.coverage),
                "n_applicable": node.coverage.n_applicable,
            }
            for node in made.values()
        ],
    }


def _result_values(result: LeafResult) -> dict[str, Any]:
    return {name: value for name, value in asdict(replace(result, influence=None)).items() if name != "influence"}


def _tree_rows(
    nodes: Tree,
    made: ModelAggregates,
    benchmarks: bool,
    exposure: Mapping[tuple[str, str], Finding],
    own: Mapping[str, Receipt],
) -> Iterable[tuple[str, str, str, str]]:
    from brainscore_core.training_data import MARKS

    yield "", "score (95 % interval)", "scored", "not scored"
    for identifier in nodes:
        name = "  " * len(nodes.ancestors(identifier)) + (nodes[identifier].title or identifier)
        if identifier in own:
            yield name, _score_text(own[identifier]), "", "not averaged"
        if identifier not in made or (nodes[identifier].benchmark and not benchmarks):
            continue
        node = made[identifier]
        scored = f"{node.coverage.n_scored} of {node.coverage.n_all}"
        value = estimate_text(node.value, error=node.error, ci=node.ci, brief=True)
        if finding := exposure.get((made.model, identifier)):
            value = f"{value} {MARKS[finding.state].sign}".rstrip()
        if node.state is not None:
            yield name, value, "", _state_text(node)
        else:
            yield name, value, scored, node.coverage.unscored_text


def _state_text(node: Aggregate) -> str:
    if node.state == "scored":
        return f"undetermined: {node.result.undetermined}" if node.result and node.result.undetermined else ""
    if node.state == "outdated" and node.result is not None:
        return f"outdated: version {node.result.version}"
    state = "NaN" if node.state == "undefined" else str(node.state)
    return f"{state}: {node.result.reason}" if node.result and node.result.reason else state


@click.group("results", cls=Subcommands)
def command() -> None:
    """List, show, compare, export and remove receipts; average scores as on the leaderboard."""


@command.command("ls")
@results_option
@filter_options
@click.option("--newest", is_flag=True, help="Only the newest receipt of each model and benchmark.")
@click.option("--limit", type=click.IntRange(min=1), help="Only this number of receipts, the newest ones.")
@json_option
def list_(results: str | None, filters: Filters, newest: bool, limit: int | None, json_: bool) -> None:
    """List receipts, oldest first.

    When the output is not a terminal, only the ids are printed, one per line.
    """
    from brainscore_core.memory import format_size
    from brainscore_core.results.products import stored_size
    from brainscore_core.scoring import ResultsStore

    store = ResultsStore(results)
    table = store.table()
    chosen = [row for row in map(table.row, range(len(table))) if filters.match_row(row)]
    if newest:
        by_pair = {(row["benchmark"], row["model"]): row for row in chosen}
        chosen = [by_pair[pair] for pair in sorted(by_pair)]
    if limit is not None:
        chosen = sorted(chosen, key=lambda row: str(row["id"]))[-limit:]
    report_problems(table.problems)
    if chosen and not json_ and not sys.stdout.isatty():
        for row in chosen:
            echo(row["id"])
        return
    listing = store.read((row["model"], row["benchmark"], row["id"]) for row in chosen)
    report_problems(listing.problems)
    receipts = listing.receipts
    if json_:
        echo_json([_as_row(receipt) for receipt in receipts])
        return
    if not receipts:
        echo(f"No receipts{f' ({filters})' if filters else ''}.", err=True)
        return
    rows = [
        (
            receipt.id,
            receipt.model.identifier,
            receipt.benchmark.identifier,
            _score_text(receipt),
        )
        for receipt in receipts
    ]
    echo_table(("Receipt", "Model", "Benchmark", "Score (95 % interval)"), rows)
    if size := stored_size(receipts):
        echo(f"Products of features: {format_size(size)}")


def _score_text(receipt: Receipt) -> str:
    if receipt.undetermined:
        return f"undetermined (raw {number_text(receipt.raw.value if receipt.raw else None)})"
    return receipt.score.text(brief=True) if receipt.score else receipt.state


def _as_row(receipt: Receipt) -> dict[str, object]:
    return {
        "id": receipt.id,
        "created": receipt.created,
        "model": receipt.model.identifier,
        "benchmark": receipt.benchmark.identifier,
        "version": receipt.benchmark.version,
        "state": receipt.state,
        "reason": receipt.reason,
        "score": receipt.score.value if receipt.score else None,
        "error": receipt.score.error if receipt.score else None,
        "undetermined": receipt.undetermined,
        "run": receipt.run.id if receipt.run else None,
    }


@command.command("show")
@click.argument("receipt_id", metavar="RECEIPT")
@results_option
@click.option("--log", is_flag=True, help="Print the output of the scoring process.")
@click.option("--methods", is_flag=True, help="Print a paragraph for a paper, with references.")
@json_option
def show(receipt_id: str, results: str | None, log: bool, methods: bool, json_: bool) -> None:
    """Show a receipt, named by its id or the beginning of it."""
    from brainscore_core.receipts.output import read_log
    from brainscore_core.receipts.receipt import summary
    from brainscore_core.scoring import ResultsStore

    store = ResultsStore(results)
    receipt = store.load(receipt_id)
    if methods and (log or json_):
        raise click.UsageError("--methods prints text; leave out --log and --json")
    if methods:
        echo_methods(store, receipt)
    elif log:
        echo(read_log(store.attachment_path(receipt, "log")), nl=False)
    elif json_:
        echo_json(receipt.to_dict())
    else:
        details = [(name, text) for name, text in _details(receipt).items() if text]
        echo_pairs([("id", receipt.id), *summary(receipt), *details, ("receipt", store.address_of(receipt))])


def _details(receipt: Receipt) -> dict[str, str]:
    """Details that are not in `summary`."""
    steps = {name: seconds for name, seconds in vars(receipt.timings).items() if seconds is not None}
    memory = receipt.memory.peak_bytes
    run = receipt.run
    run_packages = _versions(run.packages) if run else ""
    return {
        "created": receipt.created,
        "error": f"{receipt.error.type}: {receipt.error.message}\n{receipt.error.traceback}" if receipt.error else "",
        "data": ", ".join(item.identifier for item in receipt.data),
        "files": "" if not receipt.files else f"{len(receipt.files)}, with their hashes in --json",
        "weights": "\n".join(f"{item.identifier} {item.sha256[:12]}…" for item in receipt.weights),
        "seconds": ", ".join(f"{name.replace('_', ' ')} {seconds:.2f}" for name, seconds in steps.items()),
        "memory": "" if memory is None else f"at most {memory / 1e9:.2f} GB",
        "activations": _cache(receipt),
        "device": receipt.device,
        "run": "" if run is None else run.id + (", the model in a process of its own" if run.isolated else ""),
        "environment": " ".join(text for text in (run.environment if run else "", run_packages) if text),
        "python": receipt.environment.python,
        "platform": ", ".join(text for text in (receipt.environment.platform, receipt.environment.cpu) if text),
        "packages": _versions(receipt.environment.packages),
        "attachments": "\n".join(item.name for item in receipt.attachments),
    }


def _versions(packages: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))


def _cache(receipt: Receipt) -> str:
    hits, misses = receipt.cache.hits, receipt.cache.misses
    return f"{hits} of {hits + misses} read from the store" if hits or misses else ""


for _command in (export, diff, remove, trajectory, tree):
    command.add_command(_command)
