"""The command group: finds commands without importing them, and shows errors without a traceback."""

from __future__ import annotations

import ast
import errno
import functools
import importlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn

import click

from brainscore.cli._output import echo, style
from brainscore_core.errors import NotApplicable, UserError, nearest
from brainscore_core.plugins import PluginWarning
from brainscore_core.progress import stage

_FOLDER = Path(__file__).parent
_INTERRUPTED = 130
_BROKEN_PIPE = 141
_FIRST = ("demo", "score", "run", "list", "info", "compare", "report", "results", "verify")


class Subcommands(click.Group):
    """A group, such as `brainscore check`, that names its commands if another word is given."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown one, say which exist."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            ctx.fail(self.unknown(ctx, args[0], names))
        return super().resolve_command(ctx, args)

    def unknown(self, ctx: click.Context, name: str, names: list[str]) -> str:
        """The message about a word that is not a command."""
        return f"{name!r} is not a command of `{ctx.command_path}`, which has {', '.join(names)}."


class CommandGroup(Subcommands):
    """A group whose command ``name`` is ``command`` in the file ``name.py`` next to this one.

    A command's module is imported when the command is called. A `UserError`, `NotApplicable`, and a file that cannot
    be written, is shown without a traceback (exit code 2), Ctrl-C as one line (130); any other exception keeps its
    traceback.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands, those for everyday use first."""
        names = {file.stem.replace("_", "-") for file in _FOLDER.glob("*.py") if not file.name.startswith("_")}
        return [*(name for name in _FIRST if name in names), *sorted(names.difference(_FIRST))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        with stage("starting"):  # the imports of some take a second
            module = importlib.import_module(f"brainscore.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def unknown(self, ctx: click.Context, name: str, names: list[str]) -> str:
        """The message about an unknown command, with names that are near."""
        near = nearest(name, names, limit=3)
        return f"No such command {name!r}." + (f" Did you mean {' or '.join(near)}?" if near else "")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with what each does, read from the source."""
        rows = [(name, _summary(_FOLDER / f"{name.replace('-', '_')}.py")) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> None:
        """Run the command; its return value is not an exit code."""
        super().invoke(ctx)

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run the command line and leave the process with the right exit code."""
        run = functools.partial(super().main, *args, standalone_mode=False, **options)
        if not standalone_mode:
            return run()
        with warnings.catch_warnings():
            warnings.simplefilter("always", PluginWarning)
            warnings.showwarning = _show_warning(warnings.showwarning)
            try:
                code: Any = run()
                sys.stdout.flush()
            except (UserError, NotApplicable) as error:
                _fail(str(error), 2)
            except click.ClickException as error:
                error.show()
                sys.exit(error.exit_code)
            except (click.Abort, KeyboardInterrupt):
                echo("Interrupted.", err=True)
                sys.exit(_INTERRUPTED)
            except BrokenPipeError:
                # the reader of the output, such as `head`, has closed it
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(_BROKEN_PIPE)
            except OSError as error:
                if not _is_of_the_system(error):
                    raise
                _fail(f"{error.filename}: {error.strerror}\nname another file or folder, or make this one writable", 2)
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    echo(f"{style('Error:', fg='red', bold=True)} {message}", err=True)
    sys.exit(code)


def _is_of_the_system(error: OSError) -> bool:
    """Whether a file cannot be written or read for a reason that no code could avoid, such as a full disk."""
    kinds = (PermissionError, NotADirectoryError, IsADirectoryError, FileExistsError)
    full = {errno.ENOSPC, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC)}
    return error.filename is not None and (isinstance(error, kinds) or error.errno in full)


def _show_warning(otherwise: Any) -> Any:
    def show(message: Warning | str, category: type[Warning], *origin: Any) -> None:
        if issubclass(category, PluginWarning):
            echo(f"{style('Warning:', fg='yellow')} {message}", err=True)
        else:
            otherwise(message, category, *origin)

    return show


def _summary(file: Path) -> str:
    """First sentence of what a command's file says about it."""
    tree = ast.parse(file.read_bytes())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "command"]
    text = (ast.get_docstring(functions[0]) if functions else None) or ast.get_docstring(tree) or ""
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        import brainscore

        echo(f"brainscore {brainscore.__version__}")
        ctx.exit()


_HELP = """Score models on brain and behavioural benchmarks.

\b
brainscore list models            list the models
brainscore list benchmarks IT     list the benchmarks with IT in their names
brainscore score MODEL BENCHMARK  score, print the result, keep a receipt
brainscore run --models A B --benchmarks all:neural  score many pairs; can be interrupted and continued
"""


@click.group(cls=CommandGroup, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def app() -> None:
    """Brain-Score's command line."""
