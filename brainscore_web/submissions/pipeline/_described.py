"""What the site shows of submitted models and benchmarks: what they said in the cage, and what stands in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from brainscore_vision.plugin_metadata import bibtex_entries
from brainscore_web.leaderboard.clean import json_value, text
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel

__all__ = ["Facts", "facts_of", "of_benchmark", "of_model", "texts_in"]

_MODEL = {
    "architecture": str, "family": str, "parameters": int, "size_mb": float, "training_data": str, "runnable": bool,
    "source": str,
}  # fmt: skip
_MODEL_DETAILS = ("total_parameters", "image_size", "code_licence", "weights_licence", "notes")
_BENCHMARK = {
    ("title", "title"): str, ("description", "description"): str, ("data", "species"): str, ("data", "task"): str,
    ("data", "method"): str, ("data", "n_subjects"): int, ("data", "n_neuroids"): int, ("stimuli", "n"): int,
    ("stimuli", "kind"): str, ("metric", "name"): str, ("data", "source"): str,
}  # fmt: skip
_NAMES = {"n": "n_stimuli", "kind": "stimuli", "name": "metric"}
_BENCHMARK_DETAILS = {
    "data": ("kind", "hemisphere", "duration_ms", "preprocessing"),
    "stimuli": ("datatype", "visual_degrees", "size_mb"),
    "metric": ("mapping", "ceiling"),
}


class Facts(NamedTuple):
    """What a benchmark's source says of it."""

    version: str = ""
    parent: str = ""


def of_model(about: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Attributes of a model's row.

    Parameters
    ----------
    about : mapping
        What its plugin said, as ``brainscore_vision.catalogue`` has it; nothing in it is believed to be of its type.
    folder : pathlib.Path
        Of the plugin.
    """
    metadata = _part(about, "metadata")
    values = {name: _typed(metadata.get(name), cls) for name, cls in _MODEL.items()}
    values["regions"] = {
        str(region): [str(layer) for layer in layers]
        for region, layers in _part(about, "layers").items()
        if isinstance(layers, list)
    }
    values["details"] = _known({name: metadata.get(name) for name in _MODEL_DETAILS})
    values["bibtex"] = _bibtex(about, folder)
    return {name: _fitting(VisionModel, name, value) for name, value in values.items()}


def of_benchmark(about: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Attributes of a benchmark's row; parameters as for `of_model`."""
    metadata = _part(about, "metadata")
    values: dict[str, Any] = {}
    for (part, name), cls in _BENCHMARK.items():
        holder = metadata if part == name else _part(metadata, part)
        values[_NAMES.get(name, name)] = _typed(holder.get(name), cls)
    regions = _part(metadata, "data").get("regions")
    values["region"] = ", ".join(map(str, regions)) if isinstance(regions, list) else None
    if _part(metadata, "data").get("access") == Visibility.PRIVATE:
        values["access"] = str(Visibility.PRIVATE)
    values["details"] = _known(
        {name: _part(metadata, part).get(name) for part, names in _BENCHMARK_DETAILS.items() for name in names}
    )
    values["bibtex"] = _bibtex(about, folder)
    return {name: _fitting(Benchmark, name, value) for name, value in values.items()}


def facts_of(folder: Path) -> dict[str, Facts]:
    """Read versions and parents of benchmarks from the source of their plugin, without running it.

    Parameters
    ----------
    folder : pathlib.Path
        Of the plugin.

    Returns
    -------
    dict
        By identifier; under the empty one what holds for all whose identifier is made by code.
    """
    found: dict[str, Facts] = {}
    all_versions, all_parents = set(), set()
    for tree in _trees(folder):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            words = {word.arg: word.value for word in node.keywords if word.arg}
            if "identifier" not in words or not {"version", "parent"} & words.keys():
                continue
            facts = Facts(_constant(words.get("version")), _constant(words.get("parent")))
            all_versions.add(facts.version)
            all_parents.add(facts.parent)
            if name := _constant(words["identifier"]):
                found[name] = facts
    only = (one.pop() if len(one) == 1 else "" for one in (all_versions, all_parents))
    found[""] = Facts(*only)
    return found


def texts_in(folder: Path) -> set[str]:
    """All texts that stand in the source of a plugin."""
    return {
        node.value
        for tree in _trees(folder)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _trees(folder: Path) -> Iterator[ast.Module]:
    for file in sorted(folder.rglob("*.py")):
        if file.name == "test.py" or file.name.startswith("test_"):
            continue
        try:
            yield ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            continue  # the tests said what is wrong with it


def _constant(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and not isinstance(node.value, bool):
        return str(node.value)[:50] if isinstance(node.value, int) else node.value
    return ""


def _bibtex(about: Mapping[str, Any], folder: Path) -> str | None:
    said = about.get("bibtex")
    if isinstance(said, str) and said:
        return said
    found = bibtex_entries(folder)
    return found[0] if len(found) == 1 else None


def _part(mapping: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = mapping.get(name)
    return value if isinstance(value, dict) else {}


def _typed(value: Any, cls: type) -> Any:
    if cls is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, bool) and cls is not bool:
        return None
    return value if isinstance(value, cls) else None


def _fitting(model: type[VisionModel] | type[Benchmark], name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return json_value(value)
    limit = getattr(model._meta.get_field(name), "max_length", None)
    if name == "source" and (not value.startswith(("https://", "http://")) or (limit and len(value) > limit)):
        return None
    return text(value, limit)


def _known(details: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in details.items() if value not in (None, "", [])}
