"""Requirements of plugins: read requirement files, and determine what to install."""

from __future__ import annotations

import json
import re
import shlex
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from brainscore_core.errors import UserError
from brainscore_core.plugins.environments.base import Base, Installed, marker_holds


class RequirementsError(UserError):
    """Requirements that cannot be met.

    Parameters
    ----------
    message : str
        The plugin, the lines, and the reason.
    remedy : str, optional
        How to fix it.
    plugin : str, optional
        Name of the plugin.
    places : sequence of (path, int), optional
        Files and lines of the requirements that cannot be met.

    Attributes
    ----------
    plugin : str
    places : tuple of (path, int)
        As above.
    """

    def __init__(
        self,
        message: str,
        remedy: str | None = None,
        *,
        plugin: str = "",
        places: Sequence[tuple[Path, int]] = (),
    ) -> None:
        super().__init__(message, remedy)
        self.plugin = plugin
        self.places = tuple(places)


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
        if len(entries) == 1:
            line, why, remedy = entries[0]
            listing = f"  {line}\n    {why}"
        else:
            listing = "\n".join(f"  {line}\n    {why}: {remedy}" for line, why, remedy in entries)
            remedy = "fix these lines as described"
        raise RequirementsError(
            f"the requirements of {self.plugin} cannot be met:\n{listing}",
            remedy=remedy,
            plugin=self.plugin,
            places=[(line.file, line.number) for line, _, _ in entries],
        )


def plugin_requirements(folder: Path | None) -> tuple[Path, ...]:
    """Return the requirement files of a plugin: ``requirements.txt`` in its folder, if it exists."""
    file = folder / FILE_NAME if folder is not None else None
    return (file,) if file is not None and file.is_file() else ()


def read_lines(files: Sequence[Path], refusals: Refusals) -> list[Line]:
    """Read requirement files and those that they include.

    Included files must be in its folder or below, so that a plugin is complete, and messages never quote other files.
    """
    lines: list[Line] = []
    for file in files:
        path = Path(file).absolute()
        reader = _Reader(path.parent.resolve(), refusals)
        lines += reader.read(path, constraint=False)
    return lines


class _Reader:
    def __init__(self, folder: Path, refusals: Refusals) -> None:
        self._folder = folder
        self._refusals = refusals
        self._open: list[Path] = []

    def read(self, file: Path, *, constraint: bool) -> list[Line]:
        try:
            with file.open("rb") as opened:
                content = opened.read(_MAX_BYTES + 1)
        except OSError as error:
            raise self._unreadable(f"{file}: {error.strerror}", "check the path") from error
        text = content.decode("utf-8-sig", errors="replace")
        if len(content) > _MAX_BYTES or text.count("\n") > _MAX_LINES:
            problem = f"{file} has more than {_MAX_BYTES:,} bytes or {_MAX_LINES:,} lines"
            raise self._unreadable(problem, "list only what the code imports")
        self._open.append(file.resolve())
        lines = []
        for number, content_of_line in _joined(text):
            if len(content_of_line) > _MAX_CHARACTERS:
                line = Line(f"{content_of_line[:60]} …", file, number)
                self._refusals.add(line, f"a line has at most {_MAX_CHARACTERS:,} characters", "shorten it")
            else:
                lines += self._line(Line(content_of_line, file, number, constraint=constraint))
        self._open.pop()
        return lines

    def _unreadable(self, problem: str, remedy: str) -> RequirementsError:
        plugin = self._refusals.plugin
        return RequirementsError(
            f"the requirements of {plugin} cannot be read: {problem}", remedy=remedy, plugin=plugin
        )

    def _line(self, line: Line) -> list[Line]:
        if _VARIABLE.search(line.text):
            self._refusals.add(
                line, "environment variables are not expanded", "write the value, or set a variable of pip (PIP_…)"
            )
            return []
        return self._option(line) if line.text.startswith("-") else self._requirement(line)

    def _requirement(self, line: Line) -> list[Line]:
        text, *options = _split_at_options(line.text)
        hashes = []
        for option in options:
            name, _, value = option.partition("=") if "=" in option else option.partition(" ")
            if name == "--hash":
                hashes.append(value.strip())
            else:
                self._refusals.add(line, f"{name} has no effect on wheels", f"leave {name} out")
        return [Line(text, line.file, line.number, hashes=tuple(sorted(hashes)), constraint=line.constraint)]

    def _option(self, line: Line) -> list[Line]:
        name, value = _split_option(line.text)
        option = Line(value, line.file, line.number, option=name, constraint=line.constraint)
        if name in ("--requirement", "--constraint"):
            return self._include(option)
        if name == "--editable":
            self._refuse_editable(option)
        elif name == "--no-binary":
            self._refusals.add(
                option, "wheels only: building from source would run code here", "use a version that has wheels"
            )
        elif name == "--trusted-host":
            self._refusals.add(option, "plugins cannot declare trusted hosts", "set PIP_TRUSTED_HOST if necessary")
        elif name in _IMPLIED:
            pass
        elif name in _SOURCES:
            return self._place(option)
        elif name in _SWITCHES:
            return [option]
        else:
            self._refusals.add(option, f"{name} is not a supported option of requirement files", "leave it out")
        return []

    def _include(self, line: Line) -> list[Line]:
        if "://" in line.text:
            self._refusals.add(line, "a file on the network may change", "put a copy beside this file")
            return []
        path = self.within(line, line.text)
        if path is None or path in self._open:  # like pip, read a file that includes itself once
            return []
        return self.read(path, constraint=line.constraint or line.option == "--constraint")

    def _place(self, line: Line) -> list[Line]:
        if line.text.startswith(("https://", "http://")):
            return [line]
        self._refusals.add(line, "it is not on the network", "set PIP_FIND_LINKS or PIP_INDEX_URL")
        return []

    def _refuse_editable(self, line: Line) -> None:
        if line.text in (".", "./"):
            why, remedy = "the plugin itself need not be installed", "leave the line out"
        else:
            why = "wheels only: an editable installation would run code here"
            remedy = f"use a released version, or build a wheel:  {wheel_command(line.text)}"
        self._refusals.add(line, why, remedy)

    def within(self, line: Line, name: str) -> Path | None:
        """Path of a file that a line names, if it is in the plugin's folder."""
        path = (line.file.parent / name).resolve()
        if not path.is_relative_to(self._folder):
            self._refusals.add(line, "it is outside of the plugin's folder", "put a copy beside this file")
            return None
        if not path.exists():
            self._refusals.add(line, "the file does not exist", "check the path; it is relative to this file")
            return None
        return path


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


def _split_at_options(text: str) -> list[str]:
    """Split a line into its requirement and its options with values, in linear time."""
    starts = [word.start() for word in _WORD.finditer(text) if _OPTION.match(text, word.start())]
    ends = [*starts, len(text)]
    return [text[start:end].rstrip() for start, end in zip([0, *starts], ends, strict=True)]


def _without_comment(line: str) -> str:
    """Remove a comment, which starts with a # at the start of the line or after white space."""
    start = line.find("#")
    while start > 0 and not line[start - 1].isspace():
        start = line.find("#", start + 1)
    return line if start < 0 else line[:start]


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their continuations, without comments and blanks, each with its first number."""
    started: int = 0
    pieces: list[str] = []
    for number, raw in enumerate([*text.splitlines(), ""], start=1):
        started = started or number
        if raw.endswith("\\") and not raw.lstrip().startswith("#"):
            pieces += [raw[:-1], " "]
            continue
        content = _without_comment("".join([*pieces, raw])).strip()
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
    text: str

    @property
    def name(self) -> str:
        """Canonical name."""
        return canonicalize_name(self.requirement.name)

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
            self._notes[f"{line}: is the running platform, {self._platform()}"] = None
        elif name == "result-caching":
            self._notes[f"{line}: is contained in the running platform, {self._platform()}"] = None
        elif name in self._standard and requirement.url is None:
            self._notes[f"{line}: is a module of Python's standard library, nothing is installed"] = None
        elif requirement.url is not None:
            self._add_url(requirement, line)
        else:
            self._keep(Item(requirement, line, _plain(requirement)))

    def _applies(self, requirement: Requirement, line: Line) -> bool:
        try:
            return marker_holds(requirement, self._base.markers)
        except ValueError as error:  # errors of packaging: invalid comparison, version or variable
            why = " ".join(str(error).split())
            self._refusals.add(line, f"its marker cannot be read: {why}", "correct the marker, which follows the ;")
            return False

    def _platform(self) -> str:
        distribution = self._installed.get("brainscore")
        return f"brainscore {distribution.version}" if distribution is not None else "brainscore"

    def _keep(self, item: Item) -> None:
        where = self._constraints if item.line.constraint else self._items
        where.setdefault(item.identity, item)

    def _parse(self, line: Line) -> Requirement | None:
        text = line.text
        if text.startswith(_VERSION_CONTROL) or text.startswith(("https://", "http://", "file:")):
            text = _named(text)
        try:
            return Requirement(text)
        except InvalidRequirement as error:
            if line.text.startswith((".", "/")):
                self._refusals.add(line, "wheels of an index only: it is a path", wheel_command(line.text))
            else:
                why = " ".join(str(error).split("\n")[0].split())
                self._refusals.add(
                    line, f"this is not a valid requirement: {why}", "write one requirement per line: name==1.2"
                )
            return None

    def _add_url(self, requirement: Requirement, line: Line) -> None:
        url = requirement.url or ""
        if self._has_from(requirement):
            self._met.add(canonicalize_name(requirement.name))
            self._notes[f"{line}: is installed from there in {self._base.python}"] = None
            return
        address = urllib.parse.urlsplit(url)
        if url.startswith(_VERSION_CONTROL):
            asked = f"{requirement.name} @ {url}"
            self._refusals.add(
                line,
                "wheels only: the content of a repository would have to be built here",
                f"use a released version; or build a wheel: {wheel_command(asked)}, and write {requirement.name} "
                f"alone; or install it where you score, into {self._base.prefix}, from which it is then used",
            )
        elif not address.path.endswith(".whl"):
            self._refusals.add(line, "wheels only: this is not a wheel", wheel_command(url))
        elif address.scheme in ("https", "http"):
            self._keep(Item(requirement, line, _plain(requirement)))
        else:
            self._refusals.add(
                line, f"addresses with {address.scheme}: are not supported", "use https, or PIP_FIND_LINKS"
            )

    def _has_from(self, requirement: Requirement) -> bool:
        """Whether the interpreter has it from the same address (PEP 610)."""
        distribution = self._installed.get(canonicalize_name(requirement.name))
        if distribution is None:
            return False
        try:
            record = json.loads((distribution.folder / "direct_url.json").read_bytes())
            details = record.get("vcs_info") or {}
            address, revision = _address(requirement.url or "")
            same = _address(str(record["url"]))[0] == address
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False
        commit, asked = str(details.get("commit_id", "")), details.get("requested_revision")
        return same and (not revision or revision == asked or (len(revision) >= 7 and commit.startswith(revision)))


def _plain(requirement: Requirement) -> str:
    """Format a requirement in canonical form, without its marker, which holds."""
    extras = f"[{','.join(sorted(map(canonicalize_name, requirement.extras)))}]" if requirement.extras else ""
    ending = f" @ {requirement.url}" if requirement.url else ",".join(sorted(map(str, requirement.specifier)))
    return f"{canonicalize_name(requirement.name)}{extras}{ending}"


def _named(text: str) -> str:
    """Write a bare address as ``name @ address``; the name is taken from ``#egg=`` or the end of the address."""
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
    """Return the canonical address of a repository, and the revision."""
    plain = url.partition("+")[2] if url.startswith(_VERSION_CONTROL) else url
    address = urllib.parse.urlsplit(plain.partition("#")[0])
    path, _, revision = address.path.partition("@")
    host = address.netloc.rpartition("@")[2].lower()
    return f"{host}{path.rstrip('/').removesuffix('.git').lower()}", revision
