"""Models that nobody registered: files, networks, functions."""

import textwrap

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.provenance import recording
from brainscore_vision import run_pair
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.unregistered_models import is_file_reference, load_file_reference, to_unregistered_model


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
