"""``python -m brainscore_web check_uploads``: check what waits, and clear what was left behind."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from brainscore_web.uploads.checking import check, pending
from brainscore_web.uploads.withdrawal import sweep


class Command(BaseCommand):
    """Do what a killed process left undone; run it now and then."""

    help = "Check uploads that wait for it; clear unfinished files that nobody sends any more, and old drafts."

    def handle(self, *args: Any, **options: Any) -> None:
        done = sum(check(key) for key in list(pending().values_list("pk", flat=True)))
        self.stdout.write(f"{done} uploads checked, {sweep()} leftovers cleared")
