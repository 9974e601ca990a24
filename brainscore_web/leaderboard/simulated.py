"""A made-up leaderboard: for demonstrations, tests and measurements. Everything in it is named as simulated."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from django.db import transaction

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, Visibility, VisionModel

__all__ = ["Simulated", "fill"]

_START = datetime(2024, 1, 1, tzinfo=UTC)
_REGIONS = ("V1", "V2", "V4", "IT")
_FAMILIES = (("convnet", "CNN"), ("resnet", "CNN"), ("vit", "transformer"), ("recurrent", "recurrent network"))
_TRAINING = ("ImageNet", "Places", "none", "video")
_SPECIES = ("macaque", "human")
_METRICS = ("pls", "ridge", "rdm", "cka")
_STIMULI = ("natural images", "objects", "textures", "gratings")


class Simulated(NamedTuple):
    """What was made: identifiers."""

    models: list[str]
    benchmarks: list[str]


def fill(*, models: int = 12, benchmarks: int = 24, versions: int = 1, private: int = 1, seed: int = 0) -> Simulated:
    """Fill an empty database with simulated models, benchmarks and scores.

    Parameters
    ----------
    models, benchmarks : int
        How many. The last `private` models are private, every third benchmark's data are.
    versions : int
        Versions of each benchmark; all models but a few have scores of all of them.
    private : int
        How many models nobody but their owner may see.
    seed : int
        Of everything random.

    Notes
    -----
    Of a hundred pairs about three failed, two are not applicable, one is undefined, four are missing, and three have
    only a score of an older version, where there is one.
    """
    rng = np.random.default_rng(seed)
    with transaction.atomic():
        nodes = _nodes()
        leaves = list(_leaves(nodes, benchmarks, versions))
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
        for one in all_versions:
            one.ceiling_low, one.ceiling_high = one.ceiling - 0.04, min(one.ceiling + 0.04, 1.0)
            one.ceiling_level = 0.95
        BenchmarkVersion.objects.bulk_create(all_versions)
        made = list(_models(models, private, rng))
        VisionModel.objects.bulk_create(made)
        ceilings = {(one.benchmark_id, one.version): one.ceiling for one in all_versions}
        Score.objects.bulk_create(_scores(made, leaves, versions, ceilings, rng), batch_size=500)
        revision.bump()
    return Simulated([one.identifier for one in made], [one.identifier for one in leaves])


def _since(version: int) -> datetime:
    return _START + timedelta(days=200 * (version - 1))


def _nodes() -> dict[str, Benchmark]:
    table = [
        ("average_vision", None, 0, "Global Score"),
        ("neural_vision", "average_vision", 0, "Neural"),
        ("behavior_vision", "average_vision", 1, "Behavior"),
        ("engineering_vision", None, 2, "Engineering"),
        *((region, "neural_vision", place, "") for place, region in enumerate(_REGIONS)),
        *((f"Simulated.{region}", region, 999, "") for region in _REGIONS),
    ]
    made: dict[str, Benchmark] = {}
    for identifier, parent, order, title in table:
        made[identifier] = Benchmark.objects.create(
            identifier=identifier, parent=made.get(parent or ""), order=order, title=title, is_mean=True
        )
    return made


def _leaves(nodes: dict[str, Benchmark], count: int, versions: int) -> Iterator[Benchmark]:
    for number in range(count):
        region = (*_REGIONS, "behavior", "engineering")[number % 6]
        neural = region in _REGIONS
        metric = _METRICS[number // 6 % len(_METRICS)] if neural else "accuracy"
        if neural:  # every second one stands below an experiment of its own
            parent = nodes[f"Simulated.{region}" if number // 6 % 2 else region]
        else:
            parent = nodes[f"{region}_vision"]
        yield Benchmark(
            identifier=f"Simulated{number:03d}.{region}-{metric}",
            parent=parent,
            version=str(versions),
            access=Visibility.PRIVATE if number % 3 == 2 else Visibility.PUBLIC,
            region=region if neural else "",
            species=_SPECIES[number % 2],
            task="passive viewing" if neural else "object recognition",
            method="simulated",
            stimuli=_STIMULI[number // 2 % len(_STIMULI)],
            n_stimuli=100 + 10 * number,
            metric=metric,
            description="Made-up numbers: nothing was measured.",
            credit="nobody: simulated",
            bibtex=f"@misc{{simulated{number:03d}, title = {{Simulated benchmark {number}}}, year = {{2026}}}}",
        )


def _models(count: int, private: int, rng: np.random.Generator) -> Iterator[VisionModel]:
    for number in range(count):
        family, architecture = _FAMILIES[number % len(_FAMILIES)]
        parameters = int(10 ** rng.uniform(5.5, 8.7))
        yield VisionModel(
            identifier=f"simulated-{family}-{number:03d}",
            visibility=Visibility.PRIVATE if number >= count - private else Visibility.PUBLIC,
            architecture=architecture,
            family=family,
            parameters=parameters,
            size_mb=parameters * 4 / 1e6,
            training_data=_TRAINING[number // 4 % len(_TRAINING)],
            runnable=number % 7 != 6,
            regions={region: [f"layer.{place + 1}"] for place, region in enumerate(_REGIONS)},
            bibtex=f"@misc{{model{number:03d}, title = {{Simulated model {number}}}, year = {{2026}}}}",
        )


def _scores(
    models: list[VisionModel],
    leaves: list[Benchmark],
    versions: int,
    ceilings: dict[tuple[int, str], float],
    rng: np.random.Generator,
) -> Iterator[Score]:
    skill = rng.normal(0, 0.12, len(models))
    ease = rng.normal(0, 0.12, len(leaves))
    for m, model in enumerate(models):
        for b, leaf in enumerate(leaves):
            chance = rng.random()
            if chance < 0.04:
                continue  # missing
            last = versions - 1 if chance < 0.07 and versions > 1 else versions
            state = Score.State.SCORED
            if chance > 0.99:
                state = Score.State.UNDEFINED
            elif chance > 0.97:
                state = Score.State.NOT_APPLICABLE
            elif chance > 0.94:
                state = Score.State.FAILED
            for version in range(1, last + 1):
                created = _since(version) + timedelta(days=1 + float(rng.uniform(0, 150)))
                ceiling = ceilings[leaf.pk, str(version)]
                yield _score(model, leaf, str(version), state, created, 0.45 + skill[m] + ease[b], ceiling, rng)


def _score(
    model: VisionModel,
    leaf: Benchmark,
    version: str,
    state: str,
    created: datetime,
    centre: float,
    ceiling: float,
    rng: np.random.Generator,
) -> Score:
    score = Score(
        receipt=f"{created:%Y%m%dT%H%M%S%fZ}-{rng.integers(16**12):012x}",
        model=model,
        benchmark=leaf,
        version=version,
        state=state,
        created=created,
        scale="ceiled",
        ceiling=ceiling,
        seconds=float(rng.uniform(1, 900)),
    )
    if state != Score.State.SCORED:
        score.reason = {
            "failed": "ValueError: simulated failure",
            "not applicable": "the model answers no such task (simulated)",
            "undefined": "the score is NaN (simulated)",
        }[state]
        return score
    error = float(rng.uniform(0.005, 0.03))
    value = float(np.clip(centre + rng.normal(0, 0.06), 0, 1))
    score.value, score.error, score.low, score.high = value, error, max(value - 2 * error, 0), value + 2 * error
    score.level, score.estimates = 0.95, "simulated"
    score.raw, score.raw_error = value * ceiling, error * ceiling
    score.raw_low, score.raw_high = score.low * ceiling, score.high * ceiling
    if rng.random() < 0.05:
        score.error = score.low = score.high = score.level = score.raw_error = None
        score.raw_low = score.raw_high = None
        score.error_reason = "a single subject (simulated)"
    return score
