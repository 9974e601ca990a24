"""Workers of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.scoring.engine._cluster_parts import CLOSE_SECONDS, Cluster, close, resources, wait_for_workers
from brainscore_core.scoring.engine._options import ClusterOptions
from brainscore_core.scoring.engine._quiet import environment_kept, uninterrupted, without_interrupts
from brainscore_core.scoring.engine._task import THREAD_VARIABLES

__all__ = ["local_cluster"]

_HERE = "127.0.0.1"
_LOOK = 0.1
_LOCAL = {
    # memory is watched by the workers themselves, where models in processes of their own count, too
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.multiprocessing-method": "spawn",
    "distributed.worker.daemon": True,
    "distributed.worker.profile.enabled": False,
    "distributed.worker.preload": [],
    "distributed.nanny.preload": [],
    "distributed.scheduler.preload": [],
    "distributed.scheduler.worker-ttl": None,
    "distributed.diagnostics.nvml": False,
}


@contextmanager
def local_cluster(options: ClusterOptions, tasks: int, bigger_than: int | None) -> Iterator[Cluster]:
    """Start workers on this machine; one with the memory of all, if a bigger one is wanted."""
    import dask
    from distributed import Client, SpecCluster
    from distributed.utils import LoopRunner

    workers = min(options.workers, tasks) if bigger_than is None else 1
    memory = options.worker_memory if bigger_than is None else options.bigger_memory
    variables = dict.fromkeys(THREAD_VARIABLES, str(options.threads_per_worker))
    settings = {**_LOCAL, "distributed.nanny.pre-spawn-environ": variables}
    with (
        environment_kept(),
        tempfile.TemporaryDirectory(prefix="brainscore-run-") as folder,
        dask.config.set(settings),
    ):
        with without_interrupts():
            runner = LoopRunner()
            runner.start()  # what its thread starts leaves Ctrl-C to the one who started the run
        client = None
        try:
            shared = _local_connections()
            cluster = SpecCluster(
                scheduler=_local_scheduler(shared),
                workers=_local_workers(shared, workers, memory=memory, gpus=options.gpus, folder=folder),
                security=shared["security"],
                loop=runner._loop,
                silence_logs=logging.CRITICAL,
                name="brainscore",
            )
            client = Client(cluster, set_as_default=False)
            wait_for_workers(client, workers, options.start_timeout)
            yield Cluster(
                client=client,
                memory=memory,
                threads=options.threads_per_worker,
                # some may wait for a GPU while others are free
                slots=lambda: workers * (2 if options.gpus else 1),
                where=lambda need, gpus: resources(min(need or 0, memory), min(gpus, -(-options.gpus // workers))),
            )
        finally:
            # also one whose start was interrupted
            with uninterrupted(), _ending_workers(runner._loop):
                own = [one for one in list(SpecCluster._instances) if one.loop is runner._loop]
                close(client, *own, seconds=CLOSE_SECONDS if client is not None else 1)
                runner.stop()
                SpecCluster._instances.difference_update(own)  # at its end Python would close them once more


@contextmanager
def _ending_workers(loop: Any) -> Iterator[None]:
    """End this machine's worker processes meanwhile: nothing in them is worth a long farewell."""
    from distributed import Nanny, Status

    closed = False

    async def end() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # of a start that was interrupted
        while not closed:
            for nanny in [nanny for nanny in list(Nanny._instances) if nanny.io_loop is loop]:
                if nanny.status == Status.running:
                    nanny.close_gracefully()  # it shall not start another
                if nanny.pid:
                    with contextlib.suppress(OSError):
                        os.kill(nanny.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            await asyncio.sleep(_LOOK)

    loop.add_callback(end)
    try:
        yield
    finally:
        closed = True


def _local_connections() -> dict[str, Any]:
    """Say how processes of this machine talk: out of others' reach, and with keys that only they know, where possible.

    Without keys, whoever is logged in on the same machine could have code run here.
    """
    from distributed.security import Security

    try:
        return {"host": _HERE, "protocol": "tls://", "security": Security.temporary()}
    except ImportError:  # cryptography is not installed
        return {"host": _HERE, "protocol": "tcp://", "security": None}


def _local_scheduler(shared: dict[str, Any]) -> dict[str, Any]:
    from distributed import Scheduler

    options = {**shared, "port": 0, "dashboard": False, "dashboard_address": f"{_HERE}:0"}  # 0: any that is free
    return {"cls": Scheduler, "options": options}


def _local_workers(
    shared: dict[str, Any], workers: int, *, memory: int, gpus: int, folder: str
) -> dict[int, dict[str, Any]]:
    """Say what each worker is: its memory and GPUs, which tasks ask for."""
    from distributed import Nanny

    visible = [number for number in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if number]
    devices = (visible or [str(number) for number in range(gpus)])[:gpus]
    if len(devices) < gpus:
        raise UserError(
            f"{gpus} GPUs were asked for, CUDA_VISIBLE_DEVICES names {len(devices)}", remedy="ask for as many"
        )
    found = {}
    for number in range(workers):
        own = devices[number::workers]
        options = {
            **shared,
            "nthreads": 1,  # one task at a time
            "memory_limit": 0,
            "resources": {"memory": memory / 1e6, **({"GPU": len(own)} if own else {})},
            "env": {"CUDA_VISIBLE_DEVICES": ",".join(own)} if gpus else {},
            "preload": ["brainscore_core.scoring.engine._preload"],
            "local_directory": folder,
            "dashboard": False,
            "silence_logs": logging.CRITICAL,
        }
        found[number] = {"cls": Nanny, "options": options}
    return found
