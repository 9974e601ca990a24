"""``brainscore check``."""

from __future__ import annotations

from dataclasses import asdict

import click

from brainscore.cli._output import echo_json

__all__ = ["command"]


@click.group("check")
def command() -> None:
    """Check that a plugin does what every plugin of its kind must do."""


@command.command("model")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@click.pass_context
def check_model(context: click.Context, model: str, as_json: bool) -> None:
    """Check a model.

    MODEL is an identifier, or a file and a function in it: path/to/file.py:make_model. The exit code is 1 where a
    check failed.
    """
    from brainscore_core import plugins
    from brainscore_vision import load_model
    from brainscore_vision._subjects import is_file_reference, load_subject_file, to_subject

    if is_file_reference(model):
        made, source = load_subject_file(model)
        subject = to_subject(made, source=source).model
    else:
        subject = load_model(model)
    checks = plugins.check_model(subject, raise_errors=False)
    if as_json:
        echo_json([asdict(check) for check in checks])
    else:
        for check in checks:
            click.echo(f"{click.style(_MARKS[check.result], fg=_COLOURS[check.result])} {check.name}")
            if check.explanation:
                click.echo(f"    {check.explanation}")
        failed = sum(check.result == "failed" for check in checks)
        click.echo(f"{model}: " + (f"{failed} of {len(checks)} checks failed" if failed else "all checks passed"))
    if any(check.result == "failed" for check in checks):
        context.exit(1)


_MARKS = {"passed": "✓", "not applicable": "–", "failed": "✗"}
_COLOURS = {"passed": "green", "not applicable": "yellow", "failed": "red"}
