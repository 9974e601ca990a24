"""How often the 95 % intervals of language benchmarks hold the true value, and what shuffled splits reward.

    python perf/language_coverage.py             all cases; half an hour on one core
    python perf/language_coverage.py stories --simulations 100 --print

An experiment draws texts, recordings or readers anew; the model is fixed. The true value is the mean score over all
experiments. Results are kept in perf/language_coverage.json, and written as tables into docs/language.md.
"""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _tables import between, keep, simulation_options

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_language import load_benchmark, load_metric
from brainscore_language.artificial_subject import ArtificialSubject

HERE = Path(__file__).parent
STORE = HERE / "language_coverage.json"
PAGE = HERE.parent / "docs" / "language.md"
BEGIN, END = "<!-- begin: written by perf/language_coverage.py -->", "<!-- end -->"
UNITS = 20
"""Units of the model, the first half of which the recordings depend on."""
SHUFFLED = {"splits": 10, "train_size": 0.9, "kfold": False, "random_state": 1}


def texts(rng, groups, length, correlation=0.5):
    """Features of neighbouring sentences or words, which are alike."""
    shared = rng.standard_normal((groups, 1, UNITS))
    features = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * rng.standard_normal(
        (groups, length, UNITS)
    )
    return features.reshape(-1, UNITS)


def assembly(values, groups, length, subjects=None):
    """Presentations in groups of one length; neuroids of subjects."""
    n, neuroids = values.shape
    coords = {
        "stimulus_id": ("presentation", np.arange(n)),
        "text": ("presentation", np.repeat(np.arange(groups), length)),
        "neuroid_id": ("neuroid", np.arange(neuroids)),
    }
    if subjects is not None:
        coords["subject"] = ("neuroid", subjects)
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def recordings(rng, *, groups, length, subjects, each, signal=1.0, fixed_subjects=False, noise=1.0):
    """A model's features and recordings, with noise that the presentations of a text share."""
    features = texts(rng, groups, length)
    own = np.random.default_rng(7) if fixed_subjects else rng
    half = UNITS // 2
    of_subject = own.standard_normal((subjects, half))
    names = np.repeat(np.arange(subjects), each)
    maps = of_subject[names] + rng.standard_normal((len(names), half))
    if subjects * each == 1:
        maps = np.random.default_rng(8).standard_normal((1, half))
    of_text = rng.standard_normal((groups, subjects)).repeat(length, axis=0)[:, names]
    values = signal * features[:, :half] @ maps.T / math.sqrt(2 * half)
    values = values + 0.7 * of_text + noise * rng.standard_normal(values.shape)
    target = assembly(values, groups, length, names.astype(str))
    return assembly(features, groups, length), target


def recorded(metric, *, splits=None, independent=False, **design):
    """Case of recordings: `metric` with splits of whole texts."""
    options = {} if splits is None else {"splits": splits, "split_coord": "text", "kfold": "group", "random_state": 1}
    metric = load_metric(metric, crossvalidation_kwargs=options)

    def draw(rng):
        source, target = recordings(rng, **design)
        target.attrs["stimulus_groups"] = "none" if independent else "text"
        return metric(source, target)

    return draw


def words(rng, stories, length, readers=80):
    """Words of stories: properties, and reading times that depend on them differently in each story."""
    n = stories * length
    story = np.repeat(np.arange(stories), length)
    letters = rng.integers(1, 10, n).astype(float)
    frequency = -letters + 2 * rng.standard_normal(n)
    answer = 0.2 * letters - 0.1 * frequency + rng.standard_normal(n)
    slopes = np.array([4.0, -2.0, 8.0]) + 1.5 * rng.standard_normal((stories, 3))
    expected = 340 + 15 * rng.standard_normal(stories)[story]
    expected = expected + (slopes[story] * np.column_stack([letters, frequency, answer])).sum(axis=1)
    expected += 40 * rng.standard_normal(n)
    columns = {
        "word": "word",
        "story": story,
        "word_id": np.tile(np.arange(length), stories),
        "word_within_sentence_id": np.tile(np.arange(1, 11), n // 10),
        "length": letters,
        "log_frequency": frequency,
        "answer": answer,
        "expected": expected,
        "n": readers,
        "rt": expected + 120 / math.sqrt(readers) * rng.standard_normal(n),
        "sd": 120 * np.sqrt(rng.chisquare(readers - 1, n) / (readers - 1)),
    }
    return pd.DataFrame(columns)


def read(name):
    """Case of mean reading times."""

    def draw(rng):
        benchmark = load_benchmark(name)
        benchmark._table = words(rng, 10, 100)
        return benchmark._score(benchmark._table)

    return draw


class Reader(ArtificialSubject):
    """A subject with given times."""

    def __init__(self, times):
        self._times = times

    def identifier(self):
        return "reader"

    def start_behavioral_task(self, task):
        pass

    def start_neural_recording(self, recording_target, recording_type):
        raise NotImplementedError

    def digest_text(self, text):
        return {"behavior": BehavioralAssembly(self._times, dims=["presentation"]), "neural": None}


def people(rng):
    """Case of the times of single people."""
    table, number = words(rng, 10, 60), 40
    slow = 1 + 0.2 * rng.standard_normal(number)
    times = table.expected.to_numpy()[:, None] * slow + 60 * rng.standard_normal((len(table), number))
    missing = rng.random(number)[None, :] < 0.3 * (table.story.to_numpy()[:, None] % 2)  # some did not read all stories
    benchmark = load_benchmark("Futrell2018-pearsonr")
    benchmark._data = NeuroidAssembly(
        np.where(missing, np.nan, times),
        coords={
            "word": ("presentation", table.word.to_numpy(dtype=object)),
            "word_within_sentence_id": ("presentation", table.word_within_sentence_id.to_numpy()),
            "story_id": ("presentation", table.story.to_numpy()),
            "subject_id": ("subject", np.arange(number)),
        },
        dims=["presentation", "subject"],
        attrs={"stimulus_groups": "story_id"},
    )
    return benchmark(Reader(table.answer.to_numpy()))


PASSAGES = {"groups": 24, "length": 10, "subjects": 5, "each": 8}
STORIES = {"groups": 8, "length": 30, "subjects": 5, "each": 12}
SENTENCES = {"groups": 52, "length": 8, "subjects": 5, "each": 10}
SINGLE = {"groups": 300, "length": 1, "subjects": 1, "each": 1}
CASES = {
    "passages": ("`ridge`, 24 topics of 10 sentences, 5 subjects", recorded("ridge_pearsonr", splits=10, **PASSAGES)),
    "stories": ("`ridge`, 8 stories of 30 scans, 5 subjects", recorded("ridge_pearsonr", splits=8, **STORIES)),
    "sentences": ("`ridge`, 52 sentences of 8 words, 5 subjects", recorded("ridge_pearsonr", splits=10, **SENTENCES)),
    "few subjects": (
        "`ridge`, 24 topics, these 3 subjects",
        recorded("ridge_pearsonr", splits=10, fixed_subjects=True, **PASSAGES | {"subjects": 3}),
    ),
    "one voxel": ("`ridge`, 300 unrelated sentences, this neuroid", recorded("ridge_pearsonr", **SINGLE)),
    "kernels": ("`cka`, 300 unrelated sentences, this neuroid", recorded("cka", **SINGLE)),
    "single presentations": (
        "for comparison: 24 topics, but sentences taken as independent",
        recorded("ridge_pearsonr", splits=10, independent=True, **PASSAGES),
    ),
    "times": ("`NaturalStories2021-pearsonr`, 10 stories of 100 words", read("NaturalStories2021-pearsonr")),
    "added": ("`NaturalStories2021-added`, 10 stories of 100 words", read("NaturalStories2021-added")),
    "people": ("`Futrell2018-pearsonr`, 10 stories of 60 words, 40 people", people),
}


def neighbourhood(groups, length):
    """A model that knows the text of a presentation and its place, and nothing that is said (after OASM)."""
    place = np.arange(length)
    blocks = np.exp(-((place[:, None] - place) ** 2) / 2)
    return np.kron(np.eye(groups), blocks)


def confound(rng):
    """Score of the neighbourhood, and of the features, by shuffled and by whole texts; recordings of noise."""
    groups, length = 24, 10
    _, noise = recordings(rng, groups=groups, length=length, subjects=5, each=8, signal=0)
    noise.attrs["stimulus_groups"] = "text"
    grouped = {"splits": 10, "split_coord": "text", "kfold": "group", "random_state": 1}
    model = assembly(neighbourhood(groups, length), groups, length)
    return [
        load_metric("ridge_pearsonr", crossvalidation_kwargs=options).value(model, noise)
        for options in (SHUFFLED, grouped)
    ]


def simulate(name, number):
    """Counts of a case."""
    random = np.random.default_rng([*name.encode()])
    if name == "confound":
        values = np.array([confound(random) for _ in range(number)])
        return {"simulations": number, "mean": values.mean(axis=0).tolist(), "sd": values.std(axis=0, ddof=1).tolist()}
    scores = [CASES[name][1](random) for _ in range(number)]
    scores = [score.attrs.get("raw") if name == "people" else score for score in scores]
    values = np.array([float(score) for score in scores])
    limits = np.array([score.attrs["ci"] for score in scores], dtype=float)
    errors = np.array([score.attrs["error"] for score in scores], dtype=float)
    truth = (values - [score.attrs.get("bias", 0.0) for score in scores]).mean()  # intervals are about it without bias
    return {
        "simulations": number,
        "held": int(((limits[:, 0] <= truth) & (truth <= limits[:, 1])).sum()),
        "truth": float(truth),
        "ratio": float(np.sqrt(np.nanmean(errors**2)) / values.std(ddof=1)),
    }


def tables(store):
    """Markdown of all cases."""
    head = "| simulated experiments | number | covered, % | s.e. | error / SD of scores |"
    lines = [head, "|---|---:|---:|---:|---:|"]
    for name, (title, _) in CASES.items():
        if name in store:
            found = store[name]
            share = found["held"] / found["simulations"]
            error = math.sqrt(share * (1 - share) / found["simulations"])
            number = found["simulations"]
            lines.append(f"| {title} | {number} | {100 * share:.1f} | {100 * error:.1f} | {found['ratio']:.2f} |")
    text = "\n".join(lines)
    if "confound" in store:
        found = store["confound"]
        shuffled, whole = (
            (m, s / math.sqrt(found["simulations"])) for m, s in zip(found["mean"], found["sd"], strict=True)
        )
        text += (
            "\n\nA model that knows in which passage a sentence is, and its place in it, but nothing of what is said, "
            f"was scored on recordings of noise alone that neighbouring sentences share ({found['simulations']} "
            f"experiments): {shuffled[0]:.3f} ± {shuffled[1]:.3f} by shuffled sentences, {whole[0]:.3f} ± "
            f"{whole[1]:.3f} by whole passages. Shuffled splits reward what has nothing to do with language."
        )
    return text


def main(arguments=None):
    options = simulation_options(__doc__, arguments, metavar="CASE", names=f"{', '.join(CASES)}, confound")
    warnings.simplefilter("ignore")
    found = {}
    for name in [] if options.tables else options.names or [*CASES, "confound"]:
        found[name] = simulate(name, options.simulations or 300)
        print(name, found[name], flush=True)
        if not options.print:
            keep(STORE, (name,), found[name])
    if options.print:
        print(tables(found))
    else:
        PAGE.write_text(between(PAGE.read_text(), BEGIN, END, tables(json.loads(STORE.read_text()))))


if __name__ == "__main__":
    main()
