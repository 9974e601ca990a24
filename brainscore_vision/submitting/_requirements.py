"""What a plugin requires: released packages that have wheels, nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from brainscore_core.plugins.environments import RequirementsError
from brainscore_core.plugins.environments._lines import FILE_NAME, Line, Refusals, read_lines
from brainscore_vision.submitting._findings import Finding, Severity
from brainscore_vision.submitting._package import Package, SubmittedPlugin

__all__ = ["check_requirements"]

_MOST_LINES = 200
_OURS = frozenset(
    {"brainscore", "brain-score", "brainscore-core", "brain-score-core", "brainscore-vision", "brain-score-vision"}
    | {"brainio"}
)
_OUR_REPOSITORY = re.compile(r"[/:]brain-score/(?:brain-score|brainscore|vision|core|brainio)(?:\.git)?(?:[@/#\s]|$)")
_RELEASED = "name a released version that has wheels: name==1.2"


def check_requirements(package: Package, plugin: SubmittedPlugin, root: Path) -> Iterator[Finding]:
    """Find lines that are not met on the site: repositories, addresses, paths, options, what is no requirement.

    Parameters
    ----------
    package : Package
        The submission.
    plugin : SubmittedPlugin
        One of its plugins.
    root : Path
        Where its files are written.
    """
    path = f"{plugin.path}/{FILE_NAME}"
    if path not in package.files:
        for other in package.of(plugin):
            if other.rpartition("/")[2] in ("setup.py", "environment.yml", "environment.yaml", "pyproject.toml"):
                what = f"{other.rpartition('/')[2]} is not read"
                yield Finding("warning", "requirements", other, None, what, f"name what is required in {FILE_NAME}")
        return
    refusals = Refusals(plugin.path)
    try:
        lines = read_lines([root / path], refusals)
    except (RequirementsError, OSError, RecursionError) as error:
        yield Finding("error", "requirements", path, None, str(error).splitlines()[0], "write one requirement a line")
        return
    for line, why, remedy in refusals.found:
        yield Finding("error", "requirements", _place(line, root), line.number, f"{line.shown}: {why}", remedy)
    if len(lines) > _MOST_LINES:
        what = f"{len(lines)} lines of requirements; {_MOST_LINES} are allowed"
        yield Finding("error", "requirements", path, None, what, "name only what the code imports")
        return
    for line in lines:
        for severity, what, remedy in _line(line):
            found = f"{line.shown}: {what}"
            yield Finding(severity, "requirements", _place(line, root), line.number, found, remedy)


def _place(line: Line, root: Path) -> str:
    try:
        return line.file.relative_to(root.absolute()).as_posix()
    except ValueError:
        return line.file.name


def _line(line: Line) -> Iterator[tuple[Severity, str, str]]:
    if line.option:
        yield "error", "options of pip are for the site to say", "leave the line out"
        return
    if _OUR_REPOSITORY.search(line.text):
        yield "note", "is the platform, which is there", "leave the line out"
        return
    if line.text.startswith((".", "/", "~")) or line.text.endswith((".whl", ".tar.gz", ".zip")):
        yield "error", "a path or a file is no released package", _RELEASED
        return
    if "://" in line.text or line.text.startswith("git+"):
        yield "error", "addresses and repositories are not installed: only wheels of the package index are", _RELEASED
        return
    try:
        requirement = Requirement(line.text)
    except InvalidRequirement as error:
        why = " ".join(str(error).split("\n")[0].split())
        yield "error", f"this is no requirement: {why}", "write one requirement a line: name==1.2"
        return
    if requirement.url is not None:
        yield "error", "addresses are not installed: only wheels of the package index are", _RELEASED
    elif canonicalize_name(requirement.name) in _OURS:
        yield "note", "is the platform, which is there", "leave the line out"
