"""``python -m brainscore_web tidy``: deletes expired data."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from brainscore_web.operations.retention import tidy


class Command(BaseCommand):
    """Delete expired data; to be run every day."""

    help = (
        "Delete old logs, tasks, e-mails, sessions, sign-ups, folders and leftovers; see docs/operators/operations.md."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only report what would be deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        for items, count in tidy(dry=options["dry_run"]):
            self.stdout.write(f"{count:,} {items}{' would be deleted' if options['dry_run'] else ''}")
