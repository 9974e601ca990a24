"""People with confirmed addresses, links in mails, what is the same on two pages."""

import re

import pytest

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _quick_passwords(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def known(db):
    """Makes a person whose address is confirmed."""
    from allauth.account.models import EmailAddress

    from brainscore_web.accounts.models import User

    def make(email="ada@example.org", **fields):
        user = User.objects.create_user(email, PASSWORD, **fields)
        EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
        return user

    return make


@pytest.fixture
def log_in():
    """Logs a client in by the form."""

    def do(client, email="ada@example.org", password=PASSWORD, **more):
        return client.post("/accounts/login/", {"login": email, "password": password, **more})

    return do


@pytest.fixture
def link():
    """The address in the last mail, without the host."""

    def find(mailbox):
        (found,) = re.findall(r"http://[^/\s]+(/\S+)", mailbox[-1].body)
        return found

    return find


@pytest.fixture
def same():
    """A page without what differs each time: tokens against forgery, the address that was typed."""

    def text(response, *typed):
        body = re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", response.content.decode())
        for one in typed:
            body = body.replace(one, "ADDRESS")
        return body

    return text
