"""Requirements of plugins: read requirement files, and determine what to install."""

from __future__ import annotations

import json
import re
import shlex
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from brainscore_core.errors import UserError
from brainscore_core.plugins.environments.base import Base, Installed, marker_holds


class RequirementsError(UserError):
    """Requirements that cannot be met; the message has the plugin, the lines with their files, and the reason."""


class RequirementsUnavailable(RequirementsError):
    """Requirements that cannot be installed on this machine now: no package index is reachable, or no space is left."""


FILE_NAME = "requirements.txt"
_MAX_BYTES = 100_000  # of one file
_MAX_LINES = 2_000  # of one file
_MAX_CHARACTERS = 2_000  # of one line, including continuations
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")
_WORD = re.compile(r"\S+")
_OPTION = re.compile(r"--?[a-z]")
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_LONG = {
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-i": "--index-url",
    "-f": "--find-links",
}
_SOURCES = frozenset({"--index-url", "--extra-index-url", "--find-links"})
_SWITCHES = frozenset({"--no-index", "--pre", "--prefer-binary", "--require-hashes"})
_IMPLIED = frozenset({"--only-binary", "--prefer-binary"})  # only wheels are used in any case
_REFUSED = {
    "--no-binary": ("wheels only: building from source would run code here", "use a version that has wheels"),
    "--trusted-host": ("plugins cannot declare trusted hosts", "set PIP_TRUSTED_HOST if necessary"),
}
"""Option → why it is refused, and the remedy."""


@dataclass(frozen=True)
class Line:
    """One line of a requirement file."""

    text: str  # the requirement, or the option's value; without comment
    # its location
    file: Path
    number: int
    option: str = ""  # long name of an option; empty for a requirement
    hashes: tuple[str, ...] = ()  # allowed hashes, ``'sha256:…'``
    constraint: bool = False  # whether it only limits versions

    @property
    def shown(self) -> str:
        """Text for messages: addresses without user and password."""
        return _USER_INFO.sub("", f"{self.option} {self.text}".strip())

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {self.shown}"


@dataclass
class Refusals:
    """All refused lines, to report them together."""

    plugin: str
    entries: list[tuple[Line, str, str]] = field(default_factory=list)

    def add(self, line: Line, why: str, remedy: str) -> None:
        """Refuse a line."""
        self.entries.append((line, why, remedy))

    def raise_any(self) -> None:
        """Raise an error that names every refused line."""
        if not self.entries:
            return
        entries = sorted(self.entries, key=lambda entry: (entry[0].file, entry[0].number))
        (line, why, remedy), *others = entries
        listing = f"  {line}\n    {why}"
        if others:
            listing = "\n".join(f"  {line}\n    {why}: {remedy}" for line, why, remedy in entries)
            remedy = "fix these lines as described"
        raise RequirementsError(f"the requirements of {self.plugin} cannot be met:\n{listing}", remedy)


def plugin_requirements(folder: Path | None) -> tuple[Path, ...]:
    """Return the requirement files of a plugin: ``requirements.txt`` in its folder, if it exists."""
    return (folder / FILE_NAME,) if folder is not None and (folder / FILE_NAME).is_file() else ()


def read_lines(files: Sequence[Path], refusals: Refusals) -> list[Line]:
    """Read requirement files and those that they include.

    Included files must be in its folder or below, so that a plugin is complete, and messages never quote other files.
    """
    paths = [Path(file).absolute() for file in files]
    return [line for path in paths for line in _Reader(path.parent.resolve(), refusals).read(path)]


class _Reader:
    def __init__(self, folder: Path, refusals: Refusals) -> None:
        self._folder = folder
        self._refusals = refusals
        self._open: list[Path] = []

    def read(self, file: Path, *, constraint: bool = False) -> Iterator[Line]:
        beginning = f"the requirements of {self._refusals.plugin} cannot be read: {file}"
        try:
            with file.open("rb") as opened:
                content = opened.read(_MAX_BYTES + 1)
        except OSError as error:
            raise RequirementsError(f"{beginning}: {error.strerror}", "check the path") from error
        text = content.decode("utf-8-sig", errors="replace")
        if len(content) > _MAX_BYTES or text.count("\n") > _MAX_LINES:
            problem = f"has more than {_MAX_BYTES:,} bytes or {_MAX_LINES:,} lines"
            raise RequirementsError(f"{beginning} {problem}", "list only what the code imports")
        self._open.append(file.resolve())
        for number, content_of_line in _joined(text):
            yield from self._line(Line(content_of_line, file, number, constraint=constraint))
        self._open.pop()

    def _line(self, line: Line) -> Iterator[Line]:
        if len(line.text) > _MAX_CHARACTERS:
            shortened = replace(line, text=f"{line.text[:60]} …")
            self._refusals.add(shortened, f"a line has at most {_MAX_CHARACTERS:,} characters", "shorten it")
        elif _VARIABLE.search(line.text):
            self._refusals.add(
                line, "environment variables are not expanded", "write the value, or set a variable of pip (PIP_…)"
            )
        elif line.text.startswith("-"):
            yield from self._option(line)
        else:
            # the requirement, then its options with values, in linear time
            starts = [word.start() for word in _WORD.finditer(line.text) if _OPTION.match(line.text, word.start())]
            ends = [*starts, len(line.text)]
            options = [_split_option(line.text[start:end]) for start, end in zip(starts, ends[1:], strict=True)]
            for name in [name for name, _ in options if name != "--hash"]:
                self._refusals.add(line, f"{name} has no effect on wheels", f"leave {name} out")
            hashes = tuple(sorted(value for name, value in options if name == "--hash"))
            yield replace(line, text=line.text[: ends[0]].rstrip(), hashes=hashes)

    def _option(self, line: Line) -> Iterator[Line]:
        name, value = _split_option(line.text)
        line = replace(line, text=value, option=name)
        if name in ("--requirement", "--constraint"):
            path = self._included(line)
            if path is not None and path not in self._open:  # like pip, read a file that includes itself once
                yield from self.read(path, constraint=line.constraint or name == "--constraint")
        elif name == "--editable" and value in (".", "./"):
            self._refusals.add(line, "the plugin itself need not be installed", "leave the line out")
        elif name == "--editable":
            remedy = f"use a released version, or build a wheel:  {wheel_command(value)}"
            self._refusals.add(line, "wheels only: an editable installation would run code here", remedy)
        elif name in _SOURCES and not value.startswith(("https://", "http://")):
            self._refusals.add(line, "it is not on the network", "set PIP_FIND_LINKS or PIP_INDEX_URL")
        elif name in _SOURCES or name in _SWITCHES - _IMPLIED:
            yield line
        elif name not in _IMPLIED:
            unsupported = (f"{name} is not a supported option of requirement files", "leave it out")
            self._refusals.add(line, *_REFUSED.get(name, unsupported))

    def _included(self, line: Line) -> Path | None:
        """The file that a line includes; None if it is refused."""
        path = (line.file.parent / line.text).resolve()
        if "://" in line.text:
            self._refusals.add(line, "a file on the network may change", "put a copy beside this file")
        elif not path.is_relative_to(self._folder):
            self._refusals.add(line, "it is outside of the plugin's folder", "put a copy beside this file")
        elif not path.exists():
            self._refusals.add(line, "the file does not exist", "check the path; it is relative to this file")
        else:
            return path
        return None


def wheel_command(source: str) -> str:
    """Instructions to build a wheel and to make it available."""
    target = shlex.quote(_USER_INFO.sub("", source))
    return (
        f"python -m pip wheel --no-deps --wheel-dir wheels {target}, after you have reviewed its code, "
        "and set PIP_FIND_LINKS to the folder wheels"
    )


def _split_option(text: str) -> tuple[str, str]:
    """Split ``-rfile``, ``-r file``, ``--requirement=file`` into name and value."""
    if text.startswith("--"):
        name, _, value = re.sub(r"[\s=]", "\0", text, count=1).partition("\0")
    else:
        name, value = text[:2], text[2:].lstrip("= ")
    return _LONG.get(name, name), value.strip().strip("\"'")


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their continuations, without comments and blanks, each with its first number."""
    started: int = 0
    pieces: list[str] = []
    for number, raw in enumerate([*text.splitlines(), ""], start=1):
        started = started or number
        if raw.endswith("\\") and not raw.lstrip().startswith("#"):
            pieces += [raw[:-1], " "]
            continue
        content = re.split(r"(?:^|(?<=\s))#", "".join([*pieces, raw]), maxsplit=1)[0].strip()
        if content:
            yield started, content
        started, pieces = 0, []


_PLATFORM = frozenset(
    {"brainscore", "brain-score", "brainscore-core", "brain-score-core", "brainscore-vision", "brain-score-vision"}
    | {"brainio"}
)
_REPOSITORY = re.compile(r"[/:]brain-score/(?:brain-score|brainscore|vision|core|brainio)(?:\.git)?(?:[@/#]|$)")
_FORMER = frozenset(
    {"asynchat", "asyncore", "distutils", "imp", "smtpd"}
)  # removed from the standard library in Python 3.12
_VERSION_CONTROL = ("git+", "hg+", "svn+", "bzr+")


@dataclass(frozen=True)
class Item:
    """A requirement, its line, and the text for pip."""

    requirement: Requirement
    line: Line

    @property
    def name(self) -> str:
        """Canonical name."""
        return canonicalize_name(self.requirement.name)

    @property
    def text(self) -> str:
        """The requirement in canonical form, without its marker, which holds."""
        extras = ",".join(sorted(map(canonicalize_name, self.requirement.extras)))
        versions = ",".join(sorted(map(str, self.requirement.specifier)))
        ending = f" @ {self.requirement.url}" if self.requirement.url else versions
        return f"{self.name}{f'[{extras}]' if extras else ''}{ending}"

    @property
    def identity(self) -> str:
        """Text for pip, with the hashes."""
        return " ".join([self.text, *(f"--hash={value}" for value in self.line.hashes)])

    def met_by(self, installed: Mapping[str, Installed]) -> bool:
        """Whether installed distributions meet it, judged by name and version."""
        distribution = installed.get(self.name)
        if distribution is None or self.requirement.url or self.requirement.extras or self.line.hashes:
            return False
        return self.requirement.specifier.contains(distribution.version, prereleases=True)


@dataclass(frozen=True)
class Wanted:
    """All requirements of a plugin."""

    # requirements, and constraints of versions
    items: tuple[Item, ...]
    constraints: tuple[Item, ...] = ()
    options: tuple[Line, ...] = ()  # options of pip, such as package sources
    # canonical names of packages that the interpreter has from the repository that a requirement names
    met: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()  # lines that were left out, with reasons

    def document(self) -> dict[str, object]:
        """Content for the key, independent of the order of lines."""
        return {
            "requirements": sorted({item.identity for item in self.items}),
            "constraints": sorted({item.identity for item in self.constraints}),
            "options": [f"{line.option} {line.text}".strip() for line in self.options],
            "met": sorted(self.met),
        }


def what_is_wanted(files: Sequence[Path], *, plugin: str, base: Base, installed: Mapping[str, Installed]) -> Wanted:
    """Read requirement files.

    Raises RequirementsError if lines are not valid, or could be met only by building from source; the message lists all
    of them.
    """
    refusals = Refusals(plugin)
    items: dict[str, Item] = {}
    constraints: dict[str, Item] = {}
    met: set[str] = set()
    notes: dict[str, None] = {}
    standard = {canonicalize_name(name) for name in base.standard | _FORMER}
    version = f" {installed['brainscore'].version}" if "brainscore" in installed else ""
    lines = read_lines(files, refusals)
    for line in lines:
        requirement = None if line.option else _parse(line, base, refusals)
        if requirement is None:
            continue
        item, url = Item(requirement, line), requirement.url
        if item.name in _PLATFORM or _REPOSITORY.search(url or ""):
            notes[f"{line}: is the running platform, brainscore{version}"] = None
        elif item.name == "result-caching":
            notes[f"{line}: is contained in the running platform, brainscore{version}"] = None
        elif item.name in standard and url is None:
            notes[f"{line}: is a module of Python's standard library, nothing is installed"] = None
        elif url is not None and _is_from(url, installed.get(item.name)):
            met.add(item.name)
            notes[f"{line}: is installed from there in {base.python}"] = None
        elif url is not None and (problem := _problem_of_address(requirement.name, url, base)):
            refusals.add(line, *problem)
        else:
            (constraints if line.constraint else items).setdefault(item.identity, item)
    refusals.raise_any()
    options = tuple(line for line in lines if line.option)
    return Wanted(tuple(items.values()), tuple(constraints.values()), options, frozenset(met), tuple(notes))


def _parse(line: Line, base: Base, refusals: Refusals) -> Requirement | None:
    """The requirement of a line; None if it is refused, or its marker does not hold."""
    text = line.text
    if text.startswith((*_VERSION_CONTROL, "https://", "http://", "file:")):
        text = _named(text)
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        if line.text.startswith((".", "/")):
            refusals.add(line, "wheels of an index only: it is a path", wheel_command(line.text))
        else:
            why = " ".join(str(error).split("\n")[0].split())
            refusals.add(line, f"this is not a valid requirement: {why}", "write one requirement per line: name==1.2")
        return None
    try:
        return requirement if marker_holds(requirement, base.markers) else None
    except ValueError as error:  # errors of packaging: invalid comparison, version or variable
        why = " ".join(str(error).split())
        refusals.add(line, f"its marker cannot be read: {why}", "correct the marker, which follows the ;")
        return None


def _problem_of_address(name: str, url: str, base: Base) -> tuple[str, str] | None:
    """Why nothing is installed from an address, and the remedy; None for a wheel on the network."""
    address = urllib.parse.urlsplit(url)
    if url.startswith(_VERSION_CONTROL):
        return (
            "wheels only: the content of a repository would have to be built here",
            f"use a released version; or build a wheel: {wheel_command(f'{name} @ {url}')}, and write {name} "
            f"alone; or install it where you score, into {base.prefix}, from which it is then used",
        )
    if not address.path.endswith(".whl"):
        return "wheels only: this is not a wheel", wheel_command(url)
    if address.scheme not in ("https", "http"):
        return f"addresses with {address.scheme}: are not supported", "use https, or PIP_FIND_LINKS"
    return None


def _is_from(url: str, distribution: Installed | None) -> bool:
    """Whether a distribution is installed from this address (PEP 610)."""
    try:
        record = json.loads((distribution.folder / "direct_url.json").read_bytes()) if distribution else {}
        details = record.get("vcs_info") or {}
        address, revision = _address(url)
        same = _address(str(record["url"]))[0] == address
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    commit, asked = str(details.get("commit_id", "")), details.get("requested_revision")
    return same and (not revision or revision == asked or (len(revision) >= 7 and commit.startswith(revision)))


def _named(text: str) -> str:
    """Write a bare address as ``name @ address``; the name is taken from ``#egg=`` or the end of the address."""
    address, _, marker = text.partition(" ;")
    parts = urllib.parse.urlsplit(address)
    last = parts.path.rstrip("/").rpartition("/")[2]
    if egg := urllib.parse.parse_qs(parts.fragment).get("egg"):
        name = egg[0].partition("[")[0]
    elif last.endswith(".whl"):
        name = last.partition("-")[0]
    else:
        name = re.sub(r"[^A-Za-z0-9._-]", "-", last.partition("@")[0].removesuffix(".git")).strip("-._") or "unnamed"
    return f"{name} @ {address}" + (f" ;{marker}" if marker else "")


def _address(url: str) -> tuple[str, str]:
    """Return the canonical address of a repository, and the revision."""
    plain = url.partition("+")[2] if url.startswith(_VERSION_CONTROL) else url
    address = urllib.parse.urlsplit(plain.partition("#")[0])
    path, _, revision = address.path.partition("@")
    host = address.netloc.rpartition("@")[2].lower()
    return f"{host}{path.rstrip('/').removesuffix('.git').lower()}", revision
