import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.numerics.noise import noise_ceiling_fraction, signal_to_noise
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling


def _assembly(values, stimuli, **coords):
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in stimuli]),
            "object_name": ("presentation", [f"o{i % 3}" for i in stimuli]),
            "neuroid_id": ("neuroid", np.arange(values.shape[1])),
            "region": ("neuroid", ["V1"] * values.shape[1]),
        }
        | {name: ("presentation", column) for name, column in coords.items()},
        dims=["presentation", "neuroid"],
    )


def _repeated(n=50, r=3, q=12, *, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    stimuli = rng.permutation(np.tile(np.arange(n), r))
    values = rng.standard_normal((n, q))[stimuli] + noise * rng.standard_normal((n * r, q))
    return _assembly(values, stimuli)


def _subjects(m=5, n=40, q=8, *, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, q))
    orders = [rng.permutation(n) for _ in range(m)]
    values = np.vstack([shared[order] + noise * rng.standard_normal((n, q)) for order in orders])
    return _assembly(values, np.concatenate(orders), subject=np.repeat([f"monkey-{i}" for i in range(m)], n))


@pytest.mark.parametrize("missing", [False, True])
def test_ncsnr_equals_the_definition(missing):
    assembly = _repeated()
    stimuli = assembly["stimulus_id"].values
    if missing:
        assembly.values[np.random.default_rng(1).random(assembly.shape) < 0.1] = np.nan
    ceiling = load_ceiling("ncsnr")(assembly)
    expected = []
    for column in assembly.values.T:
        own = [column[(stimuli == s) & ~np.isnan(column)] for s in np.unique(stimuli)]
        noise = np.mean([x.var(ddof=1) for x in own if len(x) > 1])
        signal = max(np.nanvar(column, ddof=1) - noise, 0)
        inverse = np.mean([1 / len(x) for x in own if len(x)])
        expected.append((np.sqrt(signal / noise), signal / (signal + noise * inverse)))
    ncsnr, share = np.array(expected).T
    np.testing.assert_allclose(ceiling.attrs["ncsnr"].values, ncsnr, atol=1e-12)
    np.testing.assert_allclose(ceiling.attrs["raw"].values, share, atol=1e-12)
    assert float(ceiling) == pytest.approx(np.median(share), abs=1e-12)
    assert ceiling.attrs["meaning"] == "reliability"
    assert ceiling.attrs["raw"]["neuroid_id"].values.tolist() == list(range(12))


@pytest.mark.parametrize(("r", "noise"), [(2, 0.5), (3, 2.0)])
def test_ncsnr_of_known_truth(r, noise):
    ceiling = load_ceiling("ncsnr")(_repeated(n=2000, r=r, q=40, noise=noise))
    assert float(ceiling.attrs["ncsnr"].median()) == pytest.approx(1 / noise, abs=0.02)
    assert float(ceiling) == pytest.approx(1 / (1 + noise**2 / r), abs=0.01)
    low, high = ceiling.attrs["ci"]
    assert low < float(ceiling) < high
    assert ceiling.attrs["error"] > 0


def test_ncsnr_agrees_with_split_halves():
    assembly = _repeated(n=1000, r=4, q=40)
    order = np.argsort(assembly["stimulus_id"].values, kind="stable")
    assembly = assembly.isel(presentation=order)
    assembly = assembly.assign_coords(repetition=("presentation", np.tile(np.arange(4), 1000)))
    assert float(load_ceiling("ncsnr")(assembly)) == pytest.approx(
        float(load_ceiling("internal_consistency")(assembly)), abs=0.01
    )


def test_published_percentages():
    """The Natural Scenes Dataset's formula with three, two and one presentations."""
    np.testing.assert_allclose(100 * noise_ceiling_fraction([1.0, 0.5], 1 / 3), [75.0, 100 * 0.25 / (0.25 + 1 / 3)])
    ceiling = load_ceiling("ncsnr", repetitions=1)(_repeated(n=2000, r=3, q=20))
    assert float(ceiling) == pytest.approx(0.5, abs=0.02)


def test_ncsnr_offset_costs_nothing():
    assembly = _repeated()
    plain = signal_to_noise(assembly.values, assembly["stimulus_id"].values)
    moved = signal_to_noise(assembly.values + 1e6, assembly["stimulus_id"].values)
    np.testing.assert_allclose(moved.ncsnr, plain.ncsnr, rtol=1e-7)


def test_ncsnr_at_the_edges():
    assembly = _repeated()
    stimuli = np.unique(assembly["stimulus_id"].values, return_inverse=True)[1]
    assembly.values[:, 3] = 2.0  # does not vary
    assembly.values[:, 4] = stimuli  # no noise
    assembly.values[:, 5] = np.nan
    assembly.values[:, 6] = np.argsort(np.argsort(stimuli, kind="stable")) % 3  # the same for all stimuli
    ceiling = load_ceiling("ncsnr")(assembly)
    raw = ceiling.attrs["raw"].values
    assert np.flatnonzero(np.isnan(raw)).tolist() == [3, 5]
    assert (raw[4], raw[6]) == (1.0, 0.0)
    assert ceiling.attrs["rectified"] == 1
    assert ceiling.attrs["undefined"] == 2
    assert np.isfinite(float(ceiling))


def test_ncsnr_needs_repetitions():
    assembly = _repeated(r=1)
    with pytest.raises(MetricInputError, match=r"presented twice(.|\n)*average_repetitions=False"):
        load_ceiling("ncsnr")(assembly)
    with pytest.raises(MetricInputError, match="no neuroids"):
        load_ceiling("ncsnr")(_repeated().isel(neuroid=[]))
    with pytest.raises(MetricInputError, match="repetitions is 0"):
        load_ceiling("ncsnr", repetitions=0)


def test_inter_subject_equals_the_definition():
    assembly = _subjects()
    ceiling = load_ceiling("inter_subject")(assembly)
    sorted_rows = {}
    for subject in np.unique(assembly["subject"].values):
        rows = np.flatnonzero(assembly["subject"].values == subject)
        sorted_rows[subject] = assembly.values[rows[np.argsort(assembly["stimulus_id"].values[rows])]]
    raw = np.array(
        [
            [
                np.corrcoef(own[:, i], np.mean([v[:, i] for s, v in sorted_rows.items() if s != subject], axis=0))[0, 1]
                for i in range(8)
            ]
            for subject, own in sorted_rows.items()
        ]
    )
    np.testing.assert_allclose(ceiling.attrs["raw"].values, raw, atol=1e-12)
    assert float(ceiling) == pytest.approx(np.median(raw, axis=1).mean(), abs=1e-12)
    assert ceiling.attrs["meaning"] == "human-human"
    assert ceiling.attrs["raw"]["subject"].values.tolist() == [f"monkey-{i}" for i in range(5)]
    low, high = ceiling.attrs["ci"]
    assert low < float(ceiling) < high


def test_inter_subject_of_known_truth():
    ceiling = load_ceiling("inter_subject")(_subjects(m=6, n=800, q=40, noise=2.0))
    assert float(ceiling) == pytest.approx(1 / np.sqrt((1 + 4) * (1 + 4 / 5)), abs=0.01)


def test_two_subjects_have_no_interval():
    ceiling = load_ceiling("inter_subject")(_subjects(m=2))
    assert np.isfinite(float(ceiling))
    assert "2 subjects: at least 3" in ceiling.attrs["ci_reason"]


def test_silent_neuroids_are_left_out_and_silent_subjects_undefined():
    assembly = _subjects()
    assembly.values[:, 2] = 0.0
    ceiling = load_ceiling("inter_subject")(assembly)
    assert ceiling.attrs["undefined"] == 5
    assert np.isfinite(float(ceiling))
    assembly.values[:] = 0.0
    ceiling = load_ceiling("inter_subject")(assembly)
    assert np.isnan(float(ceiling))
    assert "do not vary" in ceiling.attrs["error_reason"]


def test_what_has_no_other_subjects_is_refused():
    ceiling = load_ceiling("inter_subject")
    whole = _subjects()
    with pytest.raises(MetricInputError, match="1 subject"):
        ceiling(whole.isel(presentation=slice(0, 40)))
    with pytest.raises(MetricInputError, match=r"'monkey-4' and responses of subject 'monkey-0' hold different"):
        ceiling(whole.isel(presentation=slice(0, -1)))
    with pytest.raises(MetricInputError, match=r"coordinate of the neuroids(.|\n)*rsa_ceiling"):
        ceiling(whole.drop_vars(["subject"]).assign_coords(subject=("neuroid", np.arange(8))))
    whole.values[41, 1] = np.nan
    with pytest.raises(MetricInputError, match="subject 'monkey-1' holds NaN"):
        ceiling(whole)


def test_jackknife_of_subjects_forms_the_others_mean_anew():
    from brainscore_core.numerics import jackknife_interval

    rng = np.random.default_rng(0)
    responses = rng.standard_normal((30, 7)) + rng.standard_normal((6, 30, 7)) * rng.uniform(0.5, 2, (6, 1, 1)) + 100
    responses[2, :, 3] = 5  # does not vary in one subject

    def group(chosen):
        return NeuroidAssembly(
            responses[chosen].reshape(-1, 7),
            coords={
                "stimulus_id": ("presentation", np.tile(np.arange(30), len(chosen))),
                "subject": ("presentation", np.repeat(chosen, 30)),
                "neuroid_id": ("neuroid", np.arange(7)),
            },
            dims=["presentation", "neuroid"],
        )

    ceiling = load_ceiling("inter_subject")
    left_out = [float(ceiling(group([j for j in range(6) if j != i]))) for i in range(6)]
    score = ceiling(group(list(range(6))))
    expected = jackknife_interval(float(score), left_out)
    assert score.attrs["error"] == pytest.approx(expected.error, abs=1e-12)
    assert score.attrs["ci"] == pytest.approx((expected.low, min(expected.high, 1)), abs=1e-12)
