import csv
import os
from pathlib import Path

import pytest

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
    longest_match,
)
from brainscore_vision.catalogue.contents import catalogue

CONTROLS = {key for key in benchmark_registry if key.startswith("Simulated2026")}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StimuliMetadata(n=-1), "n is -1, not a whole number ≥ 0"),
        (lambda: StimuliMetadata(n=1.5), "n is 1.5"),
        (lambda: StimuliMetadata(n=True), "n is True"),
        (lambda: StimuliMetadata(kind=" "), "kind is '.?', not a non-empty string"),
        (lambda: StimuliMetadata(taken_from="ImageNet"), "taken_from is 'ImageNet', not a tuple"),
        (lambda: StimuliMetadata(visual_degrees=0), "visual_degrees is 0"),
        (lambda: StimuliMetadata(source="osf.io/abc"), "source is 'osf.io/abc', not a URL"),
        (lambda: StimuliMetadata(notes="a note"), "notes is 'a note', not a tuple"),
        (lambda: DataMetadata(kind="eeg"), "kind is 'eeg', not one of neural, behavioural, engineering"),
        (lambda: DataMetadata(access="open"), "access is 'open', not one of public, private"),
        (lambda: DataMetadata(regions="V1"), "regions is 'V1', not a tuple"),
        (lambda: DataMetadata(n_subjects=2.0), "n_subjects is 2.0"),
        (lambda: DataMetadata(duration_ms=float("inf")), "duration_ms is inf"),
        (lambda: MetricMetadata(ceiling=""), "ceiling is '.?', not a non-empty string"),
        (lambda: BenchmarkMetadata(title=" "), "title is '.?', not a non-empty string"),
        (lambda: BenchmarkMetadata(bibtex="Smith 2026"), "not a BibTeX entry"),
        (lambda: BenchmarkMetadata(data={"species": "human"}), "data is {'species': 'human'}, not a DataMetadata"),
    ],
)
def test_malformed_metadata_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_not_known_is_none():
    about = BenchmarkMetadata()
    assert (about.title, about.stimuli.n, about.data.access, about.metric.name) == (None, None, None, None)
    assert about.data.regions == ()


def test_an_identifier_goes_before_patterns_and_a_longer_pattern_before_a_shorter():
    all_of, of_v1, one = (BenchmarkMetadata(title=title) for title in ("all", "V1", "one"))
    table = {"A2020*": all_of, "A2020.V1-*": of_v1, "A2020.V1-pls": one}
    assert longest_match("A2020.V1-pls", table) is one
    assert longest_match("A2020.V1-rdm", table) is of_v1
    assert longest_match("A2020.V2-rdm", table) is all_of
    assert longest_match("a2020.V2-rdm", table) is None  # upper and lower case differ


@pytest.fixture(scope="module")
def entries():
    """Benchmarks that come with the package."""
    known = catalogue(models=[])
    assert known.problems == ()
    return {entry.identifier: entry for entry in known.benchmarks if entry.distribution in ("brainscore", None)}


def test_all_benchmarks_have_metadata(entries):
    assert len(entries) >= 277
    for identifier, entry in entries.items():
        about = entry.metadata
        assert about is not None, identifier
        assert about.title, identifier
        assert 40 < len(about.description) < 300, identifier
        assert about.stimuli.kind, identifier
        assert about.data.kind, identifier
        assert about.data.task in ("passive viewing", "naming", "choice", "odd one out"), identifier
        assert about.metric.name, identifier
        meaning = about.metric.ceiling.partition(":")[0].partition(",")[0].partition(" that")[0]
        assert meaning in ("reliability", "human-human", "upper bound", "none"), identifier


def test_titles_tell_benchmarks_apart(entries):
    titles = [entry.metadata.title for entry in entries.values()]
    assert len(set(titles)) == len(titles)


def test_kind_region_and_species_go_together(entries):
    for identifier, entry in entries.items():
        data = entry.metadata.data
        assert bool(data.regions) == (data.kind == "neural"), identifier
        if data.kind == "neural":
            assert data.task == "passive viewing", identifier
            assert data.method in ("electrophysiology", "fMRI", "simulation"), identifier
        if data.kind == "engineering" or identifier in CONTROLS:
            assert data.species is None, identifier
        else:
            assert data.species in ("human", "macaque"), identifier


def test_regions_are_those_that_benchmarks_count_in(entries):
    from brainscore_vision.catalogue import leaderboard_tree

    tree = leaderboard_tree()
    for identifier, entry in entries.items():
        if identifier in tree:
            region = {"V1", "V2", "V4", "IT"} & set(tree.ancestors(identifier))
            if identifier == "Bracci2019.anteriorVTC-rdm":  # a group of its own
                region = {"IT"}
            assert region == set(entry.metadata.data.regions), identifier
            kinds = {"neural_vision": "neural", "behavior_vision": "behavioural", "engineering_vision": "engineering"}
            (kind,) = (kinds[node] for node in tree.ancestors(identifier) if node in kinds)
            assert entry.metadata.data.kind == kind, identifier


@pytest.mark.parametrize(
    ("pattern", "access"),
    [
        ("MajajHong2015.", "private"),
        ("MajajHong2015public.", "public"),
        ("FreemanZiemba2013.", "private"),
        ("FreemanZiemba2013public.", "public"),
        ("Rajalingham2018-", "private"),
        ("Rajalingham2018public-", "public"),
        ("Marques2020", "private"),
        ("Kriegeskorte2008", "public"),
        ("tong.Coggan2024_fMRI", "public"),
        ("ImageNet", None),
    ],
)
def test_access(entries, pattern, access):
    found = {entry.metadata.data.access for name, entry in entries.items() if name.startswith(pattern)}
    assert found == {access}


def test_numbers_of_geirhos2021_are_those_of_the_trials(mirror, entries):
    from brainscore_vision import load_dataset
    from brainscore_vision.benchmarks.geirhos2021.benchmark import EXCLUDED, scored

    for test in ("colour", "cue-conflict", "edge", "false-colour", "high-pass", "sketch", "uniform-noise"):
        trials = scored(load_dataset(f"Geirhos2021_{test}"), EXCLUDED.get(test, ()))
        for metric in ("error_consistency", "top1"):
            about = entries[f"Geirhos2021{test.replace('-', '')}-{metric}"].metadata
            assert about.stimuli.n == len(set(trials["stimulus_id"].values)), test
        about = entries[f"Geirhos2021{test.replace('-', '')}-error_consistency"].metadata
        assert about.data.n_subjects == len(set(trials["subject"].values)), test


def test_visual_angles_are_those_of_the_benchmarks(entries):
    from importlib import import_module

    for identifier, module in {
        "Baker2022inverted-accuracy_delta": "baker2022.benchmark",
        "Bracci2019.anteriorVTC-rdm": "bracci2019.benchmark",
        "FreemanZiemba2013.V1-pls": "freemanziemba2013.benchmarks.benchmark",
        "Geirhos2021edge-error_consistency": "geirhos2021.benchmark",
        "Hebart2023-match": "hebart2023.benchmark",
        "Kar2019-ost": "kar2019.benchmark",
        "MajajHong2015.IT-pls": "majajhong2015.benchmark",
        "Malania2007.short2-threshold_elevation": "malania2007.experiment",
        "Papale2025.V1-ridge": "papale2025.benchmark",
        "Rajalingham2018-i2n": "rajalingham2018.benchmark",
        "tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity": "coggan2024_behavior.benchmark",
        "tong.Coggan2024_fMRI.V1-rdm": "coggan2024_fMRI.benchmark",
    }.items():
        found = import_module(f"brainscore_vision.benchmarks.{module}").VISUAL_DEGREES
        assert entries[identifier].metadata.stimuli.visual_degrees == found, identifier


def test_metrics_are_registered_where_they_have_a_name(entries):
    from brainscore_vision import metric_registry

    own = {"ConditionWiseAccuracySimilarity"}  # computed by the benchmark itself
    assert {entry.metadata.metric.name for entry in entries.values()} - own <= set(metric_registry)


@pytest.mark.skipif(
    "BRAINSCORE_FACTS" not in os.environ, reason="set BRAINSCORE_FACTS to the folder of what is published"
)
def test_metadata_are_those_of_the_published_tables(entries):
    tasks = {"passive recording": "passive viewing", "label": "naming", "probabilities": "choice"}
    compared = 0
    with (Path(os.environ["BRAINSCORE_FACTS"]) / "benchmarks.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            entry = entries.get(row["registry_key"])
            if entry is None:
                continue
            compared += 1
            about, task = entry.metadata, row["task"].partition(" (")[0]
            assert about.data.task == tasks.get(task, task.replace("_", " ")), entry.identifier
            recorded = row["region"] and about.data.kind == "neural"  # some record, but compare with nobody
            assert about.data.regions == ((row["region"],) if recorded else ()), entry.identifier
            angle = about.stimuli.visual_degrees
            assert angle == (float(row["visual_degrees"]) if row["visual_degrees"][:1].isdigit() else None)
            composed = any(text in row["metric_id"] for text in ("in plugin)", "plugin classes)"))
            assert about.metric.name == row["metric_id"] or composed, entry.identifier
            assert str(entry.version) == row["version"], entry.identifier
    assert compared == 270
