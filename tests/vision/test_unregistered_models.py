"""Models that nobody registered: files, networks, functions."""

import textwrap

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.plugins.loading import is_file_reference, load_file_reference
from brainscore_core.provenance import recording
from brainscore_vision import run_pair
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.model_sources.unregistered import to_unregistered_model, wrap_model


def mean_colour(images):
    return np.stack([image.mean(axis=(0, 1)) for image in images])


def write(folder, text, name="mine.py"):
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def test_what_is_a_file_reference():
    assert is_file_reference("here/mine.py:make")
    assert not is_file_reference("gabor")
    assert not is_file_reference(mean_colour)
    with pytest.raises(UserError, match=r"write it as here/mine.py:make_model"):
        is_file_reference("here/mine.py")


def test_a_function_becomes_a_model_of_one_layer():
    subject = to_unregistered_model(mean_colour)
    assert subject.identifier == "mean_colour"
    assert subject.model.region_layer_map == {region: ["mean_colour"] for region in ("V1", "V2", "V4", "IT")}
    assert subject.source.name == "test_unregistered_models.py"


def test_an_identifier_and_an_angle_are_taken_over():
    subject = to_unregistered_model(lambda images: mean_colour(images), identifier="means", visual_degrees=4)
    assert (subject.identifier, subject.model.identifier, subject.model.visual_degrees()) == ("means", "means", 4)


def test_a_ready_made_subject_stays_as_it_is():
    model = FeatureModel("ready", layers={"colour": mean_colour})
    assert to_unregistered_model(model)[:2] == ("ready", model)
    with pytest.raises(UserError, match="layers cannot be given for a FeatureModel"):
        to_unregistered_model(model, layers=["colour"])


@pytest.mark.parametrize("no_model", [3, "text", [1, 2]])
def test_what_is_no_model_is_refused(no_model):
    with pytest.raises(UserError, match=r"is not a model"):
        to_unregistered_model(no_model)


class TestFile:
    def test_function_is_called(self, tmp_path):
        path = write(tmp_path, "def make():\n    return [1, 2]\n")
        assert load_file_reference(f"{path}:make") == ([1, 2], path)

    def test_ready_made_object_is_taken(self, tmp_path):
        path = write(tmp_path, "model = [1, 2]\n")
        assert load_file_reference(f"{path}:model")[0] == [1, 2]

    def test_what_lies_beside_it_can_be_imported(self, tmp_path):
        write(tmp_path, "VALUE = 7\n", "beside_subject_file.py")
        path = write(tmp_path, "from beside_subject_file import VALUE\ndef make():\n    return VALUE\n")
        assert load_file_reference(f"{path}:make")[0] == 7

    def test_two_files_of_one_name_do_not_meet(self, tmp_path):
        for number in (1, 2):
            (tmp_path / str(number)).mkdir()
            write(tmp_path / str(number), f"def make():\n    return {number}\n")
        assert [load_file_reference(f"{tmp_path / str(number)}/mine.py:make")[0] for number in (1, 2)] == [1, 2]

    @pytest.mark.parametrize(
        ("text", "reference", "message"),
        [
            ("", "absent.py:make", "there is no file"),
            ("def make(): pass", "mine.py:", "does not name a function"),
            ("def make_model(): pass", "mine.py:make_modle", "did you mean make_model"),
            ("def make(size): pass", "mine.py:make", "needs arguments: size"),
            ("def make(): pass", "mine.py:make", "returned nothing"),
        ],
    )
    def test_mistakes_are_named(self, tmp_path, text, reference, message):
        write(tmp_path, text)
        with pytest.raises(UserError, match=message):
            load_file_reference(str(tmp_path / reference))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("\nraise RuntimeError('at import')\n", r"line 2\): RuntimeError: at import"),
            ("def make(:\n", r"line 1\): SyntaxError"),
            ("import sys\nsys.exit(3)\n", r"line 2\): SystemExit: 3"),
            ("import no_such_library\n", r"line 1\): ModuleNotFoundError: .*no_such_library"),
        ],
    )
    def test_a_file_that_fails_is_named_with_the_line(self, tmp_path, text, message):
        path = write(tmp_path, text)
        with pytest.raises(UserError, match=message) as raised:
            load_file_reference(f"{path}:make")
        assert raised.value.__cause__ is not None


def test_options_of_registered_models_are_refused():
    with pytest.raises(UserError, match="omit identifier, layers"):
        run_pair("pixels", "Simulated2026.V1-rdm", identifier="mine", how={"layers": ["a"]})


class TestNetwork:
    @pytest.fixture
    def network(self):
        torch = pytest.importorskip("torch")
        torch.manual_seed(0)
        layers = torch.nn
        return layers.Sequential(
            layers.Conv2d(3, 4, 5, stride=4), layers.ReLU(), layers.AdaptiveAvgPool2d(2), layers.Flatten(),
            layers.Linear(16, 5),
        )  # fmt: skip

    def test_layers_are_found(self, network):
        subject = to_unregistered_model(network, identifier="small")
        assert subject.identifier == "small"
        assert any("layers found automatically: 0, 1, 2, 4" in remark for remark in subject.remarks)
        assert any("224 × 224" in remark for remark in subject.remarks)

    def test_a_network_that_takes_no_images_is_refused_with_the_reason(self):
        torch = pytest.importorskip("torch")
        with pytest.raises(UserError, match=r"Sequential fails on an input of .* × 3 × 224 × 224: RuntimeError: mat1"):
            to_unregistered_model(torch.nn.Sequential(torch.nn.Linear(7, 3))).model.start_recording(
                "V1", time_bins=[(70, 170)]
            )

    def test_layers_and_regions_are_taken_over(self, network, stimuli):
        subject = to_unregistered_model(network, layers=["0", "4"], region_layer_map={"IT": "4"})
        subject.model.start_recording("IT", time_bins=[(70, 170)])
        recordings = subject.model.look_at(stimuli)
        assert recordings.sizes == {"presentation": 2, "neuroid": 5}
        assert set(recordings["layer"].values) == {"4"}

    @pytest.fixture
    def stimuli(self, tmp_path):
        from PIL import Image

        from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

        Image.new("RGB", (32, 32), (200, 0, 0)).save(tmp_path / "red.png")
        Image.new("RGB", (32, 32), (0, 0, 200)).save(tmp_path / "blue.png")
        stimuli = StimulusSet({"stimulus_id": ["red", "blue"]})
        stimuli.stimulus_paths = {name: str(tmp_path / f"{name}.png") for name in ("red", "blue")}
        stimuli.identifier = "two-colours"
        return stimuli


def test_a_remark_stands_in_the_receipt():
    from brainscore_core.benchmarks import BenchmarkBase
    from brainscore_core.metrics import Score
    from brainscore_core.provenance import note
    from brainscore_core.scoring import run_pair as run

    class Half(BenchmarkBase):
        def __call__(self, candidate):
            return Score(0.5)

    def load(identifier):
        note("remark", text="chosen for it")
        return object()

    with recording():
        outcome = run(
            "a", "Half2026-x", load_model=load, load_benchmark=lambda name: Half(name, lambda: Score(1.0), version=1)
        )
    assert outcome.receipt.notes == ("chosen for it",)
    assert outcome.receipt.data == ()


class TestLibraries:
    """Networks with random weights, with the preprocessing and the layers of their library."""

    def test_a_network_of_timm_has_blocks_and_the_preprocessing_of_timm(self, torchvision):
        timm = pytest.importorskip("timm")
        network = timm.create_model("vit_tiny_patch16_224", pretrained=False, depth=4)
        model = wrap_model(network)
        assert model.layers == ["blocks.0", "blocks.1", "blocks.2", "blocks.3"]
        assert model.remarks[1].endswith("; for behaviour: head")
        assert model.remarks[0].startswith(
            "preprocessing as configured in timm: resized so that the shorter side has 248"
        )
        expected = timm.data.create_transform(**timm.data.resolve_model_data_config(network))
        assert np.allclose(_prepared(model), expected(_picture()).numpy(), atol=0.05)

    def test_a_network_of_torchvision_has_stages_and_takes_the_preprocessing_of_its_weights(self, torchvision):
        weights = torchvision.models.ResNet18_Weights.DEFAULT
        network = torchvision.models.resnet18(weights=None)
        for preprocessing in (weights, weights.transforms()):
            model = wrap_model(network, preprocessing=preprocessing)
            assert np.allclose(_prepared(model), weights.transforms()(_picture()).numpy(), atol=0.05)
        assert model.layers == ["layer1", "layer2", "layer3", "layer4"]

    def test_a_network_of_transformers_has_blocks_and_takes_its_image_processor(self, torchvision, caplog):
        transformers = pytest.importorskip("transformers")
        network = _small_vit(transformers)
        model = wrap_model(network)
        assert model.layers == ["layers.0", "layers.1", "layers.2"]
        assert "resized to 32 × 32 pixels" in model.remarks[0]
        assert "pass preprocessing=" in caplog.text
        processor = transformers.ViTImageProcessor(size={"height": 32, "width": 32})
        caplog.clear()
        shown = _prepared(wrap_model(network, preprocessing=processor))
        assert not caplog.records
        assert np.allclose(shown, processor(_picture(), return_tensors="np")["pixel_values"][0], atol=0.05)

    def test_a_saved_network_of_transformers_has_the_preprocessing_beside_it(self, torchvision, tmp_path):
        transformers = pytest.importorskip("transformers")
        _small_vit(transformers).save_pretrained(tmp_path)
        network = transformers.AutoModel.from_pretrained(tmp_path)
        with pytest.raises(UserError, match=r"(?s)image processor of .* cannot be read.*pass preprocessing="):
            wrap_model(network)
        transformers.ViTImageProcessor(size={"height": 32, "width": 32}, image_mean=[0, 0, 0]).save_pretrained(tmp_path)
        model = wrap_model(network)
        assert str(tmp_path) in model.remarks[0]
        assert _prepared(model).shape == (3, 32, 32)


def _small_vit(transformers):
    return transformers.ViTModel(
        transformers.ViTConfig(
            hidden_size=16,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=16,
            image_size=32,
            patch_size=8,
        )
    )


def _picture():
    from PIL import Image

    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (300, 300, 3), np.uint8).repeat(2, 1)[:, :300])


def _prepared(model):
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        _picture().save(Path(folder) / "picture.png")
        return model.activations_model.example_input(Path(folder) / "picture.png")[0].cpu().numpy()


def test_preprocessing_that_is_none_is_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(UserError, match="a int is not preprocessing"):
        wrap_model(torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3)), preprocessing=224)
    with pytest.raises(UserError, match="preprocessing cannot be given for a function of images"):
        wrap_model(mean_colour, preprocessing=len)


def test_a_registered_model_is_loaded():
    assert wrap_model("pixels").identifier == "pixels"
    with pytest.raises(UserError, match="omit layers"):
        wrap_model("pixels", layers="*")
    with pytest.raises(UserError, match="pixels"):
        wrap_model("pixles")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"layer": "0"}, r"no argument layer\n.*did you mean layers"),
        ({"layers": "[9-0]"}, r"the pattern '\[9-0\]' is not valid"),
        ({"layers": []}, "name at least one"),
        ({"visual_degrees": -1}, "visual_degrees of 'Sequential' is -1"),
        ({"time_mapping": {"IT": {0: (0, 50), 1: (50, 90)}}}, "runs 2 times in one pass"),
    ],
)
def test_wrong_arguments_are_named(how, message):
    torch = pytest.importorskip("torch")
    with pytest.raises(UserError, match=message):
        wrap_model(torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3)), **how)


def test_layers_that_patterns_match_are_named():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    network = nn.Sequential(nn.Sequential(nn.Conv2d(3, 2, 8, stride=8), nn.Sequential(nn.ReLU())), nn.Flatten())
    model = wrap_model(network, layers=["0.*", "1"])
    assert model.layers == ["0.0", "0.1", "1"]
    assert model.remarks[-1] == "layers that match '0.*': 0.0, 0.1"
    assert wrap_model(network, layers="**").layers == ["0", "0.0", "0.1", "0.1.0", "1"]
    with pytest.raises(UserError, match=r"(?s)no layer that matches \*1.0;.*\*\*1.0 matches 0.1.0"):
        wrap_model(network, layers="*1.0")


class TestRecurrent:
    @pytest.fixture
    def network(self):
        torch = pytest.importorskip("torch")

        class Recurrent(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.area, self.last = (torch.nn.Conv2d(n, 2, 3, padding=1) for n in (3, 2, 2))

            def forward(self, images):
                drive, state = self.first(images), 0
                for _ in range(2):
                    state = self.last(self.area(drive + state))
                return state

        return Recurrent()

    def test_layers_with_time_steps_are_suggested(self, network, caplog):
        steps = {0: (70, 120), 1: (120, 170)}
        model = wrap_model(network, time_mapping={"V1": steps, "IT": steps})
        assert model.layers == ["area-t0", "area-t1", "last-t0", "last-t1"]
        assert dict(model.region_layer_map) == {"V1": ["area-t0", "area-t1"], "IT": ["last-t0", "last-t1"]}
        assert model.remarks[-1] == "layers suggested for V1: area-t0, area-t1; IT: last-t0, last-t1"
        assert "pass region_layer_map= to choose others" in caplog.text

    def test_more_steps_than_the_network_has_are_refused(self, network):
        with pytest.raises(UserError, match="no layer of 'Recurrent' runs 3 times in one pass"):
            wrap_model(network, time_mapping={"IT": dict.fromkeys(range(3), (70, 120))})
