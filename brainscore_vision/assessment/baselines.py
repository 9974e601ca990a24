"""Baseline models: features that are simple to compute from images, labels and times, and untrained twins."""

import copy
import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.metrics import STIMULUS_GROUPS
from brainscore_core.supported_data_standards.brainio.images import naming_stimuli
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import CLASSES
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.stimuli.gabor_bank import GaborBank, GaborFilters

if TYPE_CHECKING:
    import torch

    from brainscore_core.runner.selection import Selection
    from brainscore_core.scoring import ResultsStore

LABELS: Final = (STIMULUS_GROUPS, *CLASSES)
"""Columns of stimuli, or coordinates of recordings, that name categories or groups."""

_TIMES: Final = ("presentation_time", "trial")
_BLOCKS: Final = ("subject", "session", "run", "block")

_SIZE: Final = 128  # pixels to which images are resized
_PIXELS: Final = 16  # in a row and in a column
_COARSE: Final = 32  # for statistics of colour
_LUMINANCE: Final = np.array([0.299, 0.587, 0.114], dtype=np.float32)  # ITU-R 601
_GRID: Final = 8
_CYCLES: Final = (4.0, 8.0, 16.0, 32.0)  # per image
_ORIENTATIONS: Final = 6
_FINEST_CODES: Final = 200
FEWEST: Final = 32
"""Fewer features are repeated."""

NO_LABELS: Final = (
    f"the stimuli have no categories or groups: none of {', '.join(LABELS)} has values that stimuli share"
)

Floats = NDArray[np.float64]
Features = Callable[[StimulusSet], NDArray[np.floating]]


def time_codes(times: NDArray[Any], blocks: NDArray[Any] | None = None) -> Floats:
    """Smooth functions of the order of presentations.

    `times` sort the presentations within a block, such as a session; no function extends beyond a block. Returned are
    Gaussian functions of the rank within the block: of a standard deviation σ of 2 presentations (more if there are
    over 400), of 4 σ and of 16 σ, one σ apart; and the rank over all blocks, from 0 to 1.

    Examples
    --------
    >>> time_codes(np.array([30, 10, 20])).shape
    (3, 5)
    >>> time_codes(np.array([30, 10, 20]))[:, -1].tolist()
    [1.0, 0.0, 0.5]
    """
    groups = np.zeros(len(times), dtype=np.intp) if blocks is None else np.unique(blocks, return_inverse=True)[1]
    ranks = np.empty(len(times))
    for group in range(groups.max() + 1):
        members = np.flatnonzero(groups == group)
        ranks[members] = pd.Series(times[members]).rank(method="first").to_numpy() - 1
    finest = max(2.0, len(times) / _FINEST_CODES)
    columns = []
    for group in range(groups.max() + 1):
        here = groups == group
        for width in (finest, 4 * finest, 16 * finest):
            centres = np.arange(0.0, here.sum(), width)
            bumps = np.exp(-0.5 * ((ranks[:, np.newaxis] - centres) / width) ** 2)
            columns.append(np.where(here[:, np.newaxis], bumps, 0.0))
    overall = np.empty(len(times))
    overall[np.lexsort((ranks, groups))] = np.linspace(0.0, 1.0, len(times))
    return np.concatenate([*columns, overall[:, np.newaxis]], axis=1)


def shuffle_groups(groups: NDArray[Any], *, seed: int) -> NDArray[np.intp]:
    """Rows of another group for each row: all rows of a group get rows of the same other group.

    No group keeps its own. Rows of a smaller group are used several times, of a larger one some are not used.

    Examples
    --------
    >>> groups = np.array(["cat", "dog", "cat", "dog"])
    >>> groups[shuffle_groups(groups, seed=0)].tolist()
    ['dog', 'cat', 'dog', 'cat']
    """
    names, codes = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(names))
    rows = np.empty(len(codes), dtype=np.intp)
    for group, next_group in zip(order, np.roll(order, -1), strict=True):
        members, donors = np.flatnonzero(codes == group), rng.permutation(np.flatnonzero(codes == next_group))
        rows[members] = donors[np.arange(len(members)) % len(donors)]
    return rows


def _known(values: NDArray[np.floating], stimuli: pd.Index) -> Features:
    """Features that are looked up by the stimulus; they are scaled to an average variance of 1."""
    spread = float(np.sqrt(values.var(axis=0).mean()))
    if not spread > 0:
        raise UserError("the features do not vary between stimuli")
    scaled = values / spread
    return lambda shown: scaled[stimuli.get_indexer(pd.Index(shown["stimulus_id"]))]


class _ImageFeatures(NamedTuple):
    """Features of images, one row each."""

    pixels: NDArray[np.float32]
    gabor: NDArray[np.float32]
    colour: NDArray[np.float32]


def pixel_features(stimuli: StimulusSet) -> NDArray[np.floating]:
    """Means of 16 × 16 squares of red, green and blue."""
    return _images_of(_files(stimuli)).pixels


def gabor_features(stimuli: StimulusSet) -> NDArray[np.floating]:
    """Amplitudes of Gabor filters."""
    return _images_of(_files(stimuli)).gabor


def colour_features(stimuli: pd.DataFrame) -> Features:
    """Statistics of colour and luminance, standardised over stimuli."""
    values = _images_of(list(stimuli["_file"].items())).colour.astype(np.float64)
    spread = values.std(axis=0)
    return _known(((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0], stimuli.index)


def _files(stimuli: StimulusSet) -> list[tuple[str, Any]]:
    return [(name, stimuli.get_stimulus(name)) for name in stimuli["stimulus_id"]]


def _images_of(files: Sequence[tuple[Any, Any]]) -> _ImageFeatures:
    """Features of stimuli and their image files, kept in memory until their bytes change."""
    paths = tuple(str(path) for _, path in files)
    stats = (os.stat(path) for path in paths)
    with naming_stimuli(dict(files)):
        return _image_features(paths, tuple((stat.st_size, stat.st_mtime_ns) for stat in stats))


@functools.lru_cache(maxsize=4)
def _image_features(files: tuple[str, ...], state: tuple[tuple[int, int], ...]) -> _ImageFeatures:
    bank = _bank()

    def features(file: str) -> tuple[Any, Any, Any]:
        image = load_rgb(file, size=_SIZE).astype(np.float32) / np.float32(128) - np.float32(1)
        luminance = image @ _LUMINANCE
        pixels, coarse = _block_means(image, _PIXELS), _block_means(image, _COARSE)
        return 2 * pixels.ravel(), 10 * np.abs(bank(luminance)).ravel(), _colour_statistics(coarse)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        pixels, gabor, colour = zip(*pool.map(features, files), strict=True)
    return _ImageFeatures(np.stack(pixels), np.stack(gabor), np.stack(colour))


@functools.lru_cache(maxsize=1)
def _bank() -> GaborBank:
    orientation, frequency = np.meshgrid(np.arange(_ORIENTATIONS) * 180 / _ORIENTATIONS, _CYCLES, indexing="ij")
    filters = GaborFilters.from_bandwidths(
        orientation=orientation.ravel(),
        frequency=frequency.ravel(),  # cycles per image: the image spans one degree
        frequency_bandwidth=1.5,
        orientation_bandwidth=40.0,
    )
    return GaborBank(filters, size=_SIZE, visual_degrees=1.0, grid=_GRID)


def _block_means(image: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    step = _SIZE // number
    means: NDArray[np.float32] = image.reshape(number, step, number, step, 3).mean(axis=(1, 3))
    return means


def _colour_statistics(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean, standard deviation, skewness and kurtosis of each channel, and percentiles of luminance."""
    red, green, blue = np.moveaxis(image, -1, 0)
    luminance = image @ _LUMINANCE
    saturation = image.max(axis=-1) - image.min(axis=-1)
    channels = np.stack([luminance, red - green, blue - (red + green) / 2, saturation]).reshape(4, -1)
    means = channels.mean(axis=1)
    deviations = channels - means[:, np.newaxis]
    squares = deviations * deviations
    spreads = np.sqrt(squares.mean(axis=1))
    scale = np.maximum(spreads, 1e-3)  # of uniform channels, shapes are 0
    shapes = [(squares * deviations).mean(axis=1) / scale**3, (squares * squares).mean(axis=1) / scale**4]
    return np.concatenate([means, spreads, *shapes, np.percentile(luminance, (5, 25, 50, 75, 95))]).astype(np.float32)


def labels_of(
    stimuli: pd.DataFrame, coordinates: Sequence[pd.DataFrame], grouped_by: str | None
) -> dict[str, pd.Series]:
    """Name → label of each stimulus, each partition of the stimuli once; the coordinate that groups splits first."""
    labels: dict[str, pd.Series] = {}
    for name in dict.fromkeys([*([grouped_by] if grouped_by else []), *LABELS]):
        values = stimuli.get(name)
        for table in coordinates:
            if values is None and {name, "stimulus_id"} <= set(table.columns):
                values = table.drop_duplicates("stimulus_id").set_index("stimulus_id")[name].reindex(stimuli.index)
        if values is None or values.isna().any():
            continue
        values = values.astype(str)
        number = values.nunique()
        same = any(
            number == labels_before.nunique() == len(set(zip(values, labels_before, strict=True)))
            for labels_before in labels.values()
        )
        if 2 <= number <= len(values) / 2 and not same:
            labels[name] = values
    return labels


def code_features(labels: Mapping[str, pd.Series]) -> Features:
    """Rows of a Hadamard matrix for the values of each label.

    They are orthogonal as one-hot codes are, and fits are the same; but all numbers in their RDM are exact, so that
    equal dissimilarities have equal ranks.
    """
    from scipy.linalg import hadamard

    if not labels:
        raise UserError(NO_LABELS)
    # norms are powers of 2: 4^n codes, and 4^n labels, some of which are repeated
    most = max(values.nunique() for values in labels.values())
    number = _power_of_four(max(most + 1, FEWEST))
    rows = hadamard(number)[1:]  # the first is constant
    codes_of_labels = [rows[pd.factorize(values)[0]] for values in labels.values()]
    codes = np.concatenate(
        [codes_of_labels[i % len(codes_of_labels)] for i in range(_power_of_four(len(codes_of_labels)))], axis=1
    )
    stimuli = next(iter(labels.values())).index
    return lambda shown: codes[stimuli.get_indexer(pd.Index(shown["stimulus_id"]))].astype(np.float64)


def _power_of_four(least: int) -> int:
    return int(4 ** (((least - 1).bit_length() + 1) // 2))


def time_features(coordinates: Sequence[pd.DataFrame], stimuli: pd.DataFrame) -> Features:
    """Time codes of each stimulus, averaged over its presentations."""
    for table in coordinates:
        for name in _TIMES:
            if name not in table or pd.isna(table[name]).any() or table[name].nunique() < 3:
                continue
            blocks = [table[block].astype(str) for block in _BLOCKS if block in table]
            joined = pd.Series(["|".join(names) for names in zip(*blocks, strict=True)]) if blocks else None
            codes = time_codes(table[name].to_numpy(), None if joined is None else joined.to_numpy())
            averaged = pd.DataFrame(codes).groupby(table["stimulus_id"].to_numpy()).mean().reindex(stimuli.index)
            if not averaged.isna().any(axis=None):
                return _known(averaged.to_numpy(), stimuli.index)
    raise UserError(
        f"the order of presentations is not known: the recordings have no complete coordinate {' or '.join(_TIMES)}"
    )


def score_with_twin(model: str, benchmarks: Sequence[str], *, results: "ResultsStore") -> "Selection":
    """Score a model and its untrained twin, except pairs that are scored already.

    `model`: a registered model, one of a library, or ``path/to/file.py:make_model``. `results`: where scores are looked
    up, and receipts are written. Result: names of the model and the twin, and of the benchmarks, in the results. The
    twin is the registered or the library's one; that of other networks has the layers of the trained network and the
    weights of :func:`initial_weights` for seed 0. A UserError if the network has no twin.
    """
    from brainscore_core.runner.selection import plan_selection, select
    from brainscore_vision.model_sources.libraries import is_from_library
    from brainscore_vision.model_sources.unregistered import wrap_model
    from brainscore_vision.registries import load_benchmark, model_registry
    from brainscore_vision.scoring.pairs import run_pair

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
        network.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload] # as above
