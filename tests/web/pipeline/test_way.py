"""The whole way of a submission: check, test in the cage, review, publish."""

import pytest

from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.models import Letter, Plugin, Step
from brainscore_web.submissions.pipeline._running import run_next
from tests.web._plugins import benchmark_files, model_files

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caged():
    """The sandbox."""
    from brainscore_core.errors import UserError
    from brainscore_core.scoring.subjects.cage import require_cage

    try:
        require_cage()
    except UserError as error:
        pytest.skip(str(error))


def test_a_model_goes_live(caged, submit, states):
    """Checked, tested in the cage, published without review; scoring begins."""
    revision = submit(visibility="private")
    assert states(revision) == "wait wait wait wait wait"
    assert run_next()
    assert states(revision) == "pass wait wait wait wait", Step.objects.get(revision=revision, kind="check").reason
    assert run_next()
    step = Step.objects.get(revision=revision, kind="test")
    assert step.state == "passed", (step.reason, step.internal, step.log[-3000:], step.result)
    assert step.result["passed"] == 1
    assert step.result["failed"] == 0
    assert "Tests of models/tiles_8" in step.log
    assert "1 passed" in step.log
    assert {check["result"] for check in step.result["checks"]} <= {"passed", "not applicable", "warning"}
    assert run_next()
    assert states(revision) == "pass pass skip pass runn"
    live = Plugin.objects.get()
    assert (live.kind, live.name, live.owner, live.identifiers) == (
        "models", "tiles_8", revision.submission.owner, ["tiles-8"],
    )  # fmt: skip
    row = VisionModel.objects.get(identifier="tiles-8")
    assert (row.owner, row.visibility, row.plugin, row.family) == (live.owner, "private", "tiles_8", "tiles")
    assert row.bibtex.startswith("@misc{tiles2026")
    assert (pipeline.published_folder() / "models" / "tiles_8" / "model.py").is_file()
    assert not run_next()


def test_failing_tests_are_told(caged, submit, states):
    """The submitter reads which test failed and why, in one letter; nothing goes further."""
    files = model_files()
    files["models/tiles_8/test.py"] += "\n\ndef test_wrong():\n    assert 1 + 1 == 3, 'sums'\n"
    revision = submit(files)
    assert run_next()
    assert run_next()
    assert states(revision) == "pass fail wait wait wait"
    revision.submission.refresh_from_db()
    assert revision.submission.state == "changes"
    result = Step.objects.get(revision=revision, kind="test").result
    assert (result["passed"], result["failed"]) == (1, 1)
    assert "test_wrong" in result["failures"][0]["name"]
    assert "sums" in Letter.objects.get(submission=revision.submission).body
    assert not run_next()


def test_a_benchmark_waits_for_review(caged, submit, states, staff):
    """It is tested with public data, waits, and once approved is there with its version and its place in the tree."""
    from brainscore_web.submissions.models import Review

    revision = submit(benchmark_files())
    assert run_next()
    assert run_next()
    step = Step.objects.get(revision=revision, kind="test")
    assert states(revision) == "pass pass wait wait wait", (step.reason, step.internal, step.log[-3000:])
    assert not run_next()
    assert not Plugin.objects.exists()
    review = Review.objects.create(revision=revision, reviewer=staff, verdict="approved")
    pipeline.approve(revision, review)
    assert run_next()
    assert states(revision)[:24] == "pass pass pass pass runn"
    row = Benchmark.objects.get(identifier="Author2026-pls")
    assert (row.version, row.parent.identifier, row.access, row.owner) == (
        "1", "V1", "public", revision.submission.owner,
    )  # fmt: skip
    assert "author2026" in row.bibtex
    assert row.credit == "Olga Owner"
