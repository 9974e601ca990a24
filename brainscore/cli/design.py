"""``brainscore design``."""

from __future__ import annotations

from pathlib import Path

import click

from brainscore.cli._options import json_option, results_option
from brainscore.cli._output import echo, echo_columns, echo_json
from brainscore_core.progress import stage


@click.command("design")
@click.argument("benchmark", required=False)
@click.argument("models", nargs=-1, metavar="MODEL MODEL...")
@click.option("--number", "-k", type=int, default=40, show_default=True, help="Number of stimuli.")
@click.option(
    "--repetitions", type=click.IntRange(1), default=1, show_default=True,
    help="Presentations of each stimulus in the new experiment.",
)  # fmt: skip
@click.option(
    "--pool", metavar="FOLDER|NAME|EXPRESSION",
    help="Stimuli to choose from: a folder of pictures or a registered stimulus set, on which the models are run; or "
    "stimuli of the benchmark, maps being fitted to all others. Default: a random half of these.",
)  # fmt: skip
@click.option("--neuroids", metavar="EXPRESSION", help="Neuroids that will be recorded again. Default: all.")
@results_option
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), default="design", show_default=True,
    help="Folder for stimuli.csv, predictions.csv and design.json.",
)  # fmt: skip
@click.option(
    "--measured", type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="FILE.csv",
    help="Compare the design in --output with mean responses that were measured later, instead of making one: a table "
    "with the column stimulus_id, and a column for each neuroid.",
)  # fmt: skip
@click.option(
    "--store",
    "stores",
    is_flag=True,
    help="Also store the design beside scores, for sites, without its predictions.",
)
@json_option
def command(
    benchmark: str | None,
    models: tuple[str, ...],
    number: int,
    repetitions: int,
    pool: str | None,
    neuroids: str | None,
    results: str | None,
    output: Path,
    measured: Path | None,
    stores: bool,
    json_: bool,
) -> None:
    """Choose the stimuli whose responses decide best between models that were scored on a benchmark.

    Prints how often the true model would be found, with these stimuli and with random ones, and writes the predictions
    of all models with their hash, to be published before the experiment. Afterwards, --measured compares them with what
    was measured.
    """
    with stage("starting"):
        from brainscore_core.questions.designed import compare_with_predictions, design_stimuli, read_responses
        from brainscore_core.questions.stored import store_design
        from brainscore_core.results.store import ResultsStore

    if measured is not None:
        if benchmark is not None:
            raise click.UsageError("--measured compares the design in --output: leave out benchmark and models.")
        compared = compare_with_predictions(output, read_responses(measured))
        if json_:
            echo_json(compared.to_dict("records"))
        else:
            table = [(str(row["model"]), f"{row['correlation']:.3f}") for _, row in compared.iterrows()]
            echo_columns(("Model", "Correlation of predicted and measured responses"), table)
        return
    if benchmark is None:
        raise click.UsageError("Name a benchmark and two or more models.")
    design = design_stimuli(
        benchmark, models, number, repetitions=repetitions, pool=pool, neuroids=neuroids, results=results
    )
    with stage("simulating experiments"):
        power = design.power()
    digest = design.write(output)
    if stores:
        store_design(design, power, ResultsStore(results))
    if json_:
        echo_json({"stimuli": design.stimuli, "power": power.to_dict("records"), "sha256": digest, "output": output})
        return
    rows = [
        (str(row["true"]), f"{100 * row['designed']:.0f} %", f"{100 * row['random']:.0f} %")
        for _, row in power.iterrows()
    ]
    echo_columns(("If this model is true", "Found with these stimuli", "With random ones"), rows)
    echo(f"{len(design.chosen)} of {len(design.pool)} stimuli, {repetitions} × each: {output}")
    echo(f"predictions.csv has the SHA-256 {digest}; publish it before the experiment.")
