"""Models whose input is taken to span another visual angle, and their scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from brainscore_core.errors import BrainScoreError
from brainscore_core.progress import stage
from brainscore_core.receipts.receipt import ScoreAtAngle
from brainscore_vision.model_interface import BrainModel

FACTORS = (0.5, 2.0)
"""Other angles, relative to the model's."""


@BrainModel.register
class ModelAtAngle:
    """A model whose input is taken to span another visual angle; all else is the model's.

    Its layers stay those that were chosen at the model's own angle. Eye movements, of 0.05° at most, have the size in
    pixels that they have at this angle.

    `degrees`: visual angle of its input.

    Examples
    --------
    >>> from brainscore_vision import load_model
    >>> ModelAtAngle(load_model("pixels"), 4).visual_degrees()
    4
    """

    states_visual_degrees = True

    def __init__(self, model: Any, degrees: float) -> None:
        self._model = model
        self._degrees = degrees

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._model, name)

    def visual_degrees(self) -> float:
        """The other angle, in degrees."""
        return self._degrees


def scores_at_other_angles(model: Any, benchmark: Callable[[Any], Any]) -> Iterator[ScoreAtAngle]:
    """Score a model at half and double its visual angle.

    An angle at which the benchmark cannot show its stimuli has no score, but a reason.
    """
    for degrees in (factor * float(model.visual_degrees()) for factor in FACTORS):
        with stage(f"score at {degrees:g}°"):
            try:
                value = float(benchmark(ModelAtAngle(model, degrees)))
            except BrainScoreError as error:
                yield ScoreAtAngle(degrees=degrees, value=None, reason=str(error))
                continue
        undefined = math.isnan(value)
        reason = "the benchmark returned NaN" if undefined else None
        yield ScoreAtAngle(degrees=degrees, value=None if undefined else value, reason=reason)
