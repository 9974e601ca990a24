"""Where a score was computed: interpreter, machine and libraries, without naming the machine."""

import os
import platform
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from brainscore_core.scoring._plugin_code import platform_code

__all__ = ["Environment", "current_environment"]

_PACKAGES = (
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


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Interpreter, operating system, processor and versions of the libraries that numbers depend on.

    `code` is the hash of the platform's own code without its plugins, `threads` the most that a numerical library that
    was loaded might use.
    """

    python: str
    platform: str
    cpu: str | None
    cpu_count: int | None
    packages: dict[str, str]
    code: str | None = None
    threads: int | None = None


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
    found = []
    for name in _PACKAGES:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return tuple(found)


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
