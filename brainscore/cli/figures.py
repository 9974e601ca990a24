"""``brainscore figures``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._options import json_option, results_option
from brainscore.cli._output import echo, echo_json
from brainscore_core.progress import stage

if TYPE_CHECKING:
    import pandas as pd

    from brainscore_core.figures import Plot
    from brainscore_core.scoring import Receipt, ResultsStore

    Content = tuple[pd.DataFrame, Plot]

_ENDINGS = ("svg", "pdf", "png")


@click.command("figures")
@click.argument("model")
@click.argument("benchmark")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), default="figures", show_default=True,
    help="Folder to write to.",
)  # fmt: skip
@click.option(
    "--width", type=click.Choice(["85", "114", "174"]),
    help="Width in millimetres: a column of a journal. [default: 85; pictures 174]",
)  # fmt: skip
@click.option(
    "--pictures", type=click.IntRange(min=1), default=6, show_default=True,
    help="Number of the best and of the worst stimuli.",
)  # fmt: skip
@results_option
@json_option
def command(
    model: str, benchmark: str, output: Path, width: str | None, pictures: int, results: str | None, json_: bool
) -> None:
    r"""Draw the newest score of a model on a benchmark: its layers, neuroids and stimuli.

    \b
    layers    score of each layer, if brainscore layers has scored them
    neuroids  score of each neuroid against its reliability
    stimuli   the stimuli that the model does best and worst on, as pictures if they are public

    Each figure is written as SVG, PDF and PNG, and its numbers as CSV. They come from what is stored beside the
    receipt; nothing is scored again. The exit code is 1 if there is nothing to draw.
    """
    with stage("starting"):
        from brainscore_core.errors import DataUnavailable, UserError
        from brainscore_core.scoring import ResultsStore

    store = ResultsStore(results)
    receipt = store.latest(model, benchmark)
    if receipt is None or receipt.state != "scored":
        raise UserError(
            f"{model} has no score on {benchmark} in {store.address}",
            remedy=f"score it first: brainscore score {model} {benchmark}",
        )
    written: list[Path] = []
    left_out: dict[str, str] = {}
    with stage(f"figures of {model} on {benchmark}"):
        for name, make in _figures(store, receipt, None if width is None else int(width), pictures):
            try:
                table, plot = make()
            except (UserError, DataUnavailable) as error:
                left_out[name] = error.message
                continue
            output.mkdir(parents=True, exist_ok=True)
            table.to_csv(output / f"{name}.csv", index=False)
            written += [output / f"{name}.csv", *(plot.save(output / f"{name}.{ending}") for ending in _ENDINGS)]
    if json_:
        echo_json({"files": written, "left_out": left_out, "receipt": receipt.id})
    else:
        for path in written:
            echo(str(path))
        for name, reason in left_out.items():
            echo(f"No figure of {name}: {reason}", err=True)
    if not written:
        click.get_current_context().exit(1)


def _figures(
    store: ResultsStore, receipt: Receipt, width: int | None, pictures: int
) -> Iterator[tuple[str, Callable[[], Content]]]:
    """Names of figures, and functions that return their numbers and draw them."""
    from brainscore.report import find_profiles, neuroid_plot, neuroid_table, stimulus_plot, stimulus_table
    from brainscore_core.domains import domain
    from brainscore_core.errors import UserError

    of = domain(receipt.domain)
    model, identifier = receipt.model.identifier, receipt.benchmark.identifier
    loaded: list[Any] = []

    def benchmark() -> Any:
        if not loaded:
            loaded.append(of.load_benchmark(identifier))
        return loaded[0]

    def layers() -> Content:
        of.feature("layer profiles")  # or says that they are not for this domain
        for profile in find_profiles({model}):
            if profile.benchmark == identifier:
                subject: Any = of.load_model(model) if model in of.registries["model"] else None
                if getattr(subject, "region_layer_map", None):  # layers are selected nowhere here
                    layers_before, source = subject.committed_layers(benchmark())
                    profile = replace(profile, committed=layers_before, committed_by=source)
                return profile.to_pandas(), profile.plot(width=width or 85)
        raise UserError(f"its layers are not scored; run: brainscore layers {model} {identifier}")

    def neuroids() -> Content:
        table = neuroid_table(store, receipt, benchmark())
        return table, neuroid_plot(table, receipt, width=width or 85)

    def stimuli() -> Content:
        table = stimulus_table(store, receipt)
        return table, stimulus_plot(table, receipt, benchmark(), number=pictures, width=width or 174)

    yield from (("layers", layers), ("neuroids", neuroids), ("stimuli", stimuli))
