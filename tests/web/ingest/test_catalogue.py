"""Models and benchmarks of the installed plugins."""

from dataclasses import replace

import pytest

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.catalogue.contents import BenchmarkEntry, Catalogue, ModelEntry, Problem, catalogue
from brainscore_vision.model_helpers.metadata import ModelMetadata
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.catalogue import CatalogueReport, sync_catalogue
from brainscore_web.leaderboard.ingest import ingest_receipts
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, VisionModel

MODEL = ModelMetadata(
    architecture="convolutional network", family="resnet", parameters=11, total_parameters=12, size_mb=44.5,
    training_data="ImageNet", trained_on=("Places365",), fine_tuned_from="base",
    code_licence="MIT", weights_licence=None, source="https://example.org/net",
    bibtex="@misc{net, title = {Net}}", runnable=False, notes=("no weights are published",),
)  # fmt: skip
BENCHMARK = BenchmarkMetadata(
    title="Textures", description="How textures are seen.", bibtex="@misc{textures, title = {Textures}}",
    stimuli=StimuliMetadata(n=135, kind="textures", visual_degrees=4.0, taken_from=()),
    data=DataMetadata(
        kind="neural", species="macaque", regions=("IT",), task="passive viewing", method="electrophysiology",
        n_subjects=2, n_neuroids=102, access="public", source="https://example.org/data",
    ),
    metric=MetricMetadata(name="pls", kind="regression", ceiling="split halves"),
)  # fmt: skip


def known(model=MODEL, benchmark=BENCHMARK, identifier="MajajHong2015.IT-pls", **fields):
    return Catalogue(
        models=(ModelEntry(identifier="net", plugin="nets", metadata=model, layers={"IT": ("a", "b")},
                           bibtex=model.bibtex, source=model.source),),
        benchmarks=(BenchmarkEntry(identifier=identifier, plugin="texture", version=4, parent="IT",
                                   metadata=benchmark, bibtex=benchmark.bibtex, **fields),),
    )  # fmt: skip


def test_what_plugins_say_is_kept(db):
    report = sync_catalogue(known())
    assert {"net", "MajajHong2015.IT-pls", "average_vision", "IT"} <= set(report.added)
    assert not report.changed
    assert not report.problems
    model = VisionModel.objects.get()
    assert (model.architecture, model.family, model.parameters) == ("convolutional network", "resnet", 11)
    assert (model.size_mb, model.training_data, model.runnable) == (44.5, "ImageNet", False)
    assert (model.regions, model.source, model.plugin) == ({"IT": ["a", "b"]}, "https://example.org/net", "nets")
    assert (model.visibility, model.owner) == ("public", None)
    assert (model.trained_on, model.fine_tuned_from) == (["Places365"], "base")
    assert model.details["total_parameters"] == 12
    assert model.details["notes"] == ["no weights are published"]
    benchmark = Benchmark.objects.get(is_mean=False)
    assert (benchmark.title, benchmark.description) == ("Textures", "How textures are seen.")
    assert (benchmark.version, benchmark.parent.identifier, benchmark.in_tree) == ("4", "IT", True)
    assert (benchmark.region, benchmark.species, benchmark.task) == ("IT", "macaque", "passive viewing")
    assert (benchmark.method, benchmark.stimuli, benchmark.metric) == ("electrophysiology", "textures", "pls")
    assert benchmark.taken_from == []
    assert (benchmark.n_stimuli, benchmark.n_subjects, benchmark.n_neuroids) == (135, 2, 102)
    assert (benchmark.access, benchmark.bibtex, benchmark.plugin) == ("public", BENCHMARK.bibtex, "texture")
    assert benchmark.details["ceiling"] == "split halves"
    assert benchmark.versions.get().version == "4"


def test_what_plugins_say_of_versions_is_kept_and_edited_texts_stay(db):
    sync_catalogue(known())
    about = replace(BENCHMARK, changes=("3: Other splits.", "4: Trials without a fixation are left out."))
    assert sync_catalogue(known(benchmark=about)).changed == ["MajajHong2015.IT-pls"]
    version = BenchmarkVersion.objects.get()
    assert version.changes == "Trials without a fixation are left out."
    assert sync_catalogue(known(benchmark=about)) == CatalogueReport()
    BenchmarkVersion.objects.update(changes="edited")
    sync_catalogue(known(benchmark=replace(BENCHMARK, changes=("4: New.",))))
    assert BenchmarkVersion.objects.get().changes == "edited"


@pytest.mark.parametrize("changes", [("no version",), (": nothing",), ("4: ",), "4: text", (4,)])
def test_malformed_changes_are_refused(changes):
    with pytest.raises(ValueError, match="changes"):
        replace(BENCHMARK, changes=changes)


def test_the_same_again_changes_nothing(db):
    sync_catalogue(known())
    before = revision.current()
    assert sync_catalogue(known()) == CatalogueReport()
    assert revision.current() == before


def test_what_plugins_say_anew_is_taken(db):
    sync_catalogue(known())
    before = revision.current()
    newer = BenchmarkMetadata(title="Other textures", data=DataMetadata(access="private"))
    report = sync_catalogue(known(benchmark=newer))
    assert report == CatalogueReport(changed=["MajajHong2015.IT-pls"])
    benchmark = Benchmark.objects.get(is_mean=False)
    assert (benchmark.title, benchmark.access, benchmark.species) == ("Other textures", "private", "macaque")
    assert revision.current() > before


def test_what_was_edited_stays(db, owner):
    sync_catalogue(known())
    VisionModel.objects.update(visibility="private", owner=owner, family="mine")
    Benchmark.objects.filter(is_mean=False).update(access="private", title="", credit="A lab")
    Benchmark.objects.filter(identifier="IT").update(title="Inferior temporal")
    assert sync_catalogue(known()) == CatalogueReport()
    model, benchmark = VisionModel.objects.get(), Benchmark.objects.get(is_mean=False)
    assert (model.visibility, model.owner, model.family) == ("private", owner, "mine")
    assert (benchmark.access, benchmark.title, benchmark.credit) == ("private", "", "A lab")
    assert Benchmark.objects.get(identifier="IT").title == "Inferior temporal"


def test_what_was_made_by_hand_is_only_filled(db, owner):
    VisionModel.objects.create(identifier="net", owner=owner, visibility="private", family="mine")
    report = sync_catalogue(known())
    assert report.changed == ["net"]
    model = VisionModel.objects.get()
    assert (model.family, model.architecture, model.visibility) == ("mine", "convolutional network", "private")


def test_what_receipts_said_is_filled(db, receipt):
    ingest_receipts([receipt("net", "MajajHong2015.IT-pls", version=3)], by=None)
    sync_catalogue(known())
    benchmark = Benchmark.objects.get(is_mean=False)
    assert (benchmark.version, benchmark.access, benchmark.title) == ("4", "public", "Textures")
    assert set(benchmark.versions.values_list("version", flat=True)) == {"3", "4"}
    assert VisionModel.objects.get().visibility == "private"


def test_versions_are_since_their_first_receipt(db, receipt):
    sync_catalogue(known())
    before = BenchmarkVersion.objects.get().since
    made = receipt("net", "MajajHong2015.IT-pls", version=4)
    ingest_receipts([made], by=None)
    version = BenchmarkVersion.objects.get()
    assert (version.since < before, version.ceiling) == (True, 0.8)


def test_benchmarks_of_others_stay_where_their_receipts_put_them(db, receipt):
    ingest_receipts([receipt(benchmark="Some2026.IT-pls", version=7)], by=None)
    entry = BenchmarkEntry(identifier="Some2026.IT-pls", plugin="some", metadata=BENCHMARK)
    sync_catalogue(Catalogue(benchmarks=(entry,)))
    benchmark = Benchmark.objects.get(is_mean=False)
    assert (benchmark.parent.identifier, benchmark.in_tree, benchmark.version) == ("IT", True, "7")
    assert benchmark.title == "Textures"


def test_a_benchmark_of_others_without_receipts_stands_apart(db):
    entry = BenchmarkEntry(identifier="Some2026.IT-pls", plugin="some", metadata=BENCHMARK)
    sync_catalogue(Catalogue(benchmarks=(entry,)))
    benchmark = Benchmark.objects.get(is_mean=False)
    assert (benchmark.parent, benchmark.in_tree, benchmark.version) == (None, False, "")


def test_long_texts_fit(db):
    long = BenchmarkMetadata(
        title="t" * 1000,
        bibtex="@misc{a, title = {" + "x" * 30_000 + "}}",
        data=DataMetadata(source="https://example.org/" + "x" * 1000, task="ü\0" * 500),
    )
    assert not sync_catalogue(known(benchmark=long)).problems
    benchmark = Benchmark.objects.get(is_mean=False)
    assert (len(benchmark.title), benchmark.source, len(benchmark.task)) == (200, "", 200)
    assert "\0" not in benchmark.task


def test_problems_are_told(db):
    entries = (
        BenchmarkEntry(identifier="IT", plugin="some"),
        BenchmarkEntry(identifier="b" * 300, plugin="some"),
    )
    problem = Problem(kind="models", plugin="broken", identifiers=("x",), message="cannot be imported")
    report = sync_catalogue(Catalogue(benchmarks=entries, problems=(problem,)))
    assert len(report.problems) == 3
    assert report.problems[0] == "broken: cannot be imported"
    assert not Benchmark.objects.filter(is_mean=False).exists()


@pytest.fixture(scope="module")
def installed():
    return catalogue()


def test_the_installed_catalogue_is_kept(db, installed, django_assert_max_num_queries):
    with django_assert_max_num_queries(120):  # the means of the tree are made one by one
        report = sync_catalogue(installed)
    assert not report.problems
    assert VisionModel.objects.count() == len(installed.models)
    assert Benchmark.objects.filter(is_mean=False).count() == len(installed.benchmarks)
    with django_assert_max_num_queries(20):
        assert sync_catalogue(installed) == CatalogueReport()
    control = Benchmark.objects.get(identifier="Simulated2026.V1-pls")
    assert (control.control, control.in_tree, control.access) == (True, False, "public")
