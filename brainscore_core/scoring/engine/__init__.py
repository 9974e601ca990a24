"""Score plans on clusters: of this machine, of a Dask scheduler, of SLURM."""

from brainscore_core.scoring.engine._events import (
    ClusterReady,
    Event,
    PairFinished,
    PairRetried,
    PairSkipped,
    PairStarted,
    RunReport,
    WorkerLost,
)
from brainscore_core.scoring.engine._options import ClusterOptions
from brainscore_core.scoring.engine._run import run_plan
from brainscore_core.scoring.engine._slurm import SlurmProfile

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
