"""Layer profiles: scores of all layers of a model on a benchmark, and on random halves of its stimuli."""

import json
import math
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from brainscore_core.files import replacing
from brainscore_core.formatting import estimate_text, printable
from brainscore_core.paths import layer_profiles_home

if TYPE_CHECKING:
    from brainscore_core.figures import Plot, Svg

_DERIVED = {"best", "held_out", "scores", "schema", "committed", "committed_by"}
SCHEMA = 1
"""Version of the format of stored profiles."""


@dataclass(frozen=True)
class LayerScore:
    """Score of one layer."""

    layer: str  # name of the layer
    features: int  # number of its features
    score: float  # the benchmark's score, not clamped to [0, 1]; NaN if it is not defined
    error: float  # standard error of the score, or NaN
    ci: tuple[float, float]  # confidence interval of the score, or NaN
    raw: float  # score before division by the ceiling
    # For each random division of the stimuli, the raw scores on its two halves
    halves: tuple[tuple[float, float], ...] = ()
    reason: str | None = None  # why the metric cannot score this layer; all numbers are then NaN


class HeldOut(NamedTuple):
    """Results of choosing the best layer on one half of the stimuli and scoring it on the other, by random division."""

    # Mean and standard deviation of the raw score, on one half, of the layer with the highest raw score on the other
    value: float
    sd: float
    # Mean raw score of chosen layers on the half on which they were chosen, minus that on the other half
    optimism: float
    # How often each layer was chosen, as a share of all choices; without layers that were never chosen
    chosen: dict[str, float]
    times: int  # number of choices: two for each division


@dataclass(frozen=True)
class LayerProfile:
    """Scores of all layers on one benchmark."""

    # model, benchmark and version: identifiers of model and benchmark, and the benchmark's version
    model: str
    benchmark: str
    version: str
    control: bool  # whether the benchmark's measurements are simulated
    visual_degrees: float  # visual angle that the model's input spans
    stimuli: int  # number of stimuli shown
    ceiling: float  # ceiling of the benchmark, or NaN
    # Number of principal components to which layers with more features were reduced, if there were more stimuli
    components: int | None
    scores: tuple[LayerScore, ...] = field(default_factory=tuple)  # scores of the layers, in the order of the network
    no_halves: str | None = None  # why layers were not scored on halves of the stimuli
    # Layers that the model had for the region before, chosen without these scores; and their region and source
    committed: tuple[str, ...] = ()
    committed_by: str = ""

    @property
    def best(self) -> str | None:
        """The layer with the highest score, the first of several equal ones; None if no score is defined."""
        values = np.array([score.score for score in self.scores], dtype=np.float64)
        if not len(values) or np.isnan(values).all():
            return None
        return self.scores[int(np.nanargmax(values))].layer

    @property
    def held_out(self) -> HeldOut | None:
        """Result of choosing and scoring layers on different stimuli; None if layers were not scored on halves."""
        if self.best is None or not all(score.halves for score in self.scores):
            return None
        values = np.array([score.halves for score in self.scores], dtype=np.float64)  # layers × divisions × halves
        values = np.where(np.isnan(values), -np.inf, values)
        selection_scores, held_out_scores, names = [], [], []
        for chosen_on, scored_on in ((0, 1), (1, 0)):
            chosen = values[:, :, chosen_on].argmax(axis=0)
            divisions = np.arange(values.shape[1])
            selection_scores += values[chosen, divisions, chosen_on].tolist()
            held_out_scores += values[chosen, divisions, scored_on].tolist()
            names += [self.scores[index].layer for index in chosen]
        counts = Counter(names)
        order = [score.layer for score in self.scores if score.layer in counts]
        return HeldOut(
            value=float(np.mean(held_out_scores)),
            sd=float(np.std(held_out_scores)),
            optimism=float(np.mean(selection_scores) - np.mean(held_out_scores)),
            chosen={layer: counts[layer] / len(names) for layer in order},
            times=len(names),
        )

    def plot(self, *, width: float = 85) -> "Plot":
        """Draw the score of each layer with its interval, the best layer, and a ring around `committed`.

        `width` is that of a journal's column: 85, 114 or 174 mm. A ValueError if it is another one.
        """
        from brainscore_core.figures import Plot

        return Plot(_figure(self, width), f"{self.model} on {self.benchmark}")

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a table with one row for each layer.

        ``chosen`` is how often the layer was the best on half of the stimuli.
        """
        shares = None if self.held_out is None else self.held_out.chosen
        rows = [
            {
                "layer": layer_score.layer,
                "features": layer_score.features,
                "score": layer_score.score,
                "error": layer_score.error,
                "ci_low": layer_score.ci[0],
                "ci_high": layer_score.ci[1],
                "raw": layer_score.raw,
                "chosen": math.nan if shares is None else shares.get(layer_score.layer, 0.0),
                "reason": layer_score.reason,
            }
            for layer_score in self.scores
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types, including ``best`` and ``held_out``; NaN becomes None."""
        held_out = self.held_out
        return _nan_to_none(
            asdict(self) | {"best": self.best, "held_out": None if held_out is None else held_out._asdict()}
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LayerProfile":
        """Make a profile from the result of :meth:`to_dict`."""
        fields = {key: value for key, value in data.items() if key not in _DERIVED}
        scores = tuple(
            LayerScore(**{name: value if name == "reason" else _none_to_nan(value) for name, value in score.items()})
            for score in data["scores"]
        )
        return cls(**fields | {"scores": scores, "ceiling": _none_to_nan(fields["ceiling"])})


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


def _nan_to_none(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _nan_to_none(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_nan_to_none(item) for item in value]
    return value


def _none_to_nan(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_none_to_nan(item) for item in value)
    return math.nan if value is None else value


def _figure(profile: LayerProfile, width: float) -> "Svg":
    """Draw scores over layers."""
    from brainscore_core.figures import Lines, Series, column_width, lines

    names = [printable(score.layer) for score in profile.scores]
    best = [index for index, score in enumerate(profile.scores) if score.layer == profile.best]

    scores = profile.scores
    curve = Series(
        name="layer, 95 % interval",
        x=names,
        y=[score.score for score in scores],
        low=[score.ci[0] for score in scores],
        high=[score.ci[1] for score in scores],
        labels=[
            f"{printable(score.layer)}: {estimate_text(score.score, error=score.error, ci=score.ci, brief=True)}"
            for score in scores
        ],
    )
    at_best = [Series(name="best layer here", x=[names[row]], y=[scores[row].score]) for row in best]
    ceiled = math.isfinite(profile.ceiling)
    title = printable(f"{profile.model} on {profile.benchmark}") + (" (control)" if profile.control else "")
    held_out = profile.held_out
    chart = Lines(
        series=[curve, *at_best],
        title=f"Scores of the layers of {title}",
        description=""
        if held_out is None
        else f"Chosen on one half of the stimuli, scored on the other: {held_out.value:.3f} raw "
        f"(standard deviation over choices {held_out.sd:.3f}).",
        x_title="layer" if names else "no layers",
        y_title="score relative to the ceiling" if ceiled else "score as measured",
        reference=(1.0, "ceiling") if ceiled else None,
        rings=[(0, index) for index, score in enumerate(profile.scores) if score.layer in profile.committed],
        rings_name=printable(profile.committed_by),
        width=column_width(width),
    )
    return lines(chart)
