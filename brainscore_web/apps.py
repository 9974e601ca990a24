"""The apps of the site, and what each connects to signals, to the sweep, and to apps below."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from django.apps import AppConfig
from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.db.models.signals import post_migrate, pre_delete
from rcssmin import cssmin
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage


class AccountsConfig(AppConfig):
    """Users, and the API tokens of their programs."""

    name = "brainscore_web.accounts"
    verbose_name = "People"

    def ready(self) -> None:
        """Create the group of reviewers after migrations."""
        post_migrate.connect(_make_reviewers, sender=self, dispatch_uid="accounts-reviewers")


def _make_reviewers(*, using: str, **_: Any) -> None:
    from django.contrib.auth.models import Group, Permission

    from brainscore_web.accounts.models import REVIEWERS

    permission = Permission.objects.using(using).filter(
        content_type__app_label="accounts", codename="review_submissions"
    )
    group, _made = Group.objects.using(using).get_or_create(name=REVIEWERS)
    group.permissions.add(*permission)


class ProfileConfig(AppConfig):
    """Pages of users' own accounts, of contributors and of labs."""

    name = "brainscore_web.profile"

    def ready(self) -> None:
        """Connect labs to deleted accounts, also those that administrators delete."""
        from django.contrib.auth import get_user_model

        pre_delete.connect(_pass_on, sender=get_user_model(), dispatch_uid="profile-leaving")


def _pass_on(*, instance: Any, **_: Any) -> None:
    from brainscore_web.profile.labs import pass_on

    pass_on(instance)


class LeaderboardConfig(AppConfig):
    """Models, benchmarks and scores that are ingested from receipts."""

    name = "brainscore_web.leaderboard"

    def ready(self) -> None:
        """Increment the revision whenever something changes."""
        from brainscore_web.leaderboard import revision

        revision.connect()


class CompetitionsConfig(AppConfig):
    """Competitions, past and present."""

    name = "brainscore_web.competitions"

    def ready(self) -> None:
        """Create past competitions in new databases, and add a tab for one to the leaderboard."""
        from brainscore_web.competitions.models import benchmarks_of_competitions
        from brainscore_web.leaderboard.payload import register_selections

        register_selections(benchmarks_of_competitions)
        post_migrate.connect(_create_past_competitions, sender=self, dispatch_uid="competitions-past")


def _create_past_competitions(*, using: str, apps: Any = None, **_: Any) -> None:
    if apps is not None:
        try:
            apps.get_model("competitions", "Award")
        except LookupError:  # migrated back to before the app existed
            return
    from brainscore_web.competitions.actions import create_past_competitions

    create_past_competitions(using=using)


class JobsConfig(AppConfig):
    """Background work."""

    name = "brainscore_web.jobs"
    verbose_name = "Background work"

    def ready(self) -> None:
        """Let the sweep send e-mails and delete old tasks."""
        from brainscore_web.jobs import outbox, workers

        workers.register(outbox.send_due_emails)
        workers.register(workers.delete_old_tasks, every=600.0)


class UploadsConfig(AppConfig):
    """Uploads of packaged data."""

    name = "brainscore_web.uploads"

    def ready(self) -> None:
        """Connect uploads to sweep and deleted accounts."""
        from django.contrib.auth import get_user_model

        from brainscore_web.jobs import workers
        from brainscore_web.uploads.checking import resume_checks

        workers.register(resume_checks)
        pre_delete.connect(_withdraw_uploads, sender=get_user_model(), dispatch_uid="uploads-leaving")


def _withdraw_uploads(*, instance: Any, **_: Any) -> None:
    from brainscore_web.uploads.files import withdraw_private_uploads

    withdraw_private_uploads(instance)


class SubmissionsConfig(AppConfig):
    """Submissions of plugins."""

    name = "brainscore_web.submissions"

    def ready(self) -> None:
        """Connect submissions to sweep, links to code, and deleted accounts."""
        from django.contrib.auth import get_user_model

        from brainscore_web.jobs import workers
        from brainscore_web.leaderboard.cards import facts
        from brainscore_web.submissions import pipeline, plugin_folders, published, steps

        for function in (
            steps.resume_steps,
            pipeline.resume_assessments,
            pipeline.close_scored,
            pipeline.withdraw_of_deleted_accounts,
        ):
            workers.register(function)
        workers.register(plugin_folders.delete_unused_folders, every=600.0)
        facts.register(published.find_link)
        pre_delete.connect(_delete_submissions, sender=get_user_model(), dispatch_uid="submissions-leaving")


def _delete_submissions(*, instance: Any, **_: Any) -> None:
    from brainscore_web.submissions.pipeline import delete_submissions_of

    delete_submissions_of(instance)


class ScoringConfig(AppConfig):
    """Scoring of pairs."""

    name = "brainscore_web.scoring"

    def ready(self) -> None:
        """Let the sweep store samples of stimuli; plan, retry and cancel the pairs of submissions."""
        from brainscore_web.jobs.workers import register
        from brainscore_web.scoring import services  # noqa: F401 # connects the signals of submissions
        from brainscore_web.scoring.stimulus_samples import store_samples

        register(store_samples, every=30.0)


class QuestionsConfig(AppConfig):
    """Questions about stored scores."""

    name = "brainscore_web.questions"

    def ready(self) -> None:
        """Let the sweep resume interrupted questions, and delete old ones."""
        from brainscore_web.jobs.workers import register
        from brainscore_web.questions import answering

        register(answering.resume_questions)
        register(answering.delete_old_questions, every=3600.0)


class SearchConfig(AppConfig):
    """One search over models, benchmarks, people, texts and competitions."""

    name = "brainscore_web.search"

    def ready(self) -> None:
        """Let the sweep bring the index up to date."""
        from brainscore_web.jobs.workers import register
        from brainscore_web.search.index import refresh

        register(refresh, every=5.0)


class FollowsConfig(AppConfig):
    """Models and benchmarks that members follow, with e-mails and feeds."""

    name = "brainscore_web.follows"

    def ready(self) -> None:
        """Let the sweep queue the e-mails that are due."""
        from brainscore_web.follows.digests import queue_digests
        from brainscore_web.jobs.workers import register

        register(queue_digests, every=300.0)


class OperationsConfig(AppConfig):
    """Health checks, metrics, logs, backups, retention."""

    name = "brainscore_web.operations"

    def ready(self) -> None:
        """Name tasks in logs, limit environments, and register the checks."""
        if settings.LOGGING.get("handlers", {}).get("console", {}).get("formatter") == "json":
            logging.captureWarnings(True)
        from brainscore_web.jobs import workers
        from brainscore_web.operations import health  # noqa: F401 # registers the checks
        from brainscore_web.operations.logs import connect_task_signals
        from brainscore_web.operations.retention import remove_unused_environments

        connect_task_signals()
        if settings.PUBLIC:  # elsewhere they belong to the user of the machine, too
            workers.register(remove_unused_environments, every=3600.0)


class StaticFilesApp(StaticFilesConfig):
    """Collects only HTMX 2 itself of django-htmx; its extensions have imports that need a bundler."""

    ignore_patterns: ClassVar[list[str]] = [
        *StaticFilesConfig.ignore_patterns,
        "hx-*.js",
        "htmx-2-compat-*",
        "htmx-4*",
        "htmax*",
    ]


class CompressedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Static files with hashed names, also in imports between JavaScript modules."""

    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """Remove comments and spaces from scripts and style sheets, then name and compress the files."""
        for name in paths:
            minify = {".js": jsmin, ".css": cssmin}.get(Path(name).suffix)
            if minify is not None and ".min." not in name and not dry_run:
                file = Path(self.path(name))
                file.write_text(minify(file.read_text(encoding="utf-8")), encoding="utf-8")
        yield from super().post_process({name: (self, name) for name in paths}, dry_run, **options)

    def get_modified_time(self, name: str) -> datetime:
        """Not available, so that files are always copied: files of earlier versions may have later times."""
        raise NotImplementedError("modification times do not show which files have changed")
