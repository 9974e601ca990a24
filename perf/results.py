"""Scores on real data that can be fetched without a request to anyone, beside an independent computation with NumPy.

    BRAINSCORE_MIRROR=folder python perf/results.py [--write]

The networks need `brainscore[examples]`. A model's answers and recordings are taken as the benchmark receives them;
what people did is read from the published files. From these two, each number is computed again without metrics.
"""

import argparse
import os
import sys
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from _tables import between, table
from scipy.io import loadmat
from scipy.stats import rankdata

import brainscore_vision
from brainscore_core.errors import NotApplicable
from brainscore_core.formatting import estimate_text

PAGE = Path(__file__).parent.parent / "docs/results.md"
NETWORKS = ("efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2", "efficientnet-lite0-untrained")
RECORDED = ("alexnet-recorded2019", "googlenet-recorded2019", "vgg16-recorded2019", "resnet50-recorded2019")
TESTS = {"edge": "edge", "silhouette": "silhouette", "cueconflict": "cue-conflict"}
BENCHMARKS = (
    "Kriegeskorte2008.IT-human-rdm",
    "Kriegeskorte2008.IT-monkey-rdm",
    *(f"Geirhos2021{test}-{measure}" for measure in ("top1", "error_consistency") for test in TESTS),
    "Geirhos2019-shape_bias",
)


def load_observed(identifier):
    """A model whose last answers, and the stimuli that they belong to, are its attributes."""
    model = brainscore_vision.load_model(identifier)
    look_at = model.look_at

    def observed(stimuli, *arguments, **options):
        model.answers, model.stimuli = look_at(stimuli, *arguments, **options), stimuli
        return model.answers

    model.look_at = observed
    return model


def published(pattern):
    """Paths of published files."""
    paths = sorted(Path(os.environ["BRAINSCORE_MIRROR"]).glob(f"raw.githubusercontent.com/{pattern}"))
    return paths or sys.exit(f"the mirror has no {pattern}")


@cache
def trials(test):
    """People's trials of a test of Geirhos et al. 2021: image, observer, category and answer."""
    files = published(f"bethgelab/model-vs-human/*/raw-data/{TESTS[test]}/*subject*.csv")
    read = pd.concat([pd.read_csv(path, dtype=str, keep_default_na=False) for path in files])
    image = read["imagename"].str.replace(r"^\d+_", "", regex=True).str.replace(r"_s\d+_", "_", n=1, regex=True)
    return pd.DataFrame(
        {"image": image, "observer": read["subj"], "category": read["category"], "answer": read["object_response"]}
    )


def answers_of(model):
    """A model's answer to each image."""
    images = np.asarray(model.answers["stimulus_id"].values).astype(str)
    return dict(zip(images, np.asarray(model.answers.values).ravel().astype(str), strict=True))


def kappa(first, second):
    """Cohen's kappa of two sequences of right and wrong."""
    observed = np.mean(first == second)
    expected = first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean())
    return (observed - expected) / (1 - expected) if expected < 1 else np.nan


def top1(test, model):
    """Share of right answers, and 1."""
    category = trials(test).drop_duplicates("image").set_index("image")["category"]
    return np.mean([category[image] == answer for image, answer in answers_of(model).items()]), 1.0


def error_consistency(test, model):
    """Mean kappa of a model and each observer, and of all pairs of observers."""
    answers = answers_of(model)
    people = trials(test)
    people = people[people["image"].isin(answers)]
    right = people.assign(right=people["answer"] == people["category"], model=people["image"].map(answers))
    right["model"] = right["model"] == right["category"]
    with_model = [kappa(of["model"].to_numpy(), of["right"].to_numpy()) for _, of in right.groupby("observer")]
    wide = right.pivot_table(index="image", columns="observer", values="right", aggfunc="first")
    pairs = [wide[list(pair)].dropna().astype(bool).to_numpy().T for pair in combinations(wide.columns, 2)]
    return abs(np.nanmean(with_model)), np.nanmean([kappa(*pair) for pair in pairs])


def cues(decisions):
    """Decisions for shape and for texture, of images in which both differ."""
    names = decisions["image"].str.extract(r"_([a-z]+)\d+-([a-z]+)\d+\.png$")
    conflict = names[0] != names[1]
    return (decisions["answer"] == names[0])[conflict], (decisions["answer"] == names[1])[conflict]


def shape_bias(model):
    """1 − difference of a model's and people's shape bias, and the same of each observer and all others."""
    answers = answers_of(model)
    files = published("rgeirhos/texture-vs-shape/*/raw-data/style-transfer-512-nomask-experiment/*subject*.csv")
    read = pd.concat([pd.read_csv(path, dtype=str, keep_default_na=False) for path in files], ignore_index=True)
    people = pd.DataFrame({"image": read["imagename"], "answer": read["object_response"], "observer": read["subj"]})
    people["image"] = people["image"].str.replace(r"^\d+_", "", regex=True).str.replace(r"_s\d+_", "_", n=1, regex=True)
    people = people[people["image"].isin(answers)].reset_index(drop=True)
    shape, texture = cues(people)
    of_people = shape.sum() / (shape.sum() + texture.sum())
    of_model = cues(pd.DataFrame({"image": list(answers), "answer": list(answers.values())}))
    bias = of_model[0].sum() / (of_model[0].sum() + of_model[1].sum())
    observers = people["observer"][shape.index]
    close = []
    for observer in observers.unique():
        one = observers == observer
        share = [shape[rows].sum() / (shape[rows].sum() + texture[rows].sum()) for rows in (one, ~one)]
        close.append(1 - abs(share[0] - share[1]))
    return 1 - abs(bias - of_people), np.mean(close)


def patterns_rdm(model):
    """1 − Pearson correlation of the responses to two stimuli, upper triangle row by row."""
    responses = model.answers.transpose("presentation", "neuroid", ...).values
    responses = np.asarray(responses, dtype=np.float64).reshape(len(responses), -1)
    images = list(np.asarray(model.answers["stimulus_id"].values).astype(str))
    order = [images.index(name) for name in model.stimuli["stimulus_id"].astype(str)]
    return (1 - np.corrcoef(responses[order]))[np.triu_indices(len(order), 1)]


def spearman(first, second):
    """Correlation of ranks."""
    return np.corrcoef(rankdata(first), rankdata(second))[0, 1]


def human_rdm(model):
    """Mean correlation with each of four subjects, and of each of them with the mean of their ranks."""
    (file,) = published("rsagroup/rsatoolbox/*/demos/92imageData/92_brainRDMs.mat")
    sessions = loadmat(file, simplify_cells=True)["RDMs"]
    upper = np.triu_indices(92, 1)
    subjects = [np.mean([session.RDM[upper] for session in of_subject], axis=0) for of_subject in sessions]
    ranks = np.array([rankdata(subject) for subject in subjects])
    ceiling = np.mean([spearman(subject, ranks.mean(axis=0)) for subject in subjects])
    own = patterns_rdm(model)
    return np.mean([spearman(own, subject) for subject in subjects]), ceiling


def monkey_rdm(model):
    """Correlation with the published matrix; no ceiling is published."""
    (file,) = published("rsagroup/rsatoolbox/*/demos/92imageData/Kriegeskorte_Neuron2008_supplementalData.mat")
    both = loadmat(file, simplify_cells=True)["RDMs_mIT_hIT_fig1"]
    return spearman(patterns_rdm(model), both[0]["RDM"]), np.nan  # the first one is that of 674 neurons


def independent(benchmark, model):
    """Raw value and ceiling, computed here."""
    if benchmark == "Geirhos2019-shape_bias":
        return shape_bias(model)
    if benchmark.startswith("Kriegeskorte"):
        return human_rdm(model) if "human" in benchmark else monkey_rdm(model)
    test, measure = benchmark.removeprefix("Geirhos2021").split("-")
    return (top1 if measure == "top1" else error_consistency)(test, model)


def score(identifier, benchmark_identifier):
    """A row of the table, and the largest difference of the two computations; None if it is not applicable."""
    benchmark = brainscore_vision.load_benchmark(benchmark_identifier)
    model = load_observed(identifier)
    try:
        result = benchmark(model)
    except NotApplicable:
        return None
    raw, ceiling = float(result.attrs["raw"]), float(result.attrs["ceiling"])
    again, again_ceiling = independent(benchmark_identifier, model)
    differences = [abs(raw - again), 0.0 if np.isnan(again_ceiling) else abs(ceiling - again_ceiling)]
    low, high = result.attrs["ci"]
    bias = f"{result.attrs['shape_bias']:.3f}" if "shape_bias" in result.attrs else ""
    row = [
        f"`{benchmark_identifier}`",
        f"`{identifier}`",
        estimate_text(float(result), ci=(low, high)),
        f"{raw:.4f}",
        f"{again:.4f}",
        "–" if np.isnan(ceiling) else f"{ceiling:.4f}",
        "–" if np.isnan(again_ceiling) else f"{again_ceiling:.4f}",
        bias,
    ]
    return row, max(differences)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into docs/results.md")
    options = parser.parse_args()
    rows, largest = [], 0.0
    for benchmark in BENCHMARKS:
        for model in (*NETWORKS, "gabor", "pixels", *RECORDED):
            scored = score(model, benchmark)
            if scored is not None:
                row, difference = scored
                print(*row, f"{difference:.0e}", flush=True)
                rows.append(row)
                largest = max(largest, difference)
    head = ["benchmark", "model", "score", "raw", "raw, NumPy", "ceiling", "ceiling, NumPy", "shape bias"]
    text = f"{table(head, rows)}\n\nThe two computations differ by {largest:.0e} at most."
    print(text)
    if options.write:
        PAGE.write_text(between(PAGE.read_text(), "<!-- begin: results -->", "<!-- end -->", text))


if __name__ == "__main__":
    main()
