"""The store of receipts and their arrays: a folder or a bucket that several processes can read and write at once."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest
from brainscore_core.identifiers import from_folder_name, to_folder_name
from brainscore_core.paths import default_results_address
from brainscore_core.receipts.output import read_log
from brainscore_core.receipts.receipt import AttachmentInfo, Receipt
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.backend import Backend, Problem, archive_of, read_entries
from brainscore_core.results.claims import Claim, ClaimInfo, all_claims, claim_pair
from brainscore_core.results.folder import FolderBackend
from brainscore_core.results.index import ReceiptTable, read_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from brainscore_core.metrics import Score
    from brainscore_core.receipts.receipt import ProductsItem
    from brainscore_core.results.products import Products

__all__ = [
    "Arrays",
    "Listing",
    "Problem",
    "ResultsStore",
    "Scan",
    "arrays_of",
    "backend_of",
    "read_entries",
]


_S3 = re.compile(r"s3:/{1,2}(?!/)")  # a path object has lost one of the two slashes


def backend_of(address: str | os.PathLike[str]) -> Backend:
    """Return the backend that reads and writes files at an address.

    Raises UserError if it is neither a folder, which need not exist, nor ``s3://bucket/prefix``.
    """
    address = os.fspath(address)
    if match := _S3.match(address):
        from brainscore_core.results.bucket import BucketBackend

        return BucketBackend(f"s3://{address[match.end() :]}")
    if "://" in address:
        raise UserError(f"receipts cannot be stored at {address}", remedy="use a folder or s3://bucket/folder")
    folder = Path(address).expanduser()
    if folder.is_file():
        raise UserError(f"{address} is a file, not a folder of receipts", remedy="name the folder")
    return FolderBackend(folder)


@dataclass(frozen=True)
class Arrays:
    """Content of one netCDF file: an array, and further ones as groups."""

    main: xr.DataArray
    groups: dict[str, xr.DataArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Listing:
    """Receipts, oldest first, and the files that could not be read."""

    receipts: tuple[Receipt, ...] = ()
    problems: tuple[Problem, ...] = ()

    def newest_of_each(self) -> tuple[Receipt, ...]:
        """Keep the newest receipt of each model and benchmark, ordered by benchmark and model."""
        from brainscore_core.results.board import newest_of_each

        newest = newest_of_each(self.receipts)
        return tuple(newest[pair] for pair in sorted(newest, key=lambda pair: pair[::-1]))

    def to_pandas(self) -> pd.DataFrame:
        """Convert the receipts to a table with the columns of an export, one row per receipt."""
        from brainscore_core.results.export import export_frame

        return export_frame(self.receipts)


@dataclass(frozen=True)
class Scan:
    """Receipts of a store that are not known yet.

    Attributes
    ----------
    known : int
        Number of known receipts, which are not read.
    unread : int
        Number of receipts to read.
    found : iterator
        Reads one after the other; the oldest of a pair first. A `Problem` stands for an invalid receipt.
    """

    known: int
    unread: int
    found: Iterator[Receipt | Problem]


_ID_START = re.compile(r"[0-9]{8}[0-9TZa-f-]*")


class ResultsStore:
    """Receipts as ``<benchmark>/<model>/<receipt id>.json``, with their arrays and logs beside them.

    A receipt appears whole or not at all, after its attachments. Any number of processes may write and read; files are
    never changed or overwritten. A store can be sent to other processes.

    Parameters
    ----------
    address : str or path, optional
        A folder, which is created when the first receipt is written; or ``s3://bucket/prefix``, which requires
        ``brainscore[s3]``, AWS credentials, and for other servers than Amazon's their address in ``AWS_ENDPOINT_URL``.
        By default :func:`~brainscore_core.paths.default_results_address`.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo
    >>> store = ResultsStore(tempfile.mkdtemp())
    >>> receipt = store.write(Receipt(model=ModelInfo(identifier="pixels"), state="scored",
    ...                               benchmark=BenchmarkInfo(identifier="Some2026-pls"), score=Estimate(value=0.25)))
    >>> store.latest("pixels", "Some2026-pls").score.value
    0.25
    """

    def __init__(self, address: str | os.PathLike[str] | None = None) -> None:
        self._backend = backend_of(default_results_address() if address is None else address)
        self._is_checked = False

    def __repr__(self) -> str:
        return f"ResultsStore({self.address!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.address,)

    @property
    def address(self) -> str:
        """An absolute path or ``s3://bucket/prefix``, valid in any process."""
        return self._backend.address

    @property
    def folder(self) -> Path:
        """The folder.

        Raises
        ------
        UserError
            If the receipts are in a bucket.
        """
        if not isinstance(self._backend, FolderBackend):
            raise UserError(
                f"{self.address} is not a folder", remedy="use a folder with --results or BRAINSCORE_RESULTS"
            )
        return self._backend.folder

    def folder_of(self, model: str, benchmark: str) -> Path:
        """Folder of one pair's receipts, which need not exist; a UserError if they are in a bucket."""
        return self.folder / _pair(model, benchmark)

    def path_of(self, receipt: Receipt) -> Path:
        """File of a receipt; a UserError if it is in a bucket."""
        return self.folder / _name(receipt)

    def address_of(self, receipt: Receipt) -> str:
        """Path of a receipt's file, or its address in a bucket."""
        return self._backend.address_of(_name(receipt))

    def address_of_pair(self, model: str, benchmark: str) -> str:
        """Folder of one pair's receipts, or its address in a bucket; there need not be any.

        Raises
        ------
        UserError
            If an identifier is empty or too long to be a folder's name.
        """
        return self._backend.address_of(_pair(model, benchmark))

    def require_writable(self) -> None:
        """Check that receipts can be written; create the folder if it is missing.

        Raises
        ------
        UserError
            If they cannot be written.
        """
        if not self._is_checked:
            self._backend.require_writable()

    def omit_checks(self) -> None:
        """Save requests: a worker has claimed the pair, has so written to the store, and has removed old remains."""
        self._is_checked = True

    def write(self, receipt: Receipt, attachments: Mapping[str, Arrays | str] | None = None) -> Receipt:
        """Store a receipt and its attachments.

        Parameters
        ----------
        receipt : Receipt
            Without an id, which it gets here.
        attachments : mapping of str to Arrays or str, optional
            ``'raw'``, ``'predictions'``, ``'log'``. An array that netCDF cannot store is left out, with a note in
            the receipt.

        Returns
        -------
        Receipt
            The stored receipt, with id and attachments.

        Raises
        ------
        StoreError
            If the folder or the bucket cannot be written; nothing is left behind.
        """
        pair = _pair(receipt.model.identifier, receipt.benchmark.identifier)
        with self._backend.scratch(pair) as folder:
            paths: list[Path] = []
            for kind, content in sorted((attachments or {}).items()):
                path = folder / kind
                try:
                    _write_attachment(content, path)
                except _NOT_STORABLE as error:
                    note = f"{kind} was not stored: {type(error).__name__}: {error}"
                    receipt = replace(receipt, notes=(*receipt.notes, note))
                    continue
                info = AttachmentInfo(kind=kind, name="", sha256=file_digest(path, "sha256"), bytes=path.stat().st_size)
                receipt = replace(receipt, attachments=(*receipt.attachments, info))
                paths.append(path)
            receipt = receipt.identified()
            self._store(receipt, paths)
        if not self._is_checked:
            self._backend.sweep(pair)
        return receipt

    def add(self, receipt: Receipt, files: Mapping[str, Path]) -> None:
        """Store a receipt of another store, unchanged, with its attachments.

        Parameters
        ----------
        receipt : Receipt
            With its id.
        files : mapping of str to Path
            Attachments: kind → file. They are moved.

        Raises
        ------
        ReceiptError
            If a file is missing, or an id, a name or a hash is not that of the content.
        StoreError
            If the folder or the bucket cannot be written; nothing is left behind.
        """
        if receipt.id is None or replace(receipt, id="").identified() != receipt:
            raise ReceiptError(f"the id of receipt {receipt.id} is not that of its content", "send it unchanged")
        if {attachment.kind for attachment in receipt.attachments} != set(files):
            raise ReceiptError(f"receipt {receipt.id} has other attachments than were sent", "send all of them")
        for attachment in receipt.attachments:
            path = files[attachment.kind]
            if (path.stat().st_size, file_digest(path, "sha256")) != (attachment.bytes, attachment.sha256):
                raise ReceiptError(f"{attachment.name} is not what receipt {receipt.id} states", "send it unchanged")
        with self._backend.scratch(_pair(receipt.model.identifier, receipt.benchmark.identifier)) as folder:
            self._store(
                receipt,
                [
                    Path(shutil.move(files[attachment.kind], folder / str(number)))
                    for number, attachment in enumerate(receipt.attachments)
                ],
            )

    def _store(self, receipt: Receipt, paths: Sequence[Path]) -> None:
        """Store a receipt, and its attachments, which are in these files."""
        pair = _pair(receipt.model.identifier, receipt.benchmark.identifier)
        files = {attachment.name: path for attachment, path in zip(receipt.attachments, paths, strict=True)}
        self._backend.store(pair, files, f"{receipt.id}.json", receipt.to_json())

    def remove(self, receipt: Receipt) -> None:
        """Remove a receipt, then its attachments.

        Raises
        ------
        UserError
            If the receipt does not exist, or cannot be removed.
        """
        name = _name(receipt)
        if not self._backend.remove(name):
            raise UserError(f"there is no receipt {receipt.id} in {self.address}", remedy=self._how_to_list())
        for attachment in receipt.attachments:
            self._backend.remove(f"{name.rpartition('/')[0]}/{attachment.name}")
        if len(receipt.attachments) > 1:
            self._backend.remove(archive_of(name))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield (model, benchmark) of all pairs that have a receipt, reading only the names of folders."""
        last = ""
        for name in self._names(None, None):
            pair = name.rpartition("/")[0]
            if pair != last:
                benchmark, model = pair.split("/")
                yield from_folder_name(model), from_folder_name(benchmark)
                last = pair

    def listing(self, *, model: str | None = None, benchmark: str | None = None) -> Listing:
        """Read all receipts, or those of a model, a benchmark, or a pair.

        Returns
        -------
        Listing
            ``receipts``, oldest first; ``problems``: files that cannot be read, with their addresses.
        """
        receipts, problems = [], []
        for entry in self._read(self._names(model, benchmark)):
            if isinstance(entry, Problem):
                problems.append(entry)
            # two identifiers may share a folder if the file system ignores case
            elif model in {None, entry.model.identifier} and benchmark in {None, entry.benchmark.identifier}:
                receipts.append(entry)
        receipts.sort(key=lambda receipt: receipt.id)
        return Listing(tuple(receipts), tuple(problems))

    def read(self, receipts: Iterable[tuple[str, str, str]]) -> Listing:
        """Read receipts by model, benchmark and id, in this order; those that no longer exist are left out."""
        names = [f"{_pair(model, benchmark)}/{identifier}.json" for model, benchmark, identifier in receipts]
        entries = list(self._read(names))
        problems = tuple(entry for entry in entries if isinstance(entry, Problem))
        return Listing(tuple(entry for entry in entries if not isinstance(entry, Problem)), problems)

    def to_pandas(self, *, model: str | None = None, benchmark: str | None = None) -> pd.DataFrame:
        """Newest receipt of each pair as a table with the columns of an export, ordered by benchmark and model.

        ``listing().to_pandas()`` has all receipts.

        Parameters
        ----------
        model, benchmark : str, optional
            Only of these.
        """
        listing = self.listing(model=model, benchmark=benchmark)
        return Listing(listing.newest_of_each()).to_pandas()

    def table(self) -> ReceiptTable:
        """Read the main fields of all receipts from an index, which is made and kept up to date automatically.

        Receipts that are in the index are not opened. The index is a file in the store, ``.index.npz``.

        Returns
        -------
        ReceiptTable
            One row per receipt, oldest first; its ``problems`` are files that cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> len(ResultsStore(tempfile.mkdtemp()).table())
        0
        """
        return read_table(self._backend)

    def scan(self, known: Container[str] = ()) -> Scan:
        """Read all receipts except known ones, of which only the names are read.

        Parameters
        ----------
        known : container of str
            Ids of receipts.

        Returns
        -------
        Scan
            Numbers of known and unknown receipts, and an iterator that reads the unknown ones.
        """
        names = self._names(None, None)
        unread = [name for name in names if _file(name).removesuffix(".json") not in known]
        batches = (unread[start : start + 500] for start in range(0, len(unread), 500))  # read ahead from a bucket
        return Scan(len(names) - len(unread), len(unread), (entry for batch in batches for entry in self._read(batch)))

    def __iter__(self) -> Iterator[Receipt]:
        """Iterate over all receipts, oldest first; warn about those that cannot be read."""
        listing = self.listing()
        for problem in listing.problems:
            warnings.warn(f"a receipt cannot be read: {problem}", stacklevel=2)
        yield from listing.receipts

    def latest(self, model: str, benchmark: str) -> Receipt | None:
        """Newest readable receipt of a pair, or None; warn about receipts that cannot be read."""
        for newest in reversed(self._names(model, benchmark)):
            for entry in self._read([newest]):
                if isinstance(entry, Problem):
                    warnings.warn(f"a receipt cannot be read: {entry}", stacklevel=2)
                elif (entry.model.identifier, entry.benchmark.identifier) == (model, benchmark):
                    return entry
        return None

    def load(self, receipt_id: str) -> Receipt:
        """Read the receipt with an id, or with the beginning of an id.

        Raises
        ------
        UserError
            If no receipt has that id, or several ids begin so.
        ReceiptError
            If it cannot be read.
        """
        names = []
        if _ID_START.fullmatch(receipt_id):
            names = [name for name in self._names(None, None) if _file(name).startswith(receipt_id)]
        if len(names) > 1:
            several = ", ".join(sorted(_file(name).removesuffix(".json") for name in names)[:5])
            problem = f"{len(names)} receipts begin with {receipt_id!r}: {several}"
            raise UserError(problem, remedy=self._how_to_list())
        for receipt in self._read(names):
            if isinstance(receipt, Problem):
                raise ReceiptError(str(receipt), receipt.remedy)
            return receipt
        raise UserError(f"there is no receipt {receipt_id!r} in {self.address}", remedy=self._how_to_list())

    def attachment_path(self, receipt: Receipt, kind: str) -> Path:
        """File of an attachment, after checking that it has not changed.

        For a store in a bucket this is a copy, which is removed when this process ends.

        Raises
        ------
        UserError
            If the receipt has no such attachment.
        ReceiptError
            If the file is missing or has changed.
        """
        kinds = {attachment.kind: attachment for attachment in receipt.attachments}
        if kind not in kinds:
            raise UserError(
                f"receipt {receipt.id} has no attachment {kind!r}",
                remedy=f"it has: {', '.join(kinds) or 'none'}",
            )
        name = f"{_name(receipt).rpartition('/')[0]}/{kinds[kind].name}"
        try:
            path = self._backend.local_file(name, kinds[kind].sha256)
        except FileNotFoundError as error:
            address = self._backend.address_of(name)
            raise ReceiptError(f"{address} is missing", remedy="score the pair again") from error
        if file_digest(path, "sha256") != kinds[kind].sha256:
            address = self._backend.address_of(name)
            raise ReceiptError(f"{address} has changed since it was written", remedy="score the pair again")
        return path

    def open_attachment(self, receipt: Receipt, kind: str, *, group: str | None = None) -> Any:
        """Read an attached array.

        Parameters
        ----------
        receipt : Receipt
            The receipt.
        kind : str
            ``'raw'``, ``'predictions'`` or ``'influence'``.
        group : str, optional
            ``'targets'`` reads the measurements that the predictions predict; ``'training'`` the influence of training
            stimuli, if the predictions' ``attrs['training']`` is 1; ``'further'`` the influence of further units, if
            the influence's ``attrs['further']`` is 1.

        Returns
        -------
        DataAssembly
            In memory.
        """
        from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
        from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf

        return read_netcdf(self.attachment_path(receipt, kind), DataAssembly, group=group)

    def keep_products(self, content: bytes, digest: str) -> None:
        """Store a file of products under its hash, unless it is stored already.

        Raises
        ------
        StoreError
            If the folder or the bucket cannot be written.
        """
        name = f".products/{digest}"
        stored = self._backend.open_index(name)
        if stored is not None:
            with stored:
                if stored.read() == content:
                    return
        self._backend.write_index(name, memoryview(content))

    def expected_products(self, pairs: Iterable[tuple[str, str]]) -> int:
        """Bytes that the products of pairs of model and benchmark will need at most.

        As for another model on the same benchmark; 0 for benchmarks without a score in the store.
        """
        from brainscore_core.results.products import stored_size

        counts = Counter(benchmark for _, benchmark in pairs)
        table = self.table()
        newest = {row["benchmark"]: row for row in map(table.row, range(len(table))) if row["state"] == "scored"}
        known = [newest[benchmark] for benchmark in counts if benchmark in newest]
        receipts = self.read((row["model"], row["benchmark"], row["id"]) for row in known).receipts
        return sum(counts[receipt.benchmark.identifier] * stored_size([receipt]) for receipt in receipts)

    def read_products(self, item: ProductsItem) -> Products:
        """Read products that a receipt names.

        Raises
        ------
        ReceiptError
            If the file is missing, has changed, or has another version.
        """
        from brainscore_core.results.products import Products

        name = f".products/{item.sha256}"
        address, remedy = self._backend.address_of(name), "score the pair again"
        stored = self._backend.open_index(name)
        if stored is None:
            raise ReceiptError(f"{address} is missing", remedy)
        with stored:
            content = stored.read(item.bytes + 1)
        if sha256(content).hexdigest() != item.sha256:
            raise ReceiptError(f"{address} has changed since it was written", remedy)
        return Products.from_bytes(content)

    def remove_products(self, removed: Iterable[Receipt]) -> None:
        """Remove the products of removed receipts, except those that another receipt names.

        All are kept if a receipt of the store cannot be read.

        Raises
        ------
        StoreError
            If they cannot be removed.
        """
        digests = {item.sha256 for receipt in removed for item in receipt.products}
        listing = self.listing() if digests else Listing()
        if listing.problems:
            return
        for digest in digests - {item.sha256 for receipt in listing.receipts for item in receipt.products}:
            self._backend.remove(f".products/{digest}")

    def read_log(self, receipt: Receipt) -> str | None:
        """What the pair printed; None if there is no log. Of a very long log, the beginning and the end."""
        if all(attachment.kind != "log" for attachment in receipt.attachments):
            return None
        return read_log(self.attachment_path(receipt, "log"))

    def claim(self, model: str, benchmark: str, *, owner: str = "", one_receipt: bool = False) -> Claim | None:
        """Claim a pair, so that only one of several processes scores it.

        A claim is valid for `CLAIM_SECONDS` after it was last renewed: use it as a context manager, which renews it,
        or call ``renew()``. A claim that has expired, or whose process on this machine has ended, is taken over. A
        receipt is stored before the claim is released, so check for a new receipt after you get a claim.

        Parameters
        ----------
        model, benchmark : str
            The pair.
        owner : str
            Name of the owner, shown to others.
        one_receipt : bool
            Whether the claim is for writing one receipt, after which ``finish()`` makes its release unnecessary.

        Returns
        -------
        Claim or None
            None if another process has claimed the pair.

        Raises
        ------
        StoreError
            If the folder or the bucket cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> store = ResultsStore(tempfile.mkdtemp())
        >>> with store.claim("pixels", "Some2026-pls", owner="first"):
        ...     store.claim("pixels", "Some2026-pls", owner="second") is None, store.claims()[0].owner
        (True, 'first')
        >>> store.claims()
        ()
        """
        pair = _pair(model, benchmark)
        names = {"model": model, "benchmark": benchmark, "owner": owner}
        claim = claim_pair(self._backend.claims, pair, **names, one_receipt=one_receipt)
        if claim is not None and not claim.is_first:
            self._backend.sweep(pair)
        return claim

    def claims(self) -> tuple[ClaimInfo, ...]:
        """List the valid claims, by benchmark and model."""
        return all_claims(self._backend.claims)

    def owner(self, model: str, benchmark: str) -> str:
        """Name of the owner who has claimed a pair; empty if it is not claimed.

        Raises
        ------
        StoreError
            If the folder or the bucket cannot be read.
        """
        held = self._backend.claims.get(_pair(model, benchmark))
        return "" if held is None or held.is_free else str(held.content.get("owner", ""))

    def _names(self, model: str | None, benchmark: str | None) -> list[str]:
        folders = [None if identifier is None else to_folder_name(identifier) for identifier in (benchmark, model)]
        return [name for name in self._backend.names(*folders) if name.endswith(".json")]

    def _read(self, names: Sequence[str]) -> Iterator[Receipt | Problem]:
        return read_entries(self._backend, names, Receipt.from_json)

    def _how_to_list(self) -> str:
        return f"list the receipts with: brainscore results ls --results {self.address}"


def arrays_of(score: Score) -> tuple[dict[str, Arrays], list[str]]:
    """Collect the arrays to store from a score, and from the raw scores inside it.

    Returns: ``'raw'``: the values before aggregation; ``'predictions'``: out-of-fold predictions, with the group
    ``targets``, and ``training`` if the influence of training stimuli on them is known (``attrs['training']`` is then
    1); ``'influence'``: influence of each resampled unit on the score before it was clamped, or on the raw score
    (``attrs['estimate']``), with the group ``further`` if other units vary as well (``attrs['further']`` is then 1).
    Only what the metric provides. Returns: notes on arrays that cannot be stored.
    """
    import xarray as xr

    from brainscore_core.metrics import Uncertainty, unclamped_value  # here, as it imports xarray

    arrays: dict[str, Arrays] = {}
    notes: list[str] = []
    for level in _levels(score):
        if level is not score and np.ndim(level) > 0 and "raw" not in arrays:
            if isinstance(level, xr.DataArray):
                arrays["raw"] = Arrays(_storable(level))
            else:
                notes.append(f"raw values were not stored: a {type(level).__name__} is not an assembly")
        uncertainty = Uncertainty.of(level)
        predictions, targets = uncertainty.predictions, uncertainty.targets
        if predictions is not None and "predictions" not in arrays:
            if isinstance(predictions, xr.DataArray):
                groups = {"targets": _storable(targets)} if isinstance(targets, xr.DataArray) else {}
                stored = _storable(predictions)
                if isinstance(uncertainty.training_influence, xr.DataArray):
                    groups["training"] = uncertainty.training_influence
                    stored.attrs["training"] = 1
                arrays["predictions"] = Arrays(stored, groups)
            else:
                notes.append(f"predictions were not stored: a {type(predictions).__name__} is not an assembly")
        influence, further = uncertainty.influence, uncertainty.further_influence
        if isinstance(influence, xr.DataArray) and np.size(level) == 1 and "influence" not in arrays:
            storable = _storable(influence)
            storable.attrs["estimate"] = unclamped_value(level)
            groups = {"further": _storable(further)} if isinstance(further, xr.DataArray) else {}
            if groups:
                storable.attrs["further"] = 1
            arrays["influence"] = Arrays(storable, groups)
    return arrays, notes


_NOT_STORABLE = (UserError, TypeError, ValueError, NotImplementedError)


def _write_attachment(content: Arrays | str, path: Path) -> None:
    if isinstance(content, str):
        path.write_bytes(content.encode("utf-8", "replace"))
        return
    from brainscore_core.supported_data_standards.brainio.netcdf import write_new_netcdf

    write_new_netcdf(content.main, path, extras=content.groups or None)


def _levels(score: Any) -> Iterator[Any]:
    seen: set[int] = set()
    while score is not None and id(score) not in seen:
        seen.add(id(score))
        yield score
        score = getattr(score, "attrs", {}).get("raw")


def _storable(array: xr.DataArray) -> xr.DataArray:
    """Drop attributes that a file cannot store (scores inside scores, intervals, objects)."""
    array = array.copy(deep=False)
    array.attrs = {
        str(key): value
        for key, value in array.attrs.items()
        if isinstance(value, str | int | float | np.integer | np.floating) and not isinstance(value, bool)
    }
    return array


def _pair(model: str, benchmark: str) -> str:
    return f"{to_folder_name(benchmark)}/{to_folder_name(model)}"


def _name(receipt: Receipt) -> str:
    return f"{_pair(receipt.model.identifier, receipt.benchmark.identifier)}/{receipt.id}.json"


def _file(name: str) -> str:
    return name.rpartition("/")[2]
