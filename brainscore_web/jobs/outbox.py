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
from django.db.models import Exists, Model, OuterRef, Q
from django.template import Context, engines
from django.utils import timezone

from brainscore_web.accounts.models import User
from brainscore_web.jobs.leases import Lease, LeaseQueue, RetryPolicy, claim, expired_leases
from brainscore_web.jobs.models import Email

_log = logging.getLogger(__name__)
_MAX_AGE = timedelta(days=30)
"""Older e-mails are no longer sent."""
_REPEAT_AFTER = timedelta(days=1)
_RECIPIENT_ERRORS = (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused, smtplib.SMTPDataError)

EMAILS = LeaseQueue(
    Email,
    waiting=Q(sent=None),
    held=Q(sent=None) & ~Q(claim=""),
    order=("due", "pk"),
    related=("to",),
    retry=RetryPolicy(timedelta(minutes=1), factor=2, longest=timedelta(hours=6)),
    lasts=timedelta(minutes=5),  # longer than any mail server takes for one e-mail, so that it need not be renewed
)
"""E-mails to be sent."""


def queue_email(
    to: User | None,
    subject: str,
    template: str,
    context: Mapping[str, Any] | None = None,
    submission: Model | None = None,
    unsubscribe: str = "",
) -> Email | None:
    """Queue an e-mail in the current transaction; it is sent after the transaction is committed.

    `unsubscribe`: the URL that ends e-mails of this kind when it receives a POST request without a login (RFC 8058).
    """
    if to is None:
        return None
    texts = {"subject": email_subject(subject), "body": email_body(to, template, context, submission)}
    return Email.objects.create(to=to, submission=submission, unsubscribe=unsubscribe, **texts)


def email_subject(text: str) -> str:
    """Return the subject of an e-mail: on one line, with the site's name in front."""
    return _single_line(f"[Brain-Score] {text}")


def email_body(
    to: User, template: str, context: Mapping[str, Any] | None = None, submission: Model | None = None
) -> str:
    """Return the text of an e-mail; parameters as for `queue_email`."""
    variables = {"to": to, "site": settings.ADDRESS, "submission": submission, **(context or {})}
    body = engines["django"].engine.get_template(template).render(Context(variables, autoescape=False))
    return re.sub(r"\n{3,}", "\n\n", body.replace("\0", "")).strip() + "\n"


def queue_emails(to: Iterable[User], subject: str, template: str, *args: Any, **kwargs: Any) -> int:
    """Queue the same e-mail for several users; return the number of e-mails."""
    return sum(queue_email(user, subject, template, *args, **kwargs) is not None for user in to)


def notify_administrators(what: str, internal: str) -> None:
    """Report a problem of the site to its administrators, at most once a day for the same problem."""
    _log.error("%s: %s", what, internal)
    subject = " ".join(f"administrators: {what}".split())[:200]
    if Email.objects.filter(subject__endswith=subject, created__gt=timezone.now() - _REPEAT_AFTER).exists():
        return
    administrators = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    queue_emails(administrators, subject, "submissions/email/administrators.txt", {"what": what, "internal": internal})


def send_due_emails(*, at_most: int = 50) -> int:
    """Send due e-mails, each by one process; return how many were sent.

    Must not be called inside a transaction, since other processes must see claims at once. If a process is killed
    between sending an e-mail and recording it, the e-mail is sent once more with the same message id.
    """
    for lease in expired_leases(EMAILS):
        lease.release()
    sent, connection = 0, get_connection()
    try:
        for _ in range(at_most):
            leases = claim(EMAILS, where=_sendable())
            if not leases:
                break
            (lease,) = leases
            try:
                _send(lease.row, connection)
            except Exception as error:  # noqa: BLE001 # it is logged, and the e-mail is retried
                _record_failure(lease, error)
                if isinstance(error, OSError) and not isinstance(
                    error, _RECIPIENT_ERRORS
                ):  # the server fails: so would other e-mails
                    EMAILS.due().update(due=timezone.now() + EMAILS.retry.first)
                    break
            else:
                sent += lease.finish(sent=timezone.now(), problem="")
    finally:
        connection.close()
    return sent


def _sendable() -> Q:
    """E-mails that are not too old, to active users with a confirmed address."""
    confirmed = EmailAddress.objects.filter(user=OuterRef("to"), email=OuterRef("to__email"), verified=True)
    return Q(Exists(confirmed), created__gt=timezone.now() - _MAX_AGE, to__is_active=True)


def _send(email: Email, connection: BaseEmailBackend) -> None:
    domain = urlsplit(settings.ADDRESS).hostname or "localhost"
    headers = {
        "Auto-Submitted": "auto-generated",
        "Message-ID": f"<letter.{email.pk}.{email.created:%Y%m%d%H%M%S}@{domain}>",
    }
    if email.unsubscribe:
        headers["List-Unsubscribe"] = f"<{email.unsubscribe}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    connection.open()
    EmailMessage(email.subject, email.body, to=[email.to.email], headers=headers, connection=connection).send()


def _record_failure(lease: Lease[Email], error: Exception) -> None:
    _log.error("E-mail %s could not be sent: %s", lease.row.pk, error)
    lease.retry(problem=_single_line(f"{type(error).__name__}: {error}", 500))


def _single_line(text: str, longest: int = 300) -> str:
    words = "".join(character if character.isprintable() else " " for character in text).split()
    line = " ".join(words)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
