"""What becomes of submissions whose submitter leaves the site."""

from __future__ import annotations

from contextlib import suppress

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visibility, VisionModel
from brainscore_web.submissions.models import Plugin, PluginKind, Submission

__all__ = ["take_along"]


def take_along(user: User) -> None:
    """Withdraw what is open, and delete what never was published; what is live stays, without its owner.

    The code of private models goes where the person had the models themselves erased.

    Parameters
    ----------
    user : User
        Who leaves; called in the transaction that deletes them.
    """
    from brainscore_web.submissions import pipeline

    for row in Submission.objects.filter(owner=user).order_by("created", "pk"):
        with suppress(UserError):  # it is over, or live
            pipeline.withdraw(row, user)
        with suppress(UserError):  # nothing is being done
            pipeline.cancel(row, user)
    for plugin in Plugin.objects.filter(owner=user, kind=PluginKind.MODELS).order_by("pk"):
        if _erased(plugin):
            plugin.delete()
    live = Plugin.objects.filter(revision__submission__owner=user).values("revision__submission")
    Submission.objects.filter(owner=user).exclude(pk__in=live).delete()


def _erased(plugin: Plugin) -> bool:
    """Whether of each of its models only the name is left."""
    rows = VisionModel.objects.filter(identifier__in=plugin.identifiers)
    return all(row.visibility == Visibility.PRIVATE and not row.plugin and not row.runnable for row in rows)
