"""System checks of accounts for ``check --deploy``."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks


@checks.register(checks.Tags.security, deploy=True)
def email_configured(**_: Any) -> list[checks.Warning]:
    """Warn if no mail server is configured: users could not confirm their addresses."""
    if settings.EMAIL_BACKEND != "django.core.mail.backends.console.EmailBackend":
        return []
    hint = "Set BRAINSCORE_SITE_MAIL to smtp://user:password@host:587?tls=1."
    return [checks.Warning("E-mail is printed, not sent.", hint=hint, id="brainscore_web.W001")]
