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
_COMMENT = re.compile(r"(^|\s+)#.*$")
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")
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
            text = file.read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            raise RequirementsError(
                f"the requirements of {self._refusals.plugin} cannot be read: {file}: {error.strerror}",
                remedy="check the path",
                plugin=self._refusals.plugin,
            ) from error
        self._open.append(file.resolve())
        lines = []
        for number, content in _joined(text):
            lines += self._line(Line(content, file, number, constraint=constraint))
        self._open.pop()
        return lines

    def _line(self, line: Line) -> list[Line]:
        if _VARIABLE.search(line.text):
            self._refusals.add(
                line, "environment variables are not filled in", "write the value, or set it where pip reads it (PIP_…)"
            )
            return []
        return self._option(line) if line.text.startswith("-") else self._requirement(line)

    def _requirement(self, line: Line) -> list[Line]:
        text, *options = re.split(r"\s+(?=--?[a-z])", line.text)
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


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines with what a backslash continues, without comments and blanks; each with its first number."""
    started, parts = 0, ""
    for number, raw in enumerate([*text.splitlines(), ""], start=1):
        started = started or number
        if raw.endswith("\\") and not raw.lstrip().startswith("#"):
            parts += raw[:-1] + " "
            continue
        content = _COMMENT.sub("", parts + raw).strip()
        if content:
            yield started, content
        started, parts = 0, ""
