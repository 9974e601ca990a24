"""Score plans on clusters: of this machine, of a Dask scheduler, of SLURM."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainscore_core.runner.cluster import ClusterOptions as ClusterOptions
    from brainscore_core.runner.run import ClusterReady as ClusterReady
    from brainscore_core.runner.run import Event as Event
    from brainscore_core.runner.run import PairFinished as PairFinished
    from brainscore_core.runner.run import PairRetried as PairRetried
    from brainscore_core.runner.run import PairSkipped as PairSkipped
    from brainscore_core.runner.run import PairStarted as PairStarted
    from brainscore_core.runner.run import RunReport as RunReport
    from brainscore_core.runner.run import WorkerLost as WorkerLost
    from brainscore_core.runner.run import run_plan as run_plan
    from brainscore_core.runner.slurm import SlurmProfile as SlurmProfile

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

_HOMES = {"ClusterOptions": "cluster", "SlurmProfile": "slurm"}


def __getattr__(name: str) -> Any:
    # scoring processes import modules of this package, but do not need all of it
    if name in __all__:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'run')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
