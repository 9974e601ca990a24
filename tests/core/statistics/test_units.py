import numpy as np
import pytest

from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.numerics.influence import UNKNOWN, shared_variances, variance_of_mean
from brainscore_core.provenance import note
from brainscore_core.scoring import ResultsStore
from brainscore_core.statistics.units import Incomparable, influence_of, read_influence, read_side
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from tests.core.statistics.test_comparison import Fake, exact, influence, mean_of, predicted


@pytest.fixture
def store(tmp_path):
    return ResultsStore(tmp_path / "results")


@pytest.fixture
def read(store):
    """``read(score, …)`` scores a benchmark, stores the receipt, and reads the influence of its units."""
    from brainscore_core.scoring import run_pair

    def run(make, identifier="Fake2026-metric", model="model", **options):
        benchmark = Fake(identifier, **options)
        receipt = run_pair(
            model, identifier, load_model=lambda _: make, load_benchmark=lambda _: benchmark, results=store,
            raise_errors=True,
        ).receipt  # fmt: skip
        return read_influence(store, receipt)

    return run


VALUES = np.random.default_rng(0).random(40)


def of(score, kind):
    (part,) = [part for part in score.parts if part.kind == kind]
    return part


def test_squares_sum_to_the_variance(read):
    found = read(lambda: mean_of(VALUES))
    assert [(part.kind, part.data, len(part.codes)) for part in found.parts] == [("stimuli", ("Fake2026", UNKNOWN), 40)]
    assert np.sum(found.parts[0].values ** 2) == pytest.approx(VALUES.var(ddof=1) / 40)
    assert (found.value, found.bias) == (pytest.approx(VALUES.mean()), 0)
    assert found.ceiling == 0


def test_it_is_the_influence_on_the_ceiled_score(read):
    found = read(lambda: mean_of(VALUES), ceiling=exact(0.8, "upper bound", 0.05))
    assert np.sum(found.parts[0].values ** 2) == pytest.approx(VALUES.var(ddof=1) / 40 / 0.8**2)
    assert found.value == pytest.approx(VALUES.mean() / 0.8)
    assert found.ceiling == pytest.approx(-VALUES.mean() / 0.8 * 0.05 / 0.8)


def test_biases_are_subtracted(read):
    def biased():
        score = mean_of(VALUES)
        score.attrs["influence"].attrs["bias"] = 0.1
        return score

    found = read(biased, ceiling=exact(0.8, "upper bound"))
    assert (found.value, found.bias) == (pytest.approx((VALUES.mean() - 0.1) / 0.8), pytest.approx(0.125))


def test_benchmarks_of_a_data_set_share_units(read):
    first = read(lambda: mean_of(VALUES), "Some2026.IT-a")
    second = read(lambda: mean_of(VALUES[::-1]), "Some2026.V4-b")
    (shared,) = shared_variances([first, second])
    expected = np.cov(VALUES, VALUES[::-1]) / 40
    np.testing.assert_allclose(shared.covariance, expected, rtol=1e-9)
    variance, df = variance_of_mean(shared_variances([first, second]), [[0.5, 0.5]])
    assert variance[0] == pytest.approx(np.var((VALUES + VALUES[::-1]) / 2, ddof=1) / 40)
    assert df[0] == pytest.approx(39)


@pytest.mark.parametrize(("sets", "number"), [("aa", 1), ("ab", 2), ("  ", 1), ("a ", 2)])
def test_benchmarks_with_a_stimulus_set_in_common_share_units(read, sets, number):
    """Under any name; of unknown stimuli, all with the same identifiers are taken for the same."""

    def showing(name):
        if name.strip():
            note("stimulus_set", identifier=name)
        return mean_of(VALUES)

    scores = [read(lambda name=name: showing(name), f"Benchmark{at}-x") for at, name in enumerate(sets)]
    assert len(shared_variances(scores)) == number


def test_two_crossed_kinds_of_units(read):
    table = np.random.default_rng(1).standard_normal((6, 8)) * 0.1 + 0.5

    def crossed():
        score = declare_no_error(Score(table.mean()), "of no interest here")
        score.attrs["scale"] = "similarity"
        coords = {"subject": ("subject", list("abcdef")), "stimulus_id": ("presentation", list("ABCDEFGH"))}
        score.attrs["influence"] = DataAssembly(table - table.mean(), coords=coords, dims=["subject", "presentation"])
        return score

    found = read(crossed)
    for kind, axis in (("subjects", 1), ("stimuli", 0)):
        means = table.mean(axis=axis)
        assert np.sum(of(found, kind).values ** 2) == pytest.approx(means.var(ddof=1) / len(means))


def test_further_units_are_a_kind_of_their_own(read):
    neuroids = np.random.default_rng(2).standard_normal(12)

    def both():
        score = mean_of(VALUES)
        score.attrs["further_influence"] = influence(neuroids, "neuroid", "neuroid_id")
        return score

    assert np.sum(of(read(both), "neuroids").values ** 2) == pytest.approx(neuroids.var(ddof=1) / 12)


def test_predictions(read):
    found = read(lambda: predicted(1.0), ceiling=exact(0.9, "reliability", 0.03))
    assert [(part.kind, len(part.codes)) for part in found.parts] == [("stimuli", 60), ("neuroids", 25)]
    raw = read(lambda: predicted(1.0), "Fake2026-raw", ceiling=exact(1.0, "none"))
    slope = 2 * raw.value / 0.9
    assert found.value == pytest.approx(raw.value**2 / 0.9)
    for kind in ("stimuli", "neuroids"):
        np.testing.assert_allclose(of(found, kind).values, slope * of(raw, kind).values, rtol=1e-5)


def test_predictions_of_new_experiments_vary_so_much():
    """The variance over stimuli and neuroids, against the spread of the score over experiments that draw both anew."""
    from brainscore_core.numerics.predictions import influence_of_neuroids, influence_of_stimuli, predictivity

    rng = np.random.default_rng(3)
    values, variances = [], []
    for _ in range(300):
        measured = rng.standard_normal((50, 30)) + rng.standard_normal((50, 1))
        found = predictivity(measured + rng.uniform(0.5, 2, 30) * rng.standard_normal((50, 30)), measured)
        values.append(found.value)
        variances.append(np.sum(influence_of_stimuli(found) ** 2) + np.sum(influence_of_neuroids(found) ** 2))
    assert 0.9 < np.mean(variances) / np.var(values) < 1.8


def with_coordinates(score, **coordinates):
    for key in ("predictions", "targets"):
        score.attrs[key] = score.attrs[key].assign_coords(coordinates)
    return score


def test_groups_of_stimuli_and_subjects_are_the_units(read):
    objects = np.array(
        [f"o{int(name[1:]) % 12:02}" for name in predicted(1.0).attrs["predictions"]["stimulus_id"].values]
    )
    animals = np.resize(list("abcde"), 25)
    found = read(
        lambda: with_coordinates(predicted(1.0), object_name=("presentation", objects), subject=("neuroid", animals)),
        ceiling=exact(1.0, "none"),
    )
    kinds = [(part.kind, len(part.codes)) for part in found.parts]
    assert kinds == [("groups of stimuli (object_name)", 12), ("subjects", 5)]
    two = read(
        lambda: with_coordinates(predicted(1.0), subject=("neuroid", np.resize(list("ab"), 25))),
        ceiling=exact(1.0, "none"),
    )
    assert [(part.kind, len(part.codes)) for part in two.parts] == [("stimuli", 60), ("neuroids", 25)]


def test_units_of_the_models_own_are_not_shared(store, read):
    def own():
        score = predicted(1.0)
        score.attrs["predictions"].attrs["units"] = "model neuroids"
        return score

    first, second = (read(own, model=name, ceiling=exact(1.0, "none")) for name in ("a", "b"))
    assert set(of(first, "stimuli").codes) == set(of(second, "stimuli").codes)
    assert not set(of(first, "neuroids").codes) & set(of(second, "neuroids").codes)
    assert first.signature() == second.signature()


def test_scores_by_which_nothing_can_be_compared(store, read):
    def bare():
        score = mean_of(VALUES)
        del score.attrs["influence"]
        return score

    with pytest.raises(Incomparable, match="neither predictions nor the influence"):
        read(bare)
    with pytest.raises(Incomparable, match="at least 3 units"):
        read(lambda: mean_of(VALUES[:2]))
    read(lambda: mean_of(VALUES))
    side = read_side(store, store.latest("model", "Fake2026-metric"))
    side.units.values[0] = np.nan
    with pytest.raises(Incomparable, match="undefined"):
        influence_of(side)
