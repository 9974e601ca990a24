"""E-mail outbox: messages are stored with the change that they report, and sent afterwards.

Any number of processes may call `send_due_emails` at any time. While the mail server is down, nothing is lost.
"""

from __future__ import annotations

import logging
import re
import smtplib
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Exists, F, OuterRef, QuerySet
from django.template import Context, engines
from django.utils import timezone

from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Letter, Submission

__all__ = ["email_body", "email_subject", "queue_email", "queue_emails", "send_due_emails", "site_address"]

_log = logging.getLogger(__name__)
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=6)
_LEASE = timedelta(minutes=5)
"""Longer than any server takes for one mail: who claimed it and says nothing for so long is dead."""
_MAX_AGE = timedelta(days=30)
"""News from before that are none any more."""
_RECIPIENT_ERRORS = (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused, smtplib.SMTPDataError)


def queue_email(
    to: User | None,
    subject: str,
    template: str,
    context: Mapping[str, Any] | None = None,
    submission: Submission | None = None,
) -> Letter | None:
    """Keep a mail in the current transaction; it leaves once that is committed.

    Parameters
    ----------
    to : User or None
        Who gets it; nobody does where its reader has left.
    subject : str
        Brought to one line; the site's name is put before it.
    template : str
        Of plain text, such as ``'submissions/email/approved.txt'``; nothing in it is escaped.
    context : mapping, optional
        For the template, besides ``to``, ``site`` (address of the site, without a slash at its end) and ``submission``.
    submission : Submission, optional
        What it is about.

    Returns
    -------
    Letter or None
        What was kept.
    """
    if to is None:
        return None
    body = email_body(to, template, context, submission)
    return Letter.objects.create(to=to, submission=submission, subject=email_subject(subject), body=body)


def email_subject(text: str) -> str:
    """A subject as letters have it: on one line, after the site's name."""
    return _single_line(f"[Brain-Score] {text}")


def email_body(
    to: User, template: str, context: Mapping[str, Any] | None = None, submission: Submission | None = None
) -> str:
    """The text of a letter; parameters as those of `queue_email`."""
    words = {"to": to, "site": site_address(), "submission": submission, **(context or {})}
    body = engines["django"].engine.get_template(template).render(Context(words, autoescape=False))
    return re.sub(r"\n{3,}", "\n\n", body.replace("\0", "")).strip() + "\n"


def queue_emails(to: Iterable[User], subject: str, template: str, *args: Any, **kwargs: Any) -> int:
    """Keep the same mail for several; return for how many."""
    return sum(queue_email(one, subject, template, *args, **kwargs) is not None for one in to)


def send_due_emails(*, at_most: int = 50) -> int:
    """Send what is due, each by one process; return how many left.

    Not to be called inside a transaction: others must see at once who sends what. A process that is killed between
    sending and saying so lets a mail be sent once more, under the same message id.

    Parameters
    ----------
    at_most : int
        How many are tried.
    """
    sent, connection = 0, get_connection()
    try:
        for letter in _due_emails().select_related("to").order_by("due", "pk")[:at_most]:
            if not _claim(letter):
                continue
            try:
                _send(letter, connection)
            except Exception as error:  # noqa: BLE001 # it is logged and kept, and tried again
                _record_failure(letter, error)
                if isinstance(error, OSError) and not isinstance(
                    error, _RECIPIENT_ERRORS
                ):  # the server: others fail alike
                    _due_emails().update(due=timezone.now() + _FIRST_PAUSE)
                    break
            else:
                sent += _claimed_rows(letter).update(sent=timezone.now(), problem="")
    finally:
        connection.close()
    return sent


def site_address() -> str:
    """Address of this site, without a slash at its end, for mails: no request says it."""
    given = getattr(settings, "ADDRESS", "")
    if given:
        return str(given).rstrip("/")
    host = next((name.lstrip(".") for name in settings.ALLOWED_HOSTS if name.strip("*.")), "localhost")
    return f"https://{host}" if settings.PUBLIC else f"http://{host}:8000"


def _due_emails() -> QuerySet[Letter]:
    """Whose time has come, to people who are here and have confirmed their address."""
    now = timezone.now()
    confirmed = EmailAddress.objects.filter(user=OuterRef("to"), email=OuterRef("to__email"), verified=True)
    return Letter.objects.filter(
        Exists(confirmed), sent=None, due__lte=now, created__gt=now - _MAX_AGE, to__is_active=True
    )


def _claim(letter: Letter) -> bool:
    """Say that this process sends it, unless another said so first."""
    unchanged = Letter.objects.filter(pk=letter.pk, sent=None, due=letter.due, attempts=letter.attempts)
    if not unchanged.update(due=timezone.now() + _LEASE, attempts=F("attempts") + 1):
        return False
    letter.attempts += 1
    return True


def _claimed_rows(letter: Letter) -> QuerySet[Letter]:
    return Letter.objects.filter(pk=letter.pk, sent=None, attempts=letter.attempts)


def _send(letter: Letter, connection: BaseEmailBackend) -> None:
    domain = urlsplit(site_address()).hostname or "localhost"
    headers = {
        "Auto-Submitted": "auto-generated",
        "Message-ID": f"<letter.{letter.pk}.{letter.created:%Y%m%d%H%M%S}@{domain}>",
    }
    connection.open()
    EmailMessage(letter.subject, letter.body, to=[letter.to.email], headers=headers, connection=connection).send()


def _record_failure(letter: Letter, error: Exception) -> None:
    _log.error("Letter %s could not be sent: %s", letter.pk, error)
    pause = min(_FIRST_PAUSE * 2 ** min(letter.attempts - 1, 12), _LONGEST_PAUSE)
    problem = _single_line(f"{type(error).__name__}: {error}", 500)
    _claimed_rows(letter).update(due=timezone.now() + pause, problem=problem)


def _single_line(text: str, longest: int = 300) -> str:
    words = "".join(character if character.isprintable() else " " for character in text).split()
    line = " ".join(words)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
