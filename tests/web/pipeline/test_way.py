"""The whole pipeline of a submission: check, test in the sandbox, review, publish."""

import os

import pytest
from allauth.account.models import EmailAddress

from brainscore_web.jobs.models import Email
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions import pipeline, plugin_folders
from brainscore_web.submissions.models import Plugin, Review, Step
from brainscore_web.submissions.pipeline.runner import run_next_step
from tests.web._plugins import model_files

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow(reason="tests plugins in the sandbox")]


@pytest.fixture
def caged():
    """The sandbox."""
    from brainscore_core.errors import UserError
    from brainscore_core.isolation.sandbox import require_sandbox

    try:
        require_sandbox()
    except UserError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))


def test_a_model_goes_live(caged, submit, states):
    """Checked, tested in the sandbox, published without review; scoring begins."""
    revision = submit(visibility="private")
    assert states(revision) == "wait wait skip wait wait"
    assert run_next_step()
    assert states(revision) == "pass wait skip wait wait", Step.objects.get(revision=revision, kind="check").reason
    assert run_next_step()
    step = Step.objects.get(revision=revision, kind="test")
    assert step.state == "passed", (step.reason, step.internal, step.log[-3000:], step.result)
    assert step.result["passed"] == 1
    assert step.result["failed"] == 0
    assert "Tests of models/tiles_8" in step.log
    assert "1 passed" in step.log
    assert {check["result"] for check in step.result["checks"]} <= {"passed", "not applicable", "warning"}
    assert run_next_step()
    assert states(revision).startswith("pass pass skip pass")
    live = Plugin.objects.get()
    assert (live.kind, live.name, live.owner, live.identifiers) == (
        "models", "tiles_8", revision.submission.owner, ["tiles-8"],
    )  # fmt: skip
    row = VisionModel.objects.get(identifier="tiles-8")
    assert (row.owner, row.visibility, row.plugin, row.family) == (live.owner, "private", "tiles_8", "tiles")
    assert row.bibtex.startswith("@misc{tiles2026")
    assert (plugin_folders.published_folder() / "models" / "tiles_8" / "model.py").is_file()
    assert not run_next_step()


def test_plugins_of_language_go_live(caged, submit, staff, tmp_path, monkeypatch):
    """What `brainscore new` writes is checked and tested in the sandbox; benchmarks and data wait for a reviewer."""
    from brainscore.scaffold import write_plugin
    from brainscore_core.domains import domain

    monkeypatch.setenv("BRAINSCORE_PLUGINS", "")  # restored after the test
    for kind, name in (("benchmark", "Reading2026-pearsonr"), ("model", "tiny-reader")):
        write_plugin(kind, name, root=tmp_path / "lab", of=domain("language"))
    monkeypatch.setenv("BRAINSCORE_PLUGINS", "")
    files = {str(file.relative_to(tmp_path / "lab")): file.read_text() for file in (tmp_path / "lab").rglob("*.py")}
    revision = submit(files)
    assert revision.submission.domain == "language"
    for kind in ("check", "test"):
        assert run_next_step()
        step = Step.objects.get(revision=revision, kind=kind)
        assert step.state == "passed", (step.reason, step.internal, step.log[-3000:], step.result)
    assert step.result["failed"] == 0
    assert "Reading2026-pearsonr: it scores a model: passed" in step.log
    assert set(revision.assessments.values_list("state", "reason")) == {
        ("not possible", "benchmarks of language are not assessed, only checked")
    }
    pipeline.approve(revision, Review.objects.create(revision=revision, reviewer=staff, verdict="approve"))
    assert run_next_step()
    assert set(Plugin.objects.values_list("domain", "kind", "name")) == {
        ("language", kind, name)
        for kind, name in (("benchmarks", "reading2026"), ("data", "reading2026"), ("models", "tiny_reader"))
    }
    assert VisionModel.objects.get(identifier="tiny-reader").domain == "language"
    assert Benchmark.objects.get(identifier="Reading2026-pearsonr").parent.identifier == "behavior_language"


def test_failing_tests_are_told(caged, submit, states, client):
    """The submitter reads which test failed and why, in the e-mail and on the page, without paths of the server."""
    files = model_files()
    files["models/tiles_8/test.py"] += (
        "\n\ndef test_wrong():\n    number = 2\n    assert number + 1 == 4, 'sums'\n"
        "\n\ndef test_file():\n    print(__file__)\n    open(__file__ + '.csv')\n"
    )
    revision = submit(files)
    assert run_next_step()
    assert run_next_step()
    assert states(revision) == "pass fail skip wait wait"
    revision.submission.refresh_from_db()
    assert revision.submission.state == "changes"
    result = Step.objects.get(revision=revision, kind="test").result
    assert (result["passed"], result["failed"]) == (1, 2)
    wrong, file = result["failures"]
    assert wrong["name"] == "models/tiles_8/test.py::test_wrong"
    assert (wrong["file"], wrong["line"]) == ("models/tiles_8/test.py", 12)
    assert "assert number + 1 == 4, 'sums'" in wrong["detail"]
    assert "(2 + 1) == 4" in wrong["detail"]
    assert "No such file or directory: 'models/tiles_8/test.py.csv'" in file["message"]
    assert "sums" in Email.objects.get(submission=revision.submission).body
    assert not run_next_step()
    owner = revision.submission.owner
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    client.force_login(owner)
    page = client.get(f"/submissions/{revision.submission_id}/").content.decode()
    assert "assert number + 1 == 4" in page.split("Failed tests and checks", 1)[1]
    assert "No findings" not in page
    log = Step.objects.get(revision=revision, kind="test").log
    folder = str(plugin_folders.unpacked(revision).parent.parent)
    for text in (log, page, str(result)):
        assert folder not in text
        assert "site-packages" not in text
        assert os.getcwd() not in text


_METRIC = {
    "metrics/closeness/__init__.py": """\"\"\"How often choices are right.\"\"\"

from brainscore_vision import metric_registry
from brainscore_vision.metrics.accuracy.metric import Accuracy

metric_registry["closeness"] = Accuracy
""",
    "metrics/closeness/test.py": """import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric


def test_a_known_score():
    choices = BehavioralAssembly(
        ["cat", "dog", "dog"], coords={"stimulus_id": ("presentation", list("abc"))}, dims=["presentation"]
    )
    assert float(load_metric("closeness")(choices, ["cat", "dog", "cat"])) == pytest.approx(0.667, abs=0.001)


@pytest.mark.private_access
def test_on_private_data():
    raise AssertionError("it must not run")
""",
}


def test_a_metric_waits_for_review(caged, submit, states, staff):
    """It is tested without private data, waits, and is live once approved."""
    from brainscore_web.submissions.models import Review

    revision = submit(_METRIC)
    assert run_next_step(), revision.findings
    assert run_next_step(), revision.findings
    step = Step.objects.get(revision=revision, kind="test")
    assert (step.result["passed"], step.result["skipped_private"]) == (1, 1), step.log[-3000:]
    assert states(revision) == "pass pass wait wait wait", (step.result, step.internal, step.log[-3000:])
    assert not run_next_step()
    assert not Plugin.objects.exists()
    review = Review.objects.create(revision=revision, reviewer=staff, verdict="approved")
    pipeline.approve(revision, review)
    assert run_next_step()
    assert states(revision).startswith("pass pass pass pass")
    assert (plugin_folders.published_folder() / "metrics" / "closeness" / "__init__.py").is_file()
