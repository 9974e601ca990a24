"""``brainscore info``."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._options import domain_option, json_option, results_option
from brainscore.cli._output import echo, echo_json, echo_pairs
from brainscore_core.domain_names import FIRST, split_name
from brainscore_core.domains import KINDS, Domain, domain_of, domains, find
from brainscore_core.domains import domain as domain_named
from brainscore_core.errors import UnknownIdentifier, nearest
from brainscore_core.plugins.bibtex import bibtex_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
@domain_option
@json_option
def command(
    identifier: str,
    load: bool,
    ceiling: bool,
    attainable: bool,
    results: str | None,
    domain: str | None,
    json_: bool,
) -> None:
    """Show information about a model, benchmark, metric, data set or stimulus set.

    IDENTIFIER may also be a file and a function in it that returns a network or a model: path/to/file.py:make_model.
    It is loaded, and the layers that were found, the preprocessing and what is recorded of each layer are shown, as
    for a registered model with --load.

    For models and benchmarks, this includes the metadata of the plugin, and for benchmarks what their stored
    assessments say. Without --load, --ceiling and --attainable,
    nothing is loaded: neither weights nor data are read.
    """
    from brainscore_core.plugins.loading import is_file_reference

    wrapped = is_file_reference(identifier)
    entries = [_wrapped(identifier, domain_named(domain or FIRST))] if wrapped else _find(identifier, domain)
    for entry in entries:
        if entry["kind"] == "benchmarks" and domain_named(entry["domain"]).offers("assessment"):
            entry["assessments"] = _assessments(domain_named(entry["domain"]), entry["identifier"], results)
    if (load or ceiling or attainable) and not wrapped:
        for entry in entries:
            entry.update(_loaded(entry, ceiling=ceiling, attainable=attainable))
    if json_:
        echo_json(entries)
        return
    for number, entry in enumerate(entries):
        if number:
            echo()
        echo_pairs((name.replace("_", " "), _text(value)) for name, value in _rows(entry) if _has_content(value))


def _find(identifier: str, domain: str | None) -> list[dict[str, Any]]:
    """Describe what has a name, in all domains or in one."""
    prefix, name = split_name(identifier)
    searched = [each for each in domains() if each.name in (prefix or domain or each.name)]
    registered = [
        (each, kind, name)
        for each in searched
        for kind, singular in KINDS.items()
        if singular in each.registries and name in each.registries[singular]
    ]
    if registered:
        return [_describe(*item) for item in registered]
    for each, (kind, singular) in product(searched, KINDS.items()):
        registry = each.registries.get(singular)
        resolver = registry.resolver_of(name) if registry is not None else None
        if resolver is not None:
            resolver.require(name)
            base = next(iter(resolver.bases(name)), None)
            if base is not None:
                return [{**_describe(each, kind, base), "identifier": name, "recordings_of": base}]
            return [{"identifier": name, "kind": kind, **resolver.describe(name)}]
    try:
        owner = domain_named(find("benchmark", name, among=[each.name for each in searched]).domain)
        return [_describe(owner, "benchmarks", owner.registries["benchmark"].resolve(name))]
    except UnknownIdentifier:
        near = nearest(name, {key for each in searched for registry in each.registries.values() for key in registry})
        hint = f" Nearest: {', '.join(near)}." if near else ""
        kinds = ", ".join(KINDS)
        raise UnknownIdentifier(
            f"Nothing is registered as {identifier!r}.{hint}",
            f"List identifiers with: brainscore list KIND (KIND is one of {kinds})",
        ) from None


def _wrapped(reference: str, domain: Domain) -> dict[str, Any]:
    """A model from a file: its layers, and what was chosen automatically."""
    model = domain.feature("unregistered model")(reference)
    return {
        "identifier": model.identifier,
        "kind": "models",
        "file": str(model.source),
        "class": _class(model.model),
        **_details(domain, model.model, registered=False),
        "remarks": list(model.remarks),
    }


def _details(domain: Domain, model: Any, *, registered: bool) -> dict[str, Any]:
    """Properties of a loaded model that only models of its domain have."""
    if not domain.offers("model details"):
        return {}
    details: dict[str, Any] = domain.feature("model details")(model, registered=registered)
    return details


def _describe(domain: Domain, kind: str, identifier: str) -> dict[str, Any]:
    locations: list[Location] = domain.registries[KINDS[kind]].locations(identifier)
    location = locations[0]
    folder = location.folder
    entry = {
        "identifier": identifier,
        "kind": kind,
        "domain": domain.name,
        "package": location.package,
        "source": location.source,
        "file": str(location),
        "also_in": [str(further) for further in locations[1:]],
        "about": _docstring(Path(location.file)),
        "readme": _existing(folder, "README.md"),
        "requirements": _existing(folder, "requirements.txt"),
        "bibtex": bibtex_entries(folder) if folder is not None else [],
    }
    return entry | _catalogued(domain, kind, identifier)


def _catalogued(domain: Domain, kind: str, identifier: str) -> dict[str, Any]:
    """Metadata of a model or a benchmark from its plugin."""
    if kind not in ("models", "benchmarks"):
        return {}
    if not domain.offers("catalogue"):
        listed = domain.table.listed(identifier) if kind == "benchmarks" else None
        return {} if listed is None else listed._asdict()
    listing = domain.feature("catalogue")(**{"models": [], "benchmarks": [], kind: [identifier]})
    (values,) = (entry.as_dict() for entry in getattr(listing, kind))
    problems = [problem.message for problem in listing.problems if problem.kind == kind]
    metadata = values["metadata"] or {}
    metadata.pop("bibtex", None)
    described = {"metadata": metadata or None, "problems": problems}
    if kind == "models" and domain.offers("training data"):
        described["training"] = domain.feature("training data")(identifier)._asdict()
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


def _assessments(domain: Domain, benchmark: str, results: str | None) -> list[dict[str, Any]] | None:
    """Stored assessments of a benchmark, the newest of each part and set of models; None if they cannot be read."""
    from brainscore_core.errors import UserError
    from brainscore_core.receipts.assessment import PARTS
    from brainscore_core.results.assessments import AssessmentStore
    from brainscore_core.results.validity import summary_of

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
            "changed": list(domain.feature("assessment").changed_plugins(assessment)),
        }
        for assessment in sorted(
            (assessment for assessment in newest if assessment.part in PARTS),
            key=lambda assessment: (PARTS.index(assessment.part), assessment.id or ""),
        )
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


def _loaded(entry: Mapping[str, Any], *, ceiling: bool, attainable: bool) -> dict[str, Any]:
    kind, identifier = entry["kind"], entry["identifier"]
    domain = domain_of(KINDS[kind], identifier) if "domain" not in entry else domain_named(entry["domain"])
    if kind == "metrics":
        return {"signature": _signature(domain.registries["metric"][identifier])}
    loaded = domain.load(KINDS[kind], identifier)
    about: dict[str, Any] = {"class": _class(loaded)}
    if kind == "models":
        return about | _details(domain, loaded, registered=identifier in domain.registries["model"])
    if kind == "data":
        return about | {"sizes": dict(loaded.sizes), "coordinates": sorted(map(str, loaded.coords))}
    if kind == "stimulus-sets":
        return about | {"stimuli": len(loaded), "columns": [str(name) for name in loaded.columns]}
    about |= {
        "own_identifier": loaded.identifier,
        "version": loaded.version,
        "parent": loaded.parent,
        "bibtex": [_dedent(loaded.bibtex)] if loaded.bibtex else [],
    }
    if ceiling or attainable:
        value = loaded.ceiling
        about["ceiling"] = value
        about["ceiling_error"] = getattr(value, "attrs", {}).get("error")
    if attainable:
        about.update(_attainable(domain, loaded))
    return about


def _attainable(domain: Domain, benchmark: Any) -> dict[str, Any]:
    from brainscore_core.metrics import Uncertainty

    attainable = domain.feature("attainable scores")(benchmark).attrs["attainable"]
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
