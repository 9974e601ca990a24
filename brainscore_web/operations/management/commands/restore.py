"""``python -m brainscore_web restore``: restores the site from a backup."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from brainscore_web.operations.backups import restore


class Command(BaseCommand):
    """Restore a backup; server and workers must be stopped."""

    help = "Restore a backup. Stop the server and its workers first."
    requires_system_checks: list[str] = []  # noqa: RUF012 # as in Django; a broken site must be restorable

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder that `backup` made")
        parser.add_argument("--replace", action="store_true", help="also if the site is in use")
        parser.add_argument(
            "--incomplete", action="store_true", help="also if uploaded objects are missing in their bucket"
        )
        parser.add_argument("--check", action="store_true", help="only check that the backup is complete")

    def handle(self, *args: Any, **options: Any) -> None:
        manifest = restore(
            options["folder"],
            replace=options["replace"],
            check_only=options["check"],
            incomplete=options["incomplete"],
            say=self.stdout.write,
        )
        rows, files = sum(manifest.tables.values()), len(manifest.files)
        if options["check"]:
            self.stdout.write(f"The backup of {manifest.made} is complete: {rows:,} rows, {files:,} files.")
        else:
            self.stdout.write(
                f"The site has been restored to its state at {manifest.made}: {rows:,} rows, {files:,} files."
            )
            self.stdout.write("Start the server and its workers again.")
