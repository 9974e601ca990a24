"""Score the pair of a receipt again, with the registered models and benchmarks."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import brainscore_vision
from brainscore_core.errors import UserError
from brainscore_vision._composed_names import resolve_benchmark
from brainscore_vision._subjects import is_file_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from brainscore_core.scoring import Change, Outcome, Receipt, ResultsStore, Stored, Tolerance, Verification

__all__ = ["verify"]

_ACTIVATIONS = "BRAINSCORE_ACTIVATIONS"


def verify(
    receipt: Receipt | Stored | str | Path,
    *,
    model: Any = None,
    how: Mapping[str, Any] | None = None,
    results: ResultsStore | None = None,
    tolerance: Tolerance | None = None,
    stored_activations: bool = False,
    isolated: bool | None = None,
    on_foreseen: Callable[[Sequence[Change]], None] | None = None,
) -> Verification:
    """Score the pair of a receipt again, and say whether the result is the same, and if not, which part differs.

    Parameters
    ----------
    receipt : Receipt, Stored, or path
        What is verified: a receipt, or its JSON file.
    model : optional
        The model where it is not registered: ``path/to/file.py:make_model``, or as for `brainscore_vision.score`.
    how : mapping, optional
        Options of a model that is not registered, as for `brainscore_vision.score`.
    results : ResultsStore, optional
        Where to keep the new receipt; by default it is not kept.
    tolerance : Tolerance, optional
        What counts as the same result though the last digits differ.
    stored_activations : bool
        Whether to use activations that are stored, which prove less. Otherwise they are computed, and
        ``BRAINSCORE_ACTIVATIONS`` names a folder that is removed again while this runs.
    isolated : bool, optional
        Whether the model runs in a process and an environment of its own; by default as it did.
    on_foreseen : callable, optional
        Told what is known to differ, before the pair is scored.

    Returns
    -------
    brainscore_core.scoring.Verification
        With ``verdict``: ``'same'``, ``'within tolerance'``, ``'different'`` or ``'not verified'``.

    Raises
    ------
    brainscore_core.errors.UserError
        The model is not registered and `model` is not given, or the benchmark is not registered.

    Examples
    --------
    >>> from brainscore_core.benchmarks import BenchmarkBase, ceil_score
    >>> from brainscore_core.metrics import Score
    >>> from brainscore_vision import benchmark_registry, model_registry, run_pair
    >>> class Guess(BenchmarkBase):
    ...     def __init__(self):
    ...         super().__init__("Guess2026-accuracy", ceiling_func=lambda: 0.8, version=1)
    ...     def __call__(self, candidate):
    ...         return ceil_score(Score(candidate()), self.ceiling)
    >>> benchmark_registry["Guess2026-accuracy"] = Guess
    >>> model_registry["guesser"] = lambda: lambda: 0.6
    >>> verify(run_pair("guesser", "Guess2026-accuracy").receipt).verdict
    'same'
    >>> del benchmark_registry["Guess2026-accuracy"], model_registry["guesser"]
    """
    from brainscore_core import scoring

    stored = scoring.read_receipt(Path(receipt)) if isinstance(receipt, str | Path) else receipt
    expected = stored.receipt if isinstance(stored, scoring.Stored) else stored
    identifier = expected.model.identifier
    if model is None:
        _require_registered(expected)
    benchmark = resolve_benchmark(expected.benchmark.identifier)
    subject: Any = identifier
    if isolated is None:
        isolated = expected.run is not None and expected.run.isolated
    options: dict[str, Any] = {"isolated": isolated}
    if model is not None:
        subject = model
        options |= {"identifier": identifier, "how": dict(how or {})}

    def score(store: ResultsStore) -> Outcome:
        return brainscore_vision.run_pair(subject, benchmark, results=store, **options)

    with TemporaryDirectory(prefix="brainscore-verify-") as folder, _activations(folder, stored_activations):
        return scoring.verify(
            stored,
            score,
            store=scoring.ResultsStore(Path(folder) / "results") if results is None else results,
            plugins=lambda kind, name: _folder(kind, name, model),
            tolerance=tolerance,
            on_foreseen=on_foreseen,
        )


@contextmanager
def _activations(folder: str, stored: bool) -> Iterator[None]:
    """Let activations go to a folder of their own for the time being, unless stored ones may be used."""
    from brainscore_vision.model_helpers.activations.store import activations_home

    if stored or activations_home() is None:
        yield
        return
    before = os.environ.get(_ACTIVATIONS)
    os.environ[_ACTIVATIONS] = str(Path(folder) / "activations")
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ACTIVATIONS]
        else:
            os.environ[_ACTIVATIONS] = before


def _require_registered(receipt: Receipt) -> None:
    """Refuse a receipt whose model is no plugin's: a receipt does not say where its code is."""
    identifier = receipt.model.identifier
    if identifier in brainscore_vision.model_registry:
        return
    plugin = receipt.model.plugin
    came = f" Its code was in {plugin.name!r}." if plugin is not None else ""
    raise UserError(
        f"The model {identifier!r} of this receipt is not registered here.{came}",
        remedy="Name its plugin's folder in BRAINSCORE_PLUGINS; or, if it was scored from a file: "
        "--model path/to/file.py:make_model",
    )


def _folder(kind: str, identifier: str, model: Any) -> Path | None:
    if kind != "model" or model is None:
        return brainscore_vision._plugin_folder(kind, identifier)
    return Path(model.rpartition(":")[0]).expanduser().resolve() if is_file_reference(model) else None
