"""Every registered stimulus set and assembly: listed, complete as a registration, and sound where it can be loaded."""

import csv
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import brainio
from brainscore_core.errors import DataUnavailable
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio import s3
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.fetch import resolve_assembly_class
from brainscore_core.supported_data_standards.brainio.validation import (
    check_identifier,
    errors_among,
    validate_assembly,
    validate_stimulus_set,
)
from brainscore_vision import benchmark_registry, data_registry, load_dataset, load_stimulus_set, stimulus_set_registry
from brainscore_vision.data_sources import tables as _sources
from brainscore_vision.testing import list_stand_ins, serve_stand_ins
from brainscore_vision.training_data import packaged_stimuli

BUILT_IN = Path(brainio.__file__).parents[1] / "brainscore_vision" / "data"
COMPUTED = {"Simulated2026"}
MIRRORED = {"Kriegeskorte2008", "Geirhos2019"}
ALLOWED = {"NaN values"}  # published data do not say why some are missing
DRAWN_FROM = {"laion-5b", "ms coco"}  # so large that two sets that are drawn from it hardly share pictures
FROM_A_FOLDER = "Zerbe2026"  # stimuli that nobody may pass on
AS_PUBLISHED = {
    "Bracci2019": "no coordinate 'neuroid_id'",
    "Coggan2024_fMRI": "no coordinate 'neuroid_id'",
    "Papale2025_train": "duplicate neuroid_id",
    "Papale2025_test": "duplicate neuroid_id",
}


def built_in(registry):
    return [key for key in registry if BUILT_IN in registry.location(key).folder.parents]


class Asked(BaseException):
    """Raised in place of a download with what a registration asks for; no plugin catches it."""

    def __init__(self, **facts):
        self.facts = facts


class Request(NamedTuple):
    url: str
    sha1: str | None


@pytest.fixture
def asks(monkeypatch):
    """``asks(factory)`` calls the factory of a registration, and says what it asks S3 for; None: it loads otherwise."""
    requests = []

    def fetch_all(wanted, **_):
        requests[:] = [Request(one.url, one.sha1) for one in wanted]
        return [Path("fetched") for _ in requests]

    def stimuli(identifier, table, archive):
        raise Asked(files=[Request(one.url, one.sha1) for one in (table, archive)], identifier=identifier)

    def assembly(identifier, path, cls, stimulus_set_loader, **_):
        raise Asked(files=list(requests), identifier=identifier, cls=cls, stimuli=stimulus_set_loader)

    monkeypatch.setattr(s3, "fetch_all", fetch_all)
    monkeypatch.setattr(s3, "load_from_requests", stimuli)
    monkeypatch.setattr(s3, "load_assembly", assembly)

    def ask(factory):
        try:
            factory()
        except Asked as asked:
            return asked.facts
        except DataUnavailable:  # stimuli of a folder of the user's
            return None
        return None

    return ask


def from_s3(registry, asks):
    """Identifier → what is asked for, of those registrations that load from S3."""
    found = {key: asks(registry[key]) for key in built_in(registry) if _mentions_s3(registry.location(key).folder)}
    return {key: facts for key, facts in found.items() if facts is not None}


def _mentions_s3(folder):
    return any(
        re.search("_from_s3|table_keys|add_table", path.read_text())
        for path in folder.glob("*.py")
        if path.name != "test.py"
    )


@pytest.mark.parametrize("registry", [data_registry, stimulus_set_registry], ids=["assemblies", "stimulus sets"])
class TestAll:
    def test_are_listed_once(self, registry):
        listed = brainio.list_assemblies() if registry is data_registry else brainio.list_stimulus_sets()
        assert set(built_in(registry)) <= set(listed)
        assert len(listed) == len(set(listed))
        assert [key for key in registry if len(registry.locations(key)) != 1] == []

    def test_have_proper_identifiers(self, registry):
        assert [key for key in built_in(registry) if errors_among(check_identifier(key))] == []

    def test_lie_in_a_plugin_with_tests(self, registry):
        folders = {registry.location(key).folder for key in built_in(registry)}
        assert [folder.name for folder in folders if not (folder / "test.py").is_file()] == []


def test_stimulus_sets_name_their_files(asks):
    facts = from_s3(stimulus_set_registry, asks)
    assert len(facts) > 40
    for key, found in facts.items():
        table, archive = found["files"]
        assert table.url.endswith(".csv"), key
        assert archive.url.endswith(".zip"), key
        assert table.sha1, key
        assert archive.sha1, key
        assert table.url.removesuffix(".csv") == archive.url.removesuffix(".zip"), key


def test_assemblies_name_file_class_and_stimuli(asks):
    tables = {found["files"][0] for found in from_s3(stimulus_set_registry, asks).values()}
    facts = from_s3(data_registry, asks)
    assert len(facts) > 40
    for key, found in facts.items():
        (file,) = found["files"]
        assert file.url.endswith(".nc"), key
        assert file.sha1, key
        assert issubclass(resolve_assembly_class(found["cls"]), DataAssembly), key
        if found["stimuli"] is not None and not key.startswith(FROM_A_FOLDER):
            asked = asks(found["stimuli"])
            assert asked is not None, key
            assert asked["files"][0] in tables, key


@pytest.mark.parametrize("path", sorted(BUILT_IN.glob("*/sources.csv")), ids=lambda path: path.parent.name)
def test_lists_of_sources_pin_every_file(path):
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows
    assert [row for row in rows if not row["url"].startswith("https://")] == []
    assert [row for row in rows if not re.fullmatch("[0-9a-f]{64}", row["sha256"])] == []


def errors(findings):
    """What is wrong, but for what older data are allowed."""
    return [str(finding) for finding in errors_among(findings) if finding.check not in ALLOWED]


@pytest.mark.slow(reason="packages, uploads and loads all stand-ins")
def test_stand_ins_load_and_are_valid(s3_server, monkeypatch, tmp_path):
    """By the way of the published data: the registrations' own loaders, from S3."""
    monkeypatch.delenv("BRAINSCORE_MIRROR", raising=False)
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path))
    known = {
        kind: [key for key in keys if not key.startswith(FROM_A_FOLDER)] for kind, keys in list_stand_ins().items()
    }
    with serve_stand_ins():
        found = {}
        for key in known["stimulus_sets"]:
            stimuli = load_stimulus_set(key).drop(columns="filename", errors="ignore")  # loading adds it
            found[key] = errors(validate_stimulus_set(stimuli))
        for key in known["assemblies"]:
            assembly = load_dataset(key)
            found[key] = errors(validate_assembly(assembly, identifier=key))
            assert assembly.attrs["identifier"], key
    for key, expected in AS_PUBLISHED.items():
        (wrong,) = found.pop(key)
        assert expected in wrong
    assert {key: wrong for key, wrong in found.items() if wrong} == {}


@pytest.mark.slow(reason="opens 800 images")
@pytest.mark.parametrize("key", sorted(COMPUTED))
def test_computed_data_are_valid(key):
    assembly = load_dataset(key)
    assert errors_among(validate_assembly(assembly, load_stimulus_set(key), identifier=key)) == []


def test_mirrored_data_are_valid(mirror):
    keys = [key for key in built_in(data_registry) if any(key.startswith(name) for name in MIRRORED)]
    assert keys
    for key in keys:
        assembly = load_dataset(key)
        assert errors(validate_assembly(assembly, identifier=key)) == []


def names_of(key, registry, asks):
    """Names in receipts of where stimuli or subjects are from, and what is asked for."""
    with recording() as record:
        facts = asks(registry[key]) or {}
    kinds = ("study",) if registry is data_registry else ("collection",)
    return {
        registry.location(key).folder.name,
        *(item["identifier"] for item in record.items if item["kind"] in kinds),
    }, facts


@pytest.fixture
def shared(asks, monkeypatch):
    """Name → data plugins that have it, of names of several plugins; and archive → names of the sets that have it."""

    def missing(*_, **__):
        raise DataUnavailable("nothing is fetched here")

    monkeypatch.setattr(_sources, "fetch_all", missing)
    plugins, archives = {}, {}
    for key in sorted(set(built_in(stimulus_set_registry)) - COMPUTED):
        names, facts = names_of(key, stimulus_set_registry, asks)
        archives.setdefault(facts["files"][1].sha1 if facts else key, []).append(names)
        for name in names:
            plugins.setdefault(name.casefold(), set()).add(stimulus_set_registry.location(key).folder.name)
    for key in sorted(set(built_in(data_registry)) - COMPUTED):
        names, facts = names_of(key, data_registry, asks)
        stimuli = asks(facts["stimuli"]) if facts.get("stimuli") else None
        for name in names.union(*(archives[stimuli["files"][1].sha1] if stimuli else ())):
            plugins.setdefault(name.casefold(), set()).add(data_registry.location(key).folder.name)
    return {name: held for name, held in plugins.items() if len(held) > 1}, archives


def test_data_sets_with_the_same_stimuli_or_subjects_have_a_name_in_common(shared):
    """By hash of the pictures, and by what benchmarks state; the documentation lists all of them."""
    names, archives = shared
    assert [held for held in archives.values() if len(held) > 1 and not set.intersection(*held)] == []
    stated = {}
    for key in benchmark_registry:
        for name in packaged_stimuli(key) or ():
            stated.setdefault(name.split(",")[0].casefold(), set()).add(benchmark_registry.location(key).folder)
    several = {name for name, folders in stated.items() if len(folders) > 1} - DRAWN_FROM
    assert several <= {name.split(",")[0] for name in names}
    page = (BUILT_IN.parents[1] / "docs" / "comparison.md").read_text().partition("## Shared stimuli")[2]
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", page.partition("\n## ")[0], flags=re.MULTILINE)
    assert {name.casefold(): set(held.split(", ")) for name, held in rows} == names
