"""Brain-Score measures how well a model predicts brains and behaviour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import brainscore_core  # noqa: F401 - so that earlier paths of modules work

if TYPE_CHECKING:
    from brainscore.runs import run
    from brainscore_core.metrics import Score

    def score(
        model_identifier: Any,
        benchmark_identifier: str,
        *,
        results: Any = None,
        identifier: str | None = None,
        isolated: bool = False,
        conda_active: bool | None = None,
        **how: Any,
    ) -> Score: ...


_OF_VISION = ("get_assembly", "get_stimulus_set", "multiverse", "score", "wrap_model")

__all__ = ["__version__", "run", *_OF_VISION]


def __getattr__(name: str) -> Any:
    if name == "run":
        from brainscore.runs import run

        return run
    if name in _OF_VISION:
        from brainscore_core.domains import domain

        return domain("vision").feature(name)
    if name == "__version__":
        import importlib.metadata

        try:
            return importlib.metadata.version("brainscore")
        except importlib.metadata.PackageNotFoundError:
            return "unknown (not installed)"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
