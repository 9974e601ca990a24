"""Tables of models: networks of installed packages, described by rows instead of code."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from importlib import import_module
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from brainscore_core.errors import UserError
from brainscore_core.plugins.tables import citations_by_key, read_table, table_row
from brainscore_core.provenance import note
from brainscore_vision.model_helpers.metadata import ModelMetadata
from brainscore_vision.model_helpers.weights import WeightFile, load_state_dict, read_checkpoint, state_dict_of
from brainscore_vision.training_data import packaged_models

if TYPE_CHECKING:
    import torch

    from brainscore_vision.model_helpers.activations.preprocessing import AppliedTransform, ImagePreprocessing
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

TABLE: Final = "models.csv"
REGIONS: Final = ("V1", "V2", "V4", "IT")

_CODE_LICENCES: Final = {
    "brainscore_vision": "MIT",
    "efficientnet_pytorch": "Apache-2.0",
    "timm": "Apache-2.0",
    "torchvision": "BSD-3-Clause",
    "transformers": "Apache-2.0",
}


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split()))


def _sides(text: str) -> int | tuple[int, int]:
    """``'256'``: the shorter side; ``'256 256'``: height and width."""
    sides = [int(side) for side in text.split()]
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def _time_mapping(text: str) -> dict[str, dict[int, tuple[float, float]]]:
    regions = json.loads(text)
    return {name: {int(step): tuple(bin_) for step, bin_ in steps.items()} for name, steps in regions.items()}


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """One model of a table. Names in lists are separated by spaces in the table."""

    identifier: str  # name under which it is registered
    library: str  # package that has the architecture: ``'timm'``, ``'torchvision'``, ``'transformers'`` or any other
    architecture: str  # name in timm or torchvision, class of transformers; of another package ``'module:callable'``
    # Arguments of the architecture (JSON); of a class of transformers, those of its configuration
    arguments: Mapping[str, Any] = field(default_factory=dict)
    # Attributes that are set afterwards (JSON), such as ``{"conv1.stride": [1, 1]}``
    settings: Mapping[str, Any] = field(default_factory=dict)
    # Address of a file (``https://…``, ``s3://bucket/key?versionId=…``); or the library's weights: in timm ``'timm'``
    # (those that the architecture names), in torchvision their name, in transformers a repository. Empty: none
    weights: str = ""
    sha1: str | None = None  # hash of the file, if it is published
    sha256_prefix: str | None = None  # beginning of its sha256, if only that is published
    entry: str = ""  # where the file has the weights, such as ``'state.model'``
    # Beginning of their names in the file, perhaps behind ``module.``, which is removed; others are left out
    prefix: str = ""
    # resize and crop: as for :class:`~brainscore_vision.model_helpers.activations.preprocessing.ImagePreprocessing`.
    # Without both, the preprocessing is that of timm
    resize: int | tuple[int, int] | None = None
    crop: int | tuple[int, int] | None = None
    interpolation: str = "bilinear"
    # mean and std: normalisation; by default ImageNet's
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    layers: tuple[str, ...] = ()
    behavior: str = ""
    # Region → layers (columns `V1`, `V2`, `V4`, `IT`). Empty: they are selected on benchmarks
    regions: Mapping[str, list[str]] = field(default_factory=dict)
    # Region → time step → milliseconds (JSON)
    time_mapping: Mapping[str, Mapping[int, tuple[float, float]]] | None = None
    visual_degrees: float | None = None  # visual angle that the input spans, if the publication states it
    further: Mapping[str, str] = field(default_factory=dict)  # columns that only metadata need

    @classmethod
    def of(cls, cells: Mapping[str, str]) -> ModelRow:
        """Convert the cells of a row; empty cells have the default.

        A UserError if a cell is not of the form that its column has.

        Examples
        --------
        >>> cells = {"identifier": "mine", "library": "timm", "architecture": "resnet18.a1_in1k", "V1": "layer1"}
        >>> row = ModelRow.of(cells)
        >>> row.architecture, row.regions, row.resize
        ('resnet18.a1_in1k', {'V1': ['layer1']}, None)
        """
        convert: dict[str, Callable[[str], Any]] = {
            **dict.fromkeys(("arguments", "settings"), json.loads),
            **dict.fromkeys(("resize", "crop"), _sides),
            **dict.fromkeys(("mean", "std"), _numbers),
            "layers": lambda text: tuple(text.split()),
            "time_mapping": _time_mapping,
            "visual_degrees": float,
        }
        field_names = {field.name for field in fields(cls)} - {"further", "regions"}
        values: dict[str, Any] = {}
        for name, text in cells.items():
            if name in field_names and text:
                try:
                    values[name] = convert.get(name, str)(text)
                except (ValueError, AttributeError, TypeError) as error:
                    raise UserError(
                        f"{name} of {cells['identifier']!r} is {text!r}: {error}", remedy=f"correct it in {TABLE}"
                    ) from error
        regions = {region: cells[region].split() for region in REGIONS if cells.get(region)}
        further = {name: text for name, text in cells.items() if name not in field_names and name not in REGIONS}
        return cls(**values, regions=regions, further=further)

    def network(self) -> torch.nn.Module:
        """Make the network with weights as they are initialised.

        A UserError if its library cannot be imported, or does not have the architecture; a ModuleNotFoundError if a
        package that Brain-Score does not know is not installed.
        """
        from brainscore_vision.model_helpers.libraries import library
        from brainscore_vision.model_sources.libraries import require_library_model

        match self.library:
            case "timm":
                require_library_model(f"timm:{self.architecture}")
                timm = library("timm", needed_by=self.identifier)
                network = timm.create_model(self.architecture, **self.arguments)
            case "torchvision":
                models = library("torchvision.models", needed_by=self.identifier)
                network = models.get_model(self.architecture, weights=None, **self.arguments)
            case "transformers":
                model_class = getattr(library("transformers", needed_by=self.identifier), self.architecture)
                network = model_class(model_class.config_class(**self.arguments))
            case package:
                module, _, name = self.architecture.partition(":")
                make = attrgetter(name)(import_module(".".join(filter(None, [package, module]))))
                network = make(**self.arguments)
        for name, value in self.settings.items():
            module, _, attribute = name.rpartition(".")
            setattr(network.get_submodule(module), attribute, tuple(value) if isinstance(value, list) else value)
        return network

    @property
    def weight_file(self) -> WeightFile | None:
        """The file with the weights; None if the library has them, or there are none.

        Examples
        --------
        >>> cells = {"identifier": "mine", "library": "torchvision", "architecture": "resnet18"}
        >>> ModelRow.of({**cells, "weights": "https://example.org/epoch_100.pt"}).weight_file.name
        'mine.pt'
        """
        address = urlsplit(self.weights)
        if address.scheme not in {"s3", "https"}:
            return None
        file = WeightFile(
            name=self.identifier + PurePosixPath(address.path).suffix,
            url=self.weights,
            sha1=self.sha1,
            sha256_prefix=self.sha256_prefix,
        )
        if address.scheme == "https":
            return file
        version = parse_qs(address.query).get("versionId", [None])[0]
        return replace(file, url=None, bucket=address.netloc, key=address.path.removeprefix("/"), version_id=version)

    def load(self, network: torch.nn.Module, path: str | os.PathLike[str]) -> None:
        """Load the weights of a file into the network.

        A UserError if the file does not have them, or they do not fit.
        """
        import numpy as np

        source = os.fspath(path)
        rebuild = np.empty(0).__reduce__()[0]
        names = [f"numpy.{core}.multiarray._reconstruct" for core in ("core", "_core")]
        # durations and arrays, which checkpoints of training libraries have beside the weights
        allowed: list[Any] = [timedelta, np.ndarray, *((rebuild, name) for name in names)]
        checkpoint = read_checkpoint(path, allow=allowed)
        *outer, last = self.entry.split(".")
        for key in outer:
            checkpoint = checkpoint.get(key) if isinstance(checkpoint, Mapping) else None
        if not self.prefix:
            weights = state_dict_of(checkpoint, key=last or None, source=source)
        else:
            every = state_dict_of(checkpoint, key=last or None, prefix="", source=source).items()
            named = re.compile(rf"(?:module\.)?{re.escape(self.prefix)}(.+)")
            weights = {match[1]: value for name, value in every if (match := named.fullmatch(name))}
        load_state_dict(network, weights, source=source)

    def trained_network(self) -> tuple[torch.nn.Module, str]:
        """Make the network with its weights, or as it is initialised from seed 0 if it has none; and a remark."""
        file = self.weight_file
        if file is None and self.weights:
            from brainscore_vision.model_sources.libraries import build_network, huggingface_network

            if self.library == "transformers":
                return huggingface_network(self.weights, self.architecture)
            weights = "" if self.library == "timm" else f":{self.weights}"
            wrapper, _, remark = build_network(f"{self.library}:{self.architecture}{weights}")
            return wrapper.model, remark
        from brainscore_vision.model_helpers.weights import seeded

        with seeded(0):
            network = self.network()
        if file is None:
            return network, "weights as they are initialised, seed 0"
        self.load(network, file.path())
        return network, f"weights {file.address}"

    def preprocessing(self, network: torch.nn.Module) -> ImagePreprocessing | AppliedTransform:
        """Preprocessing of images: that of the row, or that of timm for the network."""
        from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
        from brainscore_vision.model_helpers.activations.pretrained_models import own_preprocessing

        if self.resize is None and self.crop is None:
            of_library = own_preprocessing(network)
            if of_library is None:
                raise UserError(f"{self.identifier!r} has no preprocessing", remedy=f"add resize or crop in {TABLE}")
            return of_library[0]
        values = (("mean", self.mean), ("std", self.std))
        normal: dict[str, Any] = {name: value for name, value in values if value is not None}
        return ImagePreprocessing(resize=self.resize, crop=self.crop, interpolation=self.interpolation, **normal)

    def subject(self, network: torch.nn.Module) -> ModelCommitment:
        """Make a model from a network of this architecture with any weights."""
        from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
        from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

        return ModelCommitment(
            identifier=self.identifier,
            activations_model=PytorchWrapper(network, self.preprocessing(network), self.identifier),
            layers=self.layers,
            behavioral_readout_layer=self.behavior,
            region_layer_map=self.regions or None,
            visual_degrees=self.visual_degrees,
            time_mapping=self.time_mapping,
        )


def rows_of(plugin_file: str) -> list[ModelRow]:
    """All rows of a plugin's table.

    `plugin_file`: ``__file__`` of the plugin. Result: in the order of the table.
    """
    return [ModelRow.of(cells) for cells in read_table(plugin_file, TABLE)]


def table_model(plugin_file: str, identifier: str) -> ModelCommitment:
    """Make the model of a row, with its weights.

    `plugin_file`: ``__file__`` of the plugin. A UserError if a library is missing, or the weights do not fit; a
    DataUnavailable if a file with weights is not available locally and cannot be fetched.
    """
    row = ModelRow.of(table_row(plugin_file, TABLE, identifier))
    network, remark = row.trained_network()
    model = row.subject(network)
    model.remarks = (remark, *model.remarks)
    note("remark", text=remark)
    return model


def table_regions(folder: Path, identifier: str) -> dict[str, tuple[str, ...]] | None:
    """Region → layers in the table in a plugin's folder; None if there is neither a table nor a row with layers."""
    if not (folder / TABLE).is_file():
        return None
    rows = (ModelRow.of(cells) for cells in read_table(str(folder / TABLE), TABLE) if cells["identifier"] == identifier)
    regions = next((row.regions for row in rows), {})
    return {region: tuple(layers) for region, layers in regions.items()} or None


def table_metadata(plugin_file: str) -> dict[str, ModelMetadata]:
    """Metadata of all models of a table, by identifier.

    They follow from the columns `kind`, `family`, `parameters`, `size_mb`, `image_size`, `weights_licence`, `source`,
    `citation` (key of an entry in the plugin's ``citations.bib``) and `notes` (separated by ``|``), and from what this
    package states of the training of its models.

    `plugin_file`: ``__file__`` of the plugin.
    """
    citations = citations_by_key(Path(plugin_file).with_name("citations.bib").read_text(encoding="utf-8"))
    return {row.identifier: _metadata(row, citations) for row in rows_of(plugin_file)}


def _metadata(row: ModelRow, citations: Mapping[str, str]) -> ModelMetadata:
    cells, training = row.further, packaged_models()[row.identifier]
    notes = [text for text in cells["notes"].split("|") if text]
    if not row.regions:
        notes.append("Layers are selected on benchmarks: none are published for this network.")
    return ModelMetadata(
        architecture=cells["kind"],
        family=cells["family"],
        parameters=int(cells["parameters"]),
        total_parameters=int(cells["parameters"]),
        size_mb=float(cells["size_mb"]),
        image_size=int(cells["image_size"]),
        training_data=", then ".join(training.trained_on or ()) or None,
        code_licence=_CODE_LICENCES[row.library],
        weights_licence=cells["weights_licence"] or None,
        source=cells["source"],
        bibtex=citations[cells["citation"]],
        notes=tuple(notes),
    )
