"""Simulated experiments in which two models are compared: what is drawn, with and without a difference.

Without a difference the two models can be exchanged: whatever the one is, the other is just as often. With one, the
second is the first with more noise, and the true difference is the mean over the experiments.
"""

import math
import warnings
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from coverage_cases.case import coords
from scipy.special import ndtr

from brainscore_core.metrics import Score
from brainscore_core.numerics.means import mean_differences, rank_means
from brainscore_core.numerics.ranks import significantly_better
from brainscore_core.statistics.comparison import compare_scores, side_of
from brainscore_core.statistics.units import influence_of
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
    PropertyAssembly,
)
from brainscore_vision import load_ceiling, load_metric

__all__ = ["GROUPS", "RANKS", "PairedCase", "PairedResult", "RankCase", "RankResult", "simulate_pair", "simulate_ranks"]

LATENTS, IMAGES, REPETITIONS = 20, 60, 4

Draw = Callable[[np.random.Generator, int, bool], tuple[Score, Score]]


class PairedCase(NamedTuple):
    """A kind of comparison."""

    names: Sequence[str]  # metrics that are compared so; the first one is simulated
    units: str  # what varies from experiment to experiment
    draw: Draw  # ``draw(rng, n, same) -> (Score, Score)``; `same` without a true difference
    sizes: Sequence[int] = (10, 20, 50, 100, 200)
    simulations: int = 400  # experiments of each size, with and without a difference


class PairedResult(NamedTuple):
    """What was counted."""

    # held and intervals: intervals that held the true difference, of all that there were, with a difference
    held: int
    intervals: int
    # found and tests: differences that were found (p ≤ 0.05), of all tests, without one
    found: int
    tests: int
    simulations: int  # experiments of either kind
    difference: float
    power: float  # share of the true differences that was found
    widths: float  # mean standard error / standard deviation of the differences


def simulate_pair(case: PairedCase, n: int, simulations: int | None = None) -> PairedResult:
    """Compare two models in many experiments; seeded by the case's name and size."""
    seed = zlib.crc32(str(case.names[0]).encode())
    repeats = case.simulations if simulations is None else simulations
    made = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for same in (False, True):
            made[same] = []
            for i in range(repeats):
                pair = case.draw(np.random.default_rng([seed, n, i, same]), n, same)
                try:
                    made[same].append(compare_scores(*pair))
                except ValueError:  # too few units to compare at all
                    continue
    different = [one for one in made[False] if one.ci is not None]
    differences = np.array([one.difference for one in different])
    true = float(differences.mean()) if len(differences) else math.nan
    tests = [one.p for one in made[True] if one.p is not None]
    return PairedResult(
        held=sum(one.ci[0] <= true <= one.ci[1] for one in different),
        intervals=len(different),
        found=sum(p <= 0.05 for p in tests),
        tests=len(tests),
        simulations=repeats,
        difference=round(true, 6),
        power=round(float(np.mean([one.p <= 0.05 for one in different])), 4) if different else math.nan,
        widths=round(float(np.mean([one.error for one in different]) / differences.std(ddof=1)), 4)
        if len(differences) > 2
        else math.nan,
    )


@cache
def _mixing():
    return np.random.default_rng(1).standard_normal((LATENTS, 30)) / np.sqrt(LATENTS)


def _models(rng, latents, same):
    """Features of two models, one that sees the first half of the latent variables well, and one the second half."""
    seen = np.where(np.arange(LATENTS) < LATENTS // 2, 1.0, 0.4)
    noise = (0.3, 0.3) if same else (0.3, 0.9)
    return [
        side * seen @ _mixing() + spread * rng.standard_normal((len(latents), 30))
        for side, spread in zip((latents, latents[:, ::-1]), noise, strict=True)
    ]


def _recorded(values, **presentations):
    n = len(values) // (REPETITIONS if presentations else 1)
    columns = coords(
        "presentation", stimulus_id=np.resize([f"s{i:04}" for i in range(n)], len(values)), **presentations
    )
    columns |= coords("neuroid", neuroid_id=np.arange(values.shape[1]))
    return NeuroidAssembly(values, coords=columns, dims=["presentation", "neuroid"])


def _regression(name, *others, ceiled=False, common=0.0, simulations=100, sizes=(50, 100, 200), options=None):
    """With `common`, noise of each stimulus is the same in all neuroids."""
    metric = load_metric(name, **(options or {}))

    def draw(rng, n, same):
        latents = rng.standard_normal((n, LATENTS))
        signal = latents @ rng.standard_normal((LATENTS, n)) / np.sqrt(LATENTS)
        noise = rng.uniform(0.5, 2, n) * rng.standard_normal((REPETITIONS, n, n))
        if common:
            noise += common * np.sqrt(REPETITIONS) * rng.standard_normal((REPETITIONS, n, 1))
        target = _recorded(signal + noise.mean(axis=0))
        scores = [metric(_recorded(side), target) for side in _models(rng, latents, same)]
        if not ceiled:
            return scores
        from brainscore_core.benchmarks import normalise

        repetition = np.repeat(np.arange(REPETITIONS), n)
        ceiling = load_ceiling("internal_consistency")(
            _recorded((signal + noise).reshape(-1, n), repetition=repetition)
        )
        return [normalise(score, ceiling) for score in scores]

    label = f"{name}, ceiled" if ceiled else f"{name}, common noise" if common else name
    return PairedCase([label, *others], "stimuli × as many neuroids", draw, sizes=sizes, simulations=simulations)


@cache
def _neuroids():
    weights = np.random.default_rng(2).standard_normal((LATENTS // 2, 20))
    return np.concatenate([weights, weights[::-1]]) / np.sqrt(LATENTS)  # so that the two models can be exchanged


def _geometry(*names, drawn=False, groups=None, sizes=(10, 20, 50, 100, 200), simulations=100):
    """With `drawn`, neuroids are drawn anew, and each prefers one of the models by chance.

    With `groups`, stimuli of a category resemble each other, and no one declares it.
    """
    metric = load_metric(names[0])

    def draw(rng, n, same):
        latents = rng.standard_normal((n, LATENTS))
        of_group = np.arange(n) % (groups or n)
        if groups:
            latents = np.sqrt(0.7) * rng.standard_normal((groups, LATENTS))[of_group] + np.sqrt(0.3) * latents
        weights = rng.standard_normal((LATENTS, 20)) / np.sqrt(LATENTS) if drawn else _neuroids()
        target = _recorded(latents @ weights + 0.5 * rng.standard_normal((n, 20)))
        if groups:
            target["category"] = "presentation", [f"c{group:03}" for group in of_group]
        return [metric(_recorded(side), target) for side in _models(rng, latents, same)]

    names = [f"{names[0]}, {groups} undeclared groups of stimuli"] if groups else names
    units = "stimuli (and 20 neuroids)" if drawn else "stimuli"
    return PairedCase(names, units, draw, sizes=sizes, simulations=simulations)


def _choices_of(values, **columns):
    return BehavioralAssembly(values, coords=coords("presentation", **columns), dims=["presentation"])


def _accuracy():
    metric = load_metric("accuracy")

    def draw(rng, n, same):
        ease = rng.beta(4, 2, n)
        right = [rng.random(n) < ease * factor for factor in (1, 1 if same else 0.85)]
        truth = _choices_of(np.full(n, "cat"), stimulus_id=np.arange(n))
        return [metric(_choices_of(np.where(one, "cat", "dog"), stimulus_id=np.arange(n)), truth) for one in right]

    return PairedCase(["accuracy", "odd_one_out"], "images", draw, simulations=400)


def _accuracy_of_classes(classes=20, simulations=400):
    """Each model finds some classes easier than others, and no one declares that they are groups."""
    metric = load_metric("accuracy")

    def draw(rng, n, same):
        names = np.array([f"c{one:03}" for one in range(classes)])
        of_class = np.arange(n) % classes
        odds = 0.8 + rng.standard_normal((2, classes))[:, of_class] + rng.standard_normal(n)
        odds[1] -= 0.0 if same else 1.0
        truth = _choices_of(names[of_class], stimulus_id=np.arange(n))
        chosen = np.where(rng.random((2, n)) < 1 / (1 + np.exp(-odds)), of_class, (of_class + 1) % classes)
        return [metric(_choices_of(names[one], stimulus_id=np.arange(n)), truth) for one in chosen]

    label = f"accuracy, {classes} undeclared classes"
    return PairedCase([label], "images of new classes", draw, sizes=(100, 200), simulations=simulations)


def _error_consistency():
    """What is hard for people is hard for both models, or for the first alone."""
    metric = load_metric("error_consistency")

    def answers(right, **columns):
        return _choices_of(np.where(right, "cat", "dog").ravel(), **columns)

    def draw(rng, n, same):
        ease, ability = 0.8 + 0.9 * rng.standard_normal(IMAGES), 0.7 * rng.standard_normal((n, 1))
        first, second = rng.random((2, IMAGES)) < 1 / (1 + np.exp(-1.5 * ease))
        other = rng.random(IMAGES) < 0.6
        right = rng.random((n, IMAGES)) < 1 / (1 + np.exp(-ease - ability))
        people = answers(
            right,
            stimulus_id=np.tile(np.arange(IMAGES), n),
            subject=np.repeat(np.arange(n), IMAGES),
            truth=np.full(n * IMAGES, "cat"),
        )
        return [metric(answers(one, stimulus_id=np.arange(IMAGES)), people)
                for one in (first, second if same else other)]  # fmt: skip

    units = f"subjects (and {IMAGES} images)"
    return PairedCase(["error_consistency"], units, draw, simulations=200)


def _threshold():
    """Two thresholds to which people are equally close on average, one too low and one too high."""
    metric = load_metric("threshold", "offset")

    def people(rng, n):
        return np.exp(3.5 + 0.4 * rng.standard_normal(n))

    @cache
    def thresholds():
        from scipy.optimize import brentq

        many = people(np.random.default_rng(9), 2_000_000)

        def closeness(threshold):
            return float(np.maximum(1 - np.abs(many - threshold) / many, 0).mean())

        return 20.0, brentq(lambda threshold: closeness(threshold) - closeness(20.0), 28.0, 60.0)

    def draw(rng, n, same):
        measured = people(rng, n).tolist()
        first, second = thresholds() if same else (27.0, 45.0)
        return metric(first, measured), metric(second, measured)

    return PairedCase(
        ["threshold", "threshold_elevation", "accuracy_distance", "scores of subjects, averaged"], "subjects", draw
    )


def _images(*names, objects=8, trials=100):
    """Choices between two objects; the two models share how hard an image is, and each has its own."""
    metric = load_metric(names[0])
    hard = 0.5 * np.random.default_rng(3).standard_normal((objects, objects))

    def draw(rng, n, same):
        labels, truth = np.array([f"object{i:03}" for i in range(objects)]), np.arange(n) % objects
        shared, *own = rng.standard_normal((3, n, 1))
        ids = np.array([f"image{i:05}" for i in range(n)])
        image = np.repeat(np.arange(n), trials)
        other = (truth[image] + rng.integers(1, objects, len(image))) % objects
        skill = 1.2 + 0.5 * shared + hard[truth]
        right = rng.random(len(image)) < 1 / (1 + np.exp(-skill[image, other]))
        people = _choices_of(
            np.where(right, labels[truth[image]], labels[other]),
            stimulus_id=ids[image],
            sample_obj=labels[truth[image]],
            dist_obj=labels[other],
        )
        scores = []
        for part, spread in zip(own, (0.4, 0.4 if same else 0.8), strict=True):
            odds = np.exp(-(1.2 + 0.4 * shared + spread * part + 0.7 * hard[truth]))
            odds[np.arange(n), truth] = 1
            where = coords("presentation", stimulus_id=ids) | coords("choice", choice=labels)
            model = BehavioralAssembly(
                odds / odds.sum(axis=1, keepdims=True), coords=where, dims=["presentation", "choice"]
            )
            scores.append(metric(model, people))
        return scores

    return PairedCase(names, "images", draw, sizes=(20, 50, 100), simulations=100)


def _shape_bias():
    metric = load_metric("shape_bias", bootstraps=2)

    def draw(rng, n, same):
        ease = 0.8 * rng.standard_normal(n)
        ids = np.array([f"image{i:05}" for i in range(n)])

        def decisions(bias, people):
            follows = rng.random((people, n)) < 1 / (1 + np.exp(-bias))
            neither = rng.random((people, n)) < 0.2
            return np.where(neither, "car", np.where(follows, "cat", "dog")).ravel()

        target = _choices_of(
            decisions(1.5 + ease + 0.6 * rng.standard_normal((n, 1)), n),
            stimulus_id=np.tile(ids, n),
            shape=np.full(n * n, "cat"),
            texture=np.full(n * n, "dog"),
            subject=np.repeat([f"p{i:04}" for i in range(n)], n),
        )
        biases = (-0.2, -0.2 if same else -1.0)
        return [metric(_choices_of(decisions(bias + ease, 1), stimulus_id=ids), target) for bias in biases]

    return PairedCase(["shape_bias"], "images × as many observers", draw, sizes=(10, 20, 50), simulations=60)


def _ks():
    metric = load_metric("ks_similarity", property_name="size")

    def sizes(values):
        where = coords("neuroid", neuroid_id=np.arange(len(values)))
        where |= coords("neuronal_property", neuronal_property=["size"])
        made = PropertyAssembly(np.reshape(values, (-1, 1)), coords=where, dims=["neuroid", "neuronal_property"])
        made.attrs["size_bins"] = np.linspace(0, 3, 13)
        return made

    recorded = sizes(np.random.default_rng(7).gamma(4, 0.3, 80))

    def draw(rng, n, same):
        return [metric(sizes(rng.gamma(4, scale, n)), recorded) for scale in (0.4, 0.4 if same else 0.5)]

    return PairedCase(["ks_similarity"], "model neuroids (unpaired)", draw, simulations=200)


class _Given:
    """A readout that takes the features for probabilities."""

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X


def _solution_times():
    metric = load_metric("ost", readout=_Given)
    starts = np.arange(70, 170, 10)

    def draw(rng, n, same):
        shared, *own = rng.standard_normal((3, n))
        truth = np.arange(n) % 2
        where = coords("presentation", stimulus_id=np.arange(n))
        measured = 120 + 15 * (0.8 * shared + 0.6 * rng.standard_normal(n))
        target = DataAssembly(
            measured, coords=where | coords("presentation", i1=np.full(n, 1.7)), dims=["presentation"]
        )
        scores = []
        for part, spread in zip(own, (0.7, 0.7 if same else 1.4), strict=True):
            time = 118 + 14 * (0.7 * shared + spread * part)
            right = 1 / (1 + np.exp(-0.8 - (starts - time[:, None]) / 20))
            features = np.stack([np.where(truth[:, None] == k, right, 1 - right) for k in (0, 1)], axis=1)
            source = NeuroidAssembly(
                features,
                coords=where
                | coords("presentation", image_label=truth)
                | coords("neuroid", neuroid_id=[0, 1])
                | coords("time_bin", time_bin_start=starts, time_bin_end=starts + 10),
                dims=["presentation", "neuroid", "time_bin"],
            )
            scores.append(metric(source, target))
        return scores

    return PairedCase(["ost"], "images", draw, sizes=(50, 100, 200), simulations=100)


GROUPS = {
    "Predictions": [
        _regression("ridge", "ridgecv", "linear_predictivity", "neuron_to_neuron"),
        _regression("ridge", ceiled=True),
        _regression("pls"),
        _regression("ridge", common=2.0, simulations=400, sizes=(50, 100)),
        _regression("pls", common=2.0, simulations=400, sizes=(50, 100)),
    ],
    "Geometry": [
        _geometry("rdm", "rdm_cosine", "rdm_euclidean", drawn=True),
        _geometry("rdm_whitened", "cka_biased", drawn=True),
        _geometry("cka", "cka_rbf", drawn=True),
        _geometry("cka_cv", "rdm_cv", drawn=True),
        _geometry("cka", drawn=True, groups=20, sizes=(100, 200), simulations=200),
        _geometry("procrustes"),
        _geometry("effective_dimensionality"),
    ],
    "Behaviour and properties": [
        _accuracy(),
        _accuracy_of_classes(),
        _error_consistency(),
        _threshold(),
        _images("i1", "i2"),
        _images("i2n", "i1n"),
        _shape_bias(),
        _ks(),
        _solution_times(),
    ],
}


MODELS = 4
"""Number of models that are ranked."""

REGIMES = ("independent", "10 groups of stimuli", "shared noise")
"""Independent stimuli; ten objects to which each model is more or less partial; noise that all neuroids share."""

DrawRanks = Callable[[np.random.Generator, str, bool], list[list[Score]]]


class RankCase(NamedTuple):
    """Models that are ranked on a benchmark, or by a mean over several."""

    name: str  # what they are ranked by
    benchmarks: Sequence[str]  # identifiers; those of one data set share stimuli
    units: str  # what varies from experiment to experiment
    draw: DrawRanks  # ``draw(rng, regime, same) -> models × benchmarks``; `same` without a true difference
    simulations: int = 400  # experiments of each regime without a difference; a fourth as many have one


class RankResult(NamedTuple):
    """What was counted."""

    found: int  # experiments without a true difference in which any model was ranked above another
    independent: int  # the same with z tests (Holm) of the scores' errors, taken as independent
    tested: int  # experiments in which models were tested
    power: float  # share of the true differences that were found
    simulations: int  # experiments without a true difference; a fourth as many have one
    spread: float  # standard deviation of difference / standard error of all pairs, without a true difference


def simulate_ranks(case: RankCase, regime: str, simulations: int | None = None) -> RankResult:
    """Rank models in many experiments; seeded by the case's name and the regime."""
    seed = zlib.crc32(f"{case.name}, {regime}".encode())
    repeats = case.simulations if simulations is None else simulations
    names = case.benchmarks
    weights = np.full(len(names), 1 / len(names))
    found = independent = tested = 0
    power, deviates = [], []
    for i in range(repeats):
        for same in (True, False) if i % 4 == 0 else (True,):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores = case.draw(np.random.default_rng([seed, i, same]), regime, same)
            influences = [
                [influence_of(side_of(score, f"model{row}", name)) for score, name in zip(one, names, strict=True)]
                for row, one in enumerate(scores)
            ]
            values = np.array([[float(score) for score in one] for one in scores]) @ weights
            ranks = rank_means(values, influences, weights, names)
            if not same:
                power.append(np.mean(ranks.best - 1) * 2 / (MODELS - 1))
                continue
            tested += bool(ranks.tested.any())
            pairs = mean_differences(influences, weights, names)
            upper = np.triu_indices(len(scores), 1)
            deviates.append((pairs.difference / np.sqrt(pairs.variance))[upper])
            found += bool((ranks.best > 1).any())
            errors = np.array([[score.attrs["error"] for score in one] for one in scores])
            error = np.sqrt(errors**2 @ weights**2)
            z = (values[:, None] - values) / np.hypot(error[:, None], error)
            p = 2 * ndtr(-np.abs(z))
            independent += bool(significantly_better(values, p).any())
    spread = round(float(np.nanstd(deviates)), 4)
    return RankResult(found, independent, tested, round(float(np.mean(power)), 4), repeats, spread)


def _objects(regime, n):
    return np.arange(n) % 10 if regime.startswith("10") else np.arange(n)


def _ranked_accuracy(name, benchmarks, *, n=100):
    """Models that are right equally often, on images that are easy or hard for all of them, and for each in its way.

    Where there are several benchmarks, they ask for the same images, which a model finds as hard in all of them.
    """
    metric = load_metric("accuracy")

    def draw(rng, regime, same):
        groups = _objects(regime, n)
        columns = {"stimulus_id": np.arange(n)}
        partial = np.zeros((MODELS, n))
        if regime.startswith("10"):
            columns["object_name"] = [f"object{group}" for group in groups]
            partial = 0.8 * rng.standard_normal((MODELS, 10))[:, groups]
        hard = (2.5 if regime == "shared noise" else 1.0) * rng.standard_normal(n)
        own = 2.0 * rng.standard_normal((MODELS, n)) if len(benchmarks) > 1 else 0.0
        skill = np.zeros((MODELS, 1)) if same else 0.6 * np.arange(MODELS)[:, None]
        share = 1 / (1 + np.exp(-(0.8 + skill + hard + own + partial)))
        right = rng.random((MODELS, len(benchmarks), n)) < share[:, None]
        truth = _choices_of(np.full(n, "cat"), **columns)
        return [[metric(_choices_of(np.where(each, "cat", "dog"), **columns), truth) for each in one] for one in right]

    return RankCase(name, benchmarks, f"{n} images", draw)


def _experiment(rng, regime, n, neuroids, recordings, *, same):
    """Features of models that see other halves of the latent variables, and recordings of regions."""
    groups = _objects(regime, n)
    latents = rng.standard_normal((n, LATENTS))
    if regime.startswith("10"):
        latents = 0.5 * latents + rng.standard_normal((10, LATENTS))[groups]
    columns = {"object_name": [f"object{group}" for group in groups]} if regime.startswith("10") else {}
    shared = rng.standard_normal((n, 1)) if regime == "shared noise" else np.zeros((n, 1))
    features = []
    for model in range(MODELS):
        seen = np.where(rng.permutation(LATENTS) < LATENTS // 2, 1.0, 0.4)
        noise = 0.3 if same else 0.3 + 0.4 * (MODELS - 1 - model)
        features.append(latents * seen @ _mixing() + noise * rng.standard_normal((n, 30)))
    targets = [
        latents @ rng.standard_normal((LATENTS, neuroids)) / np.sqrt(LATENTS)
        + 0.7 * rng.standard_normal((n, neuroids)) + shared
        for _ in range(recordings)
    ]  # fmt: skip

    def assembly(values, region):
        where = coords("presentation", stimulus_id=[f"s{number:03}" for number in range(n)], **columns)
        where |= coords("neuroid", neuroid_id=[f"{region} {number}" for number in range(values.shape[1])])
        return NeuroidAssembly(values, coords=where, dims=["presentation", "neuroid"])

    return [assembly(one, "model") for one in features], [assembly(one, name) for name, one in enumerate(targets)]


def _ranked_regions(name, metric, regions, *, n=60, neuroids=30, options=None):
    metric = load_metric(metric, **(options or {}))

    def draw(rng, regime, same):
        models, targets = _experiment(rng, regime, n, neuroids, len(regions), same=same)
        return [[metric(model, target) for target in targets] for model in models]

    benchmarks = [f"Ranked2026.{region}" for region in regions]
    return RankCase(name, benchmarks, f"{n} stimuli, {neuroids} neuroids" + (" each" if len(regions) > 1 else ""), draw)


RANKS = [
    _ranked_accuracy("`accuracy`", ["Ranked2026-accuracy"]),
    _ranked_regions("`rdm`", "rdm", ["IT-rdm"]),
    _ranked_regions(
        "`ridge`", "ridge", ["IT-ridge"], options={"crossvalidation_kwargs": {"stratification_coord": None}}
    ),
    _ranked_accuracy("mean of four `accuracy` on the same images", [f"Ranked2026.{task}-accuracy" for task in "abcd"]),
    _ranked_regions("mean of four `rdm` on the same stimuli", "rdm", ["V1-rdm", "V2-rdm", "V4-rdm", "IT-rdm"]),
]
