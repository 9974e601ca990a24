"""What users do with the installed package, each as a script: how many lines it takes, and how long it runs.

    python perf/journeys.py [NAME …] [--write]

The package is built as a wheel and installed into an environment of its own, which sees the third-party packages of
this interpreter and no checkout. Each script of `tests/journeys` runs there in an empty folder, with an empty home.
`--write` puts the table into docs/performance.md.

A script's docstring names the journey. Lines written are lines of code, without comments, docstring and empty lines; if
the script has a comment line `# written by the user`, only those below it count: above it is what stands in for the
user's own files.
"""

import argparse
import ast
import importlib.util
import io
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "tests" / "journeys"
USER_PART = "# written by the user"
_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


@dataclass(frozen=True)
class Journey:
    """What a script needs and how long it is."""

    path: Path
    title: str
    packages: tuple[str, ...]  # imported, first part of the name
    lines: int

    def missing_packages(self) -> list[str]:
        """Packages that it imports and that are not installed here."""
        return [name for name in self.packages if importlib.util.find_spec(name) is None]


@dataclass(frozen=True)
class Outcome:
    """How a script ended."""

    code: int
    output: str
    errors: str
    seconds: float

    @property
    def last_line(self) -> str:
        """The last line that it printed."""
        return (self.output.strip().splitlines() or [""])[-1]


def journeys() -> list[Journey]:
    """All scripts, by name."""
    return [_read(path) for path in sorted(SCRIPTS.glob("*.py")) if not path.name.startswith(("test_", "conftest"))]


def _read(path: Path) -> Journey:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree)
    if not docstring:
        sys.exit(f"{path} needs a docstring that names the journey")
    packages = set()
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        packages |= {name.partition(".")[0] for name in names}
    return Journey(path, docstring.splitlines()[0].rstrip("."), tuple(sorted(packages)), _lines(text, tree))


def _lines(text: str, tree: ast.Module) -> int:
    comments = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == USER_PART]
    first = comments[0] if comments else tree.body[0].end_lineno  # the docstring's end
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    return sum(number > first for number in code)


def install_wheel(folder: Path) -> Path:
    """Build the wheel, install it into a new environment below `folder`, and return that environment's interpreter."""
    _call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist"), cwd=ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    environment = folder / "environment"
    _call(sys.executable, "-m", "venv", "--without-pip", str(environment))
    scripts, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    python = environment / scripts / name
    options = ("--quiet", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check")
    _call(sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(wheel))
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(_call(str(python), "-c", query).strip())
    # the folders' own .pth files, which may name a checkout, are not read
    others = [path for path in _third_party() if path != packages]
    (packages / "third_party.pth").write_text("".join(f"{path}\n" for path in others), encoding="utf-8")
    return python


def _third_party() -> list[Path]:
    installed = {Path(path) for path in sys.path if Path(path).name in ("site-packages", "dist-packages")}
    return sorted(installed | {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")})


def _call(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def search_path(journey: Journey, python: Path) -> str:
    """Folder that a script needs in PYTHONPATH where torchvision was built for another torch; else empty."""
    if not {"timm", "transformers", "torchvision"} & set(journey.packages):
        return ""
    done = subprocess.run([str(python), "-c", "import torchvision"], capture_output=True, text=True, check=False)
    return str(SCRIPTS / "declared_operators") if "operator torchvision::nms does not exist" in done.stderr else ""


def run(
    command: list[str], folder: Path, *, path: str = "", stimuli: Path | None = None, timeout: float = 600
) -> Outcome:
    """Run a command in an empty folder, with an empty home folder and nothing of this project's environment.

    `path` is its PYTHONPATH; `stimuli`, if given, a folder where the stimuli of Simulated2026 may be drawn already.
    """
    home, work = folder / "home", folder / "work"
    (home / ".brain-score").mkdir(parents=True)
    if stimuli is not None:
        (home / ".brain-score" / "simulated2026").symlink_to(stimuli)
    work.mkdir()
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("BRAIN", "PYTHON", "XDG_", "HF_"))
    }
    environment = kept | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "HF_HUB_OFFLINE": "1",
        "PYTHONIOENCODING": "utf-8",
        **({"PYTHONPATH": path} if path else {}),
    }
    start = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=timeout,
    )
    return Outcome(done.returncode, done.stdout, done.stderr, time.perf_counter() - start)


def has_number(line: str) -> bool:
    """Whether a line of output contains a decimal number, such as a score."""
    return re.search(r"\d\.\d", line) is not None


def main() -> None:
    """Run the scripts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scripts without .py; by default all")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = parser.parse_args()
    known = {journey.path.stem: journey for journey in journeys()}
    if unknown := set(chosen.names) - set(known):
        sys.exit(f"no script {sorted(unknown)[0]!r} in {SCRIPTS}; there are {', '.join(known)}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        python = install_wheel(Path(folder))
        for name in chosen.names or known:
            journey = known[name]
            if missing := journey.missing_packages():
                print(f"{name}: not run, needs {', '.join(missing)}", file=sys.stderr)
                continue
            outcome = run([str(python), str(journey.path)], Path(folder) / name, path=search_path(journey, python))
            if outcome.code:
                sys.exit(f"{name} ended with {outcome.code}:\n{outcome.output}{outcome.errors}")
            rows.append([journey.title, f"`{name}.py`", str(journey.lines), f"{outcome.seconds:.1f}"])
            print(f"{name}: {journey.lines} lines, {outcome.seconds:.1f} s; {outcome.last_line}")
    if chosen.write:
        from _tables import table, write_section

        write_section("journeys", table(["journey", "script", "lines written", "s"], rows))


if __name__ == "__main__":
    main()
