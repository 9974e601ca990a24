import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from brainscore_core.benchmarks import BenchmarkBase, bound_score, ceil_score, normalise
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Score, attach_uncertainty, declare_no_error
from brainscore_core.numerics import corrected
from brainscore_core.numerics.influence import SUMS
from brainscore_core.populations import UNRECORDED
from brainscore_core.receipts.receipt import VisualAngle
from brainscore_core.scoring import FileItem, PluginCode, ResultsStore, run_pair
from brainscore_core.statistics.comparison import compare, compare_scores, side_of
from brainscore_core.statistics.units import read_influence
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

STIMULI, NEUROIDS = 60, 25


def influence(values, dim="presentation", name="stimulus_id", ids=None):
    values = np.asarray(values, dtype=float)
    ids = [f"u{i:03}" for i in range(len(values))] if ids is None else ids
    return DataAssembly(values, coords={name: (dim, ids)}, dims=[dim])


def mean_of(values, ids=None, **options):
    """A score that is a mean, with what each value does to it."""
    score = Score(np.mean(values))
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    ci = (float(score) - error, float(score) + error)
    attach_uncertainty(score, error=error, ci=ci, estimates="new stimuli; x", method="t")
    score.attrs["influence"] = influence(values - np.mean(values), ids=ids, **options)
    score.attrs["scale"] = "similarity"
    return score


def predicted(noise, seed=0, *, neuroids=NEUROIDS, splits=2):
    """A score that is a median correlation, with its predictions."""
    rng = np.random.default_rng(100)
    measured = rng.standard_normal((STIMULI, neuroids)) + rng.standard_normal((STIMULI, 1))
    values = measured + noise * np.random.default_rng(seed).standard_normal(measured.shape)
    split = np.arange(STIMULI) % splits

    def assembly(array):
        return DataAssembly(
            array,
            coords={
                "stimulus_id": ("presentation", [f"s{i:03}" for i in range(STIMULI)]),
                "split": ("presentation", split),
                "neuroid_id": ("neuroid", [f"n{i:03}" for i in range(neuroids)]),
                "region": ("neuroid", ["IT"] * neuroids),
            },
            dims=["presentation", "neuroid"],
        )

    raw = np.array(
        [
            [np.corrcoef(values[split == s, n], measured[split == s, n])[0, 1] for n in range(neuroids)]
            for s in range(splits)
        ]
    )
    score = declare_no_error(Score(np.median(raw, axis=1).mean()), "of no interest here")
    score.attrs.update(raw=Score(raw, dims=["split", "neuroid"]), scale="correlation")
    score.attrs.update(predictions=assembly(values), targets=assembly(measured))
    return score


def exact(value, meaning="reliability", error=0.0):
    ceiling = attach_uncertainty(
        Score(value), error=error, ci=(value - 2 * error, value + 2 * error), estimates="x", method="t"
    )
    ceiling.attrs["meaning"] = meaning
    return ceiling


class Fake(BenchmarkBase):
    """Its models are functions that return the raw score."""

    def __init__(self, identifier="Fake2026-metric", *, ceiling=None, relate=normalise, version=1):
        super().__init__(identifier, lambda: ceiling or exact(1.0, "upper bound"), version=version, parent="IT")
        self._relate = relate

    def __call__(self, candidate):
        return bound_score(self._relate(candidate(), self.ceiling))


@pytest.fixture
def store(tmp_path):
    return ResultsStore(tmp_path / "results")


@pytest.fixture
def scored(store):
    """``scored({'model': function}, benchmark)`` scores and stores."""

    def run(models, benchmark=None):
        benchmark = benchmark or Fake()
        return [
            run_pair(
                name, benchmark.identifier, load_model=lambda _, make=make: make,
                load_benchmark=lambda _: benchmark, results=store, raise_errors=False,
            ).receipt
            for name, make in models.items()
        ]  # fmt: skip

    return run


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    shared = rng.random(40)
    return {name: np.clip(shared + shift + 0.1 * rng.standard_normal(40), 0, 2) / 3
            for name, shift in (("good", 0.3), ("fair", 0.3), ("bad", 0.0))}  # fmt: skip


def test_means_are_compared_by_the_paired_t_test(store, scored, values):
    scored({name: lambda one=one: mean_of(one) for name, one in values.items()})
    found = compare(values, ["Fake2026-metric"], results=store)
    assert [(one.first, one.second) for one in found] == [("good", "fair"), ("good", "bad"), ("fair", "bad")]
    p = []
    for one in found:
        expected = stats.ttest_rel(values[one.first], values[one.second])
        assert one.p == pytest.approx(expected.pvalue, abs=1e-9)
        assert one.ci == pytest.approx(tuple(expected.confidence_interval()), abs=1e-9)
        assert one.difference == pytest.approx(values[one.first].mean() - values[one.second].mean())
        assert (one.units, one.scale, one.notes) == ("40 stimuli", "ceiled", ())
        p.append(one.p)
    assert [one.p_corrected for one in found] == pytest.approx(list(corrected(p)))
    assert [one.verdict for one in found] == ["no difference found", "good is better", "fair is better"]
    table = found.to_pandas()
    assert table[["first", "second"]].to_numpy().tolist() == [[one.first, one.second] for one in found]
    assert [(row.ci_low, row.ci_high, row.p_corrected) for row in table.itertuples()] == [
        (*one.ci, one.p_corrected) for one in found
    ]
    ranks = found.ranks("Fake2026-metric")
    assert ranks.to_pandas()["model"].tolist() == [one.model for one in ranks.models]


def test_ceiling_and_its_uncertainty(store, scored, values):
    scored({name: lambda one=one: mean_of(one) for name, one in values.items()})
    for number, error in enumerate((0.0, 0.05)):
        benchmark = Fake(f"Ceiled{number}-metric", ceiling=exact(0.8, "upper bound", error))
        scored({name: lambda one=one: mean_of(one) for name, one in values.items()}, benchmark)
    plain, ceiled, uncertain = (
        compare(["good", "bad"], [name], results=store)[0]
        for name in ("Fake2026-metric", "Ceiled0-metric", "Ceiled1-metric")
    )
    assert ceiled.difference == pytest.approx(plain.difference / 0.8)
    assert ceiled.ci == pytest.approx(tuple(np.array(plain.ci) / 0.8), rel=1e-6)
    assert uncertain.p == pytest.approx(plain.p)
    assert uncertain.error == pytest.approx(np.hypot(ceiled.error, ceiled.difference * 0.05 / 0.8))
    assert uncertain.ci[1] - uncertain.ci[0] > ceiled.ci[1] - ceiled.ci[0]


def test_units_belong_to_each_other_by_name_not_by_order(store, scored, values):
    names = np.array([f"u{i:03}" for i in range(40)])
    order = np.random.default_rng(1).permutation(40)
    scored(
        {
            "good": lambda: mean_of(values["good"], names),
            "bad": lambda: mean_of(values["bad"][order], names[order]),
        }
    )
    found = compare(["good", "bad"], ["Fake2026-metric"], results=store)[0]
    assert found.p == pytest.approx(stats.ttest_rel(values["good"], values["bad"]).pvalue)


def test_presentations_of_one_stimulus_belong_together():
    rng = np.random.default_rng(2)
    each = [np.repeat(rng.standard_normal(20), 5), np.repeat(rng.standard_normal(20), 5)]
    ids = np.repeat([f"u{i}" for i in range(20)], 5)
    found = compare_scores(*(mean_of(one, ids) for one in each))
    expected = stats.ttest_rel(*(one[::5] for one in each))
    assert found.units == "20 stimuli"
    assert found.p == pytest.approx(expected.pvalue)


def test_two_kinds_of_units():
    rng = np.random.default_rng(3)
    table = rng.standard_normal((6, 8))
    scores = []
    for shift in (0, 0.1):
        score = Score(table.mean() + shift)
        score.attrs["influence"] = DataAssembly(
            (table - table.mean()) * (1 + shift),
            coords={"subject": ("subject", list("abcdef")), "stimulus_id": ("presentation", list("ABCDEFGH"))},
            dims=["subject", "presentation"],
        )
        scores.append(score)
    found = compare_scores(*scores)
    assert found.units == "6 subjects × 8 stimuli"
    assert np.isfinite(found.p)


def _with_neuroids(stimuli, neuroids):
    score = mean_of(stimuli)
    score.attrs["further_influence"] = influence(neuroids, "neuroid", "neuroid_id")
    return score


def test_further_units_add_their_variance(store, scored, values):
    rng = np.random.default_rng(4)
    neuroids = {name: rng.standard_normal(12) for name in ("good", "bad")}
    models = {name: (lambda name=name: _with_neuroids(values[name], neuroids[name])) for name in neuroids}
    scored(models)
    found = compare(["good", "bad"], ["Fake2026-metric"], results=store)[0]
    assert found.units == f"{len(values['good'])} stimuli and 12 neuroids"
    parts = [values["good"] - values["bad"], neuroids["good"] - neuroids["bad"]]
    assert found.error == pytest.approx(np.sqrt(sum(np.var(part, ddof=1) / len(part) for part in parts)))
    assert compare_scores(*(make() for make in models.values())).p == pytest.approx(found.p)


def test_further_units_of_one_score_only(values):
    first, second = _with_neuroids(values["good"], np.arange(5.0)), mean_of(values["bad"])
    found = compare_scores(first, second)
    assert found.p == pytest.approx(compare_scores(mean_of(values["good"]), second).p)
    assert "the neuroids are taken as fixed" in found.notes[0]


def test_units_that_are_the_models_own():
    first, second = mean_of(np.arange(9.0)), mean_of(np.arange(14.0) ** 1.5)
    for score in (first, second):
        score.attrs["influence"].attrs["paired"] = 0
    found = compare_scores(first, second)
    assert found.units == "9 and 14 stimuli of the models"
    assert found.p == pytest.approx(stats.ttest_ind(np.arange(9.0), np.arange(14.0) ** 1.5, equal_var=False).pvalue)


def test_biases_are_taken_off():
    first, second = mean_of(np.arange(9.0)), mean_of(np.arange(9.0) ** 1.1)
    plain = compare_scores(first, second)
    first.attrs["influence"].attrs["bias"] = 0.25
    found = compare_scores(first, second)
    assert found.difference == pytest.approx(plain.difference - 0.25)
    assert "bias" in found.notes[0]


def test_influence_on_the_raw_score_alone(values):
    """A benchmark with a relation of its own that passes nothing on."""

    def score(one):
        raw, ceiling = mean_of(one), exact(0.5, "upper bound", 0.02)
        result = Score((float(raw) / 0.5) ** 2)
        result.attrs.update(raw=raw, ceiling=ceiling, scale="ceiled")
        return declare_no_error(result, "none")

    found = compare_scores(score(values["good"]), score(values["bad"]))
    direct = [ceil_score(mean_of(values[name]), 0.5) for name in ("good", "bad")]
    assert found.difference == pytest.approx(float(direct[0]) ** 2 - float(direct[1]) ** 2)
    assert found.scale == "ceiled"
    expected = [2 * float(one) * one.attrs["influence"].values for one in direct]
    error = np.std(expected[0] - expected[1], ddof=1) / np.sqrt(40)
    assert found.error == pytest.approx(np.hypot(error, found.difference * 2 * 0.02 / 0.5), rel=1e-3)


@pytest.mark.parametrize("meaning", ["reliability", "upper bound", "none"])
def test_predictions(store, scored, meaning):
    benchmark = Fake("Pls2026-pls", ceiling=exact(0.9, meaning, 0.03))
    scored({"a": lambda: predicted(0.8, 1), "b": lambda: predicted(1.6, 2)}, benchmark)
    found = compare(["a", "b"], ["Pls2026-pls"], results=store)[0]
    receipts = [store.latest(model, "Pls2026-pls") for model in "ab"]
    assert found.difference == pytest.approx(receipts[0].score.value - receipts[1].score.value)
    assert found.units == "60 stimuli × 25 neuroids"
    assert found.better == "a"
    assert found.scale == ("unceiled" if meaning == "none" else "ceiled")
    assert found.receipts == (receipts[0].id, receipts[1].id)
    again = compare(["b", "a"], ["Pls2026-pls"], results=store.folder)[0]
    assert (again.difference, again.p) == (-found.difference, found.p)


def with_training(score, seed, scale=0.01):
    """Stimuli change fitted maps; two of them are never tested."""
    effects = scale * np.random.default_rng(seed).standard_normal((STIMULI + 2, 1)) / NEUROIDS
    order = np.random.default_rng(0).permutation(STIMULI + 2)
    score.attrs["training_influence"] = DataAssembly(
        np.repeat(effects, NEUROIDS, axis=1)[order],
        coords={"unit": ("presentation", np.array([f"s{i:03}" for i in range(STIMULI + 2)])[order])},
        dims=["presentation", "neuroid"],
        attrs={"pairs": np.zeros(2 * SUMS)},
    )
    return score


def test_training_stimuli_count_in_a_difference_if_they_are_known_of_both(store, scored):
    kept = compare_scores(predicted(0.8, 1), predicted(1.6, 2))
    scored({"a": lambda: with_training(predicted(0.8, 1), 1), "b": lambda: with_training(predicted(1.6, 2), 2)})
    found = compare(["a", "b"], ["Fake2026-metric"], results=store)[0]
    influence = [read_influence(store, store.latest(model, "Fake2026-metric")).parts[0] for model in "ab"]
    assert [len(part.codes) for part in influence] == [STIMULI + 2] * 2
    changes = 0.01 * (np.random.default_rng(1).standard_normal(62) - np.random.default_rng(2).standard_normal(62))
    expected = kept.error**2 + 62 * np.var(changes)
    assert found.error**2 == pytest.approx(expected, rel=0.15)
    assert (found.units, found.notes) == (kept.units, kept.notes)
    units = side_of(with_training(predicted(0.8, 1), 1), "a", "Fake2026-metric").units
    tested = (units.predictivity.effects - units.predictivity.training)[:STIMULI]
    assert tested == pytest.approx(np.sqrt(1 - 4 / STIMULI) * units.maps_kept.predictivity.effects)
    one = compare_scores(with_training(predicted(0.8, 1), 1), predicted(1.6, 2))
    assert one.error == pytest.approx(kept.error)
    assert any("fitted maps are taken as fixed" in note for note in one.notes)
    other = [with_training(predicted(0.8 * noise, noise), noise) for noise in (1, 2)]
    for score in other:
        score.attrs["training_influence"]["unit"] = "presentation", [f"x{i}" for i in range(STIMULI + 2)]
    assert compare_scores(*other).error == pytest.approx(kept.error)


def test_a_relation_that_is_not_known_leaves_the_raw_scores(store, scored):
    def relate(score, ceiling):
        result = Score(np.tanh(float(score)))
        result.attrs.update(raw=score, ceiling=ceiling, scale="ceiled")
        return declare_no_error(result, "none")

    scored({"a": lambda: predicted(0.8, 1), "b": lambda: predicted(1.6, 2)}, Fake("Odd2026-pls", relate=relate))
    found = compare(["a", "b"], ["Odd2026-pls"], results=store)[0]
    assert found.scale == "raw"
    assert found.scores == pytest.approx((float(predicted(0.8, 1)), float(predicted(1.6, 2))))
    assert "raw scores are compared" in found.notes[0]
    assert found.difference == pytest.approx(found.scores[0] - found.scores[1])


def not_applicable():
    raise NotApplicable("it has no IT")


def without_units(value=0.5):
    return exact(value)


def with_scale(score, scale="similarity"):
    score.attrs["scale"] = scale
    return score


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (not_applicable, r"not applicable \(.*it has no IT"),
        (lambda: 1 / 0, "failed"),
        (lambda: with_scale(without_units()), "neither predictions nor the influence"),
        (lambda: mean_of(np.arange(12.0) / 20), "not scored on the same stimuli: 28"),
        (
            lambda: mean_of(np.arange(40.0) / 50, dim="subject", name="subject"),
            "stimuli were resampled for one, .*subj",
        ),
        (lambda: predicted(1.0), "one receipt has predictions"),
    ],
)
def test_what_cannot_be_compared_has_a_reason(store, scored, values, second, reason):
    scored({"good": lambda: mean_of(values["good"]), "other": second}, Fake(ceiling=exact(1.0, "upper bound")))
    found = compare(["good", "other", "absent"], ["Fake2026-metric"], results=store)
    assert found[0].p is found[0].p_corrected is found[0].ci is None
    assert re.search(reason, found[0].reason)
    assert "absent was not scored on Fake2026-metric" in found[1].reason
    assert [one.verdict for one in found] == ["not compared"] * 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda one: {"neuroids": 20}, "different neuroids"),
        (lambda one: {"splits": 3}, "different stimuli or splits"),
    ],
)
def test_other_measurements_cannot_be_compared(store, scored, change, reason):
    other = change(None)
    scored({"a": lambda: predicted(0.8, 1), "b": lambda: predicted(1.0, 2, **other)}, Fake("Pls2026-pls"))
    assert reason in compare(["a", "b"], ["Pls2026-pls"], results=store)[0].reason


def test_predictions_that_are_not_the_scores_own(store, scored):
    def wrong():
        score = predicted(0.8, 1)
        score.values = np.array(float(score) + 0.1)
        return score

    scored({"a": lambda: predicted(0.8, 1), "b": wrong}, Fake("Pls2026-pls"))
    assert "not the median correlation" in compare(["a", "b"], ["Pls2026-pls"], results=store)[0].reason


@pytest.mark.parametrize(
    ("changed", "reason", "note"),
    [
        (lambda one: replace(one, benchmark=replace(one.benchmark, version=2)), "different versions", None),
        (lambda one: replace(one, ceiling=replace(one.ceiling, value=0.7)), "different ceilings: 1.0 and 0.7", None),
        (lambda one: replace(one, files=(FileItem(url="s3://x/a.nc", sha1="1" * 40),)), "a.nc has changed", None),
        (
            lambda one: replace(one, benchmark=replace(one.benchmark, plugin=PluginCode(name="fake", sha256="2" * 64))),
            None,
            "code has changed",
        ),
        (
            lambda one: replace(one, model=replace(one.model, visual_angle=VisualAngle(degrees=4, stated=True))),
            None,
            "different visual angles: 8° and 4°",
        ),
    ],
)
def test_receipts_of_something_else(store, scored, values, changed, reason, note):
    from brainscore_core.results.store import Arrays

    first = scored({"good": lambda: mean_of(values["good"]), "bad": lambda: mean_of(values["bad"])})
    for receipt, change in zip(first, (lambda one: one, changed), strict=True):
        arrays = {"influence": Arrays(store.open_attachment(receipt, "influence"))}
        fresh = replace(
            receipt,
            id="",
            created="",
            attachments=(),
            model=replace(receipt.model, visual_angle=VisualAngle(degrees=8, stated=False)),
            files=(FileItem(url="s3://x/a.nc", sha1="0" * 40),),
            benchmark=replace(receipt.benchmark, plugin=PluginCode(name="fake", sha256="1" * 64)),
        )
        store.write(change(fresh), arrays)
    found = compare(["good", "bad"], ["Fake2026-metric"], results=store)[0]
    assert (found.reason is None) == (reason is None)
    assert reason is None or reason in found.reason
    assert note is None or any(note in one for one in found.notes)


def test_ranks(store, scored, values):
    scored({name: lambda one=one: mean_of(one) for name, one in values.items()} | {"none": not_applicable})
    found = compare([*values, "none"], ["Fake2026-metric"], results=store)
    ranking = found.ranks("Fake2026-metric")
    assert [(one.model, one.rank, one.best, one.worst, one.groups) for one in ranking.models] == [
        ("good", 1, 1, 2, "a"),
        ("fair", 2, 1, 2, "a"),
        ("bad", 3, 3, 3, "b"),
    ]
    assert list(ranking.left_out) == ["none"]
    assert "it has no IT" in ranking.left_out["none"]
    with pytest.raises(UserError, match="was not compared"):
        found.ranks("Another2026-metric")


def test_ranks_without_tests(store, scored, values):
    """A pair that could not be tested is not told apart, and said."""
    scored({"good": lambda: mean_of(values["good"]), "odd": lambda: with_scale(without_units(0.1))})
    ranking = compare(["good", "odd"], ["Fake2026-metric"], results=store).ranks("Fake2026-metric")
    assert [(one.best, one.worst, one.groups) for one in ranking.models] == [(1, 2, ""), (1, 2, "")]
    assert "good and odd" in ranking.notes[0]


def test_ranks_are_those_of_the_joint_influences(store, scored):
    from brainscore_core.numerics import ranks_from_influence

    rng = np.random.default_rng(5)
    each = rng.random((6, 40)) * 0.3 + rng.random(40) * 0.3 + 0.05 * np.arange(6)[:, None]
    names = [f"m{number}" for number in range(6)]
    scored({name: lambda one=one: mean_of(one) for name, one in zip(names, each, strict=True)})
    influence = (each - each.mean(axis=1, keepdims=True)) / np.sqrt(40 * 39)
    for simultaneous in (True, False):
        ranking = compare(names, ["Fake2026-metric"], results=store).ranks("Fake2026-metric", simultaneous=simultaneous)
        expected = ranks_from_influence(each.mean(axis=1), [influence], simultaneous=simultaneous, n_draws=20_000)
        made = {one.model: (one.rank, one.best, one.worst, one.groups) for one in ranking.models}
        for place, name in enumerate(names):
            limits = tuple(int(part[place]) for part in expected[:3])
            assert made[name] == (*limits, "".join(expected.letters[place]))


@pytest.mark.parametrize("n", [4, 9])
def test_ranks_claim_what_comparisons_find(store, scored, n):
    each = np.random.default_rng(6).random(n) * 0.1
    scored({"good": lambda: mean_of(each + 0.5), "bad": lambda: mean_of(each[::-1])})
    found = compare(["good", "bad"], ["Fake2026-metric"], results=store)
    assert found[0].better == "good"
    ranking = found.ranks("Fake2026-metric")
    assert [(one.best, one.worst, one.groups) for one in ranking.models] == [(1, 1, "a"), (2, 2, "b")]
    assert (found[0].condition, ranking.condition) == ("", "")


FEW = "these 2 subjects only; other subjects: unknown"


def of_subjects(number, noise, *, estimates=None):
    """A predicted score whose neuroids belong to subjects; `estimates` replaces what its interval says."""
    score = predicted(noise, seed=int(10 * noise))
    subject = [f"subject {place % number}" for place in range(NEUROIDS)] if number else []
    for key in ("predictions", "targets") if number else ():
        score.attrs[key] = score.attrs[key].assign_coords(subject=("neuroid", subject))
    if estimates:
        attach_uncertainty(score, error=0.1, ci=(0.1, 0.9), estimates=estimates, method="crossed")
    return score


@pytest.mark.parametrize(
    ("number", "estimates", "condition"),
    [
        (2, "new stimuli and new neuroids of these 2 subjects; 60 stimuli", FEW),
        (2, None, FEW),  # by the stored predictions
        (2, "median over neuroids", FEW),
        (0, "median over neuroids; stimuli are kept", UNRECORDED),
        (6, None, ""),
        (6, "new stimuli of this subject; of an earlier version", "this subject only; other subjects: unknown"),
    ],
)
def test_the_condition_of_scores_travels(store, scored, number, estimates, condition):
    models = {name: of_subjects(number, noise, estimates=estimates) for name, noise in (("good", 0.5), ("bad", 3.0))}
    scored({name: lambda score=score: score for name, score in models.items()})
    found = compare(list(models), ["Fake2026-metric"], results=store)
    suffix = f" ({condition})" if condition else ""
    assert (found[0].condition, found[0].verdict) == (condition, f"good is better{suffix}")
    assert found.to_pandas()["condition"].tolist() == [condition]
    assert found.ranks("Fake2026-metric").condition == condition
    assert compare_scores(*models.values(), names=("good", "bad")).verdict == f"good is better{suffix}"


def test_corrections(store, scored, values):
    for name in ("One2026-metric", "Two2026-metric"):
        scored({model: lambda one=one: mean_of(one) for model, one in values.items()}, Fake(name))
    names = ["One2026-metric", "Two2026-metric"]
    plain, holm, bh = (
        compare(values, names, results=store, correction=correction)
        for correction in ("none", "holm", "benjamini-hochberg")
    )
    assert [one.benchmark for one in plain] == [names[0]] * 3 + [names[1]] * 3
    assert [one.p_corrected for one in plain] == [one.p for one in plain]
    adjusted = stats.false_discovery_control([one.p for one in plain])
    assert [one.p_corrected for one in bh] == pytest.approx(adjusted)
    assert all(a.p_corrected <= b.p_corrected for a, b in zip(bh, holm, strict=True))


@pytest.mark.parametrize(
    ("models", "benchmarks", "options", "match"),
    [
        (["a"], ["X"], {}, "1 model cannot be compared"),
        (["a", "a"], ["X"], {}, "1 model cannot be compared"),
        (["a", "b"], [], {}, "no benchmark"),
        (["a", "b"], ["X"], {"level": 95}, "confidence level"),
        (["a", "b"], ["X"], {"correction": "bonferroni"}, "unknown correction"),
    ],
)
def test_arguments(store, models, benchmarks, options, match):
    with pytest.raises(UserError, match=match):
        compare(models, benchmarks, results=store, **options)


def test_scores_in_memory(values):
    good, bad = (mean_of(values[name]) for name in ("good", "bad"))
    found = compare_scores(good, bad, names=("good", "bad"))
    assert found.p == pytest.approx(stats.ttest_rel(values["good"], values["bad"]).pvalue)
    assert found.better == "good"
    with pytest.raises(UserError, match="single number"):
        compare_scores(Score([0.1, 0.2], dims=["x"]), bad)
    with pytest.raises(UserError, match="neither predictions nor"):
        compare_scores(Score(0.3), bad)


def with_bias(score, bias):
    score.attrs["influence"].attrs["bias"] = bias
    return score


def test_the_better_model_has_the_first_rank_whatever_the_biases(store, scored, values):
    """The difference is taken without biases, and so is the order."""
    bias = float(np.mean(values["good"]) - np.mean(values["bad"])) + 0.5
    scored({"good": lambda: with_bias(mean_of(values["good"]), bias), "bad": lambda: mean_of(values["bad"])})
    found = compare(["good", "bad"], ["Fake2026-metric"], results=store)
    assert found[0].better == "bad"
    assert found[0].biases == pytest.approx((bias, 0.0))
    assert [(one.model, one.best, one.worst) for one in found.ranks("Fake2026-metric").models] == [
        ("bad", 1, 1),
        ("good", 2, 2),
    ]


def test_ceiled_scores_are_not_ranked_among_raw_ones(store, scored):
    def relate(score, ceiling):
        result = Score(np.tanh(float(score)))
        result.attrs.update(raw=score, ceiling=ceiling, scale="ceiled")
        return declare_no_error(result, "none")

    made = {"a": lambda: predicted(0.8, 1), "b": lambda: predicted(1.6, 2), "c": lambda: predicted(0.1, 3, splits=3)}
    scored(made, Fake("Odd2026-pls", relate=relate))
    for order in (["c", "a", "b"], ["a", "b", "c"]):
        ranking = compare(order, ["Odd2026-pls"], results=store).ranks("Odd2026-pls")
        assert [one.model for one in ranking.models] == ["a", "b"]
        assert "different stimuli or splits" in ranking.left_out["c"]
