"""Subjects behind an HTTP service that returns log-probabilities of tokens."""

from __future__ import annotations

import json
import os
from math import log
from typing import Any

import numpy as np
import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.util.retry import Retry

from brainscore_core.errors import UserError
from brainscore_language.model_helpers.preprocessing import contexts_of
from brainscore_language.model_helpers.reading import ReadingSubject

_MAX_BYTES = 64_000_000
_TRIES = 5
_AGAIN = (408, 429, 500, 502, 503, 504)


class ServiceSubject(ReadingSubject):
    """A causal language model behind a service of completions.

    A text is sent once: ``POST URL`` with the JSON ``{"model", "prompt", "max_tokens": 0, "echo": true, "logprobs":
    0}``, the form of OpenAI's completions, which vLLM and others have, too. The answer has
    ``choices[0].logprobs.token_logprobs`` (natural logarithms; null for the first token) and ``.text_offset``, the
    characters at which tokens begin.

    Parameters
    ----------
    identifier : str
        Unique name.
    model : str
        Name of the model at the service.
    url : str
        Address of the completions, such as ``https://example.org/v1/completions``.
    key_variable : str, optional
        Environment variable with the key, which is sent as ``Authorization: Bearer …``.
    max_characters : int
        Longest text that is sent.
    timeout : float
        Seconds to wait for an answer.

    Notes
    -----
    A token counts for the part in which it begins, after the space; parts that change the text before them, as a
    lone comma does, are read as they stand in the whole text. Busy and failing services are asked up to five times.
    """

    def __init__(
        self,
        identifier: str,
        model: str,
        url: str,
        *,
        key_variable: str | None = None,
        max_characters: int = 20_000,
        timeout: float = 60,
    ) -> None:
        if not url.startswith(("https://", "http://")):
            raise UserError(f"{url!r} is not the address of a service", "it begins with https:// or http://")
        if key_variable is not None and not os.environ.get(key_variable):
            raise UserError(f"{identifier} needs a key", f"set the environment variable {key_variable}")
        super().__init__(identifier)
        self._model = model
        self._url = url
        self._key_variable = key_variable
        self._max_characters = max_characters
        self._timeout = timeout

    def times_of(self, parts: list[str]) -> np.ndarray:
        """Surprisals of the parts in bits; NaN for a first part of one token."""
        contexts = list(contexts_of(parts))
        whole = contexts[-1]
        if len(whole) > self._max_characters:
            raise UserError(
                f"a text of {len(whole)} characters; {self._identifier} reads at most {self._max_characters}",
                "pass a larger max_characters, if the service allows it",
            )
        ends = np.array([len(context) for context in contexts])
        bits, known, missing = np.zeros(len(parts)), np.zeros(len(parts), dtype=bool), np.zeros(len(parts), dtype=bool)
        for offset, logarithm in self._tokens(whole) if whole else ():
            begin = offset + (offset < len(whole) and whole[offset].isspace())
            part = min(int(np.searchsorted(ends, begin, side="right")), len(parts) - 1)
            if logarithm is None:
                missing[part] = True
            else:
                bits[part] -= logarithm / log(2)
                known[part] = True
        bits[missing & ~known] = np.nan
        return bits

    def _tokens(self, text: str) -> list[tuple[int, float | None]]:
        answer = self._post({"model": self._model, "prompt": text, "max_tokens": 0, "echo": True, "logprobs": 0})
        try:
            stated = json.loads(answer)["choices"][0]["logprobs"]
            pairs = list(zip(stated["text_offset"], stated["token_logprobs"], strict=True))
            tokens = [(int(offset), None if value is None else float(value)) for offset, value in pairs]
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise UserError(
                f"{self._url} did not answer with log-probabilities of the prompt: {answer[:200]!r}",
                "choose a service whose completions have echo and logprobs",
            ) from error
        return tokens

    def _post(self, body: dict[str, Any]) -> bytes:
        headers = {} if self._key_variable is None else {"Authorization": f"Bearer {os.environ[self._key_variable]}"}
        options: dict[str, Any] = {"headers": headers, "timeout": self._timeout, "stream": True}
        again = Retry(
            _TRIES - 1, backoff_factor=0.25, status_forcelist=_AGAIN, allowed_methods=None, raise_on_status=False
        )
        with requests.Session() as session:
            for scheme in ("https://", "http://"):
                session.mount(scheme, HTTPAdapter(max_retries=again))
            try:
                # without redirections, since the key is for the stated address only
                with session.post(self._url, json=body, allow_redirects=False, **options) as answer:
                    content: bytes = answer.raw.read(_MAX_BYTES, decode_content=True)
                    if answer.status_code == requests.codes.ok:
                        return content
                    reason = f"{answer.status_code} {answer.reason}: {content[:300]!r}"
            except (OSError, HTTPError) as error:
                reason = str(error)
        raise UserError(f"{self._url} failed: {reason}", "check the address, the key and the limits of the service")
