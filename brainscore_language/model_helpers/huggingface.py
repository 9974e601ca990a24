"""Subjects made from language models of Hugging Face, or from any network with a tokenizer."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    NeuroidAssembly,
    merge_data_arrays,
)
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.preprocessing import contexts_of, parts_of

__all__ = ["HuggingfaceSubject"]

_logger = logging.getLogger(__name__)

_LOGITS = 2**26
"""Numbers of logits that one pass may return: 256 MB."""

_SHORTEST = 64
"""Tokens of the shortest part of a divided pass."""


class _Part(NamedTuple):
    """Tokens that the network reads for a part.

    Attributes
    ----------
    ids : ndarray of int
        The latest tokens of the context, as many as the tokenizer keeps.
    new : int
        How many of them belong to the part itself.
    """

    ids: np.ndarray
    new: int


class HuggingfaceSubject(ArtificialSubject):
    """A language model that reads text.

    Parameters
    ----------
    model_id : str
        Name on the Hugging Face hub, and the identifier.
    region_layer_mapping : dict
        Recording target → name of a module, or list of names, such as ``'transformer.h.5'``.
    model : torch.nn.Module, optional
        In place of the network on the hub: returns an object with ``logits`` of shape (batch, tokens, vocabulary).
    tokenizer : optional
        In place of the tokenizer on the hub.
    use_localizer : bool
        Whether to record only from the units that respond more to sentences than to lists of non-words; see
        :func:`~brainscore_language.model_helpers.localize.localize_fedorenko2010`.
    localizer_kwargs : dict, optional
        ``top_k``, ``batch_size`` and ``hidden_dim`` of the localizer.
    task_heads : dict, optional
        Task → function of the keyword ``base_output`` that answers in place of the subject's method.

    Notes
    -----
    A reading time is the sum of −log2 p(token | earlier tokens) over the tokens of a part, in bits; NaN for a first
    part of one token; 0 for a part without tokens. A next word is the most likely token. A unit's response to a part is
    its output at the last token of the context. Of a context that is longer than the tokenizer's ``model_max_length``,
    or than the positions that the network has (``max_position_embeddings``), the latest tokens are read.

    Contexts that begin with each other are read in one pass if the network is causal, which is checked by reading one
    of them alone. Long passes are divided, with keys and values of earlier tokens kept.

    References
    ----------
    Schrimpf et al. 2021, doi:10.1073/pnas.2105646118
    """

    def __init__(
        self,
        model_id: str,
        region_layer_mapping: Mapping[str, str | Sequence[str]],
        model: Any = None,
        tokenizer: Any = None,
        use_localizer: bool = False,
        localizer_kwargs: Mapping[str, Any] | None = None,
        task_heads: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.model_id = model_id
        self.region_layer_mapping = dict(region_layer_mapping)
        self.basemodel = _load_model(model_id) if model is None else model
        self.basemodel.eval()
        self.device = next((parameter.device for parameter in self.basemodel.parameters()), torch.device("cpu"))
        self.tokenizer = _load_tokenizer(model_id) if tokenizer is None else tokenizer
        self.current_tokens: Any = None
        self.neural_recordings: list[tuple[str, str]] = []
        self.behavioral_task: str | None = None
        self.task_function_mapping_dict: dict[str, Callable[..., Any]] = {
            ArtificialSubject.Task.next_word: self.predict_next_word,
            ArtificialSubject.Task.reading_times: self.estimate_reading_times,
            **(task_heads or {}),
        }
        self._with_heads = bool(task_heads)
        self._is_causal: bool | None = None
        self._units: np.ndarray | None = None
        if use_localizer:
            from brainscore_language.model_helpers.localize import localize_fedorenko2010

            layers = self._layers(ArtificialSubject.RecordingTarget.language_system)
            self._units = localize_fedorenko2010(
                model_id=model_id,
                model=self.basemodel,
                tokenizer=self.tokenizer,
                layer_names=layers,
                device=self.device,
                **(localizer_kwargs or {}),
            ).astype(bool)

    def identifier(self) -> str:
        """Name of the model."""
        return self.model_id

    def start_behavioral_task(self, task: str) -> None:
        """Do a task: ``'next_word'`` or ``'reading_times'``."""
        if task not in self.task_function_mapping_dict:
            raise NotImplementedError(f"{self.model_id} does no task {task!r}")
        self.behavioral_task = task

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Record from the layers of a target."""
        for layer in self._layers(recording_target):
            self._module(layer)
        self.neural_recordings.append((recording_target, recording_type))

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Read a text part by part; see :meth:`ArtificialSubject.digest_text`."""
        parts = parts_of(text)
        answers: list[Any] = [None] * len(parts)
        responses: list[dict[str, np.ndarray] | None] = [None] * len(parts)
        contexts = contexts_of(parts)
        tokens = self._tokenize(contexts)
        for group in self._groups(tokens):
            for number, (answer, response) in self._read(tokens, group):
                answers[number], responses[number] = answer, response
        coords = {
            "stimulus": ("presentation", np.array(parts, dtype=object)),
            "context": ("presentation", np.array(contexts, dtype=object)),
            "part_number": ("presentation", np.arange(len(parts))),
        }
        return {
            "behavior": None if self.behavioral_task is None else _behaviour(answers, coords),
            "neural": self._recordings(responses, coords) if self.neural_recordings else None,
        }

    def estimate_reading_times(self, base_output: Any) -> float:
        """Surprisal in bits of the current tokens, from logits of one context."""
        logits = base_output.logits.reshape(-1, base_output.logits.shape[-1])
        ids = torch.as_tensor(self.current_tokens["input_ids"]).reshape(-1).to(logits.device)
        if len(ids) == 0:
            return 0.0
        ids = ids[-(len(logits) - 1) :] if len(logits) > 1 else ids[:0]
        if len(ids) == 0:
            return math.nan
        rows = torch.log_softmax(logits[-len(ids) - 1 : -1].float(), dim=-1)
        return float(-rows.gather(1, ids[:, None]).sum() / math.log(2))

    def predict_next_word(self, base_output: Any) -> str:
        """The most likely token after a context."""
        last = base_output.logits.reshape(-1, base_output.logits.shape[-1])[-1]
        return str(self.tokenizer.decode(int(last.argmax()))).strip()

    def output_to_representations(
        self, layer_representations: Mapping[tuple[str, str, str], np.ndarray], stimuli_coords: Mapping[str, Any]
    ) -> NeuroidAssembly:
        """Package responses, keyed by (recording target, recording type, layer), each presentations × units."""
        assemblies = []
        numbers: dict[str, int] = {}
        for (target, recording_type, layer), values in layer_representations.items():
            number = numbers[target] = numbers.get(target, -1) + 1
            units = np.arange(values.shape[-1])
            neuroids = {
                "layer": layer,
                "region": f"{target}.{number}",
                "recording_type": recording_type,
                "neuroid_id": np.array([f"{layer}--{unit}" for unit in units], dtype=object),
                "neuron_number_in_layer": units,
            }
            coords = {
                name: ("neuroid", value if isinstance(value, np.ndarray) else np.full(len(units), value, dtype=object))
                for name, value in neuroids.items()
            }
            assemblies.append(
                NeuroidAssembly(values, coords={**stimuli_coords, **coords}, dims=["presentation", "neuroid"])
            )
        return assemblies[0] if len(assemblies) == 1 else merge_data_arrays(assemblies)

    # -- tokens --------------------------------------------------------------------------------------------------

    def _tokenize(self, contexts: Sequence[str]) -> list[_Part]:
        limits = (
            getattr(self.tokenizer, "model_max_length", None),
            getattr(getattr(self.basemodel, "config", None), "max_position_embeddings", None),
        )
        limit = min((stated for stated in limits if stated and stated > 0), default=math.inf)
        parts = []
        before = 0
        for context in contexts:
            ids = np.asarray(self.tokenizer(context)["input_ids"], dtype=np.int64).reshape(-1)
            total = len(ids)
            if total > limit:
                kept = self.tokenizer(context, truncation=True, max_length=limit)["input_ids"]
                ids = np.asarray(kept, dtype=np.int64).reshape(-1)
            parts.append(_Part(ids, min(max(total - before, 0), len(ids))))
            before = total
        return parts

    def _groups(self, parts: Sequence[_Part]) -> list[list[int]]:
        """Numbers of the parts that are read in one pass: each context begins with the one before."""
        groups: list[list[int]] = []
        for number, part in enumerate(parts):
            before = parts[groups[-1][-1]].ids if groups else None
            if before is not None and np.array_equal(part.ids[: len(before)], before):
                groups[-1].append(number)
            else:
                groups.append([number])
        one_pass = [group for group in groups if len(group) > 1]
        if one_pass and (self._with_heads or self._overridden() or not self._causal(parts, one_pass[0])):
            return [[number] for number in range(len(parts))]
        return groups

    def _overridden(self) -> bool:
        """Whether a subclass computes answers from whole outputs in its own way."""
        return any(
            getattr(type(self), name) is not getattr(HuggingfaceSubject, name)
            for name in ("estimate_reading_times", "predict_next_word")
        )

    def _causal(self, parts: Sequence[_Part], group: Sequence[int]) -> bool:
        """Whether later tokens leave the outputs of earlier tokens as they are."""
        if self._is_causal is None:
            first, last = parts[group[0]].ids, parts[group[-1]].ids
            if len(first) == 0 or len(first) == len(last):
                return True  # nothing follows
            alone, whole = self._logits(first), self._logits(last)
            difference = float((alone[-1] - whole[len(first) - 1]).abs().max())
            self._is_causal = difference <= 1e-3 * max(1.0, float(alone[-1].abs().max()))
            if not self._is_causal:
                _logger.info("%s is not causal: each part is read in a pass of its own", self.model_id)
        return self._is_causal

    # -- the network ---------------------------------------------------------------------------------------------

    def _read(self, parts: Sequence[_Part], group: Sequence[int]) -> Iterator[tuple[int, tuple[Any, Any]]]:
        """Answers and responses of the parts of one pass."""
        ids = parts[group[-1]].ids
        ends = np.array([len(parts[number].ids) for number in group])
        if len(ids) == 0:
            for number in group:
                yield number, (self._without_tokens(), None)
            return
        positions = np.maximum(ends - 1, 0)
        bits, words, output = self._pass(ids, set(positions.tolist()))
        for number, end, position in zip(group, ends, positions, strict=True):
            response = None if not self.neural_recordings else {layer: rows[position] for layer, rows in output.items()}
            yield number, (self._answer(parts[number], end, bits, words), response)

    def _answer(self, part: _Part, end: int, bits: np.ndarray, words: Mapping[Any, Any]) -> Any:
        if self.behavioral_task is None:
            return None
        if self._with_heads or self._overridden():
            self.current_tokens = {"input_ids": torch.as_tensor(part.ids[len(part.ids) - part.new :])[None]}
            return self.task_function_mapping_dict[self.behavioral_task](base_output=words["output"])
        if self.behavioral_task == ArtificialSubject.Task.next_word:
            return words[end - 1] if end else self._without_tokens()
        if part.new == 0:
            return 0.0
        new = bits[max(end - part.new, 1) : end]
        return float(new.sum()) if len(new) else math.nan

    def _without_tokens(self) -> Any:
        """Answer to a text without tokens."""
        return "" if self.behavioral_task == ArtificialSubject.Task.next_word else 0.0

    def _pass(self, ids: np.ndarray, positions: set[int]) -> tuple[np.ndarray, dict[Any, Any], dict[str, Any]]:
        """Surprisals of tokens, next words after positions, and responses at positions."""
        bits = np.full(len(ids), np.nan)
        words: dict[Any, Any] = {}
        responses: dict[str, dict[int, np.ndarray]] = {}
        tokens = torch.as_tensor(ids, device=self.device)
        size, past, start, last = len(ids), None, 0, None
        vocabulary = getattr(getattr(self.basemodel, "config", None), "vocab_size", None) or len(self.tokenizer)
        if len(ids) * vocabulary > _LOGITS and not (self._with_heads or self._overridden()):
            size = max(_SHORTEST, _LOGITS // vocabulary)
        layers = [layer for target, _ in self.neural_recordings for layer in self._layers(target)]
        with torch.no_grad(), _recorded({name: self._module(name) for name in layers}) as outputs:
            while start < len(ids):
                end = min(start + size, len(ids))
                extra = {} if size == len(ids) else {"past_key_values": past, "use_cache": True}
                output = self.basemodel(input_ids=tokens[None, start:end], **extra)
                past = getattr(output, "past_key_values", None)
                logits = output.logits[0]
                if self._with_heads or self._overridden():
                    words["output"] = output
                rows = logits if last is None else torch.cat([last[None], logits])
                first = 1 if last is None else start
                bits[first:end] = _bits(rows[: end - first], tokens[first:end])
                for position in positions:
                    if start <= position < end and self.behavioral_task == ArtificialSubject.Task.next_word:
                        words[position] = str(self.tokenizer.decode(int(logits[position - start].argmax()))).strip()
                for layer in layers:
                    kept = responses.setdefault(layer, {})
                    for position in positions:
                        if start <= position < end:
                            kept[position] = outputs[layer][0, position - start].float().cpu().numpy()
                last = logits[-1]
                start = end
                if past is None and size < len(ids):
                    raise UserError(
                        f"{self.model_id} returns no past_key_values: the logits of {len(ids)} tokens need "
                        f"{len(ids) * vocabulary * 4 / 1e9:.1f} GB in one pass",
                        "set model_max_length of the tokenizer, so that contexts are shorter",
                    )
        return bits, words, responses

    def _logits(self, ids: np.ndarray) -> torch.Tensor:
        with torch.no_grad():
            return self.basemodel(input_ids=torch.as_tensor(ids, device=self.device)[None]).logits[0].float()

    def _layers(self, target: str) -> list[str]:
        if target not in self.region_layer_mapping:
            known = ", ".join(map(repr, self.region_layer_mapping)) or "none"
            raise NotImplementedError(f"{self.model_id} has no layer for {target!r}; it has layers for: {known}")
        layers = self.region_layer_mapping[target]
        return [layers] if isinstance(layers, str) else list(layers)

    def _module(self, name: str) -> torch.nn.Module:
        modules = dict(self.basemodel.named_modules())
        if name not in modules:
            import difflib

            nearest = difflib.get_close_matches(name, modules, n=3, cutoff=0.3)
            raise AssertionError(f"No submodule found for layer {name}; the nearest: {', '.join(nearest)}")
        return modules[name]

    # -- assemblies ----------------------------------------------------------------------------------------------

    def _recordings(self, responses: Sequence[Any], coords: Mapping[str, Any]) -> NeuroidAssembly:
        sizes = next((response for response in responses if response is not None), None)
        by_layer: dict[tuple[str, str, str], np.ndarray] = {}
        for target, recording_type in self.neural_recordings:
            for layer in self._layers(target):
                empty = np.full(sizes[layer].shape if sizes else (0,), np.nan, dtype=np.float32)
                rows = [empty if response is None else response[layer] for response in responses]
                by_layer[target, recording_type, layer] = np.stack(rows)
        assembly = self.output_to_representations(by_layer, coords)
        return assembly if self._units is None else assembly[:, self._units.reshape(-1)]


def _bits(logits: torch.Tensor, ids: torch.Tensor) -> np.ndarray:
    """−log2 p of each token, from the logits of the tokens before."""
    if len(ids) == 0:
        return np.empty(0)
    chosen = torch.log_softmax(logits.float(), dim=-1).gather(1, ids[:, None])[:, 0]
    return (-chosen / math.log(2)).double().cpu().numpy()


@contextmanager
def _recorded(modules: Mapping[str, torch.nn.Module]) -> Iterator[dict[str, torch.Tensor]]:
    """Outputs of modules in the latest pass; of a tuple or list, its first element."""
    outputs: dict[str, torch.Tensor] = {}

    def hook(name: str) -> Callable[..., None]:
        def keep(_module: Any, _inputs: Any, output: Any) -> None:
            outputs[name] = output[0] if isinstance(output, tuple | list) else output

        return keep

    handles = [module.register_forward_hook(hook(name)) for name, module in modules.items()]
    try:
        yield outputs
    finally:
        for handle in handles:
            handle.remove()


def _behaviour(answers: Sequence[Any], coords: Mapping[str, Any]) -> BehavioralAssembly:
    if answers and all(isinstance(answer, float) for answer in answers):
        values = np.array(answers)
        values = values if np.isnan(values).any() else values.astype(np.float32)
    else:
        values = np.array(answers)
    return BehavioralAssembly(values, coords=coords, dims=["presentation"])


def _load_model(model_id: str) -> Any:
    from transformers import AutoModelForCausalLM

    device = "mps" if torch.backends.mps.is_available() else "cuda" if torch.cuda.is_available() else "cpu"
    options = {"device_map": "auto"} if torch.cuda.device_count() > 1 else {}
    model: Any = AutoModelForCausalLM.from_pretrained(model_id, low_cpu_mem_usage=True, use_safetensors=True, **options)
    return model if options else model.to(torch.device(device))


def _load_tokenizer(model_id: str) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model_id, truncation_side="left")
