"""``profiles``: store layer profiles for the cards of models."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.profiles import keep_profiles


class Command(BaseCommand):
    """Store layer profiles for the cards of models."""

    help = "Read the layer profiles of brainscore layers, for models that are on the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, help="by default $BRAINSCORE_HOME/layers")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = keep_profiles(options["folder"])
        except UserError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{report.added} new profiles, {report.changed} changed, {report.known} unchanged")
        for problem in report.problems:
            self.stderr.write(problem)
        if report.problems:
            raise CommandError(f"{len(report.problems)} profiles were skipped")
