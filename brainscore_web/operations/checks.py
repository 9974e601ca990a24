"""System checks for ``check --deploy``: e-mail, the links in the footer, and the packages that workers need."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks

from brainscore_web.environment import worker_problem

_LINKS = (
    ("brainscore_web.E001", "CONTACT", "how to contact the operators", "an e-mail address, or the address of a page"),
    ("brainscore_web.E002", "REPOSITORY", "where the source code is", "the address of its repository"),
    (
        "brainscore_web.E003",
        "ISSUES",
        "where to report problems",
        "the address of a page, such as the repository's issues",
    ),
)


@checks.register(checks.Tags.security, deploy=True)
def footer_complete(**_: Any) -> list[checks.Error]:
    """Refuse a site whose visitors do not learn whom to ask."""
    return [
        checks.Error(
            f"The site does not say {missing}.",
            hint=f"Set BRAINSCORE_SITE_{name} to {value}.",
            id=identifier,
        )
        for identifier, name, missing, value in _LINKS
        if not getattr(settings, name)
    ]


@checks.register(deploy=True)
def worker_packages(**_: Any) -> list[checks.Warning]:
    """Name the packages without which this environment cannot run a worker."""
    missing = worker_problem()
    return [] if missing is None else [checks.Warning(missing.message, hint=missing.remedy, id="brainscore_web.W001")]


@checks.register(checks.Tags.security, deploy=True)
def email_configured(**_: Any) -> list[checks.Warning]:
    """Warn if no mail server is configured: users could not confirm their addresses."""
    if settings.EMAIL_BACKEND != "django.core.mail.backends.console.EmailBackend":
        return []
    hint = "Set BRAINSCORE_SITE_MAIL to smtp://user:password@host:587?tls=1."
    return [checks.Warning("E-mail is printed, not sent.", hint=hint, id="brainscore_web.W001")]
