"""The benchmark of the example laboratory."""

from brainscore_example_lab.data.brightness2026 import BIBTEX

from brainscore_vision import BrainModel, Score, load_dataset, load_metric
from brainscore_vision.benchmarks import BenchmarkBase


class Brightness2026(BenchmarkBase):
    """Share of images that a model and a person label alike; a perfect person is the ceiling."""

    def __init__(self):
        self._assembly = load_dataset("ExampleLab2026")
        self._metric = load_metric("example-lab-agreement")
        super().__init__(
            identifier="ExampleLab2026.brightness-agreement",
            ceiling_func=lambda: Score(1.0),
            version=1,
            parent="behavior",
            bibtex=BIBTEX,
        )

    def __call__(self, candidate):
        candidate.start_task(BrainModel.Task.label, ["dark", "light"])
        score = self._metric(candidate.look_at(self._assembly.attrs["stimulus_set"]), self._assembly)
        score.attrs["raw"] = score.copy()
        score.attrs["ceiling"] = self.ceiling
        return score
