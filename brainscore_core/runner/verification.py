"""Score a pair again and compare the result with its receipt, or with a published score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest
from brainscore_core.receipts.changes import Change, changes_between
from brainscore_core.receipts.difference import ArrayDifference, Difference, Tolerance, array_difference, difference
from brainscore_core.receipts.environment import current_environment, describe_plugin
from brainscore_core.receipts.receipt import PluginCode, Receipt
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.backend import LARGEST, too_large
from brainscore_core.results.store import ResultsStore
from brainscore_core.runner.pair import Outcome

_COMPARED = ("raw", "predictions")


class Stored(NamedTuple):
    """A receipt, and a function that reads its attachments.

    Attributes
    ----------
    receipt : Receipt
        The receipt.
    open_attachment : callable
        Called with a kind, returns the array; raises a `UserError` if it does not exist.
    """

    receipt: Receipt
    open_attachment: Callable[[str], Any]


def stored_in(store: ResultsStore, receipt: Receipt) -> Stored:
    """A receipt of a store, with access to its attachments there."""
    return Stored(receipt, lambda kind: store.open_attachment(receipt, kind))


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Result of verifying a receipt.

    Attributes
    ----------
    verdict : str
        ``'same'``, ``'within tolerance'``, ``'different'`` or ``'not verified'``.
    expected : Receipt
        The receipt that was verified.
    found : Receipt or None
        The new receipt; None if the pair could not be scored.
    foreseen : tuple of Change
        Differences that were known before scoring.
    difference : Difference or None
        Difference of the two receipts.
    problem, remedy : str or None
        Why it could not be verified, and how to fix it.
    """

    verdict: Literal["same", "within tolerance", "different", "not verified"]
    expected: Receipt
    found: Receipt | None = None
    foreseen: tuple[Change, ...] = ()
    difference: Difference | None = None
    problem: str | None = None
    remedy: str | None = None

    @property
    def exit_code(self) -> int:
        """0 if the result is the same or within tolerance, 1 if it is different, 2 if it is not verified."""
        return {"same": 0, "within tolerance": 0, "different": 1, "not verified": 2}[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types."""
        return {
            "verdict": self.verdict,
            "expected": self.expected.to_dict(),
            "found": self.found.to_dict() if self.found else None,
            "foreseen": [str(change) for change in self.foreseen],
            "difference": self.difference.to_dict() if self.difference else None,
            "problem": self.problem,
            "remedy": self.remedy,
        }


def read_receipt(path: Path) -> Stored:
    """Read a receipt from any file, with access to the attachments beside it.

    Raises
    ------
    UserError
        If the file does not exist.
    ReceiptError
        If it is not a receipt.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise too_large(path)
        receipt = Receipt.from_json(path.read_bytes())
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror or error}", remedy="name a receipt's .json file, or its id"
        ) from error
    except ReceiptError as error:
        raise ReceiptError(f"{path}: {error.message}", error.remedy) from error

    def open_attachment(kind: str) -> Any:
        from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
        from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf

        (attachment,) = [item for item in receipt.attachments if item.kind == kind]
        file = path.parent / attachment.name
        if not file.is_file():
            raise UserError(f"{attachment.name} does not exist beside the receipt")
        if file_digest(file, "sha256") != attachment.sha256:
            raise UserError(f"{attachment.name} has changed since it was written")
        return read_netcdf(file, DataAssembly)

    return Stored(receipt, open_attachment)


def foresee(receipt: Receipt, *, plugins: Callable[[str, str], Path | None] | None = None) -> tuple[Change, ...]:
    """List what differs between this machine and that of a receipt, without scoring or loading anything.

    Parameters
    ----------
    receipt : Receipt
        Receipt of the pair.
    plugins : callable, optional
        Kind and identifier → folder of the plugin that registers it, or None. Without this function, plugins are not
        compared.

    Returns
    -------
    tuple of Change
        Code of plugins, versions of libraries, Python, platform, processor.
    """

    def code(kind: str, identifier: str, then: PluginCode | None) -> PluginCode | None:
        folder = plugins(kind, identifier) if plugins is not None else None
        return then if folder is None else describe_plugin(folder)

    model, benchmark = receipt.model, receipt.benchmark
    here = replace(
        receipt,
        model=replace(model, plugin=code("model", model.identifier, model.plugin)),
        benchmark=replace(benchmark, plugin=code("benchmark", benchmark.identifier, benchmark.plugin)),
        data=tuple(replace(item, plugin=code(item.kind, item.identifier, item.plugin)) for item in receipt.data),
        environment=current_environment(),
    )
    return changes_between(receipt, here)[0]


def compare_attachments(a: Stored, b: Stored) -> tuple[ArrayDifference, ...]:
    """Compare the raw values and the predictions of two receipts, if both have them."""
    differences = []
    for kind in _COMPARED:
        if not all(any(item.kind == kind for item in stored.receipt.attachments) for stored in (a, b)):
            continue
        try:
            differences.append(array_difference(kind, a.open_attachment(kind), b.open_attachment(kind)))
        except (UserError, OSError, TypeError, ValueError) as error:
            problem = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
            differences.append(ArrayDifference(kind=kind, problem=problem))
    return tuple(differences)


def verify(
    stored: Stored | Receipt,
    score: Callable[[ResultsStore], Outcome],
    *,
    store: ResultsStore,
    plugins: Callable[[str, str], Path | None] | None = None,
    tolerance: Tolerance | None = None,
    on_foreseen: Callable[[Sequence[Change]], None] | None = None,
) -> Verification:
    """Score a pair again and check whether the result equals that of its receipt; if not, find what differs.

    Parameters
    ----------
    stored : Stored or Receipt
        The receipt to verify. For a `Stored`, raw values and predictions are compared as well.
    score : callable
        Scores the receipt's pair, given the store to write to; usually :func:`~brainscore_core.scoring.run_pair` with
        loaders. If it raises a `UserError`, the pair cannot be scored here.
    store : ResultsStore
        Store of the new receipt.
    plugins : callable, optional
        As for :func:`foresee`.
    tolerance : Tolerance, optional
        Largest differences that count as the same result.
    on_foreseen : callable, optional
        Called with the known differences before the pair is scored.

    Returns
    -------
    Verification
        Verdict, both receipts, difference.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.benchmarks import BenchmarkBase, ceil_score
    >>> from brainscore_core.metrics import Score
    >>> from brainscore_core.scoring import run_pair
    >>> class Answer(BenchmarkBase):
    ...     def __call__(self, candidate):
    ...         return ceil_score(Score(candidate), self.ceiling)
    >>> def score(store=None):
    ...     return run_pair("half", "Answer2026-accuracy", results=store, load_model=lambda identifier: 0.4,
    ...                     load_benchmark=lambda identifier: Answer(identifier, lambda: 0.8, version=1))
    >>> verify(score().receipt, score, store=ResultsStore(tempfile.mkdtemp())).verdict
    'same'
    """
    if isinstance(stored, Receipt):
        stored = Stored(stored, _no_attachment)
    expected = stored.receipt
    foreseen = foresee(expected, plugins=plugins)
    if on_foreseen is not None:
        on_foreseen(foreseen)
    before = _newest(store, expected)
    try:
        new = score(store).receipt
    except Exception as error:
        failed = _newest(store, expected)  # the receipt of the failure, which was just written
        failed = None if failed == before or failed is None or failed.state != "failed" else failed
        is_expected = expected.error is not None and expected.error.type == type(error).__qualname__
        if isinstance(error, UserError) and not is_expected:
            return Verification(
                verdict="not verified",
                expected=expected,
                found=failed,
                foreseen=foreseen,
                problem=error.message,
                remedy=error.remedy,
            )
        if failed is None:  # not a failure of the pair
            raise
        new = failed
    arrays = compare_attachments(stored, stored_in(store, new))
    result = difference(expected, new, tolerance=tolerance, arrays=arrays)
    if result.verdict == "other pair":
        raise UserError(
            f"receipt {expected.id} is of {expected.model.identifier} on {expected.benchmark.identifier}, but "
            f"{new.model.identifier} on {new.benchmark.identifier} was scored",
            remedy="score the same model on the same benchmark",
        )
    return Verification(verdict=result.verdict, expected=expected, found=new, foreseen=foreseen, difference=result)


def _no_attachment(kind: str) -> Any:
    raise UserError(f"{kind} is not available")


def _newest(store: ResultsStore, receipt: Receipt) -> Receipt | None:
    listing = store.listing(model=receipt.model.identifier, benchmark=receipt.benchmark.identifier)
    return listing.receipts[-1] if listing.receipts else None
