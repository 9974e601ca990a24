"""Control: a random vector for each word, the same for equal words."""

from hashlib import sha256

import numpy as np

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry
from brainscore_language.model_helpers.embedding import EmbeddingSubject

METADATA = read_metadata(__file__, bibtex=None)


class WordToEmbedding:
    """Vectors of words, uniform in 0 … 1, drawn from the word's hash.

    Parameters
    ----------
    embedding_size : int
        Number of units.
    """

    def __init__(self, embedding_size: int) -> None:
        self.embedding_size = embedding_size

    def __getitem__(self, word: str) -> np.ndarray:
        seed = np.frombuffer(sha256(word.encode()).digest(), dtype=np.uint32)
        return np.random.RandomState(seed).random(self.embedding_size)


model_registry["randomembedding-1600"] = lambda: EmbeddingSubject("randomembedding-1600", WordToEmbedding(1600))
model_registry["randomembedding-100"] = lambda: EmbeddingSubject("randomembedding-100", WordToEmbedding(100))
