"""``python -m brainscore_web backup``: writes the whole site into a folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from brainscore_core.formatting import size_text
from brainscore_web.operations.backups import back_up


class Command(BaseCommand):
    """Make a backup while the site is running."""

    help = "Write database, uploads and images into a new folder, while the site is running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder to create; must not exist yet")

        parser.add_argument("--incomplete", action="store_true", help="also if files are missing in the storage")

    def handle(self, *args: Any, **options: Any) -> None:
        manifest = back_up(options["folder"], incomplete=options["incomplete"], say=self.stdout.write)
        size = sum(file.size for file in manifest.files)
        self.stdout.write(
            f"{sum(manifest.tables.values()):,} rows and {len(manifest.files):,} files, {size_text(size)},"
            f" in {options['folder']}"
        )
        for path in manifest.missing:
            self.stderr.write(f"Missing: {path}")
        for content, folder in manifest.elsewhere.items():
            self.stdout.write(f"Not included: {content} ({folder})")
