"""Fixtures of the site's tests. Without Django nothing here is collected."""

import importlib.util

import pytest

if importlib.util.find_spec("django") is None:
    collect_ignore_glob = ["*"]
else:
    from django.contrib.auth.models import Permission

    from brainscore_web.accounts.models import User
    from brainscore_web.leaderboard.simulated import fill


@pytest.fixture(autouse=True)
def _nothing_remembered():
    """What a process remembers of the database does not outlive a test."""
    from brainscore_web.leaderboard.snapshot import forget

    forget()


PASSWORD = "correct horse battery"


@pytest.fixture
def owner(db):
    """A member who owns the private model of `board`."""
    return User.objects.create_user("owner@example.org", PASSWORD, display_name="Olga Owner")


@pytest.fixture
def member(db):
    """A member who owns nothing."""
    return User.objects.create_user("member@example.org", PASSWORD)


@pytest.fixture
def staff(db):
    """An administrator."""
    return User.objects.create_superuser("staff@example.org", PASSWORD)


@pytest.fixture
def scorer(db):
    """One who may post receipts."""
    user = User.objects.create_user("scorer@example.org", PASSWORD)
    user.user_permissions.add(Permission.objects.get(codename="add_score"))
    return user


@pytest.fixture
def board(db, owner):
    """Twelve simulated models, the last one private and its owner's, on 24 simulated benchmarks of two versions."""
    from brainscore_web.leaderboard.models import VisionModel

    made = fill(models=12, benchmarks=24, versions=2, private=1)
    VisionModel.objects.filter(identifier=made.models[-1]).update(owner=owner)
    return made


@pytest.fixture
def page(browser, live_server):
    """A new page of a new visitor; what the browser complains of fails the test, as does any request elsewhere."""
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    opened.set_default_timeout(10_000)
    complaints = []
    opened.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    opened.on("console", lambda note: complaints.append(note.text) if note.type in ("error", "warning") else None)
    opened.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((live_server.url, "data:", "blob:"))
            else complaints.append(f"asked for {request.url}")
        ),
    )
    yield opened
    context.close()
    assert not complaints, complaints
