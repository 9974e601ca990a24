"""What a person's profile page shows."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.account.models import EmailAddress
from allauth.mfa.utils import is_mfa_enabled
from django.core.paginator import Page, Paginator
from django.db.models import Q
from django.utils import timezone

from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.leaderboard.models import Benchmark, VisionModel

__all__ = ["Profile", "profile_of"]

_AT_ONCE = 50


@dataclass(frozen=True)
class Profile:
    """A person's own page.

    Attributes
    ----------
    user : User
        Whose it is.
    models, benchmarks : Page
        Of those they own.
    tokens : tuple of ApiToken
        Those that still work.
    second_factor : bool
        Whether logging in needs one.
    pending : str
        The address that waits to be confirmed; empty if there is none.
    """

    user: User
    models: Page
    benchmarks: Page
    tokens: tuple[ApiToken, ...]
    second_factor: bool
    pending: str


def profile_of(user: User, *, models_page: str = "1", benchmarks_page: str = "1") -> Profile:
    """Read a person's profile; a page that does not exist is the first or the last one."""
    works = Q(expires=None) | Q(expires__gt=timezone.now())
    pending = EmailAddress.objects.get_new(user)
    models = VisionModel.objects.filter(owner=user).order_by("identifier")
    benchmarks = Benchmark.objects.filter(owner=user, is_mean=False).order_by("identifier")
    return Profile(
        user=user,
        models=Paginator(models, _AT_ONCE).get_page(models_page),
        benchmarks=Paginator(benchmarks, _AT_ONCE).get_page(benchmarks_page),
        tokens=tuple(user.tokens.filter(works, revoked=False)),
        second_factor=is_mfa_enabled(user, ["totp"]),
        pending=pending.email if pending and pending.email != user.email else "",
    )
