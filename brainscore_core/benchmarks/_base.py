"""The contract of a benchmark."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from brainscore_core.benchmarks._normalise import as_score
from brainscore_core.metrics import Score

__all__ = ["Benchmark", "BenchmarkBase"]


class Benchmark(ABC):
    """An experiment, a metric and a ceiling: called with a candidate model it returns a score."""

    control: ClassVar[bool] = False
    """Whether this benchmark checks the method rather than the brain; controls are kept out of averages."""

    @abstractmethod
    def __call__(self, candidate: Any) -> Score:
        """Run the experiment on `candidate` and compare it with the measurements.

        Raises
        ------
        NotApplicable
            If the candidate cannot do what the experiment asks of it.
        """

    @property
    @abstractmethod
    def identifier(self) -> str:
        """Unique name, by convention ``AuthorYear[.subset]-metric``."""

    @property
    @abstractmethod
    def ceiling(self) -> Score:
        """What the best possible model would reach."""

    @property
    @abstractmethod
    def version(self) -> int | str:
        """Increases whenever a change to the benchmark changes scores."""

    @property
    @abstractmethod
    def parent(self) -> str | None:
        """The benchmark to group under, such as ``'V1'`` or ``'behavior'``."""

    @property
    @abstractmethod
    def bibtex(self) -> str | None:
        """Citation of the measurements."""


class BenchmarkBase(Benchmark):
    """A benchmark with the usual attributes; a subclass implements ``__call__``.

    Parameters
    ----------
    identifier : str
        Unique name.
    ceiling_func : callable
        Called without arguments, at most once, when the ceiling is first asked for; returns a `Score` or a number.
    version : int or str
        Increases whenever a change to the benchmark changes scores.
    parent : str, optional
        The benchmark to group under.
    bibtex : str, optional
        Citation of the measurements.

    Examples
    --------
    >>> class Half(BenchmarkBase):
    ...     def __init__(self):
    ...         super().__init__(identifier="Half2024-accuracy", version=1, ceiling_func=lambda: 0.5)
    ...     def __call__(self, candidate):
    ...         return ceil_score(Score(0.25), self.ceiling)
    >>> from brainscore_core.benchmarks import ceil_score
    >>> float(Half()(candidate=None))
    0.5
    """

    def __init__(
        self,
        identifier: str,
        ceiling_func: Callable[[], Score | float],
        version: int | str,
        parent: str | None = None,
        bibtex: str | None = None,
    ) -> None:
        if not callable(ceiling_func):
            raise TypeError(
                f"benchmark {identifier!r}: ceiling_func must be a function without arguments, such as "
                f"`lambda: {ceiling_func!r}`"
            )
        self._identifier = identifier
        self._ceiling_func = ceiling_func
        self._version = version
        self._parent = parent
        self._bibtex = bibtex
        self._ceiling: Score | None = None

    @property
    def identifier(self) -> str:
        """Unique name."""
        return self._identifier

    @property
    def version(self) -> int | str:
        """Increases whenever a change to the benchmark changes scores."""
        return self._version

    @property
    def parent(self) -> str | None:
        """The benchmark to group under."""
        return self._parent

    @property
    def bibtex(self) -> str | None:
        """Citation of the measurements."""
        return self._bibtex

    @property
    def ceiling(self) -> Score:
        """What the best possible model would reach; estimated once for this object."""
        if self._ceiling is None:
            self._ceiling = as_score(self._ceiling_func(), f"ceiling_func of benchmark {self.identifier!r}")
        return self._ceiling

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identifier!r} version {self.version}>"
