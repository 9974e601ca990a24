"""What a metric and a ceiling are."""

from typing import Any, ClassVar, Literal

from brainscore_core.metrics._score import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

__all__ = ["Ceiling", "Meaning", "Metric", "Scale"]

Scale = Literal["correlation", "variance", "similarity", "accuracy"]
Meaning = Literal["reliability", "upper bound", "human-human", "none"]


class Metric:
    """Compares a model's recordings or behaviour (`source`) with measurements (`target`).

    A subclass implements ``__call__(source, target) -> Score`` and declares the `scale` of its values, from which
    :func:`brainscore_core.benchmarks.normalise` knows how a ceiling applies to them.
    """

    scale: ClassVar[Scale | None] = None

    def __call__(self, source: DataAssembly, target: DataAssembly, /, *args: Any, **kwargs: Any) -> Score:
        """Compare `source` with `target`.

        Returns
        -------
        Score
            Similarity, with ``raw``, ``error`` and ``ci`` in its attributes.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement __call__(source, target)")


class Ceiling:
    """Estimates from the measurements alone what the best possible model would reach.

    A subclass implements ``__call__(assembly) -> Score`` and declares what its number means.
    """

    meaning: ClassVar[Meaning | None] = None

    def __call__(self, assembly: DataAssembly, /, *args: Any, **kwargs: Any) -> Score:
        """Estimate the ceiling of `assembly`.

        Returns
        -------
        Score
            Ceiling, with ``raw``, ``error``, ``ci`` and ``meaning`` in its attributes.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement __call__(assembly)")
