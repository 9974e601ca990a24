"""Helpers for plugins with temporal networks."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.files import file_digest, replacing
from brainscore_core.paths import weights_home
from brainscore_core.supported_data_standards.brainio.downloads import (
    FetchError,
    HashMismatch,
    IncompleteDownload,
    Meter,
    download,
)
from brainscore_vision.model_helpers.activations.temporal.inputs import batch_2d_resize

__all__ = ["batch_2d_resize", "download_weight_file", "get_specified_layers"]


def get_specified_layers(any_model: Any) -> list[str]:
    """Layers of a temporal network whose format is defined.

    Parameters
    ----------
    any_model : PytorchWrapper or ModelCommitment
        The activations model, or a model made from it.

    Raises
    ------
    UserError
        If it has no layer formats.

    Examples
    --------
    >>> layers = get_specified_layers(activations_model)  # doctest: +SKIP
    """
    model = getattr(any_model, "activations_model", any_model)
    formats = getattr(model, "layer_activation_format", None)
    if formats is None:
        raise UserError(
            f"a {type(any_model).__name__} has no layer formats", remedy="pass a model of activations.temporal.model"
        )
    return list(formats)


def download_weight_file(url: str, folder: str | None = None, *, sha256: str | None = None) -> str:
    """Fetch a file of weights once.

    Parameters
    ----------
    url : str
        Address of the file.
    folder : str, optional
        Destination folder below ``$BRAINSCORE_HOME/models`` (default ``~/.brain-score/models``).
    sha256 : str, optional
        Hash of the file. Without one, an existing file is used unchecked.

    Returns
    -------
    str
        Path of the complete file: it is moved there after the download has finished.

    Raises
    ------
    DataUnavailable, IncompleteDownload, HashMismatch
        If it cannot be fetched, not completely, or has another hash.
    """
    name = unquote(Path(urlsplit(url).path).name)
    path = weights_home() / (folder or "") / name
    if not path.is_file() or (sha256 is not None and file_digest(path, "sha256") != sha256.lower()):
        _download(url, path, sha256)
    return str(path)


def _download(url: str, path: Path, sha256: str | None) -> None:
    expected = "no hash" if sha256 is None else f"sha256:{sha256}"
    try:
        with replacing(path) as stream:
            download(url, stream, meter=Meter(), expected=expected)
            stream.flush()
            digest = file_digest(Path(stream.name), "sha256")
            if sha256 is not None and digest != sha256.lower():
                raise HashMismatch(f"{url} has the sha256 {digest}, not {sha256}", remedy="check url and hash")
    except (HashMismatch, IncompleteDownload):
        raise
    except FetchError as error:
        raise DataUnavailable(
            f"{url} cannot be fetched: {error.message}", remedy=f"put the file at {path} yourself"
        ) from error
