"""Selects models and benchmarks of a domain by name or pattern, and plans the pairs that are not scored yet."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.domain_names import FIRST, split_name
from brainscore_core.domains import Domain, domains, find
from brainscore_core.domains import domain as domain_named
from brainscore_core.errors import UserError, nearest
from brainscore_core.plugins.loading import is_file_reference

if TYPE_CHECKING:
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.runner.plan import Again, Plan

ALL = "all"


@dataclass(frozen=True)
class Selection:
    """Models and benchmarks to score, each model on each benchmark."""

    domain: str  # name of their domain
    # models and benchmarks: names in the results, in the order of the request
    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    # For models that are defined in a file: name → ``/path/to/file.py:make_model``
    files: dict[str, str] = field(default_factory=dict)


def select(models: Sequence[str], benchmarks: Sequence[str], domain: str | None = None) -> Selection:
    """Resolve names and patterns of models and benchmarks, which are of one domain.

    `models`: as for :func:`select_models`. `benchmarks`: as for :func:`select_benchmarks`. Both may begin with the name
    of their domain, as in ``language:smollm2-135m``. `domain`: by default that in which every name and pattern matches
    something; vision, if there are several. A UserError if a name or pattern matches nothing; the message lists the
    nearest names.
    """
    requests = [("model", *split_name(name)) for name in models] + [("benchmark", *split_name(n)) for n in benchmarks]
    stated = {prefix: name for _, prefix, name in requests if prefix} | ({domain: "--domain"} if domain else {})
    if len(stated) > 1:
        raise UserError(
            f"the names are of several domains: {', '.join(stated)}", remedy="score the models of each domain by itself"
        )

    def selected_in(chosen: Domain) -> Selection:
        names, files = select_models(chosen, [name for kind, _, name in requests if kind == "model"])
        selected = select_benchmarks(chosen, [name for kind, _, name in requests if kind == "benchmark"])
        return Selection(chosen.name, names, selected, files)

    if stated:
        return selected_in(domain_named(next(iter(stated))))
    for candidate in domains():
        with suppress(UserError):
            return selected_in(candidate)
    # none fits: the error is that of the domain of the last name
    names = [(kind, name) for kind, _, name in requests if not is_file_reference(name) and not _is_pattern(name)]
    return selected_in(domain_named(find(*names[-1]).domain if names else FIRST))


def select_models(domain: Domain, wanted: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Resolve names and patterns of models, and find the files of unregistered models. No plugin is imported.

    `wanted`: identifiers; patterns such as ``resnet*``, which match registered identifiers, including untrained twins
    (ignoring case); models of libraries, such as ``timm:resnet18.a1_in1k``, or patterns of their names, such as
    ``timm:resnet*``; ``path/to/file.py:make_model``, which is called ``file:make_model`` in the results, or
    ``name=path/to/file.py:make_model``. Result: names in the results, and name → absolute reference for models from
    files. A UserError if a name or pattern matches nothing, or two models would have the same name.

    Examples
    --------
    >>> select_models(domain_named("vision"), ["pixels", "gab*"])
    (('pixels', 'gabor'), {})
    """
    registry = domain.registries["model"]
    files: dict[str, str] = {}
    names: list[str] = []
    for request in wanted:
        if is_file_reference(request):
            name, reference = _model_file(request)
            if files.get(name, reference) != reference or name in registry:
                earlier = files.get(name, "a registered model")
                raise UserError(
                    f"{reference} and {earlier} would both be called {name!r} in the results",
                    remedy=f"give it another name: NAME={request.rpartition('=')[2]}",
                )
            files[name] = reference
            names.append(name)
        elif request not in registry and (resolver := registry.resolver_of(request)) and _is_pattern(request):
            names += resolver.matching(request)
        elif request not in registry and _is_pattern(request):
            names += _matching(request, registry, "model")
        else:
            registry.require(request)
            names.append(request)
    return tuple(dict.fromkeys(names)), files


def select_benchmarks(domain: Domain, wanted: Sequence[str]) -> tuple[str, ...]:
    """Resolve names and patterns of benchmarks. No plugin is imported.

    `wanted`: identifiers; patterns such as ``MajajHong2015public.*``, which match registered identifiers; composed
    names such as ``MajajHong2015public.IT:cka_cv``; ``all:NODE`` for the benchmarks below a node of the leaderboard's
    tree (``all:V1``, ``all:Geirhos2021``; ``neural``, ``behavior`` and ``engineering`` without ``_vision``); ``all``
    for the whole tree; ``all:simulated`` for the controls. Result: names without duplicates, in the order of the
    request. A UserError if a name, pattern or node matches nothing; the message lists the nearest names.

    Examples
    --------
    >>> vision = domain_named("vision")
    >>> select_benchmarks(vision, ["Simulated2026.V1-*", "all:Geirhos2021", "Simulated2026.IT:cka_cv"])[:3]
    ('Simulated2026.V1-pls', 'Simulated2026.V1-rdm', 'Geirhos2021colour-error_consistency')
    """
    registry = domain.registries["benchmark"]
    names: list[str] = []
    for request in wanted:
        if request in registry:
            names.append(request)
        elif request == ALL or request.startswith(f"{ALL}:"):
            names += _group(domain, request)
        elif _is_pattern(request):
            names += _matching(request, registry, "benchmark")
        else:
            registry.require(request)
            names.append(request)
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

    domain = domain_named(selection.domain)
    return make_plan(
        selection.models,
        selection.benchmarks,
        store,
        again=again,
        plugins=folder_finder(domain, selection.files),
        version_of=version_finder(domain),
        table=_measured_costs(domain),
        gpu=gpu,
    )


def folder_finder(domain: Domain, files: Mapping[str, str]) -> Callable[[str, str], Path | None]:
    """Make a function that finds the code of a model or benchmark; `files` as in :class:`Selection`."""

    def folder(kind: str, identifier: str) -> Path | None:
        if kind == "model" and identifier in files:
            return Path(files[identifier].rpartition(":")[0])
        return domain.folder(kind, identifier)

    return folder


def version_finder(domain: Domain) -> Callable[[str], int | str | None]:
    """Make a function that looks up a benchmark's version in the leaderboard's tree; None if unknown."""
    tree, registry = domain.tree(), domain.registries["benchmark"]

    def version(benchmark: str) -> int | str | None:
        resolver = registry.resolver_of(benchmark)
        keys = [benchmark] if resolver is None else resolver.bases(benchmark)
        versions = {tree[key].version if key in tree else None for key in keys}
        return versions.pop() if len(versions) == 1 else None

    return version


def _measured_costs(domain: Domain) -> dict[str, Any] | None:
    """Costs of pairs measured on another machine; None if the domain's package contains no table."""
    file = resources.files(domain.package).joinpath("scoring", "costs.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _group(domain: Domain, wanted: str) -> list[str]:
    """Benchmarks of ``all`` or ``all:NODE``."""
    tree, table, registry = domain.tree(), domain.table, domain.registries["benchmark"]
    if wanted == ALL:
        return [benchmark for benchmark in tree.benchmarks if benchmark in registry]
    name = wanted.partition(":")[2]
    node = name if name in table.controls else table.short_names.get(name, name)
    if node not in table.controls and (node not in tree or tree[node].benchmark):
        nodes = [*table.short_names, *table.controls, *(name for name in tree if not tree[name].benchmark)]
        raise UserError(
            f"{wanted!r}: the leaderboard has no node {name!r}",
            remedy=_nearest(name, nodes) or f"nodes: {', '.join(sorted(nodes))}",
        )
    if node in table.controls:
        folders = {key: registry.location(key).folder for key in registry}
        return [key for key, folder in folders.items() if folder is not None and folder.name == table.controls[node]]
    below = [name for name in tree.benchmarks if node in tree.ancestors(name) and name in registry]
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
