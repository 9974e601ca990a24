"""The publish step: publishes a revision in one transaction, with its rows and its scoring jobs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.submission import errors_among
from brainscore_web.accounts.models import owns
from brainscore_web.jobs.leases import Lease
from brainscore_web.leaderboard import revision as shown
from brainscore_web.leaderboard.catalogue import described_values, fill_in, placement, sync_means
from brainscore_web.leaderboard.clean import text
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

_MODEL_REGISTRY, _BENCHMARK_REGISTRY = "model_registry", "benchmark_registry"
_TABLES: Mapping[str, Any] = {_MODEL_REGISTRY: VisionModel, _BENCHMARK_REGISTRY: Benchmark}


@dataclass(frozen=True)
class _Described:
    """A plugin of a revision, read before the transaction."""

    kind: str
    name: str
    code: str  # the hash of its files
    keys: list[tuple[str, str]]  # registries and identifiers
    values: dict[tuple[str, str], dict[str, Any]]  # registry and identifier → attributes of the row
    facts: dict[str, tuple[str, str]]  # identifier → version and parent, as the source states them
    texts: set[str]  # all string constants in its source

    @property
    def licence(self) -> str:
        """The licence of its code, as the metadata of its models state it."""
        models = (values for (registry, _), values in self.values.items() if registry == _MODEL_REGISTRY)
        return text(", ".join(sorted({values["details"].get("code_licence", "") for values in models} - {""})), 200)


def _described(plugin: Mapping[str, Any], folder: Path, about: Any) -> _Described:
    """Read a plugin; `about`: identifier → what its code says of the model or benchmark, which may be hostile."""
    keys = [(entry["registry"], entry["key"]) for entry in plugin["registrations"]]
    entries = {key: entry for key, entry in about.items() if isinstance(entry, dict)} if isinstance(about, dict) else {}
    texts: set[str] = set()
    stated: list[tuple[str, str, str]] = []
    for tree in _trees(folder):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            elif isinstance(node, ast.Call):
                stated += _stated(node)
    facts = {name: (version, parent) for name, version, parent in stated if name}
    common = ({fact[1] for fact in stated}, {fact[2] for fact in stated})  # what all of them have
    version, parent = ("".join(values) if len(values) == 1 else "" for values in common)
    facts[""] = (version, parent)
    rows = {
        (registry, key): described_values(_TABLES[registry], entries.get(key, {}))
        for registry, key in keys
        if registry in _TABLES
    }
    return _Described(plugin["kind"], plugin["name"], plugin_hash(folder) or "", keys, rows, facts, texts)


def _trees(folder: Path) -> Iterator[ast.Module]:
    for file in sorted(folder.rglob("*.py")):
        if file.name != "test.py" and not file.name.startswith("test_"):
            with suppress(SyntaxError, ValueError, RecursionError):  # the test step has reported the problem
                yield ast.parse(file.read_bytes())


def _stated(call: ast.Call) -> Iterator[tuple[str, str, str]]:
    """Yield the identifier, version and parent of the benchmark that a call makes, if it makes one."""
    arguments = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if "identifier" in arguments and {"version", "parent"} & arguments.keys():
        version, parent = (_constant(arguments.get(name)) for name in ("version", "parent"))
        yield _constant(arguments["identifier"]), version, parent


def _constant(node: ast.expr | None) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)[:50]
    return value if isinstance(value, str) else ""


def _write_rows(revision: Revision, plugins: list[_Described], *, private_files: bool) -> None:
    """Publish a revision's plugins, with rows for its models and benchmarks."""
    submission, now = revision.submission, timezone.now()
    withheld = private_files or _names_private(set().union(*(plugin.texts for plugin in plugins)))
    _withhold_replaced(submission.domain, plugins)
    has_benchmarks = any(plugin.kind == PluginKind.BENCHMARKS for plugin in plugins)
    means = sync_means(submission.domain).ids if has_benchmarks else {}
    for plugin in plugins:
        same = {"domain": submission.domain, "kind": plugin.kind, "name": plugin.name}
        row = Plugin.objects.filter(**same).first() or Plugin(**same, owner=submission.owner, lab=submission.lab)
        if row.pk is not None and not owns(revision.by, row):
            raise UserError(f"{row} belongs to another owner", remedy="rename the folder")
        row.revision, row.code, row.published = revision, plugin.code, now
        row.identifiers = sorted({key for _registry, key in plugin.keys})
        row.save()
        if plugin.code:
            live = {"revision": revision, "published": now, "licence": plugin.licence, "withheld": False}
            PublishedVersion.objects.update_or_create(**same, code=plugin.code, defaults=live)
        for registry, key in plugin.keys:
            if registry == _MODEL_REGISTRY:
                _write_model(revision, plugin, key)
            elif registry == _BENCHMARK_REGISTRY:
                _write_benchmark(revision, plugin, key, means, withheld=withheld)


def _withhold_replaced(domain: str, plugins: list[_Described]) -> None:
    """Keep versions private that are replaced while private: publishing a model publishes its live version."""
    for plugin in plugins:
        same = {"domain": domain, "kind": plugin.kind, "name": plugin.name}
        live = Plugin.objects.filter(**same).exclude(code=plugin.code).values("code")
        replaced = PublishedVersion.objects.filter(**same, code__in=live)
        for version in replaced.select_related("revision").defer("revision__archive"):
            if not version.shows_models_to(AnonymousUser()):
                version.withheld = True
                version.save(update_fields=["withheld"])


def _write_model(revision: Revision, plugin: _Described, key: str) -> None:
    submission = revision.submission
    new = {name: getattr(submission, name) for name in ("domain", "owner", "lab", "visibility")}
    row = VisionModel.objects.filter(identifier=key).first() or VisionModel(identifier=key, **new)
    fill_in(row, {**plugin.values[_MODEL_REGISTRY, key], "plugin": plugin.name})
    row.plugin, row.runnable = plugin.name, True
    if submission.visibility == Visibility.PRIVATE:
        row.visibility = Visibility.PRIVATE
    row.save()


def _write_benchmark(
    revision: Revision, plugin: _Described, key: str, means: Mapping[str, int], *, withheld: bool
) -> None:
    owner = revision.submission.owner
    new = {name: getattr(revision.submission, name) for name in ("domain", "owner", "lab")}
    credit = owner.public_name[:500] if owner is not None else ""
    row = Benchmark.objects.filter(identifier=key).first() or Benchmark(
        identifier=key, access=Visibility.PUBLIC, credit=credit, **new
    )
    if row.is_mean:
        raise UserError(f"{key} is a mean of the leaderboard's tree", remedy="give the benchmark another identifier")
    version, parent = plugin.facts.get(key) or plugin.facts.get("") or ("", "")
    position = placement(row.domain, key, means, parent=parent, version=version)
    values = {**plugin.values[_BENCHMARK_REGISTRY, key], "plugin": plugin.name}
    if row.pk is None or parent:
        values |= {"parent_id": position.parent_id, "in_tree": position.in_tree}
    access = values.pop("access", None)
    fill_in(row, values)
    row.plugin = plugin.name
    if version:
        row.version = version[:50]  # scores of other versions no longer count
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


def publish(lease: Lease[Step]) -> Outcome | None:
    """Run the publish step."""
    revision = lease.row.revision
    results = dict(Step.objects.filter(revision=revision).values_list("kind", "result"))
    about, root = results[Step.Kind.TEST].get("about", {}), unpacked(revision)
    paths = [f"{plugin['kind']}/{plugin['name']}" for plugin in revision.plugins]
    plugins = [
        _described(plugin, root / path, about.get(path)) for plugin, path in zip(revision.plugins, paths, strict=True)
    ]
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
            _write_rows(revision, plugins, private_files=private)
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
    errors = errors_among(examine_submission(package_of(revision), owner=revision.by, submission=submission))
    if errors:
        reason = f"it can no longer be published: {errors[0].message}"
        raise StepFailed(reason, findings=[*revision.findings, *(error.as_dict() for error in errors)])
