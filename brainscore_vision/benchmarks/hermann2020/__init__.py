"""Shape or texture: which cue of a conflict models choose (Hermann et al. 2020)."""

from typing import Any, Final

import numpy as np

from brainscore_core.benchmarks import bound_score, normalise
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.plugins.tables import read_citation
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import ATTRIBUTE
from brainscore_vision import benchmark_registry, load_dataset, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.choices import label, note_coverage
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow, read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import RowBenchmark, make_benchmark
from brainscore_vision.metric_helpers.behaviour import attach_remarks, check_labels, matched_choices
from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)

_CUES: Final = (("shape", "texture"), ("original_image_category", "conflict_image_category"))
"""Columns with the categories of the two cues: of the authors' files, and of the Brain-Score platform's."""


class CueConflict(RowBenchmark):
    """A model names pictures with the shape of one object and the texture of another.

    ``Hermann2020cueconflict-shape_match`` is the share of shapes among all choices, ``-shape_bias`` that among choices
    of shape or texture. An engineering benchmark without measurements. The pictures are shown as they are.

    Notes
    -----
    A model that never chooses either cue has no bias: NaN with a reason. Of the authors' files, only every eighth
    picture is pinned for download: without a folder that has all of them, models that look at pictures are scored on
    those; ``attrs['stimuli_shown']``, ``attrs['stimuli_of_experiment']`` and ``attrs['comment']`` of the score say so.

    References
    ----------
    .. [1] Hermann, Chen & Kornblith 2020, https://doi.org/10.48550/arXiv.1911.09071
    """

    def __init__(self, row: BenchmarkRow, bibtex: str) -> None:
        self._metric: Any = load_metric(row.metric)
        super().__init__(row, bibtex, self._metric.ceiling)

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` name the pictures."""
        experiment = load_dataset(self._row.stimuli)
        labels, shown = label(
            candidate,
            experiment,
            load_stimuli=lambda: load_stimulus_set(self._row.stimuli),
            visual_degrees=None,
            number_of_trials=self._row.number_of_trials,
        )
        shape, texture = next((names for names in _CUES if set(names) <= set(shown.columns)), _CUES[0])
        conflicts = shown[shown[shape] != shown[texture]]
        chosen = matched_choices(labels, conflicts["stimulus_id"].to_numpy())
        categories = np.unique(shown[[shape, texture]].to_numpy().astype(str))
        remark = check_labels(chosen, categories)
        if self._row.benchmark.endswith("shape_bias"):
            decided = (chosen[:, np.newaxis] == conflicts[[shape, texture]].to_numpy()).any(axis=1)
            if not decided.any():
                score = Score(float("nan"))
                declare_no_error(score, "the model chose neither shape nor texture of any picture")
                return attach_remarks(score, remark)
            conflicts, chosen = conflicts[decided], chosen[decided]
        target = _assembly(conflicts, conflicts[shape].to_numpy())
        target.attrs |= {"choices": categories, ATTRIBUTE: "truth"}
        raw = attach_remarks(self._metric(_assembly(conflicts, chosen), target), remark)
        return note_coverage(bound_score(normalise(raw, self.ceiling)), shown, experiment)


def _assembly(stimuli: StimulusSet, values: Any) -> BehavioralAssembly:
    ids = stimuli["stimulus_id"].to_numpy()
    return BehavioralAssembly(
        np.asarray(values, dtype=object), coords={"stimulus_id": ("presentation", ids)}, dims=["presentation"]
    )


benchmark_registry.add_table(__file__, "benchmarks.csv", make_benchmark, bibtex=BIBTEX, kinds={"shape": CueConflict})
