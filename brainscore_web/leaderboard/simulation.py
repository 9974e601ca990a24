"""A simulated leaderboard for demonstrations, tests and measurements. Everything in it is named as simulated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from numpy.random import Generator
from numpy.typing import NDArray

from brainscore_core.domain_names import FIRST
from brainscore_core.identifiers import data_set_of
from brainscore_core.numerics.influence import ScoreInfluence, unit_influence
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.influence import pack, write_influences
from brainscore_web.leaderboard.ingest.rows import insert_scores
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    Score,
    StoredInfluence,
    Visibility,
    VisionModel,
)

_START = datetime(2024, 1, 1, tzinfo=UTC)
_TRAINED_ON: dict[str, list[str]] = {"ImageNet": ["ImageNet (ILSVRC 2012)"], "Places": ["Places365"], "none": []}


class _Content(NamedTuple):
    """What the simulated rows of a domain say."""

    regions: tuple[str, ...]
    families: tuple[tuple[str, str], ...]  # each with its architecture
    training: tuple[str, ...]
    taken_from: tuple[list[str] | None, ...]
    species: tuple[str, ...]
    metrics: tuple[str, ...]
    stimuli: tuple[str, ...]
    tasks: tuple[str, str]  # of neural benchmarks, and of the others
    prefix: str = "Simulated"  # of the names of benchmarks


_CONTENT = {
    "vision": _Content(
        regions=("V1", "V2", "V4", "IT"),
        families=(("convnet", "CNN"), ("resnet", "CNN"), ("vit", "transformer"), ("recurrent", "recurrent network")),
        training=("ImageNet", "Places", "none", "video"),
        taken_from=(["ImageNet (ILSVRC 2012), validation"], [], ["ImageNet (ILSVRC 2012)"], None),
        species=("macaque", "human"),
        metrics=("pls", "ridge", "rdm", "cka"),
        stimuli=("natural images", "objects", "textures", "gratings"),
        tasks=("passive viewing", "object recognition"),
    ),
    "language": _Content(
        regions=("language_system",),
        families=(("gpt", "transformer"), ("lstm", "recurrent network"), ("trigram", "n-gram model")),
        training=("books", "web text", "none"),
        taken_from=([], None),
        species=("human",),
        metrics=("ridge", "linear", "rdm", "cka"),
        stimuli=("sentences", "stories", "passages"),
        tasks=("reading", "reading_times"),
        prefix="SimulatedText",
    ),
}
# a random number from 0 to 1 decides on a pair: missing, outdated, then the states between the limits
_MISSING, _OUTDATED = 0.04, 0.07
_LIMITS = (0.94, 0.97, 0.99)
_STATES = tuple(map(str, (Score.State.SCORED, Score.State.FAILED, Score.State.NOT_APPLICABLE, Score.State.UNDEFINED)))
_NO_SIGNS = str.maketrans("", "", "-:.")
_REASONS = {
    Score.State.FAILED: "ValueError: simulated failure",
    Score.State.NOT_APPLICABLE: "the model does not support this task (simulated)",
    Score.State.UNDEFINED: "the score is NaN (simulated)",
}


_FAMILY = "|".join(family for content in _CONTENT.values() for family, _ in content.families)
_PREFIX = "|".join(content.prefix for content in _CONTENT.values())
_IDENTIFIER = re.compile(rf"simulated-({_FAMILY})-\d{{3,}}|({_PREFIX})\d{{3}}\..+")


def is_simulated(identifier: str) -> bool:
    """Whether a model or benchmark is only a row of a simulated leaderboard, of which no code exists.

    Examples
    --------
    >>> is_simulated("simulated-vit-006"), is_simulated("Simulated003.IT-pls"), is_simulated("Simulated2026.IT-pls")
    (True, True, False)
    """
    return _IDENTIFIER.fullmatch(identifier) is not None


class Simulated(NamedTuple):
    """Identifiers of the simulated models and benchmarks."""

    models: list[str]
    benchmarks: list[str]


def simulate_leaderboard(
    *,
    models: int = 12,
    benchmarks: int = 24,
    versions: int = 1,
    private: int = 1,
    units: int = 0,
    seed: int = 0,
    domain: str = FIRST,
) -> Simulated:
    """Fill a database that has nothing of a domain with simulated models, benchmarks and scores."""
    content = _CONTENT[domain]
    rng = np.random.default_rng(seed if domain == FIRST else [seed, *domain.encode()])  # else receipts would be equal
    with transaction.atomic():
        nodes = _nodes(domain, content.regions)
        leaves = list(_leaves(domain, nodes, benchmarks, versions))
        Benchmark.objects.bulk_create(leaves)
        all_versions = [
            BenchmarkVersion(
                benchmark=leaf,
                version=str(version),
                since=_since(version),
                ceiling=0.6 + 0.4 * rng.random(),
                ceiling_error=0.02,
                ceiling_meaning="reliability",
                ceiling_estimates="simulated",
            )
            for leaf in leaves
            for version in range(1, versions + 1)
        ]
        for row in all_versions:
            row.ceiling_low, row.ceiling_high = row.ceiling - 0.04, min(row.ceiling + 0.04, 1.0)
            row.ceiling_level = 0.95
        BenchmarkVersion.objects.bulk_create(all_versions)
        rows = list(_models(domain, models, private, rng))
        VisionModel.objects.bulk_create(rows)
        ceilings = np.array([row.ceiling for row in all_versions]).reshape(len(leaves), versions)
        insert_scores(_scores(rows, leaves, versions, ceilings, rng))
        if units:
            write_influences(list(_influences(leaves, units, rng)))
        revision.bump()
    return Simulated([row.identifier for row in rows], [row.identifier for row in leaves])


def _since(version: int) -> datetime:
    return _START + timedelta(days=200 * (version - 1))


def _nodes(domain: str, regions: Sequence[str]) -> dict[str, Benchmark]:
    table = [
        (f"average_{domain}", None, 0, "Global Score"),
        (f"neural_{domain}", f"average_{domain}", 0, "Neural"),
        (f"behavior_{domain}", f"average_{domain}", 1, "Behavior"),
        (f"engineering_{domain}", None, 2, "Engineering"),
        *((region, f"neural_{domain}", place, "") for place, region in enumerate(regions)),
        *((f"Simulated.{region}", region, 999, "") for region in regions),
    ]
    nodes: dict[str, Benchmark] = {}
    for identifier, parent, order, title in table:
        nodes[identifier] = Benchmark.objects.create(
            identifier=identifier,
            domain=domain,
            parent=nodes.get(parent or ""),
            order=order,
            title=title,
            is_mean=True,
        )
    return nodes


def _leaves(domain: str, nodes: dict[str, Benchmark], count: int, versions: int) -> Iterator[Benchmark]:
    content = _CONTENT[domain]
    groups = (*content.regions, "behavior", "engineering")
    for number in range(count):
        region, turn = groups[number % len(groups)], number // len(groups)
        neural = region in content.regions
        metric = content.metrics[turn % len(content.metrics)] if neural else "accuracy"
        if neural:  # every second benchmark has its own node below the region
            parent = nodes[f"Simulated.{region}" if turn % 2 else region]
        else:
            parent = nodes[f"{region}_{domain}"]
        yield Benchmark(
            identifier=f"{content.prefix}{number:03d}.{region}-{metric}",
            domain=domain,
            parent=parent,
            version=str(versions),
            access=Visibility.PRIVATE if number % 3 == 2 else Visibility.PUBLIC,
            region=region if neural else "",
            species=content.species[number % len(content.species)],
            task=content.tasks[not neural],
            method="simulated",
            stimuli=content.stimuli[number // 2 % len(content.stimuli)],
            n_stimuli=100 + 10 * number,
            taken_from=content.taken_from[number // 2 % len(content.taken_from)],
            metric=metric,
            description="Simulated numbers: nothing was measured.",
            credit="none: simulated",
            bibtex=f"@misc{{simulated{number:03d}, title = {{Simulated benchmark {number}}}, year = {{2026}}}}",
        )


def _models(domain: str, count: int, private: int, rng: Generator) -> Iterator[VisionModel]:
    content = _CONTENT[domain]
    for number in range(count):
        family, architecture = content.families[number % len(content.families)]
        training = content.training[number // 4 % len(content.training)]
        parameters = int(10 ** rng.uniform(5.5, 8.7))
        yield VisionModel(
            identifier=f"simulated-{family}-{number:03d}",
            domain=domain,
            visibility=Visibility.PRIVATE if number >= count - private else Visibility.PUBLIC,
            architecture=architecture,
            family=family,
            parameters=parameters,
            size_mb=parameters * 4 / 1e6,
            training_data=training,
            trained_on=_TRAINED_ON.get(training),
            runnable=number % 7 != 6,
            regions={region: [f"layer.{place + 1}"] for place, region in enumerate(content.regions)},
            bibtex=f"@misc{{model{number:03d}, title = {{Simulated model {number}}}, year = {{2026}}}}",
        )


def _scores(
    models: list[VisionModel], leaves: list[Benchmark], versions: int, ceilings: NDArray[np.float64], rng: Generator
) -> Iterator[Score]:
    """Return scores; `ceilings` has the shape (benchmarks, versions)."""
    shape = len(models), len(leaves)
    centre = 0.45 + rng.normal(0, 0.12, shape[0])[:, None] + rng.normal(0, 0.12, shape[1])
    chance = rng.random(shape)
    states = np.array([_STATES[np.searchsorted(_LIMITS, number, side="right")] for number in chance.ravel()]).reshape(
        shape
    )
    last = np.where(chance < _MISSING, 0, np.where(chance < _OUTDATED, max(versions - 1, 1), versions))
    for version in range(1, versions + 1):
        m, b = np.nonzero(last >= version)
        n = len(m)
        state, ceiling = states[m, b], ceilings[b, version - 1]
        after = rng.uniform(1, 151, n) * 86_400e6  # microseconds
        created = np.datetime64(_since(version).replace(tzinfo=None), "us") + after.astype("timedelta64[us]")
        scored = state == Score.State.SCORED
        bare = scored & (m % 20 == 9)  # one model in twenty has neither errors nor intervals
        value = np.where(scored, np.clip(centre[m, b] + rng.normal(0, 0.06, n), 0, 1), np.nan)
        error = np.where(scored & ~bare, rng.uniform(0.005, 0.03, n), np.nan)
        low, high = np.maximum(value - 2 * error, 0), value + 2 * error
        texts = state.tolist()
        columns: dict[str, Iterable[Any]] = {
            "receipt": _receipts(created, rng),
            "version": repeat(str(version)),
            "state": texts,
            "reason": [_REASONS.get(name, "") for name in texts],
            "value": _numbers(value),
            "error": _numbers(error),
            "low": _numbers(low),
            "high": _numbers(high),
            "level": _numbers(np.where(np.isnan(error), np.nan, 0.95)),
            "estimates": ["simulated" if known else "" for known in (scored & ~bare).tolist()],
            "error_reason": ["a single subject (simulated)" if missing else "" for missing in bare.tolist()],
            "scale": repeat("ceiled"),
            "raw": _numbers(value * ceiling),
            "raw_error": _numbers(error * ceiling),
            "raw_low": _numbers(low * ceiling),
            "raw_high": _numbers(high * ceiling),
            "ceiling": ceiling.tolist(),
            "seconds": rng.uniform(1, 900, n).tolist(),
            "model": [models[row] for row in m],
            "benchmark": [leaves[column] for column in b],
            "created": [moment.replace(tzinfo=UTC) for moment in created.tolist()],
        }
        for values in zip(*columns.values(), strict=False):
            yield Score(**dict(zip(columns, values, strict=True)))


def _influences(leaves: list[Benchmark], units: int, rng: Generator) -> Iterator[StoredInfluence]:
    """Influences that agree with the errors of the scores; half of the variance is shared by all models."""
    shared: dict[int, NDArray[np.float64]] = {}
    stimuli = [f"stimulus{number:04d}" for number in range(units)]
    scores = Score.objects.filter(benchmark__in=leaves).order_by("receipt").exclude(error=None)
    scores = scores.select_related("benchmark")
    for score in scores:
        of_all = shared.setdefault(score.benchmark_id, rng.normal(0, 1, units))
        values = of_all + rng.normal(0, 1, units)
        values -= values.mean()
        values *= (score.error or 0.0) / np.linalg.norm(values)
        part = unit_influence("stimuli", data_set_of(score.benchmark.identifier), stimuli, values)
        row = pack(ScoreInfluence(score.value or 0.0, (part,), ceiling_id=f"{score.ceiling}"))
        row.score = score
        yield row


def _receipts(created: NDArray[np.datetime64], rng: Generator) -> list[str]:
    stamps = np.datetime_as_string(created).tolist()
    hashes = rng.integers(16**12, size=len(created))
    return [
        f"{stamp.translate(_NO_SIGNS)}Z-{number:012x}" for stamp, number in zip(stamps, hashes.tolist(), strict=True)
    ]


def _numbers(column: NDArray[np.float64]) -> list[float | None]:
    return [None if value != value else value for value in column.tolist()]
