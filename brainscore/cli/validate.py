"""``brainscore validate``: check packaged files."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from brainscore.cli._options import json_option
from brainscore.cli._output import echo_json, harmless_text
from brainscore_core.plurals import counted

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.validation import Finding


@click.command("validate")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--class", "cls", metavar="CLASS", help="Class of the assemblies, such as NeuroidAssembly.")
@json_option
def command(*, files: Sequence[Path], cls: str | None, json_: bool) -> None:
    """Check packaged files (.csv, .zip, .nc), separately and together.

    Files belong together by their names: stimulus_X.csv, stimulus_X.zip, assy_X.nc. The exit code is 1 if there are
    errors, 0 if there are only warnings.
    """
    from brainscore_core.supported_data_standards.brainio.validation import errors_among, validate_files

    findings = validate_files(files, assembly_class_name=cls)
    errors = errors_among(findings)
    if json_:
        listed = [asdict(finding) for finding in findings]
        warned = len(findings) - len(errors)
        echo_json({"files": files, "errors": len(errors), "warnings": warned, "findings": listed})
    else:
        by_file = {str(path): [finding for finding in findings if finding.source == str(path)] for path in files}
        _print(by_file, len(errors))
    if errors:
        sys.exit(1)


def _print(by_file: Mapping[str, Sequence["Finding"]], errors: int) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    for path, findings in by_file.items():
        name = harmless_text(path)
        wrong = any(finding.severity == "error" for finding in findings)
        mark, style = ("✗", "bold red") if wrong else ("!", "bold yellow") if findings else ("✓", "bold green")
        console.print(Text.assemble((mark, style), " ", (name, "bold")))
        for finding in findings:
            colour = "red" if finding.severity == "error" else "yellow"
            text = Text.assemble(
                (f"{finding.severity}: {finding.check}", colour), f": {harmless_text(finding.culprit)}"
            )
            console.print(Padding(text, (0, 0, 0, 4)) if sys.stdout.isatty() else Text("    ") + text)
            remedy = Text(f"→ {harmless_text(finding.remedy)}", style="dim")
            console.print(Padding(remedy, (0, 0, 0, 6)) if sys.stdout.isatty() else Text("      ") + remedy)
    warned = sum(map(len, by_file.values())) - errors
    console.print(
        ", ".join([counted(errors, "error"), counted(warned, "warning")]) + f" in {counted(len(by_file), 'file')}"
    )
