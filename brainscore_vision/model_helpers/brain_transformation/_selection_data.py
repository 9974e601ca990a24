"""What layers are selected on: published measurements where they can be reached, others where not."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from brainscore_core.errors import UnknownIdentifier
from brainscore_core.files import replacing

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["SELECTION_BENCHMARKS", "load_selection_benchmark"]

_SIMULATED: Final = "Simulated2026-selection"

SELECTION_BENCHMARKS: Final[Mapping[str, Sequence[str]]] = {
    "V1": ("FreemanZiemba2013public.V1-pls", f"{_SIMULATED}.V1-pls"),
    "V2": ("FreemanZiemba2013public.V2-pls", f"{_SIMULATED}.V1-pls"),
    "V4": ("MajajHong2015public.V4-pls", f"{_SIMULATED}.IT-pls"),
    "IT": ("MajajHong2015public.IT-pls", "Kriegeskorte2008.IT-human-rdm", f"{_SIMULATED}.IT-pls"),
}
"""Region → benchmarks on which its layer is selected: the first that can be reached and has other stimuli than those
that are scored. The first of each is the published one. ``Simulated2026-selection`` has the simulated neuroids of
Simulated2026 and its noise, but stimuli and noise of its own, which nothing is scored on; it has neither V2 nor V4, for
which V1 and IT stand in."""

_EXEMPLARS = range(200, 230)  # Simulated2026 shows 0 to 99, and its neuroids' prototypes are 100 to 103
_STREAMS = {"V1": 11, "IT": 12}


def load_selection_benchmark(identifier: str) -> "Benchmark":
    """A registered benchmark, or one of ``Simulated2026-selection``: ``.V1`` or ``.IT`` with ``-pls`` or ``-rdm``.

    Raises
    ------
    UnknownIdentifier
        If there is none of that name.
    """
    if identifier.startswith(f"{_SIMULATED}."):
        region, _, metric = identifier.removeprefix(f"{_SIMULATED}.").partition("-")
        return _simulated(region, metric)
    from brainscore_vision import load_benchmark

    return load_benchmark(identifier)


def _simulated(region: str, metric: str) -> "Benchmark":
    from brainscore_vision import load_ceiling, load_metric
    from brainscore_vision.benchmark_helpers.neural_common import average_repetition
    from brainscore_vision.benchmarks.simulated2026.benchmark import ControlBenchmark
    from brainscore_vision.benchmarks.simulated2026.ceiling import SplitHalfRDM
    from brainscore_vision.data.simulated2026.responses import REPETITIONS
    from brainscore_vision.data.simulated2026.stimuli import VISUAL_DEGREES

    if region not in _STREAMS or metric not in ("pls", "rdm"):
        raise UnknownIdentifier(
            f"there is no benchmark {_SIMULATED}.{region}-{metric}",
            remedy=f"there are {', '.join(f'{_SIMULATED}.{known}-pls and -rdm' for known in _STREAMS)}",
        )
    measured = _measured(region, _stimuli())
    ceiling = load_ceiling("internal_consistency") if metric == "pls" else SplitHalfRDM()
    return ControlBenchmark(
        identifier=f"{_SIMULATED}.{region}-{metric}",
        version=1,
        assembly=average_repetition(measured),
        similarity_metric=load_metric(metric),
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=REPETITIONS,
        ceiling_func=lambda: ceiling(measured),
        parent="control",
    )


def _stimuli() -> "StimulusSet":
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision.data.simulated2026.stimuli import CATEGORIES, draw

    folder = Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser().absolute()
    folder = folder / "simulated2026" / "selection-v1"
    rows, paths = [], {}
    for category in CATEGORIES:
        for number in _EXEMPLARS:
            name = f"{category}_{number}"
            paths[name] = folder / f"{name}.png"
            if not paths[name].exists():
                with replacing(paths[name]) as stream:
                    Image.fromarray(draw(category, number)).save(stream, format="PNG")
            rows.append({"stimulus_id": name, "object_name": category, "image_label": category})
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = _SIMULATED
    return stimuli


def _measured(region: str, stimuli: "StimulusSet") -> "NeuroidAssembly":
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_vision.data.simulated2026.encoding import EncodingModel
    from brainscore_vision.data.simulated2026.responses import simulate
    from brainscore_vision.model_helpers.images import load_grey

    model = EncodingModel()
    energies = np.stack([model.energies(load_grey(stimuli.get_stimulus(name))) for name in stimuli["stimulus_id"]])
    simulation = simulate(model.v1(energies) if region == "V1" else model.it(energies), stream=_STREAMS[region])
    repetitions, shown, neuroids = simulation.responses.shape
    coords: dict[str, Any] = {
        name: ("presentation", np.tile(stimuli[name].to_numpy(), repetitions)) for name in stimuli.columns
    }
    coords["repetition"] = ("presentation", np.repeat(np.arange(repetitions), shown))
    coords["neuroid_id"] = ("neuroid", [f"{region}.{number}" for number in range(neuroids)])
    coords["region"] = ("neuroid", [region] * neuroids)
    measured = NeuroidAssembly(
        simulation.responses.reshape(-1, neuroids), coords=coords, dims=["presentation", "neuroid"]
    )
    measured.attrs |= {"identifier": _SIMULATED, "stimulus_set_identifier": _SIMULATED, "stimulus_set": stimuli}
    return measured
