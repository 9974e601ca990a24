"""``ingest``: read receipts into the site."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brainscore_web.leaderboard.ingest import IngestReport, ingest_store, ingest_table
from brainscore_web.leaderboard.models import Visibility

_SHOWN = 20


class Command(BaseCommand):
    """Read receipts into the site."""

    help = (
        "Read receipts from results folders, s3://bucket/prefix, or tables that brainscore results export FILE.parquet "
        "wrote. Known receipts are skipped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sources", nargs="+", metavar="SOURCE", help="a folder, s3://bucket/prefix or FILE.parquet")
        parser.add_argument("--private", action="store_true", help="create new models as private rather than public")

    def handle(self, *args: Any, **options: Any) -> None:
        visibility = Visibility.PRIVATE if options["private"] else Visibility.PUBLIC
        n_problems = 0
        for source in options["sources"]:
            report = self._read(source, visibility, verbose=options["verbosity"] > 0)
            assessed = f", {report.assessments:,} new assessments" if report.assessments else ""
            self.stdout.write(f"{source}: {report.added:,} new receipts, {report.known:,} known{assessed}")
            for problem in report.problems[:_SHOWN]:
                self.stderr.write(f"{problem}\n{problem.remedy}" if problem.remedy else str(problem))
            if len(report.problems) > _SHOWN:
                self.stderr.write(f"… {len(report.problems) - _SHOWN} more; the administration lists them")
            n_problems += len(report.problems)
        if n_problems:
            raise CommandError(f"{n_problems} problems; everything else was read")

    def _read(self, source: str, visibility: str, *, verbose: bool) -> IngestReport:
        shown = verbose and self.stderr.isatty()

        def progress(done: int, total: int) -> None:
            if shown:
                self.stderr.write(f"\r{done:,} of {total:,}", ending="\n" if done == total else "")

        read = ingest_table if Path(source).suffix.lower() == ".parquet" else ingest_store
        return read(source, on_progress=progress, default_visibility=visibility)
