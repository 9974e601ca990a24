"""Models of libraries by name, such as ``timm:resnet18.a1_in1k``, without a registration.

Preprocessing is the library's own. Layers of regions are those that were published for the same weights, else they are
found in the network. Libraries are imported when a model is loaded or names are listed.
"""

from __future__ import annotations

import csv
import fnmatch
import re
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from brainscore_core.errors import DataUnavailable, UserError, nearest
from brainscore_core.formatting import first_few
from brainscore_core.identifiers import identifier_problem
from brainscore_vision.registries import model_registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper


class _Library(NamedTuple):
    module: str
    distribution: str
    form: str
    install: str


LIBRARIES: Final[Mapping[str, _Library]] = {
    "timm": _Library("timm", "timm", "timm:NAME", "pip install 'brainscore[models]'"),
    "torchvision": _Library(
        "torchvision", "torchvision", "torchvision:NAME[:WEIGHTS]", "pip install 'brainscore[models]'"
    ),
    "huggingface": _Library(
        "transformers", "transformers", "huggingface:REPOSITORY[@REVISION]", "pip install 'brainscore[models]'"
    ),
    "open_clip": _Library("open_clip", "open_clip_torch", "open_clip:NAME:WEIGHTS", "pip install open_clip_torch"),
}
"""Name in identifiers → module, distribution, form of the identifiers, and how to install the library."""

_PARTS: Final = {
    "timm": re.compile(r"(?P<name>[^:@/]+)"),
    "torchvision": re.compile(r"(?P<name>[^:@/]+)(?::(?P<weights>[^:@/]+))?"),
    "huggingface": re.compile(r"(?P<name>[^:@/]+(?:/[^:@/]+)?)(?:@(?P<weights>[^:@]+))?"),
    "open_clip": re.compile(r"(?P<name>[^:@/]+)(?::(?P<weights>[^:@/]+))?"),
}
_WEIGHT_FILES: Final = (
    *("model.safetensors", "pytorch_model.bin"),
    *("open_clip_model.safetensors", "open_clip_pytorch_model.bin"),
)
_TWIN = re.compile(r"(.+)-untrained(?:-seed(0|[1-9]\d{0,8}))?")


class LibraryModel(NamedTuple):
    """Parts of the identifier of a library's model."""

    library: str  # key of :data:`LIBRARIES`
    name: str  # name in the library, or repository
    weights: str | None = None  # name of the weights, or revision of the repository; None for the library's default
    seed: int | None = None  # seed of the random weights of an untrained twin; None for the trained model


def is_library_model(model: Any) -> bool:
    """Whether an identifier begins with the name of a library and a colon.

    Examples
    --------
    >>> is_library_model("timm:resnet18"), is_library_model("resnet-18"), is_library_model("timm.py:make")
    (True, False, False)
    """
    return isinstance(model, str) and ".py:" not in model and model.partition(":")[0] in LIBRARIES and ":" in model


def is_from_library(model: str) -> bool:
    """Whether an identifier names a model of a library, and no plugin registers it.

    Examples
    --------
    >>> is_from_library("timm:resnet18"), is_from_library("pixels")
    (True, False)
    """
    return is_library_model(model) and model not in model_registry


def parse_library_model(identifier: str) -> LibraryModel:
    """Split the identifier of a library's model into its parts; no library is imported.

    `identifier`: ``timm:NAME``, ``torchvision:NAME[:WEIGHTS]``, ``huggingface:REPOSITORY[@REVISION]`` or
    ``open_clip:NAME:WEIGHTS``; for the untrained twin followed by ``-untrained``, or ``-untrained-seed1`` for another
    seed than 0. A UserError if it does not have one of these forms.

    Examples
    --------
    >>> parse_library_model("torchvision:resnet18:IMAGENET1K_V1")
    LibraryModel(library='torchvision', name='resnet18', weights='IMAGENET1K_V1', seed=None)
    >>> parse_library_model("timm:resnet18-untrained-seed3")
    LibraryModel(library='timm', name='resnet18', weights=None, seed=3)
    """
    library, _, reference = identifier.partition(":")
    if library not in LIBRARIES:
        raise UserError(f"{identifier!r} does not name a library", remedy=f"libraries: {', '.join(LIBRARIES)}")
    twin = _TWIN.fullmatch(reference)
    match = _PARTS[library].fullmatch(twin[1] if twin else reference)
    problem = identifier_problem(identifier)
    if match is None or problem is not None or not all(segment.strip(".") for segment in re.split("[:/@]", reference)):
        detail = f": {problem}" if problem else ""
        raise UserError(
            f"{identifier!r} does not name a model of {library}{detail}",
            remedy=f"write it as {LIBRARIES[library].form}, with -untrained at the end for its untrained twin",
        )
    model = LibraryModel(library, seed=int(twin[2] or 0) if twin else None, **match.groupdict())
    if library == "open_clip" and model.weights is None and model.seed is None:
        raise UserError(
            f"{identifier!r} does not say which weights",
            remedy=f"write it as {LIBRARIES[library].form}; list them with: brainscore list models --library open_clip",
        )
    return model


def names_library_model(identifier: str) -> bool:
    """Whether an identifier has the form of a library's model, which a plugin would hide.

    Examples
    --------
    >>> names_library_model("timm:resnet18"), names_library_model("timm:mine/resnet18")
    (True, False)
    """
    try:
        return is_library_model(identifier) and bool(parse_library_model(identifier))
    except UserError:
        return False


def library_folder(identifier: str) -> Path | None:
    """Folder of a library's code, which receipts describe as the code of its models; None if it is not installed."""
    spec = find_spec(LIBRARIES[parse_library_model(identifier).library].module)
    return None if spec is None or not spec.submodule_search_locations else Path(spec.submodule_search_locations[0])


def require_library_model(identifier: str) -> None:
    """Raise an error for a model that its library cannot make. Weights are not looked for.

    A UserError if the library cannot be imported, or does not list the model; repositories of Hugging Face are not
    checked.
    """
    model = parse_library_model(identifier)
    _imported(model.library, identifier)
    if model.library == "huggingface":
        if Path(model.name).is_dir():  # transformers would take the folder
            raise UserError(
                f"{model.name!r} is a folder here, not only a repository",
                remedy="change to another folder; or, for the model in the folder, write a function that returns it: "
                "path/to/file.py:make_model",
            )
        return
    names = _architectures(model.library)
    trained = library_names(model.library)
    if model.library == "timm":
        exists = model.name in names or model.name in trained
    else:
        exists = model.name in names and (model.weights is None or f"{model.name}:{model.weights}" in trained)
        exists = exists or (model.weights == "DEFAULT" and model.name in names and model.library == "torchvision")
    if not exists:
        asked = model.name if model.weights is None else f"{model.name}:{model.weights}"
        same = [name for name in trained if name.startswith(f"{model.name}:")]
        near = same[:8] or nearest(asked, names if model.weights is None else trained)
        raise UserError(
            f"{model.library} has no model {asked!r}",
            remedy=(f"nearest: {', '.join(f'{model.library}:{name}' for name in near)}; " if near else "")
            + f"list them with: brainscore list models --library {model.library}",
        )


@cache
def library_names(library: str) -> tuple[str, ...]:
    """Models of a library that have weights, as they are named after the colon in identifiers.

    `library`: key of :data:`LIBRARIES`. Of Hugging Face, the repositories in the local cache. A UserError if the
    library cannot be imported.
    """
    module = _imported(library, library)
    if library == "timm":
        return tuple(module.list_models(pretrained=True))
    if library == "torchvision":
        models = module.models
        return tuple(
            f"{name}:{weights.name}" for name in _architectures(library) for weights in models.get_model_weights(name)
        )
    if library == "open_clip":
        return tuple(f"{name}:{tag}" for name, tag in module.list_pretrained())
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repositories = scan_cache_dir().repos
    except CacheNotFound:
        return ()
    return tuple(sorted(repository.repo_id for repository in repositories if repository.repo_type == "model"))


@cache
def _architectures(library: str) -> tuple[str, ...]:
    """Networks of a library, without the names of weights."""
    module = _imported(library, library)
    if library == "torchvision":
        return tuple(module.models.list_models(module=module.models))
    return tuple(module.list_models()) if library in {"timm", "open_clip"} else library_names(library)


def matching_library_models(pattern: str) -> list[str]:
    """Identifiers of a library's models that match a pattern, ignoring case.

    `pattern`: such as ``timm:resnet*``, which matches models with weights; ``timm:resnet*-untrained`` matches the
    untrained twins of networks. A UserError if nothing matches, or the library cannot be imported.
    """
    library, _, name_pattern = pattern.partition(":")
    twin = _TWIN.fullmatch(name_pattern)
    names = _architectures(library) if twin else library_names(library)
    suffix = name_pattern[len(twin[1]) :] if twin else ""
    name_pattern = (twin[1] if twin else name_pattern).lower()
    matching = [f"{library}:{name}{suffix}" for name in names if fnmatch.fnmatchcase(name.lower(), name_pattern)]
    if not matching:
        where = " in the local cache" if library == "huggingface" else ""
        raise UserError(
            f"no model of {library}{where} matches {pattern!r}",
            remedy=f"list them with: brainscore list models --library {library}",
        )
    return matching


def build_network(identifier: str) -> tuple[Any, str, str]:
    """Make the network of a library's model, with its weights or, for an untrained twin, as it is initialised.

    `identifier`: as for :func:`parse_library_model`. Result: the network, wrapped with the library's preprocessing
    where it has one; the exact identifier, with the weights; a remark about both. A UserError if the library or the
    model does not exist, or weights are neither cached nor reachable.
    """
    require_library_model(identifier)
    model = parse_library_model(identifier)
    try:
        return _BUILD[model.library](model, identifier)
    except UserError:
        raise
    except Exception as error:
        raise _cannot_load(model, identifier.partition(":")[2], error) from error


def _cannot_load(wanted: LibraryModel, name: str, error: Exception) -> UserError:
    from brainscore_core.supported_data_standards.brainio.downloads import is_unreachable

    text = " ".join(str(error).split())
    kind = DataUnavailable if is_unreachable(error) else UserError
    return kind(
        f"{wanted.library} cannot load {name!r} ({type(error).__name__}: {text[:300]}{'…' if len(text) > 300 else ''})",
        remedy=_remedy(wanted),
    )


@cache
def published_layers() -> Mapping[str, Mapping[str, str]]:
    """Layers that were published for weights of libraries: exact identifier → region or ``behavior`` → layer.

    Examples
    --------
    >>> published_layers()["torchvision:alexnet:IMAGENET1K_V1"]["IT"]
    'features.12'
    """
    text = resources.files(__package__).joinpath("library_layers.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row.pop("identifier"): {region: layer for region, layer in row.items() if layer} for row in rows}


def _imported(library: str, needed_by: str) -> Any:
    from brainscore_vision.model_helpers.libraries import library as import_library

    module = LIBRARIES[library].module
    if library == "open_clip" and find_spec(module) is None:
        raise UserError(f"{needed_by!r} needs open_clip, which is not installed", remedy=LIBRARIES[library].install)
    if library == "torchvision":
        import_library("torchvision.models", needed_by=needed_by)
    return import_library(module, needed_by=needed_by)


def _remedy(wanted: LibraryModel) -> str:
    if wanted.seed is not None and wanted.library != "huggingface":
        return f"check that {wanted.library} can make the network itself"
    caches = {
        "torchvision": "$TORCH_HOME/hub/checkpoints (~/.cache/torch/hub/checkpoints)",
        "timm": "$HF_HOME (~/.cache/huggingface), and for some models ~/.cache/torch/hub/checkpoints",
        "huggingface": "$HF_HOME (~/.cache/huggingface)",
        "open_clip": "$HF_HOME (~/.cache/huggingface), and for some models ~/.cache/clip",
    }
    noun = "weights are" if wanted.seed is None else "configuration is"
    twin = "" if wanted.seed is not None else "; or score its untrained twin: add -untrained"
    return (
        f"if its {noun} not reachable: connect to the network, or copy what {wanted.library} has cached elsewhere to "
        f"{caches[wanted.library]}{twin}"
    )


def _timm(wanted: LibraryModel, identifier: str) -> tuple[PytorchWrapper, str, str]:
    from brainscore_vision.model_helpers.activations.pretrained_models import from_timm

    network = from_timm(wanted.name, identifier, pretrained=wanted.seed is None)
    config: Any = network.model.pretrained_cfg
    exact = ".".join(filter(None, [config.get("architecture"), config.get("tag")]))
    if wanted.seed is not None:
        return network, f"timm:{exact}", f"network of timm, preprocessing of {exact}"
    repository = config.get("hf_hub_id")
    source = f", from {repository}{_revision(repository)}" if repository else ""
    return network, f"timm:{exact}", f"weights {exact} of timm{source}"


def _revision(repository: str, file: str = "") -> str:
    """Commit of the weights of a repository in the cache of Hugging Face, as part of a remark."""
    from huggingface_hub import try_to_load_from_cache

    for name in [file] if file else _WEIGHT_FILES:
        cached = try_to_load_from_cache(repository, name)
        if isinstance(cached, str):
            return f", revision {Path(cached).parent.name}"
    return ""


def _torchvision(wanted: LibraryModel, identifier: str) -> tuple[PytorchWrapper, str, str]:
    from brainscore_vision.model_helpers.activations.pretrained_models import from_torchvision

    models = _imported("torchvision", identifier).models
    weights = models.get_model_weights(wanted.name)[wanted.weights or "DEFAULT"]
    exact = f"torchvision:{wanted.name}:{weights.name}"
    if wanted.seed is None:
        return from_torchvision(wanted.name, identifier, weights=weights), exact, f"weights {weights}, {weights.url}"
    network = from_torchvision(wanted.name, identifier, transforms=weights.transforms())
    return network, exact, f"network of torchvision, preprocessing of {weights}"


def huggingface_network(repository: str, architecture: str) -> tuple[Any, str]:
    """Make the network of a repository of Hugging Face, with its weights.

    `repository`: its name; the newest commit is used. Result: the network, and a remark that names the commit. Weights
    that the repository lacks are initialised from seed 0, which the remark says; a pooling layer without weights is
    left out. A UserError if transformers cannot be imported, or the repository is neither cached nor reachable.
    """
    try:
        network, _, remark = _from_hub(repository, None, architecture, trained=True)
    except UserError:
        raise
    except Exception as error:
        raise _cannot_load(LibraryModel("huggingface", repository), repository, error) from error
    return network, remark


def _from_hub(repository: str, revision: str | None, architecture: str, *, trained: bool) -> tuple[Any, str, str]:
    transformers = _imported("huggingface", repository)
    from huggingface_hub import hf_hub_download

    from brainscore_vision.model_helpers.weights import seeded

    # the repository may change in the meantime; the folder of a commit has its name
    commit = Path(hf_hub_download(repository, "config.json", revision=revision)).parent.name
    model_class = getattr(transformers, architecture)
    if not trained:
        network = model_class.from_config(transformers.AutoConfig.from_pretrained(repository, revision=commit))
        return network.eval(), commit, f"configuration of {repository}, revision {commit}"
    with seeded(0):
        network, loaded = model_class.from_pretrained(repository, revision=commit, output_loading_info=True)
    remark, missing = f"weights of {repository}, revision {commit}", sorted(loaded["missing_keys"])
    if missing and all(name.startswith("pooler.") for name in missing):
        network.pooler, missing = None, []
    if missing:
        remark += f"; not among them, and initialised with seed 0: {first_few(missing)}"
    return network.eval(), commit, remark


def _huggingface(wanted: LibraryModel, identifier: str) -> tuple[PytorchWrapper, str, str]:
    from brainscore_vision.model_helpers.activations.pretrained_models import (
        from_huggingface,
        repository_preprocessing,
    )

    network, commit, remark = _from_hub(wanted.name, wanted.weights, "AutoModel", trained=wanted.seed is None)
    preprocessing = repository_preprocessing(wanted.name, revision=commit)
    network = getattr(network, "vision_model", network)  # of a model of images and text
    activations_model = from_huggingface(network, identifier=identifier, preprocessing=preprocessing)
    return activations_model, identifier, f"{remark}; its image processor"


def _open_clip(wanted: LibraryModel, identifier: str) -> tuple[PytorchWrapper, str, str]:
    open_clip = _imported("open_clip", identifier)
    from brainscore_vision.model_helpers.activations.pretrained_models import as_preprocessing
    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper

    pretrained = wanted.weights if wanted.seed is None else None
    model, _, preprocessing = open_clip.create_model_and_transforms(wanted.name, pretrained=pretrained)
    remark = f"images of {wanted.name}"
    if pretrained:
        config = open_clip.get_pretrained_cfg(wanted.name, pretrained) or {}
        *repository, file = str(config.get("hf_hub") or "").rsplit("/", 1)
        source = f", from {repository[0]}{_revision(repository[0], file)}" if repository else f", {config.get('url')}"
        remark += f", weights {pretrained} of open_clip{source}"
    network = PytorchWrapper(model.visual, as_preprocessing(preprocessing), identifier)
    return network, f"open_clip:{wanted.name}:{wanted.weights}", remark


_BUILD: Final = {"timm": _timm, "torchvision": _torchvision, "huggingface": _huggingface, "open_clip": _open_clip}


def describe_library_model(identifier: str) -> dict[str, Any]:
    """Name library, model and weights; nothing is loaded."""
    from importlib.metadata import version

    model = parse_library_model(identifier)
    distribution = LIBRARIES[model.library].distribution
    return {
        "library": f"{distribution} {version(distribution)}",
        "name": model.name,
        "weights": model.weights if model.seed is None else f"as initialised, seed {model.seed}",
    }
