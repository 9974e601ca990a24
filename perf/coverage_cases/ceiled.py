"""Intervals of scores relative to their ceilings, both uncertain."""

import numpy as np

from brainscore_core.benchmarks import explained_variance, normalise
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.benchmark_helpers.aggregation import mean_of_sampled

from .case import Case, average, coords

__all__ = ["CASES"]

STIMULI, FEATURES, REPETITIONS, IMAGES = 80, 40, 4, 60


def _assembly(values, **columns):
    n = len(values) // (REPETITIONS if columns else 1)
    stimuli = np.resize([f"s{i:04}" for i in range(n)], len(values))
    where = coords("presentation", stimulus_id=stimuli, **columns)
    where |= coords("neuroid", neuroid_id=np.arange(values.shape[1]))
    return NeuroidAssembly(values, coords=where, dims=["presentation", "neuroid"])


def _explained(name, sizes=(20, 50, 100, 200), **options):
    """Explained variance: a median correlation, squared, over a median reliability; the same units in both."""
    metric, reliability = load_metric(name, **options), load_ceiling("internal_consistency")

    def draw(rng, n) -> Score:
        features = rng.standard_normal((STIMULI, FEATURES)) / np.sqrt(np.arange(1, FEATURES + 1))
        own = 0.7 * rng.standard_normal((STIMULI, n))  # what the features miss
        signal = features @ rng.standard_normal((FEATURES, n)) + own
        values = signal + rng.uniform(0.5, 3, n) * rng.standard_normal((REPETITIONS, STIMULI, n))
        repetition = np.repeat(np.arange(REPETITIONS), STIMULI)
        ceiling = reliability(_assembly(values.reshape(-1, n), repetition=repetition))
        return normalise(metric(_assembly(features), _assembly(values.mean(axis=0))), ceiling)

    return Case(
        [f"{name} ÷ internal_consistency"],
        f"{STIMULI} stimuli, and neuroids",
        "mean of the scores",
        draw,
        average,
        sizes=sizes,
        simulations=200,
    )


def _similar():
    """Mean similarity to subjects' RDMs over their noise ceiling; the same subjects in both."""
    from brainscore_core.numerics import compare_rdms, rdm
    from brainscore_vision.metrics.rsa_ceiling.ceiling import ceiling_of_rdms

    fixed = np.random.default_rng(8)
    shared = rdm(fixed.standard_normal((40, 10)))
    model = shared + 0.3 * fixed.standard_normal(len(shared))

    def draw(rng, n) -> Score:
        rdms = shared + rng.uniform(0.1, 1, (n, 1)) * rng.standard_normal((n, len(shared)))
        each = Score(
            [compare_rdms(model, one).value for one in rdms], coords={"subject": np.arange(n)}, dims=["subject"]
        )
        score = mean_of_sampled(each, units="subjects")
        score.attrs["scale"] = "similarity"
        return normalise(score, ceiling_of_rdms(rdms))

    return Case(["rdm ÷ rsa_ceiling"], "subjects", "mean of the scores", draw, average, simulations=200)


def _consistent():
    """Error consistency over that between people; the same people in both."""
    metric = load_metric("error_consistency")

    def answers(right, **columns):
        return BehavioralAssembly(
            np.where(right, "cat", "dog").ravel(),
            coords=coords("presentation", truth=np.full(right.size, "cat"), **columns),
            dims=["presentation"],
        )

    def draw(rng, n) -> Score:
        shared = rng.standard_normal(IMAGES)
        ease = 0.8 + 0.9 * shared
        model = answers(rng.random(IMAGES) < 1 / (1 + np.exp(-0.8 - 1.2 * shared)), stimulus_id=np.arange(IMAGES))
        right = rng.random((n, IMAGES)) < 1 / (1 + np.exp(-ease - 0.7 * rng.standard_normal((n, 1))))
        people = answers(right, stimulus_id=np.tile(np.arange(IMAGES), n), subject=np.repeat(np.arange(n), IMAGES))
        return normalise(metric(model, people), metric.ceiling(people))

    units = f"subjects, and {IMAGES} images"
    return Case(["error_consistency ÷ its ceiling"], units, "mean of the scores", draw, average, simulations=200)


def _apart():
    """Similarity over stimuli, of a ceiling over subjects: nothing in common."""
    from brainscore_vision.metrics.rsa_ceiling.ceiling import ceiling_of_rdms

    metric = load_metric("rdm")
    weights = np.random.default_rng(1).standard_normal((8, 6)) / np.sqrt(8)
    pairs = np.random.default_rng(2).random(780)

    def draw(rng, n) -> Score:
        features = rng.standard_normal((n, 8))
        target = features @ weights + 0.7 * rng.standard_normal((n, 6))
        ceiling = ceiling_of_rdms(pairs + rng.uniform(0.1, 1, (n, 1)) * rng.standard_normal((n, len(pairs))))
        return normalise(metric(_assembly(features), _assembly(target)), ceiling)

    return Case(
        ["rdm over stimuli ÷ rsa_ceiling"],
        "stimuli, and as many subjects",
        "mean of the scores",
        draw,
        average,
        simulations=100,
    )


def _small(r: float, c: float, *, correlation: float):
    """A correlation relative to a small reliability, both means over few or many units."""

    def draw(rng, n) -> Score:
        own, shared = rng.standard_normal((2, n))
        other = correlation * own + np.sqrt(1 - correlation**2) * shared
        ids = {"subject": np.arange(n)}
        score, ceiling = (
            mean_of_sampled(Score(mean + 0.4 * units, coords=ids, dims=["subject"]), units="subjects")
            for mean, units in ((r, own), (c, other))
        )
        if not correlation:
            del ceiling.attrs["influence"]
        if not 0 < float(ceiling) <= 1:  # refused
            return declare_no_error(Score(np.nan), "a reliability is in (0, 1]")
        return explained_variance(score, ceiling)

    units = f"{'the same' if correlation else 'other'} units, correlation {correlation:g}"
    return Case(
        [f"r {r:g} ÷ reliability {c:g}, {units}"],
        "units",
        f"{r**2 / c:.3g}",
        draw,
        lambda scores, n: r**2 / c,
        simulations=400,
    )


_SMALL = [_small(r, c, correlation=k) for r, c in ((0, 0.1), (0.1, 0.1), (0.3, 0.3), (0.6, 0.6)) for k in (0.0, 0.5)]

CASES = [
    _explained("ridge"),
    _explained("pls", sizes=(50, 100), regression_kwargs={"n_components": 10}),
    _similar(),
    _consistent(),
    _apart(),
    *_SMALL,
]
