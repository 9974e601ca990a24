"""Lists the files that a score and a submission pass through; ``docs/design.md`` shows the lists.

A file counts if one of its functions is called by a function of another file. Not counted:

- what runs while a module is imported, including ``__getattr__`` of a module, which imports a name at its first use;
- files in plugin folders, and those that only they call and that call no file that counts: a plugin's own computation;
- the numerics, the data standard and the store of activations, which know nothing of models, benchmarks and scores, and
  are called as NumPy, xarray and a database are;
- helpers: files of which at most 25 lines run (without docstrings), and which call no file that counts.
"""

import ast
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("brainio", "brainscore", "brainscore_core", "brainscore_language", "brainscore_vision", "brainscore_web")
STARTS = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)
PAIR = ("gabor", "Simulated2026.V1-pls")
PLUGIN = re.compile(r"brainscore_vision/(benchmarks|data|metrics|models)/[^/]+/")
LIBRARY = re.compile(r"brainscore_core/(activation_store|numerics|supported_data_standards)/")
MOST_LINES_OF_A_HELPER = 25
PAGE = ROOT / "docs/design.md"


class Function(NamedTuple):
    """A function of the project: its file, its first line and its name."""

    file: str
    line: int
    name: str


class Call(NamedTuple):
    """A call of one function of the project by another; without a caller, it came from elsewhere."""

    caller: Function | None
    called: Function


class Tracer:
    """Collects the calls between functions while it is entered, in the order of the first call."""

    def __init__(self):
        self._codes = {}

    def __enter__(self):
        threading.setprofile(self._receive)
        sys.setprofile(self._receive)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)
        threading.setprofile(None)

    def calls(self):
        """The calls, each once."""
        return [Call(caller and _function(caller), _function(called)) for caller, called in self._codes]

    def _receive(self, frame, event, argument):
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(STARTS):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(STARTS):
            caller = caller.f_back
        key = (None if caller is None else caller.f_code, code)
        if key not in self._codes and not _during_import(frame):
            self._codes[key] = None


def _during_import(frame):
    if frame.f_code.co_qualname == "__getattr__":
        return True
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(STARTS):
            return True
        frame = frame.f_back
    return False


def _function(code):
    file = Path(code.co_filename).relative_to(ROOT).as_posix()
    return Function(file, code.co_firstlineno, code.co_qualname.replace("<locals>.", ""))


def calls_of_a_score():
    """Score in a process of its own, and return the calls.

    The calls are those of a second run; the first one also draws the stimuli and indexes the plugins. Activations are
    computed, not read.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "BRAINSCORE_HOME": folder, "PYTHONPATH": path}
        drawn = Path(os.environ.get("BRAINSCORE_HOME", folder)) / "simulated2026"
        if drawn.is_dir():
            (Path(folder) / "simulated2026").symlink_to(drawn.resolve())
        subprocess.run([sys.executable, __file__, folder], env=environment, check=True, stdout=subprocess.DEVNULL)
        calls = json.loads((Path(folder) / "calls.json").read_text())
    return [Call(caller and Function(*caller), Function(*called)) for caller, called in calls]


def _score_twice(folder):
    from brainscore.cli import app

    tracer = Tracer()
    for number in range(2):
        os.environ["BRAINSCORE_ACTIVATIONS"] = str(folder / f"activations-{number}")
        with tracer if number == 1 else contextlib.nullcontext():
            app(["score", *PAIR, "--results", str(folder / f"results-{number}")], standalone_mode=False)
    (folder / "calls.json").write_text(json.dumps(tracer.calls()))


def files_of(calls, *, libraries=False):
    """Files that count, in the order in which they are entered, each with its functions that other files call.

    `libraries`: the numerics, the data standard and the store of activations count, too.
    """
    entered, callers, called_by, ran = {}, {}, {}, {}
    for caller, called in calls:
        ran.setdefault(called.file, set()).add(called.line)
        if caller is None or caller.file != called.file:
            names = entered.setdefault(called.file, [])
            if called.name not in names:
                names.append(called.name)
        if caller is not None and caller.file != called.file:
            callers.setdefault(called.file, set()).add(caller.file)
            called_by.setdefault(caller.file, set()).add(called.file)
    counted = {file for file in entered if not PLUGIN.match(file) and (libraries or not LIBRARY.match(file))}
    while True:
        ends = {file for file in counted if not called_by.get(file, set()) & counted}
        uncounted = {
            file
            for file in ends
            if _lines(file, ran[file]) <= MOST_LINES_OF_A_HELPER
            or (callers.get(file) and all(PLUGIN.match(caller) for caller in callers[file]))
        }
        if not uncounted:
            return {file: names for file, names in entered.items() if file in counted}
        counted -= uncounted


def _lines(file, starts):
    """Number of lines of the functions that begin at these lines, without docstrings."""
    total = 0
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            described = node.body[0] if ast.get_docstring(node) is not None else None
            docstring = 0 if described is None else described.end_lineno - described.lineno + 1
            total += (node.end_lineno - node.lineno + 1 - docstring) * (first in starts)
    return total


def as_list(files):
    """The files as a numbered list in Markdown."""
    lines = []
    for number, (file, names) in enumerate(files.items(), 1):
        shown = [f"`{name}`" for name in names if "<" not in name]
        lines.append(f"{number}. `{file}`: {', '.join(shown)}\n")
    return "".join(lines)


def require_list_on_page(subject, files):
    """Require the list of `subject` in ``docs/design.md`` to name these files, or renew it.

    The order of files that threads enter, and the functions called, may differ between machines.
    """
    pattern = re.compile(rf"(?<=<!-- files of a {subject} -->\n).*?(?=<!-- end -->)", re.DOTALL)
    text = PAGE.read_text()
    if os.environ.get("BRAINSCORE_RENEW_LISTS"):
        PAGE.write_text(pattern.sub(lambda match: as_list(files), text))
        return
    listed = re.findall(r"^\d+\. `([^`]+)`", pattern.search(text).group(), re.MULTILINE)
    new, gone = sorted(set(files) - set(listed)), sorted(set(listed) - set(files))
    differing = {"not listed": new, "listed only": gone}
    assert not any(differing.values()), f"{differing}; BRAINSCORE_RENEW_LISTS=1 renews the list"


if __name__ == "__main__":
    _score_twice(Path(sys.argv[1]))
