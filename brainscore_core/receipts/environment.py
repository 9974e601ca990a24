"""Environment in which a score was computed: code of plugins and platform, interpreter and libraries."""

import os
import platform
import sys
from contextlib import suppress
from functools import lru_cache
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path

from brainscore_core.receipts.receipt import Environment, PluginCode

__all__ = ["current_environment", "describe_plugin", "platform_code"]

_NO_CODE = {"__pycache__", "tests", "test.py"}
_PLUGIN_FOLDERS = {"benchmarks", "data", "metrics", "models"}  # of the domain
_NO_CODE_SUFFIXES = {".pyc", ".md"}


def describe_plugin(location: Path) -> PluginCode:
    """Describe a plugin by name, hash and origin.

    The hash covers relative names and contents of all files except tests, Markdown, hidden files and compiled code, so
    that it changes if the plugin's behaviour may have changed, but not with the location of the folder.

    Parameters
    ----------
    location : Path
        The plugin's folder, or its file if it is a single module.
    """
    distribution, version = _distribution_of(location.absolute())
    return PluginCode(
        name=location.stem if location.is_file() else location.name,
        sha256=_hash(location),
        distribution=distribution,
        version=version,
    )


@lru_cache(maxsize=1)
def platform_code() -> str:
    """Hash of the platform's Python code without plugins: this package, and the domain package beside it."""
    home = Path(__file__).parents[2]
    digest = sha256()
    for path in sorted([*home.glob("brainscore_core/**/*.py"), *home.glob("brainscore_vision/**/*.py")]):
        parts = path.relative_to(home).parts
        of_plugin = parts[0] == "brainscore_vision" and parts[1] in _PLUGIN_FOLDERS
        if not of_plugin and path.name != "test.py":
            digest.update(f"{'/'.join(parts)}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _hash(location: Path) -> str | None:
    root = location.parent if location.is_file() else location
    files = [location] if location.is_file() else sorted(path for path in location.rglob("*") if _is_code(path, root))
    if not files:
        return None
    digest = sha256()
    for path in sorted(files, key=lambda path: path.relative_to(root).as_posix()):
        with path.open("rb") as stream:  # in parts, as plugins may hold large files of data
            content = file_digest(stream, "sha256").hexdigest()
        digest.update(f"{path.relative_to(root).as_posix()}\0{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _is_code(path: Path, root: Path) -> bool:
    parts = path.relative_to(root).parts
    if any(part.startswith(".") or part in _NO_CODE for part in parts):
        return False
    return path.suffix not in _NO_CODE_SUFFIXES and path.is_file()


def _distribution_of(location: Path) -> tuple[str | None, str | None]:
    roots = [Path(entry) for entry in sys.path if entry and location.is_relative_to(entry)]
    # the platform's own folder, which an editable installation may not add to the path
    roots.append(Path(__file__).parents[2])
    inside = [root for root in roots if location.is_relative_to(root)]
    if not inside:
        return None, None
    root = max(inside, key=lambda root: len(root.parts))
    top = location.relative_to(root).parts[0].removesuffix(".py")
    name = _distribution_with(top)
    return name, metadata.version(name) if name else None


@lru_cache
def _distribution_with(top: str) -> str | None:
    """Name of the distribution that installed a package or module of this name, the first on the path."""
    for distribution in metadata.distributions():
        names = distribution.read_text("top_level.txt")
        # searching the text is ten times faster than parsing the records
        record = "" if names else "\n" + (distribution.read_text("RECORD") or "")
        if top in (names or "").split() or f"\n{top}/" in record or f"\n{top}.py," in record:
            return str(distribution.metadata["Name"])
    if top in ("brainscore_core", "brainscore_vision", "brainscore"):  # an editable installation lists no packages
        with suppress(metadata.PackageNotFoundError):
            return str(metadata.metadata("brainscore")["Name"])
    return None


RECORDED_PACKAGES = (
    "brainscore",
    "numpy",
    "scipy",
    "pandas",
    "xarray",
    "scikit-learn",
    "netCDF4",
    "pillow",
    "pooch",
    "torch",
    "torchvision",
    "timm",
    "transformers",
)


def current_environment() -> Environment:
    """Describe this process.

    Examples
    --------
    >>> "numpy" in current_environment().packages
    True
    """
    return Environment(
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=f"{platform.system()} {platform.release()} {platform.machine()}".strip(),
        cpu=_cpu(),
        cpu_count=_usable_cpus(),
        packages=dict(_versions()),
        code=platform_code(),
        threads=_threads(),
    )


@lru_cache(maxsize=1)
def _versions() -> tuple[tuple[str, str], ...]:
    versions = []
    for name in RECORDED_PACKAGES:
        try:
            versions.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return tuple(versions)


@lru_cache(maxsize=1)
def _cpu() -> str | None:
    if sys.platform == "linux":
        try:
            text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        for line in text.splitlines():
            if line.lower().startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine() or None


def _threads() -> int | None:
    from threadpoolctl import threadpool_info

    return max((int(library["num_threads"]) for library in threadpool_info()), default=None)


def _usable_cpus() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
