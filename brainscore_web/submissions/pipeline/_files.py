"""Files that a revision names, as they lie on this machine."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from brainscore_web.submissions.models import Plugin, Revision
from brainscore_web.submissions.quota import CLOSED

__all__ = ["files_home", "files_of", "forget_old_files"]


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


def forget_old_files(before: datetime, *, dry: bool = False) -> int:
    """Remove fetched files that no live plugin and no open submission names.

    Parameters
    ----------
    before : datetime
        Files that were fetched since stay in any case.
    dry : bool
        Only count them.

    Returns
    -------
    int
        How many there are.
    """
    limit = before.timestamp()
    old = [path for path in files_home().glob("*/*") if path.is_file() and path.stat().st_mtime < limit]
    if not old:
        return 0
    live = Plugin.objects.values_list("revision", flat=True)
    open_ones = Revision.objects.exclude(submission__state__in=CLOSED).values_list("pk", flat=True)
    needed: set[Path] = set()
    for key in {*live, *open_ones}:  # one archive after the other
        needed.update(files_of(Revision.objects.get(pk=key)))
    found = [path for path in old if path not in needed]
    if not dry:
        for path in found:
            path.unlink(missing_ok=True)
    return len(found)
