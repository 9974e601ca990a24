"""``python -m brainscore_web backup``: the whole site in a folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from brainscore_web.operations.backups import back_up


class Command(BaseCommand):
    """Make a backup while the site goes on."""

    help = "Write database, uploads and pictures into a new folder, while the site goes on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="is made; must not be there yet")

        parser.add_argument("--incomplete", action="store_true", help="also where files are missing in the storage")

    def handle(self, *args: Any, **options: Any) -> None:
        manifest = back_up(options["folder"], incomplete=options["incomplete"], say=self.stdout.write)
        size = sum(one.size for one in manifest.files)
        self.stdout.write(
            f"{sum(manifest.tables.values()):,} rows and {len(manifest.files):,} files, {size / 1e6:,.1f} MB,"
            f" in {options['folder']}"
        )
        for path in manifest.missing:
            self.stderr.write(f"Missing: {path}")
        for what, where in manifest.elsewhere.items():
            self.stdout.write(f"Not in it: {what} ({where})")
