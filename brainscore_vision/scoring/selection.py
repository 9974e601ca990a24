"""Selects models and benchmarks by name or pattern, and plans the pairs that are not scored yet."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError, nearest
from brainscore_vision.catalogue.leaderboard import BENCHMARKS, leaderboard_tree
from brainscore_vision.composition import base_keys
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.model_sources.libraries import is_from_library, matching_library_models, require_library_model
from brainscore_vision.model_sources.unregistered import is_file_reference
from brainscore_vision.registries import benchmark_registry, model_registry, registered_folder, resolve_benchmark

if TYPE_CHECKING:
    from brainscore_core.results.aggregates import Tree
    from brainscore_core.runner.plan import Again, Plan
    from brainscore_core.scoring import ResultsStore

ALL = "all"


@dataclass(frozen=True)
class Selection:
    """Models and benchmarks to score, each model on each benchmark."""

    # models and benchmarks: names in the results, in the order of the request
    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    # For models that are defined in a file: name → ``/path/to/file.py:make_model``
    files: dict[str, str] = field(default_factory=dict)


def select(models: Sequence[str], benchmarks: Sequence[str]) -> Selection:
    """Resolve names and patterns of models and benchmarks.

    `models`: as for :func:`select_models`. `benchmarks`: as for :func:`select_benchmarks`. A UserError if a name or
    pattern matches nothing; the message lists the nearest names.
    """
    names, files = select_models(models)
    return Selection(names, select_benchmarks(benchmarks), files)


def select_models(wanted: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Resolve names and patterns of models, and find the files of unregistered models. No plugin is imported.

    `wanted`: identifiers; patterns such as ``resnet*``, which match registered identifiers, including untrained twins
    (ignoring case); models of libraries, such as ``timm:resnet18.a1_in1k``, or patterns of their names, such as
    ``timm:resnet*``; ``path/to/file.py:make_model``, which is called ``file:make_model`` in the results, or
    ``name=path/to/file.py:make_model``. Result: names in the results, and name → absolute reference for models from
    files. A UserError if a name or pattern matches nothing, or two models would have the same name.

    Examples
    --------
    >>> select_models(["pixels", "gab*"])
    (('pixels', 'gabor'), {})
    """
    files: dict[str, str] = {}
    names: list[str] = []
    for request in wanted:
        if is_file_reference(request):
            name, reference = _model_file(request)
            if files.get(name, reference) != reference or name in model_registry:
                earlier = files.get(name, "a registered model")
                raise UserError(
                    f"{reference} and {earlier} would both be called {name!r} in the results",
                    remedy=f"give it another name: NAME={request.rpartition('=')[2]}",
                )
            files[name] = reference
            names.append(name)
        elif request in model_registry:
            names.append(request)
        elif is_from_library(request):
            if _is_pattern(request):
                names += matching_library_models(request)
            else:
                require_library_model(request)
                names.append(request)
        elif _is_pattern(request):
            names += _matching(request, model_registry, "model")
        else:
            model_registry.location(request)  # raises, with the nearest names
    return tuple(dict.fromkeys(names)), files


def select_benchmarks(wanted: Sequence[str]) -> tuple[str, ...]:
    """Resolve names and patterns of benchmarks. No plugin is imported.

    `wanted`: identifiers; patterns such as ``MajajHong2015public.*``, which match registered identifiers; composed
    names such as ``MajajHong2015public.IT:cka_cv``; ``all:NODE`` for the benchmarks below a node of the leaderboard's
    tree (``all:V1``, ``all:Geirhos2021``; ``neural``, ``behavior`` and ``engineering`` without ``_vision``); ``all``
    for the whole tree; ``all:simulated`` for the controls. Result: names without duplicates, in the order of the
    request. A UserError if a name, pattern or node matches nothing; the message lists the nearest names.

    Examples
    --------
    >>> select_benchmarks(["Simulated2026.V1-*", "all:Geirhos2021", "Simulated2026.IT:cka_cv"])[:3]
    ('Simulated2026.V1-pls', 'Simulated2026.V1-rdm', 'Geirhos2021colour-error_consistency')
    """
    names: list[str] = []
    for request in wanted:
        if request in benchmark_registry:
            names.append(request)
        elif request == ALL or request.startswith(f"{ALL}:"):
            names += _group(request)
        elif _is_pattern(request):
            names += _matching(request, benchmark_registry, "benchmark")
        elif ":" in request:
            names.append(resolve_benchmark(request))
        else:
            benchmark_registry.location(request)  # raises, with the nearest names
    return tuple(dict.fromkeys(names))


def plan_selection(
    selection: Selection,
    store: ResultsStore,
    *,
    again: Again = "failed",
    gpu: int | Mapping[str, int] = 0,
) -> Plan:
    """Plan the pairs of a selection that are missing, and estimate their costs.

    `again`, `gpu`: as for :func:`brainscore_core.runner.plan.make_plan`.
    """
    from brainscore_core.runner.plan import make_plan

    return make_plan(
        selection.models,
        selection.benchmarks,
        store,
        again=again,
        plugins=folder_finder(selection.files),
        version_of=version_finder(leaderboard_tree()),
        table=shipped_costs(),
        gpu=gpu,
    )


def regions_by_data(benchmarks: Iterable[str]) -> dict[str, list[str]]:
    """Regions that several benchmarks record on the same data, as known from their names and the tree.

    Result: name of the data → regions; only data with several recorded regions.

    Examples
    --------
    >>> regions_by_data(["Simulated2026.V1-pls", "Simulated2026.IT:cka", "MajajHong2015public.IT-pls"])
    {'Simulated2026': ['V1', 'IT']}
    """
    tree = leaderboard_tree()
    names_of: dict[str, set[str]] = {}
    for benchmark in benchmarks:
        names = {*re.split(r"[^A-Za-z0-9]+", benchmark), *(tree.ancestors(benchmark) if benchmark in tree else ())}
        names_of.setdefault(data_name(benchmark), set()).update(names)
    regions = {
        data: [str(region) for region in BrainModel.RecordingTarget if region in names]
        for data, names in names_of.items()
    }
    return {data: names for data, names in regions.items() if len(names) > 1}


def data_name(benchmark: str) -> str:
    """Name of a benchmark's data: the benchmark's name up to the first dot."""
    return benchmark.partition(".")[0]


def folder_finder(files: Mapping[str, str]) -> Callable[[str, str], Path | None]:
    """Make a function that finds the code of a model or benchmark; `files` as in :class:`Selection`."""

    def folder(kind: str, identifier: str) -> Path | None:
        if kind == "model" and identifier in files:
            return Path(files[identifier].rpartition(":")[0])
        return registered_folder(kind, identifier)

    return folder


def version_finder(tree: Tree) -> Callable[[str], int | str | None]:
    """Make a function that looks up a benchmark's version in the leaderboard's tree; None if unknown."""

    def version(benchmark: str) -> int | str | None:
        composed = ":" in benchmark and benchmark not in benchmark_registry
        keys = base_keys(benchmark) if composed else [benchmark]
        versions = {tree[key].version if key in tree else None for key in keys}
        return versions.pop() if len(versions) == 1 else None

    return version


@lru_cache(maxsize=1)
def shipped_costs() -> dict[str, Any] | None:
    """Costs of pairs measured on another machine; None if the package contains no table."""
    file = resources.files(__package__).joinpath("costs.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _group(wanted: str) -> list[str]:
    """Benchmarks of ``all`` or ``all:NODE``."""
    tree = leaderboard_tree()
    node = wanted.partition(":")[2]
    if wanted == ALL:
        return [benchmark for benchmark in tree.benchmarks if benchmark in benchmark_registry]
    if node in BENCHMARKS.controls:
        folders = {key: benchmark_registry.location(key).folder for key in benchmark_registry}
        return [
            key for key, folder in folders.items() if folder is not None and folder.name == BENCHMARKS.controls[node]
        ]
    node = BENCHMARKS.short_names.get(node, node)
    if node not in tree or tree[node].benchmark:
        nodes = [*BENCHMARKS.short_names, *BENCHMARKS.controls, *(name for name in tree if not tree[name].benchmark)]
        raise UserError(
            f"{wanted!r}: the leaderboard has no node {node!r}",
            remedy=_nearest(node, nodes) or f"nodes: {', '.join(sorted(nodes))}",
        )
    below = [name for name in tree.benchmarks if node in tree.ancestors(name) and name in benchmark_registry]
    if not below:
        raise UserError(f"{wanted!r}: no benchmark below {node!r} is registered", remedy="name another node")
    return below


def _matching(pattern: str, registry: Iterable[str], noun: str) -> list[str]:
    names = list(registry)
    matches = [name for name in names if fnmatch.fnmatchcase(name.lower(), pattern.lower())]
    if not matches:
        literal = pattern.translate(str.maketrans("", "", "*?[]"))
        raise UserError(
            f"no {noun} matches {pattern!r}",
            remedy=_nearest(literal, names) or f"list them with: brainscore list {noun}s",
        )
    return matches


def _nearest(name: str, known: Iterable[str]) -> str:
    near = nearest(name, dict.fromkeys(known)) if name else []
    return f"nearest: {', '.join(near)}" if near else ""


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def _model_file(wanted: str) -> tuple[str, str]:
    """Name and absolute reference of ``[NAME=]path/to/file.py:make_model``."""
    name, separator, reference = wanted.partition("=")
    if not separator or "/" in name or ".py:" in name:
        name, reference = "", wanted
    file, _, function = reference.rpartition(":")
    path = Path(file).expanduser().resolve()
    if not path.is_file():
        raise UserError(f"there is no file {file!r}", remedy="write it as path/to/file.py:make_model")
    return name or f"{path.stem}:{function}", f"{path}:{function}"
