"""Leave the site: what a person has contributed stays, without the person."""

from __future__ import annotations

from django.contrib.sessions.models import Session
from django.db import models

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.accounts.sessions import session_keys
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.erasing import erase
from brainscore_web.leaderboard.models import Visibility, VisionModel
from brainscore_web.leaderboard.writing import writing_alone

__all__ = ["Leftover", "leave"]


class Leftover(models.TextChoices):
    """What becomes of private models whose owner leaves."""

    KEEP = "keep", "stay private: only administrators see them"
    PUBLISH = "publish", "become public"
    ERASE = "erase", "are erased: scores, profiles, descriptions"


def leave(user: User, leftover: Leftover) -> None:
    """Delete a person with addresses, tokens, second factors and sessions.

    Models and benchmarks stay, without owner. Private models never become public by this, unless asked for: of one
    that is erased a private row with nothing but its name stays, since receipts that are read again would otherwise
    make it anew, as a public one.

    Parameters
    ----------
    user : User
        Who leaves.
    leftover : Leftover
        What becomes of private models.

    Raises
    ------
    UserError
        If the site would have no administrator left.
    """
    with writing_alone():  # locks in the order of who ingests
        others = User.objects.select_for_update().filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
        if user.is_superuser and not list(others):
            raise UserError("the site would have no administrator", remedy="make somebody else an administrator first")
        private = VisionModel.objects.filter(owner=user, visibility=Visibility.PRIVATE)
        if leftover is Leftover.PUBLISH:
            private.update(visibility=Visibility.PUBLIC)
        elif leftover is Leftover.ERASE:
            erase(private)
        Session.objects.filter(session_key__in=list(session_keys(user))).delete()
        user.delete()
        revision.bump()  # updates in bulk send no signal
