"""Simulated2026 as a stimulus set and an assembly."""

import os
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from brainscore_core.files import replacing
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.data.simulated2026 import encoding
from brainscore_vision.data.simulated2026.responses import SEED, Simulation, simulate
from brainscore_vision.data.simulated2026.stimuli import CATEGORIES, PER_CATEGORY, draw, parameters
from brainscore_vision.model_helpers import gabor_bank

IDENTIFIER = "Simulated2026"
_VERSION = 1  # raise it whenever stimuli are drawn otherwise


def stimulus_set() -> StimulusSet:
    """The stimuli; drawn and written as PNG files on first use.

    Returns
    -------
    StimulusSet
        800 stimuli in 8 categories, ``object_name``, with the parameters they were drawn from (see
        :func:`~brainscore_vision.data.simulated2026.stimuli.parameters`). Files lie in
        ``$BRAINSCORE_HOME/simulated2026`` (default ``~/.brain-score``).
    """
    from PIL import Image

    folder = _home() / "simulated2026" / f"v{_VERSION}"
    rows, paths = [], {}
    for category in CATEGORIES:
        for number in range(PER_CATEGORY):
            identifier = f"{category}_{number:02d}"
            path = folder / f"{identifier}.png"
            if not path.exists():
                with replacing(path) as stream:
                    # the default level takes three times as long, for files that are 7% smaller
                    Image.fromarray(draw(category, number)).save(stream, format="PNG", compress_level=1)
            rows.append({"stimulus_id": identifier, "object_name": category, "image_label": category}
                        | parameters(category, number))  # fmt: skip
            paths[identifier] = path
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = IDENTIFIER
    return stimuli


def assembly() -> NeuroidAssembly:
    """The simulated measurements.

    Returns
    -------
    NeuroidAssembly
        presentation (800 stimuli × 12 repetitions) × neuroid (96 in V1, 96 in IT). ``presentation`` has
        ``stimulus_id``, ``object_name``, ``repetition`` and the parameters of the stimuli; ``neuroid`` has
        ``neuroid_id``, ``region``, ``noise_sd`` (noise of one repetition) and ``reliability`` (true reliability of the
        average over repetitions).
        No unit. The same on every machine up to rounding (relative differences below 1e-6).
    """
    stimuli = stimulus_set()
    regions = _simulated(tuple(stimuli.get_stimulus(name) for name in stimuli["stimulus_id"]))
    responses = np.concatenate([simulation.responses for simulation in regions.values()], axis=2)
    repetitions, shown, neuroids = responses.shape
    coords: dict[str, Any] = {
        str(column): ("presentation", np.tile(stimuli[column].to_numpy(), repetitions)) for column in stimuli.columns
    }
    coords["repetition"] = ("presentation", np.repeat(np.arange(repetitions), shown))
    coords["neuroid_id"] = (
        "neuroid",
        [f"{region}.{number}" for region, simulation in regions.items() for number in range(len(simulation.noise_sd))],
    )
    coords["region"] = ("neuroid", [region for region, simulation in regions.items() for _ in simulation.noise_sd])
    for name in ("noise_sd", "reliability"):
        coords[name] = ("neuroid", np.concatenate([getattr(simulation, name) for simulation in regions.values()]))
    measured = NeuroidAssembly(
        responses.reshape(repetitions * shown, neuroids), coords=coords, dims=["presentation", "neuroid"]
    )
    measured.name = IDENTIFIER
    measured.attrs["identifier"] = IDENTIFIER
    measured.attrs["stimulus_set_identifier"] = stimuli.identifier
    measured.attrs["stimulus_set"] = stimuli
    note("seed", name=IDENTIFIER, value=SEED)
    return measured


@lru_cache(maxsize=1)  # several benchmarks in one process measure the same
def _simulated(paths: tuple[Path, ...]) -> dict[str, Simulation]:
    expected = _expected_responses(paths)
    return {"V1": simulate(expected["V1"], stream=1), "IT": simulate(expected["IT"], stream=2)}


def _expected_responses(paths: tuple[Path, ...]) -> dict[str, NDArray[np.float64]]:
    """From the files, not from what was drawn: what the measurements are computed from is what models see.

    They are kept beside the stimuli, under a hash of these files and of the code that computes them.
    """
    digest = sha256()
    for path in (*paths, Path(encoding.__file__), Path(gabor_bank.__file__)):
        digest.update(sha256(path.read_bytes()).digest())
    file = paths[0].parents[1] / f"expected-{digest.hexdigest()[:32]}.npz"
    try:
        with np.load(file) as stored:
            return {region: stored[region] for region in ("V1", "IT")}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):  # missing or damaged: it can be computed
        from PIL import Image

    model = encoding.EncodingModel()
    energies = np.stack([model.energies(np.asarray(Image.open(path))) for path in paths])
    expected = {"V1": model.v1(energies), "IT": model.it(energies)}
    with suppress(OSError), replacing(file) as stream:  # a folder that is not writable keeps nothing
        np.savez(stream, **expected)  # type: ignore[arg-type] # the stub takes them for `allow_pickle`
    return expected


def _home() -> Path:
    return Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser().absolute()
