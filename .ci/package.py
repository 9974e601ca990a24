"""Build the wheel and the source archive, check both, and install each into an empty environment: ``make package``.

Prints what the installed environment takes and its largest packages; ends with an error above the limit.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 400  # MB that `pip install brainscore` may take
LARGEST = 8  # packages that are printed


def main() -> int:
    """Build, check and install; 1 above the limit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(sys.executable, "-m", "hatchling", "build", "-d", str(folder / "dist"), cwd=ROOT)
        archives = sorted((folder / "dist").iterdir())
        _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, archives))
        sizes = [_install(archive, folder) for archive in archives]
    return int(max(sizes) > LIMIT)


def _install(archive: Path, folder: Path) -> float:
    """Install an archive with its dependencies, start the command, and return the environment's size in MB."""
    environment = folder / "environment"
    _run(sys.executable, "-m", "venv", "--clear", str(environment))
    scripts = environment / ("Scripts" if sys.platform == "win32" else "bin")
    constraints = str(ROOT / "requirements" / "constraints.txt")
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--constraint", constraints]
    _run(str(scripts / "python"), "-m", "pip", "install", *options, str(archive))
    _run(str(scripts / "python"), "-P", "-c", "import brainscore, brainscore_vision; brainscore.score", cwd=folder)
    _run(str(scripts / "brainscore"), "list", "metrics", cwd=folder)
    packages = next(environment.rglob("site-packages"))
    for path in packages.glob("pip*"):
        shutil.rmtree(path)  # not installed by us
    sizes = {path.name: _megabytes(path) for path in packages.iterdir() if path.name != "__pycache__"}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:LARGEST]
    total = sum(sizes.values())
    parts = ", ".join(f"{name} {sizes[name]:.0f}" for name in largest)
    sys.stdout.write(f"{archive.name}: {total:.0f} MB of {LIMIT} installed; {parts}\n")
    return total


def _megabytes(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file() and "__pycache__" not in file.parts) / 1e6


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603 # our own commands
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
