"""``brainscore test``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click


@click.command("test", context_settings={"ignore_unknown_options": True})
@click.argument("paths", nargs=-1, required=True, metavar="PATH... [PYTEST OPTIONS]", type=click.UNPROCESSED)
@click.option("--no-checks", is_flag=True, help="Run only the tests, not the checks of `brainscore check`.")
@click.option("--model", default="", help="Run benchmarks on this model, by default on a small one; 'none' skips this.")
@click.pass_context
def command(context: click.Context, paths: tuple[str, ...], no_checks: bool, model: str) -> None:
    """Run the tests of plugins, then check what they register as `brainscore check` does.

    PATH is a plugin's folder, or a file in it. Other options are passed to pytest: -x, -k NAME, -m MARK. The
    exit code is 1 if a test or a check failed.
    """
    from brainscore.cli.check import report_checks
    from brainscore_core.submission.checks import check_references, find_references

    folders, options = _folders(paths)
    tests_passed = _run_tests(folders, options)
    checks_passed = True
    if not no_checks:
        references = [one for folder in folders for one in find_references("any", str(folder))]
        checks_passed = report_checks(check_references(references, model=None if model == "none" else model))
    if not (tests_passed and checks_passed):
        context.exit(1)


def _folders(paths: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    from brainscore_core.errors import UserError
    from brainscore_core.submission.package import make_discoverable, plugin_folder_of

    folders, options = [], []
    for path in paths:
        if not Path(path).exists() or path.startswith("-"):
            options.append(path)
            continue
        folder = plugin_folder_of(Path(path))
        if folder is None:
            raise UserError(
                f"{path} is not a plugin",
                remedy="name a plugin's folder, such as PLUGINS/benchmarks/my_benchmark",
            )
        make_discoverable(folder)
        folders.append(folder)
    if not folders:
        if paths[0].startswith("-"):
            raise UserError("no plugin is named", remedy="name the folder of a plugin before the options of pytest")
        raise UserError(f"there is no {paths[0]}", remedy="name the folder of a plugin")
    return list(dict.fromkeys(folders)), options


def _run_tests(folders: list[Path], options: list[str]) -> bool:
    """Run pytest in a process of its own; a plugin without tests is a failure."""
    from brainscore_core.errors import UserError

    files: list[str] = []
    for folder in folders:
        found = sorted({*folder.rglob("test.py"), *folder.rglob("test_*.py")})
        if not found:
            raise UserError(f"{folder} has no tests", remedy="write them into its test.py")
        files += map(str, found)
    try:
        import pytest  # noqa: F401 - whether it is there
    except ModuleNotFoundError as error:
        raise UserError("pytest is not installed", remedy="install it: pip install pytest") from error
    arguments = [sys.executable, "-m", "pytest", "--import-mode=importlib", "-p", "brainscore.pytest_plugin"]
    sys.stdout.flush()
    return subprocess.run([*arguments, *options, *files], check=False).returncode == 0
