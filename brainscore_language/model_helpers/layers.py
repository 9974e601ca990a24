"""Choice of the layer that stands for the language system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_core.provenance import note, prefixing
from brainscore_language.model_helpers.hub import blocks_of

if TYPE_CHECKING:
    from brainscore_language.model_helpers.huggingface import HuggingfaceSubject

__all__ = ["select_layer"]


def select_layer(
    subject: HuggingfaceSubject,
    benchmark: Any,
    layers: Sequence[str] | None = None,
    *,
    target: str = "language_system",
) -> str:
    """Let the layer with the best score on a benchmark stand for a recording target; the receipt says so.

    All layers are recorded in one reading of the texts. Use other measurements than those that are scored afterwards: a
    score on the benchmark that selected is too good.

    Parameters
    ----------
    subject : HuggingfaceSubject
        Its ``region_layer_mapping`` is changed.
    benchmark : Benchmark
        A benchmark of recordings, such as ``load_benchmark("Pereira2018.243sentences-ridge")``.
    layers : sequence of str, optional
        Names of modules; by default, all blocks.
    target : str
        The recording target.

    Returns
    -------
    str
        The layer.

    Raises
    ------
    UserError
        If the benchmark does not score single layers.
    """
    candidates = list(layers) if layers is not None else blocks_of(subject.basemodel)
    subject.region_layer_mapping[target] = candidates
    with prefixing("selection", "data", "collection", "study"):
        scores = benchmark(subject).attrs.get("layer_scores", {})
    subject.neural_recordings.clear()
    if set(scores) != set(candidates):
        raise UserError(
            f"{benchmark.identifier} has scores of {len(scores)} of {len(candidates)} layers",
            "select on a benchmark of recordings, whose scores have layer_scores",
        )
    best = max(candidates, key=lambda layer: float(scores[layer]))
    subject.region_layer_mapping[target] = best
    note(
        "remark",
        text=f"the layer {best} of {subject.model_id} was selected among {len(candidates)} on {benchmark.identifier}",
    )
    return best
