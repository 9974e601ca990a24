"""What is known of a model or a benchmark, as names and values; what is not known is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from brainscore_web.leaderboard.cards._texts import count, megabytes, web_address
from brainscore_web.leaderboard.models import Benchmark, VisionModel

__all__ = ["Fact", "benchmark_facts", "distribution_of", "model_facts", "notes_of"]


class Fact(NamedTuple):
    """A name and its value; `href` where it leads somewhere."""

    name: str
    value: str
    href: str = ""


def model_facts(model: VisionModel) -> tuple[Fact, ...]:
    """Architecture, size, training, licences."""
    details = _mapping(model.details)
    total = details.get("total_parameters")
    parameters = count(model.parameters)
    if isinstance(total, int) and model.parameters is not None and total != model.parameters:
        parameters += f" trained, {count(total)} in all"
    side = details.get("image_size")
    return _filled(
        Fact("Architecture", model.architecture),
        Fact("Family", model.family),
        Fact("Parameters", parameters),
        Fact("Size of the weights", megabytes(model.size_mb)),
        Fact("Input", f"{side} × {side} pixels" if side else ""),
        Fact("Training data", model.training_data),
        Fact("Can be run", "yes" if model.runnable else "not with what is published"),
        Fact("Licence of the code", _text(details, "code_licence")),
        Fact("Licence of the weights", _text(details, "weights_licence")),
        Fact("Plugin", model.plugin),
        Fact("Source", model.source, web_address(model.source)),
    )


def benchmark_facts(benchmark: Benchmark) -> tuple[Fact, ...]:
    """What is shown, who was measured and how, what scores are made of."""
    details = _mapping(benchmark.details)
    degrees, duration = details.get("visual_degrees"), details.get("duration_ms")
    shown = (
        benchmark.stimuli,
        "videos" if _text(details, "datatype") == "video" else "",
        f"n = {benchmark.n_stimuli:,}" if benchmark.n_stimuli is not None else "",
        f"{degrees:g}°" if isinstance(degrees, int | float) else "",
        f"{duration:g} ms" if isinstance(duration, int | float) else "",
    )
    stimuli_source, metric_source = _text(details, "stimuli_source"), _text(details, "metric_source")
    return _filled(
        Fact("Region", benchmark.region),
        Fact("Species", benchmark.species),
        Fact("Subjects", _number(benchmark.n_subjects)),
        Fact("Neuroids", _number(benchmark.n_neuroids)),
        Fact("Method", benchmark.method),
        Fact("Hemisphere", _text(details, "hemisphere")),
        Fact("Preprocessing", _text(details, "preprocessing")),
        Fact("Task", benchmark.task),
        Fact("Stimuli", ", ".join(filter(None, shown))),
        Fact("Stimuli from", stimuli_source if stimuli_source != benchmark.source else "", web_address(stimuli_source)),
        Fact("Metric", benchmark.metric, web_address(metric_source)),
        Fact("Mapping", _text(details, "mapping")),
        Fact("Ceiling", _text(details, "ceiling")),
        Fact("Data", "public" if benchmark.access == "public" else "withheld"),
        Fact("Plugin", benchmark.plugin),
    )


def distribution_of(details: Any) -> str:
    """The package that it comes with; empty where that is not known."""
    return _text(_mapping(details), "distribution")


def notes_of(details: Any) -> tuple[str, ...]:
    """Notes of the catalogue, those on stimuli, data and metric included.

    Examples
    --------
    >>> notes_of({"notes": ["a"], "stimuli_notes": ["b", "a"], "data_notes": None})
    ('a', 'b')
    """
    whole = _mapping(details)
    found: list[str] = []
    for name in ("notes", "stimuli_notes", "data_notes", "metric_notes"):
        notes = whole.get(name) or ()
        found += [str(note) for note in ((notes,) if isinstance(notes, str) else notes)]
    return tuple(dict.fromkeys(found))


def _filled(*facts: Fact) -> tuple[Fact, ...]:
    return tuple(fact for fact in facts if fact.value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(str(item) for item in value)
    return "" if value is None else str(value)


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
