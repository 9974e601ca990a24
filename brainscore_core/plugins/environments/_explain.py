"""What pip said, in short, and which lines of the plugin it is about."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from packaging.utils import canonicalize_name

from brainscore_core.plugins.environments._base import Base
from brainscore_core.plugins.environments._errors import RequirementsError
from brainscore_core.plugins.environments._pip import ASKED, Outcome
from brainscore_core.plugins.environments._wanted import Item, Wanted

__all__ = ["explain", "unmatched"]

_NAME = r"([A-Za-z0-9][A-Za-z0-9._-]*)"
_NO_CONNECTION = re.compile(
    r"Retrying \(Retry\(|Could not fetch URL|Connection(?: to \S+ timed out| refused|Error)|"
    r"NewConnectionError|Name or service not known|Temporary failure in name resolution|Max retries exceeded"
)
_ASKED = re.compile(rf"The user requested (?!\(constraint\)){_NAME}")
_HELD = re.compile(rf"The user requested \(constraint\) {_NAME}==(\S+)")
_LINE = re.compile(rf"-r {re.escape(ASKED)} \(line (\d+)\)")
_FROM_LINE = re.compile(rf" \(from {_LINE.pattern}\)|->{_LINE.pattern}")
_UNMATCHED = re.compile(rf"(?:No matching distribution found for|satisfies the requirement) {_NAME}")
_ONLY_SOURCES = re.compile(r"No sources permitted for ([^\s:]+)")
_REQUIRED_BY = re.compile(rf"\(from {_NAME}")
_SHOWN = 12  # lines of pip's message


class _Reading(NamedTuple):
    """What pip's message is about."""

    items: list[Item]
    text: str
    missing: Sequence[str]
    held: Mapping[str, str]
    only_sources: list[str]


def explain(outcome: Outcome, wanted: Wanted, *, plugin: str, base: Base, held: Mapping[str, str]) -> RequirementsError:
    """Make an error of what pip said.

    Parameters
    ----------
    outcome : Outcome
        Of pip.
    wanted : Wanted
        What was asked for.
    plugin : str
        Whose requirements they are.
    base : Base
        The interpreter.
    held : mapping
        Versions that cannot be other ones.
    """
    reading = _read(outcome, wanted, held)
    items = reading.items or list(wanted.items)
    lines = "\n".join(f"  {item.line}" for item in items)
    return RequirementsError(
        f"the requirements of {plugin} cannot be met:\n{lines}\npip says:\n{_indented(reading.text)}",
        remedy="\n".join(_remedies(reading, outcome, base, items)),
        plugin=plugin,
        places=[(item.line.file, item.line.number) for item in items],
        resolver=reading.text,
    )


def _unreachable(outcome: Outcome) -> bool:
    """Whether an index that pip asked did not answer."""
    return bool(_NO_CONNECTION.search(outcome.log))


def unmatched(outcome: Outcome) -> list[str]:
    """Names, in canonical form, of which pip found no version that is asked for."""
    return list(dict.fromkeys(canonicalize_name(name) for name in _UNMATCHED.findall(outcome.said)))


def _read(outcome: Outcome, wanted: Wanted, held: Mapping[str, str]) -> _Reading:
    full = _in_short(outcome.said)
    texts = {number: item.text for number, item in enumerate(wanted.items, start=1)}
    text = _LINE.sub(lambda found: texts.get(int(found[1]), found[0]), _FROM_LINE.sub("", full))
    missing = unmatched(outcome)
    sources = {canonicalize_name(name) for name in _ONLY_SOURCES.findall(outcome.log)}
    limited = {str(canonicalize_name(name)): version for name, version in _HELD.findall(text)}
    limits = {name: version for name, version in limited.items() if name in held}
    return _Reading(
        _items(full, text, missing, wanted), text, missing, limits, [name for name in missing if name in sources]
    )


def _items(full: str, text: str, missing: Sequence[str], wanted: Wanted) -> list[Item]:
    """Requirements that pip's message is about, in their order."""
    named: set[str] = {canonicalize_name(name) for pattern in (_ASKED, _REQUIRED_BY) for name in pattern.findall(text)}
    numbers = {int(number) for number in _LINE.findall(full)}
    named |= set(missing)
    head = re.search(r"Cannot install (.+?) because", full, re.DOTALL)
    if head:
        words = re.findall(_NAME, _LINE.sub("", head[1]))
        named |= {canonicalize_name(word) for word in words}
    return [item for number, item in enumerate(wanted.items, start=1) if item.name in named or number in numbers]


def _in_short(said: str) -> str:
    """Pip's errors and its account of the conflict, without progress and general advice."""
    kept = []
    inside = False
    for line in said.splitlines():
        plain = line.rstrip()
        if plain.startswith(("To fix this you could", "[notice]", "For further information", "hint:")):
            inside = False
        elif plain.startswith("ERROR: ResolutionImpossible"):
            continue
        elif plain.startswith("ERROR:"):
            kept.append(plain.removeprefix("ERROR:").strip())
            inside = True
        elif plain.startswith("The conflict is caused by"):
            kept.append(plain)
            inside = True
        elif inside and plain.startswith(("    ", "\t")):
            kept.append(plain)
        elif plain:
            inside = False
    kept = list(dict.fromkeys(kept)) or [line.strip() for line in said.splitlines()[-3:] if line.strip()]
    more = len(kept) - _SHOWN
    return "\n".join(kept[:_SHOWN] + ([f"… and {more} more lines"] if more > 0 else []))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _remedies(reading: _Reading, outcome: Outcome, base: Base, items: Sequence[Item]) -> list[str]:
    remedies = []
    if _unreachable(outcome):
        files = " ".join(f"-r {shlex.quote(str(file))}" for file in dict.fromkeys(item.line.file for item in items))
        remedies.append(
            "No package index could be reached. Set PIP_INDEX_URL to one that can; or, where there is a network, run "
            f"python -m pip download --only-binary :all: {files} -d wheels, bring the folder here, and set "
            "PIP_FIND_LINKS to it and PIP_NO_INDEX=1"
        )
    elif reading.only_sources:
        names = " ".join(reading.only_sources)
        remedies.append(
            f"There are sources of {names}, but no wheels for {base.tag} on {base.platform}; nothing is built here. "
            f"Look at the code, run python -m pip wheel --no-deps --wheel-dir wheels {names}, "
            "and set PIP_FIND_LINKS to the folder wheels"
        )
    elif reading.missing:
        remedies.append(
            f"Check the spelling; python -m pip index versions {reading.missing[0]} lists what there is. "
            "Further indexes: PIP_EXTRA_INDEX_URL; folders of wheels: PIP_FIND_LINKS"
        )
    for name, version in reading.held.items():
        remedies.append(f"{name} stays at {version}, on which Brain-Score itself runs here: ask for what goes with it")
    if not remedies:
        remedies.append("Ask for versions that go together")
    return remedies
