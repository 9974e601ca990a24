"""``python -m brainscore_language score --model_identifier=… --benchmark_identifier=…``."""

import argparse
import sys
from collections.abc import Sequence

from brainscore_core.errors import UserError
from brainscore_language import score as _score

__all__ = ["main", "score"]


def score(model_identifier: str, benchmark_identifier: str, conda_active: bool = False) -> None:
    """Score a model on a benchmark and print the score."""
    sys.stdout.write(f"{_score(model_identifier, benchmark_identifier, conda_active)}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m brainscore_language")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser("score", help="score a model on a benchmark")
    command.add_argument("--model_identifier", "--model-identifier", required=True)
    command.add_argument("--benchmark_identifier", "--benchmark-identifier", required=True)
    options = parser.parse_args(arguments)
    try:
        score(options.model_identifier, options.benchmark_identifier)
    except UserError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
