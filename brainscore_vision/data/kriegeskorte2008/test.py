from itertools import combinations

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.distance import squareform
from scipy.stats import pearsonr, spearmanr

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.data.kriegeskorte2008.data_packaging import write_images

DATA = ("IT-human", "IT-monkey", "judgements", "models")


def _mean_human():
    return load_dataset("Kriegeskorte2008.IT-human").values.mean(axis=0)


def test_stimuli(mirror):
    stimuli = load_stimulus_set("Kriegeskorte2008")
    assert stimuli.identifier == "Kriegeskorte2008"
    assert len(stimuli) == stimuli["stimulus_id"].nunique() == 92
    for name in stimuli["stimulus_id"]:
        with Image.open(stimuli.get_stimulus(name)) as image:
            assert (image.size, image.mode) == ((175, 175), "RGB")
            assert {image.getpixel(corner) for corner in ((0, 0), (0, 174), (174, 0), (174, 174))} == {(128, 128, 128)}


def test_categories_are_the_published_ones(mirror):
    stimuli = load_stimulus_set("Kriegeskorte2008")
    counts = {name: int(stimuli[name].sum()) for name in ("animate", "human", "face", "body", "artificial")}
    assert counts == {"animate": 48, "human": 24, "face": 24, "body": 24, "artificial": 21}
    assert stimuli["category"].value_counts().to_dict() == {
        "human bodypart": 12,
        "human face": 12,
        "nonhuman bodypart": 12,
        "nonhuman face": 12,
        "natural inanimate": 23,
        "artificial inanimate": 21,
    }
    # two published descriptions of the same objects agree
    assert (stimuli["animate"] == ~stimuli["category"].str.endswith("inanimate")).all()
    assert (stimuli["face"] == stimuli["category"].str.endswith("face")).all()
    assert (stimuli["natural"] == ~stimuli["artificial"]).all()
    assert stimuli["monkey_or_ape"].sum() == 7


@pytest.mark.parametrize(
    ("name", "rows", "levels"),
    [
        ("IT-human", 8, {"subject", "session", "species", "region"}),
        ("IT-monkey", 1, {"recording", "species", "region"}),
        ("judgements", 16, {"subject", "species"}),
        ("models", 8, {"model", "kind"}),
    ],
)
def test_layout(mirror, name, rows, levels):
    assembly = load_dataset(f"Kriegeskorte2008.{name}")
    assert assembly.dims == ("rdm", "pair")
    assert assembly.shape == (rows, 4186)
    assert levels <= set(assembly.coords)
    assert not np.isnan(assembly.values).any()
    assert assembly.stimulus_set.identifier == assembly.attrs["stimulus_set_identifier"] == "Kriegeskorte2008"
    pairs = list(zip(assembly["stimulus_id"].values, assembly["other_stimulus_id"].values, strict=True))
    assert pairs == list(combinations(assembly.stimulus_set["stimulus_id"], 2))


def test_human_subjects_and_sessions(mirror):
    assembly = load_dataset("Kriegeskorte2008.IT-human")
    found = set(zip(assembly["subject"].values, assembly["session"].values, strict=True))
    assert found == {(subject, session) for subject in ("BE", "KO", "SN", "TI") for session in (1, 2)}


def test_pairs_are_those_of_the_stimuli(mirror):
    # the animacy model separates exactly the published animate from the inanimate objects
    models = load_dataset("Kriegeskorte2008.models")
    animacy = models.values[list(models["model"].values).index("animacy")]
    animate = models.stimulus_set["animate"].to_numpy()
    np.testing.assert_array_equal(squareform(animacy) == 1, animate[:, None] != animate[None, :])


def test_silhouette_model_belongs_to_these_images(mirror):
    # binary silhouettes of our images reproduce the published silhouette model: order and pixels are right
    stimuli = load_stimulus_set("Kriegeskorte2008")
    pixels = [np.asarray(Image.open(stimuli.get_stimulus(name))).astype(int) for name in stimuli["stimulus_id"]]
    outlines = np.array([(np.abs(image - 128).max(axis=-1) > 2).ravel() for image in pixels], dtype=float)
    computed = 1 - np.corrcoef(outlines)[np.triu_indices(92, k=1)]
    models = load_dataset("Kriegeskorte2008.models")
    published = models.values[list(models["model"].values).index("Silhouette")]
    assert spearmanr(computed, published)[0] > 0.9


def test_monkey_and_human(mirror):
    monkey, human = load_dataset("Kriegeskorte2008.IT-monkey").values[0], _mean_human()
    assert pearsonr(monkey, human)[0] == pytest.approx(0.4912, abs=5e-5)
    assert spearmanr(monkey, human)[0] == pytest.approx(0.4389, abs=5e-5)


@pytest.mark.parametrize(
    ("model", "expected"),
    [("animacy", 0.588), ("monkeyIT", 0.439), ("EVA", 0.354), ("HMAX", 0.222), ("Silhouette", 0.125), ("V1", 0.039)],
)
def test_published_models_and_mean_human(mirror, model, expected):
    models = load_dataset("Kriegeskorte2008.models")
    row = models.values[list(models["model"].values).index(model)]
    assert spearmanr(row, _mean_human())[0] == pytest.approx(expected, abs=5e-4)


def test_judgements_noise_ceiling(mirror):
    from brainscore_core.numerics import noise_ceiling

    bounds = noise_ceiling(load_dataset("Kriegeskorte2008.judgements").values)
    assert bounds.lower == pytest.approx(0.477, abs=5e-4)
    assert bounds.upper == pytest.approx(0.577, abs=5e-4)


def test_images_are_written_once_and_mended(tmp_path):
    images = {"a": np.full((4, 5, 3), 7, np.uint8), "b": np.zeros((4, 5, 3), np.uint8)}
    paths = write_images(images, tmp_path)
    content = {name: path.read_bytes() for name, path in paths.items()}
    before = {name: path.stat().st_mtime_ns for name, path in paths.items()}
    write_images(images, tmp_path)
    assert {name: path.stat().st_mtime_ns for name, path in paths.items()} == before
    paths["a"].write_bytes(content["a"][: len(content["a"]) // 2])  # truncated
    paths["b"].write_bytes(content["a"])  # another image
    write_images(images, tmp_path)
    assert {name: path.read_bytes() for name, path in paths.items()} == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png"]
