"""Models without a registration: from files, networks, activations models and functions."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from brainscore_core.errors import UserError, nearest
from brainscore_core.provenance import note

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

__all__ = [
    "UnregisteredModel",
    "is_file_reference",
    "load_file_reference",
    "load_unregistered_model",
    "referenced_file",
    "to_unregistered_model",
]


class UnregisteredModel(NamedTuple):
    """A model without a registration, ready to be scored.

    Attributes
    ----------
    identifier : str
        Name in the results.
    model : BrainModel
        The model.
    source : Path or None
        File that defines the model, if known; the receipt has its hash.
    remarks : tuple of str
        Choices made automatically, for the receipt.
    """

    identifier: str
    model: BrainModel
    source: Path | None
    remarks: tuple[str, ...] = ()


def is_file_reference(model: Any) -> bool:
    """Whether a reference has the form ``path/to/file.py:make_model``."""
    return isinstance(model, str) and ".py:" in model


def referenced_file(reference: str) -> Path:
    """Absolute path of the file in ``path/to/file.py:make_model``.

    Examples
    --------
    >>> referenced_file("/models/mine.py:make_model")
    PosixPath('/models/mine.py')
    """
    return Path(reference.rpartition(":")[0]).expanduser().resolve()


def load_unregistered_model(
    model: Any, *, identifier: str | None = None, how: Mapping[str, Any] | None = None
) -> UnregisteredModel:
    """Make a `BrainModel` from a file reference or an object; its remarks are noted for the receipt.

    Parameters
    ----------
    model : str or object
        ``path/to/file.py:make_model``, or as for :func:`to_unregistered_model`.
    identifier : str, optional
        Name in the results; by default the model's own, or that of its class or function.
    how : mapping, optional
        Further arguments of :func:`to_unregistered_model`.

    Returns
    -------
    UnregisteredModel
        Identifier, model, file and remarks.
    """
    source = None
    if is_file_reference(model):
        model, source = load_file_reference(model)
    unregistered = to_unregistered_model(model, identifier=identifier, source=source, **(how or {}))
    for remark in unregistered.remarks:
        note("remark", text=remark)
    return unregistered


def load_file_reference(reference: str, *, noun: str = "model") -> tuple[Any, Path]:
    """Call the function that a reference names.

    Parameters
    ----------
    reference : str
        ``path/to/file.py:make_model``, or the name of a variable in the file.
    noun : str
        What the function makes, for messages.

    Returns
    -------
    tuple of (object, Path)
        What the function returned, and the file.

    Raises
    ------
    UserError
        If the file or the name in it does not exist, or the function needs arguments or returns nothing.
    Exception
        Any error of the function.
    """
    file_name, _, name = reference.rpartition(":")
    path = referenced_file(reference)
    if not path.is_file():
        raise UserError(f"there is no file {file_name!r}", remedy=f"write it as path/to/file.py:make_{noun}")
    if not name.isidentifier():
        raise UserError(
            f"{reference!r} does not name a function in {path.name}", remedy=f"write it as {file_name}:make_{noun}"
        )
    module = _import_file(path)
    if not hasattr(module, name):
        near = nearest(name, [known for known in vars(module) if not known.startswith("_")], limit=3)
        raise UserError(
            f"{path} has no {name!r}",
            remedy=f"did you mean {' or '.join(near)}?" if near else f"name a function that returns the {noun}",
        )
    value = getattr(module, name)
    if _is_factory(value):
        needed = [
            parameter.name
            for parameter in inspect.signature(value).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        if needed:
            raise UserError(
                f"{reference} needs arguments: {', '.join(needed)}",
                remedy="give them defaults: it is called without arguments",
            )
        value = value()
    if value is None:
        raise UserError(f"{reference} returned nothing", remedy=f"return the {noun}")
    return value, path


def to_unregistered_model(
    model: Any,
    *,
    identifier: str | None = None,
    source: Path | None = None,
    layers: Sequence[str] | None = None,
    region_layer_map: Mapping[str, str | Sequence[str]] | None = None,
    preprocessing: Callable[..., Any] | None = None,
    visual_degrees: float = 8,
) -> UnregisteredModel:
    """Make a `BrainModel` from a network, a function or a model.

    Parameters
    ----------
    model : BrainModel, activations model, torch.nn.Module or callable
        A `BrainModel` is used unchanged. An activations model (such as a `PytorchWrapper`) and a network get layers and
        regions; a function from a list of images (RGB arrays) to features (stimuli × any dimensions) becomes a model
        with one layer.
    identifier : str, optional
        Name in the results; by default the model's own, or that of its class or function.
    source : path, optional
        File that defines the model; by default the source file that Python knows.
    layers : list of str, optional
        Layers to choose from; by default those of
        :func:`~brainscore_vision.model_helpers.brain_transformation.layers.candidate_layers`.
    region_layer_map : mapping, optional
        Region → layer or layers; by default a layer is selected for each region when it is first recorded.
    preprocessing : callable, optional
        File paths → the network's input; by default that of timm's ``pretrained_cfg`` if the network has one, else
        that of torchvision (224 × 224 pixels, ImageNet's mean and standard deviation).
    visual_degrees : float
        Visual angle that the model's input spans, in degrees.

    Returns
    -------
    UnregisteredModel
        Identifier, model, file and remarks.

    Raises
    ------
    UserError
        If `model` is none of these, or options are given that a `BrainModel` cannot follow.
    """
    from brainscore_vision.model_interface import BrainModel

    source = source or _source_file(model)
    if isinstance(model, BrainModel) or hasattr(model, "look_at"):
        given = {"layers": layers, "region_layer_map": region_layer_map, "preprocessing": preprocessing}
        if superfluous := [name for name, value in given.items() if value is not None]:
            raise UserError(
                f"{', '.join(superfluous)} cannot be given for a {type(model).__name__}, which is a BrainModel already",
                remedy="leave them out, or pass the network itself",
            )
        return UnregisteredModel(identifier or _text(getattr(model, "identifier", None)) or _name(model), model, source)
    remarks: list[str] = []
    network = _as_activations_model(model, identifier, preprocessing, remarks)
    if network is not None:
        name = identifier or network.identifier
        committed = _commit(name, network, layers, region_layer_map, visual_degrees, remarks)
        return UnregisteredModel(name, committed, source, tuple(remarks))
    if callable(model):
        return UnregisteredModel(*_from_function(model, identifier, region_layer_map, visual_degrees), source)
    raise UserError(
        f"a {type(model).__name__} is not a model",
        remedy="pass an identifier, a BrainModel, a torch.nn.Module or a function of images",
    )


def _commit(
    identifier: str,
    network: Any,
    layers: Sequence[str] | None,
    region_layer_map: Mapping[str, str | Sequence[str]] | None,
    visual_degrees: float,
    remarks: list[str],
) -> BrainModel:
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    if layers is None:
        layers = _find_layers(network)
        remarks.append(f"layers found automatically: {', '.join(layers)}")
    return ModelCommitment(
        identifier=identifier,
        activations_model=network,
        layers=list(layers),
        region_layer_map=region_layer_map,
        visual_degrees=visual_degrees,
    )


def _find_layers(network: Any) -> list[str]:
    from tempfile import TemporaryDirectory

    from PIL import Image

    from brainscore_vision.model_helpers.brain_transformation.layers import candidate_layers

    if not hasattr(network, "example_input"):
        raise UserError(
            f"the layers of {network.identifier!r} are not known",
            remedy="name the layers to choose from: layers=[...]",
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "grey.png"
        Image.new("RGB", (256, 256), (128, 128, 128)).save(path)
        example = network.example_input(path)
    return candidate_layers(network.model, example)


def _as_activations_model(
    model: Any, identifier: str | None, preprocessing: Callable[..., Any] | None, remarks: list[str]
) -> Any:
    """Wrap a network as an activations model; None if `model` is neither a network nor an activations model."""
    if callable(model) and hasattr(model, "identifier") and hasattr(model, "layers"):
        return model
    if not _is_network(model):
        return None
    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper

    if preprocessing is None:
        preprocessing = _usual_preprocessing(model, remarks)
    return PytorchWrapper(identifier=identifier or _name(model), model=model, preprocessing=preprocessing)


def _is_network(model: Any) -> bool:
    torch = sys.modules.get("torch")  # a network exists only if torch has been imported
    return torch is not None and isinstance(model, torch.nn.Module)


def _usual_preprocessing(network: Any, remarks: list[str]) -> Callable[..., Any]:
    from functools import partial

    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images

    if hasattr(network, "config") and hasattr(network.config, "to_dict"):
        raise UserError(
            f"{type(network).__name__} does not describe its preprocessing",
            remedy="pass preprocessing=, or wrap it with from_huggingface(model, processor)",
        )
    config = getattr(network, "pretrained_cfg", None) or {}
    size = int(config["input_size"][-1]) if "input_size" in config else 224
    options: dict[str, Any] = {"image_size": size}
    if "mean" in config and "std" in config:
        options |= {"normalize_mean": tuple(config["mean"]), "normalize_std": tuple(config["std"])}
    whose = "the network's own" if config else "ImageNet's"
    remarks.append(f"images shown at {size} × {size} pixels, normalised by {whose} mean and standard deviation")
    return partial(load_preprocess_images, **options)


def _from_function(
    function: Callable[..., Any],
    identifier: str | None,
    region_layer_map: Mapping[str, str | Sequence[str]] | None,
    visual_degrees: float,
) -> tuple[str, BrainModel]:
    from brainscore_vision.model_helpers.images import load_rgb
    from brainscore_vision.model_helpers.static_features import FeatureModel

    name = identifier or _name(function)
    layer = getattr(function, "__name__", "features")
    return name, FeatureModel(
        name,
        layers={layer if layer != "<lambda>" else "features": function},
        region_layer_map=region_layer_map,
        load=load_rgb,
        visual_degrees=visual_degrees,
    )


def _import_file(path: Path) -> Any:
    # the module name is unique to the path, so that two files of the same name do not collide
    name = f"_brainscore_file_{sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} cannot be imported", remedy="name a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))  # neighbouring modules can be imported, as if the file were run
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UserError(
            f"{path} cannot be imported{_error_line(error, path)}: {type(error).__name__}: {error}",
            remedy=f"fix it; `python {path.name}` shows where it fails",
        ) from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _error_line(error: BaseException, path: Path) -> str:
    """Line of the file that raised an error, as part of a sentence."""
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f" (line {lines[-1]})" if lines else ""


def _is_factory(value: Any) -> bool:
    return inspect.isfunction(value) or inspect.isclass(value)


def _source_file(model: Any) -> Path | None:
    """File of a model's code; None if there is no file, or the code is from an installed library."""
    described = model if inspect.isfunction(model) or inspect.ismethod(model) else type(model)
    try:
        file = inspect.getsourcefile(described)
    except TypeError:
        return None
    if not file or "site-packages" in file or not Path(file).is_file():
        return None
    return Path(file)


def _name(model: Any) -> str:
    name = getattr(model, "__name__", None) or type(model).__name__
    return "function" if name == "<lambda>" else str(name)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
