"""Files that a revision names, as they lie on this machine."""

from __future__ import annotations

from pathlib import Path

from brainscore_web.submissions.models import Revision

__all__ = ["files_home", "files_of"]


def files_home() -> Path:
    """The cache of such files, laid out as ``BRAINIO_HOME``; nothing private is in it."""
    from brainscore_web.submissions.pipeline import _declared

    return _declared.files_home()


def files_of(revision: Revision) -> list[Path]:
    """Files that a revision names in its code and that were fetched to this machine, into `files_home`.

    Parameters
    ----------
    revision : Revision
        Which revision.
    """
    from brainscore_web.submissions.pipeline._check import package_of
    from brainscore_web.submissions.pipeline._declared import files_at_hand

    return [path for _declared, path in files_at_hand(package_of(revision))]
