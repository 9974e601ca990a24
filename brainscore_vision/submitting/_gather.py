"""Turns what was sent into a package: what belongs there, in its place; the rest is left out, and said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_vision.submitting._findings import Finding, in_order
from brainscore_vision.submitting._kept import is_odd, sort_of
from brainscore_vision.submitting._layout import KIND_FOLDERS, Plan, plan
from brainscore_vision.submitting._limits import Limits
from brainscore_vision.submitting._package import Package
from brainscore_vision.submitting._source import measured
from brainscore_vision.submitting._tree import Budget, Tree

__all__ = ["gather"]

_PACKAGE = "brainscore_vision"
_SHOWN = 8
_UPLOAD = "upload it on the site, and load it from there by its hash; see the page on uploads"
_POINTER = b"version https://git-lfs.github.com/spec/"


def gather(
    tree: Tree,
    *,
    limits: Limits,
    name: str = "",
    address: str = "",
    commit: str = "",
    only: Iterable[str] | None = None,
) -> Package:
    """Read a package.

    Parameters
    ----------
    tree : Tree
        What there is.
    limits : Limits
        How much may be read.
    name : str
        What a plugin without a folder of its own is called.
    address, commit : str
        Of the repository.
    only : iterable of str, optional
        Only these plugins' folders, such as ``brainscore_vision/models/mine``.
    """
    names = [path for path in tree.names if sort_of(path) != "junk"]
    findings: list[Finding] = []
    if junk := len(tree.names) - len(names):
        findings.append(Finding("note", "left out", "", None, f"{junk} files that programs leave behind", ""))
    top = _platform(names)
    if only is not None:
        folders = tuple(f"{folder}/" for folder in only)
        names = [path for path in names if path.startswith(folders)]
    elif top is not None:
        names = _changed(tree, names, top)
    starts = tree.read([path for path in names if path.rpartition("/")[2] == "__init__.py"], Budget(limits))
    # what is too large is left out below; looking at it would take long
    starts = {path: content if len(content) <= limits.source else b"" for path, content in starts.items()}
    planned = plan(names, starts, name=name)
    if len(planned.plugins) > limits.plugins:
        raise UserError(
            f"it holds {len(planned.plugins)} plugins; {limits.plugins} are allowed",
            remedy="send those that are yours and new; of a fork of the platform, send a pull request",
        )
    _refuse_names(planned.files)
    findings += planned.findings
    if top is not None or only is not None:  # everybody knows where plugins stand in the platform
        findings = [one for one in findings if one.check != "layout" or one.severity == "error"]
    else:
        findings += _outside(planned.outside)
    findings += _links(tree, planned)
    files, left = _contents(tree, planned, Budget(limits))
    folders_of = {plugin: "/".join(folder) for plugin, folder in planned.plugins.items()}
    return Package(dict(sorted(files.items())), in_order([*findings, *left]), address, commit, folders_of)


def _platform(names: Iterable[str]) -> str | None:
    """Where the platform's package stands in a checkout of it, with ``/``; None where it is none."""
    for path in names:
        if path.endswith(f"{_PACKAGE}/model_interface.py"):
            return path.removesuffix("model_interface.py")
    return None


def _changed(tree: Tree, names: list[str], top: str) -> list[str]:
    """In a checkout of the platform: the plugins that differ from the platform's own."""
    own = Path(__file__).resolve().parent.parent
    plugins: dict[str, list[str]] = defaultdict(list)
    for path in names:
        parts = path.removeprefix(top).split("/")
        if path.startswith(top) and len(parts) > 2 and parts[0] in KIND_FOLDERS and parts[1][0] not in "_.":
            plugins[f"{parts[0]}/{parts[1]}"].append(path)
    known = {path: own / path.removeprefix(top) for paths in plugins.values() for path in paths}
    unlike = tree.unlike(known)
    changed = [path for paths in plugins.values() if unlike.intersection(paths) for path in paths]
    if not changed:
        raise UserError(
            "it is a checkout of the platform, and all plugins in it are the platform's own",
            remedy=f"name the plugin's folder, such as {_PACKAGE}/models/mine; or commit what is new",
        )
    return changed


def _refuse_names(files: Mapping[str, str]) -> None:
    seen: dict[str, str] = {}
    for path in files:
        if is_odd(path):
            raise UserError(
                f"{path!a} has characters that some systems refuse, or that nobody sees",
                remedy="rename it: letters, digits, '_', '-' and '.'",
            )
        other = seen.setdefault(path.casefold(), path)
        if other != path:
            raise UserError(
                f"{other!r} and {path!r} differ in case alone, which some systems cannot tell apart",
                remedy="rename one of them",
            )


def _outside(paths: list[str]) -> list[Finding]:
    """What belongs to no plugin, but for files that only mark folders."""
    told = [path for path in paths if path.rpartition("/")[2] != "__init__.py"]
    if not told:
        return []
    shown = ", ".join(told[:_SHOWN]) + (f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else "")
    remedy = "nothing, unless a plugin needs them: then put them into its folder"
    return [Finding("note", "left out", "", None, f"not in a plugin's folder, and left out: {shown}", remedy)]


def _links(tree: Tree, planned: Plan) -> list[Finding]:
    what = "a link, or another repository, is not followed"
    places = [place for path in tree.links if (place := planned.place(path)) is not None]
    return [Finding("error", "link", place, None, what, "put the file itself there") for place in places]


def _contents(tree: Tree, planned: Plan, budget: Budget) -> tuple[dict[str, bytes], list[Finding]]:
    wanted = {place: path for place, path in planned.files.items() if sort_of(place) == "file"}
    read = tree.read(wanted.values(), budget)
    files, left, parts = {}, [], 0
    for place, path in wanted.items():
        content = read[path]
        count, why = _too_much_python(content, budget.limits) if place.endswith(".py") else (0, "")
        parts += count
        if parts > budget.limits.all_nodes:
            raise UserError("there is too much Python in it to be looked at", remedy="send what the plugins need alone")
        if len(content) > budget.limits.file:
            size = f"it is larger than {budget.limits.file / 1e6:g} MB, and left out"
            left.append(Finding("error", "size", place, None, size, _UPLOAD))
        elif why:
            remedy = "keep data in files of their own, such as CSV or JSON, and split the code"
            left.append(Finding("error", "size", place, None, f"{why}; it is left out", remedy))
        elif content.startswith(_POINTER):
            what = "it is a pointer of Git LFS in place of the file, and left out"
            left.append(Finding("error", "data in code", place, None, what, _UPLOAD))
        else:
            files[place] = content
    for place in planned.files:
        if sort_of(place) == "data":
            left.append(_data(place, files))
        elif sort_of(place) == "program":
            what = "compiled programs are not taken, and left out"
            left.append(
                Finding("error", "program", place, None, what, "name a package with wheels in requirements.txt")
            )
    return files, left


def _too_much_python(content: bytes, limits: Limits) -> tuple[int, str]:
    """Parts of a file of Python, and why it is not looked at: everything that looks takes time for each of them."""
    if len(content) > limits.source:
        return 0, f"it is larger than {limits.source / 1e6:g} MB of Python"
    count, depth = measured(content)
    if count > limits.nodes:
        return count, "it is too long for a file of Python"
    return count, "its expressions are nested too deeply" if depth > limits.depth else ""


def _data(place: str, files: Mapping[str, bytes]) -> Finding:
    folder, name = "/".join(place.split("/")[:2]) + "/", place.rpartition("/")[2].encode()
    if any(path.startswith(folder) and name in content for path, content in files.items()):
        what = "data and weights are not taken with the code; it is left out, and the plugin names it"
        return Finding("error", "data in code", place, None, what, _UPLOAD)
    what = "data and weights are not taken with the code; it is left out"
    return Finding("warning", "data in code", place, None, what, _UPLOAD)
