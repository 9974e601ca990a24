import numpy as np
from PIL import Image

from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_model


def test_pixels(tmp_path):
    levels = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    Image.fromarray(levels).save(tmp_path / "same.png")
    other = Image.fromarray(levels[:100, :50])
    other.save(tmp_path / "other.png")
    stimuli = StimulusSet({"stimulus_id": ["same", "other"]})
    stimuli.stimulus_paths = {"same": tmp_path / "same.png", "other": tmp_path / "other.png"}
    stimuli.identifier = "two"
    model = load_model("pixels")
    assert model.identifier == "pixels"
    assert model.visual_degrees() == 8
    for region in ("V1", "V2", "V4", "IT"):
        model.start_recording(region, [(70, 170)])
        recordings = model.look_at(stimuli)
        assert recordings.shape == (2, 256 * 256 * 3)
        np.testing.assert_array_equal(recordings.values[0], levels.ravel())
        np.testing.assert_array_equal(recordings.values[1], np.asarray(other.resize((256, 256))).ravel())
