"""Maps from region to layers."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.brain_transformation.layers import resolve_layers
from brainscore_vision.model_interface import BrainModel

__all__ = ["RegionLayerMap", "layers_of_regions", "load_region_layer_map"]

Select = Callable[[str, StimulusSet | None], tuple[list[str], str]]
_REGIONS = tuple(str(region) for region in BrainModel.RecordingTarget)


class RegionLayerMap(Mapping[str, list[str]]):
    """Region → its layers: given, read from the plugin's file, or selected when a region is first recorded.

    Parameters
    ----------
    identifier : str
        Name of the model.
    layers : sequence of str
        Layers to select from.
    known : sequence of str, optional
        All layers of the network, to resolve patterns and check names.
    given : mapping of str to str or list of str, optional
        Region → layer or layers, or patterns. By default the file ``region_layer_map/<identifier>.json`` of the plugin
        that registers the model.
    select : callable, optional
        ``select(region, stimuli) -> (layers, source)``, if neither exists; the selection must not use measurements of
        `stimuli`.

    Notes
    -----
    Iteration and ``len`` cover the regions that are given or selected so far; looking up a region selects its layers if
    necessary. A model with a single layer uses it for all regions. If regions are given, there are no others.
    """

    def __init__(
        self,
        identifier: str,
        layers: Sequence[str],
        *,
        known: Sequence[str] | None = None,
        given: Mapping[str, str | Sequence[str]] | None = None,
        select: Select | None = None,
    ) -> None:
        self._identifier = identifier
        self._layers = list(layers)
        self._known = known
        self._select = select
        self._source = ""
        self._selected: dict[str, list[str]] = {}
        self._sources: dict[str, str] = {}
        self._given = None if given is None else self._resolved(given, "region_layer_map")

    @property
    def regions(self) -> list[str]:
        """Regions that can be recorded."""
        given = self._fixed()
        return list(_REGIONS) if given is None else list(given)

    def __getitem__(self, region: str) -> list[str]:
        if str(region) not in self.regions:
            raise KeyError(region)
        return self.layers_for(region, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._fixed() or self._selected)

    def __len__(self) -> int:
        return len(self._fixed() or self._selected)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._fixed() or self._selected})"

    def check(self, region: str) -> None:
        """Raise `NotApplicable` if the model does not have the region."""
        if str(region) not in self.regions:
            raise NotApplicable(
                f"{self._identifier!r} has no region {str(region)!r}; it has {', '.join(self.regions) or 'none'}"
            )

    def layers_for(self, region: str, stimuli: StimulusSet | None) -> list[str]:
        """Layers of a region; if they have to be selected, on stimuli other than these.

        Raises
        ------
        NotApplicable
            If the model does not have the region.
        """
        region = str(region)
        self.check(region)
        given = self._fixed()
        if given is not None:
            return list(given[region])
        if self._select is None:
            raise NotApplicable(f"the layers of {self._identifier!r} for the region {region!r} are not known")
        self._selected[region], self._sources[region] = self._select(region, stimuli)
        return list(self._selected[region])

    def known_layers(self, regions: Sequence[str]) -> list[str]:
        """Layers of these regions without duplicates, except those that have to be selected."""
        given = self._fixed() or {}
        return list(dict.fromkeys(layer for region in regions for layer in given.get(region, [])))

    def source_of(self, region: str) -> str | None:
        """Source of the layers of a region; None before they are selected."""
        return self._source if self._fixed() is not None else self._sources.get(str(region))

    def _fixed(self) -> dict[str, list[str]] | None:
        """Layers that are given or read from a file; None if layers are selected."""
        if self._given is None and not self._source:
            file = _file_of(self._identifier)  # looked up once, on first use
            if file is not None:
                source = f"{file.parent.parent.name}/{file.parent.name}/{file.name}"
                self._given = self._resolved(load_region_layer_map(file), source)
            elif len(self._layers) == 1:
                self._given = self._resolved(dict.fromkeys(_REGIONS, self._layers[0]), "the only layer")
            else:
                self._source = "selection"
        return self._given

    def _resolved(self, given: Mapping[str, str | Sequence[str]], source: str) -> dict[str, list[str]]:
        self._source = source
        return {
            str(region): resolve_layers(wanted, self._known, identifier=self._identifier)
            for region, wanted in given.items()
        }


def layers_of_regions(identifier: str, given: Mapping[str, str | Sequence[str]] | None = None) -> list[str]:
    """Layers in a map from region to layers, without duplicates: the given map, or the file of the plugin.

    Raises
    ------
    UserError
        If neither exists.
    """
    if given is None:
        file = _file_of(identifier)
        if file is None:
            raise UserError(
                f"the layers of {identifier!r} are not named",
                remedy="pass layers, region_layer_map, or add region_layer_map/<identifier>.json to the model's plugin",
            )
        given = load_region_layer_map(file)
    of_regions = ([layers] if isinstance(layers, str) else layers for layers in given.values())
    return list(dict.fromkeys(layer for layers in of_regions for layer in layers))


def load_region_layer_map(path: Path) -> dict[str, str | list[str]]:
    """Read a map from region to layer, or to a list of layers.

    Parameters
    ----------
    path : Path
        JSON, such as ``{"V1": "layer1", "IT": ["layer3", "layer4"]}``.

    Raises
    ------
    UserError
        If the file does not contain such a map.
    """
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}", remedy="fix it, or pass region_layer_map") from error
    if not isinstance(content, dict) or not all(_is_layers(value) for value in content.values()):
        raise UserError(
            f"{path} is not a map from region to layers",
            remedy='write it as {"V1": "layer1", "IT": ["layer3", "layer4"]}',
        )
    return content


def _is_layers(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and bool(value) and all(isinstance(layer, str) for layer in value)
    )


def _file_of(identifier: str) -> Path | None:
    """The plugin's file for this model; None if no plugin registers the model or there is no file."""
    from brainscore_vision.registries import model_registry

    places = model_registry.locations(identifier)
    if not places:
        return None
    name = f"{identifier}.json"
    if places[0].folder is None or Path(name).name != name:
        return None
    file = places[0].folder / "region_layer_map" / name
    return file if file.is_file() else None
