"""Asymmetry of visual search between targets and distractors, in 14 experiments (Ferguson et al. 2024)."""

from typing import Any, Final

import numpy as np
import pandas as pd

from brainscore_core.benchmarks import bound_score, normalise
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.plugins.tables import read_citation
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_dataset, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.aggregation import constant_ceiling
from brainscore_vision.benchmark_helpers.choices import most_probable, on_screen
from brainscore_vision.benchmark_helpers.measurements import rows_with
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow, read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import RowBenchmark, make_benchmark
from brainscore_vision.metric_helpers.behaviour import attach_remarks, matched_choices, right_choices
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)

DISTRACTORS: Final = (1.0, 5.0, 11.0)
SCALE: Final = 0.75


class SearchAsymmetry(RowBenchmark):
    """Compare how much harder it is to find A among Bs than B among As, for a model and for people.

    The model learns from training images whether there is an oddball, then judges 48 images: in the first block the
    oddball is of one kind among distractors of the other, in the second block kinds are exchanged. Accuracies for 1, 5
    and 11 distractors are corrected for lapses; the difference between blocks is integrated over the number of
    distractors, and the integrals of model and people are compared.

    `row`: with the columns ``ceiling_error``, ``lapse_rate`` (of people, on average) and ``human_integral_error``
    (standard error of people's integral).

    References
    ----------
    .. [1] Ferguson et al. 2024, https://doi.org/10.17605/OSF.IO/5BA3N
    """

    def __init__(self, row: BenchmarkRow, bibtex: str) -> None:
        self._lapse_rate = float(row.further["lapse_rate"])
        self._metric: Any = LazyLoad(lambda: load_metric(row.metric, scale=SCALE))
        self._people: LazyLoad[DataAssembly] = LazyLoad(lambda: load_dataset(row.data[0]))
        super().__init__(
            row, bibtex, lambda: constant_ceiling(float(row.ceiling), error=float(row.further["ceiling_error"]))
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` search.

        Result: a Score in [0, 1]; ``attrs['raw']`` compares the integrals, which are in its ``raw``.
        """
        people = self._people.content
        stimuli: StimulusSet = people.attrs["stimulus_set"]
        candidate.start_task(
            BrainModel.Task.probabilities, self._shown(load_stimulus_set(self._row.fitting_stimuli), candidate)
        )
        shown = self._shown(stimuli, candidate)
        answers = candidate.look_at(shown, number_of_trials=self._row.number_of_trials)
        chosen = matched_choices(most_probable(answers), shown["stimulus_id"].to_numpy())
        correct, _, remark = right_choices(chosen, shown["image_label"], offered=answers["choice"].values)
        of_model = pd.DataFrame(
            {
                "subject": "model",
                "block": shown["block"].to_numpy(),
                "distractors": np.take(DISTRACTORS, shown["image_number"].to_numpy() // 2 % 3),
                "correct": correct,
            }
        )
        theirs = Score(asymmetry(_trials(people), self._lapse_rate))
        theirs.attrs["error"] = float(self._row.further["human_integral_error"])
        raw = attach_remarks(self._metric(asymmetry(of_model, self._lapse_rate), theirs), remark)
        return bound_score(normalise(raw, self.ceiling))

    def _shown(self, stimuli: StimulusSet, candidate: BrainModel) -> StimulusSet:
        """The stimuli on the model's screen; those with an even number contain an oddball."""
        labelled = stimuli.assign(image_label=np.where(stimuli["image_number"] % 2 == 0, "oddball", "same"))
        labelled.stimulus_paths, labelled.identifier = stimuli.stimulus_paths, stimuli.identifier
        return on_screen(labelled, candidate, self._row.visual_degrees)


def asymmetry(trials: pd.DataFrame, lapse_rate: float) -> float:
    """Integral over the number of distractors of the second block's accuracy minus the first block's.

    `trials`: with the columns ``subject``, ``block`` (``'first'``, ``'second'``), ``distractors`` and ``correct``.
    `lapse_rate`: share of trials that people guess, whatever they see: an accuracy a becomes (a − lapse/2) / (1 −
    lapse). Result: rounded to four decimals, as published. A UserError if a block has no trials with some number of
    distractors.

    Examples
    --------
    >>> rows = [("s", block, distractors, block == "second" or distractors == 1.0)
    ...         for block in ("first", "second") for distractors in (1.0, 5.0, 11.0)]
    >>> asymmetry(pd.DataFrame(rows, columns=["subject", "block", "distractors", "correct"]), lapse_rate=0.0)
    8.0
    """
    accuracy = trials.groupby(["block", "distractors", "subject"])["correct"].mean()
    corrected = ((accuracy - lapse_rate / 2) / (1 - lapse_rate)).groupby(["block", "distractors"]).mean()
    try:
        difference = [corrected["second", number] - corrected["first", number] for number in DISTRACTORS]
    except KeyError as error:
        raise UserError(
            f"there are no trials of block and number of distractors {error}",
            remedy="check 'block' (first, second) and 'distractor_nums' (1.0, 5.0, 11.0)",
        ) from error
    return round(float(np.trapezoid(difference, DISTRACTORS)), 4)


def _trials(people: DataAssembly) -> pd.DataFrame:
    normal = rows_with(people, "trial_type", "normal")
    return pd.DataFrame(
        {
            "subject": people["participant_id"].values[normal],
            "block": people["block"].values[normal],
            "distractors": people["distractor_nums"].values[normal].astype(float),
            "correct": people["correct"].values[normal].astype(bool),
        }
    )


benchmark_registry.add_table(
    __file__, "benchmarks.csv", make_benchmark, bibtex=BIBTEX, kinds={"search": SearchAsymmetry}
)
