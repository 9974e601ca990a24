"""Commands that pages print: each is one of the command line, with arguments that it accepts."""

import re
import shlex
from pathlib import Path

import click
import pytest

from brainscore.cli import app

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "docs", ROOT / "brainscore_web/pages/content")
PAGES = [ROOT / "README.md", *sorted(page for folder in FOLDERS for page in folder.rglob("*.md"))]
_BLOCK = re.compile(r"^```(?:shell|bash|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def printed(page):
    """The commands of a page's shell blocks, without comments, what is piped on, and variables that are set before."""
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            line = re.split(r"\s{3,}|\s#\s|\s[|>&]|;", line.strip())[0]
            line = re.sub(r"^(?:\w+=\S*\s+)+", "", line)
            if line.startswith("brainscore "):
                yield line


def problem_of(line):
    """Why the command line does not accept it, without running it; None if it does."""
    command, words = app, shlex.split(line)[1:]
    context = click.Context(app, info_name="brainscore")
    while isinstance(command, click.Group):
        if not words or words[0].startswith("-"):
            return None
        name, words = words[0], words[1:]
        found = command.get_command(context, name)
        if found is None:
            return f"there is no command {name!r}"
        command, context = found, click.Context(found, info_name=name, parent=context)
    try:
        parser = command.make_parser(context)
        options, _, _ = parser.parse_args(args=[word for word in words if word not in ("…", "...")])
        required = [
            one
            for one in command.get_params(context)
            if one.required and not isinstance(options.get(one.name), str | tuple)
        ]
    except click.UsageError as error:
        return error.format_message()
    return f"{required[0].name} is missing" if required else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_printed_commands_are_accepted(page):
    problems = {line: problem for line in printed(page) if (problem := problem_of(line))}
    assert not problems


def test_a_command_that_does_not_exist_is_found():
    assert problem_of("brainscore check model pixels") is None
    assert "no command" in problem_of("brainscore prove model pixels")
    assert problem_of("brainscore check model --depth 3 pixels")
    assert problem_of("brainscore score pixels")
