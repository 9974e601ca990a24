"""Activations of networks: values, coordinates, layers, how often the network runs."""

import functools

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations import Pooling, PytorchWrapper
from brainscore_vision.model_helpers.activations.preprocessing import load_images, load_preprocess_images

torch = pytest.importorskip("torch")


@pytest.fixture
def wrapper(network, preprocessing):
    return PytorchWrapper(network, preprocessing, identifier="net", store=None, batch_size=3)


def expected(network, preprocessing, stimuli):
    """Each layer's output, computed by hand."""
    x = torch.from_numpy(preprocessing([stimuli.get_stimulus(one) for one in stimuli["stimulus_id"]]))
    with torch.no_grad():
        found = {"conv": network.conv(x)}
        y = found["conv"].relu()
        for call in range(3):
            found[f"block-t{call}"] = network.block(y)
            y = found[f"block-t{call}"].relu()
        found["relu"] = y
        found["logits"] = network.head(y)
    return {layer: output.flatten(1).numpy() for layer, output in found.items()}


@pytest.mark.parametrize("layer", ["conv", "block-t0", "block-t1", "block-t2", "relu", "logits"])
def test_a_layer_is_what_its_module_returned_before_the_next_one_changed_it(
    layer, network, wrapper, preprocessing, stimuli
):
    activations = wrapper(stimuli, layers=[layer])
    np.testing.assert_allclose(
        activations.values, expected(network, preprocessing, stimuli)[layer], rtol=1e-4, atol=1e-5
    )


def test_without_a_number_the_last_call_counts(wrapper, stimuli):
    np.testing.assert_array_equal(wrapper(stimuli, ["block"]).values, wrapper(stimuli, ["block-t2"]).values)


def test_each_stimulus_passes_once_for_all_layers_and_equal_files_together(network, wrapper, stimuli):
    network.seen.clear()
    wrapper(stimuli, layers=["conv", "block-t1", "relu", "logits"])
    assert network.seen[0] == 1  # shows what the layers are like, and whether responses repeat
    assert sum(network.seen[1:]) == 6


def test_several_layers_stand_side_by_side(network, wrapper, preprocessing, stimuli):
    activations = wrapper(stimuli, layers=["conv", "logits"])
    by_hand = expected(network, preprocessing, stimuli)
    np.testing.assert_allclose(
        activations.values, np.hstack([by_hand["conv"], by_hand["logits"]]), rtol=1e-4, atol=1e-5
    )
    assert activations.sel(layer="logits").shape == (7, 5)


def test_coordinates(wrapper, stimuli):
    activations = wrapper(stimuli, layers=["conv", "logits"])
    assert activations.dims == ("presentation", "neuroid")
    assert list(activations["stimulus_id"].values) == list(stimuli["stimulus_id"])
    assert list(activations["object_name"].values) == list(stimuli["object_name"])
    assert activations.attrs["stimulus_set_identifier"] == "seven"
    conv, logits = activations.sel(layer="conv"), activations.sel(layer="logits")
    places = np.indices((4, 7, 7)).reshape(3, -1)
    for name, place in zip(("channel", "channel_x", "channel_y"), places, strict=True):
        np.testing.assert_array_equal(conv[name].values, place)
    np.testing.assert_array_equal(logits["channel"].values, range(5))
    assert np.isnan(logits["channel_x"].values).all()
    assert list(logits["neuroid_id"].values) == [f"net.logits.{number}" for number in range(5)]
    assert list(logits["neuroid_num"].values) == list(range(5))
    assert set(activations["model"].values) == {"net"}


def test_coordinates_are_those_of_an_assembly_made_in_the_ordinary_way(wrapper, stimuli):
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly, walk_coords

    activations = wrapper(stimuli, layers=["conv", "logits"])
    coords = {name: (dims, values) for name, dims, values in walk_coords(activations)}
    again = NeuroidAssembly(activations.values, coords=coords, dims=activations.dims, attrs=activations.attrs)
    assert activations.identical(again)
    assert activations.isel(neuroid=[3, 200]).identical(again.isel(neuroid=[3, 200]))


def test_tokens_have_channel_and_embedding(preprocessing, stimuli):
    class Tokens(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.out = torch.nn.Identity()

        def forward(self, images):
            return self.out(images.flatten(2))

    plain = PytorchWrapper(Tokens(), preprocessing, store=None)(stimuli, ["out"])
    np.testing.assert_array_equal(plain["channel"].values, np.repeat(np.arange(3), 256))
    np.testing.assert_array_equal(plain["embedding"].values, np.tile(np.arange(256), 3))
    cube = plain.values.reshape(7, 3, 256)
    for tokens, wanted in (
        ("cls", cube[:, 0]),
        ("mean", cube.mean(1)),
        ("patch_mean", cube[:, 1:].mean(1)),
        ("last", cube[:, -1]),
    ):
        pooling = Pooling(tokens=tokens, prefix_tokens=1)
        pooled = PytorchWrapper(Tokens(), preprocessing, store=None, pooling=pooling)(stimuli, ["out"])
        np.testing.assert_allclose(pooled.values, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("how", ["mean", "max"])
def test_spatial_pooling(how, network, preprocessing, stimuli):
    pooled = PytorchWrapper(network, preprocessing, store=None, pooling=Pooling(spatial=how))(
        stimuli, ["conv", "logits"]
    )
    plain = PytorchWrapper(network, preprocessing, store=None)(stimuli, ["conv"])
    np.testing.assert_allclose(
        pooled.sel(layer="conv").values, getattr(plain.values.reshape(7, 4, 49), how)(-1), rtol=1e-5, atol=1e-6
    )
    assert pooled.sel(layer="logits").shape == (7, 5)


def test_patterns_and_logits(network, wrapper, stimuli):
    assert wrapper.layers() == ["conv", "relu", "block", "head.0", "head.1"]
    activations = wrapper(stimuli, layers=["head.*", "conv"])
    assert list(dict.fromkeys(activations["layer"].values)) == ["head.0", "head.1", "conv"]
    np.testing.assert_array_equal(wrapper(stimuli, layers=None).values, activations.sel(layer="head.1").values)


@pytest.mark.parametrize(
    ("layers", "match"),
    [
        (["convv"], "nearest: conv"),
        (["nothing*"], "matches 'nothing\\*'"),
        ([], "layers is empty"),
        ("conv", "pass a list"),
    ],
)
def test_layers_that_there_are_not(layers, match, wrapper, stimuli):
    with pytest.raises(UserError, match=match):
        wrapper(stimuli, layers=layers)


def test_a_call_that_does_not_happen_is_named(wrapper, stimuli):
    with pytest.raises(UserError, match="'block-t7' of Network ran 3 times"):
        wrapper(stimuli, layers=["block-t7"])


def test_no_hook_stays(network, wrapper, stimuli):
    wrapper(stimuli, layers=["conv"])
    with pytest.raises(UserError):
        wrapper(stimuli, layers=["block-t7"])
    assert not any(module._forward_hooks for module in network.modules())


def test_paths_instead_of_a_stimulus_set(wrapper, stimuli):
    paths = [str(stimuli.get_stimulus(one)) for one in stimuli["stimulus_id"]]
    activations = wrapper(paths, layers=["logits"])
    assert list(activations["stimulus_path"].values) == paths
    np.testing.assert_array_equal(activations.values, wrapper(stimuli, layers=["logits"]).values)
    with pytest.raises(UserError, match="do not exist"):
        wrapper([*paths, "no such file.png"], layers=["logits"])
    with pytest.raises(UserError, match="no stimuli"):
        wrapper([], layers=["logits"])


@pytest.mark.parametrize("options", [{"workers": 0}, {"workers": 3}, {"batch_size": 1}, {"batch_size": 100}])
def test_how_stimuli_are_read_does_not_matter(options, network, preprocessing, wrapper, stimuli):
    other = PytorchWrapper(network, preprocessing, identifier="net", store=None, **options)
    np.testing.assert_allclose(other(stimuli, ["conv"]).values, wrapper(stimuli, ["conv"]).values, rtol=1e-5, atol=1e-6)


@pytest.mark.slow(reason="starts processes that read images")
def test_processes_read_too(network, preprocessing, wrapper, stimuli):
    other = PytorchWrapper(network, preprocessing, identifier="net", store=None, workers=2, loader="processes")
    np.testing.assert_allclose(other(stimuli, ["conv"]).values, wrapper(stimuli, ["conv"]).values, rtol=1e-5, atol=1e-6)


def test_an_unreadable_image_is_named(wrapper, stimuli, tmp_path):
    (tmp_path / "image4.png").write_text("no image")
    with pytest.raises(UserError, match=r"image4\.png cannot be read"):
        wrapper(stimuli, layers=["conv"])


def test_memory_that_does_not_suffice_for_a_batch_halves_it(network, preprocessing, wrapper, stimuli):
    def greedy(_module, inputs):
        if len(inputs[0]) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")

    wanted = wrapper(stimuli, layers=["conv", "logits"]).values
    network.head.register_forward_pre_hook(greedy)  # after `conv` was recorded already
    found = PytorchWrapper(network, preprocessing, store=None, batch_size=4)(stimuli, layers=["conv", "logits"])
    np.testing.assert_allclose(found.values, wanted, rtol=1e-5, atol=1e-6)


def test_another_error_is_no_lack_of_memory(network, wrapper, stimuli):
    def broken(_module, inputs):
        if len(inputs[0]) > 1:
            raise RuntimeError("shapes do not match")

    network.head.register_forward_pre_hook(broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        wrapper(stimuli, layers=["conv"])


def test_what_cannot_fit_is_refused_before_it_starts(network, preprocessing, stimuli):
    network.seen.clear()
    wrapper = PytorchWrapper(network, preprocessing, store=None, max_memory="1MB")
    with pytest.raises(UserError, match="do not fit"):
        wrapper(stimuli, layers=["conv"])
    assert sum(network.seen) == 1


def test_types(network, preprocessing, stimuli):
    def type_of(**options):
        return PytorchWrapper(network, preprocessing, store=None, **options)(stimuli, ["logits"]).dtype

    assert type_of() == np.float32
    assert type_of(dtype="float64") == np.float64
    assert type_of(autocast=True) == np.float32  # NumPy knows no bfloat16
    network.double()
    assert type_of() == np.float64


def test_autocast_computes_in_half_precision(network, preprocessing, wrapper, stimuli):
    exact = wrapper(stimuli, ["logits"]).values
    coarse = PytorchWrapper(network, preprocessing, store=None, autocast=True)(stimuli, ["logits"]).values
    assert 0 < np.abs(exact - coarse).max() < 0.05 * np.abs(exact).max()


def test_several_devices_share_each_batch(network, preprocessing, wrapper, stimuli):
    several = PytorchWrapper(network, preprocessing, store=None, device=["cpu", "cpu"], batch_size=4)
    found = several(stimuli, layers=["conv", "block-t1", "logits"])
    wanted = wrapper(stimuli, layers=["conv", "block-t1", "logits"])
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device; none is here")
def test_on_a_gpu_values_are_those_on_the_cpu(network, preprocessing, stimuli):
    layers = ["conv", "block-t1", "logits"]
    on_gpu, on_cpu = (
        PytorchWrapper(network, preprocessing, store=None, device=device, batch_size=3)(stimuli, layers).values
        for device in ("cuda", "cpu")
    )
    assert np.abs(on_gpu - on_cpu).max() <= 1e-5 * np.abs(on_cpu).max()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device; none is here")
def test_on_a_gpu_values_are_copied_before_the_network_changes_them(preprocessing, stimuli, store):
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 5), torch.nn.ReLU(inplace=True), torch.nn.Conv2d(64, 64, 5))
    on_cpu = PytorchWrapper(network, preprocessing, store=None, device="cpu")(stimuli, ["0", "2"]).values
    for where in (None, store):
        on_gpu = PytorchWrapper(network, preprocessing, store=where, device="cuda", batch_size=2)(stimuli, ["0", "2"])
        assert np.abs(on_gpu.values - on_cpu).max() <= 1e-5 * np.abs(on_cpu).max()
    assert on_cpu.min() < 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device; none is here")
def test_on_a_gpu_without_enough_memory_batches_become_smaller(stimuli):
    preprocessing = functools.partial(load_preprocess_images, image_size=512)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 128, 3), torch.nn.Conv2d(128, 4, 3))
    expected = PytorchWrapper(network, preprocessing, store=None, device="cpu")(stimuli, ["1"]).values
    sizes = []
    network.register_forward_pre_hook(lambda _, images: sizes.append(len(images[0])))
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 600e6) / total)
    try:
        found = PytorchWrapper(network, preprocessing, store=None, device="cuda")(stimuli, ["1"]).values
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert max(sizes) > min(sizes[1:])
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.slow(reason="compiles a network")
def test_compiled(network, preprocessing, wrapper, stimuli):
    compiled = PytorchWrapper(network, preprocessing, store=None, compile="eager", batch_size=3)
    found = compiled(stimuli, layers=["conv", "block-t1", "logits"])
    wanted = wrapper(stimuli, layers=["conv", "block-t1", "logits"])
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-5, atol=1e-6)


def test_forward_kwargs_and_outputs_that_are_no_tensor(preprocessing, stimuli):
    class Wrapped(torch.nn.Module):
        def forward(self, images, scale=1):
            return None, {"first": images.mean((2, 3)) * scale}

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Wrapped()
            self.nothing = torch.nn.Identity()

        def forward(self, images, scale=1):
            self.nothing("text")
            return self.inner(images, scale=scale)

    class Mapped(torch.nn.Module):
        def forward(self, images):
            return {"first": images.mean((2, 3)), "second": images}

    once = PytorchWrapper(Mapped(), preprocessing, store=None)
    assert once.layers() == []
    twice = PytorchWrapper(Outer(), preprocessing, store=None, forward_kwargs={"scale": 2})
    with pytest.raises(UserError, match="'nothing' returns a str"):
        twice(stimuli, ["nothing"])


def test_a_published_style_subclass_reads_layers_in_its_own_way(network, preprocessing, stimuli):
    class Doubled(PytorchWrapper):
        def register_hook(self, layer, layer_name, target_dict):
            def hook(_layer, _input, output, name=layer_name):
                target_dict[name] = 2 * output.cpu().data.numpy()

            return layer.register_forward_hook(hook)

    doubled = Doubled(network, preprocessing, store=None)(stimuli, ["logits"])
    plain = PytorchWrapper(network, preprocessing, store=None)(stimuli, ["logits"])
    np.testing.assert_allclose(doubled.values, 2 * plain.values, rtol=1e-5, atol=1e-6)


def test_get_activations(network, wrapper):
    images = [np.zeros((3, 16, 16), np.float32), torch.ones(3, 16, 16)]
    found = wrapper.get_activations(images, ["logits", "conv"])
    assert list(found) == ["logits", "conv"]
    assert found["conv"].shape == (2, 4, 7, 7)
    assert wrapper.get_layer("head.1") is network.head[1]


def test_stimulus_order_does_not_matter(wrapper, stimuli):
    shuffled = StimulusSet(stimuli.iloc[::-1])
    backwards = wrapper(shuffled, ["conv"])
    np.testing.assert_allclose(backwards.values[::-1], wrapper(stimuli, ["conv"]).values, rtol=1e-5, atol=1e-6)
    assert list(backwards["stimulus_id"].values) == list(stimuli["stimulus_id"])[::-1]


def test_the_network_and_its_input_can_be_had(network, wrapper, preprocessing, stimuli):
    assert wrapper.model is network
    path = stimuli.get_stimulus("s0")
    np.testing.assert_array_equal(wrapper.example_input(path).numpy(), preprocessing([path]))


def test_threads_that_share_a_network_do_not_mix_up_their_layers(network, wrapper, stimuli):
    from concurrent.futures import ThreadPoolExecutor

    layers = ["conv", "block-t0", "block-t1", "logits"] * 3
    wanted = {layer: wrapper(stimuli, [layer]).values for layer in layers}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda layer: wrapper(stimuli, [layer]).values, layers))
    for layer, values in zip(layers, found, strict=True):
        np.testing.assert_allclose(values, wanted[layer], rtol=1e-5, atol=1e-6)


def test_a_wrapper_can_be_copied_and_sent(network, preprocessing, stimuli):
    import copy
    import pickle

    plain = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3))
    wrapper = PytorchWrapper(plain, preprocessing, "plain", store=None)
    wanted = wrapper(stimuli, ["0"]).values
    for other in (copy.deepcopy(wrapper), pickle.loads(pickle.dumps(wrapper))):
        np.testing.assert_allclose(other(stimuli, ["0"]).values, wanted)
        assert other.model is not plain


def test_storing_is_disabled_for_one_model(network, preprocessing, stimuli, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "store"))
    for options, stored in (({"store": None}, False), ({}, True)):
        wrapper = PytorchWrapper(network, preprocessing, identifier="net", **options)
        assert wrapper(stimuli, layers=["conv"]).sizes["presentation"] == len(stimuli)
        assert bool(list((tmp_path / "store").rglob("*.npy"))) is stored


class Joining(torch.nn.Module):
    """Joins the axes of a feature map in the order in which they lie in memory, or in their own order."""

    def __init__(self, join):
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.linear = torch.nn.Linear(4 * 14 * 14, 3)
        self.join = join
        self.channels_last = []

    def forward(self, images):
        self.channels_last.append(images.is_contiguous(memory_format=torch.channels_last))
        return self.linear(self.join(self.conv(images)))


def by_view(maps):
    return maps.view(len(maps), -1)


def by_operator(maps):
    if not maps.is_contiguous():
        raise RuntimeError("expected input to be contiguous")
    return maps.flatten(1)


def by_reshape(maps):
    return maps.reshape(len(maps), -1)


@pytest.mark.parametrize(
    ("join", "channels_last"),
    [(by_reshape, [True, True]), (by_view, [True, False, False]), (by_operator, [True, False, False])],
)
def test_channels_are_last_in_memory_on_a_cpu_where_the_network_allows(stimuli, preprocessing, join, channels_last):
    network = Joining(join).eval()
    activations = PytorchWrapper(network, preprocessing, store=None, device="cpu")(stimuli, ["conv", "linear"]).values
    assert network.channels_last == channels_last
    images = torch.as_tensor(preprocessing([stimuli.get_stimulus(name) for name in stimuli["stimulus_id"]]))
    with torch.inference_mode():
        maps = network.conv(images)
        expected = np.concatenate([maps.flatten(1), network.linear(maps.flatten(1))], axis=1)
    np.testing.assert_allclose(activations, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_errors_of_a_network_are_raised_once(stimuli, preprocessing):
    def fail(maps):
        raise RuntimeError("shapes do not match")

    network = Joining(fail).eval()
    with pytest.raises(RuntimeError, match=r"input of the shape \(1, 3, .*shapes do not match"):
        PytorchWrapper(network, preprocessing, store=None, device="cpu")(stimuli, ["conv"])
    assert network.channels_last == [True]


@pytest.mark.parametrize(
    ("of_image", "message"),
    [
        (lambda image: np.zeros((3, 8 + image.getpixel((0, 0))[0] % 9, 8), np.float32), "different sizes"),
        (lambda image: image, "returns a PIL.* of an image"),
        (lambda image: np.zeros((1, 3, 8, 8), np.float32), r"input of the shape \(1, 1, 3, 8, 8\)"),
    ],
)
def test_inputs_that_do_not_fit_the_network_are_explained(stimuli, of_image, message):
    wrapper = PytorchWrapper(torch.nn.Conv2d(3, 2, 3), lambda paths: list(map(of_image, load_images(paths))), "conv")
    with pytest.raises(UserError, match=message):
        wrapper(stimuli, ["logits"])
