"""``sync_catalogue``: synchronise the site with the installed plugins."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brainscore_web.leaderboard.catalogue import sync_catalogue


class Command(BaseCommand):
    """Synchronise models and benchmarks of the site with the installed plugins."""

    help = "Create or update the models and benchmarks of the installed plugins; edited values are kept."

    def handle(self, *args: Any, **options: Any) -> None:
        report = sync_catalogue()
        for what, names in (("new", report.added), ("changed", report.changed)):
            self.stdout.write(f"{len(names)} {what}")
            if options["verbosity"] > 1:
                self.stdout.writelines(f"  {name}" for name in names)
        for problem in report.problems:
            self.stderr.write(problem)
        if report.problems:
            raise CommandError(f"{len(report.problems)} problems; everything else is up to date")
