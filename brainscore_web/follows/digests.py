"""E-mails about what members follow, and the links that end them (RFC 8058)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from brainscore_core.plurals import counted
from brainscore_web.accounts.models import User
from brainscore_web.follows.models import Follow, Notifications
from brainscore_web.follows.updates import newest_keys, score_updates, version_updates
from brainscore_web.jobs.outbox import queue_email
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel, benchmarks_at_or_below
from brainscore_web.pages.models import News

_SALT = "follows: unsubscribe"
_MOST = 25  # entries of each kind in an e-mail
_AT_ONCE = 100  # e-mails of one sweep


def notifications_of(user: User) -> Notifications:
    """Return the settings of a member; what happened before they were first needed is not reported."""
    return Notifications.objects.get_or_create(user=user, defaults=newest_keys()._asdict())[0]


def unsubscribe_url(user: User) -> str:
    """Return the URL at which a member, also without logging in, ends these e-mails."""
    return settings.ADDRESS + reverse("follows:unsubscribe", args=[signing.dumps(user.pk, salt=_SALT)])


def subscriber(token: str) -> User | None:
    """Return the member to whom a link of `unsubscribe_url` was sent; None if the link is not valid."""
    try:
        return User.objects.filter(pk=signing.loads(token, salt=_SALT)).first()
    except signing.BadSignature:
        return None


def unsubscribe(user: User) -> None:
    """End the e-mails of a member."""
    Notifications.objects.filter(user=user).update(frequency=Notifications.Frequency.NEVER)


def queue_digests() -> int:
    """Queue the e-mails that are due; return their number. Any number of processes may call it at any time."""
    waiting = Notifications.objects.filter(due__lte=timezone.now(), user__is_active=True)
    keys = waiting.exclude(frequency=Notifications.Frequency.NEVER).order_by("due").values_list("pk", flat=True)
    return sum(_queue_digest(key) for key in list(keys[:_AT_ONCE]))


@transaction.atomic
def _queue_digest(key: int) -> bool:
    row = Notifications.objects.select_for_update().select_related("user").filter(pk=key).first()
    now = timezone.now()
    if row is None or row.due > now or row.frequency == Notifications.Frequency.NEVER:
        return False  # another process was faster, or the member has changed the settings
    newest = newest_keys()
    context = _updates(row, newest.last_score, newest.last_version)
    for name, value in newest._asdict().items():
        setattr(row, name, value)
    row.due = now + row.interval
    row.save(update_fields=["last_score", "last_version", "news_until", "due"])
    counts = [_counted(len(context[name]), noun) for name, noun in _NOUNS.items() if context[name]]
    if not counts:
        return False
    context["unsubscribe"] = url = unsubscribe_url(row.user)
    queue_email(row.user, ", ".join(counts), "follows/email/digest.txt", context, unsubscribe=url)
    return True


_NOUNS = {"scores": "new score", "versions": "new version", "news": "news item"}


def _counted(number: int, noun: str) -> str:
    return f"more than {counted(_MOST, noun)}" if number > _MOST else counted(number, noun)


def _updates(row: Notifications, last_score: int, last_version: int) -> dict[str, Any]:
    """Return what is new for a member; one more than an e-mail lists, if there are others."""
    follows = Follow.objects.filter(user=row.user)
    labs = follows.filter(lab__isnull=False).values("lab")
    models = VisionModel.objects.filter(Q(follows__in=follows) | Q(lab__in=labs)).order_by().values("pk")
    followed = Benchmark.objects.filter(Q(follows__in=follows) | Q(lab__in=labs)).order_by()
    benchmarks = benchmarks_at_or_below(set(followed.values_list("pk", flat=True)))
    updates: dict[str, Any] = {"scores": [], "versions": [], "news": [], "most": _MOST}
    if row.scores:
        scores = Score.objects.visible_to(row.user).filter(pk__gt=row.last_score, pk__lte=last_score)
        scores = scores.filter(model__in=models) | scores.filter(benchmark__in=benchmarks)
        updates["scores"] = score_updates(scores, _MOST + 1)
    if row.versions:
        versions = BenchmarkVersion.objects.filter(pk__gt=row.last_version, pk__lte=last_version)
        updates["versions"] = version_updates(versions.filter(benchmark__in=benchmarks), _MOST + 1)
    if row.news:
        news = News.objects.published().filter(published__gt=row.news_until)
        updates["news"] = list(news.order_by("-published")[: _MOST + 1])
    return updates
