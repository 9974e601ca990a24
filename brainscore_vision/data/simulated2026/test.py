import numpy as np
import pytest
from PIL import Image

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.simulated_experiment import (
    CATEGORIES,
    PER_CATEGORY,
    REPETITIONS,
    EncodingModel,
    draw,
    noise_sd_for,
    parameters,
    reliability_of,
    simulate,
)


@pytest.fixture(scope="module")
def stimuli():
    return load_stimulus_set("Simulated2026")


@pytest.fixture(scope="module")
def assembly():
    return load_dataset("Simulated2026")


@pytest.fixture(scope="module")
def by_repetition(assembly):
    """repetitions × stimuli × neuroids"""
    ordered = assembly.sortby(["repetition", "stimulus_id"])
    return ordered.values.reshape(REPETITIONS, -1, assembly.sizes["neuroid"])


def test_stimuli(stimuli):
    assert len(stimuli) == len(set(stimuli["stimulus_id"])) == len(CATEGORIES) * PER_CATEGORY == 800
    assert stimuli.identifier == "Simulated2026"
    assert stimuli["object_name"].value_counts().to_dict() == dict.fromkeys(CATEGORIES, PER_CATEGORY)
    assert "degrees" not in stimuli.columns
    for category, number in [("grating", 0), ("cross", 59)]:
        with Image.open(stimuli.get_stimulus(f"{category}_{number:02d}")) as image:
            np.testing.assert_array_equal(np.asarray(image), draw(category, number))


def test_stimuli_are_the_same_everywhere():
    """Sums of grey levels, as once drawn. Another mathematics library may round a few pixels otherwise: ± 5 levels."""
    sums = [int(draw(category, number).astype(int).sum()) for category in CATEGORIES for number in (0, 7)]
    expected = [
        2095427, 2098420, 2097130, 2096407, 2101425, 2097858, 2065142, 2104832,
        2097403, 2096192, 1979030, 2534035, 2635824, 2220384, 1857368, 1835815,
    ]  # fmt: skip
    assert np.abs(np.array(sums) - expected).max() <= 5


def test_a_stimulus_does_not_depend_on_the_others():
    first = draw("texture", 3)
    draw("texture", 4)
    np.testing.assert_array_equal(draw("texture", 3), first)
    assert parameters("texture", 3) != parameters("texture", 4) != parameters("rings", 4)


def test_a_broken_off_first_use_is_completed(stimuli, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    from brainscore_vision.data.simulated2026 import packages

    drawn = []
    monkeypatch.setattr(packages.simulated_experiment, "draw", lambda *key: drawn.append(key) or draw(*key))
    monkeypatch.setattr(packages, "PER_CATEGORY", 2)
    again = packages.stimulus_set()
    assert len(drawn) == 16
    again.get_stimulus("disc_01").unlink()
    packages.stimulus_set()
    assert drawn[16:] == [("disc", 1)]
    assert again.get_stimulus("disc_01").read_bytes() == stimuli.get_stimulus("disc_01").read_bytes()


def test_expected_responses_are_kept_for_the_next_process(stimuli, tmp_path, monkeypatch):
    from brainscore_vision.data.simulated2026 import packages

    paths = tuple(tmp_path / "v1" / f"{number}.png" for number in range(2))
    paths[0].parent.mkdir()
    for path, name in zip(paths, ("disc_00", "star_00"), strict=True):
        path.write_bytes(stimuli.get_stimulus(name).read_bytes())
    expected = packages._expected_responses(paths)
    kept = next(tmp_path.glob("expected-*.npz"))
    for damage in (b"", kept.read_bytes()[:100], b"not an archive"):
        kept.write_bytes(damage)
        again = packages._expected_responses(paths)
        assert all(np.array_equal(again[region], expected[region]) for region in ("V1", "IT"))
    monkeypatch.setattr(packages.simulated_experiment, "EncodingModel", None)  # nothing is computed any more
    assert np.array_equal(packages._expected_responses(paths)["IT"], expected["IT"])
    paths[1].write_bytes(stimuli.get_stimulus("star_01").read_bytes())
    with pytest.raises(TypeError):  # of other stimuli they are
        packages._expected_responses(paths)


def test_assembly(assembly):
    assert assembly.dims == ("presentation", "neuroid")
    assert assembly.shape == (800 * REPETITIONS, 192)
    assert assembly.stimulus_set.identifier == "Simulated2026"
    assert not np.isnan(assembly.values).any()
    assert assembly.sel(region="V1").shape == assembly.sel(region="IT").shape == (9600, 96)
    assert len(set(assembly["neuroid_id"].values)) == 192
    assert set(assembly["stimulus_id"].values) == set(assembly.stimulus_set["stimulus_id"])
    one = assembly.sel(stimulus_id="star_05")
    assert set(one["object_name"].values) == {"star"}
    assert sorted(one["repetition"].values) == list(range(REPETITIONS))


def test_the_same_each_time(assembly):
    np.testing.assert_array_equal(load_dataset("Simulated2026").values, assembly.values)


def test_noise_is_as_stated(assembly, by_repetition):
    """σ̂²/σ² over 800 × 11 degrees of freedom has a standard error of √(2/8800) ≈ 0.015."""
    estimated = by_repetition.var(axis=0, ddof=1).mean(axis=0)
    stated = assembly["noise_sd"].values ** 2
    standard_error = np.sqrt(2 / (800 * (REPETITIONS - 1)))
    z = (estimated / stated - 1) / standard_error
    assert np.abs(z).max() < 4.5
    assert abs(z.mean()) < 4 / np.sqrt(len(z))
    assert 0.8 < z.std() < 1.25


def test_noise_is_independent(by_repetition):
    noise = by_repetition - by_repetition.mean(axis=0)
    across_neuroids = np.corrcoef(noise.reshape(-1, noise.shape[-1]).T)
    off_diagonal = across_neuroids[np.triu_indices(len(across_neuroids), 1)]
    assert np.abs(off_diagonal).max() < 6 / np.sqrt(800 * 11)
    rest = by_repetition[2:].mean(axis=0)
    first, second = ((by_repetition[number] - rest).ravel() for number in (0, 1))
    across_repetitions = np.corrcoef(first, second)[0, 1]
    assert across_repetitions == pytest.approx(1 / 11, abs=0.02)  # only the subtracted mean of 10 is shared


def test_stated_reliability_is_what_repeated_experiments_give():
    """The share of true variance over many simulated averages, without any split-half estimate."""
    rng = np.random.default_rng(0)
    expected = rng.standard_normal((50, 4)) * [1.0, 2.0, 0.5, 3.0]
    noise_sd = np.array([1.0, 3.0, 2.0, 0.1])
    averages = expected + noise_sd / np.sqrt(6) * rng.standard_normal((4000, 50, 4))
    total = averages.var(axis=1, ddof=1).mean(axis=0)
    np.testing.assert_allclose(reliability_of(expected, noise_sd, 6), expected.var(axis=0, ddof=1) / total, rtol=0.01)
    wanted = np.array([0.1, 0.5, 0.9, 0.99])
    np.testing.assert_allclose(reliability_of(expected, noise_sd_for(expected, wanted, 6), 6), wanted)


@pytest.mark.slow(reason="filters 800 images")
def test_reliabilities_of_the_assembly(assembly, by_repetition, stimuli):
    for region in ("V1", "IT"):
        stated = assembly.sel(region=region)["reliability"].values
        np.testing.assert_allclose(np.sort(stated), np.linspace(0.75, 0.95, 96))
    model = EncodingModel()
    energies = np.stack(
        [model.energies(np.asarray(Image.open(stimuli.get_stimulus(name)))) for name in sorted(stimuli["stimulus_id"])]
    )
    expected = np.hstack([model.v1(energies), model.it(energies)])
    # the average's correlation with the expected responses is the square root of the reliability
    r = [np.corrcoef(expected[:, i], by_repetition.mean(axis=0)[:, i])[0, 1] for i in range(192)]
    np.testing.assert_allclose(np.square(r), assembly["reliability"].values, atol=0.05)
    assert np.mean(np.square(r) - assembly["reliability"].values) == pytest.approx(0, abs=0.004)


def test_neuroids_are_tuned_as_described():
    model = EncodingModel()
    degrees = (np.arange(128) + 0.5) * 8 / 128 - 4
    x, y_up = degrees[np.newaxis], -degrees[:, np.newaxis]

    def grating(orientation):
        angle = np.deg2rad(orientation)
        across = -x * np.sin(angle) + y_up * np.cos(angle)
        return np.round(128 + 100 * np.cos(2 * np.pi * 1.5 * across)).astype(np.uint8)

    tested = np.arange(0, 180, 5)
    tuning = model.v1(np.stack([model.energies(grating(orientation)) for orientation in tested]))
    weights = model._v1_weights.reshape(6, 3, -1).sum(axis=1)
    vector = (weights * np.exp(2j * np.deg2rad(np.arange(0, 180, 30)))[:, np.newaxis]).sum(axis=0)
    preferred = np.rad2deg(np.angle(vector)) / 2 % 180
    peak = tested[tuning.argmax(axis=0)]
    distance = np.abs((peak - preferred + 90) % 180 - 90)
    assert np.median(distance) <= 10
    # IT neuroids respond most, on average, to the category that they were given
    exemplars = range(200, 212)  # seen neither as stimuli nor as prototypes
    responses = np.stack(
        [model.it(np.stack([model.energies(draw(category, number)) for number in exemplars])).mean(axis=0)
         for category in CATEGORIES]
    )  # fmt: skip
    selective = responses / responses.mean(axis=1, keepdims=True)
    hits = selective.argmax(axis=0) == np.arange(96) % len(CATEGORIES)
    assert hits.mean() > 0.35  # chance: 0.125


def test_simulation_of_other_sizes():
    simulation = simulate(np.random.default_rng(0).standard_normal((20, 5)), stream=7, repetitions=3)
    assert simulation.responses.shape == (3, 20, 5)
    other = simulate(np.random.default_rng(0).standard_normal((20, 5)), stream=8, repetitions=3)
    assert not np.allclose(simulation.responses, other.responses)


def test_packaging(tmp_path, monkeypatch):
    from brainscore_vision.data.simulated2026 import data_packaging, packages

    monkeypatch.setattr(packages, "PER_CATEGORY", 2)
    written = data_packaging.package(tmp_path)
    assert written["stimulus_set"]["identifier"] == written["assembly"]["identifier"] == "Simulated2026"
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} == {".csv", ".zip", ".nc"}
