"""How long pairs take and how much memory they need, as receipts of other pairs tell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.scoring._effects import Effects, Observation, fit_effects

if TYPE_CHECKING:
    from brainscore_core.scoring._receipt import Receipt

__all__ = ["Cost", "Costs", "Prediction", "costs_table"]

Source = Literal["measured", "fitted", "table"]

_WIDTH = 1.645  # of a normal distribution, 90 % lie within as many standard deviations
_REPEAT = 0.3  # standard deviation of a pair's logarithm between two runs of it, before it is known
_MACHINE = 0.7  # and between two machines
_RUN = ("scored", "undefined")  # states that stand for the whole of the work
_VERSION = 1


class Prediction(NamedTuple):
    """A number that is expected, and the range that holds it in 90 % of cases.

    Attributes
    ----------
    value, low, high : float
        Seconds or bytes.
    source : str
        ``'measured'``: of this very pair; ``'fitted'``: from receipts of this model and of this benchmark, as far as
        there are; ``'table'``: from measurements that came with the package, made on another machine.
    """

    value: float
    low: float
    high: float
    source: Source


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a pair takes; None where nothing is known.

    Attributes
    ----------
    seconds : Prediction or None
        By the wall clock, loading included.
    memory : Prediction or None
        Highest resident memory of the process, in bytes.
    """

    seconds: Prediction | None = None
    memory: Prediction | None = None


class Costs:
    """Predicts from what pairs took before.

    The same pair's own receipts say most. Otherwise the logarithm of the seconds (of the bytes) is the sum of what
    the model and what the benchmark add, estimated robustly from all pairs that were scored. Memory counts only where
    a pair raised that of its process; elsewhere the number is an earlier pair's. Nor does it count where the model ran
    isolated, in a process of its own.

    Parameters
    ----------
    receipts : iterable of Receipt
        In any order.
    table : mapping, optional
        What :func:`costs_table` made on another machine, whose speed is estimated, too.

    Examples
    --------
    >>> from brainscore_core.scoring import BenchmarkInfo, ModelInfo, Receipt, Timings
    >>> def scored(model, benchmark, seconds):
    ...     return Receipt(model=ModelInfo(identifier=model), benchmark=BenchmarkInfo(identifier=benchmark),
    ...                    state="scored", timings=Timings(total=seconds))
    >>> costs = Costs([scored("small", "A2026-pls", 1.0), scored("small", "B2026-pls", 10.0),
    ...                scored("large", "A2026-pls", 5.0)])
    >>> costs.of("large", "A2026-pls").seconds.value, costs.of("large", "B2026-pls").seconds.source
    (5.0, 'fitted')
    >>> costs.of("another", "C2026-pls").seconds is None
    True
    """

    def __init__(self, receipts: "Iterable[Receipt]" = (), *, table: Mapping[str, Any] | None = None) -> None:
        seconds: dict[tuple[str, str], list[float]] = {}
        memory: dict[tuple[str, str], list[float]] = {}
        worked: set[tuple[str, str]] = set()
        for receipt in receipts:
            pair = (receipt.model.identifier, receipt.benchmark.identifier)
            if receipt.state == "failed":
                continue
            if receipt.state in _RUN:
                worked.add(pair)
            if receipt.timings.total:
                seconds.setdefault(pair, []).append(receipt.timings.total)
            if _own_memory(receipt):
                memory.setdefault(pair, []).append(receipt.memory.peak_bytes or 0)
        listed = _read_table(table)
        self._seconds = _Quantity(seconds, worked, [(m, b, s) for m, b, s, _ in listed if s])
        self._memory = _Quantity(memory, worked, [(m, b, size) for m, b, _, size in listed if size])

    @classmethod
    def none(cls) -> Self:
        """Make costs that know nothing."""
        return cls()

    def of(self, model: str, benchmark: str) -> Cost:
        """Predict what a pair takes."""
        return Cost(seconds=self._seconds.predict(model, benchmark), memory=self._memory.predict(model, benchmark))


class _Quantity:
    """Seconds, or bytes."""

    def __init__(
        self,
        found: Mapping[tuple[str, str], list[float]],
        worked: set[tuple[str, str]],
        listed: list[tuple[str, str, float]],
    ) -> None:
        self._found = found
        here = [Observation(*pair, float(np.median(values))) for pair, values in found.items() if pair in worked]
        self._known = {observation.row for observation in here}, {observation.column for observation in here}
        self._nothing_here = not here
        away = [Observation(*entry, elsewhere=True) for entry in listed]
        self._effects: Effects | None = fit_effects([*here, *away])

    def predict(self, model: str, benchmark: str) -> Prediction | None:
        if values := self._found.get((model, benchmark)):
            logarithms = np.log(values)
            squares = float(np.sum((logarithms - np.median(logarithms)) ** 2))
            deviation = np.sqrt((squares + 2 * _REPEAT**2) / (len(values) + 2))
            return _prediction(float(np.median(values)), float(deviation), "measured")
        expected = self._effects.predict(model, benchmark) if self._effects is not None else None
        if expected is None:
            return None
        logarithm, deviation = expected
        if self._nothing_here:
            deviation = float(np.hypot(deviation, _MACHINE))
        here = model in self._known[0] or benchmark in self._known[1]
        return _prediction(float(np.exp(logarithm)), deviation, "fitted" if here else "table")


def _prediction(value: float, deviation: float, source: Source) -> Prediction:
    factor = float(np.exp(_WIDTH * deviation))
    return Prediction(value, value / factor, value * factor, source)


def costs_table(receipts: "Iterable[Receipt]") -> dict[str, Any]:
    """Write what pairs took, for machines that have no receipts yet.

    Parameters
    ----------
    receipts : iterable of Receipt
        Of one machine. Pairs without a score are left out.

    Returns
    -------
    dict
        Plain JSON types: ``version``; ``machine``; ``pairs``, a list of model, benchmark, seconds, bytes or None.
    """
    kept = [receipt for receipt in receipts if receipt.state in _RUN and receipt.timings.total]
    seconds: dict[tuple[str, str], list[float]] = {}
    memory: dict[tuple[str, str], list[int]] = {}
    for receipt in kept:
        pair = (receipt.model.identifier, receipt.benchmark.identifier)
        seconds.setdefault(pair, []).append(receipt.timings.total or 0.0)
        if _own_memory(receipt):
            memory.setdefault(pair, []).append(receipt.memory.peak_bytes or 0)
    machines = sorted({f"{receipt.environment.cpu or '?'}, {receipt.environment.cpu_count} cores" for receipt in kept})
    pairs = [
        [*pair, round(float(np.median(seconds[pair])), 2), int(np.median(memory[pair])) if pair in memory else None]
        for pair in sorted(seconds)
    ]
    return {"version": _VERSION, "machine": "; ".join(machines), "pairs": pairs}


def _own_memory(receipt: "Receipt") -> bool:
    """Whether its memory is the pair's, and all of it: an isolated model's is that of another process."""
    isolated = receipt.run is not None and receipt.run.isolated
    return bool(receipt.memory.raised_here and receipt.memory.peak_bytes) and not isolated


def _read_table(table: Mapping[str, Any] | None) -> list[tuple[str, str, float, float]]:
    if table is None:
        return []
    if table.get("version") != _VERSION:
        raise UserError(f"a table of costs of version {table.get('version')!r}; this one reads {_VERSION}")
    return [(str(m), str(b), float(seconds or 0), float(size or 0)) for m, b, seconds, size in table["pairs"]]
