"""One benchmark analysed in many ways, against the metrics themselves, scikit-learn, and simulations of known order."""

import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler, normalize

import brainscore
from brainscore_core.errors import UserError
from brainscore_core.figures import Specification, specification
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.assessment.features import SCALINGS, Features, transformed
from brainscore_vision.assessment.multiverse import CHOICES, Multiverse, multiverse
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

STIMULI, NEUROIDS, OBJECTS, REPETITIONS = 100, 6, 10, 4
NAMES = np.array([f"s{i:02}" for i in range(STIMULI)])
IN_OBJECTS = np.arange(STIMULI) % OBJECTS


def _assembly(values, names=NAMES, **columns):
    coords = {"stimulus_id": ("presentation", names)} | {name: ("presentation", c) for name, c in columns.items()}
    coords["neuroid_id"] = ("neuroid", np.arange(values.shape[1]))
    coords["region"] = ("neuroid", ["IT"] * values.shape[1])
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def _signal(seed=0):
    rng = np.random.default_rng(seed)
    objects = rng.standard_normal((OBJECTS, 12))[IN_OBJECTS]
    return objects + rng.standard_normal((STIMULI, 12))


def _benchmark(metric="ridge", *, seed=0, grouped=True):
    """Simulated recordings, in random order."""
    rng = np.random.default_rng(seed + 100)
    expected = _signal(seed) @ rng.standard_normal((12, NEUROIDS))
    values = expected + 2 * rng.standard_normal((REPETITIONS, STIMULI, NEUROIDS))
    columns = {"object_name": np.tile(IN_OBJECTS, REPETITIONS)} if grouped else {}
    repeated = _assembly(
        values.reshape(-1, NEUROIDS),
        np.tile(NAMES, REPETITIONS),
        repetition=np.repeat(np.arange(REPETITIONS), STIMULI),
        **columns,
    )
    ceiling = load_ceiling("internal_consistency")(repeated)
    averaged = average_repetition(repeated).isel(presentation=rng.permutation(STIMULI))
    averaged.attrs["stimulus_set"] = StimulusSet({"stimulus_id": NAMES})
    averaged.attrs["stimulus_set"].identifier = "simulated"
    averaged.attrs["stimulus_set_identifier"] = "simulated"
    return NeuralBenchmark(
        f"Simulated.IT-{metric}",
        assembly=averaged,
        similarity_metric=load_metric(metric),
        visual_degrees=8,
        number_of_trials=1,
        ceiling_func=lambda: ceiling,
        version=1,
    )


def _features(number, *, seed=0, noise=1.0, dtype=np.float64):
    """Rectified random features of the signal with noise, of different sizes and means."""
    rng = np.random.default_rng(seed + 200)
    values = _signal() @ rng.standard_normal((12, number)) + noise * rng.standard_normal((STIMULI, number))
    values = np.maximum(values + 1, 0) * np.exp(rng.standard_normal(number)) / np.sqrt(number)
    return values.astype(dtype)


def _lookup(result, model="model", **choices):
    table = result.table
    for name, value in ({"layer": "committed"} | choices).items():
        table = table[table[name] == value]
    (row,) = table[table["model"] == model].to_dict("records")
    return row


SPLITS = {"random": {}, "grouped by object_name": {"group_coord": "object_name", "stratification_coord": None}}
FITTED = ("pls", "ridge", "ridgecv", "linear_predictivity", "neuron_to_neuron", "reverse_ridge")
UNFITTED = ("rdm", "rdm_cosine", "rdm_euclidean", "cka", "cka_rbf", "procrustes", "effective_dimensionality")


@pytest.mark.parametrize("number", [40, pytest.param(300, marks=pytest.mark.slow(reason="fits many regressions"))])
@pytest.mark.parametrize(
    "metrics",
    [
        pytest.param(FITTED[:3], marks=pytest.mark.slow(reason="fits many regressions")),
        pytest.param(FITTED[3:], marks=pytest.mark.slow(reason="fits many regressions")),
        UNFITTED,
        ("cka_cv", "rdm_cv"),
    ],
    ids=lambda m: m[0],
)
def test_each_analysis_equals_the_metric_on_transformed_features(number, metrics):
    """All combinations, of which there are up to 54 a case: one to three seconds."""
    benchmark, values = _benchmark(), _features(number)
    reductions = ["none", "pca:30", "projection:32"]
    result = multiverse(
        {"model": _assembly(values)},
        benchmark,
        metrics=metrics,
        reductions=reductions,
        normalisations=["raw"],
    )
    assert len(result.analyses) == sum(1 if name in UNFITTED else 2 for name in metrics) * 9
    for analysis in result.analyses:
        changed = transformed(values, scaling=analysis.scaling, reduction=analysis.reduction)
        source = _assembly(changed, object_name=IN_OBJECTS)
        options = SPLITS.get(analysis.split)
        metric = load_metric(analysis.metric, **({} if options is None else {"crossvalidation_kwargs": options}))
        expected = float(metric(source, benchmark._assembly))
        assert analysis.score == pytest.approx(expected, abs=1e-8), analysis
        assert analysis.features == source.sizes["neuroid"]


def test_equals_scikit_learn():
    benchmark, values = _benchmark(grouped=False), _features(300)
    result = multiverse({"model": _assembly(values)}, benchmark, metrics=["ridge"], reductions=["none"])
    X = StandardScaler().fit_transform(values)
    recorded = benchmark._assembly
    Y = recorded.values[np.argsort(recorded["stimulus_id"].values)]
    medians = []
    for train, test in ShuffleSplit(10, train_size=0.9, random_state=1).split(X):
        predicted = Ridge(alpha=1.0).fit(X[train], Y[train]).predict(X[test])
        medians.append(np.median([np.corrcoef(predicted[:, i], Y[test, i])[0, 1] for i in range(NEUROIDS)]))
    row = _lookup(result, scaling="standardised", normalisation="raw")
    assert row["split"] == "random"
    assert row["score"] == pytest.approx(np.mean(medians), abs=1e-8)


@pytest.mark.parametrize("number", [40, 300])
def test_transformations_equal_scikit_learn(number):
    values = _features(number)
    values[:, 3] = 0.1  # a constant, whose deviations are rounding errors
    np.testing.assert_allclose(transformed(values, scaling="standardised"), StandardScaler().fit_transform(values))
    values[5] = 0
    np.testing.assert_allclose(transformed(values, scaling="unit norm"), normalize(values))
    for scaling in SCALINGS:
        scores = transformed(values, scaling=scaling, reduction="pca:20")
        expected = PCA(20, svd_solver="full").fit_transform(transformed(values, scaling=scaling))
        np.testing.assert_allclose(np.abs(scores), np.abs(expected), atol=1e-8)
        assert (scores[np.abs(scores).argmax(axis=0), np.arange(20)] > 0).all()
        projected = transformed(values, scaling=scaling, reduction="projection:32", seed=1)
        weights = transformed(np.eye(number), reduction="projection:32", seed=1)
        np.testing.assert_allclose(projected, transformed(values, scaling=scaling) @ weights, atol=1e-10)


def test_products_are_kept_whatever_is_constant():
    values = _features(300, dtype=np.float32)
    values[4] = 0  # a stimulus to which nothing responds
    values[7] = 2.5  # a stimulus to which everything responds alike
    compact = Features(values, 0).compact("none")
    whole = values.astype(np.float64)
    assert compact.shape[1] <= STIMULI + 1
    np.testing.assert_allclose(compact @ compact.T, whole @ whole.T, atol=1e-10 * np.abs(whole @ whole.T).max())
    sums = compact.sum(axis=1) / np.sqrt(compact.shape[1])
    np.testing.assert_allclose(sums, whole.sum(axis=1) / np.sqrt(300), atol=1e-8)
    assert np.ptp(compact[4]) == 0
    assert np.ptp(compact[7]) < 1e-12


def test_undefined_scores_have_reasons():
    benchmark = _benchmark()
    constant = np.ones((STIMULI, 300))
    silent = _features(300)
    silent[4] = 0
    result = multiverse(
        {"model": _assembly(_features(20)), "constant": _assembly(constant), "silent": _assembly(silent)},
        benchmark,
        metrics=["ridge", "rdm", "cka"],
        scalings=["none"],
    )
    reduced = _lookup(result, metric="ridge", split="random", reduction="pca:100", normalisation="raw")
    assert np.isnan(reduced["score"])
    assert "20 features" in reduced["reason"]
    unceiled = _lookup(result, metric="rdm", reduction="none", normalisation="ceiling")
    assert np.isnan(unceiled["score"])
    assert "does not apply to 'rdm'" in unceiled["reason"]
    for metric, split in (("ridge", "random"), ("rdm", "all stimuli"), ("cka", "all stimuli")):
        row = _lookup(result, "constant", metric=metric, split=split, reduction="none", normalisation="raw")
        assert np.isnan(row["score"])
        assert row["reason"]
    silenced = _lookup(result, "silent", metric="rdm", reduction="none", normalisation="raw")
    assert np.isnan(silenced["score"])
    assert silenced["reason"]
    assert len(result.scores) == len(result.table) / 3  # nothing is left out
    assert np.isnan(result.ranks.loc[:, "constant"]).all()


def test_the_reference_relative_to_the_ceiling_is_the_score_of_the_benchmark():
    benchmark, features = _benchmark(), _assembly(_features(300))
    result = multiverse({"model": features}, benchmark, metrics=["ridge"], normalisations=["ceiling", "raw"])
    score = benchmark(PrecomputedFeatures(features, visual_degrees=8))
    reference = _lookup(result, **result.reference)
    assert reference["normalisation"] == "ceiling"
    assert reference["score"] == pytest.approx(float(score.attrs["unclamped"]), abs=1e-8)
    raw = _lookup(result, **result.reference | {"normalisation": "raw"})
    assert raw["score"] == pytest.approx(float(score.attrs["raw"]), abs=1e-8)


def test_grouped_splits_give_nothing_to_features_of_the_group():
    """Features that identify the object predict random splits, but no stimuli of another object."""
    rng = np.random.default_rng(3)
    codes = rng.standard_normal((OBJECTS, 200))[IN_OBJECTS] + 0.1 * rng.standard_normal((STIMULI, 200))
    result = multiverse({"model": _assembly(codes)}, _benchmark(), metrics=["ridge"], normalisations=["raw"])
    random = _lookup(result, split="random", scaling="none", reduction="none")["score"]
    grouped = _lookup(result, split="grouped by object_name", scaling="none", reduction="none")["score"]
    assert random > 0.4
    assert abs(grouped) < 0.35


def _models_that_flip():
    """The better model has its signal in small features, which a fixed penalty shrinks: scaling decides the order."""
    rng = np.random.default_rng(5)
    signal, nuisance = _signal() @ rng.standard_normal((12, 20)), rng.standard_normal((STIMULI, 20))
    good = np.concatenate([signal * 1e-3, nuisance], axis=1)
    noisy = _signal() @ rng.standard_normal((12, 40)) + 8 * rng.standard_normal((STIMULI, 40))
    return {"good": _assembly(good), "bad": _assembly(noisy)}


def test_the_choice_that_flips_an_order_is_found():
    options = {"scalings": ["none", "standardised"], "reductions": ["none"], "groups": []}
    result = multiverse(_models_that_flip(), _benchmark(), metrics=["ridge", "linear_predictivity"], **options)
    assert result.reference == {
        "metric": "ridge",
        "split": "random",
        "scaling": "none",
        "reduction": "none",
        "layer": "committed",
        "normalisation": "raw",
    }
    ranks = result.ranks
    assert ranks.loc[("ridge", "random", "none", "none", "committed", "raw"), "bad"] == 1
    assert ranks.loc[("ridge", "random", "standardised", "none", "committed", "raw"), "good"] == 1
    flips = result.flips()
    row = flips[(flips["choice"] == "scaling") & (flips["second"] == "standardised")].to_dict("records")[0]
    assert (row["first"], row["model"], row["other"], row["compared"]) == ("none", "good", "bad", 4)
    assert row["flipped"] == 2
    assert row["from_reference"] is True
    metric = flips[flips["choice"] == "metric"].to_dict("records")[0]
    assert metric["from_reference"] is True
    assert not flips[flips["choice"] == "normalisation"]["flipped"].any()  # of the same ceiling
    assert "scaling standardised: good and bad" in result.text()


def test_flips_equal_a_count_pair_by_pair():
    rng = np.random.default_rng(0)
    models = {name: _assembly(rng.standard_normal((STIMULI, 80))) for name in "abc"}
    result = multiverse(models, _benchmark(), metrics=["ridge", "rdm"], reductions=["none", "pca:30"])
    scores = dict(zip(result.scores.index, result.scores.to_numpy(), strict=True))
    counted = {}
    for first, second in combinations(scores, 2):
        differing = [name for name, one, other in zip(CHOICES, first, second, strict=True) if one != other]
        if "all stimuli" in {first[1], second[1]} and differing == ["metric", "split"]:
            differing = ["metric"]
        if len(differing) != 1:
            continue
        position = CHOICES.index(differing[0])
        for one, other in combinations(range(3), 2):
            signs = [np.sign(scores[side][one] - scores[side][other]) for side in (first, second)]
            if np.isfinite(signs).all() and 0 not in signs:
                key = (differing[0], frozenset({first[position], second[position]}), one, other)
                before = counted.get(key, (0, 0))
                counted[key] = (before[0] + 1, before[1] + int(signs[0] != signs[1]))
    found = {
        (
            row["choice"],
            frozenset({row["first"], row["second"]}),
            "abc".index(row["model"]),
            "abc".index(row["other"]),
        ): (
            row["compared"],
            row["flipped"],
        )
        for row in result.flips().to_dict("records")
    }
    assert found == counted
    assert any(flipped for _, flipped in found.values())
    assert any(compared > flipped for compared, flipped in found.values())


class _Network:
    """Activations of three layers, of which the second has the signal."""

    identifier = "network"

    def __init__(self):
        rng = np.random.default_rng(0)
        self.values = {name: rng.standard_normal((STIMULI, 90)) for name in ("early", "late")}
        self.values["best"] = _features(90, noise=0.1)
        self.calls = []

    def __call__(self, stimuli, layers, number_of_trials=1, require_variance=False):
        self.calls.append(list(layers))
        rows = np.searchsorted(NAMES, stimuli["stimulus_id"].to_numpy())
        values = np.concatenate([self.values[layer][rows] for layer in layers], axis=1)
        coords = {
            "stimulus_id": ("presentation", stimuli["stimulus_id"].to_numpy()),
            "layer": ("neuroid", np.repeat(layers, 90)),
            "neuroid_id": ("neuroid", [f"{layer}.{i}" for layer in layers for i in range(90)]),
        }
        return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def test_layers_of_a_model():
    network = _Network()
    model = ModelCommitment("network", network, layers=["early", "best", "late"], region_layer_map={"IT": "late"})
    other = ModelCommitment("other", _Network(), layers=["early", "best", "late"], region_layer_map={"IT": "best"})
    blind = RecordedDecisions("blind", dict.fromkeys(NAMES, "a"), visual_degrees=8)
    options = {"metrics": ["ridge"], "scalings": ["none"], "reductions": ["none"], "normalisations": ["raw"]}
    result = multiverse(
        [model, other, blind, PrecomputedFeatures(_assembly(_features(90)), 8)], _benchmark(), **options
    )
    assert network.calls == [["late"], ["early", "best", "late"]]
    rows = {
        rule: _lookup(result, "network", layer=rule, split="random")
        for rule in ("committed", "first", "middle", "last")
    }
    assert {rule: row["layers"] for rule, row in rows.items()} == {
        "committed": "late",
        "first": "early",
        "middle": "best",
        "last": "late",
    }
    assert rows["committed"]["score"] == rows["last"]["score"] < rows["middle"]["score"]
    expected = load_metric("ridge")(_assembly(network.values["best"]), _benchmark()._assembly)
    assert rows["middle"]["score"] == pytest.approx(float(expected), abs=1e-8)
    assert "no region" in _reasons(result, "blind") or "cannot be recorded" in _reasons(result, "blind")
    assert "has no first layer" in _reasons(result, "precomputed-features", layer="first")
    flips = result.flips()
    assert set(flips[flips["choice"] == "layer"]["model"]) <= {"network", "other"}


def test_layer_rules_without_another_layer_are_left_out():
    model = ModelCommitment("network", _Network(), layers=["best"])
    options = {"metrics": ["ridge"], "scalings": ["none"], "reductions": ["none"], "normalisations": ["raw"]}
    result = multiverse(model, _benchmark(), **options)
    assert {analysis.layer for analysis in result.analyses} == {"committed"}


def _reasons(result, model, **choices):
    table = result.table[result.table["model"] == model]
    for name, value in choices.items():
        table = table[table[name] == value]
    return " ".join(table["reason"].dropna().unique())


def test_features_by_layer_rule_and_more_stimuli_than_were_recorded():
    names = np.append(NAMES, "other")
    values = _features(60)
    more = _assembly(np.vstack([values, np.ones(60)]), names).isel(presentation=slice(None, None, -1))
    options = {"metrics": ["cka"], "scalings": ["none"], "reductions": ["none"], "normalisations": ["raw"]}
    result = multiverse({"model": {"last": more, "committed": _assembly(values)}}, _benchmark(), **options)
    assert {analysis.layer for analysis in result.analyses} == {"committed", "last"}
    first, second = (_lookup(result, layer=rule)["score"] for rule in ("committed", "last"))
    assert first == pytest.approx(second, abs=1e-12)
    with pytest.raises(UserError, match="only in the benchmark"):
        multiverse({"model": _assembly(values, np.append(NAMES[:-1], "other"))}, _benchmark(), **options)


def test_result_is_plain_json_and_claims_no_probability():
    result = multiverse(_models_that_flip(), _benchmark(), metrics=["ridge", "rdm"], reductions=["none"])
    restored = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert len(restored["analyses"]) == len(result.table)
    assert restored["reference"]["metric"] == "ridge"
    words = f"{result.text()} {result.figure()} {Multiverse.__doc__} {multiverse.__doc__}".lower()
    assert "probab" not in words
    assert "likel" not in words
    assert "confiden" not in words
    assert "chosen, not drawn" in result.text()


def test_values_that_are_named_twice_are_analysed_once():
    options = {
        "metrics": ["cka", "cka"],
        "scalings": ["none", "none"],
        "reductions": ["none"] * 2,
        "layers": ["committed"] * 2,
    }
    result = multiverse({"model": _assembly(_features(30))}, _benchmark(), normalisations=["raw", "raw"], **options)
    assert len(result.analyses) == len(result.scores) == 1


def test_figure():
    result = multiverse(_models_that_flip(), _benchmark(), metrics=["ridge", "rdm"], reductions=["none"])
    drawn = result.scores.dropna()
    made = result.figure()
    assert made.count('class="chart-mark') == 2 * len(drawn) + 2  # and the legend
    assert all(text in made for text in ("grouped by object_name", "standardised", "chart-reference"))
    assert "reduction" not in made  # not a choice, as it has one value
    with pytest.raises(UserError, match="no analysis is defined"):
        multiverse({"model": _assembly(np.ones((STIMULI, 3)))}, _benchmark()).figure()
    with pytest.raises(ValueError, match="analyses"):
        specification(Specification(ranks={"a": [1]}, choices={"metric": []}, title=""))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["accuracy"]}, "compares choices"),
        ({"metrics": ["ridge_split"]}, "separate stimuli"),
        ({"metrics": ["internal_consistency"]}, "is a ceiling"),
        ({"groups": ["scene"]}, "no coordinate 'scene'"),
        ({"scalings": ["log"]}, "no scaling 'log'"),
        ({"layers": ["best"]}, "no layer rule 'best'"),
        ({"reductions": ["ica:3"]}, "no reduction 'ica:3'"),
        ({"normalisations": []}, "without values"),
    ],
)
def test_wrong_choices_are_errors(options, message):
    with pytest.raises(UserError, match=message):
        multiverse({"model": _assembly(_features(30))}, _benchmark(), **options)


def test_wrong_models_and_benchmarks_are_errors():
    features = _assembly(_features(30))
    with pytest.raises(UserError, match="without a name"):
        multiverse(features, _benchmark())
    with pytest.raises(UserError, match="same identifier"):
        multiverse([PrecomputedFeatures(features, 8), PrecomputedFeatures(features, 8)], _benchmark())
    with pytest.raises(UserError, match="no models"):
        multiverse({}, _benchmark())
    with pytest.raises(UserError, match="cannot be analysed in other ways"):
        multiverse({"model": features}, "Geirhos2021sketch-error_consistency")


@pytest.mark.slow(reason="the notebook makes 96 analyses of two models")
def test_lazy_attribute_of_the_package():
    assert brainscore.multiverse is multiverse
    assert "multiverse" in dir(brainscore)
