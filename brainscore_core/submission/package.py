"""A submission's files, its plugins and their folders, the limits on their size, and the findings about them."""

from __future__ import annotations

import functools
import hashlib
import io
import os
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self

from brainscore_core.archives import is_portable
from brainscore_core.domain_names import FIRST, PACKAGES, domain_of_path, domain_of_source
from brainscore_core.domains import Domain, domain
from brainscore_core.errors import UserError
from brainscore_core.plugins.source import Scan, scan_file

Severity = Literal["error", "warning", "note"]
_ORDER = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Finding:
    """A problem of a submission, or a note for its submitter.

    Attributes
    ----------
    severity : {'error', 'warning', 'note'}
        An error prevents running the submission; a warning is for its reviewer; a note reports what was done.
    check : str
        What was checked, in a word or two.
    file : str
        Path in the submission; empty if it concerns the whole submission.
    line : int or None
        From 1.
    message, remedy : str
        What was found, and what to do about it.
    """

    severity: Severity
    check: str
    file: str
    line: int | None
    message: str
    remedy: str

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain types, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make a finding from the result of `as_dict`."""
        return cls(**{name: values[name] for name in cls.__dataclass_fields__})

    def __str__(self) -> str:
        position = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{position}{self.severity}: {self.message}"


@dataclass(frozen=True)
class SubmittedFile:
    """A file of a submission, by its path, and findings about it."""

    path: str

    def error(self, check: str, line: int | None, message: str, remedy: str) -> Finding:
        """Return a finding that prevents running the submission."""
        return Finding("error", check, self.path, line, message, remedy)

    def warning(self, check: str, line: int | None, message: str, remedy: str) -> Finding:
        """Return a finding for the reviewer."""
        return Finding("warning", check, self.path, line, message, remedy)

    def note(self, check: str, line: int | None, message: str, remedy: str) -> Finding:
        """Return a note for the submitter."""
        return Finding("note", check, self.path, line, message, remedy)


def errors_among(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that must be fixed."""
    return [finding for finding in findings if finding.severity == "error"]


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by file and line, in the same place by severity; duplicates are dropped."""
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda finding: (finding.file, finding.line or 0, _ORDER[finding.severity], finding.message),
        )
    )


@dataclass(frozen=True)
class Limits:
    """Limits of a submission, which contains code rather than data.

    Attributes
    ----------
    size : int
        Bytes of all files together.
    file : int
        Bytes of one file.
    source : int
        Bytes of one Python file.
    nodes, all_nodes : int
        Nodes of the syntax tree of one Python file, and of all together.
    depth : int
        Nesting of expressions in a Python file.
    members : int
        Files in an archive, including those that are left out.
    ratio : int
        Ratio of unpacked to packed size, for large files.
    files : int
        Files of all plugins.
    plugins : int
        Number of plugins.
    identifiers : int
        Number of registrations in all plugins.
    repository : int
        Bytes fetched from a Git repository.
    seconds : float
        Time to fetch a repository.
    """

    size: int = 20_000_000
    file: int = 5_000_000
    source: int = 1_000_000
    nodes: int = 60_000
    all_nodes: int = 250_000
    depth: int = 100
    members: int = 5_000
    ratio: int = 100
    files: int = 1_000
    plugins: int = 50
    identifiers: int = 1_000
    repository: int = 300_000_000
    seconds: float = 120

    @property
    def archive(self) -> int:
        """Bytes of an archive: its files may be uncompressed, and each has a header."""
        return self.size + 2_000_000


REGISTRIES: Mapping[str, str] = {
    "benchmark_registry": "benchmarks",
    "data_registry": "data",
    "metric_registry": "metrics",
    "model_registry": "models",
    "stimulus_set_registry": "data",
}
"""Registry → folder of the plugins that register there."""

KIND_FOLDERS = tuple(dict.fromkeys(REGISTRIES.values()))

_DATE = (1980, 1, 1, 0, 0, 0)  # fixed, so that the same content gives the same archive


@dataclass(frozen=True)
class Registered:
    """A registration: ``registry[key] = …`` in line `line` of a plugin's ``__init__.py``."""

    registry: str
    key: str
    line: int


@dataclass(frozen=True)
class SubmittedPlugin:
    """A plugin of a submission: kind (``'models'``, …), name of its folder, registrations, and name of its domain."""

    kind: str
    name: str
    registrations: tuple[Registered, ...]
    domain: str = FIRST

    @property
    def path(self) -> str:
        """Its folder: ``models/mine``."""
        return f"{self.kind}/{self.name}"

    @property
    def start(self) -> SubmittedFile:
        """Its ``__init__.py``."""
        return SubmittedFile(f"{self.path}/__init__.py")

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain types, for JSON."""
        return {**asdict(self), "registrations": [asdict(item) for item in self.registrations]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make a plugin from the result of `as_dict`."""
        listed = tuple(Registered(**item) for item in values["registrations"])
        return cls(values["kind"], values["name"], listed, values.get("domain", FIRST))


@dataclass(frozen=True, eq=False)
class Package:
    """A submission.

    Attributes
    ----------
    files : mapping
        Path, such as ``models/mine/__init__.py``, → content; sorted.
    findings : tuple of Finding
        Files that were left out or moved when the submission was read.
    address, commit : str
        Address and commit of the repository, if it was read from a repository.
    folders : mapping
        Path of a plugin, such as ``models/mine`` → its original folder.
    """

    files: Mapping[str, bytes]
    findings: tuple[Finding, ...] = ()
    address: str = ""
    commit: str = ""
    folders: Mapping[str, str] = field(default_factory=dict)

    @functools.cached_property
    def scans(self) -> Mapping[str, Scan]:
        """Result of the static index for each plugin, by its folder; with the paths of `files`."""
        with self.on_disk(".py") as folder:
            scans = {}
            for path in dict.fromkeys("/".join(file.split("/")[:2]) for file in self.files):
                file = folder / path / "__init__.py"
                if file.is_file():
                    scan = scan_file(file, tuple(REGISTRIES))
                    error = None if scan.error is None else scan.error.replace(f"{folder}{os.sep}", "")
                    scans[path] = scan._replace(error=error, depends=())
                else:
                    scans[path] = Scan()
            return scans

    @functools.cached_property
    def plugins(self) -> tuple[SubmittedPlugin, ...]:
        """Its plugins, by path."""
        return tuple(
            SubmittedPlugin(
                kind, name, tuple(Registered(*item) for item in scan.registrations), self._domain(f"{kind}/{name}")
            )
            for (kind, name), scan in sorted((path.split("/"), scan) for path, scan in self.scans.items())
        )

    def _domain(self, plugin: str) -> str:
        """Domain of a plugin: of the package that it imports, else of the package from which it was taken."""
        imported = domain_of_source(self.files.get(f"{plugin}/__init__.py", b""))
        return imported or domain_of_path(self.folders.get(plugin, "")) or FIRST

    @contextmanager
    def on_disk(self, suffix: str = "") -> Iterator[Path]:
        """Write the files, or those with a suffix, into a temporary folder."""
        with tempfile.TemporaryDirectory(prefix="brainscore-read-") as folder:
            write_files({path: self.files[path] for path in self.files if path.endswith(suffix)}, Path(folder))
            yield Path(folder)

    def of(self, plugin: SubmittedPlugin) -> dict[str, bytes]:
        """The files of one plugin."""
        return {path: content for path, content in self.files.items() if path.startswith(f"{plugin.path}/")}

    def to_zip(self) -> bytes:
        """Pack into an archive, sorted and without times; the same files give the same bytes on every machine."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:  # uncompressed, since compression differs between libraries
            for path in sorted(self.files):
                member = zipfile.ZipInfo(path, _DATE)
                member.create_system = 3
                member.external_attr = (stat.S_IFREG | 0o644) << 16
                archive.writestr(member, self.files[path])
        return stream.getvalue()

    @property
    def digest(self) -> str:
        """SHA-256 of the archive."""
        return hashlib.sha256(self.to_zip()).hexdigest()


def unpack(archive: bytes, folder: Path) -> None:
    """Unpack an archive of `Package.to_zip` into an empty folder.

    Parameters
    ----------
    archive : bytes
        The archive.
    folder : Path
        Created if necessary.

    Raises
    ------
    UserError
        If it is not such an archive, or the folder is not empty.
    """
    folder = Path(folder)
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty", remedy="name an empty folder")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as store:
            files = {member.filename: store.read(member) for member in store.infolist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise UserError(
            f"this is not an archive of a submission: {error}", remedy="read it with read_zip first"
        ) from error
    for path in files:
        names = path.split("/")
        if len(names) < 3 or names[0] not in KIND_FOLDERS or not is_portable(path):
            raise UserError(
                f"this is not an archive of a submission: it holds {path!r}", remedy="read it with read_zip"
            )
    write_files(files, folder)


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a folder; callers check the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        target = folder / PurePosixPath(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


PLUGIN_KINDS: Mapping[str, str] = {"benchmark": "benchmarks", "data": "data", "metric": "metrics", "model": "models"}
"""Kind of a plugin → folder of all plugins of this kind."""


def plugin_folder_of(path: Path) -> Path | None:
    """Folder of the plugin that a path belongs to: the innermost ``<kind>/<plugin>/`` with an ``__init__.py``.

    Examples
    --------
    >>> import brainscore_vision
    >>> plugin_folder_of(Path(brainscore_vision.__file__).parent / "models" / "pixels" / "model.py").name
    'pixels'
    >>> plugin_folder_of(Path(__file__)) is None
    True
    """
    path, package = path.absolute(), Path(__file__).absolute().parent
    for folder in (path, *path.parents):
        if package.is_relative_to(folder):
            return None  # a checkout may be in a folder called "data"
        if folder.parent.name in PLUGIN_KINDS.values() and not folder.name.startswith((".", "_")):
            return folder if (folder / "__init__.py").is_file() else None
    return None


def domain_of_folder(folder: Path) -> Domain:
    """The domain of a plugin: of the package that its ``__init__.py`` imports, else of the package that contains it.

    Examples
    --------
    >>> import brainscore_language
    >>> domain_of_folder(Path(brainscore_language.__file__).parent / "models" / "trigram").name
    'language'
    """
    name = domain_of_source((folder / "__init__.py").read_bytes())
    return domain(name or domain_of_path(folder.absolute()) or FIRST)


def is_discoverable(root: Path, of: Domain) -> bool:
    """Whether a domain searches a folder with ``models/`` and so on for plugins."""
    return any(known.folder.resolve() == root.resolve() for known in of.plugin_index.roots)


def make_discoverable(folder: Path) -> Domain:
    """Add the folder of a plugin to those that this process and its child processes search; return its domain.

    `folder`: the plugin's own folder, such as ``lab/models/mine``. A UserError if it is not a plugin folder.
    """
    if folder.absolute().parent.name not in PLUGIN_KINDS.values():
        raise UserError(
            f"{folder} is not in a folder called {', '.join(PLUGIN_KINDS.values())}",
            remedy="use a layout such as PLUGINS/models/my_model, so that its kind is known",
        )
    if not (folder / "__init__.py").is_file():
        raise UserError(f"{folder} has no __init__.py", remedy="a plugin's __init__.py registers what it offers")
    of, root = domain_of_folder(folder), folder.absolute().parent.parent
    variable = of.plugin_index.variable
    if variable is not None and not is_discoverable(root, of):
        os.environ[variable] = os.pathsep.join([*filter(None, [os.environ.get(variable)]), str(root)])
    return of


def registrations_in(folder: Path, of: Domain) -> Iterator[tuple[str, str]]:
    """What a plugin registers: keys of `Domain.registries`, and identifiers.

    `folder`: the plugin's folder, which must be discoverable.
    """
    wanted = folder.resolve()
    for name, registry in of.registries.items():
        for key in registry:
            if any(place.folder is not None and place.folder.resolve() == wanted for place in registry.locations(key)):
                yield name, key


def source_checkout() -> Path | None:
    """Root of the source checkout around the working directory; None outside a checkout."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        packages = [folder / package / "__init__.py" for package in PACKAGES]
        if (folder / "pyproject.toml").is_file() and any(file.is_file() for file in packages):
            return folder
    return None
