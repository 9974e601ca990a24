"""``brainscore fit``."""

from __future__ import annotations

from pathlib import Path

import click

from brainscore.cli._output import echo, echo_json, echo_pairs
from brainscore_core.progress import stage


@click.command("fit")
@click.argument("model")
@click.argument("benchmark")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), default="encoder", show_default=True,
    help="Folder to write to.",
)  # fmt: skip
@click.option(
    "--split", type=click.IntRange(min=0),
    help="Fit on the training stimuli of this split of the score, from 0 on. [default: all stimuli]",
)  # fmt: skip
@click.option("--identifier", help="Name of the model, if it is not registered.")
@click.option("--layer", "layers", multiple=True, help="Candidate layer, for a network that is not registered.")
@click.option("--visual-degrees", type=float, help="Visual angle of the model's input. [default: 8]")
@click.option("--json", "json_", is_flag=True, help="Print what the encoder says of itself as JSON.")
def command(
    model: str,
    benchmark: str,
    output: Path,
    split: int | None,
    identifier: str | None,
    layers: tuple[str, ...],
    visual_degrees: float | None,
    json_: bool,
) -> None:
    """Fit the map from a model's features to the neuroids of a benchmark, by the benchmark's metric, and save it.

    The folder can be handed on: it contains numbers and a description, no code and none of the stimuli. brainscore
    predict applies it to new pictures. It is fitted on all stimuli, so how well it predicts others is said by the
    score, not by its predictions of these stimuli.
    """
    with stage("starting"):
        from brainscore_core.domains import domain, find_pair

        owner, model, benchmark = find_pair(model, benchmark)
        encoders = domain(owner).feature("encoders")
    with stage(f"fitting {model} on {benchmark}"):
        encoder = encoders.fit_encoder(
            model, benchmark, split=split, identifier=identifier, layers=list(layers) or None,
            visual_degrees=visual_degrees,
        )  # fmt: skip
        encoder.save(output)
    described = encoder.description
    if json_:
        echo_json({"folder": output, **described})
        return
    features, neuroids = encoder.weights.shape
    fitted_on = f"{described['fitted_on']['stimuli']:,} stimuli"
    echo_pairs(
        [
            ("model", f"{described['model']}, {', '.join(described['layers'])}: {features:,} features"),
            ("neuroids", f"{neuroids:,} of {described['region']}, {described['benchmark']}"),
            ("metric", described["metric"]),
            ("fitted on", fitted_on if split is None else f"{fitted_on}, split {split}"),
            ("encoder", str(output)),
        ]
    )
    echo()
    echo(f"Predict: brainscore predict {output} PICTURES --output predictions.csv", err=True)
