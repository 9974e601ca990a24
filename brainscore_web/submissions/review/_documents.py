"""Rules of the checklist about data and documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from brainscore_web.submissions.models import PluginKind, Step
from brainscore_web.submissions.review._found import Found, judged, no, yes

if TYPE_CHECKING:
    from brainscore_web.submissions.review.checklist import Material

__all__ = ["ALWAYS", "DATA", "DOCUMENTATION"]

_DATA, _CHECK = str(PluginKind.DATA), str(Step.Kind.CHECK)
_SCORE = re.compile(r"\b(?:score|ceiling|expected|alexnet)\b[^\n]{0,80}?\d{0,9}\.\d{1,20}", re.IGNORECASE)
_SHORT = 80
_LOADERS = ("load_stimulus_set_from", "load_assembly_from", "load_file", "load_folder", "fetch", "package")
_NAN = ("nan", "missing values")


def _uploads(material: Material, remark: Callable[[Mapping[str, str]], bool], fine: str) -> list[Found]:
    found = []
    for one in material.uploads:
        name = f"{one.upload.identifier}" if not one.hidden else "a private upload of somebody else"
        remarks = [said for said in one.findings if remark(said)]
        if not one.accepted:
            found.append(no(f"{name} is {one.upload.state}"))
        elif remarks:
            found += [judged(f"{name}: {said.get('check', '')}: {said.get('culprit', '')}") for said in remarks]
        else:
            found.append(judged(name) if one.hidden else yes(f"{name}: {fine}"))
    return found


def _stimuli(material: Material) -> list[Found]:
    found = _uploads(
        material,
        lambda said: "stimul" in f"{said.get('check', '')}".lower() or "file" in f"{said.get('check', '')}".lower(),
        "checked when it was uploaded",
    )
    return found + material.ran("its stimulus ids are unique", "its files are there", kind=_DATA) or [
        judged("the code names no upload of this site: ids and files were not checked here")
    ]


def _values(material: Material) -> list[Found]:
    found = _uploads(
        material,
        lambda said: any(word in f"{said.get('check', '')}".lower() for word in _NAN),
        "no value is missing, as its upload's checks say",
    )
    return found + material.ran("its values are there", kind=_DATA) or [
        judged("the code names no upload of this site: values were not checked here")
    ]


def _hashes(material: Material) -> list[Found]:
    found = [
        yes(f"{file.name} is in storage with this hash" if not one.hidden else "a file is in storage with this hash")
        for one in material.uploads
        if one.accepted
        for file in one.files
    ]
    fetched = material.result(_CHECK).get("files")
    for file in fetched if isinstance(fetched, list) else ():
        if isinstance(file, dict):
            address, note = str(file.get("url", "")), str(file.get("note") or "")
            said = f"{address}: {note}" if note else address
            verified = file.get("verified")
            found.append(
                yes(f"{said} was fetched and compared") if verified else no(said) if verified is False else judged(said)
            )
    found += material.ran("what is fetched has its sha1", kind=_DATA)
    return found or [judged("the code names no file with a hash")]


def _registration(material: Material) -> list[Found]:
    found = []
    for name, code in material.data.items():
        registered = [one for plugin, one in material.registered(_DATA) if plugin == name]
        loaders = [call for call in code.calls if call.name.startswith(_LOADERS)]
        if not registered:
            found.append(no(f"{name} registers nothing"))
        elif not loaders:
            found.append(judged(f"{name}: registered, but by none of the usual loaders"))
        found += [yes(call.name, call.path, call.line) for call in loaders[:6] if registered]
    return found or [judged("there is no data plugin: the data are registered elsewhere")]


def _comments(material: Material) -> list[Found]:
    codes = [*material.benchmarks.values(), *material.data.values()]
    functions, documented = sum(code.functions for code in codes), sum(code.documented for code in codes)
    found = [judged(f"{documented} of {functions} classes and functions have a docstring")]
    return found + [no(f"{path} cannot be read as Python", path) for code in codes for path in code.unread]


def _description(material: Material) -> list[Found]:
    text = material.note.strip()
    if not text:
        return [no("the submitter says nothing about it")]
    if len(text) < _SHORT:
        return [judged(f"{len(text)} characters: what it measures, where the data are from, how it was tested?")]
    wanted = {
        "what it measures": r"descri|measur|evaluat",
        "data": r"data|stimul|image|recording",
        "tests": r"test|pass",
    }
    missing = [name for name, words in wanted.items() if not re.search(words, text, re.IGNORECASE)]
    return [judged(f"nothing about: {', '.join(missing)}")] if missing else [yes(f"{len(text)} characters")]


def _expected(material: Material) -> list[Found]:
    found = _SCORE.search(material.note)
    said = [yes(f"“{found.group()}”")] if found else []
    ran = material.ran("its tests know a reference score")
    return said or ran or [no("no expected score of a reference model is given")]


DATA: Mapping[str, Callable[[Material], list[Found]]] = {
    "Stimulus set has unique IDs and all files exist": _stimuli,
    "Data assembly has no NaN values": _values,
    "Data is uploaded with correct SHA hashes": _hashes,
    "Data registration includes proper loader functions": _registration,
}
DOCUMENTATION: Mapping[str, Callable[[Material], list[Found]]] = {
    "Code is well-commented": _comments,
    "Description is complete": _description,
    "Expected scores documented for reference model": _expected,
}
ALWAYS = frozenset({"Code is well-commented", "Description is complete"})
"""What counts for every submission."""
