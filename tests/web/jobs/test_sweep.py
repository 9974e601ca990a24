"""The sweep: what the apps have registered, each as often as it asked for, whatever happens to the others."""

import pytest

from brainscore_web.jobs import workers


def test_what_the_apps_register():
    names = {
        f"{function.__module__}.{function.__name__}".removeprefix("brainscore_web.") for function in workers._entries
    }
    assert names == {
        "jobs.outbox.send_due_emails",
        "jobs.workers.delete_old_tasks",
        "submissions.pipeline.runner.close_scored",
        "submissions.pipeline.runner.withdraw_of_deleted_accounts",
        "submissions.pipeline.assessing.resume_assessments",
        "follows.digests.queue_digests",
        "questions.answering.delete_old_questions",
        "questions.answering.resume_questions",
        "search.index.refresh",
        "scoring.stimulus_samples.store_samples",
        "submissions.plugin_folders.delete_unused_folders",
        "submissions.steps.resume_steps",
        "uploads.checking.resume_checks",
    }


def test_one_that_fails_does_not_stop_the_others(monkeypatch):
    monkeypatch.setattr(workers, "_entries", {})
    called = []

    def fails():
        called.append("fails")
        raise OSError("the disk is away")

    def rare():
        called.append("rare")
        return 2

    def often():
        called.append("often")
        return 1

    workers.register(fails)
    workers.register(rare, every=600.0)
    workers.register(often)
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is away"):
            workers.sweep()
    assert called == ["fails", "rare", "often", "fails", "often"]
    del workers._entries[fails]
    assert workers.sweep() == 1
