"""Score many models on many benchmarks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from brainscore_core.domain_names import PACKAGES
from brainscore_core.domains import domain as domain_named
from brainscore_core.progress import stage

if TYPE_CHECKING:
    from brainscore_core.runner import ClusterOptions, Event, RunReport
    from brainscore_core.runner.plan import Again, Plan
    from brainscore_core.runner.selection import Selection
    from brainscore_core.scoring import ResultsStore

SCORER = "brainscore_core.runner.scoring:score_pair"
"""What a worker calls for each pair."""

_MEMORY_OF_A_WORKER = 4_000_000_000  # bytes; networks on a benchmark's stimuli mostly need less


def run(
    models: str | Sequence[str],
    benchmarks: str | Sequence[str],
    *,
    results: str | os.PathLike[str] | ResultsStore | None = None,
    again: Again = "failed",
    workers: int | None = None,
    max_memory: str | int | None = None,
    gpus: int = 0,
    isolated: bool = False,
    cage: Mapping[str, Any] | None = None,
    scheduler: str | None = None,
    slurm: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
    on_event: Callable[[Event], Any] | None = None,
    domain: str | None = None,
) -> RunReport:
    """Score every model on every benchmark, except pairs that are scored already.

    Parameters
    ----------
    models, benchmarks : str or sequence of str
        Names, patterns, files, groups, as for ``brainscore run``.
    results : path, address or ResultsStore, optional
        Store of receipts: a folder or ``s3://bucket/prefix``.
    again : {'failed', 'none', 'all'}
        Which pairs with a receipt are scored again: failed and outdated ones, none, or all.
    workers : int, optional
        Number of processes that score at the same time; with `slurm`, of jobs. By default one per core, each with 4 GB,
        and with `gpus` at most the number of GPUs.
    max_memory : str or int, optional
        Memory limit of all processes together, such as ``'16GB'``; by default 80 % of the available memory.
    gpus : int
        Number of this machine's GPUs to use; each model requests one.
    isolated : bool
        Whether each model runs in a process and environment of its own.
    cage : mapping, optional
        If given, models run in a sandbox with these options of `brainscore_vision.run_pair`.
    scheduler : str, optional
        Address of an existing Dask scheduler.
    slurm : path, optional
        Profile of a SLURM cluster.
    timeout : float, optional
        Time limit of a pair in seconds.
    on_event : callable, optional
        Called with every event of the run. By default a terminal or a notebook shows how many pairs are done.
    domain : str, optional
        Domain of the names, such as ``'language'``; by default that in which all of them match something.

    Returns
    -------
    RunReport
        The results of the pairs to score; the receipts are in `results`.

    Raises
    ------
    brainscore_core.errors.UserError
        If a name matches nothing, or options cannot be combined.
    """
    options = cluster_options(
        workers=workers, max_memory=max_memory, gpus=gpus, scheduler=scheduler, slurm=slurm, timeout=timeout
    )
    with starting_early(options):
        from brainscore_core.results.store import ResultsStore
        from brainscore_core.runner import PairFinished, PairSkipped
        from brainscore_core.runner.selection import plan_selection, select

        store = results if isinstance(results, ResultsStore) else ResultsStore(results)
        selection = select(_several(models), _several(benchmarks), domain)
        plan = plan_selection(selection, store, again=again, gpu=int(gpus > 0))
        if on_event is not None:
            return execute(selection, plan, store, options, isolated=isolated, cage=cage, on_event=on_event)
        with stage("scoring", len(plan.pending), unit="pairs") as progress:

            def count(event: Event) -> None:
                if isinstance(event, PairFinished | PairSkipped):
                    progress.advance()

            return execute(selection, plan, store, options, isolated=isolated, cage=cage, on_event=count)


def starting_early(options: ClusterOptions) -> AbstractContextManager[None]:
    """Let the processes of a run start while it is planned, in the block in which it is also executed."""
    from brainscore_core.runner.cluster import starting_early

    modules = (f"{PACKAGES[0]}.benchmarks", "torch")  # most benchmarks need the first, most models the second
    return starting_early(SCORER, options, modules)


def execute(
    selection: Selection,
    plan: Plan,
    store: ResultsStore,
    options: ClusterOptions,
    *,
    isolated: bool,
    cage: Mapping[str, Any] | None = None,
    products: bool = True,
    on_event: Callable[[Event], Any],
) -> RunReport:
    """Score the pending pairs of a plan."""
    from brainscore_core.results.products import products_wanted
    from brainscore_core.runner import run_plan

    scored = domain_named(selection.domain)
    options_of_pairs: dict[str, Any] = {"domain": selection.domain, "files": selection.files}
    if scored.offers("regions recorded together"):
        options_of_pairs["regions"] = scored.feature("regions recorded together")(selection.benchmarks)
    options_of_pairs = {name: value for name, value in options_of_pairs.items() if value}
    if not (products and products_wanted()):
        options_of_pairs["products"] = False
    if cage is not None:
        from brainscore_core.isolation.sandbox import require_sandbox

        if options.is_local:
            require_sandbox()  # on other machines, each worker checks this itself
        options_of_pairs["cage"] = dict(cage)
    return run_plan(
        plan,
        store_address=store.address,
        scorer=SCORER,
        cluster=options,
        on_event=on_event,
        isolated=isolated or cage is not None,
        scorer_options=options_of_pairs,
    )


def cluster_options(
    *,
    workers: int | None = None,
    max_memory: str | int | None = None,
    gpus: int = 0,
    scheduler: str | None = None,
    slurm: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
) -> ClusterOptions:
    """Return the options of the cluster, with defaults filled in; see :func:`run`."""
    from pathlib import Path

    from brainscore_core.memory import memory_limit, parse_size
    from brainscore_core.runner.cluster import ClusterOptions

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    total = memory_limit() if max_memory is None else parse_size(max_memory)
    # independent of the number of pending pairs: the number of threads changes the last digits of scores
    here = scheduler is None and slurm is None
    most = gpus if here and gpus > 0 else cores  # every model requests a GPU: a worker without one would be idle
    workers = workers or max(1, min(cores, most, total // _MEMORY_OF_A_WORKER))
    return ClusterOptions(
        workers=workers,
        threads_per_worker=max(1, cores // workers),
        memory=None if max_memory is None else total // workers,
        scheduler=scheduler,
        slurm=None if slurm is None else Path(slurm),
        gpus=gpus,
        timeout=timeout,
    )


def _several(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
