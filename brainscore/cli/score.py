"""``brainscore score``."""

from __future__ import annotations

from pathlib import Path

import click

from brainscore.cli._output import echo_json, echo_pairs

__all__ = ["command"]


@click.command("score")
@click.argument("model")
@click.argument("benchmark")
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the receipt. [default: $BRAINSCORE_RESULTS, else $BRAINSCORE_HOME/results]",
)
@click.option("--json", "json_", is_flag=True, help="Print the receipt as JSON.")
def command(model: str, benchmark: str, results: Path | None, json_: bool) -> None:
    """Score a model on a benchmark, print the result, keep a receipt.

    A model that cannot do what the benchmark asks is 'not applicable'; that is a result, not an error.
    """
    import brainscore_vision
    from brainscore_core.scoring import ResultsStore
    from brainscore_vision._summary import summary

    store = ResultsStore(results)
    receipt = brainscore_vision.run_pair(model, benchmark, results=store).receipt
    if json_:
        echo_json(receipt.to_dict())
    else:
        echo_pairs(summary(receipt, stored=str(store.path_of(receipt))))
