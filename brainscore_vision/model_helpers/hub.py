"""Weights that are published on the Hugging Face Hub."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.files import file_digest, replacing
from brainscore_core.supported_data_standards.brainio.fetch import cache_home, fetch
from brainscore_vision.model_helpers.libraries import library
from brainscore_vision.model_helpers.weights import placed_file, placing, read_checkpoint, state_dict_of

if TYPE_CHECKING:
    import torch

_FILES = ("model.safetensors", "pytorch_model.bin")


@dataclass(frozen=True, kw_only=True)
class HubFile:
    """Weights in a repository of the Hugging Face Hub.

    Parameters
    ----------
    name : str
        Name of the file in the folder ``$BRAINSCORE_WEIGHTS``, without its suffix (``.safetensors`` or
        ``.bin``).
    repository : str
        Name of the repository, such as ``'timm/vit_base_patch14_dinov2.lvd142m'``.
    revision : str, optional
        Commit. By default, the commit of the first download is recorded and used from then on; a receipt states the
        file's address, which includes the commit, and its hash.
    files : tuple of str
        Files of the repository that may contain the weights; the first that exists is used.

    Examples
    --------
    >>> HubFile(name="dinov2", repository="timm/vit_base_patch14_dinov2.lvd142m").address
    'https://huggingface.co/timm/vit_base_patch14_dinov2.lvd142m'
    """

    name: str
    repository: str
    revision: str | None = None
    files: tuple[str, ...] = _FILES

    @property
    def address(self) -> str:
        """URL where the weights are published."""
        return f"https://huggingface.co/{self.repository}" + (f"/tree/{self.revision}" if self.revision else "")

    def path(self) -> Path:
        """Return a local copy: from the folder ``$BRAINSCORE_WEIGHTS``, the Hub's cache, the network.

        Returns
        -------
        pathlib.Path
            The file. Treat it as read-only.

        Raises
        ------
        DataUnavailable
            If it is not available; the message states where it is published and where to put it.
        UserError
            If ``huggingface_hub`` is not installed.
        """
        path = placed_file(*map(self._as_placed, self.files)) or self._downloaded()
        return fetch(path.as_uri(), sha256=file_digest(path, "sha256"))  # for the receipt

    def _as_placed(self, file: str) -> str:
        return self.name + Path(file).suffix

    def _downloaded(self) -> Path:
        hub = library("huggingface_hub", needed_by=self.name)
        errors = library("huggingface_hub.errors", needed_by=self.name)
        record = cache_home() / "unpinned" / "huggingface.co" / self.repository / "commit"
        revision = self.revision or (record.read_text(encoding="ascii") if record.is_file() else None)
        for file in self.files:
            try:
                path = Path(hub.hf_hub_download(self.repository, file, revision=revision))
            except errors.LocalEntryNotFoundError as error:  # neither in the cache nor reachable
                raise self._unavailable(str(error)) from error
            except errors.EntryNotFoundError:
                continue
            except (OSError, ValueError) as error:
                raise self._unavailable(str(error)) from error
            # files in the Hub's cache are snapshots/<commit>/<file>
            if revision is None and "snapshots" in path.parts:
                with replacing(record) as stream:
                    stream.write(path.parts[path.parts.index("snapshots") + 1].encode("ascii"))
            return path
        raise self._unavailable(f"the repository has neither {' nor '.join(self.files)}")

    def _unavailable(self, reason: str) -> DataUnavailable:
        file = self.files[0]
        return DataUnavailable(
            f"the weights {self.name!r} are not available from {self.address}: {reason}",
            remedy=f"Download {file} from {self.address} on a machine with network access, and "
            f"{placing(self._as_placed(file))}. ({' or '.join(self.files)} is enough; keep the suffix.)",
        )


def read_weights(path: str | os.PathLike[str]) -> Mapping[str, torch.Tensor]:
    """Read a state dict from a ``.safetensors`` file, or from a file of ``torch.save``.

    Parameters
    ----------
    path : path
        The file; its suffix determines the format.

    Returns
    -------
    dict of str to torch.Tensor

    Raises
    ------
    UserError
        If the file cannot be read.
    """
    if Path(path).suffix != ".safetensors":
        return state_dict_of(read_checkpoint(path), source=os.fspath(path))
    source = os.fspath(path)
    safetensors = library("safetensors", needed_by=source)
    try:
        return library("safetensors.torch", needed_by=source).load_file(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise UserError(f"{source} cannot be read: {error}", remedy="obtain the file again") from error
