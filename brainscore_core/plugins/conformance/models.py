"""Checks of models; each raises an error with an explanation, or `NotApplicable`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from brainscore_core.errors import NotApplicable
from brainscore_core.plugins.conformance import Failed
from brainscore_core.provenance import NOT_REPEATABLE, recording

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_REGIONS = ("V1", "V2", "V4", "IT")
_ONE_BIN = [(70, 170)]
_TWO_BINS = [(70, 170), (170, 270)]
_TOLERANCE = 1e-3  # of the largest response


def _identifier(model: Any, stimuli: StimulusSet) -> None:
    identifier = getattr(model, "identifier", None)
    if not isinstance(identifier, str) or not identifier.strip():
        raise Failed(f"identifier is {identifier!r}; it must be a text that names the model")


def _visual_degrees(model: Any, stimuli: StimulusSet) -> None:
    if not callable(getattr(model, "visual_degrees", None)):
        raise Failed("visual_degrees must be a method that returns the visual angle of the model's input")
    degrees = model.visual_degrees()
    if not isinstance(degrees, int | float | np.number) or not 0 < degrees < 9000:
        raise Failed(f"visual_degrees() returned {degrees!r}; it must be a number of degrees above 0")


def _does_something(model: Any, stimuli: StimulusSet) -> None:
    if not _regions(model) and not _tasks(model, stimuli):
        raise Failed("it can be recorded from in no region and does no task: no benchmark could score it")


def _recordings(model: Any, stimuli: StimulusSet) -> None:
    for region in _require_regions(model):
        _check_recording(_record(model, region, stimuli), stimuli, region)


def _check_recording(recording: Any, stimuli: StimulusSet, region: str) -> None:
    dims = tuple(getattr(recording, "dims", ()))
    if dims != ("presentation", "neuroid"):
        raise Failed(
            f"recording {region} in one time bin gave dims {dims}; they must be ('presentation', 'neuroid'), "
            "the time bin squeezed"
        )
    _require_coordinates(recording, {"stimulus_id", "neuroid_id"}, f"the recordings of {region}")
    _check_ids(recording, stimuli, f"the recordings of {region}")
    neuroids = recording["neuroid_id"].values
    if len(set(neuroids)) < len(neuroids):
        raise Failed(f"neuroid_id is not unique in the recordings of {region}")
    _check_numbers(recording, f"the recordings of {region}")


def _time_bins(model: Any, stimuli: StimulusSet) -> None:
    model.start_recording(_require_regions(model)[0], time_bins=_TWO_BINS)
    recording = model.look_at(stimuli)
    if "time_bin" not in recording.dims or recording.sizes["time_bin"] != 2:
        raise Failed(f"two time bins were asked for; {dict(recording.sizes)} came back")
    _require_coordinates(recording, {"time_bin_start", "time_bin_end"}, "recordings in two time bins")
    starts = [int(start) for start in recording["time_bin_start"].values]
    if starts != [70, 170]:
        raise Failed(f"time_bin_start is {starts}; [70, 170] was asked for")


def _function_of_stimulus(model: Any, stimuli: StimulusSet) -> None:
    """What the model itself notices while it is recorded."""
    with recording() as record:
        _record(model, _require_regions(model)[0], stimuli)
    for item in record.items:
        if item["kind"] == "remark" and NOT_REPEATABLE in item["text"]:
            raise Failed(item["text"])


def _repeats(model: Any, stimuli: StimulusSet) -> None:
    region = _require_regions(model)[0]
    first, second = (_record(model, region, stimuli).values for _ in range(2))
    check_same(first, second, "the same stimuli shown twice gave different responses; switch dropout off, seed noise")


def _order(model: Any, stimuli: StimulusSet) -> None:
    region = _require_regions(model)[0]
    forwards = _record(model, region, stimuli).values
    backwards = _record(model, region, _rows(stimuli, slice(None, None, -1))).values[::-1]
    check_same(forwards, backwards, "responses changed with the order of the stimuli; is batch normalisation training?")


def _others(model: Any, stimuli: StimulusSet) -> None:
    region = _require_regions(model)[0]
    all_of_them = _record(model, region, stimuli).values
    few = _record(model, region, _rows(stimuli, slice(2, 4))).values
    check_same(all_of_them[2:4], few, "responses depended on which other stimuli were shown")


def _trials(model: Any, stimuli: StimulusSet) -> None:
    region = _require_regions(model)[0]
    model.start_recording(region, time_bins=_ONE_BIN)
    recording = model.look_at(stimuli, number_of_trials=3, require_variance=True)
    if recording.sizes["presentation"] != 3 * len(stimuli):
        raise Failed(
            f"3 trials of {len(stimuli)} stimuli, kept apart, gave {recording.sizes['presentation']} presentations"
        )
    shown, times = np.unique(recording["stimulus_id"].values.astype(str), return_counts=True)
    if set(shown) != set(stimuli["stimulus_id"]) or set(times) != {3}:
        raise Failed("with 3 trials kept apart, each stimulus_id must stand for 3 presentations")
    once = _record(model, region, stimuli)
    if once.sizes["presentation"] != len(stimuli):
        raise Failed("after trials were kept apart once, a plain look_at still keeps them apart")


def _label(model: Any, stimuli: StimulusSet) -> None:
    labels = ["dog", "cat"]
    model.start_task("label", labels)
    answers = model.look_at(stimuli)
    _check_answers(answers, stimuli, "label")
    strange = set(np.asarray(answers.values).ravel().tolist()) - set(labels)
    if strange:
        raise Failed(f"asked for {labels}, it answered {sorted(map(str, strange))[:3]}")


def _probabilities(model: Any, stimuli: StimulusSet) -> None:
    model.start_task("probabilities", stimuli)
    answers = model.look_at(stimuli)
    _check_answers(answers, stimuli, "probabilities")
    if "choice" not in _coordinates(answers) or set(answers["choice"].values) != set(stimuli["image_label"]):
        raise Failed("the coordinate choice must hold the image_label of the fitting stimuli")
    values = answers.transpose("presentation", "choice").values
    if values.min() < -1e-6 or not np.allclose(values.sum(axis=1), 1, atol=1e-4):
        raise Failed("the probabilities of a stimulus must be at least 0 and sum to 1")


def _odd_one_out(model: Any, stimuli: StimulusSet) -> None:
    triplets = _rows(stimuli, slice(0, len(stimuli) // 3 * 3))
    model.start_task("odd_one_out", None)
    answers = np.asarray(model.look_at(triplets).values).ravel()
    if len(answers) != len(triplets) // 3:
        raise Failed(f"{len(triplets) // 3} triplets got {len(answers)} answers")
    if not set(answers.tolist()) <= {0, 1, 2}:
        raise Failed(f"answers must be the odd one's place in its triplet, 0 to 2; they are {answers.tolist()}")


def _passive(model: Any, stimuli: StimulusSet) -> None:
    model.start_recording(_require_regions(model)[0], time_bins=_ONE_BIN)
    model.start_task("passive", None)
    if tuple(model.look_at(stimuli).dims) != ("presentation", "neuroid"):
        raise Failed("while it looks passively, a model goes on being recorded")


def _recording_after_task(model: Any, stimuli: StimulusSet) -> None:
    region, tasks = _require_regions(model)[0], _tasks(model, stimuli)
    if not tasks:
        raise NotApplicable("it does no task")
    before = _record(model, region, stimuli)
    model.start_task(tasks[0], _fitting(tasks[0], stimuli))
    after = _record(model, region, stimuli)
    if tuple(after.dims) != ("presentation", "neuroid"):
        raise Failed(f"start_recording after the task {tasks[0]!r} gave dims {tuple(after.dims)}: it did not record")
    check_same(before.values, after.values, f"recordings changed after the task {tasks[0]!r}")


def _refuses(model: Any, stimuli: StimulusSet) -> None:
    for subject, start in (
        ("region", lambda: model.start_recording("no-such-region", time_bins=_ONE_BIN)),
        ("task", lambda: model.start_task("no-such-task", None)),
    ):
        try:
            start()
        except NotApplicable:
            continue
        except Exception as error:
            raise Failed(
                f"an unknown {subject} raised {type(error).__name__}; raise NotApplicable(reason), so that the pair "
                "counts as not applicable rather than failed"
            ) from error
        raise Failed(f"an unknown {subject} was taken silently; raise NotApplicable(reason)")


def _regions(model: Any) -> list[str]:
    return [region for region in _REGIONS if _can(lambda region=region: model.start_recording(region, _ONE_BIN))]


def _require_regions(model: Any) -> list[str]:
    if regions := _regions(model):
        return regions
    raise NotApplicable("it can be recorded from in no region")


def _tasks(model: Any, stimuli: StimulusSet) -> list[str]:
    return [
        task
        for task in ("label", "probabilities", "odd_one_out")
        if _can(lambda task=task: model.start_task(task, _fitting(task, stimuli)))
    ]


def _fitting(task: str, stimuli: StimulusSet) -> Any:
    return {"label": ["dog", "cat"], "probabilities": stimuli}.get(task)


def _can(start: Callable[..., Any]) -> bool:
    try:
        start()
    except NotApplicable:
        return False
    return True


def _record(model: Any, region: str, stimuli: StimulusSet) -> Any:
    model.start_recording(region, time_bins=_ONE_BIN)
    return model.look_at(stimuli)


def _rows(stimuli: StimulusSet, rows: slice) -> StimulusSet:
    chosen = stimuli.iloc[rows]
    chosen.identifier = f"{stimuli.identifier}-part"
    return chosen


def _coordinates(assembly: Any) -> set[str]:
    return {str(name) for name in getattr(assembly, "coords", ())} | {
        str(name) for index in getattr(assembly, "indexes", {}).values() for name in index.names if name
    }


def _require_coordinates(assembly: Any, names: set[str], where: str) -> None:
    if missing := sorted(names - _coordinates(assembly)):
        raise Failed(f"{where} lack the coordinate {', '.join(missing)}")


def _check_ids(assembly: Any, stimuli: StimulusSet, where: str) -> None:
    ids, shown = list(assembly["stimulus_id"].values), list(stimuli["stimulus_id"])
    if ids == shown:
        return
    if sorted(map(str, ids)) == sorted(map(str, shown)):
        raise Failed(f"{where} hold the stimuli in another order than they were shown in")
    raise Failed(f"{where} hold {len(ids)} presentations whose stimulus_id are not those of the {len(shown)} shown")


def _check_numbers(assembly: Any, where: str) -> None:
    values = assembly.values
    if values.dtype.kind not in "fiu":
        raise Failed(f"{where} are of dtype {values.dtype}, not numbers")
    if values.size == 0:
        raise Failed(f"{where} are empty")
    if not np.isfinite(values).all():
        raise Failed(f"{where} hold NaN or infinity")


def _check_answers(answers: Any, stimuli: StimulusSet, task: str) -> None:
    if set(answers.dims) != {"presentation", "choice"}:
        raise Failed(f"the task {task!r} gave dims {tuple(answers.dims)}; they must be presentation and choice")
    _require_coordinates(answers, {"stimulus_id"}, f"the answers to {task!r}")
    _check_ids(answers, stimuli, f"the answers to {task!r}")


def check_same(first: Any, second: Any, problem: str) -> None:
    """Fail the check if responses differ by more than a thousandth of the largest: batches change the order of sums."""
    if first.shape != second.shape:
        raise Failed(f"{problem} (shapes {first.shape} and {second.shape})")
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    scale = np.max(np.abs(first[np.isfinite(first)]), initial=0.0)
    if not np.allclose(first, second, rtol=0, atol=_TOLERANCE * scale, equal_nan=True):
        raise Failed(f"{problem} (by {np.nanmax(np.abs(first - second)):.2g}, where responses reach {scale:.2g})")


CHECKS: dict[str, Callable[[Any, StimulusSet], None]] = {
    "it has an identifier": _identifier,
    "it knows its visual angle": _visual_degrees,
    "it can be recorded from or does a task": _does_something,
    "recordings have the right form": _recordings,
    "time bins come back as asked": _time_bins,
    "responses are a function of the stimulus": _function_of_stimulus,
    "responses repeat": _repeats,
    "responses do not depend on the order of stimuli": _order,
    "responses do not depend on the other stimuli": _others,
    "trials are kept apart when asked": _trials,
    "task label": _label,
    "task probabilities": _probabilities,
    "task odd_one_out": _odd_one_out,
    "task passive": _passive,
    "recording after a task records": _recording_after_task,
    "what it cannot do it refuses": _refuses,
}
