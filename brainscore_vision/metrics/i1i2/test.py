import functools
from statistics import NormalDist

import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.numerics.discrimination import masked_correlation, pairwise_probabilities
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric
from brainscore_vision.metrics.i1i2.metric import probabilities, trials_of

KINDS = ["i1", "i1n", "i2", "i2n", "o1", "o2"]


@functools.cache
def _behaviour(*, images=240, objects=24, trials=40000, seed=0):
    """People that pick the right one of two objects with a skill for each image, and a model with other skills."""
    rng = np.random.default_rng(seed)
    names = [f"obj{i:02d}" for i in range(objects)]
    truth = np.array([names[i % objects] for i in range(images)])
    ids = np.array([f"im{i:04d}" for i in range(images)])
    pick = rng.integers(0, images, trials)
    sample = truth[pick]
    shift = rng.integers(1, objects, trials)
    distractor = np.array(names)[(pick + shift) % objects]
    skill = rng.uniform(0.6, 0.95, images)
    correct = rng.random(trials) < skill[pick]
    target = _people(
        np.where(correct, sample, distractor), ids[pick], sample, distractor, published_order=np.arange(trials)
    )
    logits = rng.standard_normal((images, objects))
    logits[np.arange(images), [names.index(t) for t in truth]] += 3 * skill
    p = np.exp(logits)
    return _model(p / p.sum(1, keepdims=True), ids, names), target


def _people(choices, ids, sample, distractor, **more):
    columns = {"stimulus_id": ids, "sample_obj": sample, "dist_obj": distractor, **more}
    return BehavioralAssembly(
        choices, coords={name: ("presentation", column) for name, column in columns.items()}, dims=["presentation"]
    )


def _model(probabilities, ids, names):
    coords = {"stimulus_id": ("presentation", ids), "choice": ("choice", names)}
    return BehavioralAssembly(probabilities, coords=coords, dims=["presentation", "choice"])


# Values of brainscore-vision 2.4.2 on the same assemblies (score of either half, ceiling of either half).
PUBLISHED = {
    (4, 20, 20000): {
        "i1": ([-0.012396988096594175, -0.05947184832944895], [0.8963583317550852, 0.9751876499119209]),
        "i1n": ([-0.09990387433368535, -0.11747441527591446], [0.9158778501892055, 0.9717570821500731]),
        "i2": ([0.032637068066651134, -0.024906320333422917], [0.8224143339668814, 0.9261082954214983]),
        "i2n": ([-0.07753115208343983, -0.1143538221887608], [0.8460963524043642, 0.917452322180275]),
        "o1": ([0.23813737073595237, 0.11281093102872208], [0.7179224681462077, 0.9977784504069088]),
        "o2": ([0.20981270483450826, 0.10801110872519938], [0.7197036581909888, 0.9465444172940418]),
    },
    (24, 240, 3000): {  # most pairs of image and distractor without a trial
        "i1": ([0.11262746301855368, 0.036675806504808665], [0.12178878776110724, 0.12166117840223226]),
        "i1n": ([0.1826894465494144, 0.08071919979488777], [0.05990319703449127, -0.032060438604272476]),
        "i2": ([-0.013174398530318831, -0.021286083835554], [-0.11738616800477426, -0.051637190190491365]),
        "i2n": ([0.016562104542068364, -0.0026035162785458927], [-0.04202145137477343, -0.006686193979877739]),
        "o1": ([-0.38277594714150676, 0.09427898074173593], [-0.1088847152936378, -0.06446122860396453]),
        "o2": ([-0.04245123516147792, 0.08345127032642169], [0.03954777483754338, 0.14894214244952803]),
    },
}
SEEDS = {(4, 20, 20000): 4, (24, 240, 3000): 3}


@pytest.mark.parametrize("case", PUBLISHED)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_existing_platform(case, kind):
    objects, images, trials = case
    source, target = _behaviour(images=images, objects=objects, trials=trials, seed=SEEDS[case])
    metric = load_metric(kind)
    score, ceiling = metric(source, target), metric.ceiling(target, skipna=True)
    expected = PUBLISHED[case][kind]
    np.testing.assert_allclose(score.attrs["raw"].values, expected[0], atol=1e-12)
    np.testing.assert_allclose(ceiling.attrs["raw"].values, expected[1], atol=1e-12)
    assert float(score) == pytest.approx(np.mean(expected[0]), abs=1e-12)
    assert score.attrs["std"] == pytest.approx(np.std(expected[0]), abs=1e-12)
    assert score.attrs["scale"] == "correlation"
    assert ceiling.attrs["meaning"] == "reliability"


def test_equals_the_existing_platform_on_40000_trials():
    source, target = _behaviour()
    metric = load_metric("i2n")
    assert float(metric(source, target)) == pytest.approx(0.08350744101387453, abs=1e-12)
    assert float(metric.ceiling(target, skipna=True)) == pytest.approx(0.13817016558634365, abs=1e-12)


def _by_hand(rate, truth, names, *, kind):
    """d′ with dictionaries, one by one."""
    z = NormalDist().inv_cdf

    def dprime(alarm, inverse):
        def limit(p):
            return np.inf if p == 1 else -np.inf if p == 0 else z(p)

        return float(np.clip(limit(1 - alarm) - limit(inverse), -5, 5))

    @functools.cache
    def mean_rate(shown, chosen):
        return np.mean([rate[i, chosen] for i in truth if truth[i] == shown and (i, chosen) in rate])

    if kind.startswith("o"):
        d = {(a, b): dprime(mean_rate(a, b), mean_rate(b, a)) for a in names for b in names if a != b}
        rows = names
    else:
        d = {(i, c): dprime(r, mean_rate(c, truth[i])) for (i, c), r in rate.items()}
        rows = list(truth)
    if kind.endswith("n"):
        d = {
            (i, c): v - np.mean([d[j, c] for j in truth if truth[j] == truth[i] and (j, c) in d])
            for (i, c), v in d.items()
        }
    if kind[1] == "1":
        return {i: np.mean([d[i, c] for c in names if (i, c) in d]) for i in rows}
    return d


@pytest.mark.parametrize("kind", KINDS)
def test_equals_a_loop(kind):
    source, target = _behaviour(images=18, objects=3, trials=3001, seed=5)
    names = sorted(set(target["sample_obj"].values))
    truth = dict(zip(target["stimulus_id"].values, target["sample_obj"].values, strict=True))
    shown, others, choices = target["stimulus_id"].values, target["dist_obj"].values, target.values
    p = {
        (i, c): source.values[row, column]
        for row, i in enumerate(source["stimulus_id"].values)
        for column, c in enumerate(source["choice"].values)
    }
    of_model = {(i, c): p[i, c] / (p[i, c] + p[i, truth[i]]) for i, c in p if c != truth[i]}
    ours = _by_hand(of_model, truth, names, kind=kind)
    random, expected = np.random.RandomState(0), []
    for _ in range(2):
        asked, alarms = {}, {}
        for trial in random.permutation(3001)[:1500]:
            i, c = shown[trial], others[trial]
            asked[i, c] = asked.get((i, c), 0) + 1
            alarms[i, c] = alarms.get((i, c), 0) + (choices[trial] == c)
        theirs = _by_hand({key: alarms[key] / asked[key] for key in asked}, truth, names, kind=kind)
        expected.append(np.corrcoef([[ours[key], theirs[key]] for key in theirs], rowvar=False)[0, 1])
    np.testing.assert_allclose(load_metric(kind)(source, target).attrs["raw"].values, expected, atol=1e-12)


def test_halves_are_those_of_the_published_order_or_of_sorted_trials():
    source, target = _behaviour(images=40, objects=4, trials=4000)
    metric, order = load_metric("i2n"), np.random.default_rng(0).permutation(4000)
    expected = float(metric(source, target))
    assert float(metric(source, target.isel(presentation=order))) == expected
    unnumbered = target.drop_vars("published_order")
    columns = zip(*(target[name].values for name in ("stimulus_id", "dist_obj")), target.values, strict=True)
    by_trial = sorted(range(4000), key=list(columns).__getitem__)
    in_order = unnumbered.isel(presentation=by_trial).assign_coords(published_order=("presentation", range(4000)))
    assert float(metric(source, in_order)) == pytest.approx(float(metric(source, unnumbered)), abs=1e-12)
    assert float(metric(source, unnumbered)) != expected


def test_neither_order_nor_surplus_nor_the_source_itself_matters():
    source, target = _behaviour(images=40, objects=4, trials=4000)
    metric = load_metric("i2n")
    expected = float(metric(source, target))
    rng = np.random.default_rng(0)
    shuffled = source.isel(presentation=rng.permutation(40), choice=rng.permutation(4))
    before = shuffled.copy(deep=True)
    assert float(metric(shuffled, target)) == pytest.approx(expected, abs=1e-14)
    assert before.identical(shuffled)
    assert "truth" not in shuffled.coords
    ids = [*source["stimulus_id"].values, "surplus"]
    wider = _model(np.vstack([source.values, np.full(4, 0.25)]), ids, source["choice"].values)
    assert float(metric(wider, target)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_error_and_interval(kind):
    source, target = _behaviour(images=240, objects=24, trials=20000)
    score = load_metric(kind)(source, target)
    low, high = score.attrs["ci"]
    assert low < float(score) < high
    assert 0 < score.attrs["error"] < 0.5
    text = "new objects; 24 objects" if kind.startswith("o") else "new images of these 24 objects; 240 images"
    assert score.attrs["ci_estimates"].startswith(text)
    assert score.attrs["influence"].sum() == pytest.approx(0, abs=1e-9)


def test_error_of_one_versus_all_is_that_of_a_correlation():
    from brainscore_core.numerics.discrimination import masked_correlation

    rng = np.random.default_rng(0)
    errors, values = [], []
    for _ in range(300):
        x = rng.standard_normal(100)
        result = masked_correlation(x, x + rng.standard_normal(100))
        values.append(result.value)
        errors.append(result.influence.std(ddof=1) / 10)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.1)


def test_influence_is_what_leaving_a_row_out_does():
    from brainscore_core.numerics.discrimination import masked_correlation

    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 5))
    y = x + rng.standard_normal((200, 5))
    y[rng.random((200, 5)) < 0.2] = np.nan
    result = masked_correlation(x, y)
    kept = ~np.isnan(y)
    assert result.value == pytest.approx(np.corrcoef(x[kept], y[kept])[0, 1], abs=1e-14)
    left_out = np.array([masked_correlation(np.delete(x, i, 0), np.delete(y, i, 0)).value for i in range(200)])
    jackknife = 199 * (left_out.mean() - left_out)
    assert np.corrcoef(jackknife, result.influence)[0, 1] > 0.999
    assert jackknife.std() == pytest.approx(result.influence.std(), rel=0.03)


def test_ceiling_needs_both_halves_or_skipna():
    _, target = _behaviour(images=240, objects=24, trials=3000)
    with pytest.raises(MetricInputError, match="from one half of the trials only"):
        load_metric("i2n").ceiling(target)
    assert load_metric("i2n").ceiling(target, skipna=True).attrs["undefined"] > 0


def test_ceiled_score_divides_by_the_root_half_by_half():
    source, target = _behaviour(images=40, objects=4, trials=20000)
    metric = load_metric("i2n")
    score, ceiling = metric(source, target), metric.ceiling(target)
    ceiled = metric.ceil_score(score, ceiling)
    ours, limits = score.attrs["raw"].values, ceiling.attrs["raw"].values
    assert float(ceiled) == pytest.approx((ours / np.sqrt(limits)).mean())
    ratio, root = float(ceiled) / float(score), np.sqrt(float(ceiling))
    own, of_root = (one.attrs["influence"].values for one in (score, ceiling))
    joint = ratio * (own - of_root * 0.5 / root * float(score) / root)  # the same images in both
    assert ceiled.attrs["error"] == pytest.approx(joint.std(ddof=1) / np.sqrt(40), rel=1e-6)
    assert ceiled.attrs["ci"][0] < float(ceiled) < ceiled.attrs["ci"][1]
    assert "undetermined" not in ceiled.attrs
    np.testing.assert_allclose(ceiled.attrs["influence"].values, ratio * own)
    with pytest.raises(MetricInputError, match="has 2 halves, the ceiling 3"):
        metric.ceil_score(score, load_metric("i2n", repetitions=3).ceiling(target))


def test_score_relative_to_a_ceiling_that_may_be_0_is_undetermined():
    source, target = _behaviour(images=40, objects=4, trials=20000)
    metric = load_metric("i2n")
    score, ceiling = metric(source, target), metric.ceiling(target)
    ceiling.attrs["ci"] = (-0.1, ceiling.attrs["ci"][1])
    ceiled = metric.ceil_score(score, ceiling)
    assert ceiled.attrs["undetermined"].endswith("includes 0")
    assert ceiled.attrs["undetermined"].startswith(f"the interval of the ceiling {float(ceiling):.3f}, -0.100 to")
    assert ceiled.attrs["ci"][1] == np.inf
    assert np.isnan(ceiled.attrs["error"])
    assert float(ceiled) == pytest.approx(float(metric.ceil_score(score, metric.ceiling(target))))


def test_model_without_differences_has_no_score():
    _, target = _behaviour(images=40, objects=4, trials=4000)
    ids = np.unique(target["stimulus_id"].values)
    names = np.unique(target["sample_obj"].values)
    score = load_metric("i2n")(_model(np.full((40, 4), 0.25), ids, names), target)
    assert np.isnan(float(score))
    assert "do not vary" in score.attrs["error_reason"]


def test_pairs_with_no_probability_are_left_out_and_counted():
    source, target = _behaviour(images=40, objects=4, trials=4000)
    truth = dict(zip(target["stimulus_id"].values, target["sample_obj"].values, strict=True))
    values = source.values.copy()
    own = list(source["choice"].values).index(truth[source["stimulus_id"].values[3]])
    values[3, [own, (own + 1) % 4]] = 0
    score = load_metric("i2")(_model(values, source["stimulus_id"].values, source["choice"].values), target)
    assert np.isfinite(float(score))
    assert score.attrs["undefined"] == 2


def _edited(target, **columns):
    kept = {name: target[name].values for name in ("stimulus_id", "sample_obj", "dist_obj")} | columns
    choices = kept.pop("choices", target.values)
    return _people(choices, kept.pop("stimulus_id"), kept.pop("sample_obj"), kept.pop("dist_obj"), **kept)


def test_what_cannot_be_compared_is_refused():
    source, target = _behaviour(images=12, objects=3, trials=400)
    metric = load_metric("i2n")
    with pytest.raises(MetricInputError, match="lacks 2 stimuli of the target, such as 'im0010', 'im0011'"):
        metric(source.isel(presentation=slice(0, 10)), target)
    with pytest.raises(MetricInputError, match="lacks 1 choices of the target, such as 'obj02'"):
        metric(source.isel(choice=slice(0, 2)), target)
    with pytest.raises(MetricInputError, match="'im0000' of 'stimulus_id' occurs more than once"):
        metric(source.isel(presentation=[0, *range(12)]), target)
    bad = source.values.copy()
    bad[:, 0] = -1
    with pytest.raises(MetricInputError, match="12 negative, missing or infinite probabilities, the first for"):
        metric(_model(bad, source["stimulus_id"].values, source["choice"].values), target)
    with pytest.raises(MetricInputError, match="chose neither"):
        metric(source, _edited(target, choices=np.full(400, "obj99")))
    with pytest.raises(MetricInputError, match=r"chose neither(?s:.*)'OBJ.*' and 'obj.*' differ in capitals"):
        metric(source, _edited(target, choices=np.char.upper(target.values.astype(str))))
    with pytest.raises(MetricInputError, match="offer the same object twice"):
        metric(source, _edited(target, dist_obj=target["sample_obj"].values))
    with pytest.raises(MetricInputError, match="'truth' other than 'sample_obj'"):
        metric(source, _edited(target, truth=target["dist_obj"].values))
    with pytest.raises(MetricInputError, match="another 'sample_obj' in other trials"):
        metric(source, _edited(target, stimulus_id=np.full(400, "im0000")))
    with pytest.raises(MetricInputError, match="no coordinate 'dist_obj'"):
        metric(source, target.drop_vars("dist_obj"))
    choices = target.values.astype(object)
    choices[7] = None
    with pytest.raises(MetricInputError, match="1 trials of the target lack 'choice', first stimulus_id"):
        metric(source, _edited(target, choices=choices))
    with pytest.raises(MetricInputError, match="1 trials; two halves"):
        metric(source, target.isel(presentation=[0]))


def test_as_many_objects_as_images_have_no_interval():
    source, target = _behaviour(images=5, objects=5, trials=2000)
    score = load_metric("i2")(source, target)
    assert np.isfinite(float(score))
    assert np.isnan(score.attrs["error"])
    assert score.attrs["error_reason"] == "5 images of 5 objects are too few"


def test_without_differences_between_images_nothing_is_left_of_i2n():
    source, target = _behaviour(images=5, objects=5, trials=2000)
    assert np.isnan(float(load_metric("i2n")(source, target)))  # each image is its object's mean


@pytest.mark.parametrize("kind", ["i2", "o2"])
def test_100_times_the_trials_is_no_problem(kind):
    source, target = _behaviour(images=100, objects=10, trials=400_000)
    assert np.isfinite(float(load_metric(kind)(source, target)))


@pytest.mark.parametrize("kind", ["i1", "i2"])
def test_influence_counts_what_an_image_does_to_others(kind):
    """Each image's weight in its object's mean rates, by a small change of it."""
    from brainscore_core.numerics.discrimination import (
        choice_rates,
        class_means,
        masked_correlation,
        nanmean_rows,
        through_inverses,
    )
    from brainscore_vision.metrics.i1i2 import metric as module

    rng = np.random.default_rng(0)
    truth, n, k = np.arange(40) % 4, 40, 4
    rates = []
    for skill in rng.uniform(0.2, 0.45, (2, n, k)):
        image = np.repeat(np.arange(n), 200)
        other = (truth[image] + rng.integers(1, k, len(image))) % k
        chosen = np.where(rng.random(len(image)) < skill[image, other], other, truth[image])
        rates.append(choice_rates(image, chosen, other, truth=truth, n_objects=k))

    def dprimes(rates, weights):
        member = (np.arange(k)[:, None] == truth) * weights
        mean = member @ np.nan_to_num(rates) / member.sum(axis=1, keepdims=True)
        z = np.vectorize(NormalDist().inv_cdf)
        with np.errstate(invalid="ignore"):
            own = np.where(np.isnan(rates), np.nan, z(1 - np.nan_to_num(rates, nan=0.5)))
        np.fill_diagonal(mean, 0.5)
        return own - z(mean)[:, truth].T

    def value(weights):
        sides = [dprimes(side, weights) for side in rates]
        return masked_correlation(*(nanmean_rows(side) if kind == "i1" else side for side in sides)).value

    step = 1e-4
    numeric = [(value(1 + step * row) - value(1 - step * row)) / (2 * step) * n for row in np.eye(n)]
    sides = []
    for side in rates:
        values = dprimes(side, np.ones(n))
        sides.append(module._Side(nanmean_rows(values) if kind == "i1" else values, values, side))
    found = module._through_others(*sides, truth)
    np.testing.assert_allclose(found, numeric, rtol=1e-4, atol=1e-6)
    assert np.std(found) > 0.05
    assert not through_inverses(np.ones((n, k)), np.full((n, k), 5.0), rates[0], truth).any()  # clipped
    assert np.isnan(class_means(rates[0], truth, n_objects=k).diagonal()).all()


def _by_subject(subjects, *, differ, seed=0):
    """People of different ability, each with trials of any image."""
    rng = np.random.default_rng(seed)
    source, target = _behaviour(images=40, objects=4, trials=12_000, seed=seed)
    subject = rng.integers(0, subjects, 12_000)
    careless = rng.random(12_000) < differ * rng.random(subjects)[subject]
    other = np.where(rng.random(12_000) < 0.5, target["sample_obj"].values, target["dist_obj"].values)
    return source, _edited(target, choices=np.where(careless, other, target.values), subject=subject)


@pytest.mark.parametrize("kind", KINDS)
def test_subjects_vary(kind):
    source, target = _by_subject(6, differ=0.9)
    metric = load_metric(kind)
    score = metric(source, target)
    assert score.attrs["ci_estimates"].startswith("new subjects and new ")
    assert "; 6 subjects, " in score.attrs["ci_estimates"]
    further = score.attrs["further_influence"]
    assert further["subject"].values.tolist() == list(range(6))
    alone = load_metric(kind, subject_coord=None)(source, target)
    assert float(alone) == float(score)
    assert "further_influence" not in alone.attrs
    assert score.attrs["error"] ** 2 == pytest.approx(alone.attrs["error"] ** 2 + further.values.var(ddof=1) / 6)
    assert metric.ceiling(target, skipna=True).attrs["further_influence"].sizes == {"subject": 6}


def test_each_subject_is_left_out_of_both_halves():
    source, target = _by_subject(6, differ=0.9)
    metric = load_metric("i2")
    trials = trials_of(target, "subject")
    ours = metric._side(pairwise_probabilities(probabilities(source, trials), trials.truth), trials)
    found = metric._without(trials, trials.subject, 6, ours=ours)
    for left_out in range(6):
        values = []
        for half, _ in metric._halves(trials):
            kept = half[trials.subject[half] != left_out]
            values.append(masked_correlation(ours.values, metric._measured(trials, kept).values).value)
        assert found[left_out] == pytest.approx(np.mean(values), abs=1e-12)


def test_many_subjects_are_left_out_in_blocks():
    score = load_metric("i2n")(*_by_subject(60, differ=0.5))
    assert "60 subjects in 40 blocks" in score.attrs["ci_estimates"]
    assert score.attrs["further_influence"].sizes == {"subject": 40}
    few = load_metric("i2n")(*_by_subject(2, differ=0.5))
    assert few.attrs["ci_estimates"].startswith("new images of these 4 objects for these 2 subjects; ")
