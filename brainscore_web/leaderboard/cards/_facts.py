"""What is known of a model or a benchmark, as names and values; what is not known is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from brainscore_web.leaderboard.cards._texts import count, megabytes
from brainscore_web.leaderboard.models import Benchmark, VisionModel

__all__ = ["Fact", "benchmark_facts", "model_facts", "notes_of"]


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
        Fact("Source", model.source, model.source),
    )


def benchmark_facts(benchmark: Benchmark) -> tuple[Fact, ...]:
    """What is shown, who was measured and how, what scores are made of."""
    details = _mapping(benchmark.details)
    stimuli, data, metric = (_mapping(details.get(part)) for part in ("stimuli", "data", "metric"))
    degrees, duration = stimuli.get("visual_degrees"), data.get("duration_ms")
    shown = ", ".join(
        filter(
            None,
            (
                benchmark.stimuli,
                f"{benchmark.n_stimuli:,}" if benchmark.n_stimuli is not None else "",
                f"{degrees:g}°" if isinstance(degrees, int | float) else "",
                f"{duration:g} ms" if isinstance(duration, int | float) else "",
            ),
        )
    )
    return _filled(
        Fact("Region", benchmark.region),
        Fact("Species", benchmark.species),
        Fact("Subjects", _number(benchmark.n_subjects)),
        Fact("Neuroids", _number(benchmark.n_neuroids)),
        Fact("Method", benchmark.method),
        Fact("Hemisphere", _text(data, "hemisphere")),
        Fact("Preprocessing", _text(data, "preprocessing")),
        Fact("Task", benchmark.task),
        Fact("Stimuli", shown),
        Fact("Metric", benchmark.metric),
        Fact("Mapping", _text(metric, "mapping")),
        Fact("Stimuli and measurements", {"public": "public", "private": "withheld"}[benchmark.access]),
        Fact("Plugin", benchmark.plugin),
    )


def notes_of(details: Any) -> tuple[str, ...]:
    """Notes of the catalogue, those of its parts included.

    Examples
    --------
    >>> notes_of({"notes": ["a"], "stimuli": {"notes": ["b"]}, "data": {"notes": None}})
    ('a', 'b')
    """
    whole = _mapping(details)
    parts: Iterable[Mapping[str, Any]] = (whole, *(_mapping(whole.get(part)) for part in ("stimuli", "data", "metric")))
    found = [notes if isinstance(notes := part.get("notes") or (), list | tuple) else (notes,) for part in parts]
    return tuple(dict.fromkeys(str(note) for notes in found for note in notes))


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
