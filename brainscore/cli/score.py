"""``brainscore score``."""

from __future__ import annotations

import os

import click

from brainscore.cli._options import domain_option
from brainscore.cli._output import echo, echo_json, echo_methods, echo_pairs
from brainscore_core.progress import stage


@click.command("score")
@click.argument("model")
@click.argument("benchmark")
@click.option(
    "--results",
    metavar="FOLDER",
    help="Folder for the receipt, or s3://bucket/prefix. [default: $BRAINSCORE_RESULTS, else $BRAINSCORE_HOME/results]",
)
@click.option("--identifier", help="Name in the results, for a model that is not registered.")
@click.option(
    "--layer", "layers", multiple=True, help="Candidate layer, for a network that is not registered; may be repeated."
)
@click.option(
    "--visual-degrees",
    type=float,
    help="Visual angle that the model's input spans, in degrees, for a model that is not registered. If it is never "
    "stated, 8 is taken.",
)
@click.option(
    "--visual-angles", "other_angles", is_flag=True, help="Score also at half and double the model's visual angle."
)
@click.option(
    "--logits", help="Entry of the network's output that has the classes, if it returns several: a name or a position."
)
@click.option("--max-memory", help="Memory limit, such as 8GB. [default: 80 % of the available memory]")
@click.option(
    "--isolated", is_flag=True, help="Run the model in a process of its own, with the packages of its requirements.txt."
)
@click.option(
    "--sandbox",
    "--cage",
    is_flag=True,
    help="Like --isolated, also without access to the network and your files (needs bubblewrap).",
)
@click.option(
    "--sandbox-shows",
    "--cage-shows",
    multiple=True,
    metavar="PATH",
    type=click.Path(exists=True),
    help="A file or folder that is visible in the sandbox, such as weights; may be repeated.",
)
@click.option(
    "--no-products",
    is_flag=True,
    help="Do not store products of the model's features, from which brainscore ask answers questions.",
)
@domain_option
@click.option("--methods", is_flag=True, help="Also print a paragraph for a paper, with references.")
@click.option("--json", "json_", is_flag=True, help="Print the receipt as JSON.")
def command(
    model: str,
    benchmark: str,
    results: str | None,
    identifier: str | None,
    layers: tuple[str, ...],
    visual_degrees: float | None,
    other_angles: bool,
    logits: str | None,
    max_memory: str | None,
    isolated: bool,
    sandbox: bool,
    sandbox_shows: tuple[str, ...],
    no_products: bool,
    domain: str | None,
    methods: bool,
    json_: bool,
) -> None:
    """Score a model on a benchmark, print the result, keep a receipt.

    MODEL is an identifier, or a file and a function in it that returns a network, a BrainModel or a function of
    images, or a subject that reads text: path/to/file.py:make_model. Model and benchmark are of one domain.

    If the model does not support the benchmark's task, the state is 'not applicable'; that is a result, not an error.
    """
    if methods and json_:
        raise click.UsageError("--methods prints text; leave out --json")
    with stage("starting"):  # imports take a second or more
        from brainscore_core.domains import domain as domain_named
        from brainscore_core.domains import find_pair
        from brainscore_core.memory import parse_size
        from brainscore_core.receipts.receipt import summary
        from brainscore_core.runner.scoring import run_pair
        from brainscore_core.scoring import ResultsStore

    if max_memory is not None:
        os.environ["BRAINSCORE_MAX_MEMORY"] = str(parse_size(max_memory))
    entry = int(logits) if logits is not None and logits.isdecimal() else logits
    how = {"layers": list(layers) or None, "visual_degrees": visual_degrees, "logits": entry}
    stated = {name: value for name, value in how.items() if value is not None}
    store = ResultsStore(results)
    name, model, benchmark = find_pair(model, benchmark, among=domain and [domain])
    outcome = run_pair(
        domain_named(name),
        model,
        benchmark,
        results=store,
        identifier=identifier,
        how=stated,
        isolated=isolated,
        cage={"files": list(sandbox_shows)} if sandbox or sandbox_shows else None,
        other_angles=other_angles,
        products=not no_products,
    )
    receipt = outcome.receipt
    if json_:
        echo_json(receipt.to_dict())
    else:
        echo_pairs(summary(receipt, stored=store.address_of(receipt)))
    if methods:
        echo()
        echo_methods(store, receipt)
