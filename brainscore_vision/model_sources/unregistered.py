"""Models without a registration: of libraries, from files, networks, activations models and functions."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError, nearest
from brainscore_core.plugins.loading import UnregisteredModel, is_file_reference, load_file_reference
from brainscore_core.provenance import note
from brainscore_vision.model_sources.libraries import build_network, parse_library_model, published_layers

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

_logger = logging.getLogger(__name__)


def load_unregistered_model(
    model: Any, *, identifier: str | None = None, how: Mapping[str, Any] | None = None
) -> UnregisteredModel:
    """Make a `BrainModel` from a file reference or an object; its remarks are noted for the receipt.

    `model`: ``path/to/file.py:make_model``, or as for :func:`to_unregistered_model`. `identifier`: name in the results;
    by default the model's own, or that of its class or function. `how`: further arguments of
    :func:`to_unregistered_model`. Result: identifier, model, file and remarks.
    """
    source = None
    if is_file_reference(model):
        model, source = load_file_reference(model)
    known = [name for name in inspect.signature(to_unregistered_model).parameters if name not in ("model", "source")]
    if unknown := [name for name in how or {} if name not in known]:
        near = nearest(unknown[0], known, limit=1)
        raise UserError(
            f"a model takes no argument {', '.join(unknown)}",
            remedy=f"did you mean {near[0]}?" if near else f"it takes {', '.join(known)}",
        )
    unregistered = to_unregistered_model(model, identifier=identifier, source=source, **(how or {}))
    for remark in unregistered.remarks:
        note("remark", text=remark)
        _logger.info("%s: %s", unregistered.identifier, remark)
    return unregistered


def load_library_model(identifier: str) -> BrainModel:
    """Make a model of a library, with its weights or as an untrained twin.

    `identifier`: as for :func:`~brainscore_vision.model_sources.libraries.parse_library_model`. Result: a BrainModel
    with the library's preprocessing, and layers that were published or are found by rule; ``remarks`` names both, and
    the weights. A UserError if the library or the model does not exist, or weights are neither cached nor reachable.

    Examples
    --------
    >>> load_library_model("timm:resnet18-untrained").identifier  # doctest: +SKIP
    'timm:resnet18-untrained'
    """
    from brainscore_vision.model_helpers.weights import seeded

    seed = parse_library_model(identifier).seed
    with nullcontext() if seed is None else seeded(seed):
        network, exact, remark = build_network(identifier)
    layers = published_layers().get(exact)
    options: dict[str, Any] = {}
    if layers is not None:
        regions = {region: layer for region, layer in layers.items() if region != "behavior"}
        options = {"layers": list(dict.fromkeys(layers.values())), "region_layer_map": regions}
        remark += f"; layers as published for {exact}"
    made: Any = to_unregistered_model(network, identifier=identifier, **options).model
    initialised = "" if seed is None else f"weights as they are initialised, seed {seed}; "
    made.remarks = (f"{initialised}{remark}", *made.remarks)
    for text in made.remarks:
        note("remark", text=text)
    return made  # type: ignore[no-any-return] # a model


def wrap_model(model: Any, *, identifier: str | None = None, **how: Any) -> BrainModel:
    """Make a `BrainModel` from a network, a function or a file reference, to look at it or to score it repeatedly.

    Parameters
    ----------
    model : str or object
        ``path/to/file.py:make_model``, the identifier of a registered model, or as for :func:`to_unregistered_model`.
    identifier : str, optional
        Name in the results; by default the model's own, or that of its class or function.
    **how
        Further arguments of :func:`to_unregistered_model`: ``layers``, ``region_layer_map``, ``time_mapping``,
        ``preprocessing``, ``visual_degrees``, ``logits``; for networks that take clips ``frames``, ``frame_rate``,
        ``duration``.

    Returns
    -------
    BrainModel
        ``layers`` names the layers that were found or matched; ``remarks`` the choices made automatically.

    Examples
    --------
    >>> import torch
    >>> network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 8, stride=8), torch.nn.ReLU())
    >>> model = wrap_model(network, identifier="two-layers", layers="*")
    >>> model.layers
    ['0', '1']
    >>> model.remarks[-1]
    "layers that match '*': 0, 1"
    """
    if isinstance(model, str) and not is_file_reference(model):
        from brainscore_vision.registries import load_model, model_registry

        model_registry.require(model, [*(["identifier"] if identifier is not None else []), *(how or {})])
        return load_model(model)
    return load_unregistered_model(model, identifier=identifier, how=how).model


def to_unregistered_model(
    model: Any,
    *,
    identifier: str | None = None,
    source: Path | None = None,
    layers: str | Sequence[str] | None = None,
    region_layer_map: Mapping[str, str | Sequence[str]] | None = None,
    time_mapping: Mapping[str, Mapping[int, tuple[float, float]]] | None = None,
    preprocessing: Any = None,
    visual_degrees: float | None = None,
    logits: str | int | None = None,
    frames: int | None = None,
    frame_rate: float | None = None,
    duration: float | None = None,
) -> UnregisteredModel:
    """Make a `BrainModel` from a network, a function or a model.

    `model`: A `BrainModel` is used unchanged. An activations model (such as a `PytorchWrapper`) and a network get
    layers and regions; a function from a list of images (RGB arrays) to features (stimuli × any dimensions) becomes a
    model with one layer. `identifier`: name in the results; by default the model's own, or that of its class or
    function. `source`: file that defines the model; by default the source file that Python knows. `layers`: layers to
    choose from, or patterns (``'blocks.*'``); by default the blocks of a transformer or the stages of a convolutional
    network (:func:`~brainscore_vision.model_helpers.brain_transformation.layers.repeated_layers`), and of other
    networks layers that cover them
    (:func:`~brainscore_vision.model_helpers.brain_transformation.layers.candidate_layers`). `region_layer_map`: region
    → layer or layers; by default a layer is selected for each region when it is first recorded. `time_mapping`: for
    recurrent networks, as for `ModelCommitment`: region → time step → milliseconds. `preprocessing`: weights of
    torchvision or their transforms, transforms of timm, an image processor of transformers, or a function from file
    paths to the network's input. By default what timm or transformers store with the network, else 224 × 224 pixels
    with ImageNet's mean and standard deviation. For networks that take clips, each frame is prepared as an image, and a
    function gets a :class:`~brainscore_vision.model_helpers.activations.temporal.inputs.Video`. `visual_degrees`:
    visual angle that the model's input spans, in degrees; as for
    :class:`~brainscore_vision.model_helpers.brain_transformation.ModelCommitment`. `logits`: entry of the network's
    output that has the classes, if it returns several tensors, as for `PytorchWrapper`. `frames`: for networks that
    take clips: number of frames in a clip. By default that in the configuration of a network of transformers. The
    network gets stimuli × channels × frames × height × width; networks of transformers get stimuli × frames × channels
    × height × width. `frame_rate`: for networks that take clips: frames per second. The network sees, for each frame,
    the `frames` frames until then: causal inference of
    :class:`~brainscore_vision.model_helpers.activations.temporal.model.pytorch.PytorchWrapper`. `duration`: for
    networks that take clips: milliseconds for which stimuli are shown, by default 1000. Time bins of a recording must
    be within them. Result: identifier, model, file and remarks. A UserError if `model` is none of these, or options are
    given that a `BrainModel` or a function cannot follow.
    """
    from brainscore_vision.model_interface import BrainModel

    remarks: list[str] = []
    if _is_network(model):
        from brainscore_vision.model_helpers.activations.networks import unwrapped

        model, remarks = unwrapped(model)  # the inner network states its preprocessing
    if source is None:  # of wrapped networks, the network's, not that of the class that wraps it
        source = model.source_file if hasattr(model, "source_file") else _source_file(model)
    clips = {"frames": frames, "frame_rate": frame_rate, "duration": duration}
    given: dict[str, Any] = {"layers": layers, "region_layer_map": region_layer_map, "time_mapping": time_mapping}
    given |= {"preprocessing": preprocessing, "logits": logits, **clips}
    if isinstance(model, BrainModel) or hasattr(model, "look_at"):
        _refuse(given, f"for a {type(model).__name__}, which is a BrainModel already", "pass the network itself")
        name = identifier or _text(getattr(model, "identifier", None)) or _name(model)
        return UnregisteredModel(name, model, source, tuple(getattr(model, "remarks", ())))
    network = _as_activations_model(model, identifier, preprocessing, logits, clips, remarks)
    if network is not None:
        from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

        if any(value is not None for value in clips.values()):
            _refuse({"time_mapping": time_mapping}, "for a network that takes clips", "pass frame_rate only")
        name = identifier or network.identifier
        remarks += getattr(network, "remarks", ())
        wanted, readout = _layers(network, layers, region_layer_map, time_mapping, remarks)
        made: Any = ModelCommitment(
            identifier=name,
            activations_model=network,
            layers=wanted,
            behavioral_readout_layer=readout,
            region_layer_map=region_layer_map,
            time_mapping=time_mapping,
            visual_degrees=visual_degrees,
        )
        if layers is not None:
            from brainscore_vision.model_helpers.activations.networks import is_pattern, match_layers

            patterns = filter(is_pattern, [layers] if isinstance(layers, str) else layers)
            remarks += [
                f"layers that match {name!r}: {', '.join(match_layers(name, made.layers))}" for name in patterns
            ]
        made.remarks, made.source_file = (*remarks, *made.remarks), source
        return UnregisteredModel(name, made, source, made.remarks)
    if callable(model):
        del given["region_layer_map"]
        _refuse(given, "for a function of images", "it gets RGB arrays, and prepares them itself")
        from brainscore_vision.model_helpers.images import load_rgb
        from brainscore_vision.model_helpers.static_features import FeatureModel

        name, layer = identifier or _name(model), getattr(model, "__name__", "features")
        features = FeatureModel(
            name,
            layers={layer if layer != "<lambda>" else "features": model},
            region_layer_map=region_layer_map,
            load=load_rgb,
            visual_degrees=visual_degrees,
        )
        return UnregisteredModel(name, features, source)
    raise UserError(
        f"an object of the type {type(model).__name__} is not a model",
        remedy="pass an identifier, a BrainModel, a torch.nn.Module or a function of images",
    )


def _refuse(given: Mapping[str, Any], what: str, instead: str) -> None:
    if superfluous := [name for name, value in given.items() if value is not None]:
        raise UserError(f"{', '.join(superfluous)} cannot be given {what}", remedy=f"leave them out, or {instead}")


def _layers(
    network: Any,
    layers: str | Sequence[str] | None,
    region_layer_map: Mapping[str, str | Sequence[str]] | None,
    time_mapping: Mapping[str, Mapping[int, tuple[float, float]]] | None,
    remarks: list[str],
) -> tuple[str | Sequence[str], str | None]:
    """Layers that are given or found in the network; and the layer for behaviour, if it is not the last of them."""
    if layers is not None:
        return layers, None
    if region_layer_map and time_mapping:
        named = ([names] if isinstance(names, str) else names for names in region_layer_map.values())
        return [name for names in named for name in names], None
    example = _example_input(network)
    if time_mapping:
        found = _layers_in_time(network, example, max(len(steps) for steps in time_mapping.values()))
        remarks.append(f"layers found automatically, with their time steps: {', '.join(found)}")
        return found, None
    from brainscore_vision.model_helpers.brain_transformation.layers import candidate_layers, repeated_layers

    found, last = repeated_layers(network.model, example, remarks=remarks)
    if found:
        remarks.append(f"layers found automatically (blocks or stages): {', '.join(found)}; for behaviour: {last}")
        return found, last
    found = candidate_layers(network.model, example, remarks=remarks)
    remarks.append(f"layers found automatically: {', '.join(found)}")
    return found, None


def _layers_in_time(network: Any, example: Any, steps: int) -> list[str]:
    """Layers with a time step, of the outermost modules that run at least so many times in one pass."""
    from brainscore_vision.model_helpers.brain_transformation.layers import layer_calls

    calls = layer_calls(network.model, example)
    repeated = [name for name, count in calls.items() if count >= steps]
    outermost = [name for name in repeated if not any(name.startswith(f"{other}.") for other in repeated)]
    if not outermost:
        raise UserError(
            f"no layer of {network.identifier!r} runs {steps} times in one pass, once for each time step",
            remedy="map fewer steps, pass region_layer_map={'IT': ['IT-t0', 'IT-t1']}, or leave out time_mapping",
        )
    return [f"{name}-t{step}" for name in outermost for step in range(calls[name])]


def _example_input(network: Any) -> Any:
    from tempfile import TemporaryDirectory

    from PIL import Image

    if not hasattr(network, "example_input"):
        raise UserError(
            f"the layers of {network.identifier!r} are not known",
            remedy="name the layers to choose from: layers=[...]",
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "grey.png"
        Image.new("RGB", (256, 256), (128, 128, 128)).save(path)
        return network.example_input(path)


def _as_activations_model(
    model: Any,
    identifier: str | None,
    preprocessing: Any,
    logits: str | int | None,
    clips: Mapping[str, Any],
    remarks: list[str],
) -> Any:
    """Wrap a network as an activations model; None if `model` is neither a network nor an activations model."""
    if callable(model) and hasattr(model, "identifier") and hasattr(model, "layers"):
        own = {"preprocessing": preprocessing, "logits": logits, **clips}
        _refuse(own, "for an activations model, which has its own", "pass the network")
        return model
    if not _is_network(model):
        return None
    if any(value is not None for value in clips.values()):
        return _as_clip_model(model, identifier or _name(model), preprocessing, clips, remarks)
    if preprocessing is None and _takes_clips(model):
        raise UserError(
            f"{_name(model)} takes clips of frames, and their frame rate is not known",
            remedy="load the network and pass it with the frames that it was trained on: "
            "brainscore.wrap_model(network, frames=16, frame_rate=25)",
        )
    from brainscore_vision.model_helpers.activations.pretrained_models import as_preprocessing
    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper

    name = identifier or _name(model)
    given = None if preprocessing is None else as_preprocessing(preprocessing)
    used = given or _usual_preprocessing(model, name, remarks)
    return PytorchWrapper(identifier=name, model=model, preprocessing=used, logits=logits)


def _takes_clips(network: Any) -> bool:
    """Whether a network of transformers has a number of frames, or the first layer with weights is a Conv3d."""
    import torch

    if _frames_of(network) is not None:
        return True
    first = next((part for part in network.modules() if next(part.parameters(recurse=False), None) is not None), None)
    return isinstance(first, torch.nn.Conv3d)


def _frames_of(network: Any) -> int | None:
    """Number of frames in the configuration of a network of transformers."""
    config = getattr(network, "config", None)
    for name in ("num_frames", "frames_per_clip"):
        if isinstance(frames := getattr(config, name, None), int):
            return frames
    return None


def _as_clip_model(network: Any, name: str, preprocessing: Any, clips: Mapping[str, Any], remarks: list[str]) -> Any:
    """Wrap a network that takes clips."""
    from brainscore_vision.model_helpers.activations.temporal.model import PytorchWrapper

    frames, frame_rate, duration = clips["frames"], clips["frame_rate"], clips["duration"]
    frames = _frames_of(network) if frames is None else frames
    if frame_rate is None or frames is None:
        missing = "frame_rate" if frame_rate is None else "frames"
        raise UserError(
            f"{missing} of {name!r} is not known",
            remedy="pass the number of frames in a clip, and of frames per second, that the network was trained on: "
            "frames=16, frame_rate=25",
        )
    if isinstance(frames, bool) or not isinstance(frames, int) or frames < 1:
        raise UserError(f"frames is {frames!r}", remedy="pass the number of frames in a clip, such as 16")
    duration = 1000.0 if duration is None else duration
    wrapper = PytorchWrapper(
        name,
        network,
        _clip_preprocessing(network, name, preprocessing, remarks),
        fps=frame_rate,
        num_frames=frames,
        img_duration=duration,
        inference="causal",
    )
    remarks.append(
        f"stimuli are shown for {duration:g} ms at {frame_rate:g} frames per second; the response to a frame is to the "
        f"{frames} frames until then, before the onset to a grey screen"
    )
    return wrapper


def _clip_preprocessing(network: Any, name: str, preprocessing: Any, remarks: list[str]) -> Callable[..., Any]:
    """A function from a video to the input of a network that takes clips."""
    from brainscore_vision.model_helpers.activations.preprocessing import AppliedTransform, as_image_preprocessing
    from brainscore_vision.model_helpers.activations.pretrained_models import as_preprocessing
    from brainscore_vision.model_helpers.activations.temporal.inputs import FramePreprocessing, TorchvisionPreprocessing

    channels_first = not type(network).__module__.startswith("transformers.")
    made = getattr(preprocessing, "transforms", None)
    transforms = made() if callable(made) else preprocessing
    if type(transforms).__name__ == "VideoClassification" and channels_first:
        return TorchvisionPreprocessing(transforms)
    used = _usual_preprocessing(network, name, remarks) if preprocessing is None else as_preprocessing(preprocessing)
    of_frame = as_image_preprocessing(used)
    if of_frame is not None:
        return FramePreprocessing(of_frame, channels_first)
    if isinstance(used, AppliedTransform):  # transforms of a Pillow image that settings do not describe
        return FramePreprocessing(used, channels_first)
    return used  # type: ignore[no-any-return] # a function of a video


def _is_network(model: Any) -> bool:
    torch = sys.modules.get("torch")  # a network exists only if torch has been imported
    return torch is not None and isinstance(model, torch.nn.Module)


def _usual_preprocessing(network: Any, name: str, remarks: list[str]) -> Callable[..., Any]:
    from functools import partial

    from brainscore_vision.model_helpers.activations.pretrained_models import own_preprocessing
    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images

    own = own_preprocessing(network)
    if own is not None:
        remarks.append(own[1])
        return own[0]
    config = getattr(network, "config", None)  # of networks of transformers
    size = getattr(getattr(config, "vision_config", config), "image_size", None)
    size = size if isinstance(size, int) else 224
    remarks.append(
        f"images are resized to {size} × {size} pixels and normalised by ImageNet's mean and standard deviation, "
        "by default"
    )
    _logger.warning("%s: %s; pass preprocessing= if the network expects others", name, remarks[-1])
    return partial(load_preprocess_images, image_size=size)


def _source_file(model: Any) -> Path | None:
    """File of a model's code; None without a file, or if the code is from an installed library."""
    described = model if inspect.isfunction(model) or inspect.ismethod(model) else type(model)
    try:
        file = inspect.getsourcefile(described)
    except TypeError:
        return None
    return Path(file) if file and "site-packages" not in file and Path(file).is_file() else None


def _name(model: Any) -> str:
    name = getattr(model, "__name__", None) or type(model).__name__
    return "function" if name == "<lambda>" else str(name)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
