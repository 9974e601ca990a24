"""Ridge regression of simulated recordings, whole stories held out; the ceiling is known, not estimated."""

import math

from brainscore_core.metrics import Score, declare_no_error
from brainscore_language import load_dataset, load_metric
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark
from brainscore_language.data.simulated_text2026.data_packaging import NOISE


class SimulatedText2026(RecordingBenchmark):
    """``simulated-text-truth`` must come near 1, and everything else stay below it.

    Of `data_set` ``'SimulatedContext2026'``, ``simulated-context-truth`` must, and word vectors without context be far
    below it.
    """

    control = True

    def __init__(self, data_set: str = "SimulatedText2026") -> None:
        options = {"splits": 8, "split_coord": "story", "kfold": "group", "random_state": 1}
        super().__init__(
            f"{data_set}-ridge",
            version=1,
            parent=None,
            bibtex=None,
            load_data=lambda: load_dataset(data_set),
            metric=load_metric("ridge_pearsonr", crossvalidation_kwargs=options),
            text_coord="story",
            copied=("stimulus_id", "story"),
            estimate_ceiling=lambda data, metric: _ceiling(),
        )


def _ceiling() -> Score:
    """Correlation of the signal with the sum of signal and noise."""
    ceiling = declare_no_error(Score(1 / math.sqrt(1 + NOISE**2)), "follows from the noise that was simulated")
    ceiling.attrs["meaning"] = "upper bound"
    return ceiling
