"""Clusters: workers on this machine, an existing Dask scheduler, or SLURM jobs."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.memory import memory_limit
from brainscore_core.runner.process import scoring_environment
from brainscore_core.runner.slurm import SlurmProfile
from brainscore_core.runner.template import end_idle_templates, start_template


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Where pairs are scored, and the resources of each.

    Attributes
    ----------
    workers : int
        Processes on this machine that score at the same time; with `slurm` the largest number of jobs.
    threads_per_worker : int
        Threads of the numerical libraries in each worker. With `slurm`, the profile's cores are used.
    memory : int, optional
        Bytes that each worker may use, including isolated models; by default an equal share of
        :func:`~brainscore_core.memory.memory_limit`. With `scheduler` and `slurm`, workers have their own limits.
    scheduler : str, optional
        Address of an existing Dask scheduler, such as ``'tcp://10.0.0.1:8786'``.
    slurm : path, optional
        Profile of a SLURM cluster, a YAML file (docs/scaling.md).
    gpus : int
        Number of this machine's GPUs that are distributed to workers; 0: GPUs are not assigned.
    timeout : float, optional
        Seconds after which a pair fails.
    start_timeout : float
        Seconds to wait for a scheduler, and for its first worker.

    Raises
    ------
    UserError
        If a number is invalid, or `scheduler` and `slurm` are both given.

    Examples
    --------
    >>> options = ClusterOptions(workers=4, memory=2_000_000_000)
    >>> options.worker_memory, options.bigger_memory > options.worker_memory
    (2000000000, True)
    """

    workers: int = 1
    threads_per_worker: int = 1
    memory: int | None = None
    scheduler: str | None = None
    slurm: str | Path | None = None
    gpus: int = 0
    timeout: float | None = None
    start_timeout: float = 60.0

    def __post_init__(self) -> None:
        for name, smallest in (("workers", 1), ("threads_per_worker", 1), ("gpus", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
                raise UserError(f"{name} is {value!r}", remedy=f"use a whole number of at least {smallest}")
        for name in ("memory", "timeout", "start_timeout"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise UserError(f"{name} is {value!r}", remedy="use a number above 0, or leave it out")
        if self.scheduler is not None and self.slurm is not None:
            raise UserError("a scheduler and SLURM cannot be used together", remedy="leave one out")
        if self.scheduler is not None and "://" not in self.scheduler:
            raise UserError(
                f"{self.scheduler!r} is not an address of a scheduler", remedy="write it as tcp://10.0.0.1:8786"
            )

    @property
    def is_local(self) -> bool:
        """Whether workers are started on this machine."""
        return self.scheduler is None and self.slurm is None

    @property
    def shares_template(self) -> bool:
        """Whether workers share a template and may take over pairs: those of this machine do, without GPUs."""
        return self.is_local and not self.gpus

    @property
    def worker_memory(self) -> int:
        """Bytes that each worker on this machine may use."""
        return int(self.memory) if self.memory is not None else memory_limit() // self.workers

    @property
    def bigger_memory(self) -> int:
        """Bytes of the single worker on this machine that repeats pairs that were killed for their memory.

        The total of all workers, up to :func:`~brainscore_core.memory.memory_limit`. A single worker already has all.
        """
        return max(self.worker_memory, min(self.worker_memory * self.workers, memory_limit()))


CLOSE_SECONDS = 10


@dataclass(frozen=True)
class Cluster:
    """An open cluster."""

    client: Any  # the connected client
    memory: int | None  # bytes of each worker, if all have the same
    threads: int  # threads of the numerical libraries
    slots: Callable[[], int]  # returns how many tasks may be submitted at a time
    # Requested bytes and GPUs of a task → arguments of `Client.submit`. Requests are limited to the largest worker,
    # since an expectation may be wrong, and no worker would take the task
    where: Callable[[int | None, int], dict[str, Any]]


def resources(need: int, gpus: int) -> dict[str, Any]:
    """Resources that Dask reserves for a task: memory in MB and GPUs."""
    reserved: dict[str, float] = {}
    if need:
        reserved["memory"] = need / 1e6
    if gpus:
        reserved["GPU"] = gpus
    return {"resources": reserved} if reserved else {}


def wait_for_workers(client: Any, count: int, seconds: float) -> None:
    """Wait until the cluster has `count` workers; a `UserError` explains why there are none."""
    try:
        client.wait_for_workers(count, timeout=seconds)
    except TimeoutError as error:
        raise UserError(
            f"no worker after {seconds:g} seconds",
            remedy="start workers with `dask worker ADDRESS`, or check their logs",
        ) from error


def close(*parts: Any, seconds: float = CLOSE_SECONDS) -> None:
    """Close clients and clusters, ignoring errors of those that have already ended."""
    with deferring_interrupts():
        for resource in parts:
            if resource is not None:
                with contextlib.suppress(Exception):
                    resource.close(timeout=seconds)


_LOCAL_ADDRESS = "127.0.0.1"
_LOCAL = {
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",  # these two take 3 % of a core with their usual intervals
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.preload": [],
    "distributed.scheduler.preload": [],
    "distributed.scheduler.worker-ttl": None,
    "distributed.diagnostics.nvml": False,
}


@contextmanager
def local_cluster(options: ClusterOptions, tasks: int, bigger_than: int | None) -> Iterator[Cluster]:
    """Start workers on this machine, or with `bigger_than` a single one with the memory of all.

    They are threads of this process, since all they do is to start and watch processes. They start in a fraction of a
    second and share a template (``template.py``).
    """
    import dask
    from distributed import Client, Scheduler, SpecCluster, Worker
    from distributed.utils import LoopRunner

    workers = min(options.workers, tasks) if bigger_than is None else 1
    memory = options.worker_memory if bigger_than is None else options.bigger_memory
    devices = _devices(options.gpus, workers)
    with temporary_folder("brainscore-run-") as folder, dask.config.set(_LOCAL):
        with without_interrupts():
            runner = LoopRunner()
            runner.start()
        client, loop = None, runner.loop
        common = {
            "protocol": "inproc://",
            "dashboard": False,
            "dashboard_address": f"{_LOCAL_ADDRESS}:0",  # any free port
        }
        specifications = {
            number: {
                "cls": Worker,
                "options": {
                    **common,
                    "nthreads": 1,  # one task at a time
                    "memory_limit": 0,
                    "resources": {"memory": memory / 1e6, **({"GPU": len(visible)} if visible else {})},
                    "local_directory": str(folder),
                },
            }
            for number, visible in enumerate(devices)
        }
        try:
            cluster = SpecCluster(
                scheduler={"cls": Scheduler, "options": common},
                workers=specifications,
                loop=loop,
                silence_logs=logging.CRITICAL,
                name="brainscore",
            )
            client = Client(cluster, set_as_default=False)
            wait_for_workers(client, workers, options.start_timeout)
            if options.gpus:
                for number, visible in enumerate(devices):
                    cluster.workers[number].scoring_variables = {"CUDA_VISIBLE_DEVICES": ",".join(visible)}
            yield Cluster(
                client=client,
                memory=memory,
                threads=options.threads_per_worker,
                # some tasks may wait for a GPU while other workers are free
                slots=lambda: workers * (2 if options.gpus else 1),
                where=lambda need, gpus: resources(min(need or 0, memory), min(gpus, -(-options.gpus // workers))),
            )
        finally:
            # also a cluster whose start was interrupted
            with deferring_interrupts():
                instances = SpecCluster._instances  # noqa: SLF001 -- Dask lists its clusters nowhere else
                clusters = [instance for instance in list(instances) if instance.loop is loop]
                close(client, *clusters, seconds=CLOSE_SECONDS if client is not None else 1)
                runner.stop()
                instances.difference_update(clusters)  # else Python would close them again at its end


def _devices(gpus: int, workers: int) -> list[list[str]]:
    """Distribute this machine's GPUs among workers."""
    visible = [number for number in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if number]
    devices = (visible or [str(number) for number in range(gpus)])[:gpus]
    if len(devices) < gpus:
        raise UserError(
            f"{gpus} GPUs were requested, but CUDA_VISIBLE_DEVICES names {len(devices)}",
            remedy="request at most as many",
        )
    return [devices[number::workers] for number in range(workers)]


def require_distributed() -> None:
    """Check that Dask's package is installed, without importing it.

    Raises UserError if it is not installed.
    """
    if find_spec("distributed") is None:
        raise UserError("runs require Dask", remedy='pip install "brainscore[cluster]"')


@contextmanager
def open_cluster(options: ClusterOptions, *, tasks: int, bigger_than: int | None = None) -> Iterator[Cluster]:
    """Open a cluster, and close it at the end, also after errors.

    The number of `tasks` limits the number of workers on this machine. Only workers with more than `bigger_than` bytes
    of memory are used. The cluster has at least one worker, except for jobs that wait in a queue.
    """
    require_distributed()
    import distributed  # noqa: F401 - it sets the levels of its loggers when it is imported

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
    """Bytes of the largest worker that exists or can be started; None if no worker has a limit."""
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
        _check_code(client)
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
        raise UserError("SLURM requires dask-jobqueue", remedy='pip install "brainscore[cluster]"') from error
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
        # as many jobs as tasks; an idle job ends after a minute
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
    """Submit a job now, since errors of SLURM are lost when the cluster grows by itself."""
    try:
        # not by scale, which submits in the background
        cluster.worker_spec.update(cluster.new_worker_spec())
        cluster.sync(cluster._correct_state)  # noqa: SLF001 -- scale calls it in the background
    except (OSError, RuntimeError, ValueError) as error:
        raise UserError(
            f"SLURM accepts no job: {error}",
            remedy="correct the profile, and start the run on a machine that has sbatch",
        ) from error


def _security(profile: SlurmProfile) -> Any:
    if not profile.tls:
        return None
    from distributed.security import Security

    try:
        return Security.temporary()
    except ImportError as error:
        raise UserError(
            "keys between workers and scheduler require the package cryptography",
            remedy="pip install cryptography; or write tls: false if no other user can reach this machine's ports",
        ) from error


def _among(client: Any, need: int | None, gpus: int, bigger_than: int | None) -> dict[str, Any]:
    """Restrict a task to suitable workers of an existing scheduler."""
    advertised = _workers(client, "resources")
    reserved: dict[str, float] = {}
    # if no worker advertises GPUs, the model runs without one
    if gpus := int(min(gpus, max(((amounts or {}).get("GPU", 0) for amounts in advertised.values()), default=0))):
        reserved["GPU"] = gpus
    memories = _memories(client)
    largest = max((memory for memory in memories.values() if memory), default=0)
    lowest = min(max(need or 0, 0 if bigger_than is None else bigger_than + 1), largest)
    arguments: dict[str, Any] = {}
    if lowest and all("memory" in (amounts or {}) for amounts in advertised.values()):
        reserved["memory"] = lowest / 1e6
    elif lowest:
        fitting = [address for address, memory in memories.items() if memory is None or memory >= lowest]
        if len(fitting) < len(memories):  # else leave it open to workers that start later
            arguments["workers"] = fitting
    if reserved:
        arguments["resources"] = reserved
    return arguments


def _workers(client: Any, field: str) -> dict[str, Any]:
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return {address: info.get(field) for address, info in workers.items()}


def _memories(client: Any) -> dict[str, int | None]:
    """Bytes that each worker has for a task, like :func:`~brainscore_core.runner.worker.advertised_memory`."""
    memories: dict[str, int | None] = {}
    for address, info in client.scheduler_info(n_workers=-1)["workers"].items():
        megabytes = (info.get("resources") or {}).get("memory")
        limit = info.get("memory_limit")
        memories[address] = int(megabytes * 1e6) if megabytes else int(limit / info["nthreads"]) if limit else None
    return memories


def _check_code(client: Any) -> None:
    """Refuse workers with other code of the platform; Dask itself warns about other versions of its packages."""
    from brainscore_core.receipts.environment import platform_code
    from brainscore_core.runner.worker import other_code

    code = platform_code()
    for process, theirs in client.run(platform_code, on_error="return").items():
        if isinstance(theirs, str) and theirs != code:
            raise other_code(process)


@contextmanager
def starting_early(scorer: str, cluster: ClusterOptions, modules: Sequence[str] = ()) -> Iterator[None]:
    """Let processes that a run on this machine needs start while the run is planned.

    If anything is to be scored, :func:`~brainscore_core.runner.run.run_plan` is called in the block with the same
    `scorer` and `cluster`. `modules` are those that scoring needs.
    """
    try:
        start_shared_template(cluster, scorer, modules=modules)
        yield
    finally:
        end_idle_templates()


def start_shared_template(
    cluster: ClusterOptions,
    scorer: str,
    benchmarks: Sequence[str] = (),
    *,
    options: Mapping[str, Any] | None = None,
    modules: Sequence[str] = (),
) -> None:
    """Start the template of the workers on this machine, if they share one; see ``Template.load_ahead``."""
    if find_spec("psutil") is None:  # without brainscore[cluster], run_plan raises the error
        return
    if cluster.shares_template:
        start_template(
            {"scorer": scorer, "options": dict(options or {})},
            benchmarks,
            environment=scoring_environment(cluster.threads_per_worker, cluster.worker_memory),
            limit=cluster.worker_memory,
            timeout=cluster.timeout,
            modules=modules,
        )


_LOGGERS = ("distributed", "dask_jobqueue", "tornado.application", "tornado.general", "asyncio")


@contextmanager
def silent() -> Iterator[None]:
    """Suppress the log messages of Dask."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Block Ctrl-C for threads that are started meanwhile, and for their processes.

    A terminal sends it to all processes at once, but only this one should handle it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def deferring_interrupts() -> Iterator[None]:
    """Ignore a second Ctrl-C during cleanup."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
