"""The base interpreter of environments, and its installed packages."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from brainscore_core.errors import UserError

_START_SECONDS = 60.0  # in which an interpreter must start
_DISTRIBUTION = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-.*)?\.(dist|egg)-info")
_VARIABLES = frozenset(
    {"APPDATA", "CURL_CA_BUNDLE", "DYLD_LIBRARY_PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH"}
    | {"LOCALAPPDATA", "NETRC", "PATH", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE", "SYSTEMROOT"}
    | {"TEMP", "TMP", "TMPDIR", "USERPROFILE", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME"}
    | {"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"}
)
_OF_PIP = frozenset(  # package sources and connections
    {"CACHE_DIR", "CERT", "CLIENT_CERT", "CONFIG_FILE", "DEFAULT_TIMEOUT", "EXTRA_INDEX_URL", "FIND_LINKS"}
    | {"INDEX_URL", "KEYRING_PROVIDER", "NO_CACHE_DIR", "NO_INDEX", "PRE", "PREFER_BINARY", "PROXY", "RETRIES"}
    | {"TIMEOUT", "TRUSTED_HOST", "UPLOADED_PRIOR_TO", "USE_DEPRECATED", "USE_FEATURE"}
)
# packages that any model needs, in addition to the requirements of the installed platform
_CORE = ("netcdf4", "numpy", "pandas", "pillow", "scikit-learn", "scipy", "xarray")
_PROBE = """
import json, os, platform, site, sys, sysconfig
sites = site.getsitepackages() + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])
number = sys.implementation.version
implementation = f"{number.major}.{number.minor}.{number.micro}"
if number.releaselevel != "final":
    implementation += number.releaselevel[0] + str(number.serial)
print()
print(json.dumps({
    "version": platform.python_version(),
    "tag": sys.implementation.cache_tag,
    "platform": sysconfig.get_platform(),
    "prefix": sys.prefix,
    "prefixes": [sys.base_prefix, sys.base_exec_prefix],
    "interpreter": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "sites": [folder for folder in sites if os.path.isdir(folder)],
    "path": [folder for folder in sys.path if folder],
    "standard": sorted(sys.stdlib_module_names),
    "markers": {
        "implementation_name": sys.implementation.name,
        "implementation_version": implementation,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    },
}))
"""


class Installed(NamedTuple):
    """An installed distribution: its name as written, version, and folder of metadata."""

    name: str
    version: str
    folder: Path


@dataclass(frozen=True)
class Base:
    """The base interpreter of environments."""

    python: Path  # the interpreter as it is called, such as that of a virtual environment
    # ``'3.11.7'``, ``'cpython-311'``, ``'linux-x86_64'``.
    version: str
    tag: str
    platform: str
    prefix: Path  # folder of its environment
    prefixes: tuple[Path, ...]  # folders of the actual interpreter, with the standard library
    interpreter: Path  # the program itself, with links resolved
    sites: tuple[Path, ...]  # folders of installed packages
    path: tuple[Path, ...]  # its search path of modules, including additions by ``.pth`` files
    ahead: tuple[Path, ...]  # folders of ``PYTHONPATH``, which environment modules of clusters use
    extra: tuple[Path, ...]  # folders of this platform that are not on its search path
    markers: Mapping[str, str]  # values of the variables in requirements' markers
    standard: frozenset[str]  # names of the standard library's modules

    def installed(self) -> dict[str, Installed]:
        """Present distributions on its search path, by canonical name."""
        return installed_in(self.everywhere)

    @property
    def everywhere(self) -> tuple[Path, ...]:
        """All folders of its search path."""
        return tuple(dict.fromkeys((*self.ahead, *self.path, *self.extra)))


def base_of(python: Path | None = None) -> Base:
    """Query an interpreter, by default the running one, for its version and the folders of its packages."""
    executable = Path(os.path.abspath(python or sys.executable))  # keeps links into another environment
    try:
        changed = os.stat(executable).st_mtime_ns
    except OSError as error:
        raise UserError(
            f"the interpreter {executable} cannot be used: {error.strerror}", remedy="use another one"
        ) from error
    return _base_of(executable, changed, os.environ.get("PYTHONPATH", ""))


@functools.lru_cache(maxsize=8)
def _base_of(executable: Path, changed: int, given: str) -> Base:
    answers = _query(executable)
    path = [Path(folder) for folder in answers["path"]]
    home = Path(__file__).resolve().parents[3]
    ahead = [Path(folder).absolute() for folder in given.split(os.pathsep) if folder and Path(folder).is_dir()]
    folders = [folder for folder in (*ahead, *path) if folder.is_dir()]
    importable = home in {folder.resolve() for folder in folders} or any(
        (folder / "brainscore_core").is_dir() or any(folder.glob("__editable___brainscore*")) for folder in folders
    )  # the latter by the import hook of an editable installation
    return Base(
        python=executable,
        version=answers["version"],
        tag=answers["tag"],
        platform=answers["platform"],
        prefix=Path(answers["prefix"]),
        prefixes=tuple(dict.fromkeys(map(Path, answers["prefixes"]))),
        interpreter=Path(answers["interpreter"]),
        sites=tuple(dict.fromkeys(map(Path, answers["sites"]))),
        path=tuple(dict.fromkeys(path)),
        ahead=tuple(dict.fromkeys(ahead)),
        extra=() if importable else (home,),
        markers=answers["markers"],
        standard=frozenset(answers["standard"]),
    )


def _query(executable: Path) -> dict[str, Any]:
    try:
        done = subprocess.run(  # noqa: S603 (an interpreter chosen by the caller)
            [executable, "-c", _PROBE],
            capture_output=True,
            text=True,
            timeout=_START_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
            cwd=executable.parent,  # contains no modules
            env=without_python_settings(),
        )
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise UserError(
            f"the interpreter {executable} cannot be used: {lines[-1] if lines else error}", remedy="use another one"
        ) from error
    return answer


def outermost(folders: Iterable[Path], others: Iterable[Path] = ()) -> list[Path]:
    """Folders in order, without those inside another one or inside `others`."""
    remaining: list[Path] = []
    outer = list(others)
    for folder in sorted(set(folders)):
        if not any(folder.is_relative_to(path) for path in (*outer, *remaining)):
            remaining.append(folder)
    return remaining


def without_python_settings() -> dict[str, str]:
    """Environment variables, without those that change Python's search path."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONSAFEPATH", "__PYVENV_LAUNCHER__")
    }


def minimal_variables() -> dict[str, str]:
    """Environment variables for pip and new environments: of the system, connections and package sources only."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _VARIABLES or (name.startswith("PIP_") and name.removeprefix("PIP_") in _OF_PIP)
    }


def installed_in(folders: Iterable[Path]) -> dict[str, Installed]:
    """Distributions in folders of packages, by canonical name; the first one of a name counts."""
    distributions: dict[str, Installed] = {}
    for folder in folders:
        try:
            entries = sorted(os.listdir(folder))
        except OSError:
            continue  # a ZIP file, or missing
        for entry in entries:
            if entry.startswith(".") or not entry.endswith((".dist-info", ".egg-info")):
                continue
            distribution = _read_name(folder / entry)
            if distribution is not None:
                distributions.setdefault(canonicalize_name(distribution.name), distribution)
    return distributions


def _read_name(folder: Path) -> Installed | None:
    """Name and version, from the folder's name if possible, since reading every METADATA file is slow."""
    match = _DISTRIBUTION.fullmatch(folder.name)
    name: str | None
    version: str | None
    if match and (folder.suffix != ".dist-info" or (folder / "METADATA").is_file()):
        name, version = match["name"], match["version"]
    else:
        metadata = PathDistribution(folder).metadata
        name = metadata["Name"] if "Name" in metadata else None  # noqa: SIM401 (its type has no `get`)
        version = metadata["Version"] if "Version" in metadata else None  # noqa: SIM401 - as above
    try:
        return Installed(name, str(Version(version)), folder) if name and version else None
    except InvalidVersion:  # pip ignores it as well
        return None


def requires(distribution: Installed) -> list[Requirement]:
    """Requirements of an installed distribution, without invalid ones."""
    requirements = []
    for line in PathDistribution(distribution.folder).requires or []:
        try:
            requirements.append(Requirement(line))
        except InvalidRequirement:
            continue
    return requirements


def closure(
    names: Iterable[tuple[str, Iterable[str]]], installed: Mapping[str, Installed], markers: Mapping[str, str]
) -> dict[str, str]:
    """Versions of distributions and of their installed dependencies.

    Starts from names with their extras. Installed distributions are by canonical name; `markers` as `Base.markers`.
    """
    versions: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(str(canonicalize_name(name)), frozenset(extras)) for name, extras in names]
    while waiting:
        name, extras = item = waiting.pop()
        if item in seen or name not in installed:
            continue
        seen.add(item)
        versions[name] = installed[name].version
        waiting += [
            (canonicalize_name(requirement.name), frozenset(requirement.extras))
            for requirement in requires(installed[name])
            if applies(requirement, markers, extras)
        ]
    return dict(sorted(versions.items()))


def marker_holds(requirement: Requirement, markers: Mapping[str, str], extras: Iterable[str] = ()) -> bool:
    """Whether a requirement's marker holds; a `ValueError` if it cannot be evaluated."""
    if requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({**markers, "extra": extra}) for extra in ("", *extras))


def applies(requirement: Requirement, markers: Mapping[str, str], extras: Iterable[str] = ()) -> bool:
    """Whether a requirement of an installed distribution applies; False if its marker cannot be evaluated."""
    try:
        return marker_holds(requirement, markers, extras)
    except ValueError:
        return False


def platform_needs(base: Base, installed: Mapping[str, Installed]) -> dict[str, str]:
    """Versions of the platform's own requirements, which are fixed in every environment."""
    return closure([(name, ()) for name in ("brainscore", *_CORE)], installed, base.markers)


def declared_limits(base: Base, installed: Mapping[str, Installed]) -> list[str]:
    """Version constraints of the platform's extra ``torch``."""
    if "brainscore" not in installed:
        return []
    optional = [
        requirement
        for requirement in requires(installed["brainscore"])
        if not applies(requirement, base.markers) and applies(requirement, base.markers, ["torch"])
    ]
    return [f"{canonicalize_name(item.name)}{item.specifier}" for item in optional if item.specifier]
