"""Share of predictions that equal their targets."""

from typing import Any

import numpy as np

from brainscore_core.metrics import Metric, Score


class Accuracy(Metric):
    """Share of predictions that equal their targets; ``raw`` says which.

    Examples
    --------
    >>> float(Accuracy()(["a", "b"], ["a", "c"]))
    0.5
    """

    def __call__(self, assembly1: Any, assembly2: Any) -> Score:
        """Compare predictions with targets of equal length."""
        predictions, targets = np.asarray(assembly1), np.asarray(assembly2)
        if predictions.shape != targets.shape:
            raise ValueError(f"{predictions.shape} predictions and {targets.shape} targets: pass equally many")
        equal = predictions == targets
        score = Score(float(np.mean(equal)))
        score.attrs["raw"] = equal
        return score
