"""What is computed of an assessment, what is stored, and what is not computed again."""

from dataclasses import dataclass

import pytest

from brainscore_core.errors import DataUnavailable, NotApplicable, UnknownIdentifier, UserError
from brainscore_core.provenance import note
from brainscore_core.results.assessments import AssessmentStore
from brainscore_vision.assessment import tasks
from brainscore_vision.assessment.tasks import Finished, Started, Task, assess, current, plan, run_task

BENCHMARK = "Simulated2026.V1-rdm"


@dataclass(frozen=True)
class Result:
    """A result of a part."""

    value: float = 0.5

    def to_dict(self):
        return {"value": self.value}

    def text(self):
        return f"value {self.value}"


@pytest.fixture
def store(tmp_path):
    return AssessmentStore(tmp_path)


@pytest.fixture
def computed(monkeypatch):
    """Tasks that were computed; each notes a metric, and an exception set in `computed.error` is raised."""

    class Computed(list):
        error = None

    found = Computed()

    def compute(task, benchmark, on_event):
        found.append((task, benchmark.identifier))
        note("metric", identifier="rdm")
        if found.error is not None:
            raise found.error
        return Result()

    monkeypatch.setattr(tasks, "_compute", compute)
    return found


def test_a_plan_has_each_part_for_each_model_and_one_recovery():
    found = plan([BENCHMARK, BENCHMARK], models=["pixels", "simulated-truth"])
    assert [(task.part, task.models) for task in found] == [
        ("audit", ("pixels",)),
        ("audit", ("simulated-truth",)),
        ("controls", ("pixels",)),
        ("controls", ("simulated-truth",)),
        ("recovery", ("pixels", "gabor", "simulated-truth")),
    ]


def test_unknown_names_are_refused_before_anything_is_computed():
    with pytest.raises(UnknownIdentifier, match="Simulated2026"):
        plan(["Simulated2026.V1-rmd"])
    with pytest.raises(UnknownIdentifier, match="pixels"):
        plan([BENCHMARK], models=["pixel"])


def test_what_is_stored_is_not_computed_again(store, computed):
    events = []
    wanted = plan([BENCHMARK], parts=["audit", "controls"])
    first = assess(wanted, store, on_event=events.append)
    assert [type(event) for event in events] == [Started, Finished, Started, Finished]
    assert [(each.part, each.state, each.result) for each in first] == [
        ("audit", "assessed", {"value": 0.5}),
        ("controls", "assessed", {"value": 0.5}),
    ]
    assert {(item.kind, item.identifier) for item in first[0].data} >= {("metric", "rdm")}
    assert first[0].benchmark.version is not None
    assert first[0].benchmark.sha256 is not None
    events.clear()
    assert assess(wanted, store, on_event=events.append) == first
    assert [event.stored for event in events] == [True, True]
    assert len(computed) == 2
    assert len(assess(wanted[:1], store, again=True)) == 1
    assert len(computed) == 3


def test_what_another_process_has_stored_in_the_meantime_is_not_computed_again(store, computed, monkeypatch):
    task = Task(BENCHMARK, "audit")
    claim = store.claim
    others = []

    def claim_late(*args, **options):
        monkeypatch.setattr(store, "claim", claim)
        others.append(run_task(task, store, known=others[0].id if others else None))  # it finishes first
        return claim(*args, **options)

    monkeypatch.setattr(store, "claim", claim_late)
    assert assess([task], store) == others
    assert len(computed) == 1
    monkeypatch.setattr(store, "claim", claim_late)
    assert assess([task], store, again=True) == others[1:]  # newer than the one that was there
    assert len(computed) == 2


def test_a_part_is_computed_again_when_the_code_of_its_metric_has_changed(store, computed, monkeypatch):
    task = Task(BENCHMARK, "audit")
    run_task(task, store)
    assert current(task, store) is not None
    hash_of = tasks._hash
    monkeypatch.setattr(tasks, "_hash", lambda kind, name: "0" * 64 if kind == "metric" else hash_of(kind, name))
    assert current(task, store) is None


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (NotApplicable("it has no stimuli"), "not applicable", "it has no stimuli"),
        (UserError("it has two regions", remedy="name one"), "not applicable", "it has two regions (name one)"),
        (DataUnavailable("no such host", remedy="set BRAINSCORE_MIRROR"), "failed", "set BRAINSCORE_MIRROR"),
        (ZeroDivisionError("division by zero"), "failed", "ZeroDivisionError: division by zero"),
    ],
)
def test_an_error_becomes_the_state_of_the_assessment(store, computed, error, state, reason):
    computed.error = error
    found = run_task(Task(BENCHMARK, "audit"), store)
    assert (found.state, found.reason, found.result) == (state, reason, None)
    assert (found.error is not None) == (state == "failed")
    # only failed parts are tried again
    assert (current(Task(BENCHMARK, "audit"), store) is None) == (state == "failed")


def test_an_interrupt_leaves_nothing_and_frees_the_claim(store, computed):
    computed.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run_task(Task(BENCHMARK, "audit"), store)
    assert store.newest() == ([], [])
    computed.error = None
    assert run_task(Task(BENCHMARK, "audit"), store).state == "assessed"


def test_a_claimed_part_is_left_to_its_process(store, computed):
    events = []
    with store.claim(BENCHMARK, "audit"):
        assert assess([Task(BENCHMARK, "audit")], store, on_event=events.append) == []
    assert events[-1].assessment is None
    assert computed == []


@pytest.mark.slow(reason="audits 800 images and scores six sets of features on them")
def test_the_parts_of_a_benchmark_with_a_model(store):
    audit, controls = assess(plan([BENCHMARK], models=["simulated-truth"], parts=["audit", "controls"]), store)
    assert (audit.state, controls.state) == ("assessed", "assessed"), (audit.reason, controls.reason)
    assert audit.result["stimuli"] == 800
    assert "simulated-truth is above all" in controls.text
