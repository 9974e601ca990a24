"""Metadata of a benchmark's data in Croissant."""

import json

import pytest

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Score

FIRST, WITHHELD = "Simulated000.V1-pls", "Simulated002.V4-pls"
SHA256 = "ab" * 32
FILES = [
    {"url": "https://example.org/data/assy_Simulated000.nc", "sha1": None, "sha256": SHA256},
    {"url": "https://example.org/data/stimulus_Simulated000.csv", "sha1": "cd" * 20, "sha256": None},  # no SHA-256
    {"url": "https://example.org/models/weights.zip", "sha1": None, "sha256": SHA256},
    {"url": "file:assy_Secret.nc", "sha1": None, "sha256": SHA256},
]


@pytest.fixture
def described(board):
    """A public and a withheld benchmark whose data have a licence and terms."""
    details = {"data_licence": "CC-BY-4.0", "data_terms": "For research only."}
    for row in Benchmark.objects.filter(identifier__in=[FIRST, WITHHELD]):
        row.details = {**row.details, **details}
        row.bibtex = "@misc{doe2026, title={A title}}"
        row.save()
        for score in Score.objects.filter(benchmark=row, state="scored"):
            score.document = {"files": FILES}
            score.save()
    revision.bump()


def document(answer):
    assert answer["Content-Type"] == "application/ld+json"
    return json.loads(answer.content)


def test_of_public_data(described, get):
    found = document(get(f"/vision/benchmark/{FIRST}/croissant.json"))
    assert (found["@type"], found["conformsTo"]) == ("sc:Dataset", "http://mlcommons.org/croissant/1.0")
    assert found["name"] == FIRST
    assert found["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert found["usageInfo"] == "For research only."
    assert found["citeAs"].startswith("@misc{doe2026")
    assert found["url"].endswith(f"/vision/benchmark/{FIRST}/")
    assert [(file["name"], file["sha256"]) for file in found["distribution"]] == [("assy_Simulated000.nc", SHA256)]


def test_files_of_withheld_data_are_not_named(described, get, staff):
    found = document(get(f"/vision/benchmark/{WITHHELD}/croissant.json"))
    assert found["distribution"] == []
    assert "withheld" in found["conditionsOfAccess"]
    assert "example.org" not in json.dumps(found)
    assert document(get(f"/vision/benchmark/{WITHHELD}/croissant.json", who=staff))["distribution"]


def test_what_is_not_known_is_left_out(board, get):
    found = document(get(f"/vision/benchmark/{FIRST}/croissant.json"))
    assert not {"license", "usageInfo"} & set(found)
    assert found["description"]


def test_the_card_states_licence_and_terms_and_leads_there(described, get, read):
    answer = get(f"/vision/benchmark/{FIRST}/")
    page = answer.content.decode()
    assert page.count(f'href="/vision/benchmark/{FIRST}/croissant.json"') == 2  # in the head and on the page
    assert 'type="application/ld+json"' in page
    assert "Licence of the data CC-BY-4.0" in read(answer)
    assert "Terms of use For research only." in read(answer)


def test_means_and_unknown_benchmarks_have_none(board, get):
    for identifier in ("V1", "Unknown2026-pls"):
        get(f"/vision/benchmark/{identifier}/croissant.json", status=404)
    assert "croissant" not in get("/vision/benchmark/V1/").content.decode()


def test_the_reference_implementation_accepts_it(described, get, tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs mlcroissant: pip install mlcroissant")
    (tmp_path / "croissant.json").write_bytes(get(f"/vision/benchmark/{FIRST}/croissant.json").content)
    assert not mlcroissant.Dataset(jsonld=tmp_path / "croissant.json").metadata.ctx.issues.errors
