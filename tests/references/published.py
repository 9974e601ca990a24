"""Metrics on small, seeded data, in the words of the published implementation and of this one alike.

Run by a Python that has the published implementation (brainscore-vision 2.4.2, brainscore-core 2.5.0; ``numpy<2``,
``xarray<2022.6``), this file prints its values, which are kept beside it::

    python -P tests/references/published.py > tests/references/published.json

``test_published.py`` computes the same cases with this implementation.
"""

import hashlib
import json
import sys
import warnings
from importlib.metadata import version

import numpy as np

STIMULI, FEATURES, NEUROIDS = 60, 40, 12
# coordinates of presentations in the order in which averages over repetitions sort by them
ID_FIRST = ("stimulus_id", "object_name", "repetition", "size")
SIZE_FIRST = ("size", "object_name", "stimulus_id", "repetition")


def arrays():
    """Numbers of all cases; rounded, so that they are the same whatever the machine's last bit."""
    rng = np.random.default_rng(20240607)
    latent = rng.standard_normal((STIMULI, 8))
    draw = {
        "model": latent @ rng.standard_normal((8, FEATURES)) + 0.5 * rng.standard_normal((STIMULI, FEATURES)) + 1,
        "wide": latent @ rng.standard_normal((8, 150)) + rng.standard_normal((STIMULI, 150)),
        "brain": latent @ rng.standard_normal((8, NEUROIDS)) + rng.standard_normal((STIMULI, NEUROIDS)),
    }
    draw["repeated"] = draw["brain"] + 1.5 * rng.standard_normal((6, STIMULI, NEUROIDS))
    draw["time"] = draw["repeated"][..., None] + rng.standard_normal((6, STIMULI, NEUROIDS, 3))
    draw["factors"] = rng.standard_normal((2, 3, 20, 30)) + rng.standard_normal((20, 30))
    draw["strengths"] = np.array([2.0, 4, 6, 9, 13, 18, 25, 40])
    # shares of right answers of 40 trials each, at each strength, in two conditions of five models
    steep, middle = np.array([0.5, 0.25, 0.15, 0.3, 0.2]), np.array([7, 10, 12, 9, 14])
    rise = 1 / (1 + np.exp(-steep[:, None] * (draw["strengths"] - middle[:, None])))
    easy, hard = (rng.binomial(40, 0.5 + 0.45 * np.clip(rise + bias, 0, 1)) for bias in (0.15, 0.0))
    draw["right"] = np.stack([easy, hard]).astype(float)
    draw["thresholds"] = np.stack([rng.uniform(5, 12, 7), rng.uniform(8, 25, 7)])
    draw["answers"] = rng.random((9, 2, STIMULI))
    return {name: np.round(values, 6) for name, values in draw.items()}


def checksum(draw):
    """Digest of all numbers."""
    digest = hashlib.sha256()
    for name in sorted(draw):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(np.round(draw[name] * 1e6).astype("<i8")).tobytes())
    return digest.hexdigest()


def presentations(kind, values, coords, dims=("presentation",)):
    """Assembly with coordinates along its first dimension, and the others as given."""
    from brainscore_core.supported_data_standards.brainio import assemblies

    coords = {name: c if isinstance(c, tuple) else ("presentation", np.asarray(c)) for name, c in coords.items()}
    return getattr(assemblies, kind)(values, coords=coords, dims=list(dims))


def stimulus_ids(n=STIMULI):
    """Names of stimuli, not in the order of the rows."""
    return [f"stimulus{(7 * i) % n:03}" for i in range(n)]


def row_order():
    """The order of the rows as a coordinate, by which this implementation sorts before it splits.

    The published one, which runs this file as a script, splits rows as they come.
    """
    return {} if __name__ == "__main__" else {"published_order": np.arange(STIMULI)}


def neural(values, *, prefix="n", subjects=1):
    """Stimuli × neuroids."""
    q = values.shape[1]
    coords = {
        "stimulus_id": stimulus_ids(),
        "object_name": [f"object{i % 4}" for i in range(STIMULI)],
        "neuroid_id": ("neuroid", [f"{prefix}{i:03}" for i in range(q)]),
        "subject": ("neuroid", [f"subject{i % subjects}" for i in range(q)]),
    } | row_order()
    return presentations("NeuroidAssembly", values, coords, ("presentation", "neuroid"))


def repeated(values, *, image_level="stimulus_id"):
    """Repetitions × stimuli × neuroids [× time], one row a presentation."""
    repetitions, n, q = values.shape[:3]
    coords = {
        image_level: np.tile(stimulus_ids(), repetitions),
        "object_name": np.tile([f"object{i % 4}" for i in range(n)], repetitions),
        "repetition": np.repeat(np.arange(repetitions), n),
        "neuroid_id": ("neuroid", [f"n{i:03}" for i in range(q)]),
        "region": ("neuroid", ["IT"] * q),
    }
    dims = ["presentation", "neuroid"]
    if values.ndim == 4:
        coords["time_bin_start"] = ("time_bin", 10 * np.arange(3))
        coords["time_bin_end"] = ("time_bin", 10 * np.arange(3) + 10)
        dims.append("time_bin")
    return presentations("NeuroidAssembly", values.reshape(repetitions * n, *values.shape[2:]), coords, dims)


def shuffled(values, *, order=ID_FIRST):
    """Repetitions in random order, with coordinates of presentations in the given order."""
    assembly = repeated(values)
    rows = np.random.default_rng(5).permutation(len(assembly))
    ids = assembly["stimulus_id"].values[rows]
    columns = {
        "stimulus_id": ids,
        "object_name": assembly["object_name"].values[rows],
        "repetition": assembly["repetition"].values[rows],
        "size": np.array([12.5, 9, 100])[[int(name[-3:]) % 3 for name in ids]],
    }
    coords = {name: columns[name] for name in order}
    coords |= {name: ("neuroid", assembly[name].values) for name in ("neuroid_id", "region")}
    return presentations("NeuroidAssembly", assembly.values[rows], coords, ("presentation", "neuroid"))


def averaged(draw):
    """Order of the stimuli in averages over repetitions, by the coordinates by which they are grouped."""
    from brainscore_vision.benchmark_helpers.neural_common import average_repetition

    found = {}
    for order in (ID_FIRST, SIZE_FIRST, ("object_name", "repetition", "stimulus_id", "size")):
        average = average_repetition(shuffled(draw["repeated"], order=order))
        found[" ".join(order)] = average["stimulus_id"].values.tolist()
    groups = shuffled(draw["repeated"]).multi_groupby(["size", "stimulus_id"]).mean(dim="presentation")
    return found | {"multi_groupby": groups["stimulus_id"].values.tolist()}


def over_time(values):
    """Averages over repetitions, stimuli × neuroids × time."""
    coords = {
        "stimulus_id": stimulus_ids(),
        "object_name": [f"object{i % 4}" for i in range(STIMULI)],
        "neuroid_id": ("neuroid", [f"n{i:03}" for i in range(values.shape[2])]),
        "region": ("neuroid", ["IT"] * values.shape[2]),
        "time_bin_start": ("time_bin", 10 * np.arange(3)),
        "time_bin_end": ("time_bin", 10 * np.arange(3) + 10),
    } | row_order()
    return presentations("NeuroidAssembly", values.mean(axis=0), coords, ("presentation", "neuroid", "time_bin"))


def halves(assembly):
    """Stimuli to fit and to test on."""
    return assembly[{"presentation": slice(0, 45)}], assembly[{"presentation": slice(45, None)}]


def choices(draw):
    """Choices of a model and of eight subjects in two conditions."""
    truth = np.array(["cat", "dog", "car"])[np.arange(STIMULI) % 3]
    other = np.array(["dog", "car", "cat"])[np.arange(STIMULI) % 3]
    condition = np.array(["easy", "hard"])
    skill = np.array([0.9, 0.6])[:, None]
    answers = np.where(draw["answers"] < skill, truth, other)  # observer × condition × stimulus
    ids = np.array([[f"{c}{i:03}" for i in range(STIMULI)] for c in condition])
    columns = {"stimulus_id": ids.ravel(), "truth": np.tile(truth, 2), "condition": np.repeat(condition, STIMULI)}
    model = presentations("BehavioralAssembly", answers[0].ravel(), columns)
    people = {name: np.tile(column, 8) for name, column in columns.items()}
    people["subject"] = np.repeat(np.arange(1, 9), 2 * STIMULI)
    return model, presentations("BehavioralAssembly", answers[1:].ravel(), people)


def confusions(draw):
    """Probabilities of a model, and choices of eight subjects."""
    model, people = choices(draw)
    names = np.array(["car", "cat", "dog"])
    probabilities = np.where(np.asarray(model.values)[:, None] == names, 0.8, 0.1)
    columns = {"stimulus_id": model["stimulus_id"].values, "image_label": model["truth"].values}
    source = presentations(
        "BehavioralAssembly", probabilities, columns | {"choice": ("choice", names)}, ("presentation", "choice")
    )
    columns = {
        "image_label": people["truth"].values,
        "prediction": people.values,
        "subject_id": people["subject"].values,
        "stimulus_id": people["stimulus_id"].values,
    }
    return source, presentations("BehavioralAssembly", (people.values == people["truth"].values).astype(int), columns)


def shapes(draw):
    """Choices of a model, and rightness of eight subjects, on whole and rearranged shapes; not equally many of each."""
    truth = np.array(["cat", "dog", "car"])[np.arange(STIMULI) % 3]
    right = draw["answers"] < np.array([0.9, 0.6])[:, None]
    columns = {"animal": np.tile(truth, 2), "image_type": np.repeat(["w", "f"], STIMULI)}
    values = np.where(right[0].ravel(), columns["animal"], "fox")
    shown = np.arange(2 * STIMULI) % 7 != 3
    columns = {name: column[shown] for name, column in columns.items()}
    columns["choice"] = ("choice", ["made"])
    model = presentations("BehavioralAssembly", values[shown][None], columns, ("choice", "presentation"))
    people = {"image_type": np.tile(np.repeat(["w", "f"], STIMULI), 8)}
    people["subject"] = np.repeat(np.arange(1, 9), 2 * STIMULI)
    asked = np.flatnonzero(np.arange(16 * STIMULI) % 11 != 5)
    assembly = presentations("BehavioralAssembly", right[1:].reshape(-1).astype(int), people)
    return model, assembly[{"presentation": asked}]


def vernier(draw, condition, model):
    """Probabilities of a model whose answers have given shares of right ones at each strength."""
    x = np.repeat(draw["strengths"], 40)
    order = np.tile(np.arange(40), len(draw["strengths"]))
    right = order < np.repeat(draw["right"][condition, model], 40)
    names = np.array(["left", "right"])
    side = order % 2
    probabilities = np.where((side[:, None] == np.arange(2)) == right[:, None], 0.8, 0.2)
    columns = {"offset": x, "image_label": names[side], "choice": ("choice", names)}
    return presentations("BehavioralAssembly", probabilities, columns, ("presentation", "choice"))


def subjects(values):
    """Thresholds of people."""
    names = [f"p{i}" for i in range(len(values))]
    return presentations("PropertyAssembly", values, {"subject": ("subject", names)}, ("subject",))


def cases(draw, **options):
    """Functions by name, each of which returns a score; options by identifier."""
    from brainscore_vision import load_metric

    model, wide, brain = (neural(draw[name], prefix=name) for name in ("model", "wide", "brain"))
    people = neural(draw["brain"], subjects=3)
    found = {}
    for name in ("pls", "ridge", "linear_predictivity", "neuron_to_neuron"):
        for label, source in (("", model), (" wide", wide)):
            found[name + label] = lambda name=name, source=source: load_metric(name)(source, brain)
    for label, order in (("", ID_FIRST), (" by size", SIZE_FIRST)):
        found[f"ridge on averages{label}"] = lambda order=order: on_averages("ridge", model, draw, order)
    found["reverse_pls"] = lambda: load_metric("reverse_pls")(neural(draw["wide"][:, 60:], prefix="p"), model)
    k_fold = {"splits": 5, "kfold": True, "train_size": None}
    unstratified = {"stratification_coord": None, "splits": 4, "train_size": 0.7, "random_state": 3}
    for label, kwargs in (("kfold", k_fold), ("unstratified", unstratified)):
        found[f"ridge {label}"] = lambda kwargs=kwargs: load_metric("ridge", crossvalidation_kwargs=kwargs)(
            model, brain
        )
    for name in (
        "pls_split",
        "ridge_split",
        "linear_predictivity_split",
        "neuron_to_neuron_split",
        "ridgecv_split",
        "dual_ridge_split",
        "dual_ridgecv_split",
    ):
        for label, source in (("", model), (" wide", wide)):

            def split(name=name, source=source):
                (train, test), (target_train, target_test) = halves(source), halves(brain)
                parts = {"source_train": train, "source_test": test}
                return load_metric(name)(**parts, target_train=target_train, target_test=target_test)

            found[name + label] = split
    found["spantime_ridge"] = lambda: load_metric("spantime_ridge")(
        over_time(draw["time"][:3, :, :8]), over_time(draw["time"][3:])
    )
    for name in ("rdm", "rdm_cv", "cka", "cka_biased", "cka_cv"):
        found[name] = lambda name=name: load_metric(name)(model, brain)
    found["rsa_ceiling"] = lambda: load_metric("rsa_ceiling", **options.get("rsa_ceiling", {}))(people)
    found["internal_consistency"] = lambda: load_metric("internal_consistency")(repeated(draw["repeated"]))
    found["internal_consistency_temporal"] = lambda: load_metric("internal_consistency_temporal")(
        repeated(draw["time"])
    )
    found["predictor_consistency"] = lambda: load_metric("predictor_consistency")(
        repeated(draw["repeated"], image_level="image_id")
    )
    found["factor_dimensionality"] = lambda: load_metric("factor_dimensionality", factor="shape")(*factors(draw))
    found |= behavioural(draw)
    return found


def on_averages(name, model, draw, order):
    """Score on averages over repetitions: the folds depend on the order of the stimuli there."""
    from brainscore_vision import load_metric
    from brainscore_vision.benchmark_helpers.neural_common import average_repetition

    return load_metric(name)(model, average_repetition(shuffled(draw["repeated"], order=order)))


def factors(draw):
    """Two assemblies of samples of three factors × neuroids."""
    names = np.repeat(["shape", "texture", "both"], draw["factors"].shape[2])
    for values in draw["factors"]:
        values = values.reshape(len(names), -1)
        q = values.shape[1]
        coords = {
            "factor": names,
            "sample": np.arange(len(names)),
            "neuroid_id": ("neuroid", np.arange(q)),
            "region": ("neuroid", ["IT"] * q),
        }
        yield presentations("DataAssembly", values, coords, ("presentation", "neuroid"))


def behavioural(draw):
    """Cases with behaviour."""
    from brainscore_vision import load_metric

    found = {}
    machine, people = choices(draw)
    for name in ("error_consistency", "accuracy_distance"):
        found[name] = lambda name=name: load_metric(name)(machine, people)
        found[f"{name} ceiling"] = lambda name=name: load_metric(name).ceiling(people)
    found["accuracy_distance by condition"] = lambda: load_metric("accuracy_distance")(
        machine, people, variables=("condition",)
    )
    found["accuracy"] = lambda: load_metric("accuracy")(machine.values, machine["truth"].values)
    found["value_delta"] = lambda: load_metric("value_delta", scale=1.3)(0.7, 1.1)
    found["confusion_similarity"] = lambda: load_metric("confusion_similarity")(*confusions(draw))
    found["baker_accuracy_delta"] = lambda: load_metric("baker_accuracy_delta", image_types=["w", "f"])(*shapes(draw))
    found["baker_accuracy_delta ceiling"] = lambda: shapes_ceiling(shapes(draw)[1])
    person = {
        "baseline_assembly": subjects(draw["thresholds"][0]),
        "condition_assembly": subjects(draw["thresholds"][1]),
    }

    def threshold(accuracy="inflection"):
        return load_metric("threshold", independent_variable="offset", threshold_accuracy=accuracy)

    def elevation(accuracy="inflection"):
        return load_metric(
            "threshold_elevation",
            independent_variable="offset",
            baseline_condition="base",
            test_condition="test",
            threshold_accuracy=accuracy,
        )

    for index in range(draw["right"].shape[1]):
        for label, accuracy in (("", "inflection"), (" 0.75", 0.75)):
            name = f"threshold{label} {index}"
            found[name] = lambda accuracy=accuracy, index=index: threshold(accuracy)(
                vernier(draw, 1, index), person["condition_assembly"]
            )
            name = f"threshold_elevation{label} {index}"
            found[name] = lambda accuracy=accuracy, index=index: elevation(accuracy)(
                {"base": vernier(draw, 0, index), "test": vernier(draw, 1, index)}, person
            )
    found["threshold ceiling"] = lambda: threshold().ceiling(person["condition_assembly"])
    found["threshold_elevation ceiling"] = lambda: elevation().ceiling(person)
    return found


def shapes_ceiling(people):
    """Ceiling of baker_accuracy_delta, which the published implementation keeps with its benchmark."""
    from brainscore_vision import load_metric

    metric = load_metric("baker_accuracy_delta", image_types=["w", "f"])
    if not hasattr(metric, "compute_ceiling"):
        return metric.ceiling(people)
    from brainscore_vision.benchmarks.baker2022.benchmark import SplitHalvesConsistencyBaker

    kwargs = {"metric": metric, "num_splits": 100, "split_coordinate": "subject", "image_types": ["w", "f"]}
    return SplitHalvesConsistencyBaker(**kwargs)(people)


def describe(score):
    """Value, and all values where they have the dimensions split and neuroid, or one."""
    result = {"value": np.asarray(getattr(score, "values", score)).astype(float).tolist()}
    raw = score.attrs.get("raw")
    dims = [d for d in ("split", "time_bin", "neuroid") if d in getattr(raw, "dims", ())]
    if dims and len(dims) == len(raw.dims):
        result["dims"] = dims
        result["raw"] = np.asarray(raw.transpose(*dims).values).astype(float).tolist()
    return result


def tested(draw):
    """Stimuli tested in each split, by arguments of the cross-validation."""
    from brainscore_core.metric_helpers.transformations import CrossValidation
    from brainscore_core.metrics import Score

    found = {}
    for name, kwargs in {
        "default": {},
        "unstratified": {"stratification_coord": None},
        "kfold": {"splits": 5, "kfold": True, "train_size": None},
        "kfold unstratified": {"splits": 5, "kfold": True, "train_size": None, "stratification_coord": None},
        "seed": {"random_state": 7, "train_size": 0.6, "splits": 3},
        "objects": {"split_coord": "object_name", "stratification_coord": None, "unique_split_values": True},
        "leave little": {"test_size": 0.9},
    }.items():
        parts = []

        def apply(source_train, target_train, source_test, target_test, parts=parts):
            parts.append(sorted(target_test["stimulus_id"].values.tolist()))
            return Score(0.0)

        validation = CrossValidation(**kwargs)
        validation(neural(draw["model"])[{"presentation": slice(None, None, -1)}], neural(draw["brain"]), apply=apply)
        found[name] = parts
    return found


def main():
    """Print the values of the implementation at hand."""
    draw = arrays()
    values, failed = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, compute in cases(draw).items():
            try:
                values[name] = describe(compute())
            except Exception as error:  # what the published implementation cannot do is recorded
                failed[name] = repr(error)[:200]
    packages = ("brainscore-vision", "brainscore-core", "numpy", "scipy", "scikit-learn", "xarray", "pandas")
    result = {
        "versions": {name: version(name) for name in packages},
        "checksum": checksum(draw),
        "cases": values,
        "failed": failed,
        "tested": tested(draw),
        "averaged": averaged(draw),
    }
    sys.stdout.write(json.dumps(result, indent=1, allow_nan=True, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
