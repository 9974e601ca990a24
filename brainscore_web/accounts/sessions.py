"""Where a person is logged in."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

from brainscore_web.accounts.models import User

__all__ = ["session_keys"]


def session_keys(user: User) -> Iterator[str]:
    """Keys of a person's sessions that have not ended. What sessions hold is signed, so each has to be read."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator(chunk_size=1000):
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            yield session.session_key
