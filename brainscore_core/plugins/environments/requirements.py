"""Requirements of plugins: files read line by line, and what of them is to be installed."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest
from brainscore_core.plugins.environments.base import Base, Installed, marker_holds

__all__ = [
    "FILE_NAME",
    "Item",
    "Line",
    "Refusals",
    "RequirementsError",
    "Wanted",
    "plugin_requirements",
    "read_lines",
    "what_is_wanted",
]


class RequirementsError(UserError):
    """Requirements that cannot be met.

    Parameters
    ----------
    message : str
        Which plugin, which lines, and why.
    remedy : str, optional
        What to do about it.
    plugin : str, optional
        Whose requirements they are.
    places : sequence of (path, int), optional
        Files and lines that ask for what cannot be had.
    resolver : str, optional
        What pip said, in short.

    Attributes
    ----------
    plugin : str
    places : tuple of (path, int)
    resolver : str
        As above.
    """

    def __init__(
        self,
        message: str,
        remedy: str | None = None,
        *,
        plugin: str = "",
        places: Sequence[tuple[Path, int]] = (),
        resolver: str = "",
    ) -> None:
        super().__init__(message, remedy)
        self.plugin = plugin
        self.places = tuple(places)
        self.resolver = resolver


FILE_NAME = "requirements.txt"
_MOST_BYTES = 100_000  # of one file
_MOST_LINES = 2_000  # of one file
_MOST_CHARACTERS = 2_000  # of one line, with what a backslash continues
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
_PLACES = frozenset({"--index-url", "--extra-index-url", "--find-links"})
_SWITCHES = frozenset({"--no-index", "--pre", "--prefer-binary", "--require-hashes"})
_IMPLIED = frozenset({"--only-binary", "--prefer-binary"})  # only wheels are used in any case


@dataclass(frozen=True)
class Line:
    """One line of a requirement file.

    Attributes
    ----------
    text : str
        The requirement, or the option's value; without comment.
    file, number : Path, int
        Where it stands.
    option : str
        Name of an option, written out; empty for a requirement.
    hashes : tuple of str
        ``'sha256:…'``, what may be installed.
    constraint : bool
        Whether it only limits versions.
    """

    text: str
    file: Path
    number: int
    option: str = ""
    hashes: tuple[str, ...] = ()
    constraint: bool = False

    @property
    def shown(self) -> str:
        """As it may be shown: addresses without user and password."""
        return _USER_INFO.sub("", f"{self.option} {self.text}".strip())

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {self.shown}"


@dataclass
class Refusals:
    """Lines that are refused, all of them, to be shown at once."""

    plugin: str
    found: list[tuple[Line, str, str]] = field(default_factory=list)

    def add(self, line: Line, why: str, remedy: str) -> None:
        """Refuse a line."""
        self.found.append((line, why, remedy))

    def raise_any(self) -> None:
        """Raise an error that names every refused line."""
        if not self.found:
            return
        found = sorted(self.found, key=lambda refused: (refused[0].file, refused[0].number))
        if len(found) == 1:
            line, why, remedy = found[0]
            shown = f"  {line}\n    {why}"
        else:
            shown = "\n".join(f"  {line}\n    {why}: {remedy}" for line, why, remedy in found)
            remedy = "mend these lines, each as it says"
        raise RequirementsError(
            f"the requirements of {self.plugin} cannot be met:\n{shown}",
            remedy=remedy,
            plugin=self.plugin,
            places=[(line.file, line.number) for line, _, _ in found],
        )


def plugin_requirements(folder: Path | None) -> tuple[Path, ...]:
    """Name the requirement files of a plugin: ``requirements.txt`` in its folder, or none."""
    file = folder / FILE_NAME if folder is not None else None
    return (file,) if file is not None and file.is_file() else ()


def read_lines(files: Sequence[Path], refusals: Refusals) -> list[Line]:
    """Read requirement files and those that they include.

    What a file includes must lie in its folder or below: a plugin holds all that it needs, and a message never
    quotes another file.
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
                content = opened.read(_MOST_BYTES + 1)
        except OSError as error:
            raise self._unreadable(f"{file}: {error.strerror}", "check the path") from error
        text = content.decode("utf-8-sig", errors="replace")
        if len(content) > _MOST_BYTES or text.count("\n") > _MOST_LINES:
            what = f"{file} has more than {_MOST_BYTES:,} bytes or {_MOST_LINES:,} lines"
            raise self._unreadable(what, "name only what the code imports")
        self._open.append(file.resolve())
        lines = []
        for number, content_of_line in _joined(text):
            if len(content_of_line) > _MOST_CHARACTERS:
                line = Line(f"{content_of_line[:60]} …", file, number)
                self._refusals.add(line, f"a line has at most {_MOST_CHARACTERS:,} characters", "shorten it")
            else:
                lines += self._line(Line(content_of_line, file, number, constraint=constraint))
        self._open.pop()
        return lines

    def _unreadable(self, what: str, remedy: str) -> RequirementsError:
        plugin = self._refusals.plugin
        return RequirementsError(f"the requirements of {plugin} cannot be read: {what}", remedy=remedy, plugin=plugin)

    def _line(self, line: Line) -> list[Line]:
        if _VARIABLE.search(line.text):
            self._refusals.add(
                line, "environment variables are not filled in", "write the value, or set it where pip reads it (PIP_…)"
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
                option, "wheels only: what builds from source runs its code here", "name a version that has wheels"
            )
        elif name == "--trusted-host":
            self._refusals.add(option, "whom to trust is for who runs this to say", "set PIP_TRUSTED_HOST, if you must")
        elif name in _IMPLIED:
            pass
        elif name in _PLACES:
            return self._place(option)
        elif name in _SWITCHES:
            return [option]
        else:
            self._refusals.add(option, f"{name} is no option of requirement files that is known here", "leave it out")
        return []

    def _include(self, line: Line) -> list[Line]:
        if "://" in line.text:
            self._refusals.add(line, "a file on the network may change", "put a copy beside this file")
            return []
        path = self.within(line, line.text)
        if path is None or path in self._open:  # pip, too, reads a file that includes itself once
            return []
        return self.read(path, constraint=line.constraint or line.option == "--constraint")

    def _place(self, line: Line) -> list[Line]:
        if line.text.startswith(("https://", "http://")):
            return [line]
        if line.option == "--find-links" and "://" not in line.text:
            path = self.within(line, line.text)
            return [] if path is None else [Line(str(path), line.file, line.number, option=line.option)]
        self._refusals.add(
            line, "it is neither on the network nor in the plugin's folder", "set PIP_FIND_LINKS or PIP_INDEX_URL"
        )
        return []

    def _refuse_editable(self, line: Line) -> None:
        if line.text in (".", "./"):
            why, remedy = "the plugin itself is found without being installed", "leave the line out"
        else:
            why = "wheels only: an editable installation runs its code here"
            remedy = f"name a released version, or build a wheel: {wheel_command(line.text)}"
        self._refusals.add(line, why, remedy)

    def within(self, line: Line, name: str) -> Path | None:
        """Path of a file that a line names, where it lies in the plugin's folder."""
        path = (line.file.parent / name).resolve()
        if not path.is_relative_to(self._folder):
            self._refusals.add(line, "it lies outside of the plugin's folder", "put a copy beside this file")
            return None
        if not path.exists():
            self._refusals.add(line, "there is no such file", "check the path; it is relative to this file")
            return None
        return path


def wheel_command(what: str) -> str:
    """Command that builds a wheel, and where to name it."""
    target = shlex.quote(_USER_INFO.sub("", what))
    return (
        f"python -m pip wheel --no-deps --wheel-dir wheels {target}, after you have looked at its code, "
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
    """The requirement of a line, and each of its options with its value. The time is linear in the length."""
    starts = [word.start() for word in _WORD.finditer(text) if _OPTION.match(text, word.start())]
    ends = [*starts, len(text)]
    return [text[start:end].rstrip() for start, end in zip([0, *starts], ends, strict=True)]


def _without_comment(line: str) -> str:
    """A line without what follows a # at its start or after white space."""
    place = line.find("#")
    while place > 0 and not line[place - 1].isspace():
        place = line.find("#", place + 1)
    return line if place < 0 else line[:place]


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines with what a backslash continues, without comments and blanks; each with its first number."""
    started: int = 0
    parts: list[str] = []
    for number, raw in enumerate([*text.splitlines(), ""], start=1):
        started = started or number
        if raw.endswith("\\") and not raw.lstrip().startswith("#"):
            parts += [raw[:-1], " "]
            continue
        content = _without_comment("".join([*parts, raw])).strip()
        if content:
            yield started, content
        started, parts = 0, []


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
