"""The command group: help, suggestions, errors, exit codes."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import brainscore
from brainscore.cli import _app, _output
from brainscore_core.errors import NotApplicable, UserError


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A group with one command that does what a test wants."""

    def make(function):
        class Group(_app.CommandGroup):
            def list_commands(self, ctx):
                return ["run"]

            def get_command(self, ctx, cmd_name):
                return click.command("run")(function) if cmd_name == "run" else None

        return lambda *arguments: CliRunner().invoke(Group("test"), arguments or ["run"])

    return make


NAMES = [
    "\x1b]0;title\x07",
    "\x1b[31m",
    "\x1b[2J",
    "\x9b2J",
    "a\rb",
    "a\bb",
    "\x7f",
    "\u202egnp",
    "\u2066a",
    "\x1bPq\x1b\\",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_cannot_steer_the_terminal(monkeypatch, capsys, name):
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda stream, color: False)
    _output.echo(f"{_output.style(name, bold=True)}: {name}")
    _output.echo_pairs([(name, name)])
    _output.echo_table(["name"], [[name]])
    _output.echo_columns(["name"], [[name]])
    shown = capsys.readouterr().out
    assert "\x1b[1m" in shown  # styles of the commands remain
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]", shown.replace("\x1b[1m", "").replace("\x1b[0m", "")
    )
    _output.echo_json({name: name})
    document = capsys.readouterr().out
    assert json.loads(document) == {name: name}
    assert document.replace("\n", "").isprintable()


def test_no_command_prints_by_itself():
    printing = re.compile(r"click\.(echo|secho|style)\(|(?<![.\w])print\(")
    files = Path(_app.__file__).parent.glob("*.py")
    assert [file.name for file in files if printing.search(file.read_text())] == ["_output.py"]


def test_help_lists_every_command_and_imports_none():
    code = (
        "import sys\nfrom brainscore.cli import app\n"
        "try:\n    app(['--help'], prog_name='brainscore')\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print(sorted(name for name in sys.modules if name.startswith('brainscore.cli.') and '._' not in name))\n"
        "print(sorted({'numpy', 'pandas', 'xarray', 'torch', 'rich', 'matplotlib'} & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *lines, commands, heavy = run.stdout.splitlines()
    assert (commands, heavy) == ("[]", "[]")
    files = {file.stem for file in Path(_app.__file__).parent.glob("[a-z]*.py")}
    listed = {line.split()[0]: line.split(None, 1)[1:] for line in lines if line.startswith("  ") and line.strip()}
    for name in files:
        assert listed[name.replace("_", "-")], f"{name} says nothing of itself"


@pytest.mark.parametrize("file", sorted(Path(_app.__file__).parent.glob("[a-z]*.py")), ids=lambda file: file.stem)
def test_every_command_works_and_explains_itself(cli, file):
    result = cli(file.stem.replace("_", "-"), "--help")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("Usage: ")


def test_version(cli):
    assert cli("--version").output == f"brainscore {brainscore.__version__}\n"


def test_no_arguments_show_the_help(cli):
    assert "Commands:" in cli().output


@pytest.mark.parametrize(("word", "meant"), [("lst", "Did you mean list?"), ("scor", "Did you mean score?"), ("q", "")])
def test_a_wrong_command_gets_suggestions(cli, word, meant):
    result = cli(word)
    assert result.exit_code == 2
    assert f"No such command '{word}'" in result.output
    assert meant in result.output
    assert ("Did you mean" in result.output) == bool(meant)


def test_a_wrong_word_after_a_group_names_its_commands(cli):
    result = cli("check", "pixels")
    assert result.exit_code == 2
    assert "'pixels' is not a command of `app check`, which has benchmark, data, metric, model." in result.stderr


class TestExitCodes:
    def test_success(self, group):
        assert group(lambda: None)().exit_code == 0

    def test_what_a_command_returns_is_no_exit_code(self, group):
        assert group(lambda: 3)().exit_code == 0

    def test_a_command_may_choose_one(self, group):
        assert group(lambda: click.get_current_context().exit(1))().exit_code == 1

    def test_user_errors_show_message_and_remedy(self, group):
        def fail():
            raise UserError("the culprit", "the remedy")

        result = group(fail)()
        assert result.exit_code == 2
        assert result.stderr == "Error: the culprit\nthe remedy\n"
        assert result.stdout == ""

    def test_what_a_model_cannot_do(self, group):
        def fail():
            raise NotApplicable("it records nothing")

        result = group(fail)()
        assert (result.exit_code, result.stderr) == (2, "Error: it records nothing\n")

    def test_a_file_that_cannot_be_written(self, group, tmp_path):
        (tmp_path / "file").touch()
        result = group((tmp_path / "file" / "below").touch)()
        assert result.exit_code == 2
        assert result.stderr.startswith(f"Error: {tmp_path}/file/below: Not a directory\n")

    def test_other_errors_keep_their_traceback(self, group):
        result = group(lambda: 1 / 0)()
        assert isinstance(result.exception, ZeroDivisionError)

    def test_ctrl_c(self, group):
        def stop():
            raise KeyboardInterrupt

        result = group(stop)()
        assert result.exit_code == 130
        assert result.stderr.strip() == "Interrupted."


@pytest.mark.slow(reason="starts commands")
@pytest.mark.parametrize("ignored", [False, True], ids=["in a terminal", "started in the background of a script"])
def test_ctrl_c_ends_a_command_however_it_was_started(lab, ignored):
    lab(
        "models",
        "slow",
        "import time\nfrom brainscore_vision import model_registry\nprint('now', flush=True)\n"
        "time.sleep(600)\nmodel_registry['slow'] = dict",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "brainscore", "info", "slow", "--load"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.strip() == "Interrupted."


def test_a_reader_that_stops_reading(lab):
    lab(
        "models",
        "many",
        "from brainscore_vision import model_registry\n"
        "for i in range(9000):\n    model_registry[f'a-model-with-a-long-name-{i}'] = dict",
    )
    command = f"{sys.executable} -m brainscore list models | head -1"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=os.environ, timeout=120)
    assert run.stdout.count("\n") == 1
    assert run.stderr == ""


def test_a_broken_plugin_is_one_line(lab, cli):
    folder = lab("models", "broken", "from brainscore_vision import model_registry\nmodel_registry['a'] = = 1")
    run = cli("list", "models", "--json")
    assert run.exit_code == 0
    assert run.stderr == (
        f"Warning: the plugin brainscore_vision.models.broken cannot be read: {folder / '__init__.py'}:2: "
        "invalid syntax\n"
    )
