"""System checks of the links in the footer for ``check --deploy``."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks

__all__ = ["footer_complete"]

_LINKS = (
    ("CONTACT", "how to contact the operators", "an e-mail address, or the address of a page"),
    ("REPOSITORY", "where the source code is", "the address of its repository"),
    ("ISSUES", "where to report problems", "the address of a page, such as the repository's issues"),
)


@checks.register(checks.Tags.security, deploy=True)
def footer_complete(**_: Any) -> list[checks.Error]:
    """Refuse a site whose visitors do not learn whom to ask."""
    return [
        checks.Error(
            f"The site does not say {what}.",
            hint=f"Set BRAINSCORE_SITE_{name} to {value}.",
            id=f"brainscore_web.E{number:03}",
        )
        for number, (name, what, value) in enumerate(_LINKS, start=1)
        if not getattr(settings, name)
    ]
