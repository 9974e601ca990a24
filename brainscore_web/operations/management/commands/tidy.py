"""``python -m brainscore_web tidy``: forget what nobody needs any more."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from brainscore_web.operations.retention import tidy


class Command(BaseCommand):
    """Forget it; to be run every day."""

    help = "Forget old logs, tasks, mails, log-ins, sign-ups, folders and leftovers; docs/operations.md says how old."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say what would be forgotten")

    def handle(self, *args: Any, **options: Any) -> None:
        for what, count in tidy(dry=options["dry_run"]):
            self.stdout.write(f"{count:,} {what}{' would be forgotten' if options['dry_run'] else ''}")
