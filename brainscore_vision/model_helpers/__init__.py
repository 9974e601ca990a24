"""Helpers for model plugins."""

import os
from collections.abc import Iterable

__all__ = ["download_weights"]


def download_weights(
    bucket: str,
    folder_path: str,
    filename_version_sha: Iterable[tuple[str, str | None, str | None]],
    save_directory: str | os.PathLike[str],
) -> None:
    """Download files of a folder in an S3 bucket into a local folder, and check their sha1.

    Parameters
    ----------
    bucket : str
        Bucket.
    folder_path : str
        Folder in the bucket.
    filename_version_sha : list of (str, str or None, str or None)
        Name, version (None: the latest) and sha1 of each file; without sha1, later copies must equal the first, and a
        warning states its hash.
    save_directory : path
        Destination. Existing files with the right hash are kept.

    Raises
    ------
    FetchError
        A file cannot be fetched, or has another hash.
    """
    from brainscore_core.supported_data_standards.brainio.s3 import load_folder_from_s3

    load_folder_from_s3(bucket, folder_path, list(filename_version_sha), save_directory)
