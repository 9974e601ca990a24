"""The first tutorial ("Benchmark Tutorial"), with the packages `brainio` and `brainscore`."""

import re

import numpy as np
import pytest

from brainscore_vision import (
    load_benchmark,
    load_dataset,
    model_registry,
)

SHA256 = "185f7bbe40ebb53a0229fbe577190bdaf79b04a75f1956fdbd810c9e009d727d"
NAME = "AuthorYear2021"


IDENTIFIER = "the identifier is the reader's"
ELLIPSIS = "the values are the reader's"
IMPORTS = "the block lacks its imports"

BLOCKS = [
    {
        "first": 21,
        "last": 45,
        "test": "test_package_and_score",
        "fills": (
            (40, "<AuthorYear>", NAME, IDENTIFIER),
            (35, "# .*", "'image_label': object_name,", "the probabilities task is fitted to image_label"),
        ),
    },
    {
        "first": 59,
        "last": 85,
        "test": "test_package_and_score",
        "fills": (
            (62, "\\[.*\\]", "choices", ELLIPSIS),
            (64, "\\[.*\\]", "stimulus_ids", ELLIPSIS),
            (65, "\\[.*\\]", "samples", ELLIPSIS),
            (66, "\\[.*\\]", "distractors", ELLIPSIS),
            (67, "# .*", "'choice': ('presentation', choices),", "a check below needs this coordinate"),
            (73, "<authoryear>", NAME, IDENTIFIER),
        ),
    },
    {
        "first": 109,
        "last": 115,
        "test": "test_package_and_score",
        "slips": (
            (109, "# .*", "import brainio", IMPORTS),
            (110, "<authoryear>:", "stimuli():", "a function needs parentheses"),
            (113, "12 ", "1600 ", "ids are unique: there are as many as stimuli"),
        ),
        "fills": ((111, "<authoryear>", NAME, IDENTIFIER), (112, "123", "1600", ELLIPSIS)),
    },
    {
        "first": 118,
        "last": 126,
        "test": "test_package_and_score",
        "slips": (
            (118, "# .*", "import brainscore, numpy as np", IMPORTS),
            (119, "<authoryear>:", "assembly():", "a function needs parentheses"),
        ),
        "fills": (
            (120, "<authoryear>", NAME, IDENTIFIER),
            (122, "123", "1600", ELLIPSIS),
            (123, "123456", "179660", ELLIPSIS),
            (125, "123", "1600", ELLIPSIS),
        ),
    },
    {"first": 130, "last": 147, "test": "test_register"},
    {"first": 151, "last": 155, "reason": "a folder's layout"},
    {
        "first": 175,
        "last": 227,
        "test": "test_package_and_score",
        "fills": (
            (196, "<authoryear>", NAME, IDENTIFIER),
            (197, "<authoryear>", NAME, IDENTIFIER),
            (203, "<AuthorYear>", NAME, IDENTIFIER),
        ),
    },
    {
        "first": 231,
        "last": 235,
        "test": "test_package_and_score",
        "slips": ((232, "^$", "from .benchmark import AuthorYearI2n", IMPORTS),),
    },
    {
        "first": 247,
        "last": 248,
        "test": "test_package_and_score",
        "slips": ((247, "'mybenchmark'", "'mybenchmark-i2n'", "it is registered as 'mybenchmark-i2n'"),),
    },
    {
        "first": 253,
        "last": 256,
        "test": "test_package_and_score",
        "slips": ((255, "'mybenchmark'", "'mybenchmark-i2n'", "it is registered as 'mybenchmark-i2n'"),),
    },
    {"first": 262, "last": 266, "reason": "a folder's layout"},
]

PROSE: set[int] = set()


def test_every_line_of_code_is_in_a_block(stray_code):
    assert stray_code == ({}, [])


@pytest.mark.slow(reason="packages, loads and scores 179,660 trials")
def test_package_and_score(document, packaged, plugin, register, pictures, model, bucket, tmp_path):
    """From pictures to a score: packaging with upload, both of the tutorial's tests, the benchmark as a plugin."""
    bucket("brainio-brainscore")
    ids = [f"{kind}_{number:04d}" for kind in ("cat", "dog") for number in range(800)]
    pictures(ids, folder="stimuli", size=8)
    document.names["stimuli_directory"] = tmp_path / "stimuli"
    stimuli = document.run(21)["packaged_stimulus_metadata"]

    rng = np.random.default_rng(0)
    shown = np.concatenate([np.arange(1600), rng.integers(0, 1600, 179660 - 1600)])
    samples = np.array([one.split("_")[0] for one in ids])[shown]
    distractors = np.where(samples == "dog", "cat", "dog")
    skill = rng.uniform(0.6, 1, 1600)[shown]
    choices = np.where(rng.random(len(shown)) < skill, samples, distractors)
    document.names |= {
        "stimulus_ids": np.array(ids)[shown],
        "samples": samples,
        "distractors": distractors,
        "choices": choices,
    }
    measured = document.run(59)["packaged_assembly_metadata"]

    packaged.register(NAME, stimuli, measured)
    document.run(109)["test_stimuli"]()
    document.run(118)["test_assembly"]()
    plugin("benchmarks/mybenchmark", __init__=document.code(231), benchmark=document.code(175))
    register(model_registry, "your-favorite-model", model)

    benchmark = load_benchmark("mybenchmark-i2n")
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == (f"{NAME}-i2n", 1, "behavior")
    document.names |= {
        "load_benchmark": load_benchmark,
        "expected": pytest.approx(halves(ids, shown, samples, choices).mean()),
    }
    document.run(247)
    document.names["expected"] = benchmark(model())
    score = document.run(253)["actual_score"]
    assert -1 <= float(score) <= 2
    assert score.attrs["ceiling"] == benchmark.ceiling
    assert load_dataset(NAME).stimulus_set.identifier == NAME


def halves(ids, shown, samples, choices):
    """Correlations of the d′ of random halves, from the definition; the halves are those of NumPy's legacy seed 0.

    Trials are sorted by stimulus and choice first, so that their order in the file makes no difference.
    """
    from scipy.stats import norm

    by_trial = np.lexsort((choices, shown))
    shown, samples, choices = shown[by_trial], samples[by_trial], choices[by_trial]
    random = np.random.RandomState(0)
    is_dog = np.array([one.startswith("dog") for one in ids])
    correlations = []
    for _ in range(2):
        order = random.permutation(len(shown))
        dprimes = []
        for half in (order[: len(order) // 2], order[len(order) // 2 :]):
            wrong = np.bincount(shown[half], choices[half] != samples[half], minlength=len(ids))
            with np.errstate(invalid="ignore", divide="ignore"):
                rate = wrong / np.bincount(shown[half], minlength=len(ids))
                others = np.where(is_dog, np.nanmean(rate[~is_dog]), np.nanmean(rate[is_dog]))
                dprime = np.clip(norm.ppf(1 - rate) - norm.ppf(others), -5, 5)
            for kind in (is_dog, ~is_dog):
                dprime[kind] -= np.nanmean(dprime[kind])
            dprimes.append(dprime)
        both = ~np.isnan(dprimes[0]) & ~np.isnan(dprimes[1])
        correlations.append(np.corrcoef(dprimes[0][both], dprimes[1][both])[0, 1])
    return np.array(correlations)


@pytest.mark.filterwarnings("ignore:naming convention")
def test_register(document, bucket, pictures, monkeypatch):
    """The registrations of Geirhos2021_colour, of other files of that name."""
    from brainio.assemblies import BehavioralAssembly
    from brainio.packaging import package_data_assembly, package_stimulus_set
    from brainio.stimuli import StimulusSet
    from brainscore_core.plugins import Registry
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3, load_stimulus_set_from_s3

    bucket("brainio-brainscore")
    name = "brendel.Geirhos2021_colour"
    paths = pictures(["dog_1", "cat_1"])
    stimuli = StimulusSet([{"stimulus_id": one, "truth": one.split("_")[0]} for one in paths])
    stimuli.stimulus_paths, stimuli.name = paths, name
    made = package_stimulus_set(None, stimuli, name, bucket_name="brainio-brainscore")
    choices = BehavioralAssembly(
        ["dog", "dog"], coords={"stimulus_id": ("presentation", list(paths))}, dims=["presentation"]
    )
    packaged = package_data_assembly(
        None, choices, name, name, assembly_class_name="BehavioralAssembly", bucket_name="brainio-brainscore"
    )
    registries = {one: Registry(one, noun="data") for one in ("data_registry", "stimulus_set_registry")}
    document.names |= registries | {
        "BehavioralAssembly": BehavioralAssembly,
        "load_assembly_from_s3": load_assembly_from_s3,
        "load_stimulus_set_from_s3": load_stimulus_set_from_s3,
        "load_stimulus_set": lambda identifier: registries["stimulus_set_registry"].make(identifier),
    }
    hashes = {"sha1": packaged["sha1"], "version_id": packaged["version_id"]}
    document.run(130, **hashes, **{key: made[key] for key in made if re.fullmatch("(csv|zip)_(sha1|version_id)", key)})
    assembly = registries["data_registry"].make("Geirhos2021_colour")
    assert assembly["truth"].values.tolist() == ["dog", "cat"]
    assert assembly.stimulus_set.identifier == name
