"""Mails: written with what they tell of, sent once, and lost by no server that is down."""

import re
import smtplib
import socketserver
import threading
from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection, transaction
from django.utils import timezone

from brainscore_web.environment import site_address
from brainscore_web.jobs import outbox
from brainscore_web.jobs.models import Email
from brainscore_web.jobs.outbox import queue_email, send_due_emails
from brainscore_web.submissions.models import Comment
from brainscore_web.submissions.notifications import notify_review_needed
from brainscore_web.submissions.permissions import reviewers

from ._made import FINE, add_revision, make, unlocked

TEMPLATE = "submissions/email/review_waits.txt"


def letter(user, **fields):
    made = Email.objects.create(to=user, subject="Hello", body="Text.\n")
    Email.objects.filter(pk=made.pk).update(**fields)
    return made


class Smtp(socketserver.StreamRequestHandler):
    """A minimal mail server that refuses recipients whose address begins with 'nobody'."""

    def handle(self):
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            word = line[:4].upper().strip()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                text = b""
                while not text.endswith(b"\r\n.\r\n"):
                    text += self.rfile.readline()
                self.server.taken.append(text.decode())
                self.wfile.write(b"250 taken\r\n")
            elif word == b"RCPT" and b"<nobody" in line:
                self.wfile.write(b"550 there is nobody\r\n")
            elif word == b"QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                self.wfile.write(b"250 fine\r\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Smtp)
        self.taken = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


@pytest.fixture
def smtp(settings):
    """A mail server on this machine."""
    server = Server()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", server.server_address[1], 5
    yield server
    server.stop()


def test_a_server_that_is_down_loses_nothing(people, smtp):
    port = smtp.server_address[1]
    smtp.stop()
    made = [letter(people["sam"]), letter(people["rita"])]
    assert send_due_emails() == 0
    first, second = Email.objects.order_by("pk")
    assert "refused" in first.problem
    assert first.attempts + second.attempts == 1  # if the server fails for one, others are not tried
    assert min(first.due, second.due) > timezone.now() + timedelta(seconds=50)
    assert send_due_emails() == 0
    pauses = []
    for _ in range(3):
        Email.objects.filter(pk=first.pk).update(due=timezone.now())
        before = timezone.now()
        send_due_emails()
        first.refresh_from_db()
        pauses.append(round((first.due - before).total_seconds() / 60))
    assert pauses == [2, 4, 8]
    again = Server(port)
    try:
        Email.objects.update(due=timezone.now())
        assert send_due_emails() == 2
        assert send_due_emails() == 0
    finally:
        again.stop()
    assert sorted(re.search(r"^To: (.*)$", text, re.M)[1].strip() for text in again.taken) == [
        "rita@example.org",
        "sam@example.org",
    ]
    assert all("Auto-Submitted: auto-generated" in text for text in again.taken)
    assert {text.split("Message-ID: <letter.")[1].split(".")[0] for text in again.taken} == {
        str(one.pk) for one in made
    }
    assert set(Email.objects.values_list("problem", flat=True)) == {""}


def test_one_refused_address_holds_nobody_up(people, smtp):
    from allauth.account.models import EmailAddress

    people["sam"].email = "nobody@example.org"
    people["sam"].save()
    EmailAddress.objects.filter(user=people["sam"]).update(email="nobody@example.org")
    bad, good = letter(people["sam"]), letter(people["rita"])
    assert send_due_emails() == 1
    bad.refresh_from_db()
    good.refresh_from_db()
    assert bad.sent is None
    assert "there is nobody" in bad.problem
    assert good.sent is not None


class Broken(BaseEmailBackend):
    """A backend that fails in unforeseen ways."""

    def send_messages(self, messages):
        raise RuntimeError("what is this?")


def test_unforeseen_errors_are_kept_too(people, settings):
    settings.EMAIL_BACKEND = f"{__name__}.Broken"
    made = letter(people["sam"])
    assert send_due_emails() == 0
    made.refresh_from_db()
    assert made.problem == "RuntimeError: what is this?"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    Email.objects.update(due=timezone.now())
    assert send_due_emails() == 1


def test_who_gets_none(people):
    from allauth.account.models import EmailAddress

    EmailAddress.objects.filter(user=people["sam"]).update(verified=False)
    people["rob"].is_active = False
    people["rob"].save()
    letter(people["sam"])
    letter(people["rob"])
    letter(people["rita"], created=timezone.now() - timedelta(days=31))
    letter(people["rita"], due=timezone.now() + timedelta(minutes=1))
    assert send_due_emails() == 0
    EmailAddress.objects.filter(user=people["sam"]).update(verified=True)
    assert send_due_emails() == 1
    assert mail.outbox[0].to == ["sam@example.org"]
    assert queue_email(None, "x", TEMPLATE) is None


def test_a_letter_of_a_transaction_that_fails_is_none(people):
    with transaction.atomic():
        queue_email(people["sam"], "x", "submissions/email/base.txt")
        transaction.set_rollback(True)
    assert not Email.objects.exists()


def test_nothing_of_a_letter_is_a_header_or_markup(people):
    submission = make(people["sam"], title="a\r\nBcc: all@example.org\n<b>&\x07")
    made = queue_email(
        people["rita"],
        f"Hi {submission}",
        "submissions/email/review_waits.txt",
        {"revision": submission.latest},
        submission,
    )
    assert made.subject == "[Brain-Score] Hi a Bcc: all@example.org <b>&"
    assert send_due_emails() == 1
    assert mail.outbox[0].recipients() == ["rita@example.org"]
    assert "<b>&" in mail.outbox[0].body


@pytest.mark.django_db(transaction=True)
def test_two_processes_send_each_once(transactional_db, people, monkeypatch):
    made = {letter(people["sam"]).pk for _ in range(12)}
    gone, begin = [], threading.Barrier(3)
    monkeypatch.setattr(outbox, "_send", lambda one, connection: gone.append(one.pk))

    def run():
        try:
            begin.wait()
            unlocked(send_due_emails)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    Email.objects.filter(sent=None).update(due=timezone.now())
    assert sorted(gone) == sorted(set(gone))
    assert set(gone) <= made
    assert not Email.objects.filter(pk__in=gone, attempts=0).exists()


def test_who_was_killed_while_sending(people, monkeypatch):
    made = letter(people["sam"])

    def die(one, connection):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(outbox, "_send", die)
        with pytest.raises(KeyboardInterrupt):
            send_due_emails()
    assert send_due_emails() == 0  # for some minutes it is that one's
    Email.objects.filter(pk=made.pk).update(claimed=timezone.now() - timedelta(minutes=6))
    assert send_due_emails() == 1


@pytest.mark.parametrize(
    ("hosts", "public", "address", "wanted"),
    [
        (["localhost", "127.0.0.1"], False, "", "http://localhost:8000"),
        (["score.example"], True, "", "https://score.example"),
        (["*"], True, "", "https://localhost"),
        ([".score.example"], True, "", "https://score.example"),
        (["localhost"], True, "https://here.example/", "https://here.example"),
    ],
)
def test_the_address_of_the_site(monkeypatch, hosts, public, address, wanted):
    monkeypatch.setenv("BRAINSCORE_SITE_ADDRESS", address)
    assert site_address(hosts, public=public) == wanted


def test_who_reviews(people):
    assert {str(user) for user in reviewers()} == {"Rita", "Rob", "Admin"}
    assert {str(user) for user in reviewers(but=people["rob"])} == {"Rita", "Admin"}


def read(user):
    return [(one.subject.removeprefix("[Brain-Score] "), one.body) for one in user.emails.order_by("pk")]


def test_reviewers_hear_of_what_waits(people, submission, as_):
    assert notify_review_needed(submission.latest) == 3
    subject, body = read(people["rita"])[0]
    assert subject == "Waits for review: benchmarks/author2026"
    assert f"/review/{submission.pk}/" in body
    assert "Submitted by: Sam" in body
    own = make(people["rita"])
    assert notify_review_needed(own.latest) == 2
    as_("rob").post(f"/review/{submission.pk}/claim/")
    later = add_revision(submission, {"benchmarks/author2026/__init__.py": "x"}, number=2)
    Email.objects.all().delete()
    assert notify_review_needed(later) == 1  # who looked at it before
    assert read(people["rob"])[0][0] == "Waits for review again: benchmarks/author2026"
    assert later.steps.get(kind="review").result["reviewer"] == people["rob"].pk


def test_the_submitter_hears_of_verdicts(people, submission, as_):
    as_("rita").post(
        f"/review/{submission.pk}/1/comment/",
        {"text": "Why 3?", "path": "benchmarks/author2026/benchmark.py", "line": "4"},
    )
    assert [subject for subject, _ in read(people["sam"])] == ["Comments on benchmarks/author2026"]
    aspects = {**FINE, "aspect-ceiling": "not", "note-ceiling": "It is squared."}
    as_("rita").post(
        f"/review/{submission.pk}/1/judge/", {"verdict": "changes", "text": "Nearly & <there>.", **aspects}
    )
    ((subject, body),) = read(people["sam"])  # that of the comment is in it
    assert subject == "Changes requested: benchmarks/author2026"
    for part in ("Rita", "Nearly & <there>.", "Ceiling implementation (not fine): It is squared.", "line 4", "Why 3?"):
        assert part in body
    assert "@" not in body
    assert send_due_emails() == 1
    assert mail.outbox[0].body == body


def test_comments_are_gathered(people, submission, as_):
    address = f"/review/{submission.pk}/1/comment/"
    for text in ("One.", "Two."):
        as_("rita").post(address, {"text": text})
    ((_, body),) = read(people["sam"])
    assert "One." in body
    assert "Two." in body
    assert send_due_emails() == 0  # more may come
    as_("sam").post(address, {"text": "Three."})
    ((_, answer),) = read(people["rita"])
    assert "Three." in answer
    assert "One." not in answer
    assert not read(people["rob"])
    Email.objects.update(due=timezone.now())
    assert send_due_emails() == 2
    as_("rita").post(address, {"text": "Four."})
    assert [("One." in body, "Four." in body) for _, body in read(people["sam"])] == [(True, False), (False, True)]
    assert Comment.objects.count() == 4


def test_smtp_errors_about_one_reader_are_told_from_those_of_the_server():
    assert issubclass(smtplib.SMTPRecipientsRefused, outbox._RECIPIENT_ERRORS)
    assert not issubclass(smtplib.SMTPServerDisconnected, outbox._RECIPIENT_ERRORS)
