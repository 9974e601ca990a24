"""Small pictures of similar stimuli."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from brainscore_core.receipts.assessment import result_of
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.results.validity import pair_pictures
from brainscore_vision.assessment import tasks
from brainscore_vision.assessment.audit import Audit, add_thumbnails, thumbnail
from brainscore_vision.assessment.duplicates import Pair
from brainscore_vision.assessment.tasks import Task, run_task

BENCHMARK = "Simulated2026.V1-rdm"


@pytest.fixture
def pairs(tmp_path):
    """Fifteen pairs of noise, the first five equal."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(15):
        path = tmp_path / f"{number}.png"
        Image.fromarray(rng.integers(0, 256, (300, 400, 3), dtype=np.uint8)).save(path)
        found.append(Pair(f"a{number}", f"b{number}", 0.95, number < 5, str(path), str(path)))
    return found


def audit_of(pairs):
    return Audit(BENCHMARK, 30, {}, (), (), tuple(pairs), (), (), (), 0.9, 0)


def test_they_are_small(pairs):
    address = thumbnail(pairs[0].first_path)
    assert len(address) < 12_000  # noise, which compresses badly
    with Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))) as image:
        assert image.size == (64, 48)


def test_near_duplicates_come_first(pairs):
    result = audit_of(pairs).to_dict()
    add_thumbnails(result, pairs)
    shown = [pair["first"] for pair in result["pairs"] if "first_picture" in pair]
    assert shown == [f"a{number}" for number in (0, 1, *range(5, 15))]
    assert len(pair_pictures(result_of("audit", result).pairs)) == 12


def test_files_that_are_not_pictures(pairs, tmp_path):
    other = tmp_path / "a.wav"
    other.write_bytes(b"RIFF")
    result = audit_of([broken := Pair("a", "b", 1.0, True, str(other), str(other)), pairs[0]]).to_dict()
    add_thumbnails(result, [broken, pairs[0]])
    assert ["first_picture" in pair for pair in result["pairs"]] == [False, True]


@pytest.mark.parametrize("public", [True, False])
def test_only_public_stimuli_are_stored(tmp_path, monkeypatch, pairs, public):
    monkeypatch.setattr(tasks, "_compute", lambda task, benchmark, on_event: audit_of(pairs))
    monkeypatch.setattr(tasks, "has_public_stimuli", lambda benchmark: public)
    stored = run_task(Task(BENCHMARK, "audit"), AssessmentStore(tmp_path / "results"))
    assert any("first_picture" in pair for pair in stored.result["pairs"]) == public
