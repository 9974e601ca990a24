"""Requirement files, line by line, as pip reads them; nothing is resolved here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from brainscore_core.plugins.environments._errors import RequirementsError

__all__ = ["FILE_NAME", "Line", "Refusals", "plugin_requirements", "read_lines"]

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
