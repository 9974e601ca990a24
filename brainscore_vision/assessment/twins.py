"""Untrained twins of a network: the same architecture with initial weights."""

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast, get_type_hints

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    import torch

    from brainscore_core.scoring import ResultsStore
    from brainscore_vision.scoring.selection import Selection


def score_with_twin(model: str, benchmarks: Sequence[str], *, results: "ResultsStore") -> "Selection":
    """Score a model and its untrained twin, except pairs that are scored already.

    Parameters
    ----------
    model : str
        A registered model, one of a library, or ``path/to/file.py:make_model``.
    benchmarks : sequence of str
        Identifiers.
    results : ResultsStore
        Where scores are looked up, and receipts are written.

    Returns
    -------
    Selection
        Names of the model and the twin, and of the benchmarks, in the results. The twin is the registered or the
        library's one; that of other networks has the layers of the trained network and the weights of
        :func:`initial_weights` for seed 0.

    Raises
    ------
    UserError
        If the network has no twin.
    """
    from brainscore_vision.model_sources.libraries import is_from_library
    from brainscore_vision.model_sources.unregistered import wrap_model
    from brainscore_vision.registries import load_benchmark, model_registry
    from brainscore_vision.scoring.pairs import run_pair
    from brainscore_vision.scoring.selection import plan_selection, select

    selection = select([model], benchmarks)
    if len(selection.models) != 1:
        raise UserError(f"{model!r} names {len(selection.models)} models", remedy="name one model")
    name = selection.models[0]
    twin = f"{name}-untrained"
    named = twin in model_registry or is_from_library(name)
    pairs = replace(selection, models=(name, twin))
    untrained: Any = None
    for pending in plan_selection(pairs, results).pending:
        scored, benchmark = pending.pair
        if scored == name or named:
            reference = selection.files.get(scored)
            identifier = None if reference is None else scored
            run_pair(reference or scored, benchmark, results=results, identifier=identifier)
            continue
        if untrained is None:
            reference = selection.files.get(name)
            untrained = wrap_model(reference or name, identifier=None if reference is None else name)
            network = network_of(untrained, name)
            weights = initial_weights(network, name, seed=0)
        if not getattr(untrained, "region_layer_map", True):
            load_benchmark(benchmark)(untrained)  # layers are selected with the trained weights
        with other_weights(network, weights):
            run_pair(untrained, benchmark, results=results, identifier=twin)
    return pairs


def network_of(model: Any, name: str) -> "torch.nn.Module":
    """The network of a model, whose weights can be exchanged."""
    network: Any = getattr(getattr(model, "activations_model", None), "model", None)
    if not (hasattr(network, "state_dict") and hasattr(network, "named_parameters")):
        raise UserError(
            f"{name} has no PyTorch network whose weights could be initialised again",
            remedy=f"register its untrained twin as {name}-untrained, or choose a network of PyTorch",
        )
    if not any(True for _ in network.parameters()):
        raise UserError(f"the network of {name} has no weights")
    return network


def initial_weights(network: "torch.nn.Module", name: str, seed: int) -> Mapping[str, Any]:
    """Weights and batch statistics before training.

    Those of the constructor: of the registered reference model, of transformers for the network's configuration, of
    timm or torchvision for its architecture. For other networks, each module is initialised by ``reset_parameters``,
    then by the method of its class that initialises weights, such as ``init_weights``; parts of a network that are from
    these libraries, by their constructors.

    The network stays as it is. A UserError if the model is not trained itself, or it is not known how some weights are
    initialised.

    Examples
    --------
    >>> import torch
    >>> sorted(initial_weights(torch.nn.Linear(2, 1), "small", seed=0))
    ['bias', 'weight']
    """
    from brainscore_vision.model_helpers.weights import seeded

    untrained = import_module("brainscore_vision.models.untrained")
    if name.removesuffix("-untrained") in untrained.TRAINED and name.endswith("-untrained"):
        raise UserError(f"{name} is not trained itself")
    if name in untrained.TRAINED:
        with seeded(seed):
            built = untrained.reference_model(name).build()
        if _shapes(built) == _shapes(network):
            return cast(Mapping[str, Any], built.state_dict())
    try:
        twin = copy.deepcopy(network)
        with seeded(seed):
            initialised = _initialise(twin)
    except UserError:
        raise
    except Exception as error:  # of code of the network's class
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise UserError(f"{name} cannot be initialised as before training: {reason}") from error
    uninitialised = [key for key, parameter in twin.named_parameters() if id(parameter) not in initialised]
    if uninitialised:
        raise UserError(f"it is not known how the weights {', '.join(uninitialised[:3])} of {name} are initialised")
    drawn = [
        bool((drawn_weights == current_weights).all())
        for drawn_weights, current_weights in zip(twin.parameters(), network.parameters(), strict=True)
        if drawn_weights.numel() > 1 and bool((current_weights != current_weights.flatten()[0]).any())
    ]
    if drawn and all(drawn):
        raise UserError(f"{name} is not trained, or its class initialises it with trained weights")
    return twin.state_dict()


def _initialise(module: "torch.nn.Module") -> set[int]:
    """Initialise a module and those within; the identities of the parameters that were initialised."""
    import torch

    shapes = _shapes(module)
    find_builders = _BUILDERS.get(type(module).__module__.partition(".")[0])
    builders = [] if find_builders is None else find_builders(module)
    for build in builders:
        with torch.device("meta"):  # without memory and random numbers
            built_shapes = _shapes(build())
        if shapes.items() <= built_shapes.items():  # its last layer may have been removed
            built = build().state_dict()
            module.load_state_dict({name: built[name] for name in shapes})
            return {id(parameter) for parameter in module.parameters()}
    initialisers = list(_initialisers(module))
    if builders and not initialisers:
        raise UserError(
            f"{type(module).__name__} has other weights than its library builds, so that its initial ones are not known"
        )
    done = {parameter for child in module.children() for parameter in _initialise(child)}
    reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
    if callable(reset):
        done |= _reset(module, reset)
    for initialise in initialisers:
        before = [parameter.clone() for parameter in module.parameters()]
        initialise()
        done |= {
            id(parameter)
            for parameter, value in zip(module.parameters(), before, strict=True)
            if not bool((parameter == value).all())
        }
    return done


def _reset(module: "torch.nn.Module", reset: Callable[[], Any]) -> set[int]:
    """Call a module's ``reset_parameters``; the identities of its own parameters that this initialised."""
    import torch

    parameters = [parameter for parameter in module.parameters(recurse=False) if parameter.is_floating_point()]
    before = {parameter: parameter.detach().clone() for parameter in parameters}
    with torch.no_grad():
        for parameter in before:
            parameter.fill_(torch.nan)
        reset()
        untouched = {parameter for parameter in before if bool(parameter.isnan().any())}
        for parameter in untouched:
            parameter.copy_(before[parameter])
    return {id(parameter) for parameter in before if parameter not in untouched}


_INITIALISERS = ("init_weights", "initialize_weights", "_init_weights", "_initialize_weights")
_OF_A_MODULE = ("m", "mod", "module", "layer")  # parameter of one that is called for each module


def _initialisers(module: "torch.nn.Module") -> Iterator[Callable[[], Any]]:
    """The method of a module's class that initialises weights: of the whole module, or of each module within."""
    for name in _INITIALISERS:
        method = getattr(module, name, None)
        if not callable(method):
            continue
        needed = [
            parameter.name
            for parameter in inspect.signature(method).parameters.values()
            if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        if not needed or (len(needed) == 1 and needed[0] in _OF_A_MODULE):
            yield partial(module.apply, method) if needed else method
            return


def _builders_of_transformers(module: Any) -> list[Callable[[], Any]]:
    configuration = getattr(module, "config", None)
    if getattr(type(module), "config_class", None) is None or configuration is None:
        return []  # a part of a network
    return [lambda: type(module)(copy.deepcopy(configuration))]


def _builders_of_timm(module: Any) -> list[Callable[[], Any]]:
    architecture = (getattr(module, "pretrained_cfg", None) or {}).get("architecture")
    if not architecture:
        return []
    import timm

    options: dict[str, Any] = {}
    if getattr(module, "num_classes", None) is not None:
        options["num_classes"] = module.num_classes
    size = getattr(getattr(module, "patch_embed", None), "img_size", None)
    sized = [{**options, "img_size": size}] if size is not None else []
    return [partial(timm.create_model, architecture, pretrained=False, **each) for each in (*sized, options)]


def _builders_of_torchvision(module: Any) -> list[Callable[[], Any]]:
    import torch
    from torchvision import models

    home = type(module).__module__
    if not home.startswith("torchvision.models"):
        return []
    widths = [layer.out_features for layer in module.modules() if isinstance(layer, torch.nn.Linear)]
    classes = widths[-1] if widths else 1000
    builders = (models.get_model_builder(name) for name in models.list_models())
    return [
        partial(build, weights=None, num_classes=classes)
        for build in builders
        if build.__module__ == home and get_type_hints(build).get("return") is type(module)
    ]


_BUILDERS: Final[Mapping[str, Callable[[Any], list[Callable[[], Any]]]]] = {
    "transformers": _builders_of_transformers,
    "timm": _builders_of_timm,
    "torchvision": _builders_of_torchvision,
}
"""Library → function that finds how the library builds a network without training."""


def _shapes(network: "torch.nn.Module") -> dict[str, Any]:
    return {name: value.shape for name, value in network.state_dict().items()}


@contextmanager
def other_weights(network: "torch.nn.Module", weights: Mapping[str, Any]) -> Iterator[None]:
    """Exchange the weights of a network; afterwards it has its own again."""
    original = {name: value.clone() for name, value in network.state_dict().items()}
    try:
        network.load_state_dict(weights)
        yield
    finally:
        network.load_state_dict(original)


@contextmanager
def channels_last(network: "torch.nn.Module") -> Iterator[None]:
    """Order weights of convolutions by position, then channel: a pass takes about three quarters of the time.

    Activations differ by rounding. Networks that rely on the usual order raise a RuntimeError.
    """
    import torch

    if any(value.ndim == 4 and not value.is_contiguous() for value in network.parameters()):
        yield  # they have another order already
        return
    try:
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload] # lacks this argument
        yield
    finally:
        network.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
