"""A site with something of everything, in folders of its own."""

from pathlib import Path

import pytest
from django.conf import settings as configured
from django.db import connection

from brainscore_web.leaderboard.board import clear_caches


@pytest.fixture
def places(settings, tmp_path, monkeypatch):
    """Folders of a site."""
    settings.SITE_HOME = tmp_path / "home"
    settings.MEDIA_ROOT = tmp_path / "home" / "media"
    settings.UPLOADS = {**settings.UPLOADS, "address": str(tmp_path / "home" / "uploads")}
    settings.SUBMISSIONS = {
        **settings.SUBMISSIONS,
        "folder": str(tmp_path / "home" / "plugins"),
        "results": str(tmp_path / "home" / "results"),
    }
    settings.SITE_HOME.mkdir()
    (settings.SITE_HOME / "secret").write_text("first secret")
    monkeypatch.delenv("BRAINSCORE_SITE_SECRET", raising=False)
    return tmp_path


@pytest.fixture
def rows():
    """Gives all rows of all tables."""

    def read():
        found = {}
        with connection.cursor() as cursor:
            for table in sorted(connection.introspection.table_names(cursor)):
                cursor.execute(f'SELECT * FROM "{table}"')
                found[table] = sorted(cursor.fetchall(), key=repr)
        return found

    return read


@pytest.fixture
def files():
    """Gives all files of the site."""

    def read():
        home = Path(configured.SITE_HOME)
        folders = (home / "media", home / "uploads")
        return {
            path.relative_to(home).as_posix(): path.read_bytes()
            for folder in folders
            for path in folder.rglob("*")
            if path.is_file()
        }

    return read


@pytest.fixture
def pages(client):
    """Gives pages as a visitor sees them."""

    def read():
        clear_caches()
        addresses = ("/", "/vision/leaderboard/", "/vision/models/", "/about/", "/news/")
        return {address: client.get(address).content for address in addresses}

    return read
