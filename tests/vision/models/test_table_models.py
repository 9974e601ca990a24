"""Every model that is a row of a table: its network, layers, preprocessing and metadata; no weights are needed."""

from collections import Counter
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

import brainscore_vision
from brainscore_core.errors import UserError
from brainscore_core.plugins.tables import table_row
from brainscore_vision.model_helpers.activations.preprocessing import from_transforms
from brainscore_vision.model_sources.tables import REGIONS, TABLE, ModelRow, rows_of

FOLDERS = sorted(file.parent for file in (Path(brainscore_vision.__file__).parent / "models").glob("*/models.csv"))
ROWS = {row.identifier: (folder, row) for folder in FOLDERS for row in rows_of(str(folder / "__init__.py"))}
NEEDS = {"timm": "timm", "transformers": "transformers", "efficientnet_pytorch": "efficientnet_pytorch"}


class Network(NamedTuple):
    """What is tested of a network that several rows share."""

    layers: frozenset[str]  # those that run, and steps of recurrent ones
    parameters: int
    size_mb: float
    image_size: int


@cache
def shared(library, architecture, arguments, settings, resize, crop):
    cells = {"library": library, "architecture": architecture, "arguments": arguments, "settings": settings}
    row = ModelRow.of({"identifier": "any", "resize": resize, "crop": crop, **cells})
    with torch.device("meta"):
        network = row.network().eval()
    preprocessing = row.preprocessing(network)
    if not resize:
        timm = pytest.importorskip("timm")
        theirs = timm.data.create_transform(**timm.data.resolve_model_data_config(network), is_training=False)
        wanted = from_transforms(theirs)
        assert preprocessing == replace(wanted, mean=preprocessing.mean, std=preprocessing.std)
        np.testing.assert_allclose([preprocessing.mean, preprocessing.std], [wanted.mean, wanted.std], rtol=1e-6)
    calls = Counter()
    for name, module in network.named_modules():
        module.register_forward_hook(lambda *_, name=name: calls.update([name]))
    network(torch.zeros(1, *preprocessing.shape, device="meta"))
    weights = network.state_dict().values()
    return Network(
        layers=frozenset(calls) | {f"{name}-t{step}" for name, count in calls.items() for step in range(count)},
        parameters=sum(parameter.numel() for parameter in network.parameters()),
        size_mb=round(sum(value.numel() * value.element_size() for value in weights) / 1e6, 1),
        image_size=preprocessing.shape[1],
    )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("identifier", ROWS)
def test_network_and_metadata(identifier, torchvision):
    folder, row = ROWS[identifier]
    if row.library in NEEDS:
        pytest.importorskip(NEEDS[row.library])
    cells = table_row(str(folder / "__init__.py"), TABLE, identifier)
    columns = ("library", "architecture", "arguments", "settings", "resize", "crop")
    network = shared(*(cells.get(column, "") for column in columns))
    metadata = import_module(f"brainscore_vision.models.{folder.name}.metadata").METADATA[identifier]
    assert metadata.parameters == metadata.total_parameters == network.parameters
    assert metadata.size_mb == network.size_mb
    assert metadata.image_size == network.image_size
    used = [row.behavior, *(layer for layers in row.regions.values() for layer in layers)]
    assert {*row.layers, *used} <= network.layers
    assert set(row.regions) in (set(), set(REGIONS))


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"resize": "large"}, "resize of 'mine' is 'large'"),
        ({"arguments": "{"}, "arguments of 'mine'"),
        ({"time_mapping": "[]"}, "time_mapping of 'mine'"),
    ],
)
def test_wrong_cells_are_named(cells, problem):
    with pytest.raises(UserError, match=problem):
        ModelRow.of({"identifier": "mine", "library": "timm", "architecture": "resnet18", **cells})
