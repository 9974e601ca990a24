"""What an audit finds, and what it does not."""

import itertools
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.submission.checks import check_references, find_references
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_benchmark, load_metric
from brainscore_vision.assessment.audit import audit
from brainscore_vision.assessment.dependence import split_findings
from brainscore_vision.assessment.duplicates import contours, find_duplicates, merge_groups, small_pixels
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements
from brainscore_vision.benchmark_helpers.multi_subject import MultiSubjectNeuralBenchmark
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    TrainTestNeuralBenchmark,
    average_repetition,
)
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures
from brainscore_vision.metric_helpers.repetitions import serial_tests
from brainscore_vision.model_helpers.images import load_grey

NEUROIDS = 20


def pictures(n, *, seed=0, size=64):
    """Different pictures of random squares."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (n, 8, 8))
    return np.kron(small, np.ones((size // 8, size // 8), dtype=int)).astype(np.uint8)


def save(folder, shown, names=None):
    names = [f"s{number:03}" for number in range(len(shown))] if names is None else names
    paths = {name: folder / f"{name}.png" for name in names}
    for path, picture in zip(paths.values(), shown, strict=True):
        Image.fromarray(picture).save(path)
    return names, paths


def assembly(values, names, *, paths=None, identifier="Simulated", **levels):
    coords = {name: ("presentation", np.asarray(column)) for name, column in levels.items()}
    coords |= {
        "stimulus_id": ("presentation", list(names)),
        "neuroid_id": ("neuroid", np.arange(values.shape[1])),
        "region": ("neuroid", ["IT"] * values.shape[1]),
    }
    result = NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
    stimuli = StimulusSet({"stimulus_id": list(dict.fromkeys(names))})
    stimuli.stimulus_paths, stimuli.identifier = paths or {}, identifier
    result.attrs["stimulus_set"], result.attrs["stimulus_set_identifier"] = stimuli, identifier
    return result


def make(recordings, metric="ridge", *, repetitions=None, **kwargs):
    metric = load_metric(metric, **kwargs)
    return NeuralBenchmark(
        "Author2024.IT-x", recordings, metric, 8, 1, lambda: Score(1.0), 1, parent="IT", repetitions=repetitions
    )


def responses(members, *, seed=0, within=0.1):
    """Responses that depend on the group of a stimulus."""
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((int(np.max(members)) + 1, 8))[members]
    latent = latent + within * rng.standard_normal(latent.shape)
    return latent @ rng.standard_normal((8, NEUROIDS)) + 0.3 * rng.standard_normal((len(members), NEUROIDS))


@pytest.fixture
def leaking(tmp_path):
    """Twenty pictures, five near-duplicates of each."""
    members = np.repeat(np.arange(20), 5)
    rng = np.random.default_rng(0)
    shown = np.clip(pictures(20)[members] + rng.normal(0, 4, (100, 64, 64)), 0, 255).astype(np.uint8)
    names, paths = save(tmp_path, shown)
    return SimpleNamespace(recordings=assembly(responses(members), names, paths=paths), members=members, names=names)


def overlap(found, kind):
    (result,) = (one for one in found.overlaps if one.kind == kind)
    return result


class TestDuplicates:
    def test_contours_by_a_loop(self):
        grey = np.random.default_rng(0).uniform(0, 255, (2, 64, 64)).astype(np.float32)
        from scipy.ndimage import correlate1d

        weights = np.array([1, 4, 6, 4, 1]) / 16
        for picture, found in zip(grey, contours(grey), strict=True):
            smooth = correlate1d(correlate1d(picture, weights, axis=0, mode="nearest"), weights, axis=1, mode="nearest")
            down, right = np.gradient(smooth)
            expected = np.zeros((8, 8, 8))
            for y, x in itertools.product(range(64), range(64)):
                angle = math.atan2(down[y, x], right[y, x]) % math.pi / math.pi * 8
                lower = int(angle)
                length = math.hypot(down[y, x], right[y, x])
                expected[y // 8, x // 8, lower % 8] += length * (1 - (angle - lower))
                expected[y // 8, x // 8, (lower + 1) % 8] += length * (angle - lower)
            expected = expected.ravel() - expected.mean()
            np.testing.assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-4)

    def test_all_pairs_over_several_blocks(self, tmp_path):
        small = pictures(600, size=8)
        rng = np.random.default_rng(1)
        pairs = rng.choice(600, (30, 2), replace=False)
        for first, second in pairs:
            small[second] = small[first] // 2 + 30
        names, paths = save(tmp_path, small)
        found = find_duplicates(names, paths)
        grey = np.stack([np.asarray(Image.fromarray(one).resize((64, 64)), dtype=np.float32) for one in small])
        pooled = grey.reshape(600, 16, 4, 16, 4).mean((2, 4)).reshape(600, -1)
        np.testing.assert_allclose(small_pixels(grey) @ small_pixels(grey).T, np.corrcoef(pooled), atol=1e-4)
        similarity = np.minimum(np.abs(np.corrcoef(pooled)), np.abs(np.corrcoef(contours(grey))))
        assert found.n_near == (np.triu(similarity, 1) > 0.9).sum() == 30
        assert {(pair.first, pair.second) for pair in found.pairs} == {
            tuple(sorted((names[a], names[b]))) for a, b in pairs
        }
        assert len(np.unique(found.alike)) == 570
        assert (found.alike[pairs[:, 0]] == found.alike[pairs[:, 1]]).all()

    def test_equal_files_are_not_near_duplicates(self, tmp_path):
        shown = pictures(4)
        shown[3] = shown[1]
        found = find_duplicates(*save(tmp_path, shown))
        assert (found.n_equal, found.n_near) == (1, 0)
        assert found.equal.tolist() == found.alike.tolist() == [0, 1, 2, 1]
        assert (found.pairs[0].first, found.pairs[0].second, found.pairs[0].equal) == ("s001", "s003", True)

    def test_groups_are_connected(self, tmp_path):
        """The second is a copy of the first, the third like the second."""
        shown = pictures(4)
        shown[1], shown[2] = shown[0], 255 - shown[0]
        names, paths = save(tmp_path, shown)
        assert find_duplicates(names, paths).alike.tolist() == [0, 0, 0, 1]
        del paths["s003"]
        found = find_duplicates(names, paths)
        assert found.alike.tolist() == [0, 0, 0, 1]
        assert np.isnan(found.pixels).any(axis=1).tolist() == [False, False, False, True]

    def test_a_crop_of_a_fine_texture(self, tmp_path):
        """Grains move by their own size at the border; the correlation of their contours is below 0.9."""
        from PIL import Image

        rng = np.random.default_rng(3)
        frequency = np.hypot(np.fft.fftfreq(96)[:, None], np.fft.rfftfreq(96))
        frequency[0, 0] = np.inf
        noise = rng.standard_normal((3, *frequency.shape)) + 1j * rng.standard_normal((3, *frequency.shape))
        grains = np.fft.irfft2(noise / frequency**0.6, s=(96, 96))
        shown = list(np.clip(128 + 45 * grains / grains.std(), 0, 255).astype(np.uint8))
        shown.append(np.asarray(Image.fromarray(shown[0][1:-1, 1:-1]).resize((96, 96))))
        found = find_duplicates(*save(tmp_path, np.stack(shown)))
        grey = np.stack([load_grey(path, size=64) for path in sorted(tmp_path.glob("*.png"))])
        assert abs(np.corrcoef(contours(grey[[0, 3]]))[0, 1]) < 0.9
        assert found.alike.tolist() == [0, 1, 2, 0]

    def test_pictures_of_one_level_have_no_correlation(self, tmp_path):
        shown = np.stack([np.full((64, 64), level, dtype=np.uint8) for level in (0, 100, 200)])
        found = find_duplicates(*save(tmp_path, shown))
        assert found.n_near == found.n_equal == 0

    def test_files_that_are_not_pictures(self, tmp_path):
        paths = {name: tmp_path / f"{name}.mp4" for name in "abc"}
        for path, content in zip(paths.values(), (b"film", b"other", b"film"), strict=True):
            path.write_bytes(content)
        found = find_duplicates(list("abc"), paths)
        assert (found.n_equal, found.n_near, found.equal.tolist()) == (1, 0, [0, 1, 0])
        assert "cannot be read as an image" in found.reason

    def test_a_damaged_picture_is_named_and_the_others_are_compared(self, tmp_path):
        shown = pictures(3)
        names, paths = save(tmp_path, np.stack([*shown, shown[1][:, ::-1]]))
        paths[names[0]].write_bytes(b"damaged")
        found = find_duplicates(names, paths)
        assert f"stimulus {names[0]!r}: " in found.reason
        assert (found.n_near, found.alike.tolist()) == (1, [0, 1, 2, 1])
        assert np.isfinite(found.pixels).all(axis=1).tolist() == [False, True, True, True]

    def test_missing_files(self, tmp_path):
        with pytest.raises(UserError, match="cannot be read"):
            find_duplicates(["a"], {"a": tmp_path / "a.png"})
        assert find_duplicates(["a", "b"], {}).reason == "the stimuli have no files"
        assert find_duplicates([], {}).pairs == ()

    def test_merged_groups(self):
        rng = np.random.default_rng(0)
        first, second = rng.integers(0, 30, (2, 40))
        merged = merge_groups(first, second)
        reached = (first[:, None] == first) | (second[:, None] == second)
        for _ in range(40):
            reached = reached @ reached
        np.testing.assert_array_equal(merged[:, None] == merged, reached)


class TestSeverity:
    def test_near_duplicates(self, leaking):
        found = audit(make(leaking.recordings))
        near = overlap(found, "near-duplicates")
        assert (near.groups, near.stimuli, near.pairs) == (20, 100, 200)
        assert near.across
        assert near.share > 0.95
        assert found.units == {"pictures": 20}
        assert (found.independent, found.clean) == (20, False)
        losses = {loss.model: loss for loss in found.losses}
        assert set(losses) == {"unrelated features", "pixels"}
        for loss in losses.values():
            assert loss.rule == "duplicates"
            assert loss.default > 0.9
            assert loss.default_ci[0] > 0.5
            assert loss.ci[0] < loss.loss < loss.ci[1]
            assert loss.ci[0] > 0
            assert loss.grouped_ci[0] < 0 < loss.grouped_ci[1]
            assert loss.loss == pytest.approx(loss.default - loss.grouped)
            assert loss.score == pytest.approx(loss.default**2, rel=1e-3)  # explained variance; a mean over draws
        assert "near-duplicates: 200 pairs, 100 stimuli in 20 groups" in found.text()

    def test_the_default_is_the_score_of_the_benchmark(self, leaking):
        rng = np.random.default_rng(3)
        features = assembly(rng.standard_normal((20, 50))[leaking.members], leaking.names)
        model = PrecomputedFeatures(features, 8, identifier="mine")
        benchmark = make(leaking.recordings)
        (loss,) = audit(benchmark, model=model).losses
        score = benchmark(model)
        assert loss.model == "mine"
        assert loss.default == pytest.approx(float(score.attrs["raw"]), rel=1e-12)
        assert loss.score == pytest.approx(float(score.attrs["unclamped"]), rel=1e-12)
        grouped = leaking.recordings.assign_coords(cluster=("presentation", leaking.members))
        kwargs = {"group_coord": "cluster", "stratification_coord": None}
        expected = load_metric("ridge", crossvalidation_kwargs=kwargs)(features, grouped)
        assert loss.grouped == pytest.approx(float(expected), rel=1e-12)

    def test_grouped_splits_divide_nothing(self, leaking):
        grouped = leaking.recordings.assign_coords(scene=("presentation", leaking.members))
        grouped.attrs = leaking.recordings.attrs
        kwargs = {"group_coord": "scene", "stratification_coord": None}
        benchmark = make(grouped, crossvalidation_kwargs=kwargs)
        found = audit(benchmark)
        assert [(one.kind, one.share) for one in found.overlaps] == [("near-duplicates", 0.0), ("scene", 0.0)]
        assert found.losses == ()
        assert split_findings(benchmark) == []

    def test_groups_of_different_pictures(self, tmp_path):
        members = np.tile(np.arange(10), 10)
        names, paths = save(tmp_path, pictures(100))
        columns = {"object_name": members, "category_name": members % 4}
        benchmark = make(assembly(responses(members), names, paths=paths, **columns))
        found = audit(benchmark)
        assert [one.kind for one in found.overlaps] == ["object_name"]  # a category is not a group
        assert found.units == {"pictures": 100, "object_name": 10}
        losses = {loss.model: loss for loss in found.losses}
        assert losses["unrelated features"].loss > 0.5
        assert losses["unrelated features"].ci[0] > 0
        assert losses["pixels"].ci[0] < 0 < losses["pixels"].ci[1]  # what they show tells nothing

    def test_few_values_are_kinds(self, tmp_path):
        names, paths = save(tmp_path, pictures(60))
        recordings = assembly(responses(np.arange(60)), names, paths=paths, object_name=np.arange(60) % 4)
        found = audit(make(recordings))
        assert found.overlaps == found.losses == found.copies == ()
        assert found.clean
        assert found.text().splitlines()[1] == "No problem was found in what was examined."

    def test_a_metric_that_fits_nothing(self, leaking):
        found = audit(make(leaking.recordings, "rdm"))
        near = overlap(found, "near-duplicates")
        assert near.share is None
        assert "fits nothing" in near.reason
        assert found.losses == ()
        assert found.independent == 20
        assert split_findings(make(leaking.recordings, "rdm")) == []

    @pytest.mark.slow(reason="800 pictures and recordings of a registered benchmark")
    def test_composed_benchmarks_have_the_splits_of_their_metric(self):
        found = audit(load_benchmark("Simulated2026.V1:ridge"))
        assert overlap(found, "object_name").across
        loss = next(one for one in found.losses if (one.rule, one.model) == ("object_name", "unrelated features"))
        assert loss.ci[0] > 0
        assert loss.grouped_ci[0] < 0 < loss.grouped_ci[1]

    def test_fixed_training_stimuli(self, tmp_path):
        members = np.repeat(np.arange(30), 4)
        test = np.arange(120) % 8 == 0  # one of every second picture
        rng = np.random.default_rng(0)
        shown = np.clip(pictures(30)[members] + rng.normal(0, 4, (120, 64, 64)), 0, 255).astype(np.uint8)
        names, paths = save(tmp_path, shown)
        parts = [
            assembly(responses(members)[side], np.array(names)[side], paths=paths, identifier=f"part{side[0]}")
            for side in (~test, test)
        ]
        benchmark = TrainTestNeuralBenchmark(
            "Author2024.IT-x", lambda: Score(1.0), 1, *parts, load_metric("ridge_split"), 8, 1, parent="IT"
        )
        found = audit(benchmark)
        assert found.stimuli == 120
        assert overlap(found, "near-duplicates").share == 1
        loss = next(one for one in found.losses if one.model == "unrelated features")
        assert loss.default > 0.9
        assert abs(loss.grouped) < 0.7
        assert loss.ci[0] > 0
        (finding,) = split_findings(benchmark)
        assert "leave these stimuli out" in finding.remedy

    def test_too_few_training_stimuli_without_a_like(self, tmp_path):
        members = np.repeat(np.arange(20), 2)
        names, paths = save(tmp_path, pictures(20)[members])
        parts = [
            assembly(responses(members)[side::2], names[side::2], paths=paths, identifier=f"part{side}")
            for side in (0, 1)
        ]
        benchmark = TrainTestNeuralBenchmark(
            "Author2024.IT-x", lambda: Score(1.0), 1, *parts, load_metric("ridge_split"), 8, 1, parent="IT"
        )
        found = audit(benchmark)
        assert [one.kind for one in found.overlaps] == ["equal files", "near-duplicates"][: len(found.overlaps)]
        assert {loss.loss for loss in found.losses} == {None}
        assert "only 0 training stimuli" in found.losses[0].reason

    def test_a_mean_over_subjects(self, leaking):
        benchmark = MultiSubjectNeuralBenchmark("Author2024.IT-mean", ["a", "b"], lambda _: make(leaking.recordings))
        found = audit(benchmark)
        assert found.benchmark == "Author2024.IT-mean"
        assert found.losses
        assert "only 'Author2024.IT-x' was examined" in found.notes


class TestCopies:
    def repeated(self, *, values=None, copied=(), seed=0):
        names = [f"s{number:02}" for number in range(30)]
        rng = np.random.default_rng(seed)
        shape = (3, 30, NEUROIDS)
        values = rng.standard_normal(30)[:, None] + rng.standard_normal(shape) if values is None else values(rng, shape)
        for stimulus in copied:
            values[2, stimulus] = values[0, stimulus]
        repetition = np.repeat([0, 1, 2], 30)
        recordings = assembly(values.reshape(90, -1), names * 3, repetition=repetition)
        averaged = average_repetition(recordings)
        averaged.attrs = recordings.attrs
        return make(averaged, repetitions=recordings)

    def test_copied_repetitions(self):
        (copies,) = audit(self.repeated(copied=(3, 4, 9))).copies
        assert (copies.kind, copies.presentations, copies.of) == ("repetitions", 3, 90)
        assert copies.examples == ("s03", "s04", "s09")
        assert copies.expected < 1e-6
        assert audit(self.repeated()).copies == ()

    def test_few_different_values_may_be_equal_by_chance(self):
        benchmark = self.repeated(values=lambda rng, shape: rng.integers(0, 2, (*shape[:2], 4)).astype(float))
        found = audit(benchmark)
        assert found.copies == ()
        assert any("may be chance" in note for note in found.notes)

    @pytest.mark.parametrize("neuroids", [4, 8, 20])
    def test_sparse_counts(self, neuroids):
        """Some stimuli drive hardly any neuroid: repetitions are sometimes equal, and no two are copies."""
        for seed in range(20):
            benchmark = self.repeated(
                values=lambda rng, shape: rng.poisson(rng.gamma(0.3, 1, (1, 30, 1)), (3, 30, neuroids)).astype(float),
                seed=seed,
            )
            assert audit(benchmark).copies == ()

    def test_copies_among_counts(self):
        benchmark = self.repeated(values=lambda rng, shape: rng.poisson(4, shape).astype(float), copied=(3, 4))
        (copies,) = audit(benchmark).copies
        assert copies.examples == ("s03", "s04")

    def test_equal_responses_to_different_stimuli(self):
        values = responses(np.arange(40))
        values[7] = values[5]
        (copies,) = audit(make(assembly(values, [f"s{number}" for number in range(40)]))).copies
        assert (copies.kind, copies.presentations, copies.examples) == ("stimuli", 1, ("s7",))

    def test_unknown_repetitions_are_noted(self, leaking):
        assert any("repetitions were not examined" in note for note in audit(make(leaking.recordings)).notes)


class TestOrder:
    def test_values(self):
        rng = np.random.default_rng(0)
        values, order = rng.standard_normal((50, 6)), rng.permutation(50)
        (lag, _), (trend, _) = serial_tests(values, order, permutations=1)
        sorted_ = values[np.argsort(order)]
        z = (sorted_ - sorted_.mean(0)) / sorted_.std(0)
        assert lag == pytest.approx((z[1:] * z[:-1]).mean())
        r = [np.corrcoef(np.arange(50), column)[0, 1] for column in sorted_.T]
        assert trend == pytest.approx(np.sqrt(np.mean(np.square(r))))

    def test_p_values_by_all_permutations(self):
        """Six presentations of two categories: 3! × 3! permutations."""
        rng = np.random.default_rng(1)
        values, strata = rng.standard_normal((6, 2)) + np.arange(6)[:, None], np.array([0, 1, 0, 1, 1, 0])
        residual = values.copy()
        for stratum in (0, 1):
            residual[strata == stratum] -= values[strata == stratum].mean(0)
        residual /= residual.std(0)
        time = np.arange(6) - 2.5
        reached = np.zeros(2)
        for first, second in itertools.product(itertools.permutations([0, 2, 5]), itertools.permutations([1, 3, 4])):
            rows = np.empty(6, dtype=int)
            rows[[0, 2, 5]], rows[[1, 3, 4]] = first, second
            statistics = [
                [(shown[1:] * shown[:-1]).mean(), np.linalg.norm(time @ shown)] for shown in (residual[rows], residual)
            ]
            reached += np.array(statistics[0]) >= np.array(statistics[1]) - 1e-9
        tests = serial_tests(values, np.arange(6), strata=strata, permutations=4000)
        np.testing.assert_allclose([p for _, p in tests], reached / 36, atol=0.03)

    @pytest.mark.parametrize("sorted_", [False, True])
    def test_categories_are_not_mistaken(self, sorted_):
        """Categories differ by ten standard deviations; 100 experiments, of which 5 are expected to err."""
        alarms = np.zeros(2)
        for seed in range(100):
            rng = np.random.default_rng(seed)
            category = np.repeat(np.arange(6), 8) if sorted_ else rng.integers(0, 6, 48)
            values = 10 * rng.standard_normal((6, 3))[category] + rng.standard_normal((48, 3))
            tests = serial_tests(values, np.arange(48), strata=category, permutations=99, seed=seed)
            alarms += [p <= 0.05 for _, p in tests]
        assert (alarms <= 12).all()  # 99.9 % of a binomial distribution

    def test_sessions_have_an_order_of_their_own(self):
        """Each session repeats its value; the last of one and the first of the next are not successive."""
        values = np.tile([[1.0], [1.0], [-1.0], [-1.0]], (10, 1)) + np.random.default_rng(0).normal(0, 0.1, (40, 1))
        together = serial_tests(values, np.arange(40))[0]
        apart = serial_tests(values, np.arange(40), sequence=np.arange(40) // 2)[0]
        assert abs(together[0]) < 0.1
        assert apart[0] > 0.9
        assert apart[1] == 0.001 < 0.1 < together[1]

    def test_nothing_to_permute(self):
        for values, strata in ((np.zeros((9, 2)), None), (np.eye(9), np.arange(9))):
            tests = serial_tests(values, np.arange(9), strata=strata)
            assert np.isnan([value for pair in tests for value in pair]).all()

    def frames(self, strength, n=200, seed=0):
        rng = np.random.default_rng(seed)
        latent = rng.standard_normal((n, 8))
        for row in range(1, n):
            latent[row] = strength * latent[row - 1] + math.sqrt(1 - strength**2) * latent[row]
        values = latent @ rng.standard_normal((8, NEUROIDS)) + 0.3 * rng.standard_normal((n, NEUROIDS))
        names = [f"s{number:03}" for number in range(n)]
        shuffled = rng.permutation(n)
        order = {"frame": np.arange(n)[shuffled]}
        return make(assembly(values[shuffled], np.array(names)[rng.permutation(n)], **order))

    def test_frames(self):
        found = audit(self.frames(0.7))
        kinds = {test.kind: test for test in found.tests}
        assert set(kinds) == {"autocorrelation", "drift"}
        assert kinds["autocorrelation"].found
        assert kinds["autocorrelation"].order == "frame"
        assert kinds["autocorrelation"].p_corrected == 2 * kinds["autocorrelation"].p
        (loss,) = found.losses
        assert (loss.rule, loss.model) == ("blocks of time", "unrelated features")
        assert loss.default > 0.4
        assert loss.ci[0] > 0
        assert loss.grouped_ci[0] < 0 < loss.grouped_ci[1]
        independent = audit(self.frames(0.0))
        assert independent.clean
        assert independent.losses == ()

    def test_drift_over_repetitions(self):
        """Responses of later presentations are stronger, whatever the stimulus."""
        rng = np.random.default_rng(0)
        names = [f"s{number:02}" for number in range(30)]
        order = np.concatenate([rng.permutation(30) + 30 * block for block in range(4)])
        values = 2 * np.tile(rng.standard_normal((30, NEUROIDS)), (4, 1)) + rng.standard_normal((120, NEUROIDS))
        values += order[:, None] / 60
        repeated = assembly(values, names * 4, repetition=np.repeat(np.arange(4), 30), trial_number=order)
        averaged = average_repetition(repeated.drop_vars("trial_number"))
        averaged.attrs = repeated.attrs
        found = audit(make(averaged, repetitions=repeated))
        drift = next(test for test in found.tests if test.kind == "drift")
        assert (drift.recordings, drift.within, drift.order, drift.found) == (
            "repetitions", "stimulus_id", "trial_number", True,
        )  # fmt: skip
        assert found.losses == ()  # averages have no order


class TestResult:
    def test_json(self, leaking, tmp_path):
        content = audit(make(leaking.recordings)).to_dict()
        assert json.loads(json.dumps(content, allow_nan=False)) == content
        assert str(tmp_path) not in json.dumps(content)
        assert len(content["pairs"]) == 50
        assert content["pairs"][0]["first_path"].endswith(".png")
        assert content["independent"] == 20
        assert content["clean"] is False

    @pytest.mark.slow(reason="audits twice")
    def test_the_same_seed_gives_the_same_result(self, leaking):
        results = [audit(make(leaking.recordings), seed=seed).to_dict() for seed in (0, 0, 1)]
        assert results[0] == results[1]
        assert results[0]["losses"][0] != results[2]["losses"][0]

    def test_picture(self, leaking):
        found = audit(make(leaking.recordings, "rdm"))
        assert found.picture(pairs=3, size=32).size == (96, 64)
        clean = audit(make(assembly(responses(np.arange(40)), [f"s{number}" for number in range(40)]), "rdm"))
        with pytest.raises(UserError, match="no equal or nearly equal pictures"):
            clean.picture()

    def test_stimuli_alone(self, tmp_path):
        class Behaviour(BenchmarkBase):
            stimuli = None

            def measurements(self):
                return (
                    None
                    if self.stimuli is None
                    else VisualMeasurements(
                        benchmark=self.identifier, measured=self.stimuli, compares="choices", visual_degrees=8
                    )
                )

            def __call__(self, candidate):
                raise NotImplementedError

        benchmark = Behaviour("Author2024-accuracy", lambda: Score(1.0), 1)
        with pytest.raises(UserError, match="'Author2024-accuracy' does not say what it measures"):
            audit(benchmark)
        shown = pictures(6)
        shown[5] = shown[0]
        names, paths = save(tmp_path, shown)
        benchmark.stimuli = StimulusSet({"stimulus_id": names})
        benchmark.stimuli.stimulus_paths = paths
        found = audit(benchmark)
        assert overlap(found, "equal files").stimuli == 2
        assert overlap(found, "equal files").share is None
        assert split_findings(benchmark) == []


class TestChecks:
    def checks(self, benchmark):
        from brainscore_core.domains import domain
        from brainscore_core.submission.checks import Reference

        reference = Reference(domain("vision"), "benchmark", benchmark.identifier, lambda: benchmark, None)
        (checked,) = check_references([reference], model=None)
        return {check.name: check for check in checked.checks if "similar stimuli" in check.name}

    def test_new_benchmarks_need_grouped_splits(self, leaking):
        ((name, check),) = self.checks(make(leaking.recordings)).items()
        assert name == "its splits keep similar stimuli together: splits divide near-duplicates"
        assert check.result == "failed"
        assert "group_coord='group'" in check.remedy

    def test_a_coordinate_is_named(self, tmp_path):
        members = np.tile(np.arange(20), 3)
        names, paths = save(tmp_path, pictures(60))
        benchmark = make(assembly(responses(members), names, paths=paths, scene=members))
        ((name, check),) = self.checks(benchmark).items()
        assert name.endswith("splits divide values of 'scene'")
        assert "group_coord='scene'" in check.remedy

    def test_or_a_reason(self, leaking):
        benchmark = make(leaking.recordings)
        benchmark.ungrouped_splits = "the question is how well views of known objects are predicted"
        (check,) = self.checks(benchmark).values()
        assert check.result == "not applicable"
        assert "views of known objects" in check.explanation

    def test_clean_stimuli_pass(self, tmp_path):
        names, paths = save(tmp_path, pictures(40))
        (check,) = self.checks(make(assembly(responses(np.arange(40)), names, paths=paths))).values()
        assert check.result == "passed"

    @pytest.mark.slow(reason="loads a published benchmark")
    def test_published_splits_are_kept(self):
        (checked, *_) = check_references(find_references("benchmark", "Simulated2026.V1-pls"), model=None)
        divided = [check for check in checked.checks if "splits divide" in check.name]
        assert {check.result for check in divided} == {"warning"}
