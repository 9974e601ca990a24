"""Layers of a model: their names, those of each region, and candidates among the layers of a network."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import metadata
from inspect import getattr_static
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from brainscore_core.errors import NotApplicable, UserError, nearest
from brainscore_core.formatting import first_few
from brainscore_core.plugins.loading import LIBRARIES
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations.layouts import stimulus_axis
from brainscore_vision.model_helpers.activations.networks import (
    LayerNames,
    is_pattern,
    match_layers,
    passing_outputs,
    plain_name,
    run_images,
    without_compilation,
)
from brainscore_vision.model_helpers.activations.passes import tensor_of
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.stimuli.labels import NUMBER_OF_CLASSES

if TYPE_CHECKING:
    import torch

_logger = logging.getLogger(__name__)
_TIME_STEP = re.compile(r"-t(\d+)$")
_LOGITS = "logits"
_REPEATED = 3  # as many modules of a class side by side are blocks or stages; pairs are often other things
_HELPERS = "brainscore_vision.model_helpers."
_REGIONS = tuple(str(region) for region in BrainModel.RecordingTarget)

Select = Callable[[str, StimulusSet | None], tuple[list[str], str]]


class ActivationsModel(Protocol):
    """Returns activations: presentation × neuroid, presentations in the order of the stimuli.

    It may also have ``layers()`` (names of all layers, in order), ``set_visual_degrees(degrees)``, ``identifier``,
    ``set_recorded_time((start, end))``: milliseconds in which responses are needed.
    """

    def __call__(
        self, stimuli: StimulusSet, layers: Sequence[str], *, number_of_trials: int = 1, require_variance: bool = False
    ) -> NeuroidAssembly: ...


class UnknownLayer(UserError, ValueError):
    """A name or pattern that matches no layer of the network."""


def layer_names(activations_model: Any) -> list[str] | None:
    """All layers of a network in order; None if `activations_model` does not list them."""
    network: Any = getattr(activations_model, "_model", None)
    if callable(getattr(network, "named_modules", None)):
        # a wrapper that overrides how layers are read may have names of its own
        reader = getattr(getattr(activations_model, "_extractor", None), "reader", None)
        is_plain = getattr(reader, "resolve", None) is None
        return None if is_plain else list(LayerNames(network))
    layers = getattr(activations_model, "layers", None)
    if callable(layers):
        layers = layers()
    if layers is None or isinstance(layers, str) or not isinstance(layers, Iterable):
        return None
    return [str(layer) for layer in layers]


def resolve_layers(
    wanted: str | Sequence[str], known: Sequence[str] | None, *, identifier: str, activations_model: Any = None
) -> list[str]:
    """Resolve names and patterns of layers, without duplicates.

    Names, or patterns as for :func:`~brainscore_vision.model_helpers.activations.networks.match_layers`. ``'logits'``
    and names with a time step (``'IT.output-t1'``) are accepted if the network has the layer without the step. Names
    are not checked if `known` is None. UnknownLayer if a name or a pattern matches no layer; with `activations_model`,
    it states the version of the library of the network.

    Examples
    --------
    >>> resolve_layers(["conv*", "fc"], ["conv1", "conv2", "fc"], identifier="net")
    ['conv1', 'conv2', 'fc']
    """
    layers: list[str] = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if known is None:
            if is_pattern(name):
                raise UnknownLayer(
                    f"the pattern {name!r} cannot be resolved: {identifier!r} does not list its layers",
                    remedy="name each layer",
                )
            layers.append(name)
        elif not {name, plain_name(name).removeprefix("module."), _TIME_STEP.sub("", name)}.isdisjoint(
            {*known, _LOGITS}
        ):
            layers.append(name)
        elif is_pattern(name) and (matching := match_layers(name, known)):
            layers += matching
        else:
            raise _unknown(name, known, identifier, _versions(activations_model, identifier))
    if not layers:
        raise UnknownLayer(f"no layers of {identifier!r} are named", remedy="name at least one")
    return list(dict.fromkeys(layers))


def time_step(layer: str) -> int | None:
    """Time step at the end of a layer's name.

    Examples
    --------
    >>> time_step("IT.output-t1"), time_step("layer4")
    (1, None)
    """
    match = _TIME_STEP.search(layer)
    return None if match is None else int(match.group(1))


def logits_width(activations_model: Any, layer: str = _LOGITS) -> int | None:
    """Number of a network's logits, 0 if it has none; None if not known before it runs."""
    names = layer_names(activations_model)
    get_layer = getattr(activations_model, "get_layer", None)
    if callable(get_layer):
        wrapper = getattr(get_layer, "__self__", activations_model)
        # a __call__ of its own may drop a background class or pool tokens
        call: Any = getattr_static(type(wrapper), "__call__", None)
        if not str(getattr(call, "__module__", "")).startswith(_HELPERS):
            return None
        try:
            width = getattr(get_layer(layer), "out_features", None)
        except (AttributeError, IndexError, KeyError, UserError):
            return None  # known only from the output for stimuli
        counted = getattr(wrapper, "logits_width", None)
        if layer != _LOGITS or width in (None, NUMBER_OF_CLASSES) or not callable(counted):
            return width
        try:  # the last layer may not be the output of the network
            return counted() or width
        except Exception as error:  # noqa: BLE001 - the network may not take a grey image
            _logger.info("the logits of the network are not counted: %s", error)
            return width
    return 0 if names is not None and layer not in names else None


def _versions(activations_model: Any, identifier: str) -> str:
    """The library of a network with the version here and in the plugin's requirements; empty for own networks."""
    from brainscore_vision.registries import model_registry

    library = type(getattr(activations_model, "_model", None)).__module__.partition(".")[0]
    if library not in LIBRARIES or library == "torch":
        return ""
    text = f"the network is of {library} {metadata.version(library)}; other versions may name its layers differently"
    folder = next((location.folder for location in model_registry.locations(identifier)), None)
    file = None if folder is None else folder / "requirements.txt"
    lines = file.read_text(errors="replace").splitlines() if file is not None and file.is_file() else []
    required = [line.strip() for line in lines if re.match(rf"\s*{library}\b.*\d", line)]
    return f"{text} (required by the plugin: {required[0]})" if required else text


def _unknown(name: str, names: Sequence[str], identifier: str, versions: str) -> UnknownLayer:
    near = nearest(name, names)
    shown = first_few(names, most=40)
    remedy = "; ".join(filter(None, [f"nearest: {', '.join(near)}" if near else "", versions])) or None
    if not is_pattern(name):
        return UnknownLayer(f"model {identifier!r} has no layer {name}; it has {shown}", remedy=remedy)
    deeper = match_layers(name.replace("*", "**"), names)
    if deeper:
        more = ", …" if len(deeper) > 3 else ""
        remedy = (
            f"* stands for characters other than dots; {name.replace('*', '**')} matches {', '.join(deeper[:3])}{more}"
        )
    return UnknownLayer(f"model {identifier!r} has no layer that matches {name}; it has {shown}", remedy=remedy)


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
        self._selected: dict[str, tuple[list[str], str]] = {}  # region → layers that were selected, and their source
        if given is not None:
            self._fixed = self._resolved(given), "region_layer_map"

    @cached_property
    def _fixed(self) -> tuple[dict[str, list[str]], str] | None:
        """Layers that are given or in the plugin's file, and their source; None if layers are selected."""
        file = _file_of(self._identifier)  # looked up on first use
        if file is not None:
            source = f"{file.parent.parent.name}/{file.parent.name}/{file.name}"
            return self._resolved(load_region_layer_map(file)), source
        if len(self._layers) == 1:
            return self._resolved(dict.fromkeys(_REGIONS, self._layers[0])), "the only layer"
        return None

    def _resolved(self, given: Mapping[str, str | Sequence[str]]) -> dict[str, list[str]]:
        return {
            str(region): resolve_layers(of_region, self._known, identifier=self._identifier)
            for region, of_region in given.items()
        }

    @property
    def mapped(self) -> dict[str, list[str]]:
        """Layers of the regions that are given or selected so far."""
        if self._fixed is not None:
            return self._fixed[0]
        return {region: layers for region, (layers, _) in self._selected.items()}

    @property
    def regions(self) -> list[str]:
        """Regions that can be recorded."""
        return list(_REGIONS if self._fixed is None else self._fixed[0])

    def __getitem__(self, region: str) -> list[str]:
        if str(region) not in self.regions:
            raise KeyError(region)
        return self.layers_for(region, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.mapped)

    def __len__(self) -> int:
        return len(self.mapped)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mapped})"

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
        if self._fixed is None:
            if self._select is None:
                raise NotApplicable(f"the layers of {self._identifier!r} for the region {region!r} are not known")
            self._selected[region] = self._select(region, stimuli)
        return list(self.mapped[region])

    def known_layers(self, regions: Sequence[str]) -> list[str]:
        """Layers of these regions without duplicates, except those that have to be selected."""
        fixed = {} if self._fixed is None else self._fixed[0]
        return list(dict.fromkeys(layer for region in regions for layer in fixed.get(region, [])))

    def source_of(self, region: str) -> str | None:
        """Source of the layers of a region; None before they are selected."""
        return self._fixed[1] if self._fixed is not None else self._selected.get(str(region), ([], None))[1]


def layers_of_regions(identifier: str, given: Mapping[str, str | Sequence[str]] | None = None) -> list[str]:
    """Layers in a map from region to layers, without duplicates: the given map, or the file of the plugin.

    A UserError if neither exists.
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

    The file is JSON, such as ``{"V1": "layer1", "IT": ["layer3", "layer4"]}``; a UserError if it does not contain such
    a map.
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
    """The plugin's file for this model; None if no plugin registers the model or the file is missing."""
    from brainscore_vision.registries import model_registry

    locations = model_registry.locations(identifier)
    if not locations:
        return None
    name = f"{identifier}.json"
    if locations[0].folder is None or Path(name).name != name:
        return None
    file = locations[0].folder / "region_layer_map" / name
    return file if file.is_file() else None


class _Output(NamedTuple):
    name: str
    depth: int
    tensor: Any
    plain: bool  # it is a tensor itself, not an object with tensors


def repeated_layers(
    model: torch.nn.Module, inputs: Any, *, limit: int = 24, remarks: list[str] | None = None
) -> tuple[list[str], str]:
    """Choose the blocks of a transformer or the stages of a convolutional network, and find the network's last layer.

    These are the outermost modules of which there are at least three of one class side by side, such as
    ``layer1`` … ``layer4`` of a ResNet or ``blocks.0`` … ``blocks.11`` of a ViT, with modules before them that have
    parts, such as the stem. Stages with blocks of attention are replaced by their blocks. The network runs once.

    Of more than `limit` layers, some are left out evenly; `remarks` gets a sentence about blocks or stages that cannot
    be recorded. Returns the blocks or stages in the order of computation, none if the network has no such modules; and
    the last layer, such as the logits. A UserError if the network fails on the input, or no layer returns a tensor
    whose first axis is the stimuli.

    Examples
    --------
    >>> import torch
    >>> from torch.nn import Conv2d, Flatten, Linear, ReLU, Sequential
    >>> block = lambda: Sequential(Conv2d(3, 3, 3), ReLU())
    >>> network = Sequential(Sequential(block(), block(), block()), Flatten(), Linear(12, 2))
    >>> repeated_layers(network, torch.zeros(1, 3, 8, 8))
    (['0.0', '0.1', '0.2'], '2')
    """
    outputs, calls, omitted = _run(model, inputs)
    distinct = _distinct(outputs)
    if not distinct:
        raise _without_layers(model, omitted)
    ran = {holder for name in calls for holder in _with_ancestors(name)}
    names = _blocks_or_stages(model, ran)
    if remarks is not None and omitted.keys() & names:
        remarks.append(_about({name: reason for name, reason in omitted.items() if name in names}))
    chosen = list(dict.fromkeys(output.name for output in outputs if output.name in names))
    return _thin(chosen, limit) if len(chosen) >= _REPEATED else [], distinct[-1].name


def _blocks_or_stages(model: torch.nn.Module, ran: set[str]) -> set[str]:
    """Names of the outermost repeated modules; of several groups, those with most parameters, such as not the stem.

    `ran`: names of the modules that ran or contain some that did; others, such as those for text, do not count.
    """
    level = [("", model)]
    while level:
        groups = []
        for prefix, parent in level:
            children = [
                (f"{prefix}{name}", child)
                for name, child in parent.named_children()
                if next(child.children(), None) is not None and f"{prefix}{name}" in ran
            ]
            if repeated := _repeated(children):
                groups.append((sum(_size(child) for name, child in children if name in repeated), repeated, children))
        if groups:
            _, repeated, children = max(groups, key=lambda group: group[0])
            until = max(index for index, (name, _) in enumerate(children) if name in repeated)
            inner = [name for name, child in children if name in repeated for name in _attention_blocks(name, child)]
            return set(inner) if len(inner) > len(repeated) else {name for name, _ in children[: until + 1]}
        level = [(f"{prefix}{name}.", child) for prefix, parent in level for name, child in parent.named_children()]
    return set()


def _size(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _repeated(modules: Sequence[tuple[str, torch.nn.Module]]) -> set[str]:
    """Names of those of which there are several of one class."""
    classes = [type(module) for _, module in modules]
    return {name for name, module in modules if classes.count(type(module)) >= _REPEATED}


def _attention_blocks(name: str, stage: torch.nn.Module) -> list[str]:
    """Blocks with attention inside a stage, side by side in a container."""
    return [
        f"{name}.{container}.{child}" if container else f"{name}.{child}"
        for container, module in stage.named_modules()
        for child, block in module.named_children()
        if type(module).__name__ in ("Sequential", "ModuleList") and _is_attention_block(block)
    ]


def _is_attention_block(module: torch.nn.Module) -> bool:
    names = [name.lower() for name, _ in module.named_children()]
    return len(names) > 2 and any("attn" in name or "attention" in name for name in names)


def candidate_layers(
    model: torch.nn.Module, inputs: Any, *, limit: int = 24, remarks: list[str] | None = None
) -> list[str]:
    """Choose up to `limit` layers that cover a network, in the order of computation.

    The network runs once. Layers with the same output (a block and its last member, an in-place activation) count once,
    under the shortest name. Levels of nesting are added as long as there are at most `limit` layers: blocks are
    preferred to their parts.

    `remarks` gets a sentence about layers that cannot be recorded. A UserError if no layer returns a tensor whose first
    axis is the stimuli.

    Examples
    --------
    >>> import torch
    >>> from torch.nn import Conv2d, Flatten, Linear, ReLU, Sequential
    >>> network = Sequential(Conv2d(3, 4, 3), ReLU(), Flatten(), Linear(16, 2))
    >>> candidate_layers(network, torch.zeros(1, 3, 4, 4))
    ['0', '1', '3']
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}: there must be room for one layer")
    recorded, _, omitted = _run(model, inputs)
    outputs = _distinct(recorded)
    if not outputs:
        raise _without_layers(model, omitted)
    if remarks is not None and omitted:
        remarks.append(_about(omitted))
    deepest = max(output.depth for output in outputs)
    chosen: list[_Output] = []
    for depth in range(1, deepest + 1):
        level = _level(outputs, depth)
        if len(level) > limit and len(chosen) >= min(4, limit):
            break
        chosen = level
        if len(level) > limit:
            break
    return [output.name for output in _thin(chosen, limit)]


def _without_layers(model: torch.nn.Module, omitted: Mapping[str, str]) -> UserError:
    return UserError(
        f"no layer of {type(model).__name__} returns a tensor whose first axis is the stimuli"
        + (f"; {_about(omitted)}" if omitted else ""),
        remedy="name the layers to record from: layers=[...]",
    )


def _about(omitted: Mapping[str, str]) -> str:
    """A sentence about layers that are left out; those inside of others that are left out are not named."""
    outermost: dict[str, list[str]] = {}
    for name, reason in omitted.items():
        if not any(holder in omitted for holder in _with_ancestors(name)[:-1]):
            outermost.setdefault(reason, []).append(name)
    reasons = [f"{first_few(names)} ({reason})" for reason, names in outermost.items()]
    return f"layers left out of the search: {'; '.join(reasons)}"


def _run(model: torch.nn.Module, inputs: Any) -> tuple[list[_Output], Counter[str], dict[str, str]]:
    """Outputs of layers, stimuli first; how often each module runs; and modules that are left out, with the reason."""
    import torch

    outputs, calls, omitted = _outputs(model, inputs)
    stimuli = inputs.shape[0]
    alone: dict[str, Any] = {}
    pair: dict[str, Any] = {}
    if any(output.tensor.shape[0] != stimuli for output in outputs):
        first = inputs[:1]
        alone = {output.name: output.tensor for output in (outputs if stimuli == 1 else _outputs(model, first)[0])}
        pair = {output.name: output.tensor for output in _outputs(model, torch.cat([first, first]))[0]}
    recorded = []
    for output in outputs:
        tensor = output.tensor
        if tensor.shape[0] != stimuli:
            try:
                axis = stimulus_axis(output.name, alone[output.name], pair[output.name])
            except (KeyError, UserError):
                omitted[output.name] = "it is not known which axis of its output is the stimuli"
                continue
            if axis.order != "alone":
                omitted[output.name] = "stimuli share an axis of its output with other positions"
                continue
            tensor = axis.first(tensor, stimuli)
        if tensor.ndim == 1:
            omitted[output.name] = "it returns one number for each stimulus"
            continue
        recorded.append(output._replace(tensor=tensor))
    return recorded, calls, omitted


def _outputs(model: torch.nn.Module, inputs: Any) -> tuple[list[_Output], Counter[str], dict[str, str]]:
    import torch

    outputs: list[_Output] = []
    calls: Counter[str] = Counter()
    omitted: dict[str, str] = {}

    def keep(name: str, output: Any) -> None:
        calls[name] += 1
        try:
            values = tensor_of(output, name)
        except UserError as error:
            omitted[name] = str(error).partition("\n")[0].removeprefix(f"layer {name!r} ")
            return
        outputs.append(_Output(name, name.count(".") + 1, values, isinstance(output, torch.Tensor | tuple)))

    modules = {plain_name(name): module for name, module in model.named_modules() if name}
    compiled = [name for name, module in modules.items() if isinstance(module, torch.jit.ScriptModule)]
    training = model.training
    model.eval()
    try:
        recorded = [(name, module) for name, module in modules.items() if name not in compiled]
        with torch.inference_mode(), without_compilation(model), passing_outputs(recorded, keep):
            _call(model, inputs)
    finally:
        model.train(training)
    omitted |= dict.fromkeys(compiled, "it was compiled by TorchScript, which does not report its output")
    return outputs, calls, omitted


def _call(model: torch.nn.Module, inputs: Any) -> None:
    try:
        run_images(model, inputs)
    except Exception as error:
        shape = " × ".join(map(str, getattr(inputs, "shape", ())))
        raise UserError(
            f"{type(model).__name__} fails on an input of {shape}: {type(error).__name__}: {error}",
            remedy="check the number of frames and the size of images, which preprocessing determines"
            if getattr(inputs, "ndim", 4) == 5
            else "it must take images, stimuli × channels × height × width, or clips, for which frames and frame_rate "
            "are passed; for another size or preprocessing wrap it in PytorchWrapper and ModelCommitment",
        ) from error


def layer_calls(model: torch.nn.Module, inputs: Any) -> dict[str, int]:
    """How often each layer runs in one pass, in the order of computation; the network runs once.

    Examples
    --------
    >>> import torch
    >>> shared = torch.nn.Linear(2, 2)
    >>> layer_calls(torch.nn.Sequential(shared, torch.nn.ReLU(), shared), torch.zeros(1, 2))
    {'0': 2, '1': 1}
    """
    outputs, calls, _ = _run(model, inputs)
    return {name: calls[name] for name in dict.fromkeys(output.name for output in outputs)}


def _distinct(outputs: Iterable[_Output]) -> list[_Output]:
    """Keep one name for each tensor; views and reshapes with the same values count as the same tensor."""
    groups: dict[tuple[int, int], _Output] = {}
    for output in outputs:
        key = (output.tensor.data_ptr(), output.tensor.numel())
        named_before = groups.get(key)
        if named_before is None or _preference(output) < _preference(named_before):
            groups[key] = output  # keeps the position of the first in the order of computation
    return list({output.name: output for output in groups.values()}.values())


def _preference(output: _Output) -> tuple[bool, int, int]:
    return not output.plain, output.depth, len(output.name)


def _level(outputs: list[_Output], depth: int) -> list[_Output]:
    """Layers at most `depth` deep; a container is replaced by its members."""
    within = [output for output in outputs if output.depth <= depth]
    holders = {output.name.rpartition(".")[0] for output in within if output.depth > 1}
    ancestors = {name for holder in holders for name in _with_ancestors(holder)}
    ends = {id(output): output for output in within if output.name not in ancestors}
    # a container is kept if no member has its output: it computes something, such as a skip connection
    tensors = {(output.tensor.data_ptr(), output.tensor.numel()) for output in ends.values()}
    return [
        output
        for output in within
        if id(output) in ends or (output.tensor.data_ptr(), output.tensor.numel()) not in tensors
    ]


def _with_ancestors(name: str) -> list[str]:
    components = name.split(".")
    return [".".join(components[:count]) for count in range(1, len(components) + 1)]


def _thin(outputs: list[Any], limit: int) -> list[Any]:
    """Keep `limit` layers, evenly spread, including the first and the last."""
    if len(outputs) <= limit:
        return outputs
    if limit == 1:
        return outputs[-1:]
    steps = (len(outputs) - 1) / (limit - 1)
    return [outputs[round(step * steps)] for step in range(limit)]
