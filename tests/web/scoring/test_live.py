"""What is live, and what that means for models and receipts."""

import numpy as np
import pytest
import xarray as xr

from brainscore_core.plugins import DuplicateRegistrationError
from brainscore_core.results.store import Arrays
from brainscore_core.scoring import BenchmarkInfo, ErrorInfo, Estimate, ModelInfo, PluginCode, Receipt, ResultsStore
from brainscore_vision import model_registry
from brainscore_web.leaderboard.models import Ingestion, Score, StoredInfluence, VisionModel
from brainscore_web.scoring.claims import JOBS, claim_job
from brainscore_web.scoring.completion import complete_job, give_up_after_attempts, usable_receipt
from brainscore_web.scoring.live_plugins import LivePlugins, current_live_plugins
from brainscore_web.scoring.models import Job

from .._plugins import model_files
from ._site import SIMULATED, in_tree, publish, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def claimed(owner):
    """A claimed job of a submitted model."""
    _, benchmarks = in_tree()
    publish(submit(owner, model_files(), visibility="private"))
    model = VisionModel.objects.get(identifier="tiles-8")
    Job.objects.create(model=model, benchmark=benchmarks[0], why="new model")
    return claim_job("w")


def receipt(store, live, *, model_code="now", state="scored", attachments=None, **values):
    """Of the claimed pair, by the code of now or of before."""
    codes = {}
    for kind, name in (("model", "tiles-8"), ("benchmark", SIMULATED[0])):
        folder = live.folder_of(kind, name)
        codes[kind] = PluginCode(name=folder.name, sha256=live._hash(folder))
    if model_code != "now":
        codes["model"] = PluginCode(name="tiles_8", sha256="0" * 64)
    return store.write(
        Receipt(
            model=ModelInfo(identifier="tiles-8", plugin=codes["model"]),
            benchmark=BenchmarkInfo(identifier=SIMULATED[0], plugin=codes["benchmark"]),
            state=state,
            score=Estimate(value=0.5) if state == "scored" else None,
            reason=None if state == "scored" else "no",
            error=None if state == "scored" else ErrorInfo(type="ValueError", message="no", traceback="no"),
            **values,
        ),
        attachments,
    )


def test_submitted_models_are_caged_and_so_is_what_nobody_knows(claimed, owner):
    live = current_live_plugins()
    assert live.is_submitted("tiles-8")
    assert live.revision_of("tiles-8") == owner.submissions.get().latest.pk
    assert not live.is_submitted("pixels")
    assert live.revision_of("pixels") is None
    assert live.is_submitted("whatever-this-is")
    assert live.folder_of("benchmark", SIMULATED[0]).name == "simulated2026"


def test_live_plugins_take_the_place_of_no_built_in_one(tmp_path, monkeypatch):
    plugin = tmp_path / "models" / "mine" / "__init__.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("from brainscore_vision import model_registry\nmodel_registry['pixels'] = dict\n")
    for name, value in LivePlugins(tmp_path).environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(DuplicateRegistrationError, match="models/mine"):
        model_registry["pixels"]


def test_another_version_is_another_folder(claimed, owner):
    before = current_live_plugins()
    publish(submit(owner, model_files(size=9), submission=owner.submissions.get()))
    after = current_live_plugins()
    assert before.folder != after.folder
    assert before._hash(before.folder_of("model", "tiles-8")) != after._hash(after.folder_of("model", "tiles-8"))


@pytest.mark.parametrize(
    ("how", "why", "begun_before", "usable"),
    [
        ({}, "new model", False, True),
        ({"model_code": "before"}, "new version", False, False),
        ({"state": "failed"}, "new model", False, False),
        ({}, "asked for", False, False),
        ({}, "asked for", True, True),
        ({"state": "failed"}, "asked for", True, True),
        ({"state": "failed", "model_code": "before"}, "new version", True, False),
    ],
)
def test_which_receipts_make_scoring_needless(claimed, settings, how, why, begun_before, usable):
    claimed.row.why = why
    claimed.row.started = Job.objects.get().started if begun_before else None
    store, live = ResultsStore(settings.SUBMISSIONS["results"]), current_live_plugins()
    assert usable_receipt(claimed, store, live) is None
    made = receipt(store, live, **how)
    assert usable_receipt(claimed, store, live) == (made if usable else None)


def test_score_state_and_log_are_written_together_or_not_at_all(claimed, settings, monkeypatch):
    from brainscore_web.scoring import completion

    store, live = ResultsStore(settings.SUBMISSIONS["results"]), current_live_plugins()
    made = receipt(store, live)

    def breaks(*args, **kwargs):
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr(completion, "notify_submissions", breaks)
        with pytest.raises(RuntimeError):
            complete_job(claimed, store, made)
    assert not Score.objects.exists()
    assert not Ingestion.objects.exists()
    assert claimed.rows().exists()
    assert complete_job(claimed, store, made)
    row = Job.objects.get()
    assert (row.state, row.receipt, Score.objects.get().value) == ("scored", made.id, 0.5)
    model = VisionModel.objects.get(identifier="tiles-8")
    assert (model.visibility, model.owner.email) == ("private", "owner@example.org")


def test_influences_of_units_are_kept_with_the_score(claimed, settings):
    store, live = ResultsStore(settings.SUBMISSIONS["results"]), current_live_plugins()
    subjects = ("subject", [f"s{number:02}" for number in range(12)])
    effects = xr.DataArray(np.arange(12.0), coords={"subject": subjects}, dims=["subject"], attrs={"estimate": 0.5})
    made = receipt(store, live, attachments={"influence": Arrays(effects)})
    assert complete_job(claimed, store, made)
    ((kind, sources, *rest),) = Score.objects.get().influence.parts
    assert (kind, sources, rest) == ("subjects", ["Simulated2026", ""], [12, False, True, 0])
    Job.objects.update(claim=claimed.row.claim, state="running")  # the score is known to a second attempt
    assert complete_job(claimed, store, made)
    assert StoredInfluence.objects.count() == 1


def test_who_lost_a_job_writes_nothing(claimed, settings):
    store, live = ResultsStore(settings.SUBMISSIONS["results"]), current_live_plugins()
    made = receipt(store, live)
    Job.objects.update(claim="another")
    assert not complete_job(claimed, store, made)
    assert not Score.objects.exists()


def test_what_ended_in_the_midst_too_often_has_failed(claimed, tmp_path):
    store = ResultsStore(str(tmp_path / "results"))
    claimed.row.attempts = JOBS.retry.attempts
    assert give_up_after_attempts(claimed, store) is None
    claimed.row.attempts = JOBS.retry.attempts + 1
    made = give_up_after_attempts(claimed, store)
    assert (made.state, made.error.type) == ("failed", "WorkerLost")
    assert store.latest("tiles-8", SIMULATED[0]) == made
