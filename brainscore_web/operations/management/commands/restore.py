"""``python -m brainscore_web restore``: the site as it was when a backup was made."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from brainscore_web.operations.backups import restore


class Command(BaseCommand):
    """Bring a backup back; stop server and workers first."""

    help = "Bring a backup back. Stop the server and its workers first."
    requires_system_checks: list[str] = []  # noqa: RUF012 # as Django has it; a site that is broken is to be restored

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="that `backup` made")
        parser.add_argument("--replace", action="store_true", help="also where the site is in use")
        parser.add_argument("--check", action="store_true", help="only look whether the backup is whole")

    def handle(self, *args: Any, **options: Any) -> None:
        manifest = restore(
            options["folder"], replace=options["replace"], check_only=options["check"], say=self.stdout.write
        )
        rows, files = sum(manifest.tables.values()), len(manifest.files)
        if options["check"]:
            self.stdout.write(f"The backup of {manifest.made} is whole: {rows:,} rows, {files:,} files.")
        else:
            self.stdout.write(f"The site is as it was at {manifest.made}: {rows:,} rows, {files:,} files.")
            self.stdout.write("Start the server and its workers again.")
