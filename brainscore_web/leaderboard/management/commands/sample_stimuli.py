"""``sample_stimuli``: keep small pictures of stimuli for the cards of benchmarks."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.samples import keep_samples, public_benchmarks

__all__ = ["Command"]


class Command(BaseCommand):
    """Keep small pictures of stimuli for the cards of benchmarks."""

    help = "Keep samples of the stimuli of benchmarks whose data are public; their data are loaded for that."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK")
        parser.add_argument("--all-public", action="store_true", help="of all benchmarks whose data are public")
        parser.add_argument("--count", type=int, default=8, help="how many of each (8)")
        parser.add_argument("--replace", action="store_true", help="also where there are samples already")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["benchmarks"]) == options["all_public"]:
            raise CommandError("name benchmarks, or give --all-public")
        if options["count"] < 1:
            raise CommandError(f"--count is {options['count']}; at least 1 is needed")
        wrong = 0
        for benchmark in options["benchmarks"] or public_benchmarks():
            try:
                kept = keep_samples(benchmark, count=options["count"], replace=options["replace"])
            except UserError as error:
                wrong += 1
                self.stderr.write(f"{benchmark}: {error}")
            else:
                self.stdout.write(f"{benchmark}: {f'{kept} samples' if kept else 'has samples already'}")
        if wrong:
            raise CommandError(f"{wrong} benchmarks without samples")
