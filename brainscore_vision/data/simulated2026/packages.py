"""Simulated2026 as a stimulus set and an assembly."""

from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from brainscore_core.files import replacing
from brainscore_core.paths import simulated_data_home
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import simulated_experiment
from brainscore_vision.simulated_experiment import (
    PER_CATEGORY,
    SEED,
    Simulation,
    drawn_stimuli,
    measured_assembly,
    simulate,
)
from brainscore_vision.stimuli import gabor_bank

IDENTIFIER = "Simulated2026"
_VERSION = 1  # raise it whenever stimuli are drawn otherwise


def stimulus_set() -> StimulusSet:
    """The stimuli; drawn and written as PNG files on first use.

    Result: 800 stimuli in 8 categories, ``object_name``, with the parameters they were drawn from (see
    :func:`~brainscore_vision.simulated_experiment.parameters`). Files lie in ``$BRAINSCORE_HOME/simulated2026``
    (default ``~/.brain-score``).
    """
    return drawn_stimuli(IDENTIFIER, range(PER_CATEGORY), simulated_data_home() / f"v{_VERSION}")


def assembly() -> NeuroidAssembly:
    """The simulated measurements.

    Result: presentation (800 stimuli × 12 repetitions) × neuroid (96 in V1, 96 in IT); the coordinates are those of
    :func:`~brainscore_vision.simulated_experiment.measured_assembly`. No unit. The same on every machine up
    to rounding (relative differences below 1e-6).
    """
    stimuli = stimulus_set()
    simulations = _simulated(tuple(stimuli.get_stimulus(name) for name in stimuli["stimulus_id"]))
    note("seed", name=IDENTIFIER, value=SEED)
    return measured_assembly(IDENTIFIER, stimuli, simulations)


@lru_cache(maxsize=1)  # several benchmarks in one process measure the same
def _simulated(paths: tuple[Path, ...]) -> dict[str, Simulation]:
    expected = _expected_responses(paths)
    return {"V1": simulate(expected["V1"], stream=1), "IT": simulate(expected["IT"], stream=2)}


def _expected_responses(paths: tuple[Path, ...]) -> dict[str, NDArray[np.float64]]:
    """From the files, not from what was drawn: what the measurements are computed from is what models see.

    They are kept beside the stimuli, under a hash of these files and of the code that computes them.
    """
    digest = sha256()
    for path in (*paths, Path(simulated_experiment.__file__), Path(gabor_bank.__file__)):
        digest.update(sha256(path.read_bytes()).digest())
    file = paths[0].parents[1] / f"expected-{digest.hexdigest()[:32]}.npz"
    try:
        with np.load(file) as stored:
            return {region: stored[region] for region in ("V1", "IT")}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):  # missing or damaged: it can be computed
        from PIL import Image

    model = simulated_experiment.EncodingModel()
    energies = np.stack([model.energies(np.asarray(Image.open(path))) for path in paths])
    expected = {"V1": model.v1(energies), "IT": model.it(energies)}
    with suppress(OSError), replacing(file) as stream:  # a folder that is not writable keeps nothing
        np.savez(stream, **expected)  # type: ignore[arg-type] # the stub takes them for `allow_pickle`
    return expected
