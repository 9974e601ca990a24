"""``python -m brainscore_vision score --model_identifier=… --benchmark_identifier=…`` and the like."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from brainscore_core.domain_names import FIRST
from brainscore_core.domains import Domain
from brainscore_core.domains import domain as domain_named
from brainscore_core.errors import UserError
from brainscore_core.receipts.receipt import summary
from brainscore_core.results.store import ResultsStore
from brainscore_core.runner.scoring import run_pair


def _parser(domain: Domain) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {domain.package}", description="All other functions are in the command `brainscore`."
    )
    example = domain.wording
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    score = commands.add_parser("score", help="score a model on a benchmark")
    score.add_argument(
        "--model_identifier", "--model-identifier", required=True, help=f"such as {domain.wording.model}"
    )
    score.add_argument(
        "--benchmark_identifier", "--benchmark-identifier", required=True, help=f"such as {example.benchmark}"
    )
    score.add_argument("--results", help="folder for the receipt, or s3://bucket/prefix")
    return parser


def main(domain: str, arguments: Sequence[str] | None = None) -> int:
    """Score a model of a domain on a benchmark, and print the result."""
    described = domain_named(domain)
    options = _parser(described).parse_args(arguments)
    try:
        return _score(described, options.model_identifier, options.benchmark_identifier, options.results)
    except UserError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        return 130


def _score(domain: Domain, model: str, benchmark: str, results: str | None) -> int:
    store = ResultsStore(results)
    score, receipt = run_pair(domain, model, benchmark, results=store)
    lines = summary(receipt, stored=store.address_of(receipt))
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        sys.stdout.write(f"{name.ljust(width)}  {text}\n")
    if domain.name != FIRST:  # as the earlier package of that domain
        with np.printoptions(precision=6):
            sys.stdout.write(f"<xarray.Score ()>\n{np.asarray(score)!r}\n")
    return 0
