"""What can go wrong while a file is fetched."""

from collections.abc import Sequence

from brainscore_core.errors import DataUnavailable, UserError

__all__ = [
    "AccessDenied",
    "FetchError",
    "HashMismatch",
    "IncompleteDownload",
    "NotFound",
    "Offline",
    "SeveralFailures",
    "SeveralUnavailable",
    "StorageError",
    "UnverifiedFileWarning",
]


class FetchError(UserError):
    """A file could not be fetched.

    Parameters
    ----------
    message, remedy : str
        What happened to which URL, and what to do about it.
    url : str, optional
        The file's address, without credentials.
    expected, found : str, optional
        Hashes, as ``'sha1:…'`` or ``'sha256:…'``; `found` is None where no file arrived.
    """

    def __init__(
        self,
        message: str,
        remedy: str | None = None,
        *,
        url: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        super().__init__(message, remedy)
        self.url = url
        self.expected = expected
        self.found = found


class HashMismatch(FetchError, ValueError):
    """The file arrived, but it is not the file that was registered."""


class IncompleteDownload(FetchError):
    """The connection ended before the whole file arrived."""


class NotFound(FetchError, DataUnavailable):
    """There is no such file."""


class AccessDenied(FetchError, DataUnavailable):
    """The file is private, or the server hides that it does not exist."""


class Offline(FetchError, DataUnavailable):
    """The server cannot be reached from here, or does not answer in time."""


class StorageError(FetchError):
    """The file cannot be written: folder not writable, disk full."""


class SeveralFailures(FetchError):
    """More than one of several files could not be fetched; `errors` holds each failure."""

    def __init__(self, message: str, remedy: str | None = None, *, errors: Sequence[FetchError] = ()) -> None:
        super().__init__(message, remedy)
        self.errors = list(errors)


class SeveralUnavailable(SeveralFailures, DataUnavailable):
    """More than one of several files could not be fetched, and all of those cannot be had from here."""


class UnverifiedFileWarning(UserWarning):
    """No hash of a file is registered: the first copy that came was taken for the right one."""
