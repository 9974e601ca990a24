import numpy as np
import pytest
from PIL import Image
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from scipy.stats import t as student

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_vision import load_benchmark, load_dataset
from brainscore_vision.benchmark_helpers import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.benchmarks.kriegeskorte2008.benchmark import subject_rdms
from brainscore_vision.model_interface import BrainModel

HUMAN, MONKEY = "Kriegeskorte2008.IT-human-rdm", "Kriegeskorte2008.IT-monkey-rdm"
SUBJECTS = ["BE", "KO", "SN", "TI"]


class Blurred(BrainModel):
    """Its IT is a coarse copy of the image; keeps what it was shown."""

    identifier = "blurred"

    def __init__(self, degrees, *, order=None):
        self.degrees, self.order, self.recorded = degrees, order, None

    def visual_degrees(self):
        return self.degrees

    def start_task(self, task, fitting_stimuli=None):
        raise NotApplicable("it cannot behave")

    def start_recording(self, recording_target, time_bins, **kwargs):
        self.recorded = (str(recording_target), list(time_bins))

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.stimuli = stimuli
        ids = list(stimuli["stimulus_id"])
        ids = ids if self.order is None else [ids[row] for row in self.order]
        features = []
        for name in ids:
            with Image.open(stimuli.get_stimulus(name)) as image:
                self.size = image.size
                features.append(np.asarray(image.convert("RGB").resize((12, 12)), dtype=float).ravel())
        self.features = np.array(features)
        return NeuroidAssembly(
            self.features[:, :, np.newaxis],
            coords={
                "stimulus_id": ("presentation", ids),
                "repetition": ("presentation", [0] * len(ids)),
                "neuroid_id": ("neuroid", np.arange(self.features.shape[1])),
                "region": ("neuroid", ["IT"] * self.features.shape[1]),
                "time_bin_start": ("time_bin", [70]),
                "time_bin_end": ("time_bin", [170]),
            },
            dims=["presentation", "neuroid", "time_bin"],
        )


def _replay(features, ids):
    assembly = NeuroidAssembly(
        features,
        coords={
            "stimulus_id": ("presentation", ids),
            "repetition": ("presentation", [0] * len(ids)),
            "neuroid_id": ("neuroid", np.arange(features.shape[1])),
            "region": ("neuroid", ["IT"] * features.shape[1]),
        },
        dims=["presentation", "neuroid"],
    )
    return PrecomputedFeatures(assembly, visual_degrees=2.9)


def test_sessions_are_averaged():
    sessions = DataAssembly(
        [[1.0, 2.0], [5.0, 5.0], [3.0, 4.0]],
        coords={"subject": ("rdm", ["b", "a", "b"]), "session": ("rdm", [1, 1, 2]), "pair_id": ("pair", [0, 1])},
        dims=["rdm", "pair"],
    )
    subjects, rdms = subject_rdms(sessions)
    assert subjects == ["a", "b"]
    np.testing.assert_array_equal(rdms, [[5.0, 5.0], [2.0, 3.0]])


def test_human_ceiling(mirror):
    ceiling = load_benchmark(HUMAN).ceiling
    assert float(ceiling) == pytest.approx(0.666, abs=5e-4)
    assert ceiling.attrs["lower_bound_loo"] == pytest.approx(0.372, abs=5e-4)
    assert ceiling.attrs["meaning"] == "upper bound"
    assert list(ceiling.attrs["raw"]["subject"].values) == SUBJECTS
    assert ceiling.attrs["error"] > 0
    low, high = ceiling.attrs["ci"]
    assert low < float(ceiling) < high


def test_monkey_has_no_ceiling(mirror):
    ceiling = load_benchmark(MONKEY).ceiling
    assert np.isnan(float(ceiling))
    assert ceiling.attrs["meaning"] == "none"
    assert "one dissimilarity matrix" in ceiling.attrs["error_reason"]


def test_human_score_is_that_of_scipy(mirror):
    model = Blurred(2.9)
    score = load_benchmark(HUMAN)(model)
    raw = score.attrs["raw"]
    dissimilarities = pdist(model.features, "correlation")
    human = load_dataset("Kriegeskorte2008.IT-human")
    values = np.array(
        [
            spearmanr(dissimilarities, human.values[human["subject"].values == subject].mean(axis=0))[0]
            for subject in SUBJECTS
        ]
    )
    np.testing.assert_allclose(raw.attrs["raw"].values, values, atol=1e-10)
    assert float(raw) == pytest.approx(values.mean())
    error = values.std(ddof=1) / 2
    assert raw.attrs["error"] == pytest.approx(error)
    half = student.ppf(0.975, 3) * error
    assert raw.attrs["ci"] == pytest.approx((values.mean() - half, values.mean() + half))
    assert "new subjects for these 92 objects; 4 subjects;" in raw.attrs["ci_estimates"]
    assert float(score) == pytest.approx(values.mean() / 0.6657209, abs=1e-6)
    assert score.attrs["error"] > 0


def test_monkey_score_is_that_of_scipy_and_unceiled(mirror):
    model = Blurred(7)
    score = load_benchmark(MONKEY)(model)
    expected = spearmanr(pdist(model.features, "correlation"), load_dataset("Kriegeskorte2008.IT-monkey").values[0])[0]
    assert float(score) == pytest.approx(expected)
    assert score.attrs["scale"] == "unceiled"
    low, high = score.attrs["ci"]
    assert low < expected < high
    # a bootstrap over objects, without pairs of one and the same, is as wide
    pixels = np.corrcoef(model.features)
    monkey = np.zeros((92, 92))
    monkey[np.triu_indices(92, 1)] = load_dataset("Kriegeskorte2008.IT-monkey").values[0]
    monkey += monkey.T
    generator, values = np.random.default_rng(0), []
    for _ in range(300):
        drawn = generator.integers(0, 92, 92)
        first, second = np.triu_indices(92, 1)
        first, second = drawn[first], drawn[second]
        other = first != second
        values.append(spearmanr(1 - pixels[first, second][other], monkey[first, second][other])[0])
    assert score.attrs["error"] == pytest.approx(np.std(values), rel=0.35)


@pytest.mark.parametrize(("benchmark", "degrees"), [(HUMAN, 2.9), (MONKEY, 7.0)])
def test_images_are_placed_at_the_angle_of_the_experiment(mirror, benchmark, degrees):
    model = Blurred(8)
    load_benchmark(benchmark)(model)
    assert model.recorded[0] == "IT"
    assert model.size == (round(175 * 8 / degrees),) * 2


def test_order_of_recordings_does_not_matter(mirror):
    shuffled = Blurred(2.9, order=np.random.default_rng(0).permutation(92))
    assert float(load_benchmark(HUMAN)(shuffled)) == pytest.approx(float(load_benchmark(HUMAN)(Blurred(2.9))))


def test_categories_alone_score_well(mirror):
    # animate against inanimate and faces against the rest is what IT mostly tells apart
    human = load_dataset("Kriegeskorte2008.IT-human")
    animate = human.stimulus_set["animate"].to_numpy(dtype=float)
    face = human.stimulus_set["face"].to_numpy(dtype=float)
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((3, 200))
    features = np.stack([animate, face, np.ones(92)], axis=1) @ basis + 0.2 * rng.standard_normal((92, 200))
    score = load_benchmark(HUMAN)(_replay(features, list(human.stimulus_set["stimulus_id"])))
    assert 0.4 < float(score) <= 1


def test_unrelated_features_score_about_0(mirror):
    human = load_dataset("Kriegeskorte2008.IT-human")
    features = np.random.default_rng(0).standard_normal((92, 500))
    raw = load_benchmark(HUMAN)(_replay(features, list(human.stimulus_set["stimulus_id"]))).attrs["raw"]
    assert abs(float(raw)) < 0.06


@pytest.mark.parametrize("benchmark", [HUMAN, MONKEY])
def test_a_model_that_responds_alike_to_everything_has_no_score(mirror, benchmark):
    ids = list(load_dataset("Kriegeskorte2008.IT-human").stimulus_set["stimulus_id"])
    model = _replay(np.ones((92, 5)), ids)
    model._visual_degrees = {HUMAN: 2.9, MONKEY: 7}[benchmark]
    score = load_benchmark(benchmark)(model)
    assert np.isnan(float(score))
    assert np.isnan(score.attrs["raw"].attrs["error"])
    assert "NaN" in score.attrs["raw"].attrs["error_reason"]


def test_a_model_without_it_is_not_applicable(mirror):
    with pytest.raises(NotApplicable):
        load_benchmark(HUMAN)(RecordedDecisions("observer", {"object_01": "hand"}, visual_degrees=8))


def test_recordings_of_other_stimuli_are_refused(mirror):
    class Forgetful(Blurred):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            return super().look_at(stimuli).isel(presentation=slice(0, 91))

    with pytest.raises(UserError, match="object_92"):
        load_benchmark(HUMAN)(Forgetful(2.9))
