"""What of a plugin's requirements there is to meet: without the platform itself and Python's own modules."""

from __future__ import annotations

import hashlib
import json
import re
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from brainscore_core.files import file_digest
from brainscore_core.plugins.environments._base import Base, Installed, marker_holds
from brainscore_core.plugins.environments._lines import Line, Refusals, read_lines, wheel_command

__all__ = ["Item", "Wanted", "what_is_wanted"]

_PLATFORM = frozenset(
    {"brainscore", "brain-score", "brainscore-core", "brain-score-core", "brainscore-vision", "brain-score-vision"}
    | {"brainio"}
)
_REPOSITORY = re.compile(r"[/:]brain-score/(?:brain-score|brainscore|vision|core|brainio)(?:\.git)?(?:[@/#]|$)")
_FORMER = frozenset({"asynchat", "asyncore", "distutils", "imp", "smtpd"})  # left Python's library in 3.12
_VERSION_CONTROL = ("git+", "hg+", "svn+", "bzr+")


@dataclass(frozen=True)
class Item:
    """A requirement to meet, and the line that asks for it."""

    requirement: Requirement
    line: Line
    text: str
    """As pip is told; it has the path of a wheel in the plugin's folder."""
    digest: str = ""
    """SHA-256 of such a wheel."""

    @property
    def name(self) -> str:
        """Canonical name."""
        return canonicalize_name(self.requirement.name)

    @property
    def identity(self) -> str:
        """What counts for the key: without the path of this machine."""
        asked = f"{self.name} @ sha256:{self.digest}" if self.digest else self.text
        return " ".join([asked, *(f"--hash={value}" for value in self.line.hashes)])

    def met_by(self, installed: Mapping[str, Installed]) -> bool:
        """Whether what is installed meets it, seen from its name and version alone."""
        found = installed.get(self.name)
        if found is None or self.requirement.url or self.requirement.extras or self.line.hashes:
            return False
        return self.requirement.specifier.contains(found.version, prereleases=True)


@dataclass(frozen=True)
class Wanted:
    """What there is to meet.

    Attributes
    ----------
    items, constraints : tuple of Item
        Requirements, and what only limits versions.
    options : tuple of Line
        Where to look, and how.
    met : frozenset of str
        Canonical names that the interpreter has from the very repository that a requirement names.
    notes : tuple of str
        What was left out, and why.
    """

    items: tuple[Item, ...]
    constraints: tuple[Item, ...] = ()
    options: tuple[Line, ...] = ()
    met: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """What counts for the key, the same for every order of the lines."""
        return {
            "requirements": sorted({item.identity for item in self.items}),
            "constraints": sorted({item.identity for item in self.constraints}),
            "options": [f"{line.option} {_identity_of_place(line)}".strip() for line in self.options],
            "met": sorted(self.met),
        }


def what_is_wanted(files: Sequence[Path], *, plugin: str, base: Base, installed: Mapping[str, Installed]) -> Wanted:
    """Read requirement files.

    Parameters
    ----------
    files : sequence of path
        Requirement files.
    plugin : str
        Whose they are, for messages.
    base : Base
        The interpreter.
    installed : mapping of Installed
        What it has.

    Raises
    ------
    RequirementsError
        Lines that are no requirements, or that nothing but a source build would meet: all of them.
    """
    refusals = Refusals(plugin)
    sorter = _Sorter(base, installed, refusals)
    for line in read_lines(files, refusals):
        sorter.add(line)
    refusals.raise_any()
    return sorter.wanted()


class _Sorter:
    def __init__(self, base: Base, installed: Mapping[str, Installed], refusals: Refusals) -> None:
        self._base = base
        self._installed = installed
        self._refusals = refusals
        self._standard = {canonicalize_name(name) for name in base.standard | _FORMER}
        self._items: dict[str, Item] = {}
        self._constraints: dict[str, Item] = {}
        self._options: list[Line] = []
        self._met: set[str] = set()
        self._notes: dict[str, None] = {}

    def wanted(self) -> Wanted:
        return Wanted(
            tuple(self._items.values()),
            tuple(self._constraints.values()),
            tuple(self._options),
            frozenset(self._met),
            tuple(self._notes),
        )

    def add(self, line: Line) -> None:
        if line.option:
            self._options.append(line)
            return
        requirement = self._parse(line)
        if requirement is None or not self._applies(requirement, line):
            return
        name = canonicalize_name(requirement.name)
        if name in _PLATFORM or _REPOSITORY.search(requirement.url or ""):
            self._notes[f"{line}: is the platform that runs, {self._platform()}"] = None
        elif name in self._standard and requirement.url is None:
            self._notes[f"{line}: is a module of Python's own library, nothing is installed"] = None
        elif requirement.url is not None:
            self._add_url(requirement, line)
        else:
            self._keep(Item(requirement, line, _plain(requirement)))

    def _applies(self, requirement: Requirement, line: Line) -> bool:
        try:
            return marker_holds(requirement, self._base.markers)
        except ValueError as error:  # of packaging: what cannot be compared, no version, no such variable
            why = " ".join(str(error).split())
            self._refusals.add(line, f"its marker cannot be read: {why}", "mend the marker, which follows the ;")
            return False

    def _platform(self) -> str:
        found = self._installed.get("brainscore")
        return f"brainscore {found.version}" if found is not None else "brainscore"

    def _keep(self, item: Item) -> None:
        where = self._constraints if item.line.constraint else self._items
        where.setdefault(item.identity, item)

    def _parse(self, line: Line) -> Requirement | None:
        text = line.text
        if text.startswith(_VERSION_CONTROL) or text.startswith(("https://", "http://", "file:")):
            text = _named(text)
        elif text.endswith(".whl") and "://" not in text and "@" not in text:
            text = f"{_name_in(text)} @ file:{text}"
        try:
            return Requirement(text)
        except InvalidRequirement as error:
            if line.text.startswith((".", "/")):
                self._refusals.add(line, "wheels only: it is no wheel", wheel_command(line.text))
            else:
                why = " ".join(str(error).split("\n")[0].split())
                self._refusals.add(line, f"this is no requirement: {why}", "write one requirement a line: name==1.2")
            return None

    def _add_url(self, requirement: Requirement, line: Line) -> None:
        url = requirement.url or ""
        if self._has_from(requirement):
            self._met.add(canonicalize_name(requirement.name))
            self._notes[f"{line}: is installed from there in {self._base.python}"] = None
            return
        parts = urllib.parse.urlsplit(url)
        if url.startswith(_VERSION_CONTROL):
            asked = f"{requirement.name} @ {url}"
            self._refusals.add(
                line,
                "wheels only: what stands in a repository would have to be built here",
                f"name a released version; or build a wheel: {wheel_command(asked)}, and write {requirement.name} "
                f"alone; or install it where you score, into {self._base.prefix}, from where it is then taken",
            )
        elif not parts.path.endswith(".whl"):
            self._refusals.add(line, "wheels only: this is none", wheel_command(url))
        elif parts.scheme == "file":
            self._add_wheel(requirement, line, urllib.request.url2pathname(url.removeprefix("file:")))
        elif parts.scheme in ("https", "http"):
            self._keep(Item(requirement, line, _plain(requirement)))
        else:
            self._refusals.add(line, f"{parts.scheme}: is no address that is read here", "use https")

    def _add_wheel(self, requirement: Requirement, line: Line, name: str) -> None:
        path = (line.file.parent / re.sub("^//+", "/", name)).resolve()
        if not path.is_relative_to(line.file.parent.resolve()):
            self._refusals.add(line, "it lies outside of the plugin's folder", "put a copy beside this file")
        elif not path.is_file():
            self._refusals.add(line, "there is no such file", "check the path; it is relative to this file")
        else:
            self._keep(Item(requirement, line, f"{requirement.name} @ {path.as_uri()}", file_digest(path, "sha256")))

    def _has_from(self, requirement: Requirement) -> bool:
        """Whether the interpreter has it from that very address (PEP 610)."""
        found = self._installed.get(canonicalize_name(requirement.name))
        if found is None:
            return False
        try:
            record = json.loads((found.folder / "direct_url.json").read_bytes())
            details = record.get("vcs_info") or {}
            address, revision = _address(requirement.url or "")
            same = _address(str(record["url"]))[0] == address
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False
        commit, asked = str(details.get("commit_id", "")), details.get("requested_revision")
        return same and (not revision or revision == asked or (len(revision) >= 7 and commit.startswith(revision)))


def _plain(requirement: Requirement) -> str:
    """Write a requirement in one way, without the marker, which holds."""
    extras = f"[{','.join(sorted(map(canonicalize_name, requirement.extras)))}]" if requirement.extras else ""
    ending = f" @ {requirement.url}" if requirement.url else ",".join(sorted(map(str, requirement.specifier)))
    return f"{canonicalize_name(requirement.name)}{extras}{ending}"


def _named(text: str) -> str:
    """Write a bare address as ``name @ address``; the name stands in ``#egg=`` or ends the address."""
    address, _, marker = text.partition(" ;")
    fragment = urllib.parse.parse_qs(urllib.parse.urlsplit(address).fragment)
    name = fragment["egg"][0].partition("[")[0] if "egg" in fragment else _name_in(address)
    return f"{name} @ {address}" + (f" ;{marker}" if marker else "")


def _name_in(address: str) -> str:
    last = urllib.parse.urlsplit(address).path.rstrip("/").rpartition("/")[2]
    if last.endswith(".whl"):
        return last.partition("-")[0]
    return re.sub(r"[^A-Za-z0-9._-]", "-", last.partition("@")[0].removesuffix(".git")).strip("-._") or "unnamed"


def _address(url: str) -> tuple[str, str]:
    """Address of a repository in one way of writing, and the revision."""
    plain = url.partition("+")[2] if url.startswith(_VERSION_CONTROL) else url
    parts = urllib.parse.urlsplit(plain.partition("#")[0])
    path, _, revision = parts.path.partition("@")
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{host}{path.rstrip('/').removesuffix('.git').lower()}", revision


def _identity_of_place(line: Line) -> str:
    """An option's value; of a folder of wheels, what lies in it."""
    if line.option != "--find-links" or "://" in line.text:
        return line.text
    return _digest_of(sorted(Path(line.text).glob("*.whl")))


def _digest_of(files: Iterable[Path]) -> str:
    joined = "\n".join(f"{file.name} {file_digest(file, 'sha256')}" for file in files)
    return hashlib.sha256(joined.encode()).hexdigest()
