"""``python -m brainscore_web check_uploads``: check waiting uploads, and remove leftovers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from brainscore_web.jobs.workers import resume
from brainscore_web.uploads.checking import CHECKS, check
from brainscore_web.uploads.files import sweep


class Command(BaseCommand):
    """Resume interrupted checks and remove leftovers; to be run regularly."""

    help = "Check waiting uploads, and remove files of interrupted uploads and old drafts."

    def handle(self, *args: Any, **options: Any) -> None:
        resume(CHECKS)
        done = sum(check(key) for key in list(CHECKS.due().values_list("pk", flat=True)))
        self.stdout.write(f"{done} uploads checked, {sweep()} leftovers removed")
