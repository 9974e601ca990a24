"""Controls on simulated benchmarks whose truth is known."""

import json

import numpy as np
import pandas as pd
import pytest

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_metric, load_model
from brainscore_vision.assessment import baselines, controls
from brainscore_vision.assessment.baselines import channels_last, initial_weights, shuffle_groups, time_codes
from brainscore_vision.assessment.controls import (
    Control,
    Controls,
    Difference,
    score_controls,
)
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, TrainTestNeuralBenchmark
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures
from brainscore_vision.testing.pictures import write_pictures
from tests.optional import declare_operators

STIMULI, NEUROIDS, GROUP = 100, 12, 5
NAMES = np.array([f"s{i:03}" for i in range(STIMULI)])
GROUPS = np.array([f"o{i // GROUP:02}" for i in range(STIMULI)])


@pytest.fixture(scope="module")
def stimuli(tmp_path_factory):
    rows = StimulusSet({"stimulus_id": NAMES, "object_name": GROUPS})
    rows.stimulus_paths = write_pictures(tmp_path_factory.mktemp("pictures"), NAMES, seed=0)
    rows.identifier = "pictures"
    return rows


def _assembly(values, names=NAMES, **columns):
    coords = {"stimulus_id": ("presentation", names)}
    coords |= {name: ("presentation", column) for name, column in columns.items()}
    coords["neuroid_id"] = ("neuroid", np.arange(values.shape[1]))
    coords["region"] = ("neuroid", ["IT"] * values.shape[1])
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def _ceiling(meaning="reliability"):
    ceiling = declare_no_error(Score(1.0), "simulated without noise")
    ceiling.attrs["meaning"] = meaning
    return ceiling


def _benchmark(responses, stimuli, *, metric="ridgecv", grouped_by=None, **columns):
    columns = {"object_name": GROUPS, **columns}
    splits = {"crossvalidation_kwargs": {"group_coord": grouped_by, "stratification_coord": None}}
    meaning = "upper bound" if metric == "rdm" else "reliability"
    assembly = _assembly(responses, **columns)
    assembly.attrs["stimulus_set"] = stimuli
    return NeuralBenchmark(
        identifier=f"Simulated.IT-{metric}",
        assembly=assembly,
        similarity_metric=load_metric(metric, **({} if metric == "rdm" else splits)),
        visual_degrees=8,
        number_of_trials=1,
        ceiling_func=lambda: _ceiling(meaning),
        version=1,
    )


def _model(features, name="model"):
    return PrecomputedFeatures(_assembly(features), visual_degrees=8, identifier=name)


def _of(result):
    return {control.name: control for control in result.controls}


@pytest.mark.slow(reason="a benchmark of 800 stimuli, with six scores")
@pytest.mark.parametrize("metric", ["pls", "rdm"])
def test_true_model_is_above_all_controls(metric):
    result = score_controls(f"Simulated2026.V1-{metric}", model="simulated-truth")
    found = _of(result)
    assert result.above() is True
    assert result.p_above() < 0.05
    assert result.best.name == "gabor"
    assert found["labels"].score < 0.5
    assert found["pixels"].ci[0] < 0.01
    assert "is above all 5 baseline models" in result.text()


def test_labels_are_as_good_as_a_model_where_responses_are_only_categories(stimuli):
    rng = np.random.default_rng(1)
    category = np.arange(STIMULI) % 5
    shown = stimuli.copy()
    shown["object_name"] = category.astype(str)
    responses = rng.standard_normal((5, NEUROIDS))[category] + 0.5 * rng.standard_normal((STIMULI, NEUROIDS))
    features = rng.standard_normal((5, 20))[category] + 0.5 * rng.standard_normal((STIMULI, 20))
    result = score_controls(_benchmark(responses, shown, object_name=category.astype(str)), model=_model(features))
    found = _of(result)
    assert found["labels"].score > 0.5
    assert found["labels"].score >= result.score - 0.02
    assert found["labels"].surpassed is False
    assert result.above("baseline") is False
    assert result.best.name == "labels"
    assert found["pixels"].surpassed is True
    assert "does not make the score invalid" in result.text()
    assert found["labels"].difference.value == pytest.approx(result.score - found["labels"].score)


def _drift(rng, smooth):
    steps = rng.standard_normal((STIMULI + 40, NEUROIDS))
    if not smooth:
        return steps[:STIMULI]
    kernel = np.exp(-0.5 * (np.arange(-20, 21) / 3) ** 2)
    return np.stack([np.convolve(column, kernel, "valid") for column in steps.T], axis=1)


@pytest.mark.parametrize(
    ("smooth", "blocked", "low", "high"), [(True, False, 0.5, 1), (True, True, -0.1, 0.1), (False, False, -0.1, 0.1)]
)
def test_time_codes_score_where_responses_drift_and_splits_are_not_blocked(stimuli, smooth, blocked, low, high):
    rng = np.random.default_rng(2)
    order = rng.permutation(STIMULI)
    responses = _drift(rng, smooth)
    session = np.sort(np.arange(STIMULI) // 20)
    names = NAMES[order]  # presented in this order
    assembly = _assembly(responses, names, presentation_time=10.0 * np.arange(STIMULI), session=session.astype(str))
    assembly.attrs["stimulus_set"] = stimuli
    benchmark = _benchmark(responses, stimuli, grouped_by="session" if blocked else None, session=session)
    benchmark._assembly = assembly
    found = _of(score_controls(benchmark))["time codes"]
    assert low <= found.score <= high
    assert found.kind == "artefact check"


def test_order_of_presentations_may_be_unknown(stimuli):
    result = score_controls(_benchmark(_drift(np.random.default_rng(0), False), stimuli))
    found = _of(result)["time codes"]
    assert found.score is None
    assert "presentation_time" in found.reason
    assert "time codes" in result.text()


@pytest.mark.parametrize("grouped", [False, True])
def test_shuffled_groups_score_where_splits_tear_groups_apart(stimuli, grouped):
    rng = np.random.default_rng(3)
    codes = np.arange(STIMULI) // GROUP
    number = STIMULI // GROUP
    responses = rng.standard_normal((number, NEUROIDS))[codes] + 0.1 * rng.standard_normal((STIMULI, NEUROIDS))
    features = rng.standard_normal((number, 60))[codes] + 0.1 * rng.standard_normal((STIMULI, 60))
    benchmark = _benchmark(responses, stimuli, grouped_by="object_name" if grouped else None)
    found = _of(score_controls(benchmark, model=_model(features)))["shuffled groups"]
    if grouped:
        assert found.score < 0.1
    else:
        assert found.score > 0.7
    assert found.features == 60
    assert found.description == "features of model, those of each object_name given to another"


def test_labels_agree_with_a_linear_regression(stimuli):
    """PLS has more components than there are labels."""
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import ShuffleSplit

    rng = np.random.default_rng(4)
    codes = np.arange(STIMULI) // GROUP
    responses = rng.standard_normal((STIMULI // GROUP, NEUROIDS))[codes] + rng.standard_normal((STIMULI, NEUROIDS))
    found = _of(score_controls(_benchmark(responses, stimuli, metric="pls")))["labels"]
    one_hot = pd.get_dummies(GROUPS, dtype=float).to_numpy()
    medians = []
    for train, test in ShuffleSplit(10, train_size=0.9, random_state=1).split(NAMES):
        predicted = LinearRegression().fit(one_hot[train], responses[train]).predict(one_hot[test])
        medians.append(np.median([np.corrcoef(predicted[:, i], responses[test, i])[0, 1] for i in range(NEUROIDS)]))
    raw = np.mean(medians)
    assert found.score == pytest.approx(np.sign(raw) * raw**2, abs=1e-6)


def test_pixels_and_gabor_see_what_is_in_the_pictures(stimuli):
    from PIL import Image

    pixels = np.stack([np.asarray(Image.open(stimuli.get_stimulus(name)), float).ravel() for name in NAMES])
    rng = np.random.default_rng(5)
    responses = pixels @ rng.standard_normal((pixels.shape[1], NEUROIDS))
    found = _of(score_controls(_benchmark(responses, stimuli, metric="ridgecv")))
    assert found["pixels"].score > 0.2  # 192 numbers of a picture, learned from 90 pictures
    assert found["pixels"].ci[0] > 0
    assert found["pixels"].features == 768
    assert found["gabor"].features == 1536
    assert found["colour and luminance"].features == 21
    assert found["labels"].score < 0.1


def test_rdm_of_labels_is_their_structure(stimuli):
    """Spearman's correlation of the measured RDM with same or different object."""
    from scipy.spatial.distance import pdist
    from scipy.stats import spearmanr

    rng = np.random.default_rng(6)
    codes = np.arange(STIMULI) // GROUP
    responses = rng.standard_normal((STIMULI // GROUP, 40))[codes] + rng.standard_normal((STIMULI, 40))
    found = _of(score_controls(_benchmark(responses, stimuli, metric="rdm")))["labels"]
    expected = spearmanr(pdist(codes[:, np.newaxis], "hamming"), pdist(responses, "correlation")).statistic
    assert found.score == pytest.approx(expected, abs=1e-6)


def test_labels_of_fixed_training_and_test_stimuli(tmp_path):
    rng = np.random.default_rng(7)
    parts = {}
    means = rng.standard_normal((5, NEUROIDS))
    for role, number in (("train", 80), ("test", 40)):
        names = [f"{role}{i}" for i in range(number)]
        category = np.arange(number) % 5
        shown = StimulusSet({"stimulus_id": names, "category": category})
        shown.stimulus_paths = write_pictures(tmp_path, names, seed=number)
        shown.identifier = role
        assembly = _assembly(means[category] + 0.1 * rng.standard_normal((number, NEUROIDS)), names)
        assembly.attrs["stimulus_set"] = shown
        parts[f"{role}_assembly"] = assembly
    benchmark = TrainTestNeuralBenchmark(
        identifier="Simulated.IT-ridge_split",
        ceiling_func=_ceiling,
        version=1,
        similarity_metric=load_metric("ridge_split"),
        visual_degrees=8,
        number_of_trials=1,
        **parts,
    )
    found = _of(score_controls(benchmark))
    assert found["labels"].score > 0.9
    assert found["labels"].description == "orthogonal codes of category"
    assert found["pixels"].score < 0.3
    assert "features of the Gabor filters, those of each category" in found["shuffled groups"].description


@pytest.fixture
def network():
    torch = pytest.importorskip("torch")
    from brainscore_vision.model_helpers.weights import seeded

    with seeded(11):
        return torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4)
        )


def _commitment(network, name="small", degrees=8):
    from functools import partial

    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper, load_preprocess_images
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    wrapper = PytorchWrapper(network, partial(load_preprocess_images, image_size=32), identifier=name, store=None)
    return ModelCommitment(name, wrapper, layers=["2"], visual_degrees=degrees)


def test_untrained_twins_are_the_network_with_other_weights(stimuli, network):
    from brainscore_vision.model_helpers.weights import seeded

    benchmark = _benchmark(np.random.default_rng(8).standard_normal((STIMULI, NEUROIDS)), stimuli)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    result = score_controls(benchmark, model=_commitment(network), seeds=(0, 3))
    assert all(bool((value == before[name]).all()) for name, value in network.state_dict().items())
    assert [name for name in _of(result) if "untrained" in name] == ["untrained, seed 0", "untrained, seed 3"]
    with seeded(3):
        for module in network:
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()
    twin = benchmark(_commitment(network))
    assert _of(result)["untrained, seed 3"].score == pytest.approx(float(twin.attrs["unclamped"]), abs=1e-6)
    assert _of(result)["untrained, seed 0"].score != _of(result)["untrained, seed 3"].score
    network.load_state_dict(before)
    assert result.score == pytest.approx(float(benchmark(_commitment(network)).attrs["unclamped"]), abs=1e-6)


def test_baseline_models_see_the_screen_of_the_model(stimuli, network, monkeypatch):
    screens = []

    def features(shown):
        screens.append(set(shown["degrees"]))
        return baselines.pixel_features(shown)

    monkeypatch.setattr(controls, "pixel_features", features)
    benchmark = _benchmark(np.random.default_rng(8).standard_normal((STIMULI, NEUROIDS)), stimuli)
    score_controls(benchmark, model=_commitment(network, degrees=4), seeds=(0,))
    assert screens == [{4}] * len(screens)
    assert screens


def test_controls_do_not_depend_on_the_unit_of_their_features(stimuli, network, monkeypatch):
    import torch

    rng = np.random.default_rng(4)
    benchmark = _benchmark(rng.standard_normal((STIMULI, NEUROIDS)), stimuli, metric="ridge")
    pixels, found = baselines.pixel_features, {}
    for factor in (1e-4, 1, 1e4):
        monkeypatch.setattr(controls, "pixel_features", lambda shown, factor=factor: factor * pixels(shown))
        draws = {"1.weight": factor * torch.ones(8), "1.bias": torch.zeros(8)}  # as a network would draw them
        monkeypatch.setattr(
            controls, "initial_weights", lambda *_, draws=draws: {**network.state_dict(), **draws}, raising=True
        )
        found[factor] = score_controls(benchmark, model=_commitment(network), seeds=(0,))
    for factor in (1e-4, 1e4):
        for name, control in _of(found[factor]).items():
            assert control.score == pytest.approx(_of(found[1])[name].score, abs=1e-4)
    twin = _of(found[1e4])["untrained, seed 0"]
    assert twin.scale == pytest.approx(1e4 * found[1].scale, rel=1e-3)
    assert f"total standard deviation of its features {twin.scale:.2g}, of the model's" in twin.description


@pytest.mark.slow(reason="imports timm, torchvision and transformers")
def test_twins_of_library_networks_are_those_of_their_constructors():
    torch = pytest.importorskip("torch")
    declare_operators()
    timm, torchvision, transformers = map(pytest.importorskip, ("timm", "torchvision", "transformers"))
    from brainscore_vision.model_helpers.weights import seeded

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    for build in (
        lambda: timm.create_model("efficientnet_lite0", num_classes=3),
        lambda: timm.create_model("test_vit", img_size=64),
        lambda: torchvision.models.squeezenet1_1(num_classes=1000),
        lambda: transformers.ViTModel(transformers.ViTConfig(image_size=32, **sizes)),
    ):
        with seeded(3):
            expected = build().state_dict()
        trained = build()
        for value in trained.state_dict().values():
            value.add_(1)
        found = initial_weights(trained, "mine", 3)
        assert all(torch.equal(found[name], value) for name, value in expected.items()), type(trained)
    changed = timm.create_model("efficientnet_lite0")
    changed.conv_stem = torch.nn.Conv2d(3, 32, 7)
    with pytest.raises(UserError, match="EfficientNet has other weights than its library builds"):
        initial_weights(changed, "mine", 3)


def test_twins_by_the_initialiser_of_a_class():
    torch = pytest.importorskip("torch")

    class Tokens(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.token = torch.nn.Parameter(torch.full((500,), 7.0))
            self.head = torch.nn.Linear(5, 2)

        def _init_weights(self, module):
            if module is self:
                torch.nn.init.normal_(self.token, std=0.1)
            elif isinstance(module, torch.nn.Linear):
                torch.nn.init.ones_(module.weight)

    found = initial_weights(Tokens(), "mine", 0)
    assert 0.05 < float(found["token"].std()) < 0.2
    assert bool((found["head.weight"] == 1).all())


def test_twins_that_would_be_the_trained_network_are_refused(network):
    import torch

    class Half(torch.nn.Linear):
        def reset_parameters(self):
            torch.nn.init.ones_(self.weight)

    class Loading(torch.nn.Sequential):
        def init_weights(self, pretrained=True):
            for value in self.parameters():
                torch.nn.init.constant_(value, 0.25)
            self[0].weight.data[0] = 0.5

    class Failing(torch.nn.Sequential):
        def init_weights(self):
            raise RuntimeError("no checkpoint")

    loaded = Loading(torch.nn.Linear(3, 2))
    loaded.init_weights()
    trained = torch.nn.utils.spectral_norm(torch.nn.Conv2d(3, 4, 3, bias=False))
    for refused, message in (
        (Half(3, 2), "weights bias of mine"),
        (trained, "weights weight_orig of mine"),
        (loaded, "not trained, or its class initialises it with trained weights"),
        (Failing(torch.nn.Linear(3, 2)), "cannot be initialised as before training: RuntimeError: no checkpoint"),
    ):
        with pytest.raises(UserError, match=message):
            initial_weights(refused, "mine", 0)


@pytest.mark.slow(reason="imports torchvision")
def test_twins_of_networks_with_parts_of_a_library():
    torch = pytest.importorskip("torch")
    declare_operators()
    torchvision = pytest.importorskip("torchvision")
    resnet = torchvision.models.resnet18()

    class Mine(torchvision.models.ResNet):
        pass

    blocks = torchvision.models.resnet.BasicBlock
    for network in (torch.nn.Sequential(*list(resnet.children())[:-1]), Mine(blocks, [1, 1, 1, 1])):
        found = initial_weights(network, "mine", 0)
        assert all(bool(value.isfinite().all()) for value in found.values())


def test_twins_of_networks_that_rely_on_the_order_in_memory(stimuli, network):
    import torch

    class Viewed(torch.nn.Module):
        def forward(self, x):
            return x.view(len(x), -1)

    network.append(Viewed())
    with channels_last(network), pytest.raises(RuntimeError, match="view"):
        network(torch.rand(2, 3, 64, 64))
    assert all(value.is_contiguous() for value in network.parameters())
    benchmark = _benchmark(np.random.default_rng(8).standard_normal((STIMULI, NEUROIDS)), stimuli)
    found = _of(score_controls(benchmark, model=_commitment(network), seeds=(0,)))
    assert found["untrained, seed 0"].score is not None


def test_twins_of_reference_models_are_those_that_are_registered():
    torch = pytest.importorskip("torch")
    twin = load_model("hmax-untrained").activations_model.model
    registered = {name: value.clone() for name, value in twin.state_dict().items()}
    weights = initial_weights(twin, "hmax", 0)
    assert set(weights) == set(registered)
    assert all(torch.equal(weights[name], value) for name, value in registered.items())
    other = initial_weights(twin, "hmax", 1)
    assert any(not torch.equal(other[name], value) for name, value in registered.items())
    with pytest.raises(UserError, match="not trained itself"):
        initial_weights(twin, "hmax-untrained", 0)


def test_why_there_are_no_twins(stimuli, network):
    import torch

    network.register_parameter("token", torch.nn.Parameter(torch.zeros(3)))
    with pytest.raises(UserError, match="weights token of small"):
        initial_weights(network, "small", 0)
    benchmark = _benchmark(np.random.default_rng(8).standard_normal((STIMULI, NEUROIDS)), stimuli)
    found = _of(score_controls(benchmark, model=_model(np.random.default_rng(0).standard_normal((STIMULI, 5)))))
    assert "no PyTorch network" in found["untrained"].reason
    assert _of(score_controls(benchmark))["untrained"].reason == "no model was given"


def test_a_score_is_enough(stimuli):
    rng = np.random.default_rng(9)
    features = rng.standard_normal((STIMULI, 20))
    benchmark = _benchmark(features @ rng.standard_normal((20, NEUROIDS)), stimuli)
    score = benchmark(_model(features))
    score.attrs["model_identifier"] = "mine"
    result = score_controls(benchmark, model=score)
    assert result.model == "mine"
    assert result.above() is True
    assert result.score == pytest.approx(float(score.attrs["unclamped"]))
    assert "Gabor" in _of(result)["shuffled groups"].description


def test_features_of_images_are_computed_once(stimuli, monkeypatch):
    baselines._image_features.cache_clear()
    read = []
    original = baselines.load_rgb
    monkeypatch.setattr(baselines, "load_rgb", lambda path, **options: read.append(path) or original(path, **options))
    for seed in range(2):
        score_controls(_benchmark(np.random.default_rng(seed).standard_normal((STIMULI, NEUROIDS)), stimuli))
    assert sorted(read) == sorted(str(stimuli.get_stimulus(name)) for name in NAMES)


def test_result_is_json(stimuli):
    responses = np.random.default_rng(8).standard_normal((STIMULI, NEUROIDS))
    result = score_controls(_benchmark(responses, stimuli), model=_model(responses))
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert content["above_all_controls"] is True
    assert content["best"] == result.best.name
    assert content["difference_to_best"]["value"] == pytest.approx(result.score - result.best.score)
    assert f"Best baseline model: {result.best.name}; model − {result.best.name} +" in result.text()
    assert all(f">{control.name}<" in result.figure() for control in result.controls)
    assert {control["kind"] for control in content["controls"]} == {"baseline", "artefact check"}
    assert content["controls"][0]["difference"]["p"] < 0.05


def _control(name, kind, p, score=0.1):
    difference = None if p is None else Difference(value=0.1, p=p)
    return Control(name=name, kind=kind, description="", score=score, difference=difference)


def test_every_test_must_be_significant():
    pixels, time = _control("pixels", "baseline", 0.03), _control("time codes", "artefact check", 0.049)
    result = Controls(benchmark="b", controls=(pixels, time), model="m")
    assert result.above() is True
    assert result.p_above() == 0.049
    result = Controls(benchmark="b", controls=(pixels, _control("time codes", "artefact check", 0.051)), model="m")
    assert result.above() is False
    assert result.above("baseline") is True
    assert result.above("artefact check") is False
    untested = Controls(benchmark="b", controls=(pixels, _control("labels", "baseline", None)), model="m")
    assert untested.above() is None
    assert untested.p_above() is None
    assert "not tested against labels" in untested.text()
    missing = Controls(benchmark="b", controls=(pixels, _control("labels", "baseline", None, score=None)), model="m")
    assert missing.above() is True
    assert Controls(benchmark="b", controls=()).above() is None


def test_time_codes():
    times = np.array([5, 1, 3, 2, 4, 6])
    codes = time_codes(times, np.array(list("aabbab")))
    smooth = codes[:, :-1]
    same = np.array(list("aabbab"))
    assert (smooth[same == "a"][:, (smooth[same == "b"] > 0).any(axis=0)] == 0).all()
    np.testing.assert_allclose(codes[:, -1] * 5, [2, 0, 4, 3, 1, 5])
    many = time_codes(np.arange(5000))
    assert many.shape[1] < 300
    similar, distant = (np.corrcoef(many[100], many[row])[0, 1] for row in (110, 2500))
    assert similar > 0.9 > 0.2 > distant


def test_shuffled_groups():
    groups = np.repeat(["a", "b", "c"], [2, 3, 4])
    rows = shuffle_groups(groups, seed=1)
    given = {name: set(groups[rows[groups == name]]) for name in "abc"}
    assert all(len(others) == 1 and name not in others for name, others in given.items())
    assert len({next(iter(others)) for others in given.values()}) == 3
    even = np.repeat(["a", "b", "c"], 4)
    assert sorted(shuffle_groups(even, seed=0)) == list(range(12))


def test_controls_have_every_time_bin(stimuli):
    from brainscore_vision.metric_helpers.temporal import PerTime

    rng = np.random.default_rng(10)
    labels = np.arange(STIMULI) // GROUP
    values = rng.standard_normal((2, STIMULI // GROUP, NEUROIDS))[:, labels]
    values += 0.1 * rng.standard_normal(values.shape)
    benchmark = _benchmark(values[0], stimuli)
    plain, metric = benchmark._assembly, benchmark._similarity_metric
    recordings = plain.expand_dims(time_bin_start=[70, 120]).stack(time_bin=["time_bin_start"])
    recordings = recordings.transpose("presentation", "neuroid", "time_bin").copy(data=np.moveaxis(values, 0, 2))
    recordings = recordings.assign_coords(time_bin_end=("time_bin", [120, 170]))
    recordings.attrs["stimulus_set"] = stimuli
    benchmark._assembly = recordings

    benchmark._similarity_metric = lambda source, target: Score(PerTime(metric)(source, target).mean())
    assert _of(score_controls(benchmark))["labels"].score > 0.9


class _Behavior(BenchmarkBase):
    """Asks for labels of the stimuli."""

    def __init__(self, stimuli):
        super().__init__(
            identifier="Labels2026-accuracy", ceiling_func=lambda: Score(1.0), version=1, parent="behavior"
        )
        self._stimuli = stimuli

    def measurements(self):
        return VisualMeasurements(
            benchmark=self.identifier, measured=self._stimuli, compares="choices", visual_degrees=8
        )

    def __call__(self, candidate):
        candidate.start_task("label", ["cat", "dog"])
        return Score(float(len(candidate.look_at(self._stimuli))))


def test_refusals(stimuli):
    with pytest.raises(UserError, match="features alone do not have"):
        score_controls(_Behavior(stimuli))
    opaque = _Behavior(stimuli)
    opaque.measurements = lambda: None
    with pytest.raises(UserError, match="'Labels2026-accuracy' does not say what it measures"):
        score_controls(opaque)
    with pytest.raises(UserError, match="no seed"):
        score_controls(_benchmark(np.zeros((STIMULI, NEUROIDS)), stimuli), seeds=())


def test_rows_of_a_memory_map_are_not_copied_into_memory(tmp_path):
    values = np.arange(60 * 5, dtype=np.float32).reshape(60, 5)
    np.save(tmp_path / "layer.npy", values)
    mapped = np.load(tmp_path / "layer.npy", mmap_mode="r")
    rows = np.random.default_rng(0).integers(0, 60, 50)
    found = controls._taken(mapped.view(np.ndarray), rows, axis=0)
    assert isinstance(found, np.memmap)
    np.testing.assert_array_equal(found, values[rows])
    assert type(controls._taken(values, rows, axis=0)) is np.ndarray
    np.testing.assert_array_equal(controls._taken(mapped, rows % 5, axis=1), values[:, rows % 5])
