"""``profiles``: store layer profiles for the cards of models."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brainscore_core.errors import UserError
from brainscore_core.paths import layer_profiles_home
from brainscore_core.results.layer_profile import LayerProfile as Profile
from brainscore_web.leaderboard.clean import json_value
from brainscore_web.leaderboard.models import Benchmark, LayerProfile, VisionModel
from brainscore_web.leaderboard.revision import exclusive_write

_REGION = re.compile(r"\.(?P<region>[A-Za-z0-9_]+?)(?:-|$)")


@dataclass(frozen=True)
class ProfileReport:
    """Result: the numbers of new, changed and known profiles, and why others could not be stored."""

    added: int = 0
    changed: int = 0
    known: int = 0
    problems: tuple[str, ...] = ()


def keep_profiles(folder: Path | None = None) -> ProfileReport:
    """Store the layer profiles of models that are on the site."""
    folder = folder or layer_profiles_home()
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}", remedy="run brainscore layers, or name another folder")
    profiles, problems = _read_profiles(folder)
    added = changed = known = 0
    with exclusive_write():
        models = dict(VisionModel.objects.values_list("identifier", "pk"))
        regions = dict(Benchmark.objects.exclude(region="").values_list("identifier", "region"))
        existing = {(row.model_id, row.benchmark, row.region): row for row in LayerProfile.objects.all()}
        for (model, benchmark), (profile, moment) in sorted(profiles.items()):
            region = _region(benchmark, regions)
            if problem := _problem(model, benchmark, region, models):
                problems.append(problem)
                continue
            document = json_value(profile.to_dict())
            row = existing.get((models[model], benchmark, region))
            if row is None:
                LayerProfile.objects.create(
                    model_id=models[model], benchmark=benchmark, region=region, document=document, created=moment
                )
                added += 1
            elif row.document != document:
                row.document, row.created = document, moment
                row.save()
                changed += 1
            else:
                known += 1
    return ProfileReport(added, changed, known, tuple(problems))


def _read_profiles(folder: Path) -> tuple[dict[tuple[str, str], tuple[Profile, datetime]], list[str]]:
    profiles: dict[tuple[str, str], tuple[Profile, datetime]] = {}
    problems = []
    for file in sorted(folder.glob("*/*.json")):
        try:
            profile = Profile.from_dict(json.loads(file.read_text(encoding="utf-8")))
            moment = datetime.fromtimestamp(file.stat().st_mtime, UTC)
            pair = (str(profile.model), str(profile.benchmark))
            if profile.scores and (pair not in profiles or _completeness(profile) > _completeness(profiles[pair][0])):
                profiles[pair] = profile, moment
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            problems.append(f"{file} is not a layer profile: {type(error).__name__}: {error}")
    return profiles, problems


def _completeness(profile: Profile) -> tuple[bool, int, str]:
    return (profile.held_out is not None, len(profile.scores), str(profile.version))


def _region(benchmark: str, regions: Mapping[str, str]) -> str:
    """Return the region from the catalogue if it names one, otherwise from the benchmark's name."""
    known = regions.get(benchmark, "")
    if known and "," not in known:
        return known
    named = _REGION.search(benchmark)
    return named["region"] if named else known


def _problem(model: str, benchmark: str, region: str, models: Mapping[str, Any]) -> str:
    if model not in models:
        return f"the model {model!r} is unknown: ingest its scores or sync the catalogue first"
    if not region:
        return f"the region of the benchmark {benchmark!r} is not known: set it in the administration"
    for name, value in (("benchmark", benchmark), ("region", region)):
        if len(value) > (LayerProfile._meta.get_field(name).max_length or 0):
            return f"the name {value[:60]!r}… is too long"
    return ""


class Command(BaseCommand):
    """Store layer profiles for the cards of models."""

    help = "Read the layer profiles of brainscore layers, for models that are on the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, help="by default $BRAINSCORE_HOME/layers")

    def handle(self, *args: Any, **options: Any) -> None:
        report = keep_profiles(options["folder"])
        self.stdout.write(f"{report.added} new profiles, {report.changed} changed, {report.known} unchanged")
        for problem in report.problems:
            self.stderr.write(problem)
        if report.problems:
            raise CommandError(f"{len(report.problems)} profiles were skipped")
