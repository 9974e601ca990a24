"""``brainscore info``."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._options import json_option, results_option
from brainscore.cli._output import echo, echo_json, echo_pairs
from brainscore.cli.list import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brainscore_core.plugins import Location

_NAMES = {
    "source": "origin",
    "size_mb": "size (MB)",
    "image_size": "image size (pixels)",
    "fine_tuned_from": "fine-tuned from",
}
"""Titles of fields whose names need an explanation."""


@click.command("info")
@click.argument("identifier")
@click.option("--load", is_flag=True, help="Load it, and show its own properties (version, parent, ...).")
@click.option("--ceiling", is_flag=True, help="Also compute a benchmark's ceiling. This needs its data.")
@click.option(
    "--attainable",
    is_flag=True,
    help="Also simulate what a perfect model would reach on a benchmark, after its ceiling. This takes minutes.",
)
@results_option
@json_option
def command(identifier: str, load: bool, ceiling: bool, attainable: bool, results: str | None, json_: bool) -> None:
    """Show information about a model, benchmark, metric, data set or stimulus set.

    IDENTIFIER may also be a file and a function in it that returns a network or a model: path/to/file.py:make_model.
    It is loaded, and the layers that were found, the preprocessing and what is recorded of each layer are shown, as
    for a registered model with --load.

    For models and benchmarks, this includes the metadata of the plugin, and for benchmarks what their stored
    assessments say. Without --load, --ceiling and --attainable,
    nothing is loaded: neither weights nor data are read.
    """
    from brainscore_vision.model_sources.unregistered import is_file_reference

    entries = [_wrapped(identifier)] if is_file_reference(identifier) else _find(identifier)
    for entry in entries:
        if entry["kind"] == "benchmarks":
            entry["assessments"] = _assessments(entry["identifier"], results)
    if (load or ceiling or attainable) and not is_file_reference(identifier):
        for entry in entries:
            entry.update(_loaded(entry["kind"], entry["identifier"], ceiling=ceiling, attainable=attainable))
    if json_:
        echo_json(entries)
        return
    for number, entry in enumerate(entries):
        if number:
            echo()
        echo_pairs((name.replace("_", " "), _text(value)) for name, value in _rows(entry) if _has_content(value))


def _find(identifier: str) -> list[dict[str, Any]]:
    import brainscore_vision
    from brainscore_core.errors import UnknownIdentifier, nearest
    from brainscore_vision.model_sources.libraries import is_from_library

    registries = {kind: getattr(brainscore_vision, name) for kind, name in KINDS.items()}
    entries = [_describe(kind, identifier, registry) for kind, registry in registries.items() if identifier in registry]
    if entries:
        return entries
    benchmarks = registries["benchmarks"]
    if is_from_library(identifier):
        return [_describe_library_model(identifier)]
    if ":" in identifier:
        from brainscore_vision.composition import base_keys

        base = base_keys(identifier)[0]
        return [{**_describe("benchmarks", base, benchmarks), "identifier": identifier, "recordings_of": base}]
    try:
        return [_describe("benchmarks", benchmarks.resolve(identifier), benchmarks)]
    except UnknownIdentifier:
        near = nearest(identifier, {key for registry in registries.values() for key in registry})
        hint = f" Nearest: {', '.join(near)}." if near else ""
        kinds = ", ".join(KINDS)
        raise UnknownIdentifier(
            f"Nothing is registered as {identifier!r}.{hint}",
            f"List identifiers with: brainscore list KIND (KIND is one of {kinds})",
        ) from None


def _describe_library_model(identifier: str) -> dict[str, Any]:
    from importlib.metadata import version

    from brainscore_vision.model_sources.libraries import LIBRARIES, parse_library_model, require_library_model

    require_library_model(identifier)
    model = parse_library_model(identifier)
    distribution = LIBRARIES[model.library].distribution
    return {
        "identifier": identifier,
        "kind": "models",
        "library": f"{distribution} {version(distribution)}",
        "name": model.name,
        "weights": model.weights if model.seed is None else f"as initialised, seed {model.seed}",
    }


def _wrapped(reference: str) -> dict[str, Any]:
    """A model from a file: its layers, and what was chosen automatically."""
    from brainscore_vision.model_sources.unregistered import load_unregistered_model

    model = load_unregistered_model(reference)
    return {
        "identifier": model.identifier,
        "kind": "models",
        "file": str(model.source),
        "class": _class(model.model),
        "visual_degrees": model.model.visual_degrees(),
        "regions": dict(getattr(model.model, "region_layer_map", {})) or "a layer is selected for each",
        "layers": list(getattr(model.model, "layers", [])),
        "remarks": list(model.remarks),
        **_network(model.model),
    }


def _network(model: Any) -> dict[str, Any]:
    """What the network of a model gets, and what is recorded of its layers."""
    from brainscore_vision.model_helpers.activations.preprocessing import describe_preprocessing

    network: Any = getattr(model, "activations_model", None)
    described: dict[str, Any] = {}
    if hasattr(network, "preprocessing"):
        described["preprocessing"] = describe_preprocessing(network.preprocessing)
    if hasattr(network, "describe_layers"):
        described["recorded"] = network.describe_layers(list(getattr(model, "layers", [])))
    return described


def _describe(kind: str, identifier: str, registry: Any) -> dict[str, Any]:
    from brainscore_core.plugins.bibtex import bibtex_entries

    locations: list[Location] = registry.locations(identifier)
    location = locations[0]
    folder = location.folder
    entry = {
        "identifier": identifier,
        "kind": kind,
        "package": location.package,
        "source": location.source,
        "file": str(location),
        "also_in": [str(further) for further in locations[1:]],
        "about": _docstring(Path(location.file)),
        "readme": _existing(folder, "README.md"),
        "requirements": _existing(folder, "requirements.txt"),
        "bibtex": bibtex_entries(folder) if folder is not None else [],
    }
    return entry | _catalogued(kind, identifier)


def _catalogued(kind: str, identifier: str) -> dict[str, Any]:
    """Metadata of a model or a benchmark from its plugin."""
    from brainscore_vision.catalogue.contents import catalogue

    if kind not in ("models", "benchmarks"):
        return {}
    listing = catalogue(**{"models": [], "benchmarks": [], kind: [identifier]})
    (values,) = (entry.as_dict() for entry in getattr(listing, kind))
    problems = [problem.message for problem in listing.problems if problem.kind == kind]
    metadata = values["metadata"] or {}
    metadata.pop("bibtex", None)
    described = {"metadata": metadata or None, "problems": problems}
    if kind == "models":
        from brainscore_vision.catalogue.contents import training_of

        described["training"] = training_of(identifier)._asdict()
    if values["bibtex"] is not None:
        described["bibtex"] = [_dedent(values["bibtex"])]
    names = ("layers",) if kind == "models" else ("version", "parent", "control")
    return described | {name: values[name] for name in names}


def _rows(entry: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is printed, the metadata line by line, the citations at the end."""
    for name, value in entry.items():
        if name == "metadata":
            yield from (_row(*field) for field in (value or {}).items() if field[0] != "trained_on")
        elif name in ("remarks", "recorded"):
            yield name, _lines(value)
        elif name == "training":
            yield "trained on", _trained_on(value)
        elif name == "assessments":
            yield "validity", None if value is None else _validity(entry["identifier"], value)
        elif name != "bibtex":
            yield name, value
    yield "bibtex", entry.get("bibtex")


def _trained_on(training: dict[str, Any]) -> str:
    """Data sets of a model and of those that it was fine-tuned from."""
    names = list(training["names"]) if training["names"] or not training["complete"] else ["nothing"]
    return _lines([*names, *([] if training["complete"] else ["not stated" if not names else "and more, not stated"])])


def _assessments(benchmark: str, results: str | None) -> list[dict[str, Any]] | None:
    """Stored assessments of a benchmark, the newest of each part and set of models; None if they cannot be read."""
    from brainscore_core.errors import UserError
    from brainscore_core.receipts.assessment import PARTS
    from brainscore_core.results.assessments import AssessmentStore
    from brainscore_core.results.validity import summary_of
    from brainscore_vision.assessment.tasks import changed_plugins

    try:
        newest, problems = AssessmentStore(results).newest(benchmark)
    except UserError as error:
        echo(f"Warning: assessments cannot be read: {error.message}", err=True)
        return None
    for problem in problems:
        echo(f"Warning: an assessment cannot be read: {problem}", err=True)
    return [
        {
            "part": assessment.part,
            "models": [model.identifier for model in assessment.models],
            "version": assessment.benchmark.version,
            "created": assessment.created,
            "id": assessment.id,
            "state": assessment.state,
            "summary": summary_of(assessment).sentence,
            "changed": list(changed_plugins(assessment)),
        }
        for assessment in sorted(newest, key=lambda assessment: (PARTS.index(assessment.part), assessment.id or ""))
    ]


def _validity(benchmark: str, assessments: list[dict[str, Any]]) -> str:
    """One line for each stored assessment, or the command that computes one."""
    if not assessments:
        return f"not assessed: brainscore assess {benchmark}"
    lines = []
    for assessment in assessments:
        about = [assessment["created"][:10]]
        about += [] if assessment["version"] is None else [f"version {assessment['version']}"]
        about += ["code changed since"] if assessment["changed"] else []
        lines.append(f"{assessment['part']} ({', '.join(about)}): {assessment['summary']}")
    return _lines(lines)


def _row(name: str, value: Any) -> tuple[str, Any]:
    if isinstance(value, dict):  # one of the parts of a benchmark's metadata
        return name, _lines(
            f"{key.replace('_', ' ')}: {_plainly(content)}" for key, content in value.items() if _has_content(content)
        )
    return _NAMES.get(name, name), _plainly(value)


def _plainly(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return _lines(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)


def _has_content(value: Any) -> bool:
    if isinstance(value, str | list | dict):
        return bool(value)
    return value is not None and value is not False


def _existing(folder: Path | None, name: str) -> str | None:
    return str(folder / name) if folder is not None and (folder / name).is_file() else None


def _docstring(file: Path) -> str | None:
    try:
        return ast.get_docstring(ast.parse(file.read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return None  # registered in a notebook: no file to read


def _dedent(text: str) -> str:
    import inspect

    return inspect.cleandoc(text)


def _loaded(kind: str, identifier: str, *, ceiling: bool, attainable: bool) -> dict[str, Any]:
    import brainscore_vision
    from brainscore_vision.model_sources.libraries import is_from_library

    if kind == "metrics":
        return {"signature": _signature(brainscore_vision.metric_registry[identifier])}
    if kind == "models":
        model = brainscore_vision.load_model(identifier)
        about: dict[str, Any] = {"class": _class(model), "visual_degrees": model.visual_degrees()}
        if is_from_library(identifier):
            about["regions"] = dict(getattr(model, "region_layer_map", {})) or "a layer is selected for each"
            about |= {"layers": list(getattr(model, "layers", [])), "remarks": list(getattr(model, "remarks", []))}
        return about | _network(model)
    if kind == "data":
        assembly = brainscore_vision.load_dataset(identifier)
        return {
            "class": _class(assembly),
            "sizes": dict(assembly.sizes),
            "coordinates": sorted(map(str, assembly.coords)),
        }
    if kind == "stimulus-sets":
        stimuli = brainscore_vision.load_stimulus_set(identifier)
        return {"class": _class(stimuli), "stimuli": len(stimuli), "columns": [str(name) for name in stimuli.columns]}
    benchmark = brainscore_vision.load_benchmark(identifier)
    about = {
        "class": _class(benchmark),
        "own_identifier": benchmark.identifier,
        "version": benchmark.version,
        "parent": benchmark.parent,
        "bibtex": [_dedent(benchmark.bibtex)] if benchmark.bibtex else [],
    }
    if ceiling or attainable:
        value = benchmark.ceiling
        about["ceiling"] = value
        about["ceiling_error"] = getattr(value, "attrs", {}).get("error")
    if attainable:
        about.update(_attainable(benchmark))
    return about


def _attainable(benchmark: Any) -> dict[str, Any]:
    from brainscore_core.metrics import Uncertainty
    from brainscore_vision.assessment.attainable import attach_attainable

    attainable = attach_attainable(benchmark).attrs["attainable"]
    uncertainty = Uncertainty.of(attainable)
    if uncertainty.ci_reason is not None:
        return {"attainable": None, "attainable_reason": uncertainty.ci_reason}
    return {"attainable": float(attainable), "attainable_ci": uncertainty.ci}


def _class(instance: Any) -> str:
    return f"{type(instance).__module__}.{type(instance).__qualname__}"


def _signature(factory: Any) -> str | None:
    import inspect

    try:
        return str(inspect.signature(factory))
    except (TypeError, ValueError):
        return None  # written in C


def _text(value: Any) -> str:
    from brainscore.cli._output import as_json

    plain = as_json(value)
    if isinstance(plain, dict):
        return ", ".join(
            f"{name} {' + '.join(map(str, item)) if isinstance(item, list) else item}" for name, item in plain.items()
        )
    if isinstance(plain, list):
        long = any("\n" in str(item) for item in plain)
        return ("\n\n" if long else ", ").join(str(item) for item in plain)
    return str(plain)
