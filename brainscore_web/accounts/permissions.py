"""What views ask of a request: a login, a confirmed address, where it came from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from allauth.account.models import EmailAddress
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from brainscore_web.accounts.models import User

View = TypeVar("View", bound=Callable[..., HttpResponse])


def confirmed_email_required(template: str) -> Callable[[View], View]:
    """Require a login and a confirmed e-mail address; logged-in users without one see `template` instead."""

    def decorated(view: View) -> View:
        @functools.wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not has_confirmed_email(current_user(request)):
                return render(request, template, status=403)
            return view(request, *args, **kwargs)

        return cast(View, never_cache(login_required(wrapped)))

    return decorated


def has_confirmed_email(user: User) -> bool:
    """Whether a user has confirmed an e-mail address."""
    return EmailAddress.objects.filter(user=user, verified=True).exists()


def current_user(request: HttpRequest) -> User:
    """Return the logged-in user."""
    assert isinstance(request.user, User)  # these views require a login
    return request.user


def return_address(request: HttpRequest, otherwise: str) -> str:
    """Return the page of this site that a form was sent from."""
    address = request.POST.get("back", "")
    if address.startswith("/") and url_has_allowed_host_and_scheme(address, None):
        return address
    return otherwise
