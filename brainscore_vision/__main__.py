"""``python -m brainscore_vision score --model_identifier=… --benchmark_identifier=…``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from brainscore_core.errors import UserError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m brainscore_vision", description="All other functions are in the command `brainscore`."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    score = commands.add_parser("score", help="score a model on a benchmark")
    score.add_argument("--model_identifier", "--model-identifier", required=True, help="such as pixels")
    score.add_argument(
        "--benchmark_identifier", "--benchmark-identifier", required=True, help="such as Simulated2026.IT-pls"
    )
    score.add_argument("--results", help="folder for the receipt, or s3://bucket/prefix")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Score a model on a benchmark and print the result."""
    options = _parser().parse_args(arguments)
    try:
        return _score(options.model_identifier, options.benchmark_identifier, options.results)
    except UserError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        return 130


def _score(model: str, benchmark: str, results: str | None) -> int:
    from brainscore_core.receipts.receipt import summary
    from brainscore_core.scoring import ResultsStore
    from brainscore_vision.scoring.pairs import run_pair

    store = ResultsStore(results)
    receipt = run_pair(model, benchmark, results=store).receipt
    lines = summary(receipt, stored=store.address_of(receipt))
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        sys.stdout.write(f"{name.ljust(width)}  {text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
