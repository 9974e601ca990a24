"""The language system of a network: units that respond more to sentences than to lists of non-words.

The contrast is that of Fedorenko et al. 2010, doi:10.1152/jn.00032.2010.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_language import load_dataset
from brainscore_language.model_helpers.networks import module_named, recorded_outputs, weights_digest

BRAINIO_CACHE = os.environ.get("BRAINIO", f"{Path.home()}/.brainio")
"""Folder of the masks."""

_TOKENS = 12
"""Number of tokens that are read of each stimulus."""

_logger = logging.getLogger(__name__)


def extract_representations(
    model: torch.nn.Module,
    tokenizer: Any,
    layer_names: Sequence[str],
    hidden_dim: int,
    batch_size: int,
    device: torch.device,
) -> dict[str, dict[str, np.ndarray]]:
    """Responses of layers to the stimuli of the localizer, at the last token that is read.

    Parameters
    ----------
    model : torch.nn.Module
        Network.
    tokenizer
        Its tokenizer; the first twelve tokens are read, or the last ones if it truncates on the left.
    layer_names : list of str
        Names of modules.
    hidden_dim : int
        Number of units of each layer.
    batch_size : int
        Stimuli that are read at once.
    device : torch.device
        Where the network is.

    Returns
    -------
    dict
        ``'sentences'`` and ``'non-words'`` → layer → stimuli × units.
    """
    modules = {name: module_named(model, name) for name in layer_names}
    responses: dict[str, dict[str, np.ndarray]] = {}
    for condition, texts in _stimuli().items():
        rows: dict[str, list[np.ndarray]] = {name: [] for name in layer_names}
        for ids in _batches(tokenizer, texts, batch_size):
            with torch.no_grad(), recorded_outputs(modules) as outputs:
                tokens = torch.as_tensor(ids, device=device)
                model(input_ids=tokens, attention_mask=torch.ones_like(tokens))
                for name in layer_names:
                    rows[name].append(outputs[name][:, -1].float().cpu().numpy())
        responses[condition] = {name: np.concatenate(values).astype(float) for name, values in rows.items()}
        for name, values in responses[condition].items():
            if values.shape[1] != hidden_dim:
                raise UserError(
                    f"the layer {name} has {values.shape[1]} units, not hidden_dim={hidden_dim}",
                    "state the number of units of the layers; all of them have equally many",
                )
    return responses


def localize_fedorenko2010(
    model_id: str,
    model: torch.nn.Module,
    top_k: float,
    tokenizer: Any,
    hidden_dim: int,
    layer_names: Sequence[str],
    batch_size: int,
    device: torch.device,
) -> np.ndarray:
    """Choose the units with the largest Welch's t of sentences against non-words, over all layers together.

    Parameters
    ----------
    model_id : str
        Name of the network, and of the file of the mask in :data:`BRAINIO_CACHE`.
    top_k : int or float
        Number of units, or their share if it is between 0 and 1; units with equal t count once.
    model, tokenizer, hidden_dim, layer_names, batch_size, device
        As in :func:`extract_representations`.

    Returns
    -------
    ndarray of int
        Layers × units; 1 for the chosen units.

    Notes
    -----
    A stored mask is used again if weights, layers and `top_k` are the same, which a file beside it states. A
    mask without such a file, from an earlier platform, is used if its shape is right, with a warning.
    """
    count = int(top_k * len(layer_names) * hidden_dim) if isinstance(top_k, float) and 0 < top_k < 1 else int(top_k)
    file = Path(BRAINIO_CACHE) / f"{model_id.replace('/', '_')}_language_mask.npy"
    stated = file.with_suffix(".json")
    shape = (len(layer_names), hidden_dim)
    made_of = {"weights": weights_digest(model), "layers": list(layer_names), "top_k": count}
    if file.exists() and (not stated.exists() or json.loads(stated.read_text(encoding="utf-8")) == made_of):
        mask = np.load(file)
        if mask.shape == shape:
            if not stated.exists():
                _logger.warning("%s does not state its weights and layers; remove it to renew it", file)
            return mask
    responses = extract_representations(model, tokenizer, layer_names, hidden_dim, batch_size, device)
    mask = _largest(
        np.stack([_welch(responses["sentences"][name], responses["non-words"][name]) for name in layer_names]), count
    )
    with replacing(file) as stream:
        np.save(stream, mask)
    with replacing(stated) as stream:
        stream.write(json.dumps(made_of).encode())
    return mask


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """1 for the units of the `count` largest values, of which equal ones count once."""
    _, ranks = np.unique(-values, return_inverse=True)
    return (ranks.reshape(values.shape) < count).astype(int)


def _welch(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Welch's t of each column; least for units that do not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(first.var(axis=0, ddof=1) / len(first) + second.var(axis=0, ddof=1) / len(second))
        t = (first.mean(axis=0) - second.mean(axis=0)) / error
    return np.where(np.isnan(t), -np.inf, t)


def _stimuli() -> dict[str, list[str]]:
    data = load_dataset("Fedorenko2010.localization")
    return {
        condition: [text.strip() for text in data[data["stim14"] == code]["sent"]]
        for condition, code in (("sentences", "S"), ("non-words", "N"))
    }


def _batches(tokenizer: Any, texts: Sequence[str], size: int) -> Iterator[list[list[int]]]:
    tokens = [list(tokenizer(text, truncation=True, max_length=_TOKENS)["input_ids"]) for text in texts]
    short = next((text for text, ids in zip(texts, tokens, strict=True) if len(ids) != _TOKENS), None)
    if short is not None:
        raise UserError(f"the tokenizer divides {short!r} into fewer than {_TOKENS} tokens", "give each word a token")
    yield from (tokens[start : start + size] for start in range(0, len(tokens), size))
