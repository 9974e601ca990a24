"""Score a network of timm with random weights. Needs brainscore[models]."""

import timm

import brainscore

network = timm.create_model("mobilenetv3_small_050", pretrained=False)
layers = {"V1": "blocks.0", "IT": "blocks.5"}  # without this map, a layer is selected for each region
score = brainscore.score(network, "Simulated2026.V1-rdm", identifier="mobilenet-untrained", region_layer_map=layers)
print(f"{float(score):.3f}, 95 %: {score.attrs['ci'][0]:.3f}–{score.attrs['ci'][1]:.3f}")
