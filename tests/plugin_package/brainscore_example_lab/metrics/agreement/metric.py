"""Share of stimuli that get the same label."""

import numpy as np

from brainscore_core.metrics import attach_uncertainty
from brainscore_vision import Metric, Score


class Agreement(Metric):
    """Share of stimuli on which source and target agree, with its binomial standard error."""

    scale = "accuracy"

    def __call__(self, source, target):
        answers = dict(zip(source["stimulus_id"].values, source.values[:, 0], strict=True))
        same = np.array(
            [answers[name] == label for name, label in zip(target["stimulus_id"].values, target.values, strict=True)]
        )
        score = Score(same.mean())
        error = float(np.sqrt(same.mean() * (1 - same.mean()) / len(same)))
        score.attrs["scale"] = self.scale
        return attach_uncertainty(score, error=error, reason="too few stimuli for an interval")
