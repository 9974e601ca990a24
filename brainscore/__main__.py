"""``python -m brainscore``, and what the command ``brainscore`` calls."""

from __future__ import annotations

import atexit
import gc
import signal
import sys


def main() -> None:
    """Run the command line.

    Ctrl-C ends a command however it was started: a shell lets what it starts in the background ignore SIGINT.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    atexit.register(gc.freeze)  # else Python would look for garbage among all objects at its end, for 0.1 s
    try:
        from brainscore.cli import app

        app(prog_name="brainscore")
    except KeyboardInterrupt:  # while Python was still importing
        sys.stderr.write("\nInterrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
