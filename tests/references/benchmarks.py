"""Whole benchmarks on stand-ins with one candidate, by the published implementation and by this one alike.

This implementation's Python writes the stand-ins; one that has the published implementation (brainscore-vision 2.4.2,
brainscore-core 2.5.0; ``numpy<2``, ``xarray<2022.6``) scores the candidate on them and prints the values, which are
kept beside this file::

    python tests/references/benchmarks.py export FOLDER
    python -P tests/references/benchmarks.py score FOLDER > tests/references/benchmarks.json

Identifiers after the folder choose benchmarks; without them, all of this implementation are tried.
``test_benchmarks.py`` scores the same candidate with this implementation.

Data plugins and benchmarks of the published implementation run as they are: only its downloads are replaced by files of
the folder. ``change_published`` and ``change_benchmark`` say what else is changed there, and why.
"""

import contextlib
import hashlib
import json
import os
import re
import sys
import warnings
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from unittest.mock import patch
from urllib.parse import urlparse

import numpy as np

NEUROIDS = 40
IDENTIFIERS = "identifiers.json"
LAION = "laion-fmri"
# columns of stimuli that say what is seen: the first that there is
CLASSES = ("truth", "image_label", "object_class", "category_name", "object_name", "label")
OFFSET = "vernier_offset_arcsec"
SYNSETS = ("n01440764", "n02099601", "n03028079", "n07734744")


def uniform(name, n):
    """Numbers in [0, 1) that depend on a name only."""
    digest = hashlib.shake_256(str(name).encode()).digest(4 * n)
    return np.frombuffer(digest, "<u4") / 2.0**32


def presentations(stimuli):
    """Coordinates of presentations: the columns of the stimuli."""
    return {name: ("presentation", stimuli[name].values) for name in stimuli.columns}


def column(stimuli, names, otherwise):
    """Values of the first of some columns that there is."""
    found = next((name for name in names if name in stimuli.columns), None)
    return [otherwise] * len(stimuli) if found is None else stimuli[found].tolist()


def candidate(degrees):
    """Model whose answers depend on names and classes of stimuli; it opens no image."""
    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
    from brainscore_vision.model_interface import BrainModel

    class Candidate(BrainModel):
        identifier = "names"

        def __init__(self):
            self.asked = set()

        def visual_degrees(self):
            return degrees

        def start_task(self, task, fitting_stimuli=None, **_):
            self.asked.add(f"task {task}")
            self._answer = {
                BrainModel.Task.label: self._label,
                BrainModel.Task.probabilities: self._probabilities,
                BrainModel.Task.odd_one_out: self._odd_one_out,
            }[task]
            self._fitting = fitting_stimuli

        def start_recording(self, recording_target, time_bins, **_):
            self._answer, self._bins = self._record, [np.asarray(times).tolist() for times in time_bins]
            self.asked |= {f"{recording_target} at {start:g}–{end:g} ms" for start, end in self._bins}

        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            self.asked.add(f"{number_of_trials} trials{', with variance' * require_variance}")
            if "--target" in str(stimuli.identifier):
                self.asked.add("another visual angle")
            return self._answer(stimuli)

        def _record(self, stimuli):
            starts, ends = np.array(self._bins).T
            own = np.array([uniform(name, NEUROIDS) for name in stimuli["stimulus_id"]])
            shared = np.array([uniform(f"class {name}", NEUROIDS) for name in column(stimuli, CLASSES, "")])
            late = (np.arange(len(starts)) + 1) / len(starts)
            values = own[..., None] * (1.5 - late) + shared[..., None] * late
            coords = {
                **presentations(stimuli),
                "neuroid_id": ("neuroid", np.arange(NEUROIDS)),
                "region": ("neuroid", ["any"] * NEUROIDS),
                "layer": ("neuroid", ["names"] * NEUROIDS),
                "time_bin_start": ("time_bin", starts),
                "time_bin_end": ("time_bin", ends),
            }
            return NeuroidAssembly(np.round(values, 9), coords=coords, dims=["presentation", "neuroid", "time_bin"])

        def _label(self, stimuli):
            known = SYNSETS if isinstance(self._fitting, str) else self._fitting
            answers = []
            columns = stimuli["stimulus_id"], column(stimuli, CLASSES, ""), column(stimuli, ["image_type"], "w")
            for name, seen, kind in zip(*columns, strict=True):
                chance, other = uniform(f"label {name}", 2)
                right = chance < (0.7 if kind == "w" else 0.6) and seen in known
                answers.append(seen if right else known[int(other * len(known))])
            return BehavioralAssembly([answers], coords=presentations(stimuli), dims=["choice", "presentation"])

        def _probabilities(self, stimuli):
            known = sorted(set(self._fitting["image_label"]))
            values = np.array([uniform(f"probabilities {name}", len(known)) for name in stimuli["stimulus_id"]])
            strength = np.abs(column(stimuli, [OFFSET], 1.0))
            right = np.array([[label == seen for label in known] for seen in column(stimuli, CLASSES, "")])
            values += right * (0.6 * strength / strength.max())[:, None]
            values = np.round(values / values.sum(axis=1, keepdims=True), 9)
            coords = {**presentations(stimuli), "choice": ("choice", known)}
            return BehavioralAssembly(values, coords=coords, dims=["presentation", "choice"])

        def _odd_one_out(self, stimuli):
            triplets = np.array(stimuli["stimulus_id"].tolist()).reshape(-1, 3)
            names = ["_".join(triplet) for triplet in triplets.astype(str)]
            answers = []
            for triplet, name in zip(triplets, names, strict=True):
                chance, other = uniform(name, 2)
                answers.append(triplet[2 if chance < 0.4 else int(3 * other)])
            return BehavioralAssembly(answers, coords={"stimulus_id": ("presentation", names)}, dims=["presentation"])

    return Candidate()


class Readout:
    """Probabilities of objects by the distances to their means; neither library nor number of steps changes them."""

    def fit(self, X, y):
        self._means = np.stack([X[y == code].mean(axis=0) for code in range(y.max() + 1)])
        return self

    def predict_proba(self, X):
        near = np.exp(-((X[:, None] - self._means) ** 2).sum(axis=2))
        return near / near.sum(axis=1, keepdims=True)


def degrees_of(benchmark):
    """Visual angle at which the published benchmark shows its stimuli: on a screen of it, none is changed."""
    degrees = np.unique(getattr(benchmark, "_visual_degrees", 8))
    return float(degrees[0]) if len(degrees) == 1 else 8.0


def describe(benchmark, degrees):
    """What the candidate is asked, and its score, raw value and ceiling."""
    model = candidate(degrees)
    score = benchmark(model)
    found = {"score": score} | {name: score.attrs[name] for name in ("raw", "ceiling") if name in score.attrs}
    if "ceiling" not in found:
        found["ceiling"] = benchmark.ceiling
    found = {name: np.asarray(value).astype(float) for name, value in found.items()}
    if benchmark.identifier == "Igustibagus2024-IT_accuracy":  # with its error there
        found = {name: value.ravel()[0] for name, value in found.items() if name != "raw"}
    values = {name: value.tolist() for name, value in found.items() if value.size == found["score"].size}
    return {"asked": sorted(model.asked), "degrees": degrees, **values}


def fit_to_stand_in(benchmark):
    """What both implementations need to be told about a benchmark before it is scored."""
    if benchmark.identifier == "ImageNet-top1":
        show_few_pictures(benchmark)
    if benchmark.identifier == "Kar2019-ost":
        solve_half(benchmark)
    if benchmark.identifier == "Igustibagus2024-IT_accuracy":
        split_often_enough(benchmark)


def show_few_pictures(benchmark):
    """Name 200 pictures instead of ImageNet's 50,000, which have no stand-in."""
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision.utils import LazyLoad

    names = [f"ILSVRC2012_val_{i:08}" for i in range(1, 201)]
    synsets = [SYNSETS[int(4 * uniform(f"synset {name}", 1)[0])] for name in names]
    files = [f"{name}.JPEG" for name in names]
    stimuli = StimulusSet({"stimulus_id": names, "filename": files, "filepath": files, "synset": synsets})
    stimuli.identifier, stimuli.stimulus_paths = "imagenet2012", dict(zip(names, files, strict=True))
    benchmark._stimulus_set = benchmark._stimuli = LazyLoad(lambda: stimuli)


def solve_half(benchmark):
    """Solve half of the pictures: a tenth, as published, does not show every object where there are 70 of them."""
    from brainscore_core.metric_helpers.transformations import CrossValidation

    halves = CrossValidation(splits=10, train_size=0.5, random_state=1, stratification_coord=None)
    benchmark._similarity_metric._cross_validation = halves


def split_often_enough(benchmark):
    """Split 40 times, not a thousand: the published splits have no seed."""
    if hasattr(benchmark, "n_splits"):
        benchmark.n_splits = 40
    else:
        sys.modules[type(benchmark).__module__].NUM_SPLITS = 40


def side_of(names, split):
    """Which pictures of LAION-fMRI test: as the stand-in states."""
    rows = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([rows[name] % {"tau": 5, "ood": 4}[split] == 0 for name in names])


def export(folder):
    """Write all stand-ins as the storage of the published implementation would hold them, and names of benchmarks."""
    from brainscore_vision import benchmark_registry
    from brainscore_vision.testing import stand_ins

    def keep(client, bucket, key, path):
        place = Path(folder) / bucket / key
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())

    with (
        patch.dict(os.environ, AWS_ENDPOINT_URL="http://localhost"),
        patch.object(stand_ins, "signed_client", lambda: None),
        patch.object(stand_ins, "_upload", keep),
        patch("brainscore_vision.data.geirhos2021.data_packaging._are_the_authors", lambda test: False),
        stand_ins.serve_stand_ins(),
    ):
        (Path(folder) / IDENTIFIERS).write_text(json.dumps(sorted(benchmark_registry)), encoding="utf-8")
    laion = Path(folder) / LAION
    laion.mkdir(parents=True)
    stimuli = stand_ins.make_stimulus_set("Zerbe2026_fmri_stim_full")
    lines = ["stimulus_id,filename"]
    for name, path in stimuli.stimulus_paths.items():
        (laion / path.name).write_bytes(path.read_bytes())
        lines.append(f"{name},{path.name}")
    (laion / "manifest.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def change_published(folder):
    """Let the published implementation find the stand-ins, and do without chance and libraries that few have."""
    from brainscore_core.supported_data_standards.brainio import s3
    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly

    def fetch_file(location_type, location, sha1=None, version_id=None):
        place = urlparse(location)
        path = Path(folder) / place.hostname.split(".s3.")[0] / place.path.lstrip("/")
        if not path.is_file():
            raise FileNotFoundError(f"no stand-in for {path.name}")
        return str(path)

    s3.fetch_file = fetch_file
    # pictures and their division come with a package of the data's authors
    os.environ["LAION_FMRI_STIMULI_DIR"] = str(Path(folder) / LAION)
    splits = ModuleType("laion_fmri.splits")

    def get_split_masks(trials, split, pool):
        tested = side_of(trials["label"], split)
        return ~tested, tested

    splits.get_split_masks = get_split_masks
    sys.modules |= {"laion_fmri": ModuleType("laion_fmri"), "laion_fmri.splits": splits}
    # resamples are drawn without a seed there
    distributions = import_module("brainscore_vision.metrics.distribution_similarity.metric")
    similarity = distributions.BootstrapDistributionSimilarity
    compare = similarity.__call__

    def seeded(self, model, data):
        rng = np.random.default_rng(0)
        with patch.object(np.random, "choice", lambda values, n: values[rng.integers(0, len(values), n)]):
            return compare(self, model, data)

    similarity.__call__ = seeded
    # images are named in image_id there, which the storage's files of MajajHong2015 have, too
    consistency = import_module("brainscore_vision.metrics.predictor_consistency.ceiling")
    consistency.SplitHalfPredictorConsistency.__init__.__defaults__ = (10, 0, "stimulus_id", "repetition")
    # the readout of Kar2019 needs TensorFlow there
    ost = import_module("brainscore_vision.metrics.ost.metric")

    class Classifier(ost.TFProbabilitiesClassifier):
        def fit(self, X, Y):
            codes, self._label_mapping = self.labels_to_indices(Y.values)
            self._readout = Readout().fit(X.values, codes)

        def predict_proba(self, X):
            names = X["presentation"].to_index().names
            coords = {name: ("presentation", X[name].values) for name in names}
            coords["choice"] = ("choice", list(self._label_mapping.values()))
            values = self._readout.predict_proba(X.values)
            return BehavioralAssembly(values, coords=coords, dims=["presentation", "choice"])

        def close(self):
            pass

    ost.TFProbabilitiesClassifier = Classifier


@contextlib.contextmanager
def converged_pls():
    """Weights of PLS regression are singular vectors, where scikit-learn's power method stops before them."""
    regressions = import_module("brainscore_vision.metrics.regression_correlation.metric")

    class Converged(regressions.PLSRegression):
        def fit(self, X, Y):
            self.algorithm = "svd"
            return super().fit(X, Y)

    with patch.object(regressions, "PLSRegression", Converged):
        yield


def change_benchmark(benchmark):
    """Ask of a published benchmark what a stand-in can answer."""
    from brainscore_vision import load_dataset

    fit_to_stand_in(benchmark)
    # rows of the recordings are left out of the model's there, and rows of the model are divided
    if benchmark.identifier == "Igustibagus2024-ridge" or benchmark.identifier.endswith("reverse_pls"):
        compare = benchmark._similarity_metric

        def in_order(ours, recorded):
            rows = {name: k for k, name in enumerate(ours["stimulus_id"].values)}
            return compare(ours.isel(presentation=[rows[name] for name in recorded["stimulus_id"].values]), recorded)

        benchmark._similarity_metric = in_order
    if "Islam2021" in benchmark.identifier:  # neuroids are expected before presentations there
        pairs_of = benchmark.get_assembly_sets
        benchmark.get_assembly_sets = lambda found: pairs_of(found.squeeze("time_bin").transpose())
    if "Malania2007" in benchmark.identifier:  # strengths are published as image_label; here that says left or right
        metric = benchmark._metric
        for part in (metric, *(getattr(metric, f"{name}_threshold_metric", metric) for name in ("baseline", "test"))):
            part._independent_variable = OFFSET
        if benchmark.identifier == "Malania2007.vernieracuity-threshold":  # both conditions are passed, and it fails
            measured = metric.scoring_function
            metric.scoring_function = lambda ours, people: measured(ours, people["baseline_assembly"].values)
    if "Geirhos2021" in benchmark.identifier:  # a stand-in has one of the conditions that are left out
        excluded = sys.modules[type(benchmark).__module__].EXCLUDE_CONDITIONS
        for test in excluded:
            if benchmark.identifier.startswith(f"Geirhos2021{test.replace('-', '')}-"):
                shown = load_dataset(f"Geirhos2021_{test}")["condition"].values
                excluded[test] = [condition for condition in excluded[test] if condition in shown]


def score(folder, chosen):
    """Values of the published implementation, and what it cannot do."""
    os.environ.update(BS_INSTALL_DEPENDENCIES="no", RESULTCACHING_DISABLE="1")
    from brainscore_vision import load_benchmark

    change_published(folder)

    def values_of(identifier):
        benchmark = load_benchmark(identifier)
        change_benchmark(benchmark)
        return describe(benchmark, degrees_of(benchmark))

    values, failed = {}, {}
    for identifier in chosen or json.loads((Path(folder) / IDENTIFIERS).read_text(encoding="utf-8")):
        print(identifier, file=sys.stderr)
        try:
            values[identifier] = values_of(identifier)
            if identifier.endswith("pls"):
                with converged_pls():
                    values[identifier]["converged"] = values_of(identifier)
        except Exception as error:  # what the published implementation cannot do is recorded
            failed[identifier] = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:120]
    return values, failed


def main(what, folder, *chosen):
    """Write the stand-ins, or print the values of the published implementation."""
    if what == "export":
        export(folder)
        return
    with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        values, failed = score(folder, chosen)
    packages = ("brainscore-vision", "brainscore-core", "numpy", "scipy", "scikit-learn", "xarray", "pandas")
    result = {"versions": {name: version(name) for name in packages}, "benchmarks": values, "failed": failed}
    sys.stdout.write(json.dumps(result, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
