"""Submissions that wait for review, people who may look at them, and mail that is kept."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group
from django.test import Client

from ._made import make

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _quick(settings, tmp_path):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "folder": str(tmp_path / "plugins")}
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


def _person(name, *, reviewer=False):
    from brainscore_web.accounts.models import User

    user = User.objects.create_user(f"{name}@example.org", PASSWORD, display_name=name.capitalize())
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    if reviewer:
        Group.objects.get_or_create(name="reviewers")[0].user_set.add(user)
    return user


def _grant():
    """The group as migrations make it; tests of transactions empty the tables."""
    from django.contrib.auth.models import Permission

    group, _ = Group.objects.get_or_create(name="reviewers")
    group.permissions.add(Permission.objects.get(codename="review_submissions"))


@pytest.fixture
def people(db):
    """Who there is: a submitter, two reviewers, an administrator, a stranger."""
    from brainscore_web.accounts.models import User

    _grant()
    made = {name: _person(name) for name in ("sam", "stranger")}
    made |= {name: _person(name, reviewer=True) for name in ("rita", "rob")}
    made["admin"] = User.objects.create_superuser("admin@example.org", PASSWORD, display_name="Admin")
    return made


@pytest.fixture
def submission(people):
    """A benchmark of Sam's that waits for review."""
    return make(people["sam"])


@pytest.fixture
def as_(people):
    """Browsers of people."""

    def client(name):
        made = Client()
        made.force_login(people[name])
        return made

    return client
