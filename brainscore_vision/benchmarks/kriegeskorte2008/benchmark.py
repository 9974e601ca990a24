"""Whether the same objects are similar to a model as to human and to monkey IT (Kriegeskorte et al. 2008)."""

from collections.abc import Callable
from typing import Final

import numpy as np

from brainscore_core.benchmarks import BenchmarkBase, bound_score, normalise
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.numerics import compare_rdms, rdm
from brainscore_core.numerics.dissimilarity import condensed, expanded
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_dataset
from brainscore_vision.benchmark_helpers.aggregation import mean_over_subjects
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements
from brainscore_vision.benchmark_helpers.neural_common import patterns, record
from brainscore_vision.data.kriegeskorte2008 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

HUMAN_VISUAL_DEGREES: Final = 2.9
MONKEY_VISUAL_DEGREES: Final = 7.0
HUMAN_TIME_BIN: Final = (70, 170)
"""Haemodynamic responses have no time bin at this scale: the customary one of recordings in IT."""
MONKEY_TIME_BIN: Final = (71, 211)
NUMBER_OF_TRIALS: Final = 1
_SCALE: Final = "similarity"


class _DissimilaritiesInIT(BenchmarkBase):
    """Dissimilarities of the objects in the IT of a species; a subclass compares with them."""

    def __init__(
        self, species: str, time_bin: tuple[int, int], visual_degrees: float, ceiling_func: Callable[[], Score]
    ) -> None:
        identifier = f"Kriegeskorte2008.IT-{species}"
        self._assembly: LazyLoad[DataAssembly] = LazyLoad(lambda: load_dataset(identifier))
        self._time_bin = time_bin
        self._visual_degrees = visual_degrees
        super().__init__(f"{identifier}-rdm", ceiling_func, version=1, parent="IT", bibtex=BIBTEX)

    def measurements(self) -> VisualMeasurements:
        """Dissimilarities of each subject, or of all together."""
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=LazyLoad(lambda: _matrices(self._assembly.content)),
            compares="matrices",
            metric=_mean_similarity,
            region=BrainModel.RecordingTarget.IT,
            time_bins=(self._time_bin,),
            number_of_trials=NUMBER_OF_TRIALS,
            visual_degrees=self._visual_degrees,
        )


class Kriegeskorte2008HumanRDM(_DissimilaritiesInIT):
    """Mean over four subjects of the Spearman correlation between their IT's dissimilarities and the model's.

    Dissimilarity is 1 − Pearson correlation between the response patterns of two objects; each subject's two
    sessions are averaged. The ceiling is the upper bound of the noise ceiling [2]_: the mean correlation of each
    subject with the mean of all, itself included. The best model lies between it and
    ``ceiling.attrs['lower_bound_loo']``, where each subject is left out of the mean.

    Notes
    -----
    The interval is a t interval over the four subjects: it tells what other people with these 92 objects would give,
    not what other objects would. With three degrees of freedom it is wide. The ceiling's own uncertainty (jackknife
    over the same subjects) is added as if the two were independent; as a noisy subject lowers both, this errs on the
    wide side.

    References
    ----------
    .. [1] Kriegeskorte et al. 2008, https://doi.org/10.1016/j.neuron.2008.10.043
    .. [2] Nili et al. 2014, https://doi.org/10.1371/journal.pcbi.1003553
    """

    def __init__(self) -> None:
        super().__init__("human", HUMAN_TIME_BIN, HUMAN_VISUAL_DEGREES, lambda: _noise_ceiling(self._assembly.content))

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate`'s IT.

        Result: mean correlation / ceiling, in [0, 1]; ``attrs['raw']`` is the mean correlation, whose own
        ``attrs['raw']`` holds that of each subject.
        """
        assembly = self._assembly.content
        dissimilarities = model_rdm(candidate, self.measurements(), assembly)
        subjects, rdms = subject_rdms(assembly)
        return bound_score(normalise(_mean_correlation(dissimilarities, rdms, subjects), self.ceiling))


class Kriegeskorte2008MonkeyRDM(_DissimilaritiesInIT):
    """Spearman correlation between the dissimilarities of 92 objects in monkey IT and in the model.

    The published matrix pools 674 neurons of two monkeys. There is one matrix, hence no ceiling: the score is the
    correlation itself.

    Notes
    -----
    The interval tells what other objects would give (influence of each object on the correlation); other monkeys it
    cannot tell of.

    References
    ----------
    .. [1] Kriegeskorte et al. 2008, https://doi.org/10.1016/j.neuron.2008.10.043
    .. [2] Kiani et al. 2007, https://doi.org/10.1152/jn.00024.2007
    """

    def __init__(self) -> None:
        super().__init__("monkey", MONKEY_TIME_BIN, MONKEY_VISUAL_DEGREES, _no_ceiling)

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate`'s IT."""
        assembly = self._assembly.content
        dissimilarities = model_rdm(candidate, self.measurements(), assembly)
        stimulus_ids = list(assembly.attrs["stimulus_set"]["stimulus_id"])
        return bound_score(normalise(_correlation(dissimilarities, assembly.values[0], stimulus_ids), self.ceiling))


def _matrices(assembly: DataAssembly) -> DataAssembly:
    """Dissimilarities as rdm × presentation × presentation_other, one RDM a subject."""
    rdms = subject_rdms(assembly)[1] if "subject" in assembly.coords else assembly.values[:1]
    ids = assembly.attrs["stimulus_set"]["stimulus_id"].to_numpy()
    return DataAssembly(
        np.stack([expanded(vector) for vector in rdms]),
        coords={"stimulus_id": ("presentation", ids), "stimulus_id_other": ("presentation_other", ids)},
        dims=["rdm", "presentation", "presentation_other"],
        attrs={"stimulus_set": assembly.attrs["stimulus_set"]},
    )


def _mean_similarity(recordings: DataAssembly, matrices: DataAssembly) -> Score:
    """Mean over RDMs of their correlation with that of a model's recordings."""
    of_model = rdm(patterns(recordings, matrices["stimulus_id"].values.tolist()))
    return Score(np.mean([compare_rdms(of_model, condensed(matrix)).value for matrix in matrices.values]))


def model_rdm(candidate: BrainModel, measurements: VisualMeasurements, assembly: DataAssembly) -> np.ndarray:
    """Dissimilarities of the stimuli in a model's IT, in the order of the measured ones.

    `measurements`: how it is recorded from. `assembly`: measured dissimilarities (rdm × pair) with their
    ``stimulus_set``. Result: 1 − Pearson correlation; NaN for pairs with a stimulus to which all of the model responds
    alike.
    """
    stimuli = assembly.attrs["stimulus_set"]
    (recordings,) = record(candidate, measurements, [stimuli])
    return rdm(patterns(recordings, list(stimuli["stimulus_id"])))


def subject_rdms(assembly: DataAssembly) -> tuple[list[str], np.ndarray]:
    """Dissimilarities of each subject, sessions averaged.

    `assembly`: rdm × pair, with the level ``subject``. Result: `subjects`; `rdms`: subjects × pairs.
    """
    of_rows = assembly["subject"].values.astype(str)
    subjects = sorted(set(of_rows))
    values = assembly.transpose("rdm", "pair").values
    return subjects, np.stack([values[of_rows == subject].mean(axis=0) for subject in subjects])


def _mean_correlation(dissimilarities: np.ndarray, rdms: np.ndarray, subjects: list[str]) -> Score:
    compared = [compare_rdms(dissimilarities, of_subject) for of_subject in rdms]
    values = np.array([similarity.value for similarity in compared])
    return mean_over_subjects(values, subjects, shown="92 objects", reason=_of_the_model(compared[0].reason))


def _correlation(dissimilarities: np.ndarray, measured: np.ndarray, stimulus_ids: list[str]) -> Score:
    from brainscore_core.numerics import influence_interval

    similarity = compare_rdms(dissimilarities, measured)
    score = Score(similarity.value)
    score.attrs["scale"] = _SCALE
    attach_influence(score, similarity.influence, units="stimuli", ids=stimulus_ids)
    interval = influence_interval(similarity.value, similarity.influence, correlation=True, units="objects")
    if similarity.reason is not None:
        interval = interval._replace(reason=_of_the_model(similarity.reason))
    return attach_interval(score, interval, units="objects for these 2 monkeys", estimates="correlation of the RDMs")


def _of_the_model(reason: str | None) -> str | None:
    return None if reason is None else reason.replace("the first RDM", "the RDM of the model")


def _noise_ceiling(assembly: DataAssembly) -> Score:
    from brainscore_vision.metrics.rsa_ceiling.ceiling import ceiling_of_rdms

    subjects, rdms = subject_rdms(assembly)
    return ceiling_of_rdms(rdms, subjects=np.array(subjects))


def _no_ceiling() -> Score:
    ceiling = declare_no_error(Score(np.nan), "one dissimilarity matrix is published: nothing tells how reliable it is")
    ceiling.attrs["meaning"] = "none"
    return ceiling
