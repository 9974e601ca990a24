import warnings

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_vision import load_ceiling
from brainscore_vision.metrics.internal_consistency.ceiling import InternalConsistency


def _recordings(n=60, r=6, q=25, *, noise=1.0, seed=0, repetition="repetition", **extra):
    rng = np.random.default_rng(seed)
    stimuli, repetitions = np.tile(np.arange(n), r), np.repeat(np.arange(r), n)
    values = rng.standard_normal((n, q))[stimuli] + noise * rng.standard_normal((n * r, q))
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in stimuli]),
            "object_name": ("presentation", [f"o{i % 3}" for i in stimuli]),
            repetition: ("presentation", repetitions),
            "neuroid_id": ("neuroid", np.arange(q)),
            "region": ("neuroid", ["IT"] * q),
        }
        | {name: ("presentation", values) for name, values in extra.items()},
        dims=["presentation", "neuroid"],
    )


def _reference(assembly, r):
    """The published definition one stimulus and neuroid after the other."""
    stimuli, repetitions = assembly["stimulus_id"].values, assembly["repetition"].values
    raw = []
    for halves in ShuffleSplit(10, train_size=0.5, random_state=1).split(np.zeros(r)):
        means = [
            np.stack(
                [assembly.values[(stimuli == s) & np.isin(repetitions, half)].mean(axis=0) for s in np.unique(stimuli)]
            )
            for half in halves
        ]
        correlation = np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(means[0].T, means[1].T, strict=True)])
        raw.append(2 * correlation / (1 + correlation))
    return np.array(raw)


@pytest.mark.parametrize("r", [2, 5, 6])
def test_equals_the_published_definition(r):
    assembly = _recordings(r=r)
    raw = _reference(assembly, r)
    shuffled = assembly.isel(presentation=np.random.default_rng(0).permutation(60 * r))
    for recordings in (assembly, shuffled):
        ceiling = load_ceiling("internal_consistency")(recordings)
        np.testing.assert_allclose(ceiling.attrs["raw"].values, raw, atol=1e-12)
        centers = np.median(raw, axis=1)
        assert float(ceiling) == pytest.approx(centers.mean(), abs=1e-12)
        assert ceiling.attrs["split_error"] == pytest.approx(centers.std() / np.sqrt(10), abs=1e-12)
        assert ceiling.attrs["meaning"] == "reliability"
        assert ceiling.attrs["ci"][0] < float(ceiling) < ceiling.attrs["ci"][1]
        assert ceiling.attrs["raw"]["neuroid_id"].values.tolist() == list(range(25))


@pytest.mark.parametrize(("r", "noise"), [(2, 1.0), (10, 2.0)])
def test_interval_holds_the_true_reliability(r, noise):
    ceiling = load_ceiling("internal_consistency")(_recordings(n=800, r=r, q=60, noise=noise))
    truth = 1 / (1 + noise**2 / r)
    assert float(ceiling) == pytest.approx(truth, abs=0.02)


def test_repetition_as_a_dimension():
    flat = _recordings()
    cube = DataAssembly(
        flat.values.reshape(6, 60, 25),
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in range(60)]),
            "repetition": ("repetition", np.arange(6)),
            "neuroid_id": ("neuroid", np.arange(25)),
        },
        dims=["repetition", "presentation", "neuroid"],
    )
    assert float(InternalConsistency()(cube)) == pytest.approx(float(InternalConsistency()(flat)), abs=1e-12)


def test_unbalanced_repetitions():
    whole = _recordings(n=400, r=8, noise=1.0)
    keep = (whole["repetition"].values < 6) | (np.random.default_rng(0).random(3200) < 0.5)
    ceiling = InternalConsistency()(whole.isel(presentation=np.flatnonzero(keep)))
    assert 1 / (1 + 1 / 6) - 0.02 < float(ceiling) < 1 / (1 + 1 / 8) + 0.02


def test_other_split_coordinate():
    renamed = _recordings(repetition="repetition_id")
    assert float(InternalConsistency(split_coord="repetition_id")(renamed)) == float(
        InternalConsistency()(_recordings())
    )
    with pytest.raises(MetricInputError, match="no coordinate 'repetition'"):
        InternalConsistency()(renamed)


def test_averaged_recordings_say_what_to_do():
    averaged = _recordings().mean(dim="repetition")
    with pytest.raises(MetricInputError, match=r"no repetitions(.|\n)*before repetitions were averaged"):
        load_ceiling("internal_consistency")(averaged)
    one = _recordings(r=1)
    with pytest.raises(MetricInputError, match="takes 1 value"):
        load_ceiling("internal_consistency")(one)


def test_coordinates_that_change_with_the_repetition_are_named():
    assembly = _recordings(batch=np.arange(360))
    with pytest.raises(MetricInputError, match="'batch' change") as caught:
        InternalConsistency()(assembly)
    assert "drop_vars(['batch'])" in str(caught.value)
    assert float(InternalConsistency()(assembly.drop_vars(["batch"]))) == float(InternalConsistency()(_recordings()))


def test_one_time_bin_is_dropped_and_several_are_refused():
    flat = _recordings()
    coords = {name: (flat[name].dims, flat[name].values) for name in ("stimulus_id", "repetition", "neuroid_id")}
    for bins in (1, 2):
        timed = NeuroidAssembly(
            np.repeat(flat.values[:, :, None], bins, axis=2),
            coords=coords
            | {"time_bin_start": ("time_bin", np.arange(bins)), "time_bin_end": ("time_bin", np.arange(bins))},
            dims=["presentation", "neuroid", "time_bin"],
        )
        if bins == 1:
            assert float(InternalConsistency()(timed)) == float(InternalConsistency()(flat))
        else:
            with pytest.raises(MetricInputError, match="time_bin: 2"):
                InternalConsistency()(timed)


def test_nan_counts_as_not_measured_and_constant_neuroids_as_undefined():
    assembly = _recordings()
    assembly.values[3, 2] = np.nan
    assembly.values[:, 7] = 1.0
    assembly.values[:, 8] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ceiling = InternalConsistency()(assembly)
    raw = ceiling.attrs["raw"].values
    assert np.flatnonzero(np.isnan(raw).any(axis=0)).tolist() == [7, 8]
    assert ceiling.attrs["undefined"] == 20
    assert np.isfinite(float(ceiling))


def test_nothing_varies():
    assembly = _recordings()
    assembly.values[:] = 1.0
    ceiling = InternalConsistency()(assembly)
    assert np.isnan(float(ceiling))
    assert "undefined everywhere" in ceiling.attrs["error_reason"]


def _over_time(factors=(3.0, 1.0, 0.5), **options):
    flat = _recordings(**options)
    rng = np.random.default_rng(3)
    signal = flat.values[: len(np.unique(flat["stimulus_id"].values))]
    repeated = np.tile(signal, (len(flat) // len(signal), 1))
    values = repeated[:, :, None] + rng.standard_normal((*flat.shape, len(factors))) * factors
    coords = {name: (flat[name].dims, flat[name].values) for name in ("stimulus_id", "repetition", "neuroid_id")}
    starts = 10 * np.arange(len(factors))
    times = {"time_bin_start": ("time_bin", starts), "time_bin_end": ("time_bin", starts + 10)}
    return NeuroidAssembly(values, coords=coords | times, dims=["presentation", "neuroid", "time_bin"])


def test_each_time_bin_is_a_ceiling_of_its_own():
    assembly = _over_time()
    ceiling = load_ceiling("internal_consistency_temporal")(assembly)
    assert ceiling.attrs["raw"].dims == ("time_bin", "split", "neuroid")
    assert ceiling["time_bin_start"].values.tolist() == [0, 10, 20]
    for i in range(3):
        one = NeuroidAssembly(
            assembly.values[:, :, i],
            coords={n: (assembly[n].dims, assembly[n].values) for n in ("stimulus_id", "repetition", "neuroid_id")},
            dims=["presentation", "neuroid"],
        )
        np.testing.assert_allclose(ceiling.attrs["raw"].values[i], _reference(one, 6), atol=1e-12)
        alone = InternalConsistency()(one)
        assert float(ceiling[i]) == float(alone)
        assert float(ceiling.attrs["error"][i]) == alone.attrs["error"]
        assert tuple(float(limit[i]) for limit in ceiling.attrs["ci"]) == alone.attrs["ci"]
    assert "each time bin" in ceiling.attrs["ci_estimates"]
    assert ceiling.values[0] < ceiling.values[1] < ceiling.values[2]


def test_a_silent_time_bin_is_nan_and_the_others_stay():
    assembly = _over_time()
    assembly.values[:, :, 1] = 0.0
    ceiling = load_ceiling("internal_consistency_temporal")(assembly)
    assert np.isnan(ceiling.values).tolist() == [False, True, False]
    assert np.isnan(ceiling.attrs["error"].values).tolist() == [False, True, False]
    assert "undefined everywhere" in ceiling.attrs["error_reason"]
    assert ceiling.attrs["undefined"] == 250


def test_no_time_bins():
    with pytest.raises(MetricInputError, match=r"no time bins(.|\n)*'internal_consistency'"):
        load_ceiling("internal_consistency_temporal")(_recordings())
