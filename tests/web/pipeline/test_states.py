"""What follows from what: each row of the table, and that everything else changes nothing."""

import itertools

import pytest

from brainscore_web.submissions.models import Step, Submission
from brainscore_web.submissions.pipeline.transitions import Event, change_after

KINDS = ("check", "test", "review", "publish", "score")
WORDS = {"w": "waiting", "r": "running", "p": "passed", "f": "failed", "s": "skipped", "c": "cancelled"}
TABLE = [
    # event, of which step, submission, its steps, → submission, its steps, what is due
    (Event.STARTED, "", "queued", "wwwww", "queued", "wwwww", "check"),
    (Event.STARTED, "", "changes", "wwwww", "queued", "wwwww", "check"),
    (Event.STARTED, "", "review", "wwwww", "queued", "wwwww", "check"),
    (Event.STARTED_WITH_ERRORS, "", "queued", "wwwww", "changes", "fwwww", ""),
    (Event.PASSED, "check", "queued", "rwwww", "queued", "pwwww", "test"),
    (Event.PASSED, "test", "queued", "prwww", "review", "ppwww", ""),
    (Event.PASSED, "publish", "publishing", "ppprw", "scoring", "ppppr", ""),
    (Event.FAILED, "check", "queued", "rwwww", "changes", "fwwww", ""),
    (Event.FAILED, "test", "queued", "prwww", "changes", "pfwww", ""),
    (Event.FAILED, "publish", "publishing", "ppprw", "changes", "pppfw", ""),
    (Event.APPROVED, "", "review", "ppwww", "publishing", "pppww", "publish"),
    (Event.CHANGES, "", "review", "ppwww", "changes", "ppfww", ""),
    (Event.REJECTED, "", "review", "ppwww", "rejected", "ppfcc", ""),
    (Event.REJECTED, "", "queued", "rwwww", "rejected", "ccfcc", ""),
    (Event.REJECTED, "", "changes", "pfwww", "rejected", "pffcc", ""),
    (Event.WITHDRAWN, "", "queued", "prwww", "withdrawn", "pcccc", ""),
    (Event.WITHDRAWN, "", "changes", "pfwww", "withdrawn", "pfccc", ""),
    (Event.WITHDRAWN, "", "review", "ppwww", "withdrawn", "ppccc", ""),
    (Event.WITHDRAWN, "", "publishing", "ppprw", "withdrawn", "pppcc", ""),
    (Event.RETRIED, "check", "changes", "fwwww", "queued", "wwwww", "check"),
    (Event.RETRIED, "test", "changes", "pfwww", "queued", "pwwww", "test"),
    (Event.RETRIED, "test", "changes", "pcwww", "queued", "pwwww", "test"),
    (Event.RETRIED, "publish", "changes", "pppfw", "publishing", "pppww", "publish"),
    (Event.RETRIED, "score", "done", "ppppp", "scoring", "ppppr", ""),
    (Event.CANCELLED, "", "queued", "rwwww", "changes", "cwwww", ""),
    (Event.CANCELLED, "", "queued", "pwwww", "changes", "pcwww", ""),
    (Event.CANCELLED, "", "publishing", "pppww", "changes", "pppcw", ""),
    (Event.CANCELLED, "", "scoring", "ppppr", "done", "ppppc", ""),
    (Event.SCORED, "", "scoring", "ppppr", "done", "ppppp", ""),
]


def steps_of(letters):
    return dict(zip(KINDS, (WORDS[letter] for letter in letters), strict=True))


@pytest.mark.parametrize(("event", "kind", "state", "steps", "then", "steps_then", "due"), TABLE)
def test_each_row(event, kind, state, steps, then, steps_then, due):
    """What the table says."""
    change = change_after(event, state, steps_of(steps), kind=kind)
    assert change is not None
    assert (change.state, change.due) == (then, due)
    assert {**steps_of(steps), **change.steps} == steps_of(steps_then)


def test_models_alone_are_not_reviewed():
    """After their tests they are published."""
    change = change_after(Event.PASSED, "queued", steps_of("prwww"), kind="test", review=False)
    assert (change.state, change.due) == ("publishing", "publish")
    assert {**steps_of("prwww"), **change.steps} == steps_of("ppsww")


@pytest.mark.parametrize("state", ["done", "rejected", "withdrawn", "scoring"])
def test_what_ended_stays(state):
    """Nothing brings back what was withdrawn or rejected, and what is live is not taken back by the pipeline."""
    for event, kind in itertools.product(Event, KINDS):
        if (event, state) in ((Event.SCORED, "scoring"), (Event.CANCELLED, "scoring")):
            continue
        if event is Event.RETRIED and (kind, state) == ("score", "done"):
            continue
        for letters in ("ppppr", "pprww", "rwwww", "pfwww", "ppwww"):
            assert change_after(event, state, steps_of(letters), kind=kind) is None, (event, kind, letters)


def test_only_what_runs_ends():
    """A step that waits, was cancelled or has ended is not ended by a late event."""
    for letters in ("wwwww", "cwwww", "fwwww", "pwwww"):
        for event in (Event.PASSED, Event.FAILED):
            assert change_after(event, "queued", steps_of(letters), kind="check") is None


def test_nothing_goes_live_without_review():
    """Whatever happens in whatever order: a benchmark is published only after an approval."""
    reached = {("queued", "wwwww", False)}
    todo = list(reached)
    while todo:
        state, letters, approved = todo.pop()
        assert state not in ("publishing", "scoring", "done") or approved
        steps = steps_of(letters)
        claimed = [
            letters[:at] + "r" + letters[at + 1 :] for at in (0, 1, 3) if letters[at] == "w"
        ]  # a worker may take any automatic step
        nexts = [(state, one, approved) for one in claimed]
        for event, kind in itertools.product(Event, KINDS):
            if event in (Event.STARTED, Event.STARTED_WITH_ERRORS):
                continue
            change = change_after(event, state, steps, kind=kind, review=True)
            if change is not None:
                found = {**steps, **change.steps}
                back = {word: letter for letter, word in WORDS.items()}
                after_that = "".join(back[found[one]] for one in KINDS)
                nexts.append((change.state, after_that, approved or event is Event.APPROVED))
        for one in nexts:
            if one not in reached:
                reached.add(one)
                todo.append(one)
    assert {state for state, _letters, _approved in reached} == set(Submission.State.values)
    assert {WORDS[letter] for _state, letters, _approved in reached for letter in letters} == set(Step.State.values) - {
        "skipped"
    }
