"""The folders of plugins: shared, complete or absent, and removed when unused."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from datetime import timedelta
from multiprocessing.pool import ThreadPool

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from brainscore_core.receipts.environment import describe_plugin
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions import pipeline, plugin_folders
from brainscore_web.submissions.models import Plugin, PublishedVersion, Submission
from brainscore_web.submissions.pipeline.runner import run_next_step
from brainscore_web.submissions.published import find_code
from tests.web._plugins import benchmark_files, model_files

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def publish(submit, pass_step):
    """Send and publish, without tests."""

    def published(files, *, result=None, **options):
        revision = submit(files, **options)
        pass_step(revision, "check", "test", result=result)
        if revision.needs_review:
            from brainscore_web.submissions.models import Review

            pipeline.approve(revision, Review.objects.create(revision=revision, verdict="approved"))
        assert run_next_step(revision.steps.get(kind="publish").pk)
        revision.submission.refresh_from_db()
        return revision

    return published


def content_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_that_is_live(publish):
    """One folder of each content; a new version is in another folder, and the old one stays as it is."""
    empty = plugin_folders.published_folder()
    assert sorted(path.name for path in empty.iterdir()) == ["benchmarks", "data", "metrics", "models"]
    publish(model_files("tiles-8"))
    one = plugin_folders.published_folder()
    assert content_of(one) == {path: text.encode() for path, text in model_files("tiles-8").items()}
    publish(model_files("tiles-4", size=4))
    publish(model_files("tiles-8", size=6))
    two = plugin_folders.published_folder()
    assert two == plugin_folders.published_folder()
    now = {**model_files("tiles-8", size=6), **model_files("tiles-4", size=4)}
    assert content_of(two) == {path: text.encode() for path, text in now.items()}
    assert content_of(one) == {path: text.encode() for path, text in model_files("tiles-8").items()}
    assert Plugin.objects.count() == 2
    versions = PublishedVersion.objects.filter(name="tiles_8")
    assert [row.revision.number for row in versions] == [1, 1]  # of two submissions, the newest first
    assert versions[0].code == Plugin.objects.get(name="tiles_8").code != versions[1].code


def test_who_publishes_a_model_publishes_what_is_live(publish):
    """A version that was replaced while private stays private, unless it is live again."""
    stranger = AnonymousUser()

    def readable():
        return [find_code("vision", "models", "tiles_8", stranger, code) is not None for code in codes]

    codes = []
    for size in (8, 4):
        publish(model_files("tiles-8", size=size), visibility="private")
        codes.append(Plugin.objects.get().code)
    assert readable() == [False, False]
    VisionModel.objects.update(visibility="public")
    assert readable() == [False, True]
    publish(model_files("tiles-8", size=6))
    codes.append(Plugin.objects.get().code)
    assert readable() == [False, True, True]
    publish(model_files("tiles-8", size=8))
    assert readable() == [True, True, True]


def test_the_index_and_hashes_follow(publish, monkeypatch):
    """The platform finds live plugins without importing them; their hash is the same in every folder."""
    from brainscore_vision import model_registry

    revision = publish(model_files("tiles-8"))
    folder = plugin_folders.published_folder() / "models" / "tiles_8"
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(plugin_folders.published_folder()))
    (place,) = model_registry.locations("tiles-8")
    assert place.folder == folder
    assert "brainscore_vision.models.tiles_8" not in sys.modules
    code = Plugin.objects.get().code
    assert code
    assert code == describe_plugin(folder).sha256
    assert code == describe_plugin(plugin_folders.unpacked(revision) / "models" / "tiles_8").sha256
    (folder / "__pycache__").mkdir()
    assert code == describe_plugin(folder).sha256


def test_many_at_once(publish):
    """Workers that want the same folder at the same time all get the same, whole one."""
    publish(model_files("tiles-8"))
    live, revision = plugin_folders._live(), Plugin.objects.get().revision
    plugin_folders.unpacked(revision)

    def make(_):
        return plugin_folders._create_once(
            plugin_folders._sets() / "same", lambda folder: plugin_folders._link_plugins(live, folder)
        )

    with ThreadPool(8) as pool:
        places = pool.map(make, range(16))
    assert len(set(places)) == 1
    assert len(content_of(places[0])) == 3
    assert not list(plugin_folders._home().glob(".*"))


@pytest.mark.slow(reason="starts processes and kills them")
def test_killed_in_the_midst(tmp_path):
    """Half a folder never has the name of a whole one; what was left is removed."""
    code = f"""
        import os, time
        from pathlib import Path
        os.environ["DJANGO_SETTINGS_MODULE"] = "brainscore_web.settings"
        os.environ["BRAINSCORE_SITE_HOME"] = {str(tmp_path)!r}
        os.environ["BRAINSCORE_SITE_PLUGINS"] = {str(tmp_path / "plugins")!r}
        import django
        django.setup()
        from brainscore_web.submissions import plugin_folders
        def write(folder):
            (folder / "half").write_text("a plugin")
            print("there", flush=True)
            time.sleep(600)
        plugin_folders._create_once(plugin_folders._sets() / "whole", write)
    """
    worker = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    try:
        assert worker.stdout.readline().strip() == "there"
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
    home = tmp_path / "plugins"
    assert not (home / "live" / "whole").exists()
    (left,) = home.glob(".*")
    assert (left / "half").exists()


def test_what_nobody_needs_goes(publish, folders):
    """Old sets and revisions are removed; what is live, and what was asked for of late, stays."""
    publish(model_files("tiles-8"))
    old, old_revision = plugin_folders.published_folder(), plugin_folders.unpacked(Plugin.objects.get().revision)
    second = publish(model_files("tiles-8", size=6))
    new = plugin_folders.published_folder()
    left = folders / "plugins" / ".left.part"
    left.mkdir()
    long_ago = time.time() - 30 * 24 * 3600
    for path in (old, old_revision, new, plugin_folders.unpacked(second), left):
        os.utime(path, (long_ago, long_ago))
    before = timezone.now() - timedelta(days=7)
    assert plugin_folders.delete_old_folders(before, dry=True) >= 3
    assert old.exists()
    plugin_folders.delete_old_folders(before)
    assert not old.exists()
    assert not old_revision.exists()
    assert not left.exists()
    assert new.exists()
    assert plugin_folders.unpacked(second).exists()
    assert content_of(plugin_folders.published_folder()) == content_of(new)
    assert len(content_of(new)) == 3


def test_a_name_that_was_taken_meanwhile(submit, pass_step, publish, member, states):
    """Who publishes first has it; the other one waits for changes, with a finding."""
    revision = submit(model_files("tiles-8"))
    pass_step(revision, "check", "test")
    theirs = publish(model_files("tiles-9", name="tiles_9"), by=member)
    Plugin.objects.filter(name="tiles_9").update(name="tiles_8")
    assert run_next_step()
    assert states(revision) == "pass pass skip fail wait"
    revision.refresh_from_db()
    assert any(one["severity"] == "error" for one in revision.findings)
    assert Submission.objects.get(pk=revision.submission_id).state == "changes"
    assert Plugin.objects.get().revision == theirs
    assert not VisionModel.objects.filter(identifier="tiles-8").exists()


def test_private_stays_private(publish, owner):
    """Publishing a new version opens nothing; what is to be private becomes so."""
    publish(model_files("tiles-8"), visibility="private")
    publish(model_files("tiles-8", size=6), visibility="public")
    row = VisionModel.objects.get()
    assert (row.visibility, row.owner) == ("private", owner)
    VisionModel.objects.update(visibility="public", family="as its owner says")
    publish(model_files("tiles-8", size=5), visibility="private")
    row = VisionModel.objects.get()
    assert (row.visibility, row.family) == ("private", "as its owner says")


def test_a_new_version_of_a_benchmark(publish):
    """Its version changes, so that scores of the one before count no more."""
    publish(benchmark_files(version=1))
    row = Benchmark.objects.get(identifier="Author2026-pls")
    assert (row.version, row.access) == ("1", "public")
    publish(benchmark_files(version=2))
    row.refresh_from_db()
    assert row.version == "2"
    assert sorted(row.versions.values_list("version", flat=True)) == ["1", "2"]
    assert row.parent.identifier == "V1"


def test_benchmarks_of_private_data(publish, owner):
    """Naming a private upload is enough for the data to be withheld."""
    from brainscore_web.uploads.models import Upload

    Upload.objects.create(
        owner=owner, identifier="Secret2026", assembly_identifier="Secret2026", visibility="private", state="accepted"
    )
    files = benchmark_files(study="Secret2026", select="")
    publish(files)
    assert Benchmark.objects.get(identifier="Author2026-pls").access == "private"


def test_what_a_model_says_is_not_believed(publish):
    """Values of other types are left out, long ones are cut, nothing breaks."""
    metadata = {
        "architecture": ["no text"], "family": "x" * 5000, "parameters": "many", "size_mb": True,
        "source": "javascript:alert(1)", "training_data": 3, "runnable": False, "image_size": {"a": [1, "\0"]},
        "trained_on": ["Places365", 3], "fine_tuned_from": ["net"],
    }  # fmt: skip
    about = {"models/tiles_8": {"tiles-8": {"metadata": metadata, "layers": {"IT": "all", "V1": ["a", 3]}}}}
    publish(model_files("tiles-8"), result={"about": about})
    row = VisionModel.objects.get()
    assert (row.architecture, row.parameters, row.size_mb, row.source, row.training_data) == ("", None, None, "", "")
    assert (row.trained_on, row.fine_tuned_from) == (None, "")
    assert len(row.family) == 100
    assert row.regions == {"V1": ["a", "3"]}
    assert row.runnable
