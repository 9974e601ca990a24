"""Models, benchmarks and tree of the installed plugins on the site; values that people have edited are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
        if row is not None and _changed(row, _installed_values(VisionModel, entry), report):
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
        values = _installed_values(Benchmark, entry)
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
    changed = fill_in(row, values)
    if row.pk is None:
        report.added.append(row.identifier)
        return True
    if changed:
        report.changed.append(row.identifier)
        type(row)._default_manager.filter(pk=row.pk).update(**{name: getattr(row, name) for name in changed})
    return False


def _only(*types: type) -> Callable[[Any], Any]:
    """Return a function that returns values of some types, and None for all others."""
    return lambda value: value if type(value) in types else None


def _texts(value: Any) -> list[str] | None:
    """Return a list of at most 100 texts; None for anything else, which counts as not stated."""
    is_list = isinstance(value, list | tuple) and len(value) <= 100 and all(isinstance(item, str) for item in value)
    return [text(item) for item in value] if is_list else None


def _address(value: Any) -> str | None:
    return value if isinstance(value, str) and value.startswith(("https://", "http://")) else None


_text, _whole, _number, _flag = _only(str), _only(int), _only(int, float), _only(bool)
_Fields = Mapping[str, tuple[str, str, Callable[[Any], Any]]]
"""Name of a column or detail → part of the metadata, field in it, and reader of the value."""


def _same(read: Callable[[Any], Any], *names: str, of: str = "") -> dict[str, tuple[str, str, Callable[[Any], Any]]]:
    """Return fields with the names of their columns."""
    return {name: (of, name, read) for name in names}


_COLUMNS: Mapping[str, _Fields] = {
    "models": {
        **_same(_text, "architecture", "family", "training_data", "fine_tuned_from"),
        **_same(_whole, "parameters"), **_same(_number, "size_mb"), **_same(_flag, "runnable"),
        **_same(_texts, "trained_on"), **_same(_address, "source"),
    },
    "benchmarks": {
        **_same(_text, "title", "description"), **_same(_text, "species", "task", "method", "access", of="data"),
        **_same(_whole, "n_subjects", "n_neuroids", of="data"), **_same(_texts, "regions", of="data"),
        **_same(_texts, "taken_from", of="stimuli"), **_same(_address, "source", of="data"),
        "stimuli": ("stimuli", "kind", _text), "n_stimuli": ("stimuli", "n", _whole),
        "metric": ("metric", "name", _text),
    },
}  # fmt: skip
_DETAILS: Mapping[str, _Fields] = {
    "models": {
        **_same(_whole, "total_parameters", "image_size"), **_same(_text, "code_licence", "weights_licence"),
        **_same(_address, "discussion"), **_same(_texts, "notes"),
    },
    "benchmarks": {
        **_same(_text, "kind", "hemisphere", "preprocessing", of="data"), **_same(_number, "duration_ms", of="data"),
        **_same(_text, "datatype", of="stimuli"), **_same(_number, "visual_degrees", "size_mb", of="stimuli"),
        **_same(_text, "mapping", "ceiling", of="metric"), **_same(_address, "discussion"), **_same(_texts, "notes"),
        "data_licence": ("data", "licence", _text), "data_terms": ("data", "terms", _text),
        "data_notes": ("data", "notes", _texts), "stimuli_source": ("stimuli", "source", _address),
        "stimuli_notes": ("stimuli", "notes", _texts), "metric_kind": ("metric", "kind", _text),
        "metric_source": ("metric", "source", _address), "metric_notes": ("metric", "notes", _texts),
    },
}  # fmt: skip


def described_values(model: type[CatalogueRow], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a model or benchmark that an entry of a catalogue describes, as ``as_dict`` returns it.

    The entry may be hostile: what has another type than its field is left out, and long texts are cut.
    """
    kind = "models" if model is VisionModel else "benchmarks"
    metadata = _mapping(entry, "metadata")
    parts = {"": metadata, **{name: _mapping(metadata, name) for name in ("data", "stimuli", "metric")}}
    values, details = (
        {name: read(parts[part].get(field)) for name, (part, field, read) in fields[kind].items()}
        for fields in (_COLUMNS, _DETAILS)
    )
    values["bibtex"] = _text(entry.get("bibtex"))
    if model is VisionModel:
        layers = {
            region: layers for region, layers in _mapping(entry, "layers").items() if isinstance(layers, list | tuple)
        }
        values["regions"] = {str(region): [str(layer) for layer in names] for region, names in layers.items()}
    else:
        values["region"] = ", ".join(values.pop("regions") or ())
        values["source"] = values["source"] or details["stimuli_source"]
    values["details"] = {name: value for name, value in details.items() if value not in (None, "", [])}
    return {name: _fitting(model, name, value) for name, value in values.items()}


def _mapping(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def _fitting(model: type[CatalogueRow], name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return json_value(value)
    limit = getattr(model._meta.get_field(name), "max_length", None)
    too_long = name == "source" and limit and len(value) > limit
    return "" if too_long else text(value, limit)  # a truncated URL leads elsewhere


def _installed_values(model: type[CatalogueRow], entry: Any) -> dict[str, Any]:
    """Return the columns that the entry of an installed plugin describes, with the package that contains it."""
    values = described_values(model, entry.as_dict())
    origin = {name: getattr(entry, name) for name in ("distribution", "distribution_version") if getattr(entry, name)}
    return {**values, "plugin": entry.plugin, "details": {**origin, **values["details"]}}


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
