"""Lines of the test set of WikiText-2, from a file or from the Hugging Face hub."""

import importlib.util
import os
from pathlib import Path

from brainscore_core.errors import DataUnavailable

FILE = "BRAINSCORE_WIKITEXT"
"""Environment variable with the path of the file ``wiki.test.raw`` of wikitext-2-raw-v1."""


def load_lines() -> list[str]:
    """The lines of ``wiki.test.raw``: of the file that ``BRAINSCORE_WIKITEXT`` names, else by the package datasets.

    Raises
    ------
    DataUnavailable
        If there is neither.
    """
    if path := os.environ.get(FILE):
        try:
            return Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
        except (OSError, UnicodeDecodeError) as error:
            raise DataUnavailable(f"{FILE} names {path!r}, which cannot be read: {error}") from error
    if importlib.util.find_spec("datasets") is None:
        raise DataUnavailable(
            "the articles of wikitext-2 are not on this machine",
            f"pip install datasets, or let {FILE} be the path of wiki.test.raw (wikitext-2-raw-v1)",
        )
    from datasets import load_dataset

    return list(load_dataset("wikitext", "wikitext-2-raw-v1", split="test")["text"])
