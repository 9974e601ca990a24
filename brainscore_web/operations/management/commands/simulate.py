"""``simulate``: fill an empty site with a simulated leaderboard."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard


class Command(BaseCommand):
    """Fill an empty site with a simulated leaderboard."""

    help = "Fill an empty site with simulated models, benchmarks and scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        for name, number, what in (
            ("models", 12, "number of models"),
            ("benchmarks", 24, "number of benchmarks"),
            ("versions", 2, "number of versions of each benchmark"),
            ("private", 1, "number of private models"),
            ("units", 100, "number of stimuli by which models can be compared; 0: none"),
            ("seed", 0, "seed of the random numbers"),
        ):
            parser.add_argument(f"--{name}", type=int, default=number, help=f"{what} ({number})")

    def handle(self, *args: Any, **options: Any) -> None:
        counts = {name: options[name] for name in ("models", "benchmarks", "versions", "private", "units", "seed")}
        minima = {"models": 1, "benchmarks": 1, "versions": 1, "private": 0, "units": 0, "seed": 0}
        for name, number in minima.items():
            if counts[name] < number:
                raise CommandError(f"--{name} is {counts[name]}; at least {number} is needed")
        if counts["private"] > counts["models"]:
            raise CommandError("--private is greater than --models")
        if VisionModel.objects.exists() or Benchmark.objects.exists():
            raise CommandError(
                "the site already has models or benchmarks, which must not be mixed with simulated ones\n"
                "set BRAINSCORE_SITE_HOME to an empty folder, or DATABASE_URL to an empty database"
            )
        simulated = simulate_leaderboard(**counts)
        self.stdout.write(f"{len(simulated.models)} simulated models, {len(simulated.benchmarks)} simulated benchmarks")
