"""The command line. Each file here that does not start with ``_`` is a command."""

from brainscore.cli._app import app

__all__ = ["app"]
