"""Products of a model's features, stored once for each set of features and named by the receipts that used them.

A file is named by the hash of its content: features that several benchmarks recorded of the same stimuli are stored
once, and processes that write the same file at once write the same bytes. It holds a line that names the format, a line
of JSON (version, number of features, stimuli), and numbers in double precision: the lower triangle of the centred
products, row by row, their shift, and the mean of each stimulus.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from brainscore_core.memory import memory_limit
from brainscore_core.provenance import is_recorded
from brainscore_core.receipts.receipt import ProductsItem
from brainscore_core.receipts.schema import ReceiptError

if TYPE_CHECKING:
    from brainscore_core.numerics.stimulus_products import StimulusProducts
    from brainscore_core.receipts.receipt import Receipt
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

VERSION = 1
"""Version of the format; a file of another version is not read."""

MOST_STIMULI = 4096
"""Number of stimuli above which products are not stored: they would need more than 67 MB."""

_MAGIC = b"brainscore products\n"
_LONGEST_HEADER = 4_000_000
_REMEDY = "score the pair again"


def products_wanted() -> bool:
    """Whether products are stored: not if the environment variable BRAINSCORE_PRODUCTS is ``off``."""
    return os.environ.get("BRAINSCORE_PRODUCTS") != "off"


def size_of(n_stimuli: int) -> int:
    """About how many bytes the products of some stimuli need; 0 if they are not stored.

    Examples
    --------
    >>> size_of(1600)
    10294400
    """
    return 4 * n_stimuli * (n_stimuli + 1) + 30 * n_stimuli if n_stimuli <= MOST_STIMULI else 0


def stored_size(receipts: Iterable[Receipt]) -> int:
    """Bytes of the files of products that receipts name, each counted once."""
    return sum({item.sha256: item.bytes for receipt in receipts for item in receipt.products}.values())


@dataclass(frozen=True)
class Products:
    """Products of the features of some stimuli.

    `stimuli`: their ``stimulus_id``, sorted. `values`: in the order of `stimuli`.
    """

    stimuli: tuple[str, ...]
    values: StimulusProducts

    @classmethod
    def of(cls, recordings: DataAssembly) -> Self:
        """Multiply recorded features, presentation × neuroid, with one presentation of each stimulus."""
        from brainscore_core.numerics.stimulus_products import StimulusProducts

        names = np.asarray([str(name) for name in recordings["stimulus_id"].values])
        order = np.argsort(names, kind="stable")
        values = StimulusProducts.of(recordings.transpose("presentation", "neuroid").values)
        arrays = (values.centred[np.ix_(order, order)], values.shift[order], values.row_mean[order])
        return cls(tuple(names[order].tolist()), StimulusProducts(*arrays, values.features))

    def to_bytes(self) -> bytes:
        """Content of the file."""
        from scipy.linalg.lapack import dtrttp

        header = {"version": VERSION, "features": self.values.features, "stimuli": self.stimuli}
        triangle, _ = dtrttp(self.values.centred.T, uplo="U")  # columns of the upper triangle: rows of the lower one
        numbers = np.concatenate([triangle, self.values.shift, self.values.row_mean])
        return _MAGIC + json.dumps(header).encode() + b"\n" + numbers.astype("<f8").tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read the content of a file.

        Raises ReceiptError if it is incomplete, or has another format or version.
        """
        from brainscore_core.numerics.stimulus_products import StimulusProducts, symmetric

        end = content.find(b"\n", len(_MAGIC), len(_MAGIC) + _LONGEST_HEADER)
        try:
            header = json.loads(content[len(_MAGIC) : end]) if content.startswith(_MAGIC) and end > 0 else None
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict):
            raise ReceiptError("these are not products of features", _REMEDY)
        if header.get("version") != VERSION:
            raise ReceiptError(
                f"the products have version {str(header.get('version'))[:20]} of their format, not {VERSION}", _REMEDY
            )
        stimuli, features = header.get("stimuli"), header.get("features")
        if not isinstance(stimuli, list) or not isinstance(features, int) or len(stimuli) > MOST_STIMULI:
            raise ReceiptError("the products do not say of which stimuli and how many features they are", _REMEDY)
        n = len(stimuli)
        expected = n * (n + 1) // 2 + 2 * n
        if len(content) - end - 1 != 8 * expected:
            raise ReceiptError(f"the products are incomplete: {len(content):,} bytes", _REMEDY)
        numbers = np.frombuffer(content, "<f8", offset=end + 1).astype(np.float64, copy=False)
        centred = symmetric(numbers[: -2 * n], n)
        return cls(tuple(map(str, stimuli)), StimulusProducts(centred, numbers[-2 * n : -n], numbers[-n:], features))


@dataclass
class Collected:
    """Products of what a benchmark recorded, with their content, and why some are missing."""

    files: list[tuple[ProductsItem, bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


_collected: ContextVar[Collected | None] = ContextVar("collected_products", default=None)


@contextmanager
def collecting(*, wanted: bool = True) -> Iterator[Collected]:
    """Collect the products of all features that are recorded inside the ``with`` block; none if not `wanted`."""
    collected = Collected()
    token = _collected.set(collected if wanted else None)
    try:
        yield collected
    finally:
        _collected.reset(token)


def collect_products(recordings: Sequence[DataAssembly], region: str) -> None:
    """Multiply features that a benchmark recorded from a region, if products are collected.

    `recordings` (presentation × neuroid): with ``stimulus_id``; several if the benchmark has stimuli to fit and to test
    on. `region`: where they were recorded.
    """
    collected = _collected.get()
    if collected is None or not is_recorded("features"):  # or of a candidate layer
        return
    reason = _unsuitable(recordings)
    if reason is not None:
        collected.notes.append(f"products of the features were not stored: {reason}")
        return
    try:
        content = Products.of(_joined(recordings)).to_bytes()
    except ValueError:  # the benchmark reports features that are not finite
        return
    first = recordings[0]
    layers = first["layer"].values.tolist() if "layer" in first.coords else []
    item = ProductsItem(
        region=region,
        layers=tuple(dict.fromkeys(map(str, layers if isinstance(layers, list) else [layers]))),
        stimuli=sum(len(each["stimulus_id"]) for each in recordings),
        sha256=sha256(content).hexdigest(),
        bytes=len(content),
    )
    if item not in [known for known, _ in collected.files]:
        collected.files.append((item, content))


def _unsuitable(recordings: Sequence[DataAssembly]) -> str | None:
    """Why products of recordings cannot be stored; None if they can."""
    if any(set(each.dims) != {"presentation", "neuroid"} for each in recordings):
        return f"they are {' × '.join(map(str, recordings[0].dims))}"
    names = [str(name) for each in recordings for name in each["stimulus_id"].values]
    if len(names) > MOST_STIMULI:
        return f"{len(names):,} stimuli, and at most {MOST_STIMULI:,} are supported"
    if len(set(names)) < len(names):
        return "a stimulus was shown several times"
    if len(recordings) > 1 and sum(each.nbytes for each in recordings) > memory_limit() / 4:
        return "the features of training and test stimuli together need too much memory"
    return None


def _joined(recordings: Sequence[DataAssembly]) -> Any:
    if len(recordings) == 1:
        return recordings[0]
    names = np.concatenate([each["stimulus_id"].values for each in recordings])
    values = np.concatenate([each.transpose("presentation", "neuroid").values for each in recordings])
    first = recordings[0]
    return type(first)(values, coords={"stimulus_id": ("presentation", names)}, dims=["presentation", "neuroid"])
