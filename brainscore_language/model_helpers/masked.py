"""Subjects made from masked language models, which see the words on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from brainscore_core.errors import NotApplicable, UserError
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.huggingface import Group, HuggingfaceSubject, bits_of

__all__ = ["MaskedSubject"]


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

    def _read(self, group: Group) -> Iterator[tuple[int, Any, Any]]:
        for single in group.singly():
            ids, (number,), (new,) = single.ids, single.numbers, single.new
            response = None
            if self.neural_recordings and len(ids):
                _, _, output = self._pass(ids, {len(ids) - 1})
                response = {layer: rows[len(ids) - 1] for layer, rows in output.items()}
            yield number, self._pseudo_bits(ids, new) if self.behavioral_task else None, response

    def _pseudo_bits(self, ids: np.ndarray, new: int) -> float:
        special = self.tokenizer.get_special_tokens_mask(ids.tolist(), already_has_special_tokens=True)
        words = np.flatnonzero(np.asarray(special) == 0)
        own = words[len(words) - min(new, len(words)) :]
        bits = 0.0
        for place, position in enumerate(own):
            masked = ids.copy()
            masked[own[place:]] = self.tokenizer.mask_token_id
            bits += float(
                bits_of(self._logits(masked)[[position]], torch.as_tensor(ids[[position]]).to(self.device))[0]
            )
        return bits
