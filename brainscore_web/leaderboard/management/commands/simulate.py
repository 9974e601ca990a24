"""``simulate``: fill an empty site with a made-up leaderboard."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard

__all__ = ["Command"]


class Command(BaseCommand):
    """Fill an empty site with a made-up leaderboard."""

    help = "Fill an empty site with simulated models, benchmarks and scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        for name, number, what in (
            ("models", 12, "how many models"),
            ("benchmarks", 24, "how many benchmarks"),
            ("versions", 2, "versions of each benchmark"),
            ("private", 1, "how many of the models are private"),
            ("seed", 0, "of everything random"),
        ):
            parser.add_argument(f"--{name}", type=int, default=number, help=f"{what} ({number})")

    def handle(self, *args: Any, **options: Any) -> None:
        asked = {name: options[name] for name in ("models", "benchmarks", "versions", "private", "seed")}
        least = {"models": 1, "benchmarks": 1, "versions": 1, "private": 0, "seed": 0}
        for name, number in least.items():
            if asked[name] < number:
                raise CommandError(f"--{name} is {asked[name]}; at least {number} is needed")
        if asked["private"] > asked["models"]:
            raise CommandError("--private is more than there are models")
        try:
            if VisionModel.objects.exists() or Benchmark.objects.exists():
                raise CommandError(
                    "the site has models or benchmarks already, among which nothing made up may stand\n"
                    "name an empty folder in BRAINSCORE_SITE_HOME, or an empty database in DATABASE_URL"
                )
            made = simulate_leaderboard(**asked)
        except DatabaseError as error:
            raise CommandError(f"the database does not answer as it should: {error}\nrun migrate first") from error
        self.stdout.write(f"{len(made.models)} simulated models, {len(made.benchmarks)} simulated benchmarks")
