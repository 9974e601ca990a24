"""Score a network of transformers with random weights. Needs brainscore[models]."""

from transformers import Dinov2Config, Dinov2Model

import brainscore

network = Dinov2Model(Dinov2Config(hidden_size=96, num_hidden_layers=4, num_attention_heads=3, patch_size=28))
settings = {
    "do_resize": True,
    "size": {"shortest_edge": 256},
    "do_center_crop": True,
    "crop_size": {"height": 224, "width": 224},
    "resample": 3,
    "do_normalize": True,
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
}  # of facebook/dinov2-small; a network from the Hub brings its own
score = brainscore.score(network, "Simulated2026.V1-rdm", identifier="dinov2-untrained", preprocessing=settings)
print(f"{float(score):.3f}, 95 %: {score.attrs['ci'][0]:.3f}–{score.attrs['ci'][1]:.3f}")
