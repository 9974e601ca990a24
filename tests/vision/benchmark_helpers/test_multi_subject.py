import weakref

import numpy as np
import pytest

from brainscore_core.benchmarks import BenchmarkBase, bound_score, ceil_score
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision.benchmark_helpers.multi_subject import (
    WRAPPER_N_BOOTSTRAP,
    KFoldNeuralBenchmark,
    MultiSubjectNeuralBenchmark,
    _child_raw_scalar,
    block_diagonal_concat,
)

RAW = {"s1": 0.2, "s2": 0.3, "s3": 0.7, "s4": 0.5}
CEILINGS = {"s1": 0.5, "s2": 0.6, "s3": 0.5, "s4": 0.9}


class Part(BenchmarkBase):
    region = "V4"
    timebins = ((50, 150),)
    alive: list = []  # noqa: RUF012 # shared by all

    def __init__(self, name, bytes_needed=None):
        super().__init__(
            identifier=f"Author2024.{name}", ceiling_func=lambda: Score(CEILINGS[name]), version=7, bibtex="@article{a}"
        )
        self._name = name
        self._assembly = np.zeros(1000)
        self._bytes = bytes_needed
        assert all(one() is None for one in Part.alive)  # one part's data at a time
        Part.alive.append(weakref.ref(self))

    def __call__(self, candidate):
        raw = Score(RAW[self._name])
        raw.attrs["scale"] = "similarity"
        return bound_score(ceil_score(raw, self.ceiling))

    def preallocate_memory(self, candidate, raise_if_oom=True):
        return self._bytes


@pytest.fixture(autouse=True)
def _no_parts():
    Part.alive.clear()


def test_mean_over_subjects():
    benchmark = MultiSubjectNeuralBenchmark("Author2024.V4-ridge", list(RAW), Part)
    score = benchmark(candidate=None)
    ceiled = np.array([RAW[name] / CEILINGS[name] for name in RAW])
    assert ceiled.max() > 1  # clamped by its part, but not before the mean is taken
    assert float(score) == pytest.approx(ceiled.mean())
    np.testing.assert_allclose(score.attrs["raw_subjects"].values, ceiled)
    assert score.attrs["raw_subjects"]["subject"].values.tolist() == list(RAW)
    assert score.attrs["sem_subjects"] == pytest.approx(ceiled.std(ddof=1) / 2)
    assert float(score.attrs["raw"]) == pytest.approx(np.mean(list(RAW.values())))
    assert score.attrs["raw"].attrs["scale"] == "similarity"
    assert float(score.attrs["ceiling"]) == pytest.approx(np.mean(list(CEILINGS.values())))
    assert float(score.attrs["s3"]) == 1
    assert score.attrs["s3"].attrs["unclamped"] == pytest.approx(1.4)
    low, high = score.attrs["unclamped_ci"]
    assert low < float(score) < high
    assert score.attrs["ci_estimates"].startswith("new subjects; 4 subjects; mean over subjects")


def test_score_is_undetermined_if_the_mean_ceiling_may_be_0(monkeypatch):
    for number, name in enumerate(RAW):
        monkeypatch.setitem(CEILINGS, name, 0.9 if number == 0 else 0.05)
    score = MultiSubjectNeuralBenchmark("Author2024.V4-ridge", list(RAW), Part)(candidate=None)
    assert score.attrs["undetermined"].startswith("the interval of the ceiling 0.263, -0.4")


def test_error_is_the_published_bootstrap():
    score = MultiSubjectNeuralBenchmark("Author2024.V4-ridge", list(RAW), Part)(candidate=None)
    ceiled = np.array([RAW[name] / CEILINGS[name] for name in RAW])
    chance = np.random.default_rng(0)
    means = [ceiled[chance.integers(0, 4, 4)].mean() for _ in range(WRAPPER_N_BOOTSTRAP)]
    assert score.attrs["error"] == pytest.approx(np.std(means, ddof=1))


def test_identity_is_the_first_parts():
    benchmark = MultiSubjectNeuralBenchmark("Author2024.V4-ridge", list(RAW), Part)
    assert (benchmark.identifier, benchmark.version, benchmark.bibtex) == ("Author2024.V4-ridge", 7, "@article{a}")
    assert benchmark.parent == benchmark.region == "V4"
    assert benchmark.timebins == [(50, 150)]
    ceiling = benchmark.ceiling
    assert float(ceiling) == pytest.approx(np.mean(list(CEILINGS.values())))
    np.testing.assert_allclose(ceiling.attrs["raw_subjects"].values, list(CEILINGS.values()))
    assert ceiling.attrs["error"] > 0


def test_mean_over_folds():
    names = list(RAW)
    benchmark = KFoldNeuralBenchmark("Author2024.V4-cluster-ridge", 3, lambda k: Part(names[k]))
    score = benchmark(candidate=None)
    ceiled = np.array([RAW[name] / CEILINGS[name] for name in names[:3]])
    assert float(score) == pytest.approx(ceiled.mean())
    np.testing.assert_allclose(score.attrs["raw_folds"].values, ceiled)
    assert score.attrs["raw_folds"]["fold"].values.tolist() == [0, 1, 2]
    assert len(score.attrs["folds"]) == 3
    assert score.attrs["sem_folds"] == pytest.approx(ceiled.std(ddof=1) / np.sqrt(3))
    assert "share training stimuli" in score.attrs["ci_estimates"]


@pytest.mark.slow(reason="fits many regressions")
def test_folds_of_subjects():
    subjects = list(RAW)

    def fold(k):
        return MultiSubjectNeuralBenchmark(f"Author2024.fold{k}", subjects[k : k + 2], Part)

    score = KFoldNeuralBenchmark("Author2024.V4-ridge", 2, fold)(candidate=None)
    ceiled = [RAW[name] / CEILINGS[name] for name in subjects]
    assert float(score) == pytest.approx(np.mean([np.mean(ceiled[:2]), np.mean(ceiled[1:3])]))


def test_one_part_has_no_error():
    score = MultiSubjectNeuralBenchmark("Author2024.V4-ridge", ["s1"], Part)(candidate=None)
    assert float(score) == pytest.approx(0.4)
    assert np.isnan(score.attrs["error"])
    assert "one subject" in score.attrs["error_reason"]


def test_no_parts_are_refused():
    with pytest.raises(ValueError, match="has no subjects"):
        MultiSubjectNeuralBenchmark("Author2024.V4-ridge", [], Part)
    with pytest.raises(ValueError, match="0 folds"):
        KFoldNeuralBenchmark("Author2024.V4-ridge", 0, Part)


def test_raw_value_of_a_part():
    score = Score(0.5)
    assert np.isnan(_child_raw_scalar(score))
    score.attrs["raw"] = Score([0.2, 0.4], dims=["split"])
    assert _child_raw_scalar(score) == pytest.approx(0.3)
    score.attrs["raw"] = 0.7
    assert _child_raw_scalar(score) == 0.7


def test_memory_is_that_of_the_parts_that_are_there_at_once(monkeypatch):
    benchmark = MultiSubjectNeuralBenchmark("Author2024.V4-ridge", ["s1", "s2"], Part, peak_aggregation=3)
    assert benchmark.preallocate_memory(candidate=None) is None

    def large(name):
        return Part(name, bytes_needed=1000)

    benchmark = MultiSubjectNeuralBenchmark("Author2024.V4-ridge", ["s1", "s2"], large, peak_aggregation=3)

    def needs(**kwargs):
        return benchmark.preallocate_memory(None, **kwargs)

    assert needs(raise_if_oom=True) == 3000
    monkeypatch.setenv("BRAINSCORE_MAX_MEMORY", "2kB")
    with pytest.raises(UserError, match=r"needs about 3\.0 kB of memory and may use 2\.0 kB"):
        needs(raise_if_oom=True)
    assert needs(raise_if_oom=False) == 3000


class TestBlockDiagonal:
    def subject(self, name, shape, dtype=float, **levels):
        rows, columns = shape
        coords = {
            "stimulus_id": ("presentation", [f"{name}_{i}" for i in range(rows)]),
            "subject_id": ("neuroid", [name] * columns),
            "roi": ("neuroid", np.arange(columns)),
        }
        return NeuroidAssembly(
            np.arange(rows * columns, dtype=dtype).reshape(shape) + 1,
            coords=coords | levels,
            dims=["presentation", "neuroid"],
        )

    def test_each_subject_is_a_block(self):
        first, second = self.subject("a", (2, 3)), self.subject("b", (4, 1))
        joined = block_diagonal_concat([first, second])
        assert joined.shape == (6, 4)
        np.testing.assert_array_equal(joined.values[:2, :3], first.values)
        np.testing.assert_array_equal(joined.values[2:, 3:], second.values)
        assert np.isnan(joined.values[:2, 3:]).all()
        assert np.isnan(joined.values[2:, :3]).all()
        assert joined["subject_id"].values.tolist() == ["a"] * 3 + ["b"]
        assert joined["stimulus_id"].values.tolist() == ["a_0", "a_1", "b_0", "b_1", "b_2", "b_3"]
        assert joined["roi"].dims == ("neuroid",)
        assert "region" not in joined.coords

    def test_whole_numbers_become_floats(self):
        joined = block_diagonal_concat([self.subject("a", (1, 1), dtype=int), self.subject("b", (1, 1), dtype=int)])
        assert joined.dtype == np.float32

    def test_what_only_some_have_is_left_out(self):
        joined = block_diagonal_concat(
            [self.subject("a", (1, 2), nc_4rep=("neuroid", [0.1, 0.2])), self.subject("b", (1, 1))]
        )
        assert "nc_4rep" not in joined.coords
        assert "subject_id" in joined.coords

    def test_what_cannot_be_joined(self):
        with pytest.raises(UserError, match="no slices"):
            block_diagonal_concat([])
        with pytest.raises(UserError, match=r"\('neuroid', 'presentation'\)"):
            block_diagonal_concat([self.subject("a", (1, 2)).transpose("neuroid", "presentation")])
