"""``brainscore config``."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._options import json_option
from brainscore.cli._output import echo, echo_json, echo_pairs, style

PACKAGES = (
    "brainscore",
    "numpy",
    "pandas",
    "xarray",
    "scikit-learn",
    "scipy",
    "netCDF4",
    "pillow",
    "torch",
)
VARIABLES = (
    "BRAINIO_HOME",
    "BRAINSCORE_ACTIVATIONS",
    "BRAINSCORE_ACTIVATIONS_LIMIT",
    "BRAINSCORE_HOME",
    "BRAINSCORE_MAX_MEMORY",
    "BRAINSCORE_MIRROR",
    "BRAINSCORE_PLUGINS",
    "BRAINSCORE_PLUGINS_REPLACE",
    "BRAINSCORE_RESULTS",
    "BRAINSCORE_SITE",
    "BRAINSCORE_WEIGHTS",
    "AWS_ENDPOINT_URL",
)


@click.group("config", cls=Subcommands)
def command() -> None:
    """Show versions, folders and environment variables."""


@command.command("show")
@json_option
def show(json_: bool) -> None:
    """Show versions, environment variables, folders and the mirror.

    Include the output when you report a problem. It contains no credentials.
    """
    settings = _settings()
    if json_:
        echo_json(settings)
        return
    for title, entries in settings.items():
        echo(style(title, bold=True, underline=True))
        if isinstance(entries, dict):
            echo_pairs((name, "-" if text is None else str(text)) for name, text in entries.items())
        else:
            for entry in entries or ["none"]:
                echo(entry)
        echo()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _settings() -> dict[str, Any]:
    from brainscore_core.domains import domains
    from brainscore_core.paths import (
        activations_home,
        cache_home,
        default_results_address,
        home,
        plugin_index_file,
    )

    indices = [each.plugin_index for each in domains()]
    roots = dict.fromkeys(f"{root.folder} ({root.source})" for index in indices for root in index.roots)
    mirror = os.environ.get("BRAINSCORE_MIRROR")
    if mirror and not Path(mirror).is_dir():
        mirror = f"{mirror} (no such folder)"
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "environment": {name: os.environ.get(name) for name in VARIABLES},
        "folders": {
            "data": str(cache_home()),
            "home": str(home()),
            "results": default_results_address(),
            "activations": str(activations_home() or "off"),
            "plugin index": str(plugin_index_file()),
            "mirror": mirror,
        },
        "plugins": list(roots),
        "problems": list(dict.fromkeys(problem for index in indices for problem in index.problems)),
    }
