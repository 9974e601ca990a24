"""Computes with assemblies of other dimensions than recordings have; packages recordings only. Data are simulated."""

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly, merge_data_arrays
from brainscore_core.supported_data_standards.brainio.packaging import package_data_assembly_locally

random = np.random.default_rng(0)

# one neuroid dimension: such as a ceiling of each neuroid
reliability = NeuroidAssembly(
    random.uniform(size=6),
    coords={"neuroid_id": ("neuroid", list("abcdef")), "region": ("neuroid", ["V4"] * 3 + ["IT"] * 3)},
    dims=["neuroid"],
)
assert reliability.sel(region="IT").shape == (3,)

# model × model
similarity = NeuroidAssembly(
    np.eye(3),
    coords={"model_left": ("model_left", ["a", "b", "c"]), "model_right": ("model_right", ["a", "b", "c"])},
    dims=["model_left", "model_right"],
)
assert float(similarity.sel(model_left="b", model_right="b")) == 1

# predictions of several splits, put together afterwards
splits = []
for split in range(3):
    predictions = NeuroidAssembly(
        random.standard_normal((1, 4, 2)),
        coords={
            "split": ("split", [split]),
            "stimulus_id": ("presentation", list("abcd")),
            "repetition": ("presentation", [0] * 4),
            "neuroid_id": ("neuroid", [1, 2]),
            "region": ("neuroid", ["IT", "IT"]),
        },
        dims=["split", "presentation", "neuroid"],
    )
    splits.append(predictions)
merged = merge_data_arrays(splits)
assert merged.sizes["split"] == 3
assert merged.mean("split").dims == ("presentation", "neuroid")

try:
    package_data_assembly_locally(merged, "Splits2022", "Splits2022", downloads_path="packages")
except ValueError as error:
    assert "split" in str(error)
else:
    raise AssertionError("an assembly with a dimension of splits was packaged as recordings")
