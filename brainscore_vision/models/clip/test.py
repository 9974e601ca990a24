import pytest
import torch
from PIL import Image

from brainscore_core.errors import NotApplicable
from brainscore_vision import load_model
from brainscore_vision.models.clip import METADATA, model


@pytest.fixture
def timm(torchvision):
    return pytest.importorskip("timm")


@pytest.fixture
def encoder(timm):
    with torch.device("meta"):
        return model.MODEL.build()


def test_size_of_the_published_encoder(encoder):
    # OpenAI's has 86,192,640; timm's projection also has 512 biases, which are 0
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 86_192_640 + 512
    assert METADATA["clip"].parameters == 86_193_152
    assert encoder(torch.zeros(1, 3, 224, 224, device="meta")).shape == (1, 512)
    assert type(encoder.blocks[0].mlp.act).__name__.lower().startswith("quickgelu")


def test_fine_tuned_encoder(timm, two_stimuli):
    with torch.device("meta"):
        network = model.FINE_TUNED.build()
    assert sum(parameter.numel() for parameter in network.parameters()) == 86_568_424
    assert network(torch.zeros(1, 3, 224, 224, device="meta")).shape == (1, 1000)
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(network), is_training=False)
    path = two_stimuli.get_stimulus("first")
    ours = torch.from_numpy(model.FINE_TUNED.preprocessing([path])[0])
    torch.testing.assert_close(ours, transform(Image.open(path)), rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("identifier", "name"), [("clip", "MODEL"), ("vit_base_patch16_clip_224:openai_ft_in1k", "FINE_TUNED")]
)
def test_published_weights_load(timm, identifier, name, loads_weights):
    loads_weights(identifier, model, name, suffix=".bin")


@pytest.mark.slow
def test_the_encoder_names_no_classes(timm):
    subject = load_model("clip-untrained")
    with pytest.raises(NotApplicable, match="logits"):
        subject.start_task("label", "imagenet")
