"""The publish step: publishes a revision in one transaction, with its rows and its scoring jobs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.plugins.bibtex import bibtex_entries
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.submission import Finding
from brainscore_web.accounts.models import owns
from brainscore_web.jobs.leases import Lease
from brainscore_web.leaderboard import revision as shown
from brainscore_web.leaderboard.catalogue import fill_in, placement, sync_means
from brainscore_web.leaderboard.clean import json_value, text
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Visibility, VisionModel, chunks
from brainscore_web.leaderboard.revision import exclusive_write
from brainscore_web.submissions.declared_files import package_of
from brainscore_web.submissions.models import Plugin, PluginKind, PublishedVersion, Revision, Step, Submission
from brainscore_web.submissions.pipeline.assessing import publish_assessments
from brainscore_web.submissions.pipeline.checking import examine_submission
from brainscore_web.submissions.pipeline.transitions import (
    Event,
    apply_change,
    change_after,
    lock_submission,
    scoring_ended,
)
from brainscore_web.submissions.plugin_folders import folder_with, unpacked
from brainscore_web.submissions.status import published
from brainscore_web.submissions.steps import Outcome, StepFailed
from brainscore_web.uploads.models import Upload

_MODEL_FIELDS = {
    "architecture": str, "family": str, "parameters": int, "size_mb": float, "training_data": str, "runnable": bool,
    "fine_tuned_from": str, "source": str,
}  # fmt: skip
_MODEL_DETAILS = ("total_parameters", "image_size", "code_licence", "weights_licence", "notes")
_BENCHMARK_FIELDS = {
    ("title", "title"): str, ("description", "description"): str, ("data", "species"): str, ("data", "task"): str,
    ("data", "method"): str, ("data", "n_subjects"): int, ("data", "n_neuroids"): int, ("stimuli", "n"): int,
    ("stimuli", "kind"): str, ("metric", "name"): str, ("data", "source"): str,
}  # fmt: skip
_MOST_NAMES = 100  # of data sets
_NAMES = {"n": "n_stimuli", "kind": "stimuli", "name": "metric"}
_BENCHMARK_DETAILS = {
    "data": ("kind", "hemisphere", "duration_ms", "preprocessing"),
    "stimuli": ("datatype", "visual_degrees", "size_mb"),
    "metric": ("mapping", "ceiling"),
}


class BenchmarkFacts(NamedTuple):
    """Version and parent of a benchmark, as its source states them."""

    version: str = ""
    parent: str = ""


def model_attributes(about: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the attributes of a model's row."""
    metadata = _part(about, "metadata")
    values = {name: _typed(metadata.get(name), cls) for name, cls in _MODEL_FIELDS.items()}
    values["trained_on"] = _names_in(metadata.get("trained_on"))
    values["regions"] = {
        str(region): [str(layer) for layer in layers]
        for region, layers in _part(about, "layers").items()
        if isinstance(layers, list)
    }
    values["details"] = _known({name: metadata.get(name) for name in _MODEL_DETAILS})
    values["bibtex"] = _bibtex(about, folder)
    return {name: _fitting(VisionModel, name, value) for name, value in values.items()}


def benchmark_attributes(about: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the attributes of a benchmark's row; parameters as for `model_attributes`."""
    metadata = _part(about, "metadata")
    values: dict[str, Any] = {}
    for (part, name), cls in _BENCHMARK_FIELDS.items():
        holder = metadata if part == name else _part(metadata, part)
        values[_NAMES.get(name, name)] = _typed(holder.get(name), cls)
    values["taken_from"] = _names_in(_part(metadata, "stimuli").get("taken_from"))
    regions = _part(metadata, "data").get("regions")
    values["region"] = ", ".join(map(str, regions)) if isinstance(regions, list) else None
    if _part(metadata, "data").get("access") == Visibility.PRIVATE:
        values["access"] = str(Visibility.PRIVATE)
    values["details"] = _known(
        {name: _part(metadata, part).get(name) for part, names in _BENCHMARK_DETAILS.items() for name in names}
    )
    values["bibtex"] = _bibtex(about, folder)
    return {name: _fitting(Benchmark, name, value) for name, value in values.items()}


def benchmark_facts(folder: Path) -> dict[str, BenchmarkFacts]:
    """Read versions and parents of benchmarks from the source of their plugin, without running it."""
    facts_by_name: dict[str, BenchmarkFacts] = {}
    all_versions, all_parents = set(), set()
    for tree in _trees(folder):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            arguments = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            if "identifier" not in arguments or not {"version", "parent"} & arguments.keys():
                continue
            facts = BenchmarkFacts(_constant(arguments.get("version")), _constant(arguments.get("parent")))
            all_versions.add(facts.version)
            all_parents.add(facts.parent)
            if name := _constant(arguments["identifier"]):
                facts_by_name[name] = facts
    common = (values.pop() if len(values) == 1 else "" for values in (all_versions, all_parents))
    facts_by_name[""] = BenchmarkFacts(*common)
    return facts_by_name


def source_strings(folder: Path) -> set[str]:
    """Return all string constants in the source of a plugin."""
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
            continue  # the test step has reported the problem


def _constant(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and not isinstance(node.value, bool):
        return str(node.value)[:50] if isinstance(node.value, int) else node.value
    return ""


def _bibtex(about: Mapping[str, Any], folder: Path) -> str | None:
    bibtex = about.get("bibtex")
    if isinstance(bibtex, str) and bibtex:
        return bibtex
    entries = bibtex_entries(folder)
    return entries[0] if len(entries) == 1 else None


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


def _names_in(value: Any) -> list[str] | None:
    """Return a list of at most 100 names; None for anything else, which counts as not stated."""
    is_list = isinstance(value, list) and len(value) <= _MOST_NAMES and all(isinstance(name, str) for name in value)
    return [text(name, 200) for name in value] if is_list else None


def _known(details: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in details.items() if value not in (None, "", [])}


_MODEL_REGISTRY, _BENCHMARK_REGISTRY = "model_registry", "benchmark_registry"


class DescribedPlugin:
    """A plugin's metadata, read before the transaction.

    Attributes
    ----------
    kind, name : str
        Kind and name of the plugin.
    code : str
        The hash of its files.
    keys : list of (str, str)
        Registries and identifiers.
    values : dict
        Registry and identifier → attributes of the row.
    licence : str
        The licence of its code, as the metadata of its models state it.
    facts : dict
        Identifier → version and parent.
    texts : set of str
        All string constants in its source.
    """

    def __init__(self, plugin: Mapping[str, Any], folder: Path, about: Mapping[str, Any]) -> None:
        self.kind, self.name = plugin["kind"], plugin["name"]
        self.code = plugin_hash(folder) or ""
        self.keys = [(entry["registry"], entry["key"]) for entry in plugin["registrations"]]
        readers = {_MODEL_REGISTRY: model_attributes, _BENCHMARK_REGISTRY: benchmark_attributes}
        self.values = {
            (registry, key): readers[registry](_dictionary(about.get(key)), folder)
            for registry, key in self.keys
            if registry in readers
        }
        stated = {
            str(values.get("details", {}).get("code_licence") or "")
            for (registry, _), values in self.values.items()
            if registry == _MODEL_REGISTRY
        }
        self.licence = text(", ".join(sorted(stated - {""})), 200)
        self.facts = benchmark_facts(folder) if self.kind == PluginKind.BENCHMARKS else {}
        self.texts = source_strings(folder)


def describe_plugins(revision: Revision, root: Path, metadata: Mapping[str, Any]) -> list[DescribedPlugin]:
    """Read the plugins of a revision."""
    described = []
    for plugin in revision.plugins:
        path = f"{plugin['kind']}/{plugin['name']}"
        described.append(DescribedPlugin(plugin, root / path, _dictionary(metadata.get(path))))
    return described


def write_rows(revision: Revision, plugins: list[DescribedPlugin], *, private_files: bool) -> None:
    """Publish a revision's plugins, with rows for its models and benchmarks."""
    owner, domain, now = revision.submission.owner, revision.submission.domain, timezone.now()
    withheld = private_files or _names_private(set().union(*(plugin.texts for plugin in plugins)))
    _withhold_replaced(domain, plugins)
    means = sync_means(domain).ids if any(plugin.kind == PluginKind.BENCHMARKS for plugin in plugins) else {}
    for plugin in plugins:
        identifiers = sorted({key for _registry, key in plugin.keys})
        values = {"revision": revision, "identifiers": identifiers, "code": plugin.code, "published": now}
        owners = {"owner": owner, "lab": revision.submission.lab}
        row, new = Plugin.objects.get_or_create(
            domain=domain, kind=plugin.kind, name=plugin.name, defaults={**values, **owners}
        )  # fmt: skip
        if not new:
            if not owns(revision.by, row):
                raise UserError(f"{row} belongs to another owner", remedy="rename the folder")
            for name, value in values.items():
                setattr(row, name, value)
            row.save()
        if plugin.code:
            PublishedVersion.objects.update_or_create(
                domain=domain, kind=plugin.kind, name=plugin.name, code=plugin.code,
                defaults={"revision": revision, "published": now, "licence": plugin.licence, "withheld": False},
            )  # fmt: skip
        for registry, key in plugin.keys:
            if registry == _MODEL_REGISTRY:
                _write_model(revision, plugin, key)
            elif registry == _BENCHMARK_REGISTRY:
                _write_benchmark(revision, plugin, key, means, withheld=withheld)


def _withhold_replaced(domain: str, plugins: list[DescribedPlugin]) -> None:
    """Keep versions private that are replaced while private: publishing a model publishes its live version."""
    for plugin in plugins:
        same = {"domain": domain, "kind": plugin.kind, "name": plugin.name}
        live = Plugin.objects.filter(**same).exclude(code=plugin.code).values("code")
        replaced = PublishedVersion.objects.filter(**same, code__in=live)
        for version in replaced.select_related("revision").defer("revision__archive"):
            if not version.shows_models_to(AnonymousUser()):
                version.withheld = True
                version.save(update_fields=["withheld"])


def _write_model(revision: Revision, plugin: DescribedPlugin, key: str) -> None:
    submission = revision.submission
    row = VisionModel.objects.filter(identifier=key).first() or VisionModel(
        identifier=key,
        domain=submission.domain,
        owner=submission.owner,
        lab=submission.lab,
        visibility=submission.visibility,
    )
    fill_in(row, {**plugin.values[_MODEL_REGISTRY, key], "plugin": plugin.name})
    row.plugin, row.runnable = plugin.name, True
    if submission.visibility == Visibility.PRIVATE:
        row.visibility = Visibility.PRIVATE
    row.save()


def _write_benchmark(
    revision: Revision, plugin: DescribedPlugin, key: str, means: Mapping[str, int], *, withheld: bool
) -> None:
    owner = revision.submission.owner
    row = Benchmark.objects.filter(identifier=key).first()
    if row is None:
        row = Benchmark(identifier=key, domain=revision.submission.domain, owner=owner, access=Visibility.PUBLIC)
        row.lab = revision.submission.lab
        row.credit = owner.public_name[:500] if owner is not None else ""
    elif row.is_mean:
        raise UserError(f"{key} is a mean of the leaderboard's tree", remedy="give the benchmark another identifier")
    facts = plugin.facts.get(key) or plugin.facts.get("") or BenchmarkFacts()
    position = placement(row.domain, key, means, parent=facts.parent, version=facts.version)
    values = {**plugin.values[_BENCHMARK_REGISTRY, key], "plugin": plugin.name}
    if row.pk is None or facts.parent:
        values |= {"parent_id": position.parent_id, "in_tree": position.in_tree}
    access = values.pop("access", None)
    fill_in(row, values)
    row.plugin = plugin.name
    if facts.version:
        row.version = facts.version[:50]  # scores of other versions no longer count
    if withheld or access == Visibility.PRIVATE:
        row.access = Visibility.PRIVATE
    row.save()
    if row.version:
        BenchmarkVersion.objects.get_or_create(benchmark=row, version=row.version, defaults={"since": timezone.now()})


def _names_private(texts: set[str]) -> bool:
    """Whether one of the texts is the name of a private upload."""
    private = Upload.objects.filter(visibility=Visibility.PRIVATE, state=Upload.State.ACCEPTED)
    return any(
        private.filter(Q(identifier__in=some) | Q(assembly_identifier__in=some)).exists()
        for some in chunks(sorted(text for text in texts if 0 < len(text) <= 200))
    )


def _dictionary(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def publish(lease: Lease[Step]) -> Outcome | None:
    """Run the publish step."""
    revision = lease.row.revision
    results = dict(Step.objects.filter(revision=revision).values_list("kind", "result"))
    plugins = describe_plugins(revision, unpacked(revision), results[Step.Kind.TEST].get("about", {}))
    folder_with(revision)  # fails before publication if the disk is full
    private = any(file["private"] for file in results[Step.Kind.CHECK].get("files", ()))
    with exclusive_write():  # the same order of locks as ingestion
        submission = lock_submission(revision.submission_id)
        if not lease.rows().exists():
            return None
        steps = dict(Step.objects.filter(revision=revision).values_list("kind", "state"))
        change = change_after(Event.PASSED, submission.state, steps, kind="publish")
        if change is None:
            return None
        revision.submission = submission
        _require_names(revision, submission)
        try:
            write_rows(revision, plugins, private_files=private)
        except UserError as error:
            raise StepFailed(error.message, findings=[*revision.findings]) from error
        publish_assessments(revision)
        shown.bump()
        apply_change(revision, submission, change)
        published.send(Submission, submission=submission)
        Step.objects.filter(revision=revision, kind=Step.Kind.PUBLISH).update(reason="", internal="", result={})
        key = submission.pk
        transaction.on_commit(lambda: scoring_ended(key), robust=True)  # if no pairs were planned
    return None


def _require_names(revision: Revision, submission: Submission) -> None:
    """Check names again: another submission may have taken one since the check step."""
    package = package_of(revision)
    findings = examine_submission(package, owner=revision.by, submission=submission)
    errors = [one for one in findings if one.severity == "error"]
    if errors:
        raise StepFailed(_publication_error(errors), findings=[*revision.findings, *(one.as_dict() for one in errors)])


def _publication_error(errors: list[Finding]) -> str:
    return f"it can no longer be published: {errors[0].message}"
