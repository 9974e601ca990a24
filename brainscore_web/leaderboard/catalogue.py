"""Models, benchmarks and tree of the installed plugins on the site; values that people have edited are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from django.utils import timezone

from brainscore_core.domain_names import FIRST
from brainscore_core.domains import domain, domains
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.clean import check_identifier, json_value, text
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, VisionModel
from brainscore_web.leaderboard.revision import exclusive_write

if TYPE_CHECKING:
    from brainscore_core.results.tree import ListedBenchmark

Row = TypeVar("Row", VisionModel, Benchmark, BenchmarkVersion)
CatalogueRow = TypeVar("CatalogueRow", VisionModel, Benchmark)


@dataclass(frozen=True)
class CatalogueReport:
    """Result of a synchronisation."""

    # added, changed: identifiers of models, benchmarks and means of the tree
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()  # what could not be read or stored


@dataclass
class _Tally:
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def sync_catalogue(known: Any = None, *, domain: str = FIRST) -> CatalogueReport:
    """Create models and benchmarks of the installed plugins, or update them.

    Values that were edited on the site are kept, and so are visibility and owners. Models and benchmarks that are no
    longer installed are not changed. `known`: a catalogue of `domain`, instead of those of all domains.
    """
    if known is None:
        catalogues = {each.name: each.feature("catalogue")() for each in domains() if each.offers("catalogue")}
    else:
        catalogues = {domain: known}
    problems = [problem for catalogue in catalogues.values() for problem in catalogue.problems]
    tally = _Tally(problems=[f"{problem.plugin or 'plugins'}: {problem.message}" for problem in problems])
    with exclusive_write():
        for name, catalogue in catalogues.items():
            tree = sync_means(name)
            tally.added += tree.added
            tally.changed += tree.changed
            _models(name, catalogue.models, tally)
            _benchmarks(name, catalogue.benchmarks, tree.ids, tally)
        if tally.added or tally.changed:
            revision.bump()
    return CatalogueReport(tuple(tally.added), tuple(tally.changed), tuple(tally.problems))


def _models(domain: str, entries: Iterable[Any], tally: _Tally) -> None:
    rows = {row.identifier: row for row in VisionModel.objects.all()}
    new = []
    for entry in entries:
        row = _row(VisionModel, domain, entry.identifier, rows, tally)
        if row is not None and _changed(row, _model_values(entry), tally):
            new.append(row)
    VisionModel.objects.bulk_create(new)


def _benchmarks(domain: str, entries: Iterable[Any], means: Mapping[str, int], tally: _Tally) -> None:
    rows = {row.identifier: row for row in Benchmark.objects.all()}
    new, kept, stated = [], [], {}
    for entry in entries:
        row = _row(Benchmark, domain, entry.identifier, rows, tally)
        if row is None:
            continue
        if row.is_mean:
            tally.problems.append(f"{entry.identifier!r} is a mean of the tree, not a benchmark")
            continue
        kept.append(row)
        stated[entry.identifier] = entry.metadata
        values = _benchmark_values(entry)
        if row.pk is None or listed_benchmark(domain, entry.identifier) is not None:  # otherwise receipts say so
            values |= placement(domain, entry.identifier, means)._asdict()
        if _changed(row, values, tally):
            new.append(row)
    Benchmark.objects.bulk_create(new)
    _versions(kept, stated, tally)


def _versions(rows: Iterable[Benchmark], stated: Mapping[str, Any], tally: _Tally) -> None:
    """Create missing current versions, and add to all versions what their plugin states of them (`stated`)."""
    versions: dict[int, dict[str, BenchmarkVersion]] = {}
    for version in BenchmarkVersion.objects.only("benchmark", "version", "changes", "synced"):
        versions.setdefault(version.benchmark_id, {})[version.version] = version
    new = []
    for row in rows:
        known = versions.get(row.pk, {})
        if row.version and row.version not in known:
            known[row.version] = BenchmarkVersion(benchmark=row, version=row.version, since=timezone.now())
            new.append(known[row.version])
        metadata = stated[row.identifier]
        for version in known.values() if metadata is not None and metadata.changes else ():
            changed = fill_in(version, {"changes": metadata.change_in(version.version)})
            if changed and version.pk is not None:
                tally.changed.append(row.identifier)
                fields = {name: getattr(version, name) for name in changed}
                BenchmarkVersion.objects.filter(pk=version.pk).update(**fields)
    BenchmarkVersion.objects.bulk_create(new)


def _row(
    model: type[CatalogueRow], domain: str, identifier: str, rows: Mapping[str, CatalogueRow], tally: _Tally
) -> CatalogueRow | None:
    try:
        check_identifier(
            identifier, model._meta.verbose_name or "", model._meta.get_field("identifier").max_length or 0
        )
    except ValueError as error:
        tally.problems.append(str(error))
        return None
    row = rows.get(identifier) or model(identifier=identifier, domain=domain)
    if row.domain != domain:
        tally.problems.append(f"{identifier!r} is of the domain {row.domain} here, and registered in {domain}, too")
        return None
    return row


def _changed(row: CatalogueRow, values: Mapping[str, Any], tally: _Tally) -> bool:
    """Update a row, and save it if it exists; return whether it is new."""
    changed = fill_in(row, {name: _fitting(row, name, value) for name, value in values.items()})
    if row.pk is None:
        tally.added.append(row.identifier)
        return True
    if changed:
        tally.changed.append(row.identifier)
        type(row)._default_manager.filter(pk=row.pk).update(**{name: getattr(row, name) for name in changed})
    return False


def _fitting(row: CatalogueRow, name: str, value: Any) -> Any:
    if isinstance(value, str):
        limit = row._meta.get_field(name).max_length
        if name == "source" and limit and len(value) > limit:
            return ""  # a truncated URL leads elsewhere
        return text(value, limit)
    return json_value(value)


def _model_values(entry: Any) -> dict[str, Any]:
    metadata = entry.metadata
    values: dict[str, Any] = {
        "plugin": entry.plugin,
        "regions": {region: list(layers) for region, layers in (entry.layers or {}).items()},
        "bibtex": entry.bibtex,
        "source": entry.source,
    }
    details: dict[str, Any] = {"distribution": entry.distribution, "distribution_version": entry.distribution_version}
    if metadata is not None:
        values |= {
            "architecture": metadata.architecture,
            "family": metadata.family,
            "parameters": metadata.parameters,
            "size_mb": metadata.size_mb,
            "training_data": metadata.training_data,
            "trained_on": None if metadata.trained_on is None else list(metadata.trained_on),
            "fine_tuned_from": metadata.fine_tuned_from,
            "runnable": metadata.runnable,
        }
        details |= {
            "total_parameters": metadata.total_parameters,
            "image_size": metadata.image_size,
            "code_licence": metadata.code_licence,
            "weights_licence": metadata.weights_licence,
            "discussion": metadata.discussion,
            "notes": list(metadata.notes),
        }
    return {**values, "details": _known(details)}


def _benchmark_values(entry: Any) -> dict[str, Any]:
    metadata = entry.metadata
    values: dict[str, Any] = {"plugin": entry.plugin, "bibtex": entry.bibtex}
    details: dict[str, Any] = {"distribution": entry.distribution, "distribution_version": entry.distribution_version}
    if metadata is not None:
        stimuli, data, metric = metadata.stimuli, metadata.data, metadata.metric
        values |= {
            "title": metadata.title,
            "description": metadata.description,
            "region": ", ".join(data.regions),
            "species": data.species,
            "task": data.task,
            "method": data.method,
            "n_subjects": data.n_subjects,
            "n_neuroids": data.n_neuroids,
            "access": data.access,
            "stimuli": stimuli.kind,
            "n_stimuli": stimuli.n,
            "taken_from": None if stimuli.taken_from is None else list(stimuli.taken_from),
            "metric": metric.name,
            "source": data.source or stimuli.source,
        }
        details |= {
            "discussion": metadata.discussion,
            "kind": data.kind,
            "hemisphere": data.hemisphere,
            "duration_ms": data.duration_ms,
            "preprocessing": data.preprocessing,
            "data_licence": data.licence,
            "data_terms": data.terms,
            "data_notes": list(data.notes),
            "datatype": stimuli.datatype,
            "visual_degrees": stimuli.visual_degrees,
            "size_mb": stimuli.size_mb,
            "stimuli_source": stimuli.source,
            "stimuli_notes": list(stimuli.notes),
            "metric_kind": metric.kind,
            "mapping": metric.mapping,
            "ceiling": metric.ceiling,
            "metric_source": metric.source,
            "metric_notes": list(metric.notes),
            "notes": list(metadata.notes),
        }
    return {**values, "details": _known(details)}


def _known(details: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in details.items() if value not in (None, "", [])}


class SyncedMeans(NamedTuple):
    """The means of the tree after they were synchronised."""

    ids: dict[str, int]  # primary keys by identifier
    # added, changed: identifiers of new means, and of changed ones
    added: list[str]
    changed: list[str]


class Placement(NamedTuple):
    """Position of a benchmark in the tree, as attributes of `Benchmark`."""

    parent_id: int | None
    in_tree: bool
    control: bool
    version: str


def sync_means(domain_name: str) -> SyncedMeans:
    """Create missing means of the tree of a domain and update the others.

    A benchmark with the name of a mean is not changed, and nothing can be placed below it.
    """
    tree = domain(domain_name).tree()
    means = [tree[name] for name in tree if not tree[name].benchmark]  # parents come first
    rows = {row.identifier: row for row in Benchmark.objects.filter(domain=domain_name, is_mean=True)}
    taken = set(
        Benchmark.objects.filter(identifier__in=[node.identifier for node in means])
        .exclude(domain=domain_name, is_mean=True)
        .values_list("identifier", flat=True)
    )
    added, changed = [], []
    for node in means:
        if node.identifier in taken:
            continue
        parent = rows.get(node.parent or "")
        row = rows.get(node.identifier) or Benchmark(identifier=node.identifier, domain=domain_name, is_mean=True)
        values = {"parent_id": parent and parent.pk, "order": node.order, "title": node.title or ""}
        different = fill_in(row, values)
        if row.pk is None:
            Benchmark.objects.bulk_create([row])  # sends no signals: the caller increments the revision
            added.append(node.identifier)
            rows[node.identifier] = row
        elif different:
            Benchmark.objects.filter(pk=row.pk).update(**{name: getattr(row, name) for name in different})
            changed.append(node.identifier)
    return SyncedMeans({identifier: row.pk for identifier, row in rows.items()}, added, changed)


def listed_benchmark(domain_name: str, identifier: str) -> ListedBenchmark | None:
    """Return what the installed package of a domain states of a benchmark; None if it does not list it."""
    return domain(domain_name).table.listed(identifier)


def placement(
    domain_name: str,
    identifier: str,
    means: Mapping[str, int],
    *,
    parent: str | None = None,
    control: bool = False,
    version: str = "",
) -> Placement:
    """Return the position of a benchmark: from the installed package if that lists it, otherwise from its receipt."""
    known = listed_benchmark(domain_name, identifier)
    if known is not None:
        parent, control, version = known.parent, known.control, str(known.version)
    place = means.get(domain(domain_name).table.node_name(parent) or "")
    return Placement(place, place is not None and not control, control, version)


def fill_in(row: Row, values: Mapping[str, Any]) -> list[str]:
    """Set attributes that have not been edited; the row is not saved."""
    written = dict(row.synced)
    changed = []
    for name, value in values.items():
        if value is None or value == "" or value == {}:
            continue
        before = getattr(row, name)
        if name in written:
            edited = before != written[name]
        else:
            edited = row.pk is not None and before not in (None, "", {}, row._meta.get_field(name).get_default())
        if edited:
            continue
        if before != value:
            changed.append(name)
            setattr(row, name, value)
        written[name] = value
    if written != row.synced:
        row.synced = written
        changed.append("synced")
    return changed
