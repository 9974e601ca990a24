"""What a newcomer brings: a simulated experiment, packaged as the tutorial shows."""

import warnings
from pathlib import Path

import numpy as np
from PIL import Image

from brainscore_core.supported_data_standards.brainio import packaging
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

NAME = "Newcomer2026"
STIMULI, NEUROIDS, REPETITIONS, TILES = 48, 12, 3, 6


def packages(folder):
    """Stimuli of few colours, and cells that add up tiles of them, with noise: simulated, and said so by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2026)
    ids = [f"img_{number:03d}" for number in range(STIMULI)]
    tiles = rng.integers(0, 256, (STIMULI, TILES, TILES, 3), dtype=np.uint8)
    for one, image in zip(ids, tiles, strict=True):
        Image.fromarray(image).resize((96, 96), Image.Resampling.NEAREST).save(folder / f"{one}.png")
    stimulus_set = StimulusSet([{"stimulus_id": one, "category": "tiles"} for one in ids])
    stimulus_set.stimulus_paths = {one: folder / f"{one}.png" for one in ids}
    stimulus_set.name = NAME

    seen = tiles.reshape(STIMULI, -1) / 255 @ rng.normal(size=(TILES * TILES * 3, NEUROIDS))
    responses = np.concatenate([seen + rng.normal(size=seen.shape) / 2 for _ in range(REPETITIONS)])
    assembly = NeuroidAssembly(
        responses,
        coords={
            "stimulus_id": ("presentation", ids * REPETITIONS),
            "repetition": ("presentation", np.repeat(np.arange(REPETITIONS), STIMULI)),
            "neuroid_id": ("neuroid", [f"cell_{number}" for number in range(NEUROIDS)]),
            "region": ("neuroid", ["V1"] * NEUROIDS),
        },
        dims=["presentation", "neuroid"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stimuli = package_stimulus_set_locally(
            proto_stimulus_set=stimulus_set, stimulus_set_identifier=NAME, downloads_path=folder
        )
        measured = packaging.package_data_assembly_locally(
            proto_data_assembly=assembly, assembly_identifier=NAME, stimulus_set_identifier=NAME,
            assembly_class_name="NeuroidAssembly", downloads_path=folder,
        )  # fmt: skip
    return {"csv": Path(stimuli["csv_path"]), "zip": Path(stimuli["zip_path"]), "nc": Path(measured["path"])}


DATA_TEST = f'''from brainscore_vision import load_dataset, load_stimulus_set


def test_stimuli():
    assert len(load_stimulus_set("{NAME}")) == {STIMULI}


def test_assembly():
    assembly = load_dataset("{NAME}")
    assert assembly.sizes == {{"presentation": {STIMULI * REPETITIONS}, "neuroid": {NEUROIDS}}}
    assert assembly.stimulus_set.identifier == "{NAME}"
'''
