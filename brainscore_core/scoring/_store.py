"""A folder of receipts that several processes may write and read at once."""

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from uuid import uuid4

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest
from brainscore_core.scoring._attachments import Arrays, write_arrays
from brainscore_core.scoring._errors import ReceiptError
from brainscore_core.scoring._listing import Listing, Problem
from brainscore_core.scoring._names import from_folder_name, to_folder_name
from brainscore_core.scoring._parts import AttachmentInfo
from brainscore_core.scoring._receipt import Receipt

__all__ = ["ResultsStore", "default_results_folder"]

_ID_START = re.compile(r"[0-9]{8}[0-9TZa-f-]*")


def default_results_folder() -> Path:
    """Where receipts go when nobody says otherwise.

    Returns
    -------
    Path
        ``$BRAINSCORE_RESULTS``, else ``$BRAINSCORE_HOME/results``, else ``~/.brain-score/results``.

    Examples
    --------
    >>> default_results_folder().name
    'results'
    """
    if folder := os.environ.get("BRAINSCORE_RESULTS"):
        return Path(folder).expanduser()
    return Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser() / "results"


class ResultsStore:
    """Receipts in ``<folder>/<benchmark>/<model>/<receipt id>.json``, their arrays beside them as netCDF.

    A receipt appears whole or not at all, after its attachments. Any number of processes may write and read; nothing
    is ever changed or overwritten.

    Parameters
    ----------
    folder : path, optional
        Made when the first receipt is written; by default :func:`default_results_folder`.

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

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = default_results_folder() if folder is None else Path(folder).expanduser()

    def __repr__(self) -> str:
        return f"ResultsStore({str(self.folder)!r})"

    def folder_of(self, model: str, benchmark: str) -> Path:
        """Folder of one pair's receipts, whether it exists or not.

        Raises
        ------
        UserError
            If an identifier is empty or too long to be a folder's name.
        """
        return self.folder / to_folder_name(benchmark) / to_folder_name(model)

    def require_writable(self) -> None:
        """Make the folder if it is missing, and see whether it can be written.

        Raises
        ------
        UserError
            If not; better known before hours of scoring than after.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise UserError(
                f"receipts cannot be written to {self.folder}: {error.strerror or error}",
                remedy="name another folder with --results or BRAINSCORE_RESULTS, or make this one writable",
            ) from error

    def path_of(self, receipt: Receipt) -> Path:
        """File of a receipt."""
        return self.folder_of(receipt.model.identifier, receipt.benchmark.identifier) / f"{receipt.id}.json"

    def write(self, receipt: Receipt, arrays: Mapping[str, Arrays] | None = None) -> Receipt:
        """Store a receipt and its arrays.

        Parameters
        ----------
        receipt : Receipt
            Without an id; it gets one.
        arrays : mapping of str to Arrays, optional
            ``'raw'``, ``'predictions'``. One that netCDF cannot hold is left out, and the receipt's notes say so.

        Returns
        -------
        Receipt
            As stored, with id and attachments.

        Raises
        ------
        OSError
            If the folder cannot be written; nothing is left behind.
        """
        folder = self.folder_of(receipt.model.identifier, receipt.benchmark.identifier)
        folder.mkdir(parents=True, exist_ok=True)
        left: list[Path] = []  # what must go if this is interrupted
        try:
            temporary: dict[str, Path] = {}
            for kind, content in sorted((arrays or {}).items()):
                path = folder / f".{uuid4().hex}.{kind}.nc"
                left.append(path)
                try:
                    write_arrays(content, path)
                except (UserError, TypeError, ValueError, NotImplementedError) as error:
                    note = f"{kind} was not stored: {type(error).__name__}: {error}"
                    receipt = replace(receipt, notes=(*receipt.notes, note))
                    path.unlink(missing_ok=True)
                    continue
                _sync(path)
                info = AttachmentInfo(kind=kind, name="", sha256=file_digest(path, "sha256"), bytes=path.stat().st_size)
                receipt = replace(receipt, attachments=(*receipt.attachments, info))
                temporary[kind] = path
            receipt = receipt.identified()
            text = receipt.to_json()
            for attachment in receipt.attachments:
                final = folder / attachment.name
                left.append(final)
                os.replace(temporary[attachment.kind], final)
            unfinished = folder / f".{uuid4().hex}.json"
            left.append(unfinished)
            unfinished.write_text(text, encoding="utf-8")
            _sync(unfinished)
            _sync(folder)
            os.replace(unfinished, folder / f"{receipt.id}.json")
        except BaseException:
            # an interrupt may come right after the last step: then the receipt is there, and stays
            if not (receipt.id and (folder / f"{receipt.id}.json").exists()):
                for path in left:
                    path.unlink(missing_ok=True)
            raise
        _sync(folder)
        return receipt

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield (model, benchmark) of all pairs that have a receipt, from the folders' names alone."""
        for pair_folder in self._pair_folders():
            if any(_is_receipt(path) for path in pair_folder.iterdir()):
                yield from_folder_name(pair_folder.name), from_folder_name(pair_folder.parent.name)

    def listing(self, *, model: str | None = None, benchmark: str | None = None) -> Listing:
        """Read all receipts, or those of a model, a benchmark, a pair.

        Returns
        -------
        Listing
            ``receipts``, oldest first; ``problems``: files that cannot be read, with their paths.
        """
        receipts, problems = [], []
        for path in self._paths(model, benchmark):
            try:
                receipt = _read(path)
            except FileNotFoundError:
                continue  # removed by another process since it was listed
            except (ReceiptError, OSError) as error:
                problems.append(Problem(path, getattr(error, "message", None) or str(error)))
                continue
            # two identifiers may share a folder where the file system takes upper and lower case for the same
            if model in {None, receipt.model.identifier} and benchmark in {None, receipt.benchmark.identifier}:
                receipts.append(receipt)
        receipts.sort(key=lambda receipt: receipt.id)
        return Listing(tuple(receipts), tuple(problems))

    def __iter__(self) -> Iterator[Receipt]:
        """Go through all receipts, oldest first; one that cannot be read gives a warning with its path."""
        listing = self.listing()
        for problem in listing.problems:
            warnings.warn(f"a receipt cannot be read: {problem}", stacklevel=2)
        yield from listing.receipts

    def latest(self, model: str, benchmark: str) -> Receipt | None:
        """Newest readable receipt of a pair, or None; one that cannot be read gives a warning with its path."""
        folder = self.folder_of(model, benchmark)
        names = sorted((path for path in self._files(folder)), key=lambda path: path.name, reverse=True)
        for path in names:
            try:
                receipt = _read(path)
            except FileNotFoundError:
                continue  # removed by another process since it was listed
            except (ReceiptError, OSError) as error:
                warnings.warn(f"a receipt cannot be read: {path}: {error}", stacklevel=2)
                continue
            if (receipt.model.identifier, receipt.benchmark.identifier) == (model, benchmark):
                return receipt
        return None

    def load(self, receipt_id: str) -> Receipt:
        """Read the receipt of an id, or of the beginning of one.

        Raises
        ------
        UserError
            If no receipt has that id, or several begin so.
        ReceiptError
            If it cannot be read.
        """
        found = []
        if _ID_START.fullmatch(receipt_id):
            found = [path for path in self._paths(None, None) if path.name.startswith(receipt_id)]
        if len(found) != 1:
            several = ", ".join(sorted(path.stem for path in found)[:5])
            problem = (
                f"{len(found)} receipts begin with {receipt_id!r}: {several}"
                if found
                else (f"no receipt {receipt_id!r} in {self.folder}")
            )
            raise UserError(problem, remedy=f"list them with: brainscore results ls --results {self.folder}")
        try:
            return _read(found[0])
        except ReceiptError as error:
            raise ReceiptError(f"{found[0]}: {error.message}", error.remedy) from error

    def attachment_path(self, receipt: Receipt, kind: str) -> Path:
        """File of an attachment, after checking that it is the one that was written.

        Raises
        ------
        UserError
            If the receipt has no such attachment.
        ReceiptError
            If the file is missing or was changed.
        """
        kinds = {attachment.kind: attachment for attachment in receipt.attachments}
        if kind not in kinds:
            raise UserError(
                f"receipt {receipt.id} has no attachment {kind!r}",
                remedy=f"it has: {', '.join(kinds) or 'none'}",
            )
        path = self.path_of(receipt).parent / kinds[kind].name
        if not path.is_file():
            raise ReceiptError(f"{path} is missing", remedy="score the pair again")
        if file_digest(path, "sha256") != kinds[kind].sha256:
            raise ReceiptError(f"{path} was changed since it was written", remedy="score the pair again")
        return path

    def open_attachment(self, receipt: Receipt, kind: str, *, group: str | None = None) -> Any:
        """Read an attached array.

        Parameters
        ----------
        receipt : Receipt
            Whose attachment.
        kind : str
            ``'raw'`` or ``'predictions'``.
        group : str, optional
            ``'targets'`` reads what the predictions predict.

        Returns
        -------
        DataAssembly
            In memory.
        """
        from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
        from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf

        return read_netcdf(self.attachment_path(receipt, kind), DataAssembly, group=group)

    def _pair_folders(self) -> Iterator[Path]:
        for benchmark in self._folders(self.folder):
            yield from self._folders(benchmark)

    def _paths(self, model: str | None, benchmark: str | None) -> Iterator[Path]:
        for benchmark_folder in self._some(self.folder, benchmark):
            for model_folder in self._some(benchmark_folder, model):
                yield from self._files(model_folder)

    def _some(self, folder: Path, identifier: str | None) -> list[Path]:
        return self._folders(folder) if identifier is None else [folder / to_folder_name(identifier)]

    @staticmethod
    def _folders(folder: Path) -> list[Path]:
        if not folder.is_dir():
            return []
        return sorted(path for path in folder.iterdir() if not path.name.startswith(".") and path.is_dir())

    @staticmethod
    def _files(folder: Path) -> list[Path]:
        return sorted(path for path in folder.iterdir() if _is_receipt(path)) if folder.is_dir() else []


def _is_receipt(path: Path) -> bool:
    return path.suffix == ".json" and not path.name.startswith(".")


def _read(path: Path) -> Receipt:
    receipt = Receipt.from_json(path.read_bytes())
    if receipt.id != path.stem:
        raise ReceiptError(f"it says that its id is {receipt.id}")
    return receipt


def _sync(path: Path) -> None:
    """Make sure that a file or a folder's entries are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
