"""Environment in which a score was computed: code of plugins and platform, interpreter and libraries."""

import os
import platform
import sys
from functools import lru_cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from brainscore_core.domain_names import PACKAGES
from brainscore_core.plugins.loading import distribution_of
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.receipts.receipt import Environment, PluginCode

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_PLUGIN_FOLDERS = {"benchmarks", "data", "metrics", "models"}  # of the domain


def describe_plugin(location: Path) -> PluginCode:
    """Describe a plugin by name, hash of its code and origin.

    `location` is the plugin's folder, or its file if it is a single module.
    """
    name = location.stem if location.is_file() else location.name
    distribution, version = distribution_of(location)
    return PluginCode(name=name, sha256=plugin_hash(location), distribution=distribution, version=version)


@lru_cache(maxsize=1)
def platform_code() -> str:
    """Hash of the platform's Python code without plugins: this package, and the packages of domains beside it."""
    home = Path(__file__).parents[2]
    digest = sha256()
    for path in sorted(path for package in ("brainscore_core", *PACKAGES) for path in home.glob(f"{package}/**/*.py")):
        names = path.relative_to(home).parts
        of_plugin = names[0] in PACKAGES and names[1] in _PLUGIN_FOLDERS
        if not of_plugin and path.name != "test.py":
            digest.update(f"{'/'.join(names)}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


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
    return max((int(library["num_threads"]) for library in _libraries(len(sys.modules)).info()), default=None)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> "ThreadpoolController":
    """Libraries with threads, which are searched for again when modules were imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _usable_cpus() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
