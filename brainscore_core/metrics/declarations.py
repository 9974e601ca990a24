"""What metrics and ceilings declare about themselves."""

from dataclasses import dataclass, fields
from typing import Any

from brainscore_core.metrics import Metric, Scale


@dataclass(frozen=True)
class Declarations:
    """What a metric or ceiling declares, with defaults for what it does not; attributes as in :class:`Metric`."""

    scale: Scale | None
    compares: str
    needs_training: bool
    min_neuroids: int
    needs_repetitions: bool
    per_time_bin: bool
    matrices: str | None
    from_products: bool


def declarations_of(metric: Any) -> Declarations:
    """What a metric or ceiling, or its class, declares; the one place that infers what it does not.

    Examples
    --------
    >>> class Hits(Metric):
    ...     scale = "accuracy"
    >>> declarations_of(Hits()).compares, declarations_of(max).compares
    ('choices', 'recordings')
    """
    declared = {field.name: getattr(metric, field.name, getattr(Metric, field.name)) for field in fields(Declarations)}
    declared["compares"] = declared["compares"] or ("choices" if declared["scale"] == "accuracy" else "recordings")
    return Declarations(**declared)
