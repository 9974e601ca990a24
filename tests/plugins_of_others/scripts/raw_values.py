"""Scores of several regions are merged, and their raw values are read after selections and averages."""

from brainscore_core import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


def of_region(region, values):
    raw = DataAssembly(
        [values, values],
        coords={"split": [0, 1], "neuroid_id": ("neuroid", [0, 1]), "region": ("neuroid", [region] * 2)},
        dims=["split", "neuroid"],
    )
    score = Score([sum(values) / 2], coords={"region": ("region", [region])}, dims=["region"])
    score.attrs[Score.RAW_VALUES_KEY] = Score(raw)
    return score


v4, it = of_region("V4", [0.2, 0.4]), of_region("IT", [0.5, 0.7])
neuroids = Score.merge(v4.raw, it.raw)
assert neuroids.shape == (2, 4)
assert list(neuroids.sel(region="IT").mean("split").values) == [0.5, 0.7]

merged = Score.merge(v4, it)
assert list(merged["region"].values) == ["V4", "IT"]
assert merged.raw.shape == (2, 4)

over_splits = Score([0.3, 0.5], coords={"split": [0, 1]}, dims=["split"])
over_splits.attrs[Score.RAW_VALUES_KEY] = neuroids
assert over_splits.isel(split=0).raw.shape == (4,)
assert over_splits.sel(split=1, _apply_raw=False).raw.shape == (2, 4)
assert over_splits.isel(split=[0]).squeeze("split").raw.dims == ("neuroid",)
assert over_splits.mean("split").raw.shape == (2, 4)
assert over_splits.mean("split", _apply_raw=True).raw.shape == (4,)
assert over_splits.expand_dims("model").raw.dims == ("model", "split", "neuroid")
# raw values without that dimension stay as they are
assert v4.isel(region=0).raw.shape == (2, 2)
