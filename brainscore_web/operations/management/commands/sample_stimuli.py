"""``sample_stimuli``: store thumbnails of stimuli for the cards of benchmarks."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.core.files.base import ContentFile
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from brainscore_core.domains import domain
from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.images import load_image, naming_stimuli
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.models import Benchmark, StimulusSample, Visibility
from brainscore_web.leaderboard.outcomes import LONGEST_NAME

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

LARGEST_SIDE = 200
"""Length of the longer side of a sample, in pixels."""

SAMPLES = 1000
"""Number of samples of a benchmark, unless another one is requested."""

_CAPTIONS = ("object_name", "category_name", "category", "texture_type", "label", "image_label", "truth")
"""Columns that may describe a stimulus; the first existing one is used."""


def public_benchmarks() -> list[str]:
    """Return identifiers of the benchmarks with public stimuli."""
    rows = Benchmark.objects.filter(is_mean=False, access=Visibility.PUBLIC)
    return list(rows.order_by("identifier").values_list("identifier", flat=True))


def keep_samples(identifier: str, *, count: int = SAMPLES, replace: bool = False) -> int:
    """Store samples of a benchmark's stimuli, evenly spread over all of them."""
    benchmark = Benchmark.objects.filter(identifier=identifier, is_mean=False).first()
    if benchmark is None:
        raise UserError(
            f"there is no benchmark {identifier!r} on this site", remedy="correct the name, or run sync_catalogue"
        )
    if benchmark.access != Visibility.PUBLIC:
        raise UserError(
            f"the data of {identifier!r} are withheld, so samples may not be shown",
            remedy="name benchmarks with public access, or use --all-public",
        )
    if benchmark.samples.exists() and not replace:
        return 0
    stimuli = domain(benchmark.domain).feature("first stimuli")(identifier)
    places = np.unique(np.linspace(0, len(stimuli) - 1, min(count, len(stimuli))).round().astype(int))
    captions, identifiers = _captions(stimuli), stimuli["stimulus_id"].astype(str).tolist()
    with naming_stimuli(stimuli.original_paths or stimuli.stimulus_paths):
        samples = [(thumbnail(_original(stimuli, place)), captions[place], identifiers[place]) for place in places]
    old_samples = list(benchmark.samples.all())
    with transaction.atomic():
        for sample in old_samples:
            sample.delete()
        for place, (picture, caption, stimulus_id) in enumerate(samples):
            sample = StimulusSample(
                benchmark=benchmark, place=place, caption=caption, stimulus_id=text(stimulus_id, LONGEST_NAME)
            )
            sample.image.save(f"{place}.webp", ContentFile(picture), save=False)
            sample.save()
    for sample in old_samples:
        sample.image.delete(save=False)
    return len(samples)


def thumbnail(path: Path) -> bytes:
    """Make a small WebP file of an image, without the metadata of its file."""
    small = load_image(path, "RGB")
    small.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    stream = BytesIO()
    small.save(stream, "WEBP", quality=90)
    return stream.getvalue()


def _original(stimuli: StimulusSet, place: int) -> Path:
    """Return the original file of a stimulus, not the one placed on a screen."""
    identifier = str(stimuli["stimulus_id"].iloc[place])
    original = (stimuli.original_paths or {}).get(identifier)
    return Path(original or stimuli.get_stimulus(identifier))


def _captions(stimuli: StimulusSet) -> Sequence[str]:
    limit = StimulusSample._meta.get_field("caption").max_length
    for column in _CAPTIONS:
        if column in stimuli.columns:
            return [text(value, limit) if isinstance(value, str) else "" for value in stimuli[column]]
    return [""] * len(stimuli)


class Command(BaseCommand):
    """Store thumbnails of stimuli for the cards of benchmarks."""

    help = "Store samples of the stimuli of benchmarks with public data; this loads their data."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK")
        parser.add_argument("--all-public", action="store_true", help="all benchmarks with public data")
        parser.add_argument(
            "--count", type=int, default=SAMPLES, help=f"number of samples of each benchmark ({SAMPLES})"
        )
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
