"""Requests at the same time: ``python _races.py`` makes them on an empty database, and prints what came out."""

import io
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def at_once(jobs):
    """Run all in threads that begin together; their results."""
    from django.db import connections

    ready = threading.Barrier(len(jobs))

    def run(job):
        try:
            ready.wait(timeout=30)
            return job()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result(timeout=120) for future in [pool.submit(run, job) for job in jobs]]


def sent_by(token, content, address="submissions"):
    from django.test import Client

    def send():
        archive = io.BytesIO(content)
        archive.name = "mine.zip"
        headers = {"Authorization": f"Bearer {token}"}
        return Client().post(f"/api/v1/{address}", {"archive": archive}, headers=headers).status_code

    return send


def somebody(name):
    from allauth.account.models import EmailAddress

    from brainscore_web.accounts.models import ApiToken, User

    user = User.objects.create_user(f"{name}@example.org", "correct horse battery")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user, ApiToken.issue(user, "race", ["submit"])[1]


def open_submissions(content_of):
    """Twenty submissions, room for three."""
    user, token = somebody("many")
    answers = at_once([sent_by(token, content_of(number)) for number in range(20)])
    return {"answers": answers, "kept": user.submissions.count()}


def revisions(content_of):
    """Four revisions of one submission."""
    from brainscore_web.submissions.models import Revision

    user, token = somebody("again")
    first = sent_by(token, content_of(30))()
    row = user.submissions.get()
    address = f"submissions/{row.pk}/revisions"
    answers = at_once([sent_by(token, content_of(number), address) for number in range(31, 35)])
    latest = row.latest
    states = row.revisions.exclude(pk=latest.pk).order_by().values_list("steps__state", flat=True)
    return {
        "answers": [first, *answers],
        "numbers": sorted(Revision.objects.filter(submission=row).values_list("number", flat=True)),
        "begun": latest.steps.get(kind="check").due is not None,
        "before": sorted(set(states)),
    }


def the_same(content_of):
    """One submission four times."""
    user, token = somebody("twice")
    answers = at_once([sent_by(token, content_of(40)) for _ in range(4)])
    return {"answers": answers, "kept": user.submissions.count()}


def tokens(_content_of):
    """Eight tokens at the same time, room for four beside those of the member."""
    from django.test import Client

    from brainscore_web.accounts.models import ApiToken

    user, _ = somebody("tokens")
    for number in range(45):
        ApiToken.issue(user, str(number), ["read"])
    clients = [Client() for _ in range(8)]
    for client in clients:
        client.force_login(user)
    asked = {"name": "x", "scopes": ["read"], "days": "30"}
    at_once([lambda client=client: client.post("/accounts/tokens/", asked).status_code for client in clients])
    return user.tokens.count()


if __name__ == "__main__":
    import django

    django.setup()
    from django.conf import settings

    settings.ALLOWED_HOSTS = ["*"]
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.SUBMISSIONS["open"] = 3
    settings.SUBMISSIONS["examinations"] = 20  # so that none is refused because the site is busy
    settings.SUBMISSIONS["waiting"] = 60.0  # seconds: none is examined later, when equal files are found only then
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from _plugins import model_files, zipped

    def content_of(number):
        return zipped(model_files(f"tiles-{number}", size=8 + number))

    print(json.dumps([case(content_of) for case in (open_submissions, revisions, the_same, tokens)]))
