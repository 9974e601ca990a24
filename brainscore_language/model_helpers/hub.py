"""Any language model of the Hugging Face hub by name, such as ``huggingface:gpt2``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_core.plugins.tables import read_table
from brainscore_core.provenance import note, prefixing

if TYPE_CHECKING:
    from brainscore_language.model_helpers.huggingface import HuggingfaceSubject


PREFIX = "huggingface:"

_PUBLISHED = Path(__file__).parents[1] / "models" / "published" / "__init__.py"
"""The plugin beside whose file the table of published networks lies."""

_NAME = re.compile(r"(?P<name>[\w-][\w.-]*(?:/[\w-][\w.-]*)?)(?:#(?P<layer>[\w.]+))?")


def hub_subject(identifier: str) -> Any:
    """The subject of ``huggingface:NAME`` or ``huggingface:NAME#LAYER``.

    Without a layer, that of the published registration stands for the language system, if there is one; else the block
    in the middle, a guess that the receipt names.

    Raises
    ------
    UserError
        If the identifier does not have this form, or transformers is not installed.
    DataUnavailable
        If the hub or the model cannot be reached.
    """
    from brainscore_language.model_helpers.huggingface import HuggingfaceSubject, MaskedSubject
    from brainscore_language.model_helpers.networks import from_hub, load_network

    match = _NAME.fullmatch(identifier.removeprefix(PREFIX))
    if match is None:
        raise UserError(f"{identifier!r} does not name a model of the hub", f"write it as {PREFIX}NAME, or NAME#LAYER")
    name, layer = match["name"], match["layer"]
    architectures = getattr(from_hub("AutoConfig", name), "architectures", None) or []
    masked = any(architecture.endswith("ForMaskedLM") for architecture in architectures)
    kind: type[HuggingfaceSubject] = MaskedSubject if masked else HuggingfaceSubject
    network = load_network(name, kind.network_class)
    if layer is None:
        rows = read_table(str(_PUBLISHED), "models.csv")
        layer = next((row["layer"] for row in rows if row["repository"] == name and not row["localized"]), None)
    if layer is None:
        blocks = blocks_of(network)
        layer = blocks[len(blocks) // 2]
        note("remark", text=f"the layer {layer} of {name} stands for the language system; it was not selected by data")
    return kind(name, {"language_system": layer}, model=network)


def blocks_of(network: Any) -> list[str]:
    """Names of the blocks of a network: the longest list of its modules.

    Raises
    ------
    UserError
        If it has no list of modules.
    """
    import torch

    lists = {name: len(module) for name, module in network.named_modules() if isinstance(module, torch.nn.ModuleList)}
    if not lists:
        raise UserError("the network has no list of blocks", f"state a layer: {PREFIX}NAME#LAYER")
    longest = max(lists, key=lambda name: lists[name])
    return [f"{longest}.{number}" for number in range(lists[longest])]


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
