import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling
from brainscore_vision.metrics.predictor_consistency.ceiling import SplitHalfPredictorConsistency


def _recordings(n=40, r=7, q=6, *, noise=1.0, seed=0, coord="image_id"):
    rng = np.random.default_rng(seed)
    images, repetitions = np.repeat(np.arange(n), r), np.tile(np.arange(r), n)
    values = rng.standard_normal((n, q))[images] + noise * rng.standard_normal((n * r, q))
    order = rng.permutation(n * r)
    return NeuroidAssembly(
        values[order],
        coords={
            coord: ("presentation", [f"i{i:03}" for i in images[order]]),
            "repetition": ("presentation", repetitions[order]),
            "neuroid_id": ("neuroid", np.arange(q)),
            "region": ("neuroid", ["IT"] * q),
        },
        dims=["presentation", "neuroid"],
    )


def _reference(assembly, coord="image_id"):
    """One image after the other."""
    rng = np.random.default_rng(0)
    images, repetitions = assembly[coord].values, assembly["repetition"].values
    result = []
    for _ in range(10):
        halves = [], []
        for image in sorted(set(images)):
            rows = np.flatnonzero(images == image)
            if len(rows) < 2:
                continue
            rows = rng.permutation(rows[np.argsort(repetitions[rows])])
            half = len(rows) // 2
            halves[0].append(np.nanmean(assembly.values[rows[:half]], axis=0))
            halves[1].append(np.nanmean(assembly.values[rows[half:]], axis=0))
        pairs = zip(*(np.array(half).T for half in halves), strict=True)
        r = np.array([np.corrcoef(np.stack(p)[:, np.isfinite(p).all(axis=0)])[0, 1] for p in pairs])
        result.append(2 * r / (1 + r))
    return np.array(result)


@pytest.mark.parametrize("r", [2, 6, 7])
@pytest.mark.parametrize("coord", ["image_id", "stimulus_id"])
def test_equals_the_published_definition(r, coord):
    assembly = _recordings(r=r, coord=coord)
    ceiling = load_ceiling("predictor_consistency")(assembly)
    raw = _reference(assembly, coord)
    np.testing.assert_allclose(ceiling.attrs["raw"].values, raw, atol=1e-12)
    centers = np.median(raw, axis=1)
    assert float(ceiling) == pytest.approx(centers.mean(), abs=1e-12)
    assert ceiling.attrs["split_error"] == pytest.approx(centers.std() / np.sqrt(10), abs=1e-12)
    assert ceiling.attrs["meaning"] == "reliability"
    assert ceiling.attrs["raw"]["neuroid_id"].values.tolist() == list(range(6))


def test_order_of_presentations_does_not_matter():
    assembly = _recordings()
    shuffled = assembly.isel(presentation=np.random.default_rng(5).permutation(280))
    assert float(SplitHalfPredictorConsistency()(assembly)) == float(SplitHalfPredictorConsistency()(shuffled))


def test_interval_holds_the_true_reliability():
    ceiling = SplitHalfPredictorConsistency()(_recordings(n=800, r=10, q=60, noise=2.0))
    assert float(ceiling) == pytest.approx(1 / (1 + 4 / 10), abs=0.01)
    low, high = ceiling.attrs["ci"]
    assert low < float(ceiling) < high


def test_unbalanced_missing_and_constant():
    assembly = _recordings()
    assembly.values[5, 2] = np.nan
    assembly.values[:, 4] = 3.0
    images, repetitions = assembly["image_id"].values, assembly["repetition"].values
    kept = ~((images == "i003") & (repetitions > 0)) & ~((images == "i004") & (repetitions > 2))
    assembly = assembly.isel(presentation=np.flatnonzero(kept))
    ceiling = SplitHalfPredictorConsistency()(assembly)
    with np.errstate(invalid="ignore"):
        raw = _reference(assembly)
    np.testing.assert_allclose(ceiling.attrs["raw"].values, raw, atol=1e-12)
    assert ceiling.attrs["undefined"] == 10
    assert np.isfinite(float(ceiling))


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_image_that_a_neuroid_has_in_one_half_only_is_left_out_for_it():
    assembly = _recordings(r=2)
    assembly.values[0, 1] = np.nan
    ceiling = SplitHalfPredictorConsistency()(assembly)
    np.testing.assert_allclose(ceiling.attrs["raw"].values, _reference(assembly), atol=1e-12)
    assert np.isfinite(ceiling.attrs["raw"].values).all()


def test_few_images_are_undefined_with_a_reason():
    assert np.isfinite(float(SplitHalfPredictorConsistency()(_recordings(n=10))))
    ceiling = SplitHalfPredictorConsistency()(_recordings(n=9))
    assert np.isnan(float(ceiling))
    assert "9 images were repeated: at least 10" in ceiling.attrs["error_reason"]


def test_what_has_no_halves_is_refused():
    with pytest.raises(MetricInputError, match=r"more than once(.|\n)*average_repetitions=False"):
        SplitHalfPredictorConsistency()(_recordings(r=1))
    with pytest.raises(MetricInputError, match="no coordinate 'repetition'"):
        SplitHalfPredictorConsistency()(_recordings().drop_vars(["repetition"]))
    with pytest.raises(MetricInputError, match="no coordinate 'object'"):
        SplitHalfPredictorConsistency(image_level="object")(_recordings())
