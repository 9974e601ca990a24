"""Controls on simulated measurements."""

from brainscore_core.errors import UserError
from brainscore_core.metrics import Ceiling
from brainscore_vision import load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.neural_common import average_repetition
from brainscore_vision.simulated_experiment import REPETITIONS, VISUAL_DEGREES, ControlBenchmark, SplitHalfRDM

_REGIONS = ("V1", "IT")
_METRICS = ("pls", "rdm")


def simulated2026(region: str, metric: str) -> ControlBenchmark:
    """A control on the simulated measurements of one region.

    `region`: ``'V1'`` or ``'IT'``. `metric`: ``'pls'``: regression to each neuroid, relative to its split-half
    reliability (`internal_consistency`). ``'rdm'``: correlation of representational dissimilarities, relative to what a
    noise-free model can reach (:class:`~brainscore_vision.simulated_experiment.SplitHalfRDM`). Result: kept
    out of averages: ``control`` is true, ``parent`` is ``'control'``.
    """
    if region not in _REGIONS or metric not in _METRICS:
        raise UserError(
            f"Simulated2026 has no benchmark of region {region!r} with metric {metric!r}",
            remedy=f"regions: {', '.join(_REGIONS)}; metrics: {', '.join(_METRICS)}",
        )
    measured = load_dataset("Simulated2026").sel(region=region)
    ceiling: Ceiling = load_ceiling("internal_consistency") if metric == "pls" else SplitHalfRDM()
    return ControlBenchmark(
        identifier=f"Simulated2026.{region}-{metric}",
        version=1,
        assembly=average_repetition(measured),
        similarity_metric=load_metric(metric),
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=REPETITIONS,
        ceiling_func=lambda: ceiling(measured),
        repetitions=measured,
        parent="control",
        bibtex=None,
    )
