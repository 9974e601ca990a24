"""``brainscore layers``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from brainscore.cli._options import json_option
from brainscore.cli._output import echo, echo_json, echo_pairs, echo_table
from brainscore_core.formatting import estimate_text, number_text
from brainscore_core.progress import stage

if TYPE_CHECKING:
    from brainscore_core.results.layer_profile import LayerProfile


@click.command("layers")
@click.argument("model")
@click.argument("benchmark")
@click.option(
    "--layer", "layers", multiple=True, metavar="NAME",
    help="Score this layer, or those that match a pattern such as 'blocks.*'; may be repeated. "
    "Default: the model's candidate layers.",
)  # fmt: skip
@click.option(
    "--halves", type=click.IntRange(min=0), default=5, show_default=True,
    help="Number of times to choose a layer on a random half of the stimuli and score it on the other half; 0: never.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random halves.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Write a plot (.png, .svg or .pdf).")
@click.option(
    "--width", type=click.Choice(["85", "114", "174"]), default="85", show_default=True,
    help="Width of the plot in millimetres: a column of a journal.",
)  # fmt: skip
@json_option
def command(
    model: str,
    benchmark: str,
    layers: tuple[str, ...],
    halves: int,
    seed: int,
    plot: Path | None,
    width: str,
    json_: bool,
) -> None:
    """Score every layer of a model on a benchmark, and estimate how certain the best layer is.

    MODEL is an identifier, or path/to/file.py:make_model for a function that returns a network.
    The held-out score is the score of a layer that was chosen on other stimuli; the plot has a ring around the layer
    that the model has for the benchmark's region, which was chosen before. When the output is not a terminal,
    only the names of the layers are printed, the best first.
    """
    from brainscore_core.domains import domain, find_pair
    from brainscore_core.errors import UserError

    if plot is not None and plot.suffix.lower() not in {".png", ".svg", ".pdf"}:
        raise UserError(f"cannot plot as {plot.name!r}", "end its name in .png, .svg or .pdf")
    with stage(f"layers of {model} on {benchmark}"):  # imports and data take seconds before the first layer
        owner, model, benchmark = find_pair(model, benchmark)
        profile = domain(owner).feature("layer profiles")(model, benchmark, layers, halves=halves, seed=seed)
    if plot is not None:
        profile.plot(width=int(width)).save(plot)
    if json_:
        echo_json(profile.to_dict() | {"plot": plot})
        return
    _echo(profile, plot)


def _echo(profile: LayerProfile, plot: Path | None) -> None:
    held_out = profile.held_out
    shares = {} if held_out is None else held_out.chosen
    rows = [
        (
            score.layer,
            str(score.features),
            "–" if score.reason else estimate_text(score.score, error=score.error, ci=score.ci, brief=True),
            number_text(score.raw),
            f"{shares.get(score.layer, 0):.0%}" if held_out is not None else "–",
        )
        for score in profile.scores
    ]
    if not sys.stdout.isatty():
        rows.sort(key=lambda row: row[0] != profile.best)
    echo_table(("Layer", "Features", "Score (95 % interval)", "Raw", "Chosen"), rows)
    if not sys.stdout.isatty():
        return
    control = " (simulated measurements: a control)" if profile.control else ""
    pairs = {
        "best": f"{profile.best or 'no layer has a score'} on {profile.benchmark}{control}",
        profile.committed_by: ", ".join(profile.committed),
        "ceiling": number_text(profile.ceiling) if profile.ceiling == profile.ceiling else "none",
        "held-out": "" if held_out is None else (
            f"{held_out.value:.3f} raw (standard deviation {held_out.sd:.3f}), chosen on one half of the stimuli, "
            f"scored on the other "
            f"({held_out.times} times); {held_out.optimism:+.3f} on the half it was chosen on"
        ),
        "no halves": profile.no_halves or "",
        "no score": "\n".join(f"{score.layer}: {score.reason}" for score in profile.scores if score.reason),
        "plot": str(plot or ""),
    }  # fmt: skip
    echo()
    echo_pairs((name, text) for name, text in pairs.items() if text)
