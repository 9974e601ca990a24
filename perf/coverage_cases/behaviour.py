"""Intervals over subjects, images or triplets of metrics of behaviour."""

import numpy as np

from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.numerics import bootstrap_interval
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric

from .case import Case, average, coords, once

__all__ = ["CASES"]

IMAGES, CATEGORIES, TASKS = 60, np.array(["bear", "cat", "dog", "elephant"]), 6
LARGE = 4000


def _assembly(values, **columns):
    return BehavioralAssembly(values, coords=coords("presentation", **columns), dims=["presentation"])


def _ease():
    """How easy each image is for people and for the model; the same in all experiments."""
    rng = np.random.default_rng(4)
    shared = rng.standard_normal(IMAGES)
    task = np.repeat([0.8, -0.2, 1, -1, 0.3, -0.9], IMAGES // TASKS)
    return 0.8 + 0.6 * shared + task, rng.random(IMAGES) < 1 / (1 + np.exp(-0.8 - 0.9 * shared - 0.8 * task))


def _answers(rng, subjects):
    """Answers of people of different skill to the same images."""
    ease, _ = _ease()
    truth = np.resize(CATEGORIES, IMAGES)
    ability = 0.7 * rng.standard_normal((subjects, 1))
    right = rng.random((subjects, IMAGES)) < 1 / (1 + np.exp(-ease - ability))
    # who errs prefers the next category
    step = 1 + (rng.random(right.shape) < 0.3) + (rng.random(right.shape) < 0.1)
    wrong = CATEGORIES[(np.arange(IMAGES) + step) % len(CATEGORIES)]
    return _assembly(
        np.where(right, truth, wrong).ravel(),
        stimulus_id=np.tile(np.arange(IMAGES), subjects),
        subject=np.repeat(np.arange(subjects), IMAGES),
        truth=np.tile(truth, subjects),
        image_label=np.tile(truth, subjects),
        task=np.tile(np.arange(IMAGES) // (IMAGES // TASKS), subjects),
    )


def _model():
    truth, right = np.resize(CATEGORIES, IMAGES), _ease()[1]
    rng = np.random.default_rng(5)
    wrong = CATEGORIES[(np.arange(IMAGES) + 1 + (rng.random(IMAGES) < 0.4)) % len(CATEGORIES)]
    columns = {"truth": truth, "image_label": truth, "task": np.arange(IMAGES) // (IMAGES // TASKS)}
    return _assembly(np.where(right, truth, wrong), stimulus_id=np.arange(IMAGES), **columns)


def _subjects(name):
    metric, model = load_metric(name), _model()

    def draw(rng, n) -> Score:
        return metric(model, _answers(rng, n))

    value = once(lambda: float(draw(np.random.default_rng(9), LARGE)))
    return Case([name], "subjects", "4,000 subjects", draw, value)


def _error_consistency():
    """Subjects and as many images are drawn anew."""
    metric = load_metric("error_consistency")

    def draw(rng, n) -> Score:
        truth, shared = np.resize(CATEGORIES, n), rng.standard_normal(n)
        wrong = np.where(truth == "cat", "dog", "cat")
        of_model = 0.8 + 0.9 * shared + 0.8 * rng.standard_normal(n) > 0
        right = rng.random((n, n)) < 1 / (1 + np.exp(-0.6 - 1.2 * shared - 0.7 * rng.standard_normal((n, 1))))
        columns = {"stimulus_id": np.tile(np.arange(n), n), "truth": np.tile(truth, n)}
        answers = _assembly(np.where(right, truth, wrong).ravel(), subject=np.repeat(np.arange(n), n), **columns)
        return metric(_assembly(np.where(of_model, truth, wrong), stimulus_id=np.arange(n)), answers)

    sizes = (20, 50, 100, 200)
    return Case(["error_consistency"], "subjects, and as many images", "mean of the scores", draw, average, sizes)


def _ceiling(name):
    metric = load_metric(name)

    def draw(rng, n) -> Score:
        return metric.ceiling(_answers(rng, n))

    return Case([f"{name}.ceiling"], "subjects", "mean of the scores", draw, average, simulations=300)


def _accuracy():
    """Images are drawn anew; the model is right with a probability of each image's own."""
    metric = load_metric("accuracy")

    def draw(rng, n) -> Score:
        right = rng.random(n) < rng.beta(4, 2, n)
        choices = _assembly(np.where(right, "cat", "dog"), stimulus_id=np.arange(n))
        return metric(choices, _assembly(np.full(n, "cat"), stimulus_id=np.arange(n)))

    return Case(["accuracy"], "images", "exact", draw, lambda scores, n: 4 / 6, simulations=1000)


def _odd_one_out():
    """Triplets of 48 images, so that they share images; each image has a tendency to be judged as people do."""
    metric = load_metric("odd_one_out")
    tendency = 0.9 * np.random.default_rng(6).standard_normal(48)

    def chance(triplets):
        return 1 / (1 + np.exp(-tendency[triplets].sum(axis=-1) / np.sqrt(3)))

    def draw(rng, n) -> Score:
        shown = np.argsort(rng.random((n, 48)), axis=1)[:, :3]
        agree = rng.random(n) < chance(shown)
        chosen = np.where(agree, 2, rng.integers(0, 2, n))
        names = np.array([f"image{i:02}" for i in range(48)])
        columns = {f"image_{k + 1}": names[shown[:, k]] for k in range(3)}
        return metric(_assembly(chosen), _assembly(names[shown[:, 2]], **columns))

    def value():
        rng = np.random.default_rng(9)
        return float(chance(np.argsort(rng.random((200_000, 48)), axis=1)[:, :3]).mean())

    return Case(
        ["odd_one_out"], "triplets", "mean probability of 200,000 triplets", draw, once(value), simulations=1000
    )


def _value_delta():
    metric = load_metric("value_delta")

    def mean_of(values):
        interval = bootstrap_interval(values, "mean", method="t")
        score = Score(values.mean())
        return attach_uncertainty(
            score,
            error=interval.error,
            ci=(interval.low, interval.high),
            estimates="mean",
            method="t",
            reason=interval.reason,
        )

    def draw(rng, n) -> Score:
        return metric(mean_of(0.3 + rng.standard_normal(n)), mean_of(0.9 + 1.5 * rng.standard_normal(n)))

    truth = "exact, of two means over as many units each"
    return Case(["value_delta"], "units of either", truth, draw, lambda scores, n: np.exp(-0.6), simulations=1000)


def _thresholds(rng, n):
    return np.exp(3.5 + 0.4 * rng.standard_normal(n))


def _threshold(name):
    arguments = ("offset",) if name == "threshold" else ("offset", "alone", "flanked")
    metric = load_metric(name, *arguments) if name == "threshold" else _elevation()

    def draw(rng, n) -> Score:
        return metric(28.0, _thresholds(rng, n).tolist())

    def ceiling(rng, n) -> Score:
        return metric.ceiling(_thresholds(rng, n).tolist())

    def closeness(model, people):
        return float(np.maximum(1 - np.abs(people - model) / people, 0).mean())

    rng = np.random.default_rng(9)
    one, other = _thresholds(rng, 10**6), _thresholds(rng, 10**6)
    return [
        Case([name], "subjects", "1,000,000 subjects", draw, lambda scores, n: closeness(28.0, one)),
        Case([f"{name}.ceiling"], "subjects", "1,000,000 pairs", ceiling, lambda scores, n: closeness(other, one)),
    ]


def _elevation():
    return load_metric(
        "threshold_elevation", independent_variable="offset", baseline_condition="alone", test_condition="flanked"
    )


def _baker():
    metric = load_metric("baker_accuracy_delta", image_types=["w", "f"])
    kind = np.repeat(["w", "f"], 40)
    of_model = _assembly(
        (np.arange(80) % 40 < np.where(kind == "w", 34, 27)).astype(int), image_type=kind, animal=np.full(80, "cat")
    )

    def draw(rng, n) -> Score:
        whole = 1 / (1 + np.exp(-2 - 0.5 * rng.standard_normal((n, 1))))
        lost = rng.uniform(0.05, 0.45, (n, 1))
        right = rng.random((n, 80)) < np.where(kind == "w", whole, whole - lost)
        columns = {"image_type": np.tile(kind, n), "subject": np.repeat(np.arange(n), 80)}
        return metric(of_model, _assembly(right.ravel().astype(int), **columns))

    value = once(lambda: 1 - abs(0.25 - 7 / 40) / 0.25)  # people lose 0.25 on average
    return Case(["baker_accuracy_delta"], "subjects", "exact", draw, value)


def _shape_bias(*, ceiling=False):
    """Images and observers are drawn anew; for the ceiling the images stay."""
    metric = load_metric("shape_bias", bootstraps=500)
    observers = 10
    same = 0.8 * np.random.default_rng(8).standard_normal(40)

    def decisions(rng, cue, other, images, bias, people):
        follows = rng.random((people, images)) < 1 / (1 + np.exp(-bias))
        neither = rng.random((people, images)) < 0.2
        return np.where(neither, "car", np.where(follows, cue, other)).ravel()

    def experiment(rng, images, people, ease):
        cue, other = np.full(images, "cat"), np.full(images, "dog")
        ids = np.array([f"image{i:05}" for i in range(images)])
        names = np.repeat([f"s{i:04}" for i in range(people)], images)
        bias = 1.5 + ease + 0.6 * rng.standard_normal((people, 1))
        columns = {
            "stimulus_id": np.tile(ids, people),
            "shape": np.tile(cue, people),
            "texture": np.tile(other, people),
        }
        target = _assembly(decisions(rng, cue, other, images, bias, people), subject=names, **columns)
        model = _assembly(decisions(rng, cue, other, images, -0.5 + ease, 1), stimulus_id=ids)
        return model, target

    def draw(rng, n) -> Score:
        if ceiling:
            return metric.ceiling(experiment(rng, 40, n, same)[1])
        return metric(*experiment(rng, n, observers, 0.8 * rng.standard_normal(n)))

    if ceiling:
        sizes = (10, 20, 50, 100)
        return Case(["shape_bias.ceiling"], "observers", "mean of the scores", draw, average, sizes=sizes)

    def value():
        rng = np.random.default_rng(9)
        return float(metric(*experiment(rng, LARGE, 400, 0.8 * rng.standard_normal(LARGE))))

    return Case(["shape_bias"], "images (10 observers)", "4,000 images, 400 observers", draw, once(value))


CASES = [
    _error_consistency(),
    _subjects("accuracy_distance"),
    *(_subjects(name) for name in ("confusion_similarity", "tasks_consistency")),
    *(_ceiling(name) for name in ("error_consistency", "accuracy_distance")),
    *(_ceiling(name) for name in ("confusion_similarity", "tasks_consistency")),
    _accuracy(),
    _odd_one_out(),
    _value_delta(),
    *_threshold("threshold"),
    *_threshold("threshold_elevation"),
    _baker(),
    _shape_bias(),
    _shape_bias(ceiling=True),
]
