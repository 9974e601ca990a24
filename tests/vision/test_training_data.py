"""What is stated of the models and benchmarks of this package, and how it is compared."""

import re
from pathlib import Path

import pytest

from brainscore_core.training_data import Training, compare, data_sets, unlisted_names
from brainscore_vision.catalogue.contents import catalogue
from brainscore_vision.data import geirhos2021
from brainscore_vision.data_sources.tables import at_hand, fetch_sources, read_sources
from brainscore_vision.training_data import packaged_models, packaged_stimuli

IMAGENET = "ImageNet (ILSVRC 2012)"


def built_in(entries):
    return [entry for entry in entries if entry.distribution in ("brainscore", None) and entry.metadata is not None]


@pytest.fixture(scope="module")
def known():
    return catalogue()


def test_each_model_is_listed_or_untrained(known):
    models = {entry.identifier: entry.metadata for entry in built_in(known.models)}
    without = {
        name
        for name, metadata in models.items()
        if name not in packaged_models() and metadata.twin_of is None and metadata.parameters != 0
    }
    assert not without, f"state in brainscore_vision/training_data/models.csv what these were trained on: {without}"
    assert set(packaged_models()) <= set(models)
    assert models["alexnet"].trained_on == (IMAGENET,)
    assert models["alexnet-untrained"].trained_on == models["pixels"].trained_on == ()
    assert models["hmax"].trained_on is None


def test_each_benchmark_is_listed(known):
    names = {entry.identifier for entry in built_in(known.benchmarks)}
    without = {name for name in names if packaged_stimuli(name) is None}
    assert not without, (
        f"state in brainscore_vision/training_data/benchmarks.csv where their stimuli are from: {without}"
    )


def test_names_are_those_of_the_table_of_data_sets(known):
    stated = [name for entry in packaged_models().values() for name in entry.trained_on or ()]
    stated += [name for entry in built_in(known.benchmarks) for name in packaged_stimuli(entry.identifier)]
    stated += [name for one in data_sets().values() for name in (*one.contains, *one.held_out_of)]
    assert unlisted_names(stated) == ()
    assert {one.fine_tuned_from for one in packaged_models().values()} - {None} <= set(packaged_models())


@pytest.mark.parametrize("test", ["colour", "high-pass", "eidolonII", "rotation", "stylized", "sketch", "edge"])
def test_pictures_of_geirhos2021_are_named_as_in_the_data_sets_stated(test):
    """Images of ImageNet's training set are named SYNSET_NUMBER, validation images ILSVRC2012_val_NUMBER."""
    sources = read_sources(Path(geirhos2021.__file__).parent, containing=f"/{test}/{test}_subject-01")[:1]
    if not sources or not at_hand(sources):
        pytest.skip("the published files are not at hand")
    names = [line.rsplit(",", 1)[-1] for line in fetch_sources(sources)[0].read_text().splitlines()[1:]]
    taken_from = packaged_stimuli(f"Geirhos2021{test.replace('-', '')}-top1")
    assert all(re.search(r"_n\d{8}_\d+\.png", name) for name in names) is (taken_from == (IMAGENET,))
    assert all("ILSVRC2012-val" in name for name in names) is (taken_from == (f"{IMAGENET}, validation",))


@pytest.mark.parametrize(
    ("trained_on", "complete", "taken_from", "state", "reason"),
    [
        ((), True, None, "clean", "trained on nothing"),
        ((IMAGENET,), True, None, "unknown", "not known what the stimuli"),
        ((), False, (), "clean", "in no other data set"),
        ((IMAGENET,), True, (IMAGENET.lower(),), "trained on it", "which the model was trained on"),
        (("LVD-142M",), True, (IMAGENET,), "trained on it", "a part of LVD-142M"),
        ((IMAGENET,), True, ("ImageNet-21k",), "unknown", "trained on a part"),
        (("LVD-142M",), True, (f"{IMAGENET}, validation",), "clean", "held out of LVD-142M"),
        (("WIT-400M",), True, (f"{IMAGENET}, validation",), "unknown", "whether WIT-400M has content"),
        (("WIT-400M", IMAGENET), True, (f"{IMAGENET}, validation",), "unknown", "whether WIT-400M has content"),
        (("WIT-400M",), True, ("FreemanZiemba2013",), "clean", "not trained on FreemanZiemba2013"),
        ((IMAGENET,), True, ("Kriegeskorte2008",), "unknown", "known where Kriegeskorte2008 is from"),
        (("Kriegeskorte2008",), True, ("Kriegeskorte2008",), "trained on it", "Kriegeskorte2008"),
        (("FreemanZiemba2013",), True, ("Kriegeskorte2008",), "clean", "not trained on"),
        ((IMAGENET,), False, ("ImageNet-Sketch",), "unknown", "what the model was trained on"),
        ((IMAGENET,), False, (IMAGENET,), "trained on it", ""),
        ((IMAGENET,), True, ("ImageNet-Sketch",), "clean", "not trained on ImageNet-Sketch"),
        ((IMAGENET,), True, ("Places365", IMAGENET), "trained on it", IMAGENET),
        (("Mine2026",), True, ("Yours2026",), "clean", "not trained on Yours2026"),
        (("MajajHong2015",), True, ("MajajHong2015, public",), "trained on it", "a part of MajajHong2015"),
        (("MajajHong2015, public",), True, ("MajajHong2015, private",), "clean", "not trained on"),
    ],
)
def test_compare(trained_on, complete, taken_from, state, reason):
    found = compare(Training(trained_on, complete), taken_from)
    assert found.state == state
    assert reason in found.reason
