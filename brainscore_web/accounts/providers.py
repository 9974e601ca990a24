"""Log-in with an account of GitHub or ORCID: what django-allauth calls, and the addresses of the two providers.

An account of a provider belongs to an account of this site only if its user logs in to both: addresses that a provider
tells are proposed at sign-up, have to be confirmed like any other, and are never used to find an account.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from allauth.core import ratelimit
from allauth.socialaccount import forms as social
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.github import views as github
from allauth.socialaccount.providers.orcid import views as orcid
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path

from brainscore_web.accounts.adapter import SignUp
from brainscore_web.accounts.models import User

_STORED = ("login", "html_url", "orcid-identifier")
"""What is stored of a provider's description of an account: names and addresses of its page."""


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Accounts of providers."""

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """Take over name and address as proposals; forget everything else that the provider tells."""
        user: User = sociallogin.user
        user.email = data.get("email") or ""
        names = (data.get("first_name"), data.get("last_name"))
        user.display_name = (data.get("name") or " ".join(filter(None, names)))[:100]
        details = sociallogin.account.extra_data
        sociallogin.account.extra_data = {name: details[name] for name in _STORED if name in details}
        sociallogin.email_addresses = []
        return user

    def get_signup_form_initial_data(self, sociallogin: SocialLogin) -> dict[str, str]:
        return {"email": sociallogin.user.email, "display_name": sociallogin.user.display_name}


class ProviderSignUpForm(SignUp, social.SignupForm):
    """Sign up with an account of a provider, which replaces the password."""

    field_order = ("email", "display_name", "consent")


View = Callable[[HttpRequest], HttpResponse]


def _limited(provider: str, view: View) -> View:
    """Limit how often a client may start and end log-ins; providers that are not configured are not found."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        if provider not in settings.SOCIALACCOUNT_PROVIDERS:
            raise Http404("this site has no log-in with this provider")
        refused = ratelimit.consume_or_429(request, action="provider_login")
        return refused or view(request)

    return wrapped


def _continuing(view: View) -> View:
    """Send browsers to the provider by a page: they refuse to follow a form to another site.

    The content security policy says so, whatever redirects the form. Of the query, only purpose and destination count:
    links do not choose what the provider is asked for.
    """

    @functools.wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        query = request.GET.copy()
        for name in query.keys() - {"process", "next"}:
            del query[name]
        request.GET = query
        response = view(request)
        address = response.get("Location", "")
        if not address.startswith("https:") and not address.startswith("http:"):
            return response
        page = render(request, "socialaccount/login_redirect.html", {"address": address})
        page["Refresh"] = f"0; url={address}"
        return page

    return wrapped


_VIEWS: dict[str, Any] = {"github": github, "orcid": orcid}


def _addresses(provider: str) -> list[URLPattern]:
    views = _VIEWS[provider]
    start, end = _continuing(_limited(provider, views.oauth2_login)), _limited(provider, views.oauth2_callback)
    return [
        path(f"{provider}/login/", start, name=f"{provider}_login"),
        path(f"{provider}/login/callback/", end, name=f"{provider}_callback"),
    ]


urlpatterns = [address for provider in _VIEWS for address in _addresses(provider)]
