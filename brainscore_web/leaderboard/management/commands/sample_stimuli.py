"""``sample_stimuli``: store thumbnails of stimuli for the cards of benchmarks."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.samples import keep_samples, public_benchmarks


class Command(BaseCommand):
    """Store thumbnails of stimuli for the cards of benchmarks."""

    help = "Store samples of the stimuli of benchmarks with public data; this loads their data."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK")
        parser.add_argument("--all-public", action="store_true", help="all benchmarks with public data")
        parser.add_argument("--count", type=int, default=8, help="number of samples of each benchmark (8)")
        parser.add_argument("--replace", action="store_true", help="replace existing samples")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["benchmarks"]) == options["all_public"]:
            raise CommandError("name benchmarks, or use --all-public")
        if options["count"] < 1:
            raise CommandError(f"--count is {options['count']}; at least 1 is needed")
        failed = 0
        for benchmark in options["benchmarks"] or public_benchmarks():
            try:
                kept = keep_samples(benchmark, count=options["count"], replace=options["replace"])
            except UserError as error:
                failed += 1
                self.stderr.write(f"{benchmark}: {error}")
            else:
                self.stdout.write(f"{benchmark}: {f'{kept} samples' if kept else 'already has samples'}")
        if failed:
            raise CommandError(f"{failed} benchmarks without samples")
