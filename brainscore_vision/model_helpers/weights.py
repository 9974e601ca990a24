"""Weights of networks: drawn at random, or fetched, verified, and loaded into modules."""

from __future__ import annotations

import os
import pickle
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.files import file_digest
from brainscore_core.formatting import first_few
from brainscore_core.supported_data_standards.brainio.fetch import FetchRequest, HashMismatch, fetch, fetch_all
from brainscore_core.supported_data_standards.brainio.s3 import load_file_from_s3

if TYPE_CHECKING:
    import torch

FOLDER_VARIABLE = "BRAINSCORE_WEIGHTS"
"""Environment variable that names a folder of manually placed weight files."""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from `seed`; afterwards, the caller's generator continues unchanged.

    Examples
    --------
    >>> import torch
    >>> with seeded(0):
    ...     first = torch.rand(3)
    >>> with seeded(0):
    ...     assert torch.equal(torch.rand(3), first)
    """
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@dataclass(frozen=True, kw_only=True)
class WeightFile:
    """A file of weights: its name, address and hash.

    Parameters
    ----------
    name : str
        Name of the file, also in the folder ``$BRAINSCORE_WEIGHTS``.
    url : str, optional
        Address where it is published.
    bucket, key : str, optional
        Instead of `url`: an object in S3.
    version_id : str, optional
        S3's version of the object.
    sha1, sha256 : str, optional
        Its hash. Without one, the sha256 of the first download is recorded, and later downloads must match it; a
        receipt states that hash.
    sha256_prefix : str, optional
        Beginning of the sha256, if only that is published (torchvision writes it into file names).
    remark : str, optional
        Further help for users who have to obtain the file, shown if it is missing.

    Examples
    --------
    >>> empty = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    >>> WeightFile(name="a.pth", url="https://example.org/a.pth", sha1=empty).address
    'https://example.org/a.pth'
    """

    name: str
    url: str | None = None
    bucket: str | None = None
    key: str | None = None
    version_id: str | None = None
    sha1: str | None = None
    sha256: str | None = None
    sha256_prefix: str | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        if Path(self.name).name != self.name or self.name in ("", ".", ".."):
            raise ValueError(f"{self.name!r} cannot name a file of weights")
        if (self.bucket is None) != (self.key is None) or (self.url is not None and self.bucket is not None):
            raise ValueError(f"{self.name!r}: give url, or bucket and key, or neither")
        if self.bucket is not None and self.sha1 is None:
            raise ValueError(f"{self.name!r}: an object in S3 needs its sha1")

    @property
    def address(self) -> str | None:
        """Where the file is published, or None."""
        if self.bucket is None:
            return self.url
        return f"https://{self.bucket}.s3.amazonaws.com/{urllib.parse.quote(str(self.key))}"

    @property
    def pinned(self) -> bool:
        """Whether the hash is known."""
        return self.sha1 is not None or self.sha256 is not None

    def path(self) -> Path:
        """Return a local copy: from the folder ``$BRAINSCORE_WEIGHTS``, a mirror, the cache, the network.

        Returns
        -------
        pathlib.Path
            The file; its hash is checked if known. Treat it as read-only.

        Raises
        ------
        DataUnavailable
            If the file is not available; the message states where it is published and where to put it.
        FetchError
            If a file has another hash.
        """
        placed = placed_file(self.name)
        if placed is not None:
            return self._verified(placed)
        if self.address is None:
            raise DataUnavailable(f"no public source of the weights {self.name!r} is known", remedy=self._remedy())
        try:
            if self.bucket is not None and self.key is not None:
                return load_file_from_s3(self.bucket, self.key, sha1=self.sha1, version_id=self.version_id)
            if self.pinned:
                return fetch(self.address, sha1=self.sha1, sha256=self.sha256, version_id=self.version_id)
            unpinned = FetchRequest(self.address, filename=self.name, first_use=True, sha256_prefix=self.sha256_prefix)
            return fetch_all([unpinned])[0]
        except DataUnavailable as error:
            raise DataUnavailable(
                f"the weights {self.name!r} are not available: {error.message}", remedy=self._remedy()
            ) from error

    def _verified(self, path: Path) -> Path:
        if self.pinned:
            return fetch(path.as_uri(), sha1=self.sha1, sha256=self.sha256)
        digest = file_digest(path, "sha256")
        if self.sha256_prefix is not None and not digest.startswith(self.sha256_prefix.lower()):
            raise HashMismatch(
                f"{path} is not the published {self.name!r}: its sha256 {digest} does not begin with "
                f"{self.sha256_prefix}",
                remedy="delete it and obtain it again",
            )
        # any file with the right beginning of its hash is accepted; the receipt states the hash
        return fetch(path.as_uri(), sha256=digest)

    def _remedy(self) -> str:
        source = (
            f"Download {self.address} on a machine with network access"
            if self.address
            else "Obtain it from its authors"
        )
        digest = f"sha1:{self.sha1}" if self.sha1 else f"sha256:{self.sha256}" if self.sha256 else None
        if digest is None and self.sha256_prefix:
            digest = f"a sha256 that begins with {self.sha256_prefix}"
        required = f"It must have {digest}." if digest else ""
        return " ".join(filter(None, [f"{source} and {placing(self.name)}.", required, self.remark]))


def placed_file(*names: str) -> Path | None:
    """The first of these files that is in the folder ``$BRAINSCORE_WEIGHTS``."""
    folder = os.environ.get(FOLDER_VARIABLE)
    paths = [Path(folder).expanduser().absolute() / name for name in names] if folder else []
    return next((path for path in paths if path.is_file()), None)


def placing(name: str) -> str:
    """Say where a file of this name has to be placed."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        return f"put it at {Path(folder).expanduser() / name}"
    return f"set {FOLDER_VARIABLE} to a folder that holds it as {name!r}"


def read_checkpoint(path: str | os.PathLike[str], *, allow: Sequence[Callable[..., Any]] = ()) -> Any:
    """Read a file of ``torch.save`` onto the CPU; it may contain tensors and plain values only.

    NumPy numbers, such as an accuracy saved with the weights, are plain values, whichever version of NumPy wrote them.

    Parameters
    ----------
    path : path
        The file.
    allow : sequence of type
        Further classes that the file may contain. Objects of other classes are never constructed.

    Returns
    -------
    object
        The saved object.

    Raises
    ------
    UserError
        If the file is not a checkpoint, or contains objects of other classes.
    """
    import torch

    try:
        with torch.serialization.safe_globals([*_numpy_numbers(), *allow]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        lines = str(error).splitlines()
        reason = next((line.strip() for line in lines if "Unsupported" in line), lines[-1])
        raise UserError(
            f"{os.fspath(path)} holds more than tensors and plain values: {reason}",
            remedy="if you trust it, save its state dict alone: torch.save(module.state_dict(), FILE)",
        ) from error
    except (RuntimeError, EOFError, OSError) as error:
        raise UserError(
            f"{os.fspath(path)} cannot be read as a checkpoint: {error}", remedy="obtain the file again"
        ) from error


def _numpy_numbers() -> list[Any]:
    """Constructors of NumPy numbers, under the names that NumPy 1 and NumPy 2 write into files."""
    import numpy as np

    scalar = np.float64(0).__reduce__()[0]
    names = [(scalar, f"numpy.{core}.multiarray.scalar") for core in ("core", "_core")]
    return [*names, np.dtype, *{type(np.dtype(code)) for code in np.typecodes["AllInteger"] + "?efd"}]


def state_dict_of(
    checkpoint: Any, *, key: str | None = None, prefix: str = "module.", source: str = "the checkpoint"
) -> dict[str, torch.Tensor]:
    """Extract the weights from a checkpoint.

    Parameters
    ----------
    checkpoint : dict
        Result of :func:`read_checkpoint`.
    key : str, optional
        Key of the state dict; by default ``'state_dict'`` if the checkpoint has it, else the checkpoint itself is used.
    prefix : str
        Removed from the names if all of them have it (``'module.'`` comes from ``DataParallel``).
    source : str
        Name of the checkpoint in messages.

    Returns
    -------
    dict of str to torch.Tensor
        Name → value.

    Raises
    ------
    UserError
        If the key does not exist, or its value is not a state dict.

    Examples
    --------
    >>> import torch
    >>> checkpoint = {"epoch": 43, "state_dict": {"module.linear.bias": torch.zeros(2)}}
    >>> state_dict_of(checkpoint)
    {'linear.bias': tensor([0., 0.])}
    """
    import torch

    weights = checkpoint
    if key is None and isinstance(checkpoint, Mapping) and isinstance(checkpoint.get("state_dict"), Mapping):
        key = "state_dict"
    if key is not None:
        if not isinstance(checkpoint, Mapping) or key not in checkpoint:
            keys = checkpoint if isinstance(checkpoint, Mapping) else [type(checkpoint).__name__]
            raise UserError(f"{source} has no {key!r}; it has {first_few(keys)}", remedy="pass another file")
        weights = checkpoint[key]
    if not isinstance(weights, Mapping) or not weights:
        raise UserError(f"{source} is a {type(weights).__name__}, not a state dict", remedy="pass another file")
    not_tensors = [str(name) for name, value in weights.items() if not isinstance(value, torch.Tensor)]
    if not_tensors:
        raise UserError(
            f"{source} is not a state dict; not tensors: {first_few(not_tensors)}",
            remedy=f"pass the key of the weights; there are {first_few(weights)}",
        )
    strip = prefix if prefix and all(name.startswith(prefix) for name in weights) else ""
    return {name.removeprefix(strip): value for name, value in weights.items()}


def load_state_dict(module: torch.nn.Module, weights: Mapping[str, torch.Tensor], *, source: str) -> None:
    """Load weights into a module; every name and shape must agree.

    Parameters
    ----------
    module : torch.nn.Module
        Changed in place.
    weights : dict of str to torch.Tensor
        Name → value. Counters of batches (``num_batches_tracked``), which old checkpoints lack, may be missing.
    source : str
        Name of the weights in messages.

    Raises
    ------
    UserError
        If they do not fit; the message lists missing and unexpected names, and other shapes.
    """
    expected = module.state_dict()
    missing = [name for name in expected if name not in weights and not name.endswith("num_batches_tracked")]
    unexpected = [name for name in weights if name not in expected]
    shapes = [
        f"{name}: {tuple(weights[name].shape)} instead of {tuple(value.shape)}"
        for name, value in expected.items()
        if name in weights and weights[name].shape != value.shape
    ]
    problems = [
        f"{len(names)} {problem} ({first_few(names)})"
        for names, problem in ((missing, "missing"), (unexpected, "unexpected"), (shapes, "of another shape"))
        if names
    ]
    if problems:
        raise UserError(
            f"{source} does not fit {type(module).__name__} of {len(expected)} tensors: {'; '.join(problems)}",
            remedy="these are the weights of another architecture, or their names were changed",
        )
    counters = {name: value for name, value in expected.items() if name not in weights}
    module.load_state_dict({**counters, **weights}, strict=True)


def load_weights(
    module: torch.nn.Module,
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    prefix: str = "module.",
    allow: Sequence[Callable[..., Any]] = (),
) -> None:
    """Load the weights of a file into a module.

    Parameters
    ----------
    module : torch.nn.Module
        Changed in place.
    path : path
        File of ``torch.save``.
    key, prefix
        See :func:`state_dict_of`.
    allow
        See :func:`read_checkpoint`.

    Raises
    ------
    UserError
        If the file cannot be read, contains objects other than tensors and plain values, or does not fit.

    Examples
    --------
    >>> import tempfile, torch
    >>> path = Path(tempfile.mkdtemp()) / "linear.pth"
    >>> torch.save({"state_dict": {"module.weight": torch.ones(1, 2), "module.bias": torch.ones(1)}}, path)
    >>> linear = torch.nn.Linear(2, 1)
    >>> load_weights(linear, path, key="state_dict")
    >>> linear(torch.ones(1, 2)).item()
    3.0
    """
    source = os.fspath(path)
    weights = state_dict_of(read_checkpoint(path, allow=allow), key=key, prefix=prefix, source=source)
    load_state_dict(module, weights, source=source)
