"""Profiles of layers: the score of each on a benchmark, and on held-out halves of its stimuli."""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark
from brainscore_core.files import replacing
from brainscore_core.paths import layer_profiles_home
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly

__all__ = [
    "HeldOut",
    "LayerProfile",
    "LayerScore",
    "half_scores",
    "part_scorer",
    "profile_file",
    "random_halves",
    "read_profile",
    "write_profile",
]

SCHEMA = 1


@dataclass(frozen=True)
class LayerScore:
    """Score of one layer.

    Attributes
    ----------
    layer : str
        Name of the layer.
    features : int
        Number of its features.
    score : float
        The benchmark's score, but not clamped; NaN if it is not defined.
    error : float
        Its standard error, or NaN.
    ci : tuple of float
        Its confidence interval, or NaN.
    raw : float
        Score before division by the ceiling.
    halves : tuple of (float, float)
        Raw score on both halves of the stimuli, for each division.
    reason : str or None
        Why the metric cannot score this layer; all numbers are then NaN.
    """

    layer: str
    features: int
    score: float
    error: float
    ci: tuple[float, float]
    raw: float
    halves: tuple[tuple[float, float], ...] = ()
    reason: str | None = None


class HeldOut(NamedTuple):
    """Selection on half of the stimuli, scored on the other half, over random divisions.

    Attributes
    ----------
    value, sd : float
        Mean and standard deviation of the raw score on one half, for the layer with the highest raw score on the other.
    optimism : float
        Mean difference between the raw scores of the same layers on the half that they were chosen on and the other.
    chosen : dict of str to float
        Share of choices of each layer; layers that were never chosen are left out.
    times : int
        Number of choices.
    """

    value: float
    sd: float
    optimism: float
    chosen: dict[str, float]
    times: int


@dataclass(frozen=True)
class LayerProfile:
    """Scores of all layers on one benchmark.

    Attributes
    ----------
    model, benchmark, version : str
        Identifiers of model and benchmark, and the benchmark's version.
    control : bool
        Whether the benchmark's measurements are simulated.
    visual_degrees : float
        Visual angle that the model's input spans.
    stimuli : int
        Number of stimuli shown.
    ceiling : float
        Ceiling of the benchmark, or NaN.
    components : int or None
        Principal components to which larger layers were reduced, if there were more stimuli.
    scores : tuple of LayerScore
        In the network's order.
    no_halves : str or None
        Why layers were not scored on halves of the stimuli.
    """

    model: str
    benchmark: str
    version: str
    control: bool
    visual_degrees: float
    stimuli: int
    ceiling: float
    components: int | None
    scores: tuple[LayerScore, ...] = field(default_factory=tuple)
    no_halves: str | None = None

    @property
    def best(self) -> str | None:
        """The layer with the highest score, the earlier of equal ones; None if no score is defined."""
        values = np.array([score.score for score in self.scores], dtype=np.float64)
        if not len(values) or np.isnan(values).all():
            return None
        return self.scores[int(np.nanargmax(values))].layer

    @property
    def held_out(self) -> HeldOut | None:
        """Selection and score on different stimuli; None if halves were not scored."""
        if self.best is None or not all(score.halves for score in self.scores):
            return None
        values = np.array([score.halves for score in self.scores], dtype=np.float64)  # layers × divisions × halves
        values = np.where(np.isnan(values), -np.inf, values)
        inside, outside, names = [], [], []
        for chosen_on, scored_on in ((0, 1), (1, 0)):
            chosen = values[:, :, chosen_on].argmax(axis=0)
            divisions = np.arange(values.shape[1])
            inside += values[chosen, divisions, chosen_on].tolist()
            outside += values[chosen, divisions, scored_on].tolist()
            names += [self.scores[number].layer for number in chosen]
        counts = Counter(names)
        order = [score.layer for score in self.scores if score.layer in counts]
        return HeldOut(
            value=float(np.mean(outside)),
            sd=float(np.std(outside)),
            optimism=float(np.mean(inside) - np.mean(outside)),
            chosen={layer: counts[layer] / len(names) for layer in order},
            times=len(names),
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types, NaN as None; with ``best`` and ``held_out``."""
        held_out = self.held_out
        return _without_nan(
            asdict(self) | {"best": self.best, "held_out": None if held_out is None else held_out._asdict()}
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LayerProfile":
        """Make a profile from the result of :meth:`to_dict`."""
        fields = {key: value for key, value in data.items() if key not in ("best", "held_out", "scores", "schema")}
        scores = tuple(
            LayerScore(
                layer=score["layer"],
                features=score["features"],
                score=_number(score["score"]),
                error=_number(score["error"]),
                ci=(_number(score["ci"][0]), _number(score["ci"][1])),
                raw=_number(score["raw"]),
                halves=tuple((_number(a), _number(b)) for a, b in score["halves"]),
                reason=score["reason"],
            )
            for score in data["scores"]
        )
        return cls(**fields | {"scores": scores, "ceiling": _number(fields["ceiling"])})


def profile_file(key: str) -> Path:
    """File of a stored profile, in ``$BRAINSCORE_HOME/layers`` (default ``~/.brain-score``)."""
    return layer_profiles_home() / key[:2] / f"{key}.json"


def read_profile(key: str) -> LayerProfile | None:
    """Read a stored profile; None if it does not exist or cannot be read."""
    try:
        data = json.loads(profile_file(key).read_text(encoding="utf-8"))
        return LayerProfile.from_dict(data) if data.get("schema") == SCHEMA else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_profile(key: str, profile: LayerProfile) -> None:
    """Store a profile, atomically."""
    text = json.dumps({"schema": SCHEMA} | profile.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    with replacing(profile_file(key)) as stream:
        stream.write(text.encode())


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


Part = NDArray[np.bool_]
PartScorer = Callable[[NeuroidAssembly, NDArray[Any]], float]


def part_scorer(benchmark: Benchmark) -> tuple[NDArray[Any], PartScorer] | None:
    """Stimuli of a benchmark, and a function that scores recordings on a part of them; None if this is not possible.

    The score is that of the metric, before division by the ceiling.
    """
    from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
    from brainscore_vision.benchmarks.kriegeskorte2008 import benchmark as kriegeskorte2008

    if isinstance(benchmark, NeuralBenchmark):
        return _of_responses(benchmark)
    if isinstance(benchmark, kriegeskorte2008.Kriegeskorte2008HumanRDM | kriegeskorte2008.Kriegeskorte2008MonkeyRDM):
        return _of_dissimilarities(benchmark)
    return None


def random_halves(number: int, times: int, seed: int) -> list[tuple[Part, Part]]:
    """Divide `number` stimuli into two random halves, `times` times."""
    random = np.random.RandomState(seed)  # its stream never changes between versions of NumPy
    halves = []
    for _ in range(times):
        first = np.zeros(number, dtype=bool)
        first[random.permutation(number)[: number // 2]] = True
        halves.append((first, ~first))
    return halves


def half_scores(
    stimuli: NDArray[Any], score: PartScorer, recordings: NeuroidAssembly, halves: list[tuple[Part, Part]]
) -> list[list[float]]:
    """Score of one layer on both halves of each division."""
    return [[score(recordings, stimuli[part]) for part in pair] for pair in halves]


def _of_responses(benchmark: Any) -> tuple[NDArray[Any], PartScorer]:
    measured = benchmark._assembly
    if "time_bin" in measured.dims and measured.sizes["time_bin"] == 1:
        measured = measured.isel(time_bin=0, drop=True)
    shown = measured["stimulus_id"].values

    def score(recordings: NeuroidAssembly, stimuli: NDArray[Any]) -> float:
        theirs = recordings.isel(presentation=np.flatnonzero(np.isin(recordings["stimulus_id"].values, stimuli)))
        ours = measured.isel(presentation=np.flatnonzero(np.isin(shown, stimuli)))
        return float(benchmark._similarity_metric(theirs, ours))

    return np.array(list(dict.fromkeys(shown)), dtype=object), score


def _of_dissimilarities(benchmark: Any) -> tuple[NDArray[Any], PartScorer]:
    from brainscore_core.numerics import compare_rdms, rdm
    from brainscore_core.numerics.dissimilarity import condensed, expanded
    from brainscore_vision.benchmarks.kriegeskorte2008.benchmark import subject_rdms

    assembly = benchmark._assembly.content
    shown = assembly.attrs["stimulus_set"]["stimulus_id"].to_numpy()
    measured = subject_rdms(assembly)[1] if "subject" in assembly.coords else assembly.values[:1]
    squares = [expanded(vector) for vector in measured]

    def score(recordings: NeuroidAssembly, stimuli: NDArray[Any]) -> float:
        rows = {name: row for row, name in enumerate(recordings["stimulus_id"].values)}
        here = np.flatnonzero(np.isin(shown, stimuli))
        patterns = recordings.transpose("presentation", "neuroid").values[[rows[name] for name in shown[here]]]
        dissimilarities = rdm(np.asarray(patterns, dtype=np.float64))
        parts = [condensed(square[np.ix_(here, here)]) for square in squares]
        return float(np.mean([compare_rdms(dissimilarities, part).value for part in parts]))

    return shown, score
