"""Any metric and ceiling on the recordings of a registered benchmark, by name."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import pearsonr, spearmanr

import brainscore_vision
from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.metrics import Metric, Score
from brainscore_core.plugins.index import PluginIndex
from brainscore_core.runner.scoring import forget_model, keep_benchmark, score_pair
from brainscore_core.scoring import ResultsStore, RunInfo
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import (
    benchmark_registry,
    load_benchmark,
    load_ceiling,
    load_metric,
    metric_registry,
    model_registry,
    run_pair,
    score,
)
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    RSABenchmark,
    TrainTestNeuralBenchmark,
    average_repetition,
)
from brainscore_vision.testing import small_models
from brainscore_vision.testing.pictures import write_pictures
from brainscore_vision.utils import LazyLoad

STIMULI, NEUROIDS, REPETITIONS = 40, 9, 4


@pytest.fixture(scope="module")
def stimuli(tmp_path_factory):
    names = [f"s{i:02d}" for i in range(STIMULI)]
    stimuli = StimulusSet({"stimulus_id": names, "kind": ["a", "b"] * (STIMULI // 2)})
    stimuli.stimulus_paths = write_pictures(tmp_path_factory.mktemp("pictures"), names, seed=7)
    stimuli.identifier = "Tiny2026"
    return stimuli


@pytest.fixture
def model():
    return small_models()[0]


@pytest.fixture(scope="module")
def _recorded(stimuli):
    """Responses that the model predicts in part, with repetitions, of two subjects."""
    rng, model = np.random.default_rng(3), small_models()[0]
    model.start_recording("IT", time_bins=[(70, 170)])
    features = model.look_at(stimuli).values.reshape(STIMULI, -1)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    signal = features @ rng.standard_normal((features.shape[1], NEUROIDS)) / np.sqrt(features.shape[1])
    signal = signal + 0.7 * rng.standard_normal(signal.shape)
    assembly = NeuroidAssembly(
        np.tile(signal, (REPETITIONS, 1)) + rng.standard_normal((REPETITIONS * STIMULI, NEUROIDS)),
        coords={
            "stimulus_id": ("presentation", np.tile(stimuli["stimulus_id"], REPETITIONS)),
            "kind": ("presentation", np.tile(stimuli["kind"], REPETITIONS)),
            "repetition": ("presentation", np.repeat(np.arange(REPETITIONS), STIMULI)),
            "neuroid_id": ("neuroid", np.arange(NEUROIDS)),
            "subject": ("neuroid", ["m1"] * 4 + ["m2"] * (NEUROIDS - 4)),
            "region": ("neuroid", ["IT"] * NEUROIDS),
        },
        dims=["presentation", "neuroid"],
    )
    assembly.attrs.update(stimulus_set=stimuli, stimulus_set_identifier="Tiny2026", identifier="Tiny2026")
    return assembly


@pytest.fixture
def recorded(_recorded):
    """The test's own."""
    return _recorded.copy()


@pytest.fixture
def register():
    """Registers a benchmark for one test."""
    added = []

    def run(key, factory):
        benchmark_registry[key] = factory
        added.append(key)

    yield run
    for key in added:
        del benchmark_registry[key]


@pytest.fixture
def tiny(register, recorded):
    """``Tiny2026.IT-pls``, as tutorials write benchmarks, and how often its recordings were loaded."""
    loaded = []

    def load():
        loaded.append(1)
        return recorded

    def benchmark():
        repeated = LazyLoad(load)
        return NeuralBenchmark(
            identifier="Tiny2026.IT-pls",
            version=3,
            assembly=LazyLoad(lambda: average_repetition(repeated.content)),
            similarity_metric=load_metric("pls", crossvalidation_kwargs={"stratification_coord": "kind"}),
            visual_degrees=8,
            number_of_trials=REPETITIONS,
            ceiling_func=lambda: load_ceiling("internal_consistency")(repeated.content),
            repetitions=repeated,
            parent="IT",
            bibtex="@article{tiny2026, title={Tiny}}",
        )

    register("Tiny2026.IT-pls", benchmark)
    return loaded


def _both(model, recorded):
    """Features and mean responses of the same stimuli, in the same order."""
    averaged = average_repetition(recorded)
    model.start_recording("IT", time_bins=[(70, 170)])
    features = model.look_at(recorded.attrs["stimulus_set"])
    order = [list(features["stimulus_id"].values).index(name) for name in averaged["stimulus_id"].values]
    return features.values.reshape(STIMULI, -1)[order].astype(np.float64), averaged.values


def test_a_kept_benchmark_knows_its_plugin(tiny, model, monkeypatch, tmp_path):
    searches = []
    refresh = PluginIndex.refresh
    monkeypatch.setattr(PluginIndex, "refresh", lambda index: (searches.append(index), refresh(index)))
    model_registry["kept-small"] = lambda: model
    try:
        receipts = []
        for kept in (False, True):
            if kept:
                keep_benchmark("Tiny2026.IT:pls", "vision")
            searches.clear()
            run = RunInfo(id="r")
            receipts.append(
                score_pair("kept-small", "Tiny2026.IT:pls", store=ResultsStore(tmp_path), run=run, domain="vision")
            )
            assert bool(searches) is not kept  # a name that no plugin registers may be that of a new one
    finally:
        forget_model()
        del model_registry["kept-small"]
    assert receipts[0].benchmark == receipts[1].benchmark
    assert receipts[0].score == receipts[1].score


def test_is_the_registered_benchmark_where_metric_and_ceiling_are_its_own(tiny, model):
    registered, composed = load_benchmark("Tiny2026.IT-pls"), load_benchmark("Tiny2026.IT:pls")
    assert tiny == []  # nothing is loaded before it is needed
    assert composed.identifier == "Tiny2026.IT:pls"
    for name in ("version", "parent", "bibtex", "region", "timebins", "control"):
        assert getattr(composed, name) == getattr(registered, name)
    assert float(composed.ceiling) == float(registered.ceiling)
    ours, theirs = composed(model), registered(model)
    assert float(ours) == float(theirs) > 0.1
    assert ours.attrs["ci"] == theirs.attrs["ci"]
    np.testing.assert_array_equal(ours.attrs["raw"].attrs["raw"].values, theirs.attrs["raw"].attrs["raw"].values)
    named = load_benchmark("Tiny2026.IT:pls@internal_consistency")(model)
    assert float(named) == float(ours)


def test_equals_what_is_computed_by_hand(tiny, recorded, model):
    X, Y = _both(model, recorded)
    pairs = np.triu_indices(STIMULI, k=1)
    rdms = [(1 - np.corrcoef(Z))[pairs] for Z in (X, Y)]
    rdm = load_benchmark("Tiny2026.IT:rdm")(model)
    assert float(rdm) == pytest.approx(spearmanr(*rdms).statistic, abs=1e-10)
    assert rdm.attrs["scale"] == "unceiled"
    assert np.isnan(float(rdm.attrs["ceiling"]))
    cka = load_benchmark("Tiny2026.IT:cka_biased@none")(model)
    K, L = ((Z - Z.mean(axis=0)) @ (Z - Z.mean(axis=0)).T for Z in (X, Y))
    assert float(cka) == pytest.approx((K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum()), abs=1e-10)
    assert load_benchmark("Tiny2026.IT:rdm").ceiling.attrs["meaning"] == "none"


def test_splits_are_the_registered_benchmarks(tiny, recorded, model):
    """The metric's split, stratified as the registered benchmark stratifies."""
    averaged = average_repetition(recorded)
    model.start_recording("IT", time_bins=[(70, 170)])
    features = model.look_at(recorded.attrs["stimulus_set"])
    found = load_benchmark("Tiny2026.IT:cka_cv")(model)
    stratified, not_stratified = (
        float(load_metric("cka_cv", crossvalidation_kwargs={"stratification_coord": coord})(features, averaged))
        for coord in ("kind", None)
    )
    assert float(found) == stratified != not_stratified
    assert len(found.attrs["raw"].attrs["raw"]) == 10


def test_ceiling_by_name(tiny, recorded, model):
    found = load_benchmark("Tiny2026.IT:ridge@ncsnr")(model)
    ceiling = load_ceiling("ncsnr")(recorded)
    assert float(found.attrs["ceiling"]) == float(ceiling)
    raw = float(found.attrs["raw"])
    assert float(found) == pytest.approx(raw**2 / float(ceiling))
    unceiled = load_benchmark("Tiny2026.IT:ridge@none")(model)
    assert float(unceiled) == float(unceiled.attrs["raw"]) == raw
    of_subjects = load_benchmark("Tiny2026.IT:rdm@rsa_ceiling")(model)
    upper = load_ceiling("rsa_ceiling")(average_repetition(recorded))
    assert of_subjects.attrs["unclamped"] == pytest.approx(float(of_subjects.attrs["raw"]) / float(upper))


def test_noise_between_repetitions(tiny, recorded, model):
    model.start_recording("IT", time_bins=[(70, 170)])
    features = model.look_at(recorded.attrs["stimulus_set"])
    found = load_benchmark("Tiny2026.IT:rdm_crossnobis")(model)
    assert float(found.attrs["raw"]) == float(load_metric("rdm_crossnobis")(features, recorded))


def test_training_and_test_stimuli(register, recorded, model, stimuli):
    parts = []
    for chosen in (stimuli.iloc[:28], stimuli.iloc[28:]):
        part = recorded.isel(
            presentation=np.flatnonzero(np.isin(recorded["stimulus_id"].values, chosen["stimulus_id"]))
        )
        chosen = chosen.reset_index(drop=True)
        chosen.identifier = f"Tiny2026_{len(chosen)}"
        part.attrs.update(recorded.attrs, stimulus_set=chosen)
        parts.append(part)
    train, test = parts

    def benchmark(**options):
        return TrainTestNeuralBenchmark(
            identifier="Halves2026.IT-ridge",
            version=1,
            train_assembly=average_repetition(train),
            test_assembly=average_repetition(test),
            similarity_metric=load_metric("ridge_split"),
            visual_degrees=8,
            number_of_trials=REPETITIONS,
            ceiling_func=lambda: load_ceiling("internal_consistency")(test),
            repetitions=test,
            parent="IT",
            **options,
        )

    register("Halves2026.IT-ridge", benchmark)
    register("Halves2026.ITsubjects-ridge", lambda: benchmark(alpha_coord="subject"))
    for region in ("IT", "ITsubjects"):
        ours, theirs = (load_benchmark(f"Halves2026.{region}{end}")(model) for end in (":ridge_split", "-ridge"))
        assert float(ours) == float(theirs) > 0
    # a metric without training is applied to the test stimuli
    model.start_recording("IT", time_bins=[(70, 170)])
    features, averaged = model.look_at(test.attrs["stimulus_set"]), average_repetition(test)
    found = load_benchmark("Halves2026.IT:cka_biased")(model)
    assert float(found) == float(load_metric("cka_biased")(features, averaged))
    assert float(load_benchmark("Halves2026.ITsubjects:ridge_split@none")(model).attrs["raw"]) > 0


def test_recordings_of_several_subjects(register, recorded, model):
    averaged = average_repetition(recorded)
    register(
        "Subjects2026.IT-rdm",
        lambda: RSABenchmark(
            "Subjects2026.IT-rdm", 1, averaged, region="IT", visual_degrees=8, number_of_trials=1, bibtex="@a{b}"
        ),
    )
    found = load_benchmark("Subjects2026.IT:rdm@rsa_ceiling")(model)
    X, Y = _both(model, recorded)
    pairs = np.triu_indices(STIMULI, k=1)
    expected = spearmanr(*((1 - np.corrcoef(Z))[pairs] for Z in (X, Y))).statistic
    assert float(found.attrs["raw"]) == pytest.approx(expected, abs=1e-10)
    with pytest.raises(UserError, match=r"single repetitions of the recordings of .* are not known"):
        _ = load_benchmark("Subjects2026.IT:pls").ceiling


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "Tiny2026.IT:cka@internal_consistency",
            "share of variance, and cannot be the ceiling of 'cka', which is a similarity",
        ),
        ("Tiny2026.IT:rdm_cv@ncsnr", "leave the ceiling out"),
        ("Tiny2026.IT:pls_split", "fits and tests on separate stimuli"),
        ("Tiny2026.IT:error_consistency", "compares choices, not recordings"),
        ("Tiny2026.IT:ks_similarity", "compares properties, not recordings"),
        ("Tiny2026.IT:spantime_pls", "one value per time bin"),
        ("Tiny2026.IT:pls@internal_consistency_temporal", "one value per time bin"),
        ("Tiny2026.IT:internal_consistency", "is a ceiling, not a metric"),
        ("Tiny2026.IT:pls@ridge", "is a metric, not a ceiling"),
        ("Tiny2026.IT:pls@rsa_ceiling", "does not compare dissimilarities"),
        ("Tiny2026.IT:pls@property_ceiling", "compares properties, not recordings"),
        ("Tiny2026.IT:cka@inter_subject", "is a correlation and cannot be the ceiling of 'cka'"),
        ("Geirhos2021edge:cka", "compares choices"),
        ("Kriegeskorte2008.IT-human:rdm", "compares matrices"),
        ("Bracci2019.anteriorVTC:rdm", "compares averages of subjects"),
        ("tong.Coggan2024_fMRI.IT:cka", "compares matrices"),
        ("Tiny2027.IT:cka", "Tiny2027.IT-<metric>, but none is registered"),
        ("Tiny2026.IT:", "does not have the form <data set>.<region>:<metric>"),
        ("Tiny2026.IT:pls:cv", "does not have the form"),
        ("Tiny2026.IT:pls@", "does not have the form"),
    ],
)
def test_what_does_not_go_together_is_refused_at_once(tiny, name, message):
    with pytest.raises(UserError, match=message) as caught:
        load_benchmark(name)
    assert caught.value.remedy
    assert tiny == []  # before anything is loaded


def test_a_name_without_the_metric_is_told_what_it_lacks(register):
    register("Short2026", dict)
    with pytest.raises(UserError, match=r"benchmark Short2026-<metric>") as caught:
        load_benchmark("Short2026:cka")
    assert "such as Short2026-rdm" in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "missing"), [("Tiny2026.IT:cka_vc", "cka_vc"), ("Tiny2026.IT:pls@consistency", "cons")]
)
def test_unknown_metric_or_ceiling(tiny, name, missing):
    with pytest.raises(UnknownIdentifier, match=f"no metric '{missing}"):
        load_benchmark(name)


class Untouchable:
    identifier = "untouchable"

    def __getattr__(self, name):
        raise AssertionError("the model was asked")


@pytest.mark.parametrize("metric", ["rdm", "rdm_cv", "rdm_cosine", "effective_dimensionality"])
def test_one_neuroid(register, recorded, metric):
    alone = recorded.isel(neuroid=[0])
    alone.attrs = recorded.attrs
    make = _simple(alone)
    register("Alone2026.IT-pls", make)
    with pytest.raises(UserError, match="1 neuroid"):
        load_benchmark(f"Alone2026.IT:{metric}")(Untouchable())


def test_several_time_bins(register, recorded):
    bins = {"time_bin_start": ("time_bin", [70, 170]), "time_bin_end": ("time_bin", [170, 270])}
    coords = {name: (recorded[name].dims, recorded[name].values) for name in recorded.coords if name in (
        "stimulus_id", "kind", "repetition", "neuroid_id", "subject", "region")}  # fmt: skip
    values = np.stack([recorded.values] * 2, axis=2)
    moving = NeuroidAssembly(values, coords=coords | bins, dims=["presentation", "neuroid", "time_bin"])
    moving.attrs = recorded.attrs
    register("Moving2026.IT-pls", _simple(moving))
    with pytest.raises(UserError, match="2 time bins, but 'cka' compares a single one"):
        load_benchmark("Moving2026.IT:cka")(Untouchable())


def _simple(assembly, **options):
    return lambda: NeuralBenchmark(
        identifier="of a test",
        version=1,
        assembly=average_repetition(assembly),
        similarity_metric=load_metric("pls"),
        visual_degrees=8,
        number_of_trials=1,
        ceiling_func=lambda: load_ceiling("internal_consistency")(assembly),
        **options,
    )


def test_behaviour_among_recordings_is_refused(register):
    choices = BehavioralAssembly(["a"], coords={"stimulus_id": ("presentation", ["s"])}, dims=["presentation"])
    register("Choices2026.IT-pls", lambda: NeuralBenchmark("c", choices, load_metric("pls"), 8, 1, lambda: 1, 1))
    with pytest.raises(UserError, match="not recordings"):
        load_benchmark("Choices2026.IT:pls@none")(Untouchable())


def test_metric_of_somebody_else(tiny, recorded, model):
    class MeanCorrelation(Metric):
        def __call__(self, source, target):
            flat = source.values.reshape(STIMULI, -1).mean(axis=1)
            order = [list(source["stimulus_id"].values).index(name) for name in target["stimulus_id"].values]
            return Score(abs(pearsonr(flat[order], target.values.mean(axis=1)).statistic))

    metric_registry["mean-correlation"] = MeanCorrelation
    try:
        found = load_benchmark("Tiny2026.IT:mean-correlation")(model)
    finally:
        del metric_registry["mean-correlation"]
    X, Y = _both(model, recorded)
    assert float(found) == pytest.approx(abs(np.corrcoef(X.mean(axis=1), Y.mean(axis=1))[0, 1]), abs=1e-10)
    assert found.attrs["scale"] == "unceiled"


@pytest.mark.parametrize("declared", [{"compares": "choices"}, {"scale": "accuracy"}, {"scale": "similarity"}])
def test_metric_of_choices_of_somebody_else(tiny, model, declared):
    class Agreement(Metric):
        def __call__(self, source, target):
            return Score((source.values == target.values[:, 0]).mean())

    metric_registry["my_choices"] = type("MyChoices", (Agreement,), declared)
    try:
        if declared == {"scale": "similarity"}:  # it does not say what it compares
            with pytest.raises(UserError, match=r"'my_choices' cannot be applied to recordings") as caught:
                load_benchmark("Tiny2026.IT:my_choices@none")(model)
            assert "compares = 'choices'" in caught.value.remedy
        else:
            with pytest.raises(UserError, match="'my_choices' compares choices, not recordings"):
                load_benchmark("Tiny2026.IT:my_choices")
    finally:
        del metric_registry["my_choices"]


class OwnClass(BenchmarkBase):
    """A benchmark of a lab's own class."""

    def __init__(self, recorded):
        super().__init__("Own2026.IT-sum", ceiling_func=lambda: Score(1.0), version=2, parent="IT")
        self.recorded = recorded

    def __call__(self, candidate):
        raise NotImplementedError


class Composable(OwnClass):
    def measurements(self):
        return VisualMeasurements(
            benchmark=self.identifier, measured=average_repetition(self.recorded), repetitions=self.recorded,
            region="IT", time_bins=((70, 170),), visual_degrees=8, number_of_trials=REPETITIONS)  # fmt: skip


def test_benchmark_of_a_class_of_its_own(register, recorded, model):
    register("Own2026.IT-sum", lambda: OwnClass(recorded))
    with pytest.raises(UserError, match=r"'Own2026.IT-sum' does not say what it measures") as caught:
        load_benchmark("Own2026.IT:cka")
    assert "measurements()" in caught.value.remedy
    register("Told2026.IT-sum", lambda: Composable(recorded))
    model.start_recording("IT", time_bins=[(70, 170)])
    features, averaged = model.look_at(recorded.attrs["stimulus_set"]), average_repetition(recorded)
    for metric in ("ridge", "cka_biased"):
        found = load_benchmark(f"Told2026.IT:{metric}")(model)
        assert float(found.attrs["raw"]) == float(load_metric(metric)(features, averaged))
    expected = float(load_ceiling("internal_consistency")(recorded))
    assert float(load_benchmark("Told2026.IT:ridge").ceiling) == expected


def test_reliability_of_a_benchmark_that_only_estimates_its_ceiling(register, recorded, model):
    register("Plain2026.IT-pls", _simple(recorded))
    expected = float(load_ceiling("internal_consistency")(recorded))
    assert float(load_benchmark("Plain2026.IT:ridge").ceiling) == expected
    with pytest.raises(UserError, match="single repetitions") as caught:
        _ = load_benchmark("Plain2026.IT:ridge@ncsnr").ceiling
    assert "repetitions=" in caught.value.remedy


def test_a_metric_that_needs_arguments_is_refused(tiny):
    class Scaled(Metric):
        def __init__(self, factor):
            self.factor = factor

    metric_registry["scaled"] = Scaled
    try:
        with pytest.raises(UserError, match=r"'scaled' needs arguments, which a name cannot contain: .*'factor'"):
            load_benchmark("Tiny2026.IT:scaled")
    finally:
        del metric_registry["scaled"]


def test_a_registered_name_with_a_colon_wins(register, recorded):
    register("Tiny2026.IT:cka_cv", lambda: _simple(recorded)())
    assert type(load_benchmark("Tiny2026.IT:cka_cv")) is NeuralBenchmark


def test_receipt(tiny, tmp_path):
    store = ResultsStore(tmp_path / "results")

    def coarse(images):
        return np.stack([image[::8, ::8].mean(axis=2).ravel() for image in images])

    outcome = run_pair(coarse, "Tiny2026.IT:cka_biased", results=store, identifier="coarse")
    receipt = outcome.receipt
    assert receipt.state == "scored"
    assert receipt.benchmark.identifier == "Tiny2026.IT:cka_biased"
    assert (receipt.benchmark.version, receipt.benchmark.parent) == (3, "IT")
    assert {("metric", "cka_biased")} <= {(item.kind, item.identifier) for item in receipt.data}
    assert receipt.score.value == float(outcome.score)
    assert receipt.score.ci is not None
    assert store.latest("coarse", "Tiny2026.IT:cka_biased").id == receipt.id


def test_receipts_name_the_plugin_of_the_recordings():
    folder = brainscore_vision.registered_folder("benchmark", "Simulated2026.V1:cka")
    assert folder == benchmark_registry.location("Simulated2026.V1-pls").folder


def test_features_are_extracted_once(tiny, stimuli, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from brainscore_vision.model_helpers.activations import PytorchWrapper
    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "brainscore"))
    shown = []

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Conv2d(3, 4, kernel_size=8, stride=8)
            torch.nn.init.normal_(self.layer.weight, generator=torch.Generator().manual_seed(0))
            torch.nn.init.zeros_(self.layer.bias)

        def forward(self, images):
            shown.append(len(images))
            return self.layer(images)

    def make():
        wrapper = PytorchWrapper(
            Network(), lambda paths: load_preprocess_images(paths, image_size=32), identifier="network"
        )
        return ModelCommitment("network", wrapper, layers=["layer"], region_layer_map={"IT": "layer"})

    names = ("pls", "ridge@ncsnr", "rdm", "cka_cv", "procrustes@none", "rdm_crossnobis")
    results = [float(score(make(), f"Tiny2026.IT:{name}").attrs["raw"]) for name in names]
    assert len(set(results)) == len(names)
    # all of them, one also alone; then three stimuli a score, which are run again to see that nothing changed
    assert sum(shown) == STIMULI + 1 + 3 * (len(names) - 1)


def test_command_line(tiny, tmp_path):
    from brainscore.cli import app

    run = CliRunner().invoke
    listed = run(app, ["list", "--help"])
    assert "<data set>.<region>:<metric>[@<ceiling>]" in listed.output.replace("\n", " ").replace("  ", " ")
    about = json.loads(run(app, ["info", "Simulated2026.IT:cka_cv", "--json"]).output)
    assert about[0]["identifier"] == "Simulated2026.IT:cka_cv"
    assert about[0]["package"] == "brainscore_vision.benchmarks.simulated2026"
    scored = run(app, ["score", "pixels", "Tiny2026.IT:cka_biased", "--results", str(tmp_path), "--json"])
    receipt = json.loads(scored.output)
    assert receipt["benchmark"]["identifier"] == "Tiny2026.IT:cka_biased"
    assert receipt["state"] == "scored"
    refused = run(app, ["score", "pixels", "Tiny2026.IT:cka@internal_consistency", "--results", str(tmp_path)])
    assert refused.exit_code != 0
    assert "reliability, a share of variance" in f"{refused.output}{refused.exception}"


def test_names_of_the_published_data_sets(stand_ins):
    model = small_models()[1]
    benchmark = load_benchmark("MajajHong2015public.IT:cka_cv")
    found = benchmark(model)
    same = load_benchmark("MajajHong2015public.IT:pls")(model)
    registered = load_benchmark("MajajHong2015public.IT-pls")(model)
    assert (benchmark.identifier, benchmark.parent) == ("MajajHong2015public.IT:cka_cv", "IT")
    assert found.attrs["scale"] == "unceiled"
    assert np.isfinite(float(found.attrs["raw"]))
    assert float(same.attrs["raw"]) == float(registered.attrs["raw"])
    assert float(same.attrs["ceiling"]) == float(registered.attrs["ceiling"])


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("FreemanZiemba2013public.V1:cka_cv", "unceiled"),
        ("FreemanZiemba2013public.V2:ridge", "ceiled"),
        ("Papale2025.V4:ridge_split", "ceiled"),
        ("Papale2025.IT:cka", "unceiled"),
        ("Papale2025.V1:ridge_split@none", "unceiled"),
    ],
)
def test_other_published_data_sets(stand_ins, name, scale):
    benchmark = load_benchmark(name)
    found = benchmark(small_models()[0])
    assert found.attrs["scale"] == scale
    assert 0 < float(found) < 1
    assert benchmark.region == name.partition(":")[0].rpartition(".")[2]
