import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import rankdata, spearmanr
from scipy.stats import t as student

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metrics import Score
from brainscore_vision import load_ceiling
from brainscore_vision.benchmark_helpers.neural_common import RSABenchmark
from brainscore_vision.utils import LazyLoad

IDS = [f"s{i:02d}" for i in range(15)]
SUBJECTS = ["p3", "p1", "p2", "p0"]


@pytest.fixture
def data(tmp_path, experiment):
    rng = np.random.default_rng(0)
    features = dict(zip(IDS, rng.standard_normal((15, 6)), strict=True))
    shown = list(rng.permutation(IDS))  # in another order than the stimulus set
    signal = np.stack([features[name] for name in shown])
    values = [signal @ rng.standard_normal((6, 10)) + 2 * rng.standard_normal((15, 10)) for _ in SUBJECTS]
    assembly = experiment.recordings(
        np.hstack(values),
        shown,
        stimuli=experiment.stimulus_set(tmp_path, IDS),
        subject=np.repeat(SUBJECTS, 10),
    )
    return features, assembly


def make(assembly, **kwargs):
    given = {
        "identifier": "Author2024.IT-rdm",
        "version": 1,
        "assembly": assembly,
        "region": "IT",
        "visual_degrees": 8,
        "number_of_trials": 3,
        "bibtex": "@article{author2024}",
    }
    return RSABenchmark(**(given | kwargs))


def rdms(features, assembly):
    shown = assembly["stimulus_id"].values
    of_model = pdist(np.stack([features[name] for name in shown]), "correlation")
    return of_model, {
        subject: pdist(assembly.values[:, assembly["subject"].values == subject], "correlation") for subject in SUBJECTS
    }


def test_equals_the_definition(data, experiment):
    features, assembly = data
    score = make(assembly)(experiment.Knowing(features))
    of_model, of_subjects = rdms(features, assembly)
    values = {subject: spearmanr(of_model, one)[0] for subject, one in of_subjects.items()}
    raw = score.attrs["raw"]
    assert raw.attrs["raw"]["subject"].values.tolist() == sorted(SUBJECTS)
    for subject, value in zip(sorted(SUBJECTS), raw.attrs["subject_scores"], strict=True):
        assert value == pytest.approx(values[subject], abs=1e-9)
    mean = np.mean(list(values.values()))
    assert float(raw) == pytest.approx(mean, abs=1e-9)
    ranks = rankdata(list(of_subjects.values()), axis=1)
    upper = np.mean([spearmanr(one, ranks.mean(axis=0))[0] for one in of_subjects.values()])
    assert float(score.attrs["ceiling"]) == pytest.approx(upper, abs=1e-9)
    assert float(score) == pytest.approx(mean / upper, abs=1e-9)  # not squared
    error = np.std(list(values.values()), ddof=1) / 2
    assert raw.attrs["error"] == pytest.approx(error)
    assert raw.attrs["ci"][0] == pytest.approx(mean - student.ppf(0.975, 3) * error)


def test_parent_and_what_is_heard(data, experiment):
    features, assembly = data
    model = experiment.Knowing(features)
    benchmark = make(LazyLoad(lambda: assembly))
    benchmark(model)
    assert model.heard == [("IT", [(70, 170)]), (15, 3)]
    assert benchmark.parent == "IT"
    assert make(assembly, parent="Author2024").parent == "Author2024"


def test_own_dissimilarity_similarity_and_ceiling(data, experiment):
    features, assembly = data

    def similarity(first, second):
        return Score(0.25 if first is not second else 1)

    benchmark = make(
        assembly,
        rdm=lambda recordings: recordings.mean("neuroid"),
        similarity=similarity,
        ceiler=lambda _: Score(0.5),
    )
    assert float(benchmark(experiment.Knowing(features))) == pytest.approx(0.5)


def test_two_subjects_have_no_interval(data, experiment):
    features, assembly = data
    assembly = assembly.sel(subject=["p0", "p1"])
    score = make(assembly)(experiment.Knowing(features))
    assert np.isfinite(float(score))
    assert "2" in score.attrs["raw"].attrs["ci_reason"]


def test_the_published_ceiling_can_be_had(data, experiment):
    features, assembly = data
    score = make(assembly, ceiler=load_ceiling("rsa_ceiling", rank=False))(experiment.Knowing(features))
    _, of_subjects = rdms(features, assembly)
    mean = np.mean(list(of_subjects.values()), axis=0)
    expected = np.mean([spearmanr(one, mean)[0] for one in of_subjects.values()])
    assert float(score.attrs["ceiling"]) == pytest.approx(expected, abs=1e-9)


def test_subjects_must_be_named(data, experiment):
    features, assembly = data
    with pytest.raises(MetricInputError, match="no coordinate 'subject'"):
        make(assembly.drop_vars("subject"))(experiment.Knowing(features))
