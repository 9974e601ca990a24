"""Benchmarks on simulated measurements: of those that are scored, and of others, for the selection of layers."""

from typing import Any

import numpy as np

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.metrics import Ceiling, Score
from brainscore_core.numerics import compare_rdms, influence_interval, rdm, spearman_brown
from brainscore_core.paths import simulated_data_home
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.images import load_grey
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
from brainscore_vision.metric_helpers.uncertainty import attach_interval
from brainscore_vision.registries import load_ceiling, load_metric
from brainscore_vision.simulated_experiment.responses import REPETITIONS, EncodingModel, measured_assembly, simulate
from brainscore_vision.simulated_experiment.stimuli import VISUAL_DEGREES, drawn_stimuli


class ControlBenchmark(NeuralBenchmark):
    """A neural benchmark whose measurements are simulated: it checks the method, not the brain."""

    control = True


class SplitHalfRDM(Ceiling):
    """Expected Spearman correlation of the measured RDM with the RDM of the responses without noise.

    Repetitions are split into random halves; each half is averaged and gives an RDM; the two correlate by r. After
    Spearman and Brown, the RDM of all repetitions has the reliability 2r / (1 + r): the share of its variance that is
    not noise. A noise-free model correlates with it by the square root of that.

    `splits`: random splits that are averaged.

    Notes
    -----
    This holds where noise adds to dissimilarities independently of them. Correlation distance is such a case if the
    response patterns share a large common part (neuroids differ in spontaneous activity more than stimuli change
    their responses): it then is close to a squared Euclidean distance, to which noise adds a constant. Where patterns
    without a common part differ in strength, noise lowers the correlation of weak ones most; both halves share
    that distortion and the ceiling exceeds what the true responses reach.

    The bounds of Nili et al. 2014 (https://doi.org/10.1371/journal.pcbi.1003553) answer another question, with several
    subjects: their upper bound contains the subject's own noise, so that even the true model stays below it.
    """

    meaning = "upper bound"

    def __init__(self, *, splits: int = 10, seed: int = 1) -> None:
        self._splits = splits
        self._seed = seed

    def __call__(self, assembly: DataAssembly, /, *args: Any, **kwargs: Any) -> Score:
        """Estimate the ceiling.

        `assembly`: presentation × neuroid, with ``repetition`` and ``stimulus_id`` on ``presentation``. Result:
        ``raw``: one value a split. ``error`` and ``ci``: over stimuli. A UserError if there are fewer than two
        repetitions, or halves do not agree at all.
        """
        labels = np.unique(assembly["repetition"].values)
        if len(labels) < 2:
            raise UserError(
                f"{len(labels)} repetition: halves need at least two",
                remedy="pass the measurements before their repetitions are averaged",
            )
        names = ("stimulus_id", "repetition")  # fewer coordinates take less time to group by
        coords = {name: ("presentation", assembly[name].values) for name in names}
        assembly = DataAssembly(assembly.values, coords=coords, dims=assembly.dims)
        random = np.random.default_rng(self._seed)
        values, influences = [], []
        for _ in range(self._splits):
            shuffled = random.permutation(labels)
            first, second = (
                rdm(_responses(assembly, half)) for half in (shuffled[: len(labels) // 2], shuffled[len(labels) // 2 :])
            )
            similarity = compare_rdms(first, second)
            if not similarity.value > 0:
                raise UserError(
                    f"the RDMs of two halves of the repetitions correlate by {similarity.value:.3g}: "
                    f"{similarity.reason or 'the measurements are noise only'}",
                    remedy="check that repetitions and stimuli are labelled rightly",
                )
            value = float(np.sqrt(spearman_brown(similarity.value)))
            values.append(value)
            influences.append(similarity.influence / (value * (1 + similarity.value) ** 2))
        score = Score(float(np.mean(values)))
        score.attrs["raw"] = Score(values, coords={"split": ("split", np.arange(self._splits))}, dims=["split"])
        score.attrs["scale"] = "similarity"
        score.attrs["meaning"] = self.meaning
        interval = influence_interval(float(score), np.mean(influences, axis=0), correlation=True)
        estimates = "expected correlation of a noise-free RDM with the measured one"
        return attach_interval(score, interval, units="stimuli for these neuroids", estimates=estimates)


def _responses(assembly: DataAssembly, repetitions: np.ndarray) -> np.ndarray:
    half = assembly.isel(presentation=np.flatnonzero(np.isin(assembly["repetition"].values, repetitions)))
    return average_repetition(half).sortby("stimulus_id").transpose("presentation", "neuroid").values


SELECTION = "Simulated2026-selection"
EXEMPLARS = range(200, 230)  # Simulated2026 shows 0 to 99; the prototypes of its neuroids are 100 to 103
_STREAMS = {"V1": 11, "IT": 12}


def selection_benchmark(identifier: str) -> ControlBenchmark:
    """Make ``Simulated2026-selection.V1`` or ``.IT`` with ``-pls`` or ``-rdm``.

    A UnknownIdentifier if the name is unknown.
    """
    region, _, metric = identifier.removeprefix(f"{SELECTION}.").partition("-")
    if region not in _STREAMS or metric not in ("pls", "rdm"):
        raise UnknownIdentifier(
            f"there is no benchmark {identifier}",
            remedy=f"known: {', '.join(f'{SELECTION}.{known}-pls and -rdm' for known in _STREAMS)}",
        )
    stimuli = drawn_stimuli(SELECTION, EXEMPLARS, simulated_data_home() / "selection-v1")
    model = EncodingModel()
    energies = np.stack([model.energies(load_grey(stimuli.get_stimulus(name))) for name in stimuli["stimulus_id"]])
    expected = model.v1(energies) if region == "V1" else model.it(energies)
    measured = measured_assembly(SELECTION, stimuli, {region: simulate(expected, stream=_STREAMS[region])})
    ceiling: Ceiling = load_ceiling("internal_consistency") if metric == "pls" else SplitHalfRDM()
    return ControlBenchmark(
        identifier=identifier,
        version=1,
        assembly=average_repetition(measured),
        similarity_metric=load_metric(metric),
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=REPETITIONS,
        ceiling_func=lambda: ceiling(measured),
        repetitions=measured,
        parent="control",
    )
