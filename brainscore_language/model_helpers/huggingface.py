"""Subjects made from language models of Hugging Face, or from any network with a tokenizer."""

from __future__ import annotations

import collections
import contextlib
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.provenance import is_recorded, note
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.networks import (
    AllRecorded,
    load_network,
    load_tokenizer,
    module_named,
    recorded_outputs,
    weights_digest,
)
from brainscore_language.model_helpers.preprocessing import contexts_of, parts_of
from brainscore_language.model_helpers.reading import behaviour, part_coords, recorded_units

_logger = logging.getLogger(__name__)

_LOGITS = 2**26
"""Numbers of logits that one pass may return: 256 MB."""

_SHORTEST = 64
"""Tokens of the shortest part of a divided pass."""


_CONTEXTS = 2**26
"""Characters that the coordinate ``context`` of a text may have in all."""


class _Part(NamedTuple):
    number: int  # which part of the text
    end: int  # number of tokens up to its end
    new: int  # how many of them belong to the part itself


@dataclass
class _Group:
    """Parts that are read in one pass: the context of each begins with that of the one before."""

    # Tokens of the longest context: the latest ones, as many as the network reads
    ids: np.ndarray
    parts: list[_Part] = field(default_factory=list)

    def singly(self) -> Iterator[_Group]:
        """A group for each part."""
        return (_Group(self.ids[: part.end], [part]) for part in self.parts)


class _Outputs(NamedTuple):
    """Results of a pass."""

    bits: np.ndarray  # surprisal of each token; NaN for the first one
    words: dict[int, str]  # the most likely words after positions, if they are asked for
    responses: dict[str, dict[int, np.ndarray]]  # layer → position → units
    last: Any  # output of the last call of the network


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

    The coordinate ``context`` of a very long text holds the latest characters of each context, after an ellipsis.

    Contexts that begin with each other are read in one pass if the network is causal, which is checked by reading one
    of them alone. Long passes are divided, with keys and values of earlier tokens kept. If units are recorded and there
    is no task, a pass ends after the last recorded layer, unless the first pass called a layer more than once.

    References
    ----------
    Schrimpf et al. 2021, doi:10.1073/pnas.2105646118
    """

    network_class = "AutoModelForCausalLM"
    """Class of transformers that makes the network."""

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
        self.basemodel = load_network(model_id, self.network_class) if model is None else model
        self.basemodel.eval()
        self.device = next((parameter.device for parameter in self.basemodel.parameters()), torch.device("cpu"))
        self.tokenizer = load_tokenizer(model_id) if tokenizer is None else tokenizer
        self.current_tokens: Any = None
        self.neural_recordings: list[tuple[str, str]] = []
        self.behavioral_task: str | None = None
        self.task_function_mapping_dict: dict[str, Callable[..., Any]] = {
            ArtificialSubject.Task.next_word: self.predict_next_word,
            ArtificialSubject.Task.reading_times: self.estimate_reading_times,
            **(task_heads or {}),
        }
        # heads, and subclasses with methods of their own, compute answers from whole outputs
        self._from_outputs = bool(task_heads) or any(
            getattr(type(self), name) is not getattr(HuggingfaceSubject, name)
            for name in ("estimate_reading_times", "predict_next_word")
        )
        self._is_causal: bool | None = None
        self._called_once: dict[tuple[str, ...], bool] = {}  # layers → whether a pass calls each of them once
        self._units: np.ndarray | None = None
        self._weights: str | None = None
        self.known_responses: dict[tuple[str, ...], dict[str, np.ndarray]] | None = None  # see `stored`
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
        self._note_weights()

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Record from the layers of a target."""
        for layer in self._layers(recording_target):
            module_named(self.basemodel, layer)
        self.neural_recordings.append((recording_target, recording_type))
        self._note_weights()

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Read a text part by part; see :meth:`ArtificialSubject.digest_text`."""
        parts = parts_of(text)
        answers: list[Any] = [None] * len(parts)
        contexts: list[str] = []
        room = _CONTEXTS // len(parts)

        def growing() -> Iterator[str]:
            for context in contexts_of(parts):
                contexts.append(context if len(context) <= room else "…" + context[-room:])
                yield context

        known = None if self.known_responses is None else self.known_responses.get(tuple(parts))
        if known is None or self.behavioral_task is not None:
            responses: list[dict[str, np.ndarray] | None] = [None] * len(parts)
            for group in self._groups(growing()):
                for number, answer, response in self._read(group):
                    answers[number], responses[number] = answer, response
            known = self._by_layer(responses)
            if self.known_responses is not None:
                self.known_responses[tuple(parts)] = known
        else:
            collections.deque(growing(), maxlen=0)  # contexts only
        coords = part_coords(parts, contexts)
        output: dict[str, Any] = {"behavior": None, "neural": None}
        if self.behavioral_task is not None:
            output["behavior"] = behaviour(answers, coords)
        if self.neural_recordings:
            recorded = {
                (target, recording_type, layer): known[layer]
                for target, recording_type in self.neural_recordings
                for layer in self._layers(target)
            }
            output["neural"] = self.output_to_representations(recorded, coords)
        if self._units is not None and self.neural_recordings:
            mask = output["neural"].copy(data=np.tile(self._units.reshape(-1), (len(parts), 1)))
            output |= {"neural": output["neural"][:, self._units.reshape(-1)], "neural-mask": mask}
        return output

    def recorded_layers(self) -> list[str]:
        """Layers that are recorded from."""
        return list(dict.fromkeys(layer for target, _ in self.neural_recordings for layer in self._layers(target)))

    def network_parts(self) -> tuple[torch.nn.Module, Any, str]:
        """Network, tokenizer, and hash of the weights when the latest task or recording was started."""
        if self._weights is None:
            self._weights = weights_digest(self.basemodel)
        return self.basemodel, self.tokenizer, self._weights

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
        return self._word(base_output.logits.reshape(-1, base_output.logits.shape[-1])[-1])

    def output_to_representations(
        self, layer_representations: Mapping[tuple[str, str, str], np.ndarray], stimuli_coords: Mapping[str, Any]
    ) -> NeuroidAssembly:
        """Package responses, keyed by (recording target, recording type, layer), each presentations × units."""
        return recorded_units(layer_representations, stimuli_coords, target="region", numbered=True)

    # -- tokens --------------------------------------------------------------------------------------------------

    def _note_weights(self) -> None:
        self._weights = None  # they may have changed
        if is_recorded("weights"):
            note("weights", identifier=self.model_id, sha256=self.network_parts()[2])

    def _tokenize(self, context: str) -> tuple[np.ndarray, int]:
        """The latest tokens of a context, as many as the network reads, and the number of all."""
        ids = np.asarray(self.tokenizer(context)["input_ids"], dtype=np.int64).reshape(-1)
        limits = (
            getattr(self.tokenizer, "model_max_length", None),
            getattr(getattr(self.basemodel, "config", None), "max_position_embeddings", None),
        )
        limit = min((stated for stated in limits if stated and stated > 0), default=math.inf)
        if len(ids) <= limit:
            return ids, len(ids)
        kept = self.tokenizer(context, truncation=True, max_length=limit)["input_ids"]
        return np.asarray(kept, dtype=np.int64).reshape(-1), len(ids)

    def _groups(self, contexts: Iterable[str]) -> Iterator[_Group]:
        group: _Group | None = None
        before = 0
        for number, context in enumerate(contexts):
            ids, total = self._tokenize(context)
            if group is None or not np.array_equal(ids[: len(group.ids)], group.ids):
                if group is not None:
                    yield group
                group = _Group(ids)
            group.ids = ids
            group.parts.append(_Part(number, len(ids), min(max(total - before, 0), len(ids))))
            before = total
        if group is not None:
            yield group

    def _causal(self, group: _Group) -> bool:
        """Whether later tokens leave the outputs of earlier tokens as they are."""
        if self._is_causal is None:
            end = next((part.end for part in group.parts if 0 < part.end < len(group.ids)), None)
            if end is None:
                return True  # nothing follows
            alone, whole = self._logits(group.ids[:end]), self._logits(group.ids)
            difference = float((alone[-1] - whole[end - 1]).abs().max())
            self._is_causal = difference <= 1e-3 * max(1.0, float(alone[-1].abs().max()))
            if not self._is_causal:
                _logger.info("%s is not causal: each part is read in a pass of its own", self.model_id)
        return self._is_causal

    # -- the network ---------------------------------------------------------------------------------------------

    def _read(self, group: _Group) -> Iterator[tuple[int, Any, Any]]:
        """Number, answer and responses of each part of a group."""
        if len(group.parts) > 1 and (self._from_outputs or not self._causal(group)):
            for single in group.singly():
                yield from self._read(single)
            return
        if len(group.ids) == 0:
            yield from ((part.number, self._without_tokens(), None) for part in group.parts)
            return
        outputs = self._pass(group.ids, {max(part.end - 1, 0) for part in group.parts})
        for part in group.parts:
            responses = {layer: of_layer[max(part.end - 1, 0)] for layer, of_layer in outputs.responses.items()}
            yield part.number, self._answer(group.ids, part, outputs), responses if self.neural_recordings else None

    def _answer(self, ids: np.ndarray, part: _Part, outputs: _Outputs) -> Any:
        begin = part.end - part.new
        if self.behavioral_task is None:
            return None
        if self._from_outputs:
            self.current_tokens = {"input_ids": torch.as_tensor(ids[begin : part.end])[None]}
            return self.task_function_mapping_dict[self.behavioral_task](base_output=outputs.last)
        if self.behavioral_task == ArtificialSubject.Task.next_word:
            return outputs.words[part.end - 1] if part.end else self._without_tokens()
        read = outputs.bits[max(begin, 1) : part.end]
        return float(read.sum()) if len(read) or not part.new else math.nan

    def _without_tokens(self) -> Any:
        """Answer to a text without tokens."""
        return "" if self.behavioral_task == ArtificialSubject.Task.next_word else 0.0

    def _pass(self, ids: np.ndarray, positions: set[int]) -> _Outputs:
        layers = tuple(self.recorded_layers())
        outputs = _Outputs(np.full(len(ids), np.nan), {}, {layer: {} for layer in layers}, None)
        tokens = torch.as_tensor(ids, device=self.device)
        vocabulary = getattr(getattr(self.basemodel, "config", None), "vocab_size", None) or len(self.tokenizer)
        records_only = self.behavioral_task is None and bool(layers) and not self._from_outputs
        stops = records_only and self._called_once.get(layers, False)
        divided = len(ids) * vocabulary > _LOGITS and not (stops or self._from_outputs)
        size = min(max(_SHORTEST, _LOGITS // vocabulary), len(ids)) if divided else len(ids)
        past = before = None
        calls: collections.Counter[str] = collections.Counter()
        modules = {name: module_named(self.basemodel, name) for name in layers}
        with torch.no_grad(), recorded_outputs(modules, calls=calls, stop=stops) as recorded:
            for start in range(0, len(ids), size):
                end = min(start + size, len(ids))
                extra = {"past_key_values": past, "use_cache": True} if size < len(ids) else {}
                with contextlib.suppress(AllRecorded):
                    output = self.basemodel(input_ids=tokens[None, start:end], **extra)
                    outputs = outputs._replace(last=output)
                    past = getattr(output, "past_key_values", None)
                    if size == len(ids):
                        self._called_once[layers] = all(calls[layer] == 1 for layer in layers)
                if past is None and end < len(ids):
                    raise UserError(
                        f"{self.model_id} returns no past_key_values: the logits of {len(ids)} tokens need "
                        f"{len(ids) * vocabulary * 4 / 1e9:.1f} GB in one pass",
                        "set model_max_length of the tokenizer, so that contexts are shorter",
                    )
                if not records_only:
                    logits = output.logits[0]
                    rows = logits if before is None else torch.cat([before[None], logits])
                    first = 1 if before is None else start
                    outputs.bits[first:end] = bits_of(rows[: end - first], tokens[first:end])
                    before = logits[-1]
                for position in (position for position in positions if start <= position < end):
                    if self.behavioral_task == ArtificialSubject.Task.next_word:
                        outputs.words[position] = self._word(logits[position - start])
                    for layer in layers:
                        units = recorded[layer][0, position - start].float().cpu().numpy()
                        outputs.responses[layer][position] = units
        return outputs

    def _word(self, logits: torch.Tensor) -> str:
        return str(self.tokenizer.decode(int(logits.argmax()))).strip()

    def _logits(self, ids: np.ndarray) -> torch.Tensor:
        with torch.no_grad():
            return self.basemodel(input_ids=torch.as_tensor(ids, device=self.device)[None]).logits[0].float()

    def _layers(self, target: str) -> list[str]:
        if target not in self.region_layer_mapping:
            known = ", ".join(map(repr, self.region_layer_mapping)) or "none"
            raise NotImplementedError(f"{self.model_id} has no layer for {target!r}; it has layers for: {known}")
        layers = self.region_layer_mapping[target]
        return [layers] if isinstance(layers, str) else list(layers)

    def _by_layer(self, responses: Sequence[dict[str, np.ndarray] | None]) -> dict[str, np.ndarray]:
        """Layer → parts × units; NaN for parts without tokens."""
        sizes = next((response for response in responses if response is not None), None)
        layers = {}
        for layer in self.recorded_layers():
            empty = np.full(sizes[layer].shape if sizes else (0,), np.nan, dtype=np.float32)
            layers[layer] = np.stack([empty if response is None else response[layer] for response in responses])
        return layers


def bits_of(logits: torch.Tensor, ids: torch.Tensor) -> np.ndarray:
    """−log2 p of each token, from the logits of the tokens before."""
    if len(ids) == 0:
        return np.empty(0)
    chosen = torch.log_softmax(logits.float(), dim=-1).gather(1, ids[:, None])[:, 0]
    return (-chosen / math.log(2)).double().cpu().numpy()


class MaskedSubject(HuggingfaceSubject):
    """A masked language model that reads text.

    Parameters
    ----------
    model_id, region_layer_mapping, model, tokenizer
        As for :class:`HuggingfaceSubject`; the tokenizer needs a mask token.
    **options
        As for :class:`HuggingfaceSubject`.

    Notes
    -----
    A reading time is a pseudo-log-likelihood: the sum of −log2 p(token | earlier tokens) over the tokens of a part,
    where the network reads the text up to the end of the part with this token and the later ones masked. The number of
    masks tells it how many tokens are left in the part, so times are comparable between masked models, but not with
    those of causal ones. A masked model does not say which word follows, so the task ``'next_word'`` is refused.
    """

    network_class = "AutoModelForMaskedLM"

    def start_behavioral_task(self, task: str) -> None:
        """Read; a masked model has no next word."""
        if task != ArtificialSubject.Task.reading_times:
            raise NotApplicable(
                f"{self.model_id} is a masked language model: it fills in words, and does no task {task!r}"
            )
        if self.tokenizer.mask_token_id is None:
            raise UserError(f"the tokenizer of {self.model_id} has no mask token", "state its mask_token")
        super().start_behavioral_task(task)

    def _read(self, group: _Group) -> Iterator[tuple[int, Any, Any]]:
        for single in group.singly():
            ids, (part,) = single.ids, single.parts
            responses = None
            if self.neural_recordings and len(ids):
                outputs = self._pass(ids, {len(ids) - 1})
                responses = {layer: of_layer[len(ids) - 1] for layer, of_layer in outputs.responses.items()}
            yield part.number, self._pseudo_bits(ids, part.new) if self.behavioral_task else None, responses

    def _pseudo_bits(self, ids: np.ndarray, new: int) -> float:
        special = self.tokenizer.get_special_tokens_mask(ids.tolist(), already_has_special_tokens=True)
        words = np.flatnonzero(np.asarray(special) == 0)
        positions = words[len(words) - min(new, len(words)) :]
        bits = 0.0
        for number, position in enumerate(positions):
            masked = ids.copy()
            masked[positions[number:]] = self.tokenizer.mask_token_id
            token = torch.as_tensor(ids[[position]]).to(self.device)
            bits += float(bits_of(self._logits(masked)[[position]], token)[0])
        return bits
