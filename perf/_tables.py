"""What the measurements share: processes of their own, the rate of matrix products, and sections of a document."""

import argparse
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "performance.md"

RATE = """
import json, time
import numpy as np
def rate(kind, n=2560):
    a, b = (np.random.default_rng(seed).standard_normal((n, n)).astype(kind) for seed in (0, 1))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return 2 * n**3 / sorted(times)[2]
print(json.dumps({"float64": rate("f8"), "float32": rate("f4")}))
"""


def interpreter(name: str, what: str) -> str:
    """Path of an interpreter, or an exit that says how to make its environment."""
    path = Path(name).expanduser()
    if not path.is_file():
        sys.exit(f"{what}: there is no interpreter {name!r}; perf/README.md tells how to make the environment")
    return str(path.absolute())


def run(python: str, *arguments: str) -> dict:
    """Run a script or command in a process of its own, and read the JSON of its last line."""
    with tempfile.TemporaryDirectory() as home:
        homes = dict.fromkeys(("RESULTCACHING_HOME", "BRAINSCORE_HOME", "BRAINIO_HOME"), home)
        environment = os.environ | homes | {"BS_INSTALL_DEPENDENCIES": "no"}
        # -P: what is installed there, not what lies in the current folder
        done = subprocess.run([python, "-P", *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)[:200]} on {python}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def rates(python: str) -> dict[str, float]:
    """Floating-point operations a second in the product of two matrices, by data type."""
    return run(python, "-c", RATE)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def keep(store: Path, keys: tuple[str, ...], value: dict) -> None:
    """Put a result into a file of nested objects, into which other processes may write, too."""
    with store.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        content = inner = json.loads(file.read() or "{}")
        for key in keys[:-1]:
            inner = inner.setdefault(key, {})
        inner[keys[-1]] = value
        file.truncate(0)
        file.write(json.dumps(content, indent=1, sort_keys=True) + "\n")


def simulation_options(
    description: str, arguments: list[str] | None, *, metavar: str, names: str
) -> argparse.Namespace:
    """Options of a script of simulated experiments."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar=metavar, help=f"{names}; by default all")
    parser.add_argument("--simulations", type=int, help="experiments of each size, in place of the case's own number")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of units, in place of the case's own")
    parser.add_argument("--print", action="store_true", help="keep nothing")
    parser.add_argument("--tables", action="store_true", help="only write the tables anew from what is kept")
    return parser.parse_args(arguments)


def between(page: str, begin: str, end: str, text: str) -> str:
    """The page with `text` between two markers."""
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"


def write_section(name: str, text: str, document: Path = DOCUMENT) -> None:
    """Replace what stands between the markers of a section."""
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    old = document.read_text()
    if begin not in old or end not in old:
        sys.exit(f"{document} has no section {begin} … {end}")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    document.write_text(re.sub(pattern, lambda _: f"{begin}\n{text.strip()}\n{end}", old, flags=re.DOTALL))
