"""``brainscore reproduce``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from brainscore.cli._options import domain_option, json_option, matches
from brainscore.cli._output import echo, echo_columns, echo_json
from brainscore_core.errors import UserError
from brainscore_core.plurals import counted
from brainscore_core.progress import stage

if TYPE_CHECKING:
    from brainscore_core.runner.reproduction import PublishedScore, Reproduction

_COLUMNS = ("model", "benchmark", "score", "published", "here", "difference", "")


@click.command("reproduce")
@click.option("--model", "-m", "models", multiple=True, help="Only pairs of this model, or a pattern; may be repeated.")
@click.option(
    "--benchmark",
    "-b",
    "benchmarks",
    multiple=True,
    help="Only pairs of this benchmark, or a pattern; may be repeated.",
)
@click.option(
    "--results",
    metavar="FOLDER",
    help="Folder for receipts, or s3://bucket/prefix. [default: $BRAINSCORE_RESULTS, else $BRAINSCORE_HOME/results]",
)
@domain_option
@json_option
@click.pass_context
def command(
    context: click.Context,
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    results: str | None,
    domain: str | None,
    json_: bool,
) -> None:
    """Score published pairs of a model and a benchmark, and compare with the published values.

    Weights and data are fetched; some data need credentials of the platform. A pair that cannot be scored is
    shown with the reason. The exit code is 1 if a pair is not reproduced within the published tolerance.
    """
    with stage("starting"):  # imports take seconds
        from brainscore_core.domains import domains
        from brainscore_core.runner.reproduction import reproduce
        from brainscore_core.scoring import ResultsStore

        scores = [score for each in domains(domain and [domain]) for score in each.feature("published scores")]
    chosen = [score for score in scores if matches(score.model, models) and matches(score.benchmark, benchmarks)]
    if not chosen:
        raise UserError("no published pair matches", remedy=f"there are {', '.join(_name(score) for score in scores)}")
    store = ResultsStore(results)
    reproductions: list[Reproduction] = []
    for number, score in enumerate(chosen, start=1):
        echo(f"[{number}/{len(chosen)}] {_name(score)} …", err=True)
        reproductions += reproduce([score], results=store)
    if json_:
        echo_json([_as_dict(reproduction) for reproduction in reproductions])
    else:
        echo_columns(_COLUMNS, [_row(reproduction) for reproduction in reproductions])
        agreeing, scored = (
            sum(reproduction.agrees for reproduction in reproductions),
            sum(reproduction.value is not None for reproduction in reproductions),
        )
        pairs = counted(len(reproductions), "pair")
        agree = f"; {agreeing} within the published tolerance." if scored else ": see the last column."
        echo(f"{scored} of {pairs} could be scored{agree}")
    if not all(reproduction.agrees for reproduction in reproductions):
        context.exit(1)


def _name(score: PublishedScore) -> str:
    return f"{score.model} × {score.benchmark}"


def _row(reproduction: Reproduction) -> tuple[str, ...]:
    published, difference = reproduction.published, reproduction.difference
    if difference is None:
        here, shown, verdict = "", "", (reproduction.reason or "").splitlines()[0]
    else:
        here, shown = f"{reproduction.value:.4f}", f"{difference:+.4f}"
        verdict = f"{'within' if reproduction.agrees else 'exceeds'} {published.tolerance:g}"
    return published.model, published.benchmark, published.quantity, f"{published.value:.4f}", here, shown, verdict


def _as_dict(reproduction: Reproduction) -> dict[str, object]:
    published = reproduction.published
    return {
        "model": published.model,
        "benchmark": published.benchmark,
        "quantity": published.quantity,
        "published": published.value,
        "tolerance": published.tolerance,
        "value": reproduction.value,
        "difference": reproduction.difference,
        "agrees": reproduction.agrees,
        "reason": reproduction.reason,
    }
