"""Where a score was computed: interpreter, machine and libraries, without naming the machine."""

import os
import platform
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

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
    """Interpreter, operating system, processor and versions of the libraries that numbers depend on."""

    python: str
    platform: str
    cpu: str | None
    cpu_count: int | None
    packages: dict[str, str]


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


def _usable_cpus() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
