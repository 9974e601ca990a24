"""What is read from a network: axes of stimuli, channels and tokens; logits; the network inside of others."""

import copy
import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.provenance import recording
from brainscore_vision.model_helpers.activations import Pooling, PytorchWrapper
from brainscore_vision.model_helpers.activations.preprocessing import load_preprocess_images
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

torch = pytest.importorskip("torch")
nn = torch.nn
PREPROCESSING = functools.partial(load_preprocess_images, image_size=32)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, images):
        return self.function(images)


def chain(*functions):
    return nn.Sequential(*(part if isinstance(part, nn.Module) else Function(part) for part in functions))


def record(network, stimuli, layers, **options):
    return PytorchWrapper(network, PREPROCESSING, "net", store=None, batch_size=4, **options)(stimuli, layers)


@pytest.fixture
def convolution():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(1568, 10)).eval()


def windows(images):  # 16 of each stimulus, one stimulus after the other
    return images.unfold(2, 8, 8).unfold(3, 8, 8).flatten(2, 3).transpose(1, 2).reshape(-1, 3, 64)


def in_turn(images):  # the first window of all stimuli, then the second …
    return windows(images).unflatten(0, (-1, 16)).transpose(0, 1).flatten(0, 1)


@dataclass
class Output:
    nothing: None
    values: object


@pytest.mark.parametrize(
    ("function", "by_stimulus"),
    [
        (lambda x: x.flatten(2).permute(2, 0, 1), lambda x: x.flatten(2).transpose(1, 2)),
        (lambda x: x.mean((2, 3))[None], lambda x: x.mean((2, 3))),
        (lambda x: x.mean((2, 3)).squeeze(), lambda x: x.mean((2, 3))),
        (windows, lambda x: windows(x).unflatten(0, (-1, 16))),
        (in_turn, lambda x: windows(x).unflatten(0, (-1, 16))),
        (lambda x: x.reshape(1, -1, 32, 32), lambda x: x),
        (lambda x: Output(None, [(), None, x]), lambda x: x),
        (lambda x: {"first": None, "second": {"third": x}}, lambda x: x),
        (lambda x: x.relu().to_sparse(), lambda x: x.relu()),
        (lambda x: torch.quantize_per_tensor(x, 0.5, 0, torch.qint8), lambda x: (x * 2).round() / 2),
    ],
)
def test_responses_are_those_of_each_stimulus(function, by_stimulus, stimuli):
    network = chain(function, lambda output: torch.zeros(1, 2))
    images = torch.as_tensor(PREPROCESSING([stimuli.get_stimulus(name) for name in stimuli["stimulus_id"]]))
    expected = by_stimulus(images).flatten(1).numpy()
    np.testing.assert_allclose(record(network, stimuli, ["0"]).values, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (torch.fft.fft2, "complex numbers"),
        (lambda x: x.mean(), "single number"),
        (lambda x: {"a": None}, "without a tensor"),
        (lambda x: torch.nested.as_nested_tensor(x.flatten(2)), "nested tensor"),
        (lambda x: torch.ones(7, 3), "axis of stimuli"),
        (lambda x: torch.ones(1, 3), "axis of stimuli"),
        (lambda x: x.flatten(1) @ x.flatten(1).T, "3 stimuli|4 stimuli"),
    ],
)
def test_outputs_that_cannot_be_recorded_are_refused_with_the_name_of_the_layer(function, problem, stimuli):
    with pytest.raises(UserError, match=rf"layer '0' .*({problem})|({problem}).* layer '0'"):
        record(chain(function, lambda output: torch.zeros(1, 2)), stimuli, ["0"])


def compiled_inside(network):
    changed = copy.deepcopy(network)
    changed[0] = torch.compile(changed[0], backend="eager")
    return changed


def compiled_in_place(network):
    changed = copy.deepcopy(network)
    changed.compile(backend="eager")
    changed(torch.zeros(1, 3, 32, 32))
    return changed


@pytest.mark.parametrize(
    ("change", "layer"),
    [
        (functools.partial(torch.compile, backend="eager"), "_orig_mod.1"),
        (functools.partial(torch.compile, backend="eager"), "1"),
        (compiled_inside, "1"),
        (compiled_in_place, "1"),
        (nn.DataParallel, "module.1"),
        (torch.fx.symbolic_trace, "1"),
    ],
)
def test_networks_inside_of_others_respond_as_themselves(change, layer, convolution, stimuli):
    expected = record(convolution, stimuli, ["1", "logits"]).values
    np.testing.assert_allclose(record(change(convolution), stimuli, [layer, "logits"]).values, expected, atol=1e-5)


def test_of_torchscript_only_the_output_is_recorded(convolution, stimuli):
    for scripted in (torch.jit.script(convolution), torch.jit.trace(convolution, torch.zeros(2, 3, 32, 32))):
        expected = record(convolution, stimuli, ["logits"]).values
        np.testing.assert_allclose(record(scripted, stimuli, ["logits"]).values, expected, atol=1e-5)
        with pytest.raises(UserError, match=r"layer '1' .* TorchScript"):
            record(scripted, stimuli, ["1"])
    with pytest.raises(UserError, match=r"layer '0' .* TorchScript"):
        record(nn.Sequential(torch.jit.script(convolution)), stimuli, ["0"])


def test_quantised_layers_are_read_from_the_store(convolution, stimuli, store, caplog):
    quantized = torch.ao.quantization.quantize_dynamic(convolution, {nn.Linear}, dtype=torch.qint8)
    for _ in range(2):
        PytorchWrapper(quantized, PREPROCESSING, "net", store=store)(stimuli, ["3"])
    assert "differ" not in caplog.text  # stimuli to compare do not pass the network together


def test_weights_of_quantised_layers_count(convolution, stimuli):
    quantized = torch.ao.quantization.quantize_dynamic(convolution, {nn.Linear}, dtype=torch.qint8)
    first = PytorchWrapper(quantized, PREPROCESSING, "net", store=None)
    again, alone = first(stimuli, ["3"]), [first([path], ["3"]) for path in stimuli.stimulus_paths.values()]
    np.testing.assert_array_equal(again.values[:6], np.concatenate(alone)[:6])  # not of other stimuli's range
    before = first._fingerprint()["weights"]
    weight, bias = quantized[3]._packed_params._weight_bias()
    quantized[3]._packed_params.set_weight_bias(
        torch.quantize_per_tensor(weight.dequantize() * 2, 0.1, 0, torch.qint8), bias
    )
    assert first._fingerprint()["weights"] != before


def test_networks_without_values_are_refused():
    for network in (nn.Linear(2, 2, device="meta"), nn.Sequential(nn.LazyLinear(2))):
        with pytest.raises(UserError, match="has no values"):
            PytorchWrapper(network, PREPROCESSING)


class ClassifierFirst(nn.Module):
    def __init__(self, change=lambda logits: logits):
        super().__init__()
        self.fc = nn.Linear(8, 1000)
        self.conv = nn.Conv2d(3, 8, 5)
        self.change = change

    def forward(self, images):
        return self.change(self.fc(self.conv(images).mean((2, 3))))


@dataclass
class ClassifierOutput:
    logits: object


@pytest.mark.parametrize("change", [lambda x: x, ClassifierOutput, lambda x: x[:, :, None, None], torch.softmax])
def test_logits_are_the_output_of_the_network(change, stimuli):
    network = ClassifierFirst(functools.partial(change, dim=1) if change is torch.softmax else change)
    wrapper = PytorchWrapper(network, PREPROCESSING, "net", store=None)
    found = wrapper(stimuli, ["fc", "logits"])
    expected = torch.as_tensor(found.sel(layer="fc").values)
    if change is torch.softmax:
        expected = expected.softmax(1)
    np.testing.assert_allclose(found.sel(layer="logits").values, expected, rtol=1e-5)
    assert wrapper.logits_width() == 1000


def test_logits_that_are_those_of_the_last_module_have_its_key_and_others_do_not(convolution, stimuli):
    for network, key in (
        (convolution, "3"),
        (ClassifierFirst(), "logits"),
        (ClassifierFirst(lambda x: {"loss": x.mean()}), "conv"),
    ):
        wrapper = PytorchWrapper(network, PREPROCESSING, "net", store=None)
        wrapper(stimuli, ["logits"])
        assert wrapper._extractor.reader.canonical("logits") == key
    assert "the last module, since" in wrapper.describe_layers(["logits"])[0]


class TwoHeads(ClassifierFirst):
    """Returns what `change` makes of features, logits, and those of an auxiliary head, the last module."""

    def __init__(self, change):
        super().__init__(change)
        self.auxiliary = nn.Linear(8, 1000)

    def forward(self, images):
        features = self.conv(images).mean((2, 3))
        return self.change(features, self.fc(features), self.auxiliary(features))


class Outputs(NamedTuple):
    logits: object
    other: object


class Unnamed(NamedTuple):
    first: object
    second: object


@pytest.mark.parametrize(
    ("change", "entry"),
    [
        (lambda x, logits, other: Outputs(logits, other), "logits"),  # Inception and GoogLeNet
        (lambda x, logits, other: {"logits": logits, "aux_logits": other}, "logits"),
        (lambda x, logits, other: ClassifierOutput(logits), "logits"),
        (lambda x, logits, other: {"out": logits, "aux": other}, "out"),  # segmentation of torchvision
        (lambda x, logits, other: {"features": x, "scores": logits}, "scores"),
        (lambda x, logits, other: (x, logits), 1),
        (lambda x, logits, other: [logits], 0),
        (lambda x, logits, other: (x[:, :, None, None].expand(-1, -1, 2, 2), logits), 1),
    ],
)
def test_logits_are_the_entry_of_the_output_that_has_the_classes(change, entry, stimuli):
    wrapper = PytorchWrapper(TwoHeads(change), PREPROCESSING, "net", store=None)
    found = wrapper(stimuli, ["fc", "logits"])
    np.testing.assert_array_equal(found.sel(layer="logits").values, found.sel(layer="fc").values)
    assert wrapper.logits_source == f"{entry!r} of the output of the network"
    assert f"{entry!r} of the output of the network" in wrapper.describe_layers(["logits"])[0]


@pytest.mark.parametrize(
    ("change", "entry"),
    [(lambda x, *both: both, 0), (lambda x, *both: Unnamed(*both), "first"), (lambda x, *both: list(both), 0)],
)
def test_an_ambiguous_output_is_refused_until_the_entry_is_stated(change, entry, stimuli):
    network = TwoHeads(change)
    wrapper = PytorchWrapper(network, PREPROCESSING, "net", store=None)
    assert wrapper(stimuli, ["fc"]).sizes["neuroid"] == 1000
    with pytest.raises(UserError, match="it is not known which has its classes") as error:
        wrapper(stimuli, ["logits"])
    assert "logits=0" in error.value.remedy
    stated = PytorchWrapper(network, PREPROCESSING, "net", store=None, logits=entry)
    found = stated(stimuli, ["fc", "logits"])
    np.testing.assert_array_equal(found.sel(layer="logits").values, found.sel(layer="fc").values)
    assert stated._fingerprint() != wrapper._fingerprint()
    with pytest.raises(UserError, match="stated as logits, is missing"):
        PytorchWrapper(network, PREPROCESSING, "net", store=None, logits="no-such")(stimuli, ["logits"])


def test_labels_and_their_receipt_say_which_entry_they_are_chosen_from(stimuli):
    network = TwoHeads(lambda x, logits, other: {"out": logits, "aux": other})
    model = ModelCommitment(
        "net", PytorchWrapper(network, PREPROCESSING, "net", store=None), ["conv"], visual_degrees=8
    )
    model.start_task("label", "imagenet")
    with recording() as record:
        labels = model.look_at(stimuli)
    expected = model.activations(stimuli, ["fc"]).values.argmax(axis=1)
    np.testing.assert_array_equal(labels["logit"].values, expected)
    texts = [item["text"] for item in record.items if item["kind"] == "remark"]
    assert texts == ["labels are chosen from the logits in 'out' of the output of the network"]


def test_of_the_steps_of_a_recurrent_network_the_last_one_is_its_logits(stimuli):
    class Recurrent(ClassifierFirst):
        def forward(self, images):
            features = self.conv(images).mean((2, 3))
            return [self.last(step * features) for step in (1, 2, 3)]

    network = Recurrent()
    network.last = nn.Linear(8, 1000)
    wrapper = PytorchWrapper(network, PREPROCESSING, "net", store=None)
    found = wrapper(stimuli, ["last-t2", "logits"])
    np.testing.assert_array_equal(found.sel(layer="logits").values, found.sel(layer="last-t2").values)


def test_a_network_without_classes_has_no_logits(stimuli):
    network = ClassifierFirst()
    network.forward = lambda images: network.conv(images)
    network.head = nn.Linear(8, 1000)  # it does not run
    with pytest.raises(NotApplicable, match="it returns stimuli × 8 × 28 × 28"):
        PytorchWrapper(network, PREPROCESSING, "net", store=None)(stimuli, ["logits"])


def test_a_container_holds_one_network_or_is_refused(convolution, stimuli):
    inside = PytorchWrapper(nn.ModuleDict({"ema": convolution}), PREPROCESSING, "net", store=None)
    alone = PytorchWrapper(convolution, PREPROCESSING, "net", store=None)
    np.testing.assert_array_equal(inside(stimuli, ["logits"]).values, alone(stimuli, ["logits"]).values)
    assert inside.remarks == ["the network was in a ModuleDict, as 'ema'"]
    with pytest.raises(UserError, match="in which order its modules run"):
        PytorchWrapper(nn.ModuleList([convolution, copy.deepcopy(convolution)]), PREPROCESSING)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.text = nn.Linear(9, 9)
        self.visual = nn.Sequential(nn.Flatten(), nn.Linear(3072, 5))

    def encode_image(self, images):
        return self.visual(images)

    def forward(self, images, text):
        return self.encode_image(images) @ self.text(text).T


def test_images_are_shown_to_the_image_tower(stimuli):
    wrapper = PytorchWrapper(Tower(), PREPROCESSING, "net", store=None)
    found = wrapper(stimuli, ["visual.1", "logits"])
    np.testing.assert_array_equal(found.sel(layer="visual.1").values, found.sel(layer="logits").values)
    assert "image tower" in wrapper.describe_layers(["visual.1"])[0]


class Transformer(nn.Module):
    """Patches of 8 × 8 pixels, after tokens of these names and numbers."""

    def __init__(self, **tokens):
        super().__init__()
        self.patches = nn.Conv2d(3, 6, 8, stride=8)
        for name, number in tokens.items():
            self.register_parameter(name, nn.Parameter(torch.randn(1, number, 6)))
        self.names = list(tokens)
        self.early, self.late = nn.Identity(), nn.Identity()

    def forward(self, images):
        tokens = self.early(self.patches(images).flatten(2).transpose(1, 2))
        before = [getattr(self, name).expand(len(images), -1, -1) for name in self.names]
        return self.late(torch.cat([*before, tokens], 1)).mean(1)


@pytest.mark.parametrize(
    "tokens",
    [
        {"cls_token": 1},
        {"cls_token": 1, "register_tokens": 4},
        {"cls_token": 1, "dist_token": 1},
        {"reg_token": 4},
        {"special": 1},
        {},
    ],
)
def test_tokens_before_those_of_the_image_are_left_out(tokens, stimuli):
    network = Transformer(**tokens)
    early = record(network, stimuli, ["early"]).values.reshape(7, 16, 6)
    pooled = record(network, stimuli, ["early", "late"], pooling=Pooling(tokens="patch_mean"))
    np.testing.assert_allclose(pooled.values, np.tile(early.mean(1), 2), atol=1e-5)
    with pytest.raises(UserError, match="layer 'early' include no class token"):
        record(network, stimuli, ["early"], pooling=Pooling(tokens="cls"))
    if {"cls_token", "special"} & tokens.keys():
        first = record(network, stimuli, ["late"], pooling=Pooling(tokens="cls")).values
        np.testing.assert_allclose(first, first[:1].repeat(7, 0))
    else:
        with pytest.raises(UserError, match="no class token"):
            record(network, stimuli, ["late"], pooling=Pooling(tokens="cls"))


def test_an_unknown_number_of_tokens_is_asked_for(stimuli):
    for network in (Transformer(special=30), Transformer(cls_token=1, detection_tokens=5)):
        with pytest.raises(UserError, match=r"layer 'late' precede .*\n?.*prefix_tokens=1"):
            record(network, stimuli, ["late"], pooling=Pooling(tokens="patch_mean"))
    assert record(network, stimuli, ["late"], pooling=Pooling(tokens="patch_mean", prefix_tokens=1)).shape == (7, 6)


def test_channels_are_found_in_both_layouts(stimuli):
    last = nn.Sequential(nn.Conv2d(3, 6, 5), Function(lambda x: x.permute(0, 2, 3, 1)), nn.Linear(6, 28))
    plain = record(last, stimuli, ["0", "1"])
    cube = plain.sel(layer="0").values.reshape(7, 6, 28, 28)
    pooled = record(last, stimuli, ["0", "1"], pooling=Pooling(spatial="mean"))
    np.testing.assert_allclose(pooled.values, np.tile(cube.mean((2, 3)), 2), atol=1e-5)
    for axis, name in enumerate(("channel_x", "channel_y", "channel")):
        np.testing.assert_array_equal(plain.sel(layer="1")[name].values, np.indices((28, 28, 6))[axis].ravel())
    square = record(last, stimuli, ["2"])  # 28 × 28 × 28: the module decides
    np.testing.assert_array_equal(square["channel"].values, np.indices((28, 28, 28))[2].ravel())


def test_layers_are_described(stimuli):
    network = nn.Sequential(Transformer(cls_token=1), Function(lambda x: (x, x)), Function(lambda x: x[0]))
    first = chain(lambda x: x.flatten(2).permute(2, 0, 1), lambda x: x.mean(0))
    wrapper = PytorchWrapper(torch.compile(network, backend="eager"), PREPROCESSING, "net", store=None)
    assert wrapper.describe_layers(["0.late", "1", "logits"]) == [
        "the network was compiled by torch.compile, and is recorded without compilation",
        "0.late: stimuli × 17 tokens × 6 channels, 1 of them before those of the image, the first a class token",
        "1: stimuli × 6, the first tensor in its tuple",
        "logits: stimuli × 6, output of the network, that of 2",
    ]
    assert PytorchWrapper(first, PREPROCESSING, "net").describe_layers(["0"]) == [
        "0: stimuli × 1,024 tokens × 3 channels, an unknown number of them before those of the image, stimuli are axis "
        "2 of its output, and are moved to the front"
    ]


def test_an_ambiguous_layout_is_unknown(stimuli):
    network = nn.Sequential(nn.Conv2d(3, 28, 5), Function(lambda x: x.permute(0, 2, 3, 1)))
    assert np.isnan(record(network, stimuli, ["1"])["channel"].values).all()
    with pytest.raises(UserError, match=r"layer '1', 28 × 28 × 28 .*\n.*channels_last"):
        record(network, stimuli, ["1"], pooling=Pooling(spatial="max"))
    expected = record(network, stimuli, ["0"], pooling=Pooling(spatial="max"))
    found = record(network, stimuli, ["1"], pooling=Pooling(spatial="max", channels_last=True))
    np.testing.assert_array_equal(found.values, expected.values)
