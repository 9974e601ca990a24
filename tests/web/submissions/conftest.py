"""Members who may submit, and what they send."""

import pytest
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.web._plugins import model_files, zipped


@pytest.fixture(autouse=True)
def _small_site(settings, tmp_path):
    """Folders of the test's own, quick passwords, requests of other tests do not count."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.SUBMISSIONS = {
        **settings.SUBMISSIONS,
        "folder": str(tmp_path / "plugins"),
        "results": str(tmp_path / "results"),
        "size": 500_000,
        "person": 5_000_000,
        "open": 5,
        "day": 8,
    }
    settings.API_RATES = {"anonymous": 100_000, "known": 100_000}
    caches["rates"].clear()
    yield
    caches["rates"].clear()


def confirm(user):
    from allauth.account.models import EmailAddress

    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    return user


def browser_of(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def submitter(owner, client):
    """The owner, with a confirmed address, logged in."""
    client.force_login(confirm(owner))
    return owner


@pytest.fixture
def other(member):
    """Another member, with a confirmed address."""
    return confirm(member)


@pytest.fixture
def send(client):
    """Sends files by the form, as a browser would."""

    def do(files, *, to="/submissions/new/", by=client, name="mine.zip", **fields):
        content = files if isinstance(files, bytes) else zipped(files)
        sent = {"visibility": "public", "note": "", **fields, "archive": SimpleUploadedFile(name, content)}
        return by.post(to, sent)

    return do


@pytest.fixture
def submitted(db):
    """Makes a submission as `receive` does, without a form."""
    from brainscore_web.submissions.examining import Source
    from brainscore_web.submissions.receiving import receive

    def make(user, files=None, **options):
        return receive(confirm(user), Source("zip", "mine.zip", zipped(files or model_files())), **options)

    return make


@pytest.fixture
def ask(client):
    """``ask("GET", "submissions", token=text)`` asks the programming interface."""

    def do(method, address, *, token=None, **options):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return getattr(Client(), method.lower())(f"/api/v1/{address}", headers=headers, **options)

    return do


@pytest.fixture
def token_of():
    """``token_of(user, 'read')`` makes a token and returns its text."""
    from brainscore_web.accounts.models import ApiToken

    return lambda user, *scopes: ApiToken.issue(confirm(user), "a test", list(scopes))[1]
