"""Simulated stimuli and responses as a stimulus set and an assembly."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from brainscore_core.files import replacing
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.simulated_experiment.responses import Simulation
from brainscore_vision.simulated_experiment.stimuli import CATEGORIES, draw, parameters


def drawn_stimuli(identifier: str, exemplars: Iterable[int], folder: Path) -> StimulusSet:
    """Exemplars of each category; drawn and written into `folder` as PNG files on first use.

    Returns
    -------
    StimulusSet
        With ``object_name`` and the parameters that the stimuli were drawn from
        (:func:`~brainscore_vision.simulated_experiment.stimuli.parameters`).
    """
    from PIL import Image

    rows, paths = [], {}
    for category in CATEGORIES:
        for number in exemplars:
            name = f"{category}_{number:02d}"
            paths[name] = folder / f"{name}.png"
            if not paths[name].exists():
                with replacing(paths[name]) as stream:
                    # the default level takes three times as long, for files that are 7% smaller
                    Image.fromarray(draw(category, number)).save(stream, format="PNG", compress_level=1)
            rows.append({"stimulus_id": name, "object_name": category, "image_label": category}
                        | parameters(category, number))  # fmt: skip
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = identifier
    return stimuli


def measured_assembly(identifier: str, stimuli: StimulusSet, simulations: Mapping[str, Simulation]) -> NeuroidAssembly:
    """Measurements of all regions, single repetitions.

    Returns
    -------
    NeuroidAssembly
        presentation × neuroid. ``presentation`` has the columns of the stimuli and ``repetition``; ``neuroid`` has
        ``neuroid_id``, ``region``, ``noise_sd`` (noise of one repetition) and ``reliability`` (true reliability of the
        average over repetitions).
    """
    responses = np.concatenate([simulation.responses for simulation in simulations.values()], axis=2)
    repetitions, shown, neuroids = responses.shape
    coords: dict[str, Any] = {
        str(column): ("presentation", np.tile(stimuli[column].to_numpy(), repetitions)) for column in stimuli.columns
    }
    coords["repetition"] = ("presentation", np.repeat(np.arange(repetitions), shown))
    labels = [(region, number) for region, simulation in simulations.items()
              for number in range(len(simulation.noise_sd))]  # fmt: skip
    coords["neuroid_id"] = ("neuroid", [f"{region}.{number}" for region, number in labels])
    coords["region"] = ("neuroid", [region for region, _ in labels])
    for name in ("noise_sd", "reliability"):
        values = [getattr(simulation, name) for simulation in simulations.values()]
        coords[name] = ("neuroid", np.concatenate(values))
    measured = NeuroidAssembly(
        responses.reshape(repetitions * shown, neuroids), coords=coords, dims=["presentation", "neuroid"]
    )
    measured.name = identifier
    measured.attrs |= {"identifier": identifier, "stimulus_set_identifier": identifier, "stimulus_set": stimuli}
    return measured
