"""``python -m brainscore``, and what the command ``brainscore`` calls."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from brainscore.cli import app

        app(prog_name="brainscore")
    except KeyboardInterrupt:  # while Python was still importing
        sys.stderr.write("\nInterrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
