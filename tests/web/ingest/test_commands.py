"""Management commands."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_core.scoring import ResultsStore, export_table
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.assessment import audit
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel


def run(*arguments, **options):
    """What a command prints, and what it complains of."""
    out, error = StringIO(), StringIO()
    complaint = ""
    try:
        call_command(*map(str, arguments), stdout=out, stderr=error, no_color=True, **options)
    except (CommandError, UserError) as found:  # from the command line these are exit codes 1 and 2
        complaint = str(found)
    return out.getvalue(), error.getvalue() + complaint


@pytest.fixture
def results(tmp_path, receipt):
    store = ResultsStore(tmp_path / "results")
    for day in range(3):
        store.write(receipt(f"model-{day}", day=day))
    return store


def test_ingest_reads_folders_and_tables(db, results, tmp_path, receipt):
    pytest.importorskip("pyarrow")
    table = tmp_path / "more.parquet"
    export_table([*results, receipt(day=9)], table)
    out, error = run("ingest", results.address, table)
    assert out.splitlines() == [f"{results.address}: 3 new receipts, 0 known", f"{table}: 1 new receipts, 3 known"]
    assert not error
    assert set(VisionModel.objects.values_list("visibility", flat=True)) == {"public"}


def test_ingest_can_keep_new_models_private(db, results):
    run("ingest", results.address, "--private")
    assert set(VisionModel.objects.values_list("visibility", flat=True)) == {"private"}


def test_ingest_lists_problems(db, results):
    for receipt in results.listing().receipts[:2]:
        results.path_of(receipt).write_text("{")
    out, error = run("ingest", results.address)
    assert "1 new receipts" in out
    assert error.count("not valid JSON") == 2
    assert error.endswith("2 problems; everything else was read")


@pytest.mark.parametrize("source", ["nothing", "nothing.parquet", "ftp://place"])
def test_ingest_says_what_cannot_be_read(db, tmp_path, source):
    pytest.importorskip("pyarrow")
    out, error = run("ingest", source if "://" in source else tmp_path / source)
    assert not out
    assert re.search("there is no folder|cannot be read", error)


def test_sync_catalogue(db):
    out, error = run("sync_catalogue")
    assert re.fullmatch(r"\d{3} new\n0 changed\n", out)
    assert not error
    assert run("sync_catalogue") == ("0 new\n0 changed\n", "")


def test_simulate_fills_an_empty_site(db):
    out, _ = run("simulate", "--models", 3, "--benchmarks", 6)
    assert out == "3 simulated models, 6 simulated benchmarks\n"
    assert Score.objects.exists()
    out, error = run("simulate")
    assert "already has models or benchmarks" in error
    assert VisionModel.objects.count() == 3


@pytest.mark.parametrize("name", ["models", "benchmarks", "versions", "private", "units"])
def test_simulate_refuses_nonsense(db, name):
    assert f"--{name} is" in run("simulate", f"--{name}=-1")[1]
    assert not VisionModel.objects.exists()


def test_sample_stimuli(db, settings, tmp_path, monkeypatch):
    settings.MEDIA_ROOT = tmp_path
    stimuli = StimulusSet({"stimulus_id": ["a", "b", "c"]})
    stimuli.stimulus_paths = {name: tmp_path / f"{name}.png" for name in "abc"}
    for path in stimuli.stimulus_paths.values():
        Image.new("RGB", (5, 5)).save(path)
    monkeypatch.setattr(audit, "first_stimuli", lambda identifier: stimuli)
    Benchmark.objects.create(identifier="Simulated2026.V1-pls", access="public")
    Benchmark.objects.create(identifier="Simulated2026.IT-pls", access="private")
    assert run("sample_stimuli", "--all-public", "--count", 2) == ("Simulated2026.V1-pls: 2 samples\n", "")
    out, error = run("sample_stimuli", "Simulated2026.V1-pls", "Simulated2026.IT-pls")
    assert out == "Simulated2026.V1-pls: already has samples\n"
    assert "withheld" in error
    assert error.endswith("1 benchmarks without samples")


@pytest.mark.parametrize("arguments", [[], ["Some2026-pls", "--all-public"], ["Some2026-pls", "--count=0"]])
def test_sample_stimuli_must_know_what(db, arguments):
    out, error = run("sample_stimuli", *arguments)
    assert not out
    assert "name benchmarks" in error or "--count" in error


def test_profiles(db, tmp_path):
    assert run("profiles", tmp_path) == ("0 new profiles, 0 changed, 0 unchanged\n", "")
    assert "no folder" in run("profiles", tmp_path / "nothing")[1]
    (tmp_path / "aa").mkdir()
    (tmp_path / "aa" / "aa1.json").write_text("{")
    assert "1 profiles were skipped" in run("profiles", tmp_path)[1]
