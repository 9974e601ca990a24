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


@dataclass
class CatalogueReport:
    """Result of a synchronisation."""

    # added, changed: identifiers of models, benchmarks and means of the tree
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # what could not be read or stored


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
    report = CatalogueReport(problems=[f"{problem.plugin or 'plugins'}: {problem.message}" for problem in problems])
    with exclusive_write():
        for name, catalogue in catalogues.items():
            tree = sync_means(name)
            report.added += tree.added
            report.changed += tree.changed
            _models(name, catalogue.models, report)
            _benchmarks(name, catalogue.benchmarks, tree.ids, report)
        if report.added or report.changed:
            revision.bump()
    return report


def _models(domain: str, entries: Iterable[Any], report: CatalogueReport) -> None:
    rows = {row.identifier: row for row in VisionModel.objects.all()}
    new = []
    for entry in entries:
        row = _row(VisionModel, domain, entry.identifier, rows, report)
        if row is not None and _changed(row, _model_values(entry), report):
            new.append(row)
    VisionModel.objects.bulk_create(new)


def _benchmarks(domain: str, entries: Iterable[Any], means: Mapping[str, int], report: CatalogueReport) -> None:
    rows = {row.identifier: row for row in Benchmark.objects.all()}
    new, kept, stated = [], [], {}
    for entry in entries:
        row = _row(Benchmark, domain, entry.identifier, rows, report)
        if row is None:
            continue
        if row.is_mean:
            report.problems.append(f"{entry.identifier!r} is a mean of the tree, not a benchmark")
            continue
        kept.append(row)
        stated[entry.identifier] = entry.metadata
        values = _benchmark_values(entry)
        if row.pk is None or listed_benchmark(domain, entry.identifier) is not None:  # otherwise receipts say so
            values |= placement(domain, entry.identifier, means)._asdict()
        if _changed(row, values, report):
            new.append(row)
    Benchmark.objects.bulk_create(new)
    _versions(kept, stated, report)


def _versions(rows: Iterable[Benchmark], stated: Mapping[str, Any], report: CatalogueReport) -> None:
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
                report.changed.append(row.identifier)
                fields = {name: getattr(version, name) for name in changed}
                BenchmarkVersion.objects.filter(pk=version.pk).update(**fields)
    BenchmarkVersion.objects.bulk_create(new)


def _row(
    model: type[CatalogueRow], domain: str, identifier: str, rows: Mapping[str, CatalogueRow], report: CatalogueReport
) -> CatalogueRow | None:
    try:
        check_identifier(
            identifier, model._meta.verbose_name or "", model._meta.get_field("identifier").max_length or 0
        )
    except ValueError as error:
        report.problems.append(str(error))
        return None
    row = rows.get(identifier) or model(identifier=identifier, domain=domain)
    if row.domain != domain:
        report.problems.append(f"{identifier!r} is of the domain {row.domain} here, and registered in {domain}, too")
        return None
    return row


def _changed(row: CatalogueRow, values: Mapping[str, Any], report: CatalogueReport) -> bool:
    """Update a row, and save it if it exists; return whether it is new."""
    changed = fill_in(row, {name: _fitting(row, name, value) for name, value in values.items()})
    if row.pk is None:
        report.added.append(row.identifier)
        return True
    if changed:
        report.changed.append(row.identifier)
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
        **_attributes(entry, "plugin", "bibtex", "source"),
        "regions": {region: list(layers) for region, layers in (entry.layers or {}).items()},
    }
    details = _attributes(entry, "distribution", "distribution_version")
    if metadata is not None:
        values |= _attributes(
            metadata, "architecture", "family", "parameters", "size_mb", "training_data", "trained_on",
            "fine_tuned_from", "runnable",
        )  # fmt: skip
        details |= _attributes(
            metadata, "total_parameters", "image_size", "code_licence", "weights_licence", "discussion", "notes"
        )
    return {**values, "details": _known(details)}


def _benchmark_values(entry: Any) -> dict[str, Any]:
    metadata = entry.metadata
    values = _attributes(entry, "plugin", "bibtex")
    details = _attributes(entry, "distribution", "distribution_version")
    if metadata is not None:
        stimuli, data, metric = metadata.stimuli, metadata.data, metadata.metric
        values |= {
            **_attributes(metadata, "title", "description"),
            **_attributes(data, "species", "task", "method", "n_subjects", "n_neuroids", "access"),
            "region": ", ".join(data.regions),
            "stimuli": stimuli.kind,
            "n_stimuli": stimuli.n,
            **_attributes(stimuli, "taken_from"),
            "metric": metric.name,
            "source": data.source or stimuli.source,
        }
        details |= {
            **_attributes(metadata, "discussion", "notes"),
            **_attributes(data, "kind", "hemisphere", "duration_ms", "preprocessing"),
            **_attributes(data, "licence", "terms", "notes", prefix="data_"),
            **_attributes(stimuli, "datatype", "visual_degrees", "size_mb"),
            **_attributes(stimuli, "source", "notes", prefix="stimuli_"),
            **_attributes(metric, "mapping", "ceiling"),
            **_attributes(metric, "kind", "source", "notes", prefix="metric_"),
        }
    return {**values, "details": _known(details)}


def _attributes(stated: Any, *names: str, prefix: str = "") -> dict[str, Any]:
    """Return attributes by name, with tuples as lists, as JSON has them."""
    values = {f"{prefix}{name}": getattr(stated, name) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


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
