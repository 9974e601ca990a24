"""Open what pairs are scored on: workers of this machine, a scheduler that runs already, jobs of a SLURM cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.scoring._plugin_code import platform_code
from brainscore_core.scoring.engine._cluster_parts import Cluster, close, resources, wait_for_workers
from brainscore_core.scoring.engine._local import local_cluster
from brainscore_core.scoring.engine._options import ClusterOptions
from brainscore_core.scoring.engine._quiet import silent
from brainscore_core.scoring.engine._slurm import SlurmProfile
from brainscore_core.scoring.engine._task import other_code

__all__ = ["largest_memory", "open_cluster", "require_distributed"]


def require_distributed() -> Any:
    """Import Dask's package.

    Raises
    ------
    UserError
        If it is not installed.
    """
    try:
        import distributed
    except ImportError as error:
        raise UserError("runs need Dask", remedy='pip install "brainscore[cluster]"') from error
    return distributed


@contextmanager
def open_cluster(options: ClusterOptions, *, tasks: int, bigger_than: int | None = None) -> Iterator[Cluster]:
    """Open a cluster, and close it in the end whatever happens.

    Parameters
    ----------
    options : ClusterOptions
        Which.
    tasks : int
        How many there are; on this machine no more workers are started.
    bigger_than : int, optional
        Only workers with more memory than these bytes are wanted.

    Yields
    ------
    Cluster
        With at least one worker, except for jobs that wait in a queue.
    """
    require_distributed()
    opened: Any
    if options.scheduler is not None:
        opened = _existing(options, bigger_than)
    elif options.slurm is not None:
        opened = _slurm(options, bigger_than)
    else:
        opened = local_cluster(options, tasks, bigger_than)
    with silent(), opened as cluster:
        yield cluster


def largest_memory(options: ClusterOptions, client: Any) -> int | None:
    """Bytes of the largest worker that there is, or that can be had; None where no worker has a limit."""
    if options.scheduler is not None:
        return max((memory for memory in _memories(client).values() if memory), default=None)
    if options.slurm is not None:
        profile = SlurmProfile.read(options.slurm)
        return profile.retry_memory or profile.memory
    return options.bigger_memory


@contextmanager
def _existing(options: ClusterOptions, bigger_than: int | None) -> Iterator[Cluster]:
    from distributed import Client

    try:
        client = Client(options.scheduler, timeout=options.start_timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UserError(
            f"no scheduler answers at {options.scheduler}: {error}",
            remedy="start one with `dask scheduler`, or leave out --scheduler to use this machine",
        ) from error
    try:
        wait_for_workers(client, 1, options.start_timeout)
        _check_versions(client)
        yield Cluster(
            client=client,
            memory=None,
            threads=options.threads_per_worker,
            slots=lambda: max(1, 2 * sum(_workers(client, "nthreads").values())),
            where=lambda need, gpus: _among(client, need, gpus, bigger_than),
        )
    finally:
        close(client)


@contextmanager
def _slurm(options: ClusterOptions, bigger_than: int | None) -> Iterator[Cluster]:
    from distributed import Client

    try:
        from dask_jobqueue import SLURMCluster
    except ImportError as error:
        raise UserError("SLURM needs dask-jobqueue", remedy='pip install "brainscore[cluster]"') from error
    assert options.slurm is not None
    profile = SlurmProfile.read(options.slurm)
    memory = profile.memory if bigger_than is None else profile.retry_memory or profile.memory
    cluster = client = None
    try:
        cluster = SLURMCluster(
            **profile.cluster_arguments(memory),
            security=_security(profile),
            protocol="tls://" if profile.tls else "tcp://",
            silence_logs=logging.CRITICAL,
            scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"}
            | ({"interface": profile.interface} if profile.interface else {}),
        )
        client = Client(cluster, set_as_default=False)
        _submit_first(cluster)
        # as many jobs as there are tasks; an idle one goes after a minute
        cluster.adapt(
            minimum_jobs=0, maximum_jobs=options.workers, target_duration="10ms", interval="2s", wait_count=30
        )
        yield Cluster(
            client=client,
            memory=memory,
            threads=profile.cores,
            slots=lambda: options.workers,
            where=lambda need, gpus: resources(min(need or 0, memory), min(gpus, profile.gpus)),
        )
    finally:
        close(client, cluster)


def _submit_first(cluster: Any) -> None:
    """Submit a job now: what SLURM has against it is lost where the cluster grows by itself."""
    try:
        # not by scale, which submits in the background
        cluster.worker_spec.update(cluster.new_worker_spec())
        cluster.sync(cluster._correct_state)
    except (OSError, RuntimeError, ValueError) as error:
        raise UserError(
            f"SLURM takes no job: {error}", remedy="mend the profile; the run must be started where sbatch is"
        ) from error


def _security(profile: SlurmProfile) -> Any:
    if not profile.tls:
        return None
    from distributed.security import Security

    try:
        return Security.temporary()
    except ImportError as error:
        raise UserError(
            "keys between workers and scheduler need the package cryptography",
            remedy="pip install cryptography; or write tls: false where nobody else reaches this machine's ports",
        ) from error


def _among(client: Any, need: int | None, gpus: int, bigger_than: int | None) -> dict[str, Any]:
    """Which of the workers of a scheduler that was there before may take a task."""
    advertised = _workers(client, "resources")
    wanted: dict[str, float] = {}
    # where nobody says that there are GPUs, a model has to do without
    if gpus := int(min(gpus, max(((has or {}).get("GPU", 0) for has in advertised.values()), default=0))):
        wanted["GPU"] = gpus
    memories = _memories(client)
    largest = max((memory for memory in memories.values() if memory), default=0)
    lowest = min(max(need or 0, 0 if bigger_than is None else bigger_than + 1), largest)
    arguments: dict[str, Any] = {}
    if lowest and all("memory" in (has or {}) for has in advertised.values()):
        wanted["memory"] = lowest / 1e6
    elif lowest:
        fitting = [address for address, memory in memories.items() if memory is None or memory >= lowest]
        if len(fitting) < len(memories):  # else workers that come later may take it, too
            arguments["workers"] = fitting
    if wanted:
        arguments["resources"] = wanted
    return arguments


def _workers(client: Any, what: str) -> dict[str, Any]:
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return {address: info.get(what) for address, info in workers.items()}


def _memories(client: Any) -> dict[str, int | None]:
    """Bytes that each worker has for a task, as :func:`advertised_memory` finds it there."""
    found: dict[str, int | None] = {}
    for address, info in client.scheduler_info(n_workers=-1)["workers"].items():
        megabytes = (info.get("resources") or {}).get("memory")
        limit = info.get("memory_limit")
        found[address] = int(megabytes * 1e6) if megabytes else int(limit / info["nthreads"]) if limit else None
    return found


def _check_versions(client: Any) -> None:
    """Refuse workers that run other versions: they would fail later, or give other numbers."""
    found = client.get_versions(packages=["brainscore_core"])
    own = found["client"]
    for place, theirs in (("the scheduler", found["scheduler"]), *found["workers"].items()):
        if theirs is None:
            continue
        for package in ("distributed", "dask", "cloudpickle"):
            here, there = own["packages"].get(package), theirs["packages"].get(package)
            if here != there:
                raise UserError(
                    f"{place} runs {package} {there}, here it is {here}",
                    remedy="use the same environment on both sides",
                )
        here, there = own["host"]["python"].split(".")[:2], theirs["host"]["python"].split(".")[:2]
        if here != there:
            raise UserError(
                f"{place} runs Python {'.'.join(there)}, here it is {'.'.join(here)}",
                remedy="use the same environment on both sides",
            )
    code = platform_code()
    for place, theirs in client.run(platform_code, on_error="return").items():
        if isinstance(theirs, str) and theirs != code:
            raise other_code(place)
