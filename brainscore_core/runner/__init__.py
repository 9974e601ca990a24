"""Score plans on clusters: of this machine, of a Dask scheduler, of SLURM."""

from brainscore_core.runner.cluster import ClusterOptions
from brainscore_core.runner.run import (
    ClusterReady,
    Event,
    PairFinished,
    PairRetried,
    PairSkipped,
    PairStarted,
    RunReport,
    WorkerLost,
    run_plan,
)
from brainscore_core.runner.slurm import SlurmProfile

__all__ = [
    "ClusterOptions",
    "ClusterReady",
    "Event",
    "PairFinished",
    "PairRetried",
    "PairSkipped",
    "PairStarted",
    "RunReport",
    "SlurmProfile",
    "WorkerLost",
    "run_plan",
]
