"""Packages simulated data, checks the file's hash, compares two recordings: with the signatures of brain-score 2.x."""

from pathlib import Path

import numpy as np
from PIL import Image
from scipy.stats import pearsonr

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import fetch_file
from brainscore_core.supported_data_standards.brainio.packaging import package_data_assembly_locally
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_metric
from brainscore_vision.metric_helpers.xarray_utils import XarrayCorrelation

random = np.random.default_rng(0)
folder = Path("stimuli")
folder.mkdir()
image_paths = {f"image_{i:02d}": f"stimuli/image_{i:02d}.png" for i in range(12)}
for image_path in image_paths.values():
    Image.fromarray(random.integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(image_path)
stimulus_set = StimulusSet([{"stimulus_id": stimulus_id} for stimulus_id in image_paths])
stimulus_set.stimulus_paths = image_paths
stimulus_set.name = "Script2022"
assert stimulus_set.stimulus_paths["image_03"].endswith("image_03.png")  # what was set: text


def recording(values, neuroids):
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", list(image_paths)),
            "repetition": ("presentation", [0] * len(image_paths)),
            "neuroid_id": ("neuroid", neuroids),
            "region": ("neuroid", ["IT"] * len(neuroids)),
        },
        dims=["presentation", "neuroid"],
    )


names = [f"n{i}" for i in range(8)]
first = recording(random.standard_normal((12, 8)), names)
second = recording(first.values + random.standard_normal((12, 8)), names)

# without the name of a class
package = package_data_assembly_locally(first, "Script2022", "Script2022", downloads_path="packages")
assert package["cls"] == "NeuroidAssembly"
try:
    fetch_file("local", package["path"], sha1="0" * 40)
except ValueError as error:
    assert "sha1" in str(error)
else:
    raise AssertionError("a wrong hash was accepted")

# metrics of two representations name their arguments by number
rdm, cka = load_metric("rdm"), load_metric("cka")
assert float(rdm(assembly1=first, assembly2=second)) == float(rdm(first, second))
assert float(cka(assembly1=first, assembly2=second)) == float(cka(first, second))

# neuroids in another order are the same neuroids
shuffled = second[{"neuroid": random.permutation(8)}]
correlation = XarrayCorrelation(pearsonr)
in_order = correlation(first, second).sortby("neuroid_id")
assert np.allclose(correlation(first, shuffled).sortby("neuroid_id").values, in_order.values)
