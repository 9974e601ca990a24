"""Index of a results store: main fields of all receipts, so that listing them does not open their files.

The index is a cache. Processes that write receipts do not know it; a process that lists receipts compares it with the
store, reads what is new, and replaces it. It is therefore correct after any change: concurrent writers, killed
processes, receipts that were copied or removed by hand. In a folder, the names in a pair's folder are only read if the
folder changed (its time of modification) since the index was made; in a bucket, all names are listed.
"""

from __future__ import annotations

import io
import json
import zipfile
from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.receipts.receipt import Receipt
from brainscore_core.results.backend import Backend, Problem, StoreError, read_entries

INDEX = ".index.npz"
"""Name of the file in the store."""

_VERSION = 1
_ID_BYTES = 48
_RACY = 3_000_000_000  # nanoseconds: a folder may change once more without a new time of modification
_FEWEST = 100  # changes, below which the index is not written
_DAMAGE = (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, IndexError, TypeError)
_TEXTS = ("model", "benchmark", "state", "version", "model_code", "code", "reason", "undetermined", "run")
_NUMBERS = ("score", "error", "seconds", "memory")
_COLUMNS = ("id", "folder", *_TEXTS, *_NUMBERS)


@dataclass(frozen=True, kw_only=True)
class ReceiptTable:
    """Main fields of receipts as columns, oldest first."""

    texts: list[str]  # distinct texts; columns of texts contain positions in this list
    # ``id``: bytes; ``model``, ``benchmark``, ``state``, ``reason``, ``undetermined``, ``run``: texts, empty if
    # missing; ``version``: the benchmark's version as JSON; ``model_code``: hash of the model's plugin; ``code``: hash
    # of the benchmark's plugin, and kind, identifier and hash of data and metrics, as JSON; ``score`` and ``error``,
    # ``seconds`` and ``memory`` (bytes, if they are those of the pair): NaN if missing
    columns: dict[str, NDArray[Any]]
    problems: tuple[Problem, ...] = ()  # files that cannot be read

    def __len__(self) -> int:
        return len(self.columns["id"])

    def row(self, number: int) -> dict[str, Any]:
        """Fields of one receipt; None if missing."""
        values: dict[str, Any] = {name: self.texts[self.columns[name][number]] or None for name in _TEXTS}
        numbers = {name: float(self.columns[name][number]) for name in _NUMBERS}
        values |= {name: None if np.isnan(value) else value for name, value in numbers.items()}
        return {"id": self.columns["id"][number].decode(), **values}


class _Builder:
    """Texts and rows that are collected, compactly."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.positions = {text: number for number, text in enumerate(texts)}
        self.ids = bytearray()
        self.columns: dict[str, array[Any]] = {name: array("i") for name in ("folder", *_TEXTS)}
        self.columns |= {name: array("d") for name in _NUMBERS}

    def text(self, value: str) -> int:
        return self.positions.setdefault(value, len(self.positions))

    def add(self, receipt: Receipt, folder: int) -> None:
        self.ids += receipt.id.encode().ljust(_ID_BYTES, b"\0")
        self.columns["folder"].append(folder)
        for name, value in _fields(receipt).items():
            self.columns[name].append(self.text(value) if isinstance(value, str) else value)

    def arrays(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {"id": np.frombuffer(bytes(self.ids), f"S{_ID_BYTES}")}
        return columns | {name: np.array(values) for name, values in self.columns.items()}


def _fields(receipt: Receipt) -> dict[str, str | float]:
    """Values of the columns of a receipt except id and folder."""
    code = [_hash(receipt.benchmark), [[item.kind, item.identifier, _hash(item)] for item in receipt.data]]
    score = receipt.score
    return {
        "model": receipt.model.identifier,
        "benchmark": receipt.benchmark.identifier,
        "state": receipt.state,
        "version": "" if receipt.benchmark.version is None else json.dumps(receipt.benchmark.version),
        "model_code": _hash(receipt.model) or "",
        "code": json.dumps(code),
        "reason": receipt.reason or "",
        "undetermined": receipt.undetermined or "",
        "run": receipt.run.id if receipt.run is not None else "",
        "score": np.nan if score is None or score.value is None else score.value,
        "error": np.nan if score is None or score.error is None else score.error,
        "seconds": receipt.timings.total or np.nan,
        "memory": own_memory(receipt) or np.nan,
    }


def own_memory(receipt: Receipt) -> int | None:
    """Memory of a receipt if it is that of its pair, and complete: an isolated model uses another process."""
    isolated = receipt.run is not None and receipt.run.isolated
    return receipt.memory.peak_bytes if receipt.memory.raised_here and not isolated else None


def _hash(item: Any) -> str | None:
    return item.plugin.sha256 if item.plugin is not None else None


def table_of(receipts: Sequence[Receipt], problems: Sequence[Problem] = ()) -> ReceiptTable:
    """Make a table of receipts, oldest first."""
    builder = _Builder()
    for receipt in receipts:
        builder.add(receipt, 0)
    return ReceiptTable(texts=list(builder.positions), columns=builder.arrays(), problems=tuple(problems))


def read_table(backend: Backend) -> ReceiptTable:
    """Read the main fields of all receipts: from the index if there is one, and from files that are not in it."""
    now = backend.now()
    old = _Index.read(backend)
    builder = _Builder(old.texts)
    blocks: list[NDArray[np.int64]] = []  # texts of both names, time of modification
    count = 0  # of folders in the blocks
    new_numbers = np.full(len(old.folders), -1, np.int32)  # of the folders of the old index
    is_unchanged = np.zeros(len(old.folders), bool)
    unchanged_rows = np.zeros(len(old.columns["id"]), bool)
    problems: list[Problem] = []
    changes = 0
    for survey in backend.survey():
        numbers = old.numbers_of(survey.name, survey.folders)
        times = np.array(survey.times, np.int64)
        is_known = numbers >= 0
        block = np.empty((len(times), 3), np.int64)
        block[:, 0] = builder.text(survey.name)
        block[is_known, 1] = old.folders[numbers[is_known], 1]
        block[~is_known, 1] = [builder.text(survey.folders[row]) for row in np.flatnonzero(~is_known)]
        block[:, 2] = np.where(times > now - _RACY, 0, times)
        unchanged = is_known & (times > 0)
        unchanged[is_known] &= old.folders[numbers[is_known], 2] == times[is_known]
        new_numbers[numbers[is_known]] = count + np.flatnonzero(is_known)
        is_unchanged[numbers[unchanged]] = True
        for folder in np.flatnonzero(~unchanged).tolist():
            rows = old.rows_of(int(numbers[folder]))
            present = {name.removesuffix(".json") for name in survey.receipts(survey.folders[folder])}
            unchanged_rows[[row for identifier, row in rows.items() if identifier in present]] = True
            changes += len(rows.keys() - present)
            pair = f"{survey.name}/{survey.folders[folder]}"
            unread = [f"{pair}/{identifier}.json" for identifier in sorted(present - rows.keys())]
            for entry in read_entries(backend, unread, Receipt.from_json):
                if isinstance(entry, Problem):
                    problems.append(entry)
                    block[folder, 2] = 0  # it is reported again
                else:
                    builder.add(entry, count + folder)
                    changes += 1
        changes += int((times[~unchanged] > 0).sum()) // 10
        blocks.append(block)
        count += len(block)
    if len(unchanged_rows):
        unchanged_rows |= is_unchanged[old.columns["folder"]]
    columns = old.merged(unchanged_rows, new_numbers, builder.arrays())
    index = _Index(list(builder.positions), np.concatenate([old.folders[:0], *blocks]), columns)
    if changes > max(_FEWEST, len(columns["id"]) // 1000):
        index.write(backend)
    visible = {name: columns[name] for name in _COLUMNS if name != "folder"}
    return ReceiptTable(texts=index.texts, columns=visible, problems=tuple(problems))


def _is_consistent(texts: list[str], folders: NDArray[Any], columns: dict[str, NDArray[Any]]) -> bool:
    """Whether the arrays of an index have the types and lengths that `_Index` writes, and point at what exists."""

    def within(positions: NDArray[Any], count: int) -> bool:
        return not positions.size or (positions.min() >= 0 and positions.max() < count)

    if folders.dtype != np.int64 or folders.ndim != 2 or folders.shape[1] != 3:
        return False
    kinds = {"id": "S", **dict.fromkeys(("folder", *_TEXTS), "i"), **dict.fromkeys(_NUMBERS, "f")}
    if any(columns[name].dtype.kind != kind for name, kind in kinds.items()):
        return False
    if {column.shape for column in columns.values()} != {(len(columns["id"]),)}:
        return False
    positions_of_texts = [folders[:, :2], *(columns[name] for name in _TEXTS)]
    return within(columns["folder"], len(folders)) and all(within(column, len(texts)) for column in positions_of_texts)


class _Index:
    """Content of the file: texts, folders of pairs, and columns of receipts, sorted by id."""

    def __init__(self, texts: list[str], folders: NDArray[np.int64], columns: dict[str, NDArray[Any]]) -> None:
        self.texts = texts
        self.folders = folders
        self.columns = columns
        starts = np.flatnonzero(np.diff(folders[:, 0], prepend=-1)).tolist()
        ends = [*starts[1:], len(folders)][: len(starts)]
        self._below = {texts[folders[a, 0]]: range(a, b) for a, b in zip(starts, ends, strict=True)}

    @classmethod
    def read(cls, backend: Backend) -> _Index:
        """Read the file; an empty index if there is none, or if it is damaged or of another version."""
        file = backend.open_index(INDEX)
        if file is not None:
            with file, suppress(*_DAMAGE), np.load(file, allow_pickle=False) as stored:
                if int(stored["index_version"]) == _VERSION:
                    text, ends = bytes(stored["text"]).decode("utf-8", "surrogatepass"), stored["text_ends"]
                    texts = [text[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
                    folders, columns = stored["folders"], {name: stored[name] for name in _COLUMNS}
                    if _is_consistent(texts, folders, columns):
                        return cls(texts, folders, columns)
        return cls([], np.zeros((0, 3), np.int64), _Builder().arrays())

    def write(self, backend: Backend) -> None:
        """Replace the file; readers see the old one or the new one. A store that cannot be written has no index."""
        file = io.BytesIO()
        ends = np.cumsum([len(text) for text in self.texts], dtype=np.int64)
        text = np.frombuffer("".join(self.texts).encode("utf-8", "surrogatepass"), np.uint8)
        content: dict[str, Any] = {"index_version": _VERSION, "text": text, "text_ends": ends, "folders": self.folders}
        np.savez(file, **(content | self.columns))
        try:
            backend.write_index(INDEX, file.getbuffer())
        except (StoreError, OSError):
            return

    def numbers_of(self, upper: str, names: list[str]) -> NDArray[np.intp]:
        """Numbers of folders in a benchmark's folder; -1 if they are not known."""
        numbers = self._below.get(upper, range(0))
        indexed_names = [self.texts[text] for text in self.folders[numbers.start : numbers.stop, 1].tolist()]
        if indexed_names == names:  # a folder that has not changed is listed in the same order
            return np.arange(numbers.start, numbers.stop)
        numbers_of = dict(zip(indexed_names, numbers, strict=True))
        return np.array([numbers_of.get(name, -1) for name in names], np.intp)

    def rows_of(self, folder: int) -> dict[str, int]:
        """Ids of a folder's receipts, and their rows."""
        if folder < 0:
            return {}
        order, folders = self._by_folder
        start, end = np.searchsorted(folders, [folder, folder + 1])
        rows = order[start:end]
        return dict(zip((name.decode() for name in self.columns["id"][rows]), rows.tolist(), strict=True))

    @cached_property
    def _by_folder(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        order = np.argsort(self.columns["folder"], kind="stable")
        return order, self.columns["folder"][order]

    def merged(
        self, kept: NDArray[np.bool_], numbers: NDArray[np.int32], new: dict[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Columns of the kept rows, in folders with new numbers, and of the new rows, sorted by id."""
        columns = {name: self.columns[name] if kept.all() else self.columns[name][kept] for name in _COLUMNS}
        columns["folder"] = numbers[columns["folder"]] if len(numbers) else columns["folder"]
        if not len(new["id"]):
            return columns
        columns = {name: np.concatenate([columns[name], new[name]]) for name in _COLUMNS}
        order = np.argsort(columns["id"], kind="stable")
        return {name: column[order] for name, column in columns.items()}
