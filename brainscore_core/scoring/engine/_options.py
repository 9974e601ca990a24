"""What a run's cluster is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_core.memory import memory_limit

__all__ = ["ClusterOptions"]


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Where pairs are scored, and what each may use.

    Attributes
    ----------
    workers : int
        Processes on this machine that score at the same time; with `slurm` jobs at most.
    threads_per_worker : int
        Threads of the numerical libraries in each. With `slurm` the profile's cores count.
    memory : int, optional
        Bytes that each may use, models in processes of their own included; by default
        :func:`~brainscore_core.memory.memory_limit`, shared equally. With `scheduler` and `slurm` the workers know.
    scheduler : str, optional
        Address of a Dask scheduler that runs already, such as ``'tcp://10.0.0.1:8786'``.
    slurm : path, optional
        Profile of a SLURM cluster, a YAML file (docs/scaling.md).
    gpus : int
        How many of this machine's GPUs are shared out to workers; 0 leaves them alone.
    timeout : float, optional
        Seconds after which a pair is given up.
    start_timeout : float
        Seconds to wait for a scheduler, and for its first worker.

    Raises
    ------
    UserError
        If numbers are impossible, or `scheduler` and `slurm` are both given.

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
                raise UserError(f"{name} is {value!r}", remedy=f"give a whole number from {smallest} on")
        for name in ("memory", "timeout", "start_timeout"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise UserError(f"{name} is {value!r}", remedy="give a number above 0, or leave it out")
        if self.scheduler is not None and self.slurm is not None:
            raise UserError("a scheduler that runs already and SLURM were both asked for", remedy="leave one out")
        if self.scheduler is not None and "://" not in self.scheduler:
            raise UserError(
                f"{self.scheduler!r} is no address of a scheduler", remedy="write it like tcp://10.0.0.1:8786"
            )

    @property
    def worker_memory(self) -> int:
        """Bytes that each worker on this machine may use."""
        return int(self.memory) if self.memory is not None else memory_limit() // self.workers

    @property
    def bigger_memory(self) -> int:
        """Bytes of the one worker on this machine that repeats what was killed for its memory.

        All that the workers have together, but not more than :func:`~brainscore_core.memory.memory_limit`; where there
        is one worker, it has everything already.
        """
        return max(self.worker_memory, min(self.worker_memory * self.workers, memory_limit()))
