"""What uses an upload: as long as anything does, it stays."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.db.models.deletion import PROTECT, RESTRICT

from brainscore_web.leaderboard.models import Score
from brainscore_web.uploads.models import Upload

__all__ = ["uses_of"]

_SHOWN = 5


def uses_of(upload: Upload) -> list[str]:
    """Say what uses an upload.

    Rows of other tables that point at it and forbid its deletion, and scores whose receipts name one of its files by
    hash.

    Parameters
    ----------
    upload : Upload
        Which.

    Returns
    -------
    list of str
        A few of them; empty if nothing does. Models that the upload's owner does not see are not named.
    """
    found = []
    for relation in Upload._meta.related_objects:
        if relation.on_delete in (PROTECT, RESTRICT):
            rows = relation.related_model._default_manager.filter(**{relation.field.name: upload})
            found += [f"{relation.related_model._meta.verbose_name} {row}" for row in rows[:_SHOWN]]
    hashes = [one for file in upload.files.all() for one in (file.sha1, file.sha256) if one]
    if hashes:
        named = Q()
        for one in hashes:
            named |= Q(document__icontains=one)
        scores = Score.objects.filter(named)
        shown = scores.visible_to(upload.owner or AnonymousUser()).select_related("model", "benchmark")
        found += [f"score of {score.model.identifier} on {score.benchmark.identifier}" for score in shown[:_SHOWN]]
        if not found and scores.exists():
            found.append("scores that others keep private")
    return found
