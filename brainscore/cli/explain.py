"""``brainscore explain``."""

from __future__ import annotations

from pathlib import Path

import click

from brainscore.cli._options import json_option, results_option
from brainscore.cli._output import echo, echo_json
from brainscore_core.errors import UserError
from brainscore_core.progress import stage


@click.command("explain")
@click.argument("benchmark")
@click.argument("models", nargs=-1, metavar="[MODEL MODEL...]")
@click.option("--unexplained", is_flag=True, help="Find neuroids and stimuli that none of the models explains.")
@click.option(
    "--margin", type=click.FloatRange(0, 1), default=0.1, show_default=True,
    help="With --unexplained: share of the signal that may be unexplained.",
)  # fmt: skip
@click.option("--stimuli", metavar="EXPRESSION", help="Only these stimuli, such as 'category_name != \"Faces\"'.")
@click.option("--neuroids", metavar="EXPRESSION", help="Only these neuroids, such as 'subject == \"A\"'.")
@results_option
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False),
    help="Also write tables into this folder: shares.csv; with --unexplained neuroids.csv and stimuli.csv.",
)  # fmt: skip
@click.option("--store", "stores", is_flag=True, help="Also store the result beside scores, for reports and sites.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Write a plot (.png, .svg or .pdf).")
@json_option
def command(
    benchmark: str,
    models: tuple[str, ...],
    unexplained: bool,
    margin: float,
    stimuli: str | None,
    neuroids: str | None,
    results: str | None,
    output: Path | None,
    stores: bool,
    plot: Path | None,
    json_: bool,
) -> None:
    """Divide the signal of a benchmark's recordings among two to four models that were scored on it.

    No model is run: the products of features that were stored with the scores suffice. --unexplained takes any number
    of models, by default all.
    """
    if plot is not None and plot.suffix.lower() not in {".png", ".svg", ".pdf"}:
        raise UserError(f"cannot plot as {plot.name!r}", "end its name in .png, .svg or .pdf")
    with stage("starting"):
        from brainscore_core.files import replacing
        from brainscore_core.questions.explained import explain_models, unexplained_by
        from brainscore_core.questions.stored import store_atlas, store_explanation
        from brainscore_core.scoring import ResultsStore

    store = ResultsStore(results)
    if unexplained:
        atlas = unexplained_by(benchmark, models or None, stimuli=stimuli, neuroids=neuroids, results=store)
        text, drawn = atlas.text(margin=margin), None if plot is None else atlas.plot(margin=margin)
        tables = {"neuroids": atlas.neuroids(margin=margin), "stimuli": atlas.stimuli(margin=margin)}
        if stores:
            store_atlas(atlas, store, margin=margin)
    else:
        explanation = explain_models(benchmark, models, stimuli=stimuli, neuroids=neuroids, results=store)
        text, drawn = explanation.text(), None if plot is None else explanation.plot()
        tables = {"shares": explanation.to_pandas()}
        if stores:
            store_explanation(explanation, store)
    if plot is not None and drawn is not None:
        drawn.save(plot)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            with replacing(output / f"{name}.csv") as file:
                file.write(table.to_csv(index=False).encode())
    if json_:
        echo_json({name: table.to_dict("records") for name, table in tables.items()})
    else:
        echo(text)
