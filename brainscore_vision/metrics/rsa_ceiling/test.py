import numpy as np
import pytest
import scipy.io
from scipy.spatial.distance import pdist
from scipy.stats import rankdata, spearmanr

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.numerics import jackknife_interval, noise_ceiling
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling
from brainscore_vision.metrics.rsa_ceiling.ceiling import ceiling_of_rdms


def _subjects(m=5, n=20, q=12, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, q))
    return [shared + noise * rng.standard_normal((n, q)) for _ in range(m)]


def _side_by_side(recordings):
    m, (n, q) = len(recordings), recordings[0].shape
    return NeuroidAssembly(
        np.hstack(recordings),
        coords={
            "stimulus_id": ("presentation", [f"s{i:02}" for i in range(n)]),
            "object_name": ("presentation", [f"o{i % 2}" for i in range(n)]),
            "neuroid_id": ("neuroid", np.arange(m * q)),
            "subject": ("neuroid", np.repeat([f"subject-{i}" for i in range(m)], q)),
        },
        dims=["presentation", "neuroid"],
    )


def _on_top_of_each_other(recordings, seed=0):
    rng = np.random.default_rng(seed)
    m, (n, q) = len(recordings), recordings[0].shape
    orders = [rng.permutation(n) for _ in range(m)]
    return NeuroidAssembly(
        np.vstack([values[order] for values, order in zip(recordings, orders, strict=True)]),
        coords={
            "stimulus_id": ("presentation", [f"s{i:02}" for order in orders for i in order]),
            "subject": ("presentation", np.repeat(np.arange(m), n)),
            "neuroid_id": ("neuroid", np.arange(q)),
            "region": ("neuroid", ["IT"] * q),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.mark.parametrize("arrange", [_side_by_side, _on_top_of_each_other])
def test_equals_the_definition(arrange):
    recordings = _subjects()
    rdms = [pdist(values, "correlation") for values in recordings]
    ranks = rankdata(rdms, axis=1)
    ceiling = load_ceiling("rsa_ceiling")(arrange(recordings))
    upper = [spearmanr(one, ranks.mean(axis=0))[0] for one in rdms]
    lower = [spearmanr(one, np.delete(ranks, i, axis=0).mean(axis=0))[0] for i, one in enumerate(rdms)]
    np.testing.assert_allclose(ceiling.attrs["raw"].values, upper, atol=1e-12)
    assert float(ceiling) == pytest.approx(np.mean(upper), abs=1e-12)
    assert ceiling.attrs["lower_bound_loo"] == pytest.approx(np.mean(lower), abs=1e-12)
    assert ceiling.attrs["lower_bound_loo"] < float(ceiling)
    assert ceiling.attrs["meaning"] == "upper bound"
    low, high = ceiling.attrs["ci"]
    assert low < float(ceiling) < high <= 1


def test_two_subjects_have_bounds_but_no_interval():
    ceiling = load_ceiling("rsa_ceiling")(_side_by_side(_subjects(m=2)))
    assert np.isfinite(float(ceiling))
    assert "2 subjects: at least 3" in ceiling.attrs["ci_reason"]


def test_flat_stimulus_gives_nan_with_a_reason():
    recordings = _subjects()
    recordings[2][4] = 1.0
    ceiling = load_ceiling("rsa_ceiling")(_side_by_side(recordings))
    assert np.isnan(float(ceiling))
    assert "without a pattern" in ceiling.attrs["error_reason"]


def test_what_has_no_noise_ceiling_is_refused():
    ceiling = load_ceiling("rsa_ceiling")
    whole = _side_by_side(_subjects())
    with pytest.raises(MetricInputError, match="no coordinate 'subject'"):
        ceiling(whole.drop_vars(["subject"]))
    with pytest.raises(MetricInputError, match="1 subject"):
        ceiling(whole.sel(subject="subject-0"))
    with pytest.raises(MetricInputError, match="fewer than 3 stimuli"):
        ceiling(whole.isel(presentation=[0, 1]))
    stacked = _on_top_of_each_other(_subjects())
    with pytest.raises(MetricInputError, match=r"subject 4 and subject 0 hold different values of 'stimulus_id'"):
        ceiling(stacked.isel(presentation=slice(0, -1)))
    whole.values[3, 13] = np.nan
    with pytest.raises(MetricInputError, match="recordings of subject 'subject-1' holds NaN"):
        ceiling(whole)


FOLDER = "raw.githubusercontent.com/rsagroup/rsatoolbox/f1f83cadb7243492a1aae7460466e0f0140b20ac/demos/92imageData"


def test_published_ceilings(mirror):
    """Four subjects' human IT, two sessions averaged, and sixteen judges (Kriegeskorte 2008, Mur 2013)."""
    upper = np.triu_indices(92, k=1)

    def load(name, key):
        matrices = scipy.io.loadmat(mirror / FOLDER / name)[key]["RDM"]
        return np.array([m[upper] if m.shape == (92, 92) else m.ravel() for m in matrices.ravel()]).reshape(
            *matrices.shape, -1
        )

    brain = ceiling_of_rdms(load("92_brainRDMs.mat", "RDMs")[0].mean(axis=1))
    assert (brain.attrs["lower_bound_loo"], float(brain)) == pytest.approx((0.372, 0.666), abs=5e-4)
    judges = ceiling_of_rdms(load("92_behavRDMs.mat", "rdms_behav_92")[0])
    assert (judges.attrs["lower_bound_loo"], float(judges)) == pytest.approx((0.477, 0.577), abs=5e-4)


@pytest.mark.parametrize("rank", [True, False])
def test_interval_is_the_jackknifes(rank):
    rng = np.random.default_rng(0)
    rdms = rng.standard_normal(45) + rng.standard_normal((6, 45)).round(1)  # with ties
    left_out = [noise_ceiling(np.delete(rdms, i, axis=0), rank=rank).upper for i in range(6)]
    expected = jackknife_interval(noise_ceiling(rdms, rank=rank).upper, left_out)
    score = ceiling_of_rdms(rdms, rank=rank)
    assert score.attrs["ci"] == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert score.attrs["error"] == pytest.approx(expected.error, abs=1e-12)
    influence = score.attrs["influence"]
    assert influence["subject"].values.tolist() == list(range(6))
    assert influence.values.std(ddof=1) / np.sqrt(6) == pytest.approx(expected.error, abs=1e-12)
