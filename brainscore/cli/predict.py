"""``brainscore predict``."""

from __future__ import annotations

from pathlib import Path

import click

from brainscore.cli._options import json_option
from brainscore.cli._output import echo, echo_json
from brainscore_core.progress import stage


@click.command("predict")
@click.argument("encoder", type=click.Path(path_type=Path))
@click.argument("pictures")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), default="predictions.csv", show_default=True,
    help="File to write: .csv, a row for each picture and a column for each neuroid; or .nc, an assembly.",
)  # fmt: skip
@click.option("--model", help="path/to/file.py:make_model, if the encoder's model is not registered.")
@click.option(
    "--visual-degrees", type=float, help="Visual angle that the pictures span. [default: that of the experiment]"
)
@json_option
def command(
    encoder: Path, pictures: str, output: Path, model: str | None, visual_degrees: float | None, json_: bool
) -> None:
    """Predict the responses of neuroids to new pictures, with an encoder of brainscore fit.

    PICTURES is a folder of pictures, or a stimulus set by its name. A model with other weights, layers or preprocessing
    than the encoder was fitted with is refused.
    """
    from brainscore_core.errors import UserError
    from brainscore_core.files import replacing

    if output.suffix.lower() not in {".csv", ".nc"}:
        raise UserError(f"cannot write predictions as {output.name!r}", remedy="end its name in .csv or .nc")
    with stage("starting"):
        from brainscore_core.domains import domain
        from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf

        encoders = domain().feature("encoders")
    fitted = encoders.Encoder.load(encoder)
    if Path(pictures).is_dir():
        stimuli = encoders.stimuli_of_folder(pictures)
    else:
        stimuli = domain().load("stimulus_set", pictures)
    with stage(f"predicting responses to {len(stimuli)} pictures"):
        predicted = fitted.predict(stimuli, model=model, visual_degrees=visual_degrees)
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.suffix.lower() == ".nc":
        write_netcdf(predicted, output)
    else:
        import pandas as pd

        ids = predicted["stimulus_id"].values
        table = pd.DataFrame(predicted.values, index=pd.Index(ids, name="stimulus_id"), columns=predicted["neuroid_id"])
        with replacing(output) as file:
            file.write(table.to_csv().encode())
    if json_:
        echo_json({"output": output, "pictures": len(stimuli), "neuroids": predicted.sizes["neuroid"]})
    else:
        echo(f"{len(stimuli):,} pictures × {predicted.sizes['neuroid']:,} neuroids: {output}")
