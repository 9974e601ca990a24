"""Benchmarks for the selection of layers: the neuroids of Simulated2026, but stimuli and noise that no score uses."""

import numpy as np

from brainscore_core.errors import UnknownIdentifier
from brainscore_core.metrics import Ceiling
from brainscore_core.paths import simulated_data_home
from brainscore_core.supported_data_standards.brainio.images import load_grey
from brainscore_vision.benchmark_helpers.neural_common import average_repetition
from brainscore_vision.registries import load_ceiling, load_metric
from brainscore_vision.simulated_experiment.benchmark import ControlBenchmark, SplitHalfRDM
from brainscore_vision.simulated_experiment.encoding import EncodingModel
from brainscore_vision.simulated_experiment.measurements import drawn_stimuli, measured_assembly
from brainscore_vision.simulated_experiment.responses import REPETITIONS, simulate
from brainscore_vision.simulated_experiment.stimuli import VISUAL_DEGREES

NAME = "Simulated2026-selection"
EXEMPLARS = range(200, 230)  # Simulated2026 shows 0 to 99; the prototypes of its neuroids are 100 to 103
_STREAMS = {"V1": 11, "IT": 12}


def selection_benchmark(identifier: str) -> ControlBenchmark:
    """Make ``Simulated2026-selection.V1`` or ``.IT`` with ``-pls`` or ``-rdm``.

    Raises
    ------
    UnknownIdentifier
        If the name is unknown.
    """
    region, _, metric = identifier.removeprefix(f"{NAME}.").partition("-")
    if region not in _STREAMS or metric not in ("pls", "rdm"):
        raise UnknownIdentifier(
            f"there is no benchmark {identifier}",
            remedy=f"known: {', '.join(f'{NAME}.{known}-pls and -rdm' for known in _STREAMS)}",
        )
    stimuli = drawn_stimuli(NAME, EXEMPLARS, simulated_data_home() / "selection-v1")
    model = EncodingModel()
    energies = np.stack([model.energies(load_grey(stimuli.get_stimulus(name))) for name in stimuli["stimulus_id"]])
    expected = model.v1(energies) if region == "V1" else model.it(energies)
    measured = measured_assembly(NAME, stimuli, {region: simulate(expected, stream=_STREAMS[region])})
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
