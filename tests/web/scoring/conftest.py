"""A site of the test's own: its folders, and which of the platform's models and benchmarks it scores."""

import pytest

from ._site import SIMULATED


@pytest.fixture(autouse=True)
def folders(settings, tmp_path, monkeypatch):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOADS = {**settings.UPLOADS, "address": str(tmp_path / "uploads")}
    settings.SUBMISSIONS = {
        **settings.SUBMISSIONS,
        "folder": str(tmp_path / "plugins"),
        "results": str(tmp_path / "results"),
        "models": ["pixels", "gabor"],
        "benchmarks": list(SIMULATED),
    }
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default", "long"]}}
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "brainio"))
    monkeypatch.setenv("BRAINSCORE_PLUGINS", "")
    return tmp_path
