"""Fixtures of the site's tests. Without Django nothing here is collected."""

import importlib.util
import json

import pytest

if importlib.util.find_spec("django") is None:
    collect_ignore_glob = ["*"]
else:
    from django.contrib.auth.models import Permission
    from django.core.cache import caches
    from django.test import Client

    from brainscore_web.accounts.models import User

    from ._databases import fill


@pytest.fixture(autouse=True)
def _nothing_remembered():
    """What a process remembers of the database does not outlive a test."""
    from brainscore_web.leaderboard.board import clear_caches

    clear_caches()


@pytest.fixture(autouse=True)
def _computing_is_not_limited(settings):
    """Tests read more pages in a minute than visitors do, and count queries, of which counters make some."""
    settings.COMPUTING_SECONDS = {"anonymous": 10**6, "known": 10**6}
    caches["rates"].clear()


@pytest.fixture(autouse=True)
def _examined_in_this_process(monkeypatch):
    """Submissions are examined without starting a process for each; `submissions/test_examination.py` starts it."""
    from brainscore_web.submissions import examination_process, examining

    def run(folder, *, timeout):
        return examination_process.answer(json.loads((folder / "request.json").read_text()), folder)

    monkeypatch.setattr(examining, "run_examination", run)


@pytest.fixture(autouse=True)
def _uploads_checked_at_once(monkeypatch):
    """Uploads are checked when their sender asks for it, without a worker; `uploads/test_faults.py` runs one."""
    from brainscore_web.uploads import checking, views

    def begin(upload):
        checking.begin_checks(upload)
        checking.check(upload.pk)

    monkeypatch.setattr(views, "begin_checks", begin)


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

    made = fill(models=12, benchmarks=24, versions=2, private=1, units=30)
    VisionModel.objects.filter(identifier=made.models[-1]).update(owner=owner)
    return made


@pytest.fixture
def new_page(browser, live_server):
    """``new_page(user)`` opens a page of a new visitor, or of a member who is logged in.

    What the browser complains of fails the test, as does any request elsewhere; with ``refused=True`` answers may be
    errors or not come at all. Further options are the context's.
    """
    contexts, complaints = [], []

    def complain(note, refused):
        expected = refused and note.text.startswith("Failed to load resource")
        if note.type in ("error", "warning") and not expected:
            complaints.append(f"{note.text} ({note.location['url']})")

    def look_at(request):
        if not request.url.startswith((live_server.url, "data:", "blob:")):
            complaints.append(f"asked for {request.url}")

    def opened(user=None, *, refused=False, session=(), **options):
        context = browser.new_context(
            **{"base_url": live_server.url, "viewport": {"width": 1280, "height": 800}, **options}
        )
        contexts.append(context)
        if user is not None:
            context.add_cookies([{"name": "sessionid", "value": session_of(user, session), "url": live_server.url}])
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("console", lambda note: complain(note, refused))
        page.on("request", look_at)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints, complaints


@pytest.fixture
def page(new_page):
    """A new page of a new visitor."""
    return new_page()


def session_of(user, more=()):
    """Key of a session in which a member is logged in; `more` is kept in it, too."""
    client = Client()
    client.force_login(user)
    session = client.session
    session.update(dict(more))
    session.save()
    return session.session_key
