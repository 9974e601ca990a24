"""Find which parts that a score depends on differ between two receipts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import basename
from typing import Any

from brainscore_core.receipts.receipt import DataItem, FileItem, PluginCode, Receipt

CAUSES = (
    "benchmark version",
    "data",
    "weights",
    "model code",
    "benchmark code",
    "metric code",
    "libraries",
    "seeds",
    "device",
    "settings",
)
"""Parts whose change can change a score by any amount."""

CIRCUMSTANCES = ("python", "platform", "processor", "stored activations", "other libraries")
"""Parts whose change usually changes only the last digits, if anything."""

_HASH_LENGTH = 12
_NOT_SETTINGS = re.compile(" was not stored| were not stored|the ceiling was not recorded")


@dataclass(frozen=True, kw_only=True)
class Change:
    """One difference.

    Attributes
    ----------
    part : str
        One of :data:`CAUSES` and :data:`CIRCUMSTANCES`.
    item : str
        What differs in this part: a library, a file, a plugin.
    a, b : str or None
        Its state in the two receipts: a version, the beginning of a hash; None if only the other receipt has it.
    """

    part: str
    item: str
    a: str | None
    b: str | None

    def __str__(self) -> str:
        if self.a is None or self.b is None:
            which = "second" if self.a is None else "first"
            value = self.b if self.a is None else self.a
            return f"{self.item} {value}, only in the {which}".replace(" , ", ", ").strip()
        return f"{self.item} {self.a} → {self.b}".strip()


def changes_between(a: Receipt, b: Receipt) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """Compare all recorded conditions of two receipts.

    Parts of the model are compared if it is the same model, parts of the benchmark if it is the same benchmark.

    Returns: in the order of :data:`CAUSES` and :data:`CIRCUMSTANCES`. Returns: what cannot be compared, since a receipt
    does not record it.
    """
    unknown: list[str] = []
    changes = [*_changes(a, b, unknown)]
    order = {cause: number for number, cause in enumerate(CAUSES + CIRCUMSTANCES)}
    changes.sort(key=lambda change: (order[change.part], change.item))
    return tuple(changes), tuple(unknown)


def _changes(a: Receipt, b: Receipt, unknown: list[str]) -> Iterator[Change]:
    same_model = a.model.identifier == b.model.identifier
    same_benchmark = a.benchmark.identifier == b.benchmark.identifier
    complete = a.state == b.state == "scored"  # otherwise one of them ended before everything was recorded
    if same_model:
        yield from _code("model code", a.model.plugin, b.model.plugin, unknown)
    if same_benchmark:
        first, second = a.benchmark.version, b.benchmark.version
        if first is not None and second is not None and first != second:
            yield Change(part="benchmark version", item="", a=str(first), b=str(second))
        yield from _code("benchmark code", a.benchmark.plugin, b.benchmark.plugin, unknown)
    if same_model and same_benchmark:
        yield from _data(a.data, b.data, complete, unknown)
        yield from _files(a.files, b.files, complete, unknown)
        yield from _weights(a, b, complete, unknown)
        yield from _settings(a, b, complete)
        yield from _seeds(a.seeds, b.seeds, complete)
    if a.device != b.device and complete:
        yield Change(part="device", item="", a=a.device, b=b.device)
    yield from _libraries(a.environment.packages, b.environment.packages, "")
    yield from _libraries(_packages_of_the_model(a), _packages_of_the_model(b), " (of the model's own environment)")
    if a.environment.code and b.environment.code and a.environment.code != b.environment.code:
        yield Change(
            part="libraries",
            item="brainscore's own code",
            a=_short(a.environment.code),
            b=_short(b.environment.code),
        )
    yield from _machine(a, b)
    if same_model and same_benchmark and (a.cache.hits > 0) != (b.cache.hits > 0):
        sources = {True: "read from the store", False: "computed"}
        yield Change(
            part="stored activations", item="activations", a=sources[a.cache.hits > 0], b=sources[b.cache.hits > 0]
        )


def _machine(a: Receipt, b: Receipt) -> Iterator[Change]:
    here, there = a.environment, b.environment
    for cause, item, first, second in (
        ("python", "", here.python, there.python),
        ("platform", "", here.platform, there.platform),
        ("processor", "", here.cpu, there.cpu),
        ("processor", "cores", here.cpu_count, there.cpu_count),
        ("processor", "threads", here.threads, there.threads),
    ):
        if first and second and first != second:
            yield Change(part=cause, item=item, a=str(first), b=str(second))


def _code(part: str, a: PluginCode | None, b: PluginCode | None, unknown: list[str]) -> Iterator[Change]:
    first, second = (plugin.sha256 if plugin else None for plugin in (a, b))
    if first is None or second is None:
        if first or second:
            unknown.append(f"{part} (only the {'first' if first else 'second'} receipt has its hash)")
        else:
            unknown.append(f"{part} (neither receipt has its hash)")
    elif first != second and a is not None and b is not None:
        yield Change(part=part, item=a.name, a=_version(a), b=_version(b))


def _version(plugin: PluginCode) -> str:
    release = f"{plugin.distribution} {plugin.version}, " if plugin.distribution and plugin.version else ""
    return f"{release}{_short(plugin.sha256)}"


def _data(a: Iterable[DataItem], b: Iterable[DataItem], complete: bool, unknown: list[str]) -> Iterator[Change]:
    first, second = (
        {(item.kind, item.identifier): item.plugin for item in items if item.kind not in ("collection", "study")}
        for items in (a, b)
    )
    for key in sorted(first.keys() | second.keys()):
        kind, identifier = key
        cause = "metric code" if kind == "metric" else "data"
        noun = f"{kind.replace('_', ' ')} {identifier}"
        if key in first and key in second:
            for change in _code(noun, first[key], second[key], unknown):
                yield Change(part=cause, item=f"code of the {noun}", a=change.a, b=change.b)
        elif complete:
            yield _in_one(cause, noun, "", key in first)


def _files(a: Iterable[FileItem], b: Iterable[FileItem], complete: bool, unknown: list[str]) -> Iterator[Change]:
    """Compare files by their contents, regardless of where they were read from."""
    first_files, second_files = list(a), list(b)
    for file in [*first_files]:
        same = next((candidate for candidate in second_files if _same_content(file, candidate)), None)
        if same is not None:
            first_files.remove(file)
            second_files.remove(same)
    for file in first_files:
        name = _name(file)
        candidate = next((candidate for candidate in second_files if _name(candidate) == name), None)
        if candidate is None:
            if complete:
                yield _in_one("data", f"file {name}", _short(file.sha256 or file.sha1), True)
            continue
        second_files.remove(candidate)
        hashes = next(
            ((x, y) for x, y in ((file.sha256, candidate.sha256), (file.sha1, candidate.sha1)) if x and y), (None, None)
        )
        if None in hashes:
            unknown.append(f"file {name} (the receipts have hashes of different kinds)")
        else:
            yield Change(part="data", item=f"file {name}", a=_short(hashes[0]), b=_short(hashes[1]))
    if complete:
        for file in second_files:
            yield _in_one("data", f"file {_name(file)}", _short(file.sha256 or file.sha1), False)


def _same_content(a: FileItem, b: FileItem) -> bool:
    if a.sha256 and b.sha256:
        return a.sha256 == b.sha256
    return bool(a.sha1) and a.sha1 == b.sha1


def _name(file: FileItem) -> str:
    return basename(file.url.split("?")[0].removeprefix("file:"))


def _weights(a: Receipt, b: Receipt, complete: bool, unknown: list[str]) -> Iterator[Change]:
    first, second = ({item.identifier: item.sha256 for item in receipt.weights} for receipt in (a, b))
    if not first or not second:
        if first or second:
            unknown.append(f"weights (only the {'first' if first else 'second'} receipt has their hash)")
        return
    for name in sorted(first.keys() | second.keys() if complete else first.keys() & second.keys()):
        if first.get(name) != second.get(name):
            hashes = (_short(side[name]) if name in side else None for side in (first, second))
            yield Change(part="weights", item=name, a=next(hashes), b=next(hashes))


def _settings(a: Receipt, b: Receipt, complete: bool) -> Iterator[Change]:
    """Compare notes, which contain what was chosen for a model, such as layers and preprocessing."""
    first, second = (
        [note for note in receipt.notes if complete and not _NOT_SETTINGS.search(note)] for receipt in (a, b)
    )
    for note in first:
        if note not in second:
            yield Change(part="settings", item=note, a="", b=None)
    for note in second:
        if note not in first:
            yield Change(part="settings", item=note, a=None, b="")
    angles = [f"{angle.degrees:g}°" for receipt in (a, b) if (angle := receipt.model.visual_angle) is not None]
    if len(set(angles)) == 2:
        yield Change(part="settings", item="visual angle of the model", a=angles[0], b=angles[1])
    isolated = ["yes" if receipt.run is not None and receipt.run.isolated else "no" for receipt in (a, b)]
    if isolated[0] != isolated[1]:
        yield Change(part="settings", item="isolated", a=isolated[0], b=isolated[1])


def _seeds(a: Mapping[str, Any], b: Mapping[str, Any], complete: bool) -> Iterator[Change]:
    for name in sorted(a.keys() | b.keys() if complete else a.keys() & b.keys()):
        if a.get(name) != b.get(name):
            values = ["not set" if side.get(name) is None else str(side[name]) for side in (a, b)]
            yield Change(part="seeds", item=name, a=values[0], b=values[1])


def _libraries(a: Mapping[str, str], b: Mapping[str, str], where: str) -> Iterator[Change]:
    if not a or not b:
        return
    for name in sorted(a.keys() | b.keys()):
        if name in a and name in b:
            if a[name] != b[name]:
                yield Change(part="libraries", item=f"{name}{where}", a=a[name], b=b[name])
        else:
            yield Change(part="other libraries", item=f"{name}{where}", a=a.get(name), b=b.get(name))


def _packages_of_the_model(receipt: Receipt) -> Mapping[str, str]:
    return receipt.run.packages if receipt.run is not None else {}


def _in_one(part: str, item: str, value: str, in_a: bool) -> Change:
    return Change(part=part, item=item, a=value if in_a else None, b=None if in_a else value)


def _short(digest: str | None) -> str:
    return f"{digest[:_HASH_LENGTH]}…" if digest else "of unknown content"
