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
from brainscore_vision import benchmark_registry, model_registry, registered_folder
from brainscore_vision.composed_names import base_keys, resolve_benchmark
from brainscore_vision.leaderboard import leaderboard_tree
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.unregistered_models import is_file_reference

if TYPE_CHECKING:
    from brainscore_core.results.aggregates import Tree
    from brainscore_core.runner.plan import Again, Plan
    from brainscore_core.scoring import ResultsStore

__all__ = ["Selection", "plan_selection", "regions_by_data", "select", "select_benchmarks", "select_models"]

ALL = "all"
SHORT_NAMES = {
    "average": "average_vision",
    "neural": "neural_vision",
    "behavior": "behavior_vision",
    "behaviour": "behavior_vision",
    "engineering": "engineering_vision",
}
"""Names of nodes of the leaderboard's tree that may be written shorter."""

CONTROLS = {"simulated": "simulated2026"}
"""Groups that are not on the leaderboard: name → folder of the plugin."""


@dataclass(frozen=True)
class Selection:
    """Models and benchmarks to score, each model on each benchmark.

    Attributes
    ----------
    models, benchmarks : tuple of str
        Names in the results, in the order in which they were asked for.
    files : dict
        Of models that stand in a file: name → ``/path/to/file.py:make_model``.
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)


def select(models: Sequence[str], benchmarks: Sequence[str], *, base: Path | None = None) -> Selection:
    """Resolve what people write.

    Parameters
    ----------
    models : sequence of str
        As for :func:`select_models`.
    benchmarks : sequence of str
        As for :func:`select_benchmarks`.
    base : Path, optional
        Folder that names of files are relative to; by default the current one.

    Returns
    -------
    Selection
        Each name once.

    Raises
    ------
    UserError
        If nothing fits a name, with the nearest ones.
    """
    names, files = select_models(models, base=base)
    return Selection(names, select_benchmarks(benchmarks), files)


def select_models(wanted: Sequence[str], *, base: Path | None = None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Names of models, and the files of those that are not registered. No plugin is imported.

    Parameters
    ----------
    wanted : sequence of str
        Identifiers; patterns such as ``resnet*``, which fit registered identifiers, the untrained twins among them
        (upper and lower case do not matter); ``path/to/file.py:make_model``, which is called ``file:make_model`` in
        the results, or ``name=path/to/file.py:make_model``.
    base : Path, optional
        Folder that names of files are relative to; by default the current one.

    Returns
    -------
    tuple of (tuple of str, dict)
        Names in the results, and of those in files the absolute references.

    Raises
    ------
    UserError
        If a name or pattern fits nothing, or two files would have one name.

    Examples
    --------
    >>> select_models(["pixels", "gab*"])
    (('pixels', 'gabor'), {})
    """
    files: dict[str, str] = {}
    found: list[str] = []
    for one in wanted:
        if is_file_reference(one):
            name, reference = _model_file(one, base or Path.cwd())
            if files.get(name, reference) != reference or name in model_registry:
                other = files.get(name, "a registered model")
                raise UserError(
                    f"{reference} and {other} would both be called {name!r} in the results",
                    remedy=f"give it another name: NAME={one.rpartition('=')[2]}",
                )
            files[name] = reference
            found.append(name)
        elif one in model_registry:
            found.append(one)
        elif _is_pattern(one):
            found += _matching(one, model_registry, "model")
        else:
            model_registry.location(one)  # says what is wrong, and the nearest names
    return tuple(dict.fromkeys(found)), files


def select_benchmarks(wanted: Sequence[str]) -> tuple[str, ...]:
    """Names of benchmarks. No plugin is imported.

    Parameters
    ----------
    wanted : sequence of str
        Identifiers; patterns such as ``MajajHong2015public.*``, which fit registered identifiers; composed names such
        as ``MajajHong2015public.IT:cka_cv``; ``all:NODE`` for what lies below a node of the leaderboard's tree
        (``all:V1``, ``all:Geirhos2021``; ``neural``, ``behavior`` and ``engineering`` need no ``_vision``); ``all``
        for the whole tree; ``all:simulated`` for the controls.

    Returns
    -------
    tuple of str
        Each once, in the order in which they were asked for.

    Raises
    ------
    UserError
        If a name, pattern or node fits nothing, with the nearest ones.

    Examples
    --------
    >>> select_benchmarks(["Simulated2026.V1-*", "all:Geirhos2021", "Simulated2026.IT:cka_cv"])[:3]
    ('Simulated2026.V1-pls', 'Simulated2026.V1-rdm', 'Geirhos2021colour-error_consistency')
    """
    found: list[str] = []
    for one in wanted:
        if one in benchmark_registry:
            found.append(one)
        elif one == ALL or one.startswith(f"{ALL}:"):
            found += _group(one)
        elif _is_pattern(one):
            found += _matching(one, benchmark_registry, "benchmark")
        elif ":" in one:
            found.append(resolve_benchmark(one))
        else:
            benchmark_registry.location(one)  # says what is wrong, and the nearest names
    return tuple(dict.fromkeys(found))


def plan_selection(
    selection: Selection,
    store: ResultsStore,
    *,
    again: Again = "failed",
    gpu: int | Mapping[str, int] = 0,
) -> Plan:
    """Find out what of a selection is missing, and what it will take.

    Parameters
    ----------
    selection : Selection
        What is asked for.
    store : ResultsStore
        What there is.
    again, gpu
        As for :func:`brainscore_core.runner.plan.make_plan`.

    Returns
    -------
    Plan
        What is missing.
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
    """Regions that are recorded from for several benchmarks on the same data, as far as names and the tree tell.

    Parameters
    ----------
    benchmarks : iterable of str
        Identifiers.

    Returns
    -------
    dict
        What a benchmark's name begins with → regions; only data of which several regions are recorded.

    Examples
    --------
    >>> regions_by_data(["Simulated2026.V1-pls", "Simulated2026.IT:cka", "MajajHong2015public.IT-pls"])
    {'Simulated2026': ['V1', 'IT']}
    """
    tree = leaderboard_tree()
    found: dict[str, set[str]] = {}
    for benchmark in benchmarks:
        names = {*re.split(r"[^A-Za-z0-9]+", benchmark), *(tree.ancestors(benchmark) if benchmark in tree else ())}
        found.setdefault(data_name(benchmark), set()).update(names)
    regions = {data: [str(one) for one in BrainModel.RecordingTarget if one in names] for data, names in found.items()}
    return {data: names for data, names in regions.items() if len(names) > 1}


def data_name(benchmark: str) -> str:
    """What a benchmark's name begins with, which is the name of its data."""
    return benchmark.partition(".")[0]


def folder_finder(files: Mapping[str, str]) -> Callable[[str, str], Path | None]:
    """Make the function that says where a model's or benchmark's code is; `files` as in :class:`Selection`."""

    def folder(kind: str, identifier: str) -> Path | None:
        if kind == "model" and identifier in files:
            return Path(files[identifier].rpartition(":")[0])
        return registered_folder(kind, identifier)

    return folder


def version_finder(tree: Tree) -> Callable[[str], int | str | None]:
    """Make the function that says a benchmark's version where the leaderboard's tree knows it."""

    def version(benchmark: str) -> int | str | None:
        composed = ":" in benchmark and benchmark not in benchmark_registry
        keys = base_keys(benchmark) if composed else [benchmark]
        versions = {tree[key].version if key in tree else None for key in keys}
        return versions.pop() if len(versions) == 1 else None

    return version


@lru_cache(maxsize=1)
def shipped_costs() -> dict[str, Any] | None:
    """What pairs took on another machine; None where no table came with the package."""
    file = resources.files("brainscore_vision").joinpath("costs.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _group(wanted: str) -> list[str]:
    """Benchmarks of ``all`` or ``all:NODE``."""
    tree = leaderboard_tree()
    node = wanted.partition(":")[2]
    if wanted == ALL:
        return [benchmark for benchmark in tree.benchmarks if benchmark in benchmark_registry]
    if node in CONTROLS:
        places = {key: benchmark_registry.location(key).folder for key in benchmark_registry}
        return [key for key, folder in places.items() if folder is not None and folder.name == CONTROLS[node]]
    node = SHORT_NAMES.get(node, node)
    if node not in tree or tree[node].benchmark:
        known = [*SHORT_NAMES, *CONTROLS, *(name for name in tree if not tree[name].benchmark)]
        raise UserError(
            f"{wanted!r}: the leaderboard has no node {node!r}",
            remedy=_nearest(node, known) or f"there are: {', '.join(sorted(known))}",
        )
    below = [name for name in tree.benchmarks if node in tree.ancestors(name) and name in benchmark_registry]
    if not below:
        raise UserError(f"{wanted!r}: no benchmark below {node!r} is registered", remedy="name another node")
    return below


def _matching(pattern: str, registry: Iterable[str], noun: str) -> list[str]:
    names = list(registry)
    found = [name for name in names if fnmatch.fnmatchcase(name.lower(), pattern.lower())]
    if not found:
        literal = pattern.translate(str.maketrans("", "", "*?[]"))
        raise UserError(
            f"no {noun} fits {pattern!r}",
            remedy=_nearest(literal, names) or f"list them with: brainscore list {noun}s",
        )
    return found


def _nearest(name: str, known: Iterable[str]) -> str:
    near = nearest(name, dict.fromkeys(known)) if name else []
    return f"nearest: {', '.join(near)}" if near else ""


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def _model_file(wanted: str, base: Path) -> tuple[str, str]:
    """Name and absolute reference of ``[NAME=]path/to/file.py:make_model``."""
    name, separator, reference = wanted.partition("=")
    if not separator or "/" in name or ".py:" in name:
        name, reference = "", wanted
    file, _, function = reference.rpartition(":")
    path = (base / Path(file).expanduser()).resolve()
    if not path.is_file():
        raise UserError(f"there is no file {file!r}", remedy="write it as path/to/file.py:make_model")
    return name or f"{path.stem}:{function}", f"{path}:{function}"
