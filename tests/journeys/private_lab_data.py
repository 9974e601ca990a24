"""Data that stay in the laboratory: package, register, test, score and report, all on this machine.

Run it with ``python private_lab_data.py`` after ``pip install brainscore pytest``. No server is used: a proxy that does
not exist is set, so that requests would fail. The recordings are simulated.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from brainio.assemblies import NeuroidAssembly
from brainio.packaging import write_netcdf
from brainscore_core.scoring import ResultsStore

work = Path(tempfile.mkdtemp(prefix="journey_"))
for variable in ("BRAINSCORE_HOME", "BRAINSCORE_RESULTS", "BRAINIO_HOME"):
    os.environ[variable] = str(work / variable.lower())
os.environ["http_proxy"] = os.environ["https_proxy"] = "http://127.0.0.1:9"
os.environ["BRAINSCORE_PLUGINS"] = str(work / "plugins")


def brainscore(*arguments):
    """Run a command, as in a terminal."""
    print("\n$ brainscore", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "brainscore", *arguments], check=True, cwd=work)


# what the laboratory has: images with a table, and recordings
random = np.random.default_rng(0)
(work / "images").mkdir()
pixels = random.integers(0, 256, (50, 4, 4)).astype(np.uint8)
names = [f"image_{number:02d}" for number in range(len(pixels))]
for name, image in zip(names, pixels, strict=True):
    Image.fromarray(np.kron(image, np.ones((8, 8), np.uint8))).save(work / "images" / f"{name}.png")
pd.DataFrame({"stimulus_id": names}).to_csv(work / "stimuli.csv", index=False)
tuning = pixels.reshape(50, -1) / 255 @ random.standard_normal((16, 12))
recordings = NeuroidAssembly(
    np.concatenate([tuning + random.normal(0, 0.5, tuning.shape) for _ in range(4)])[:, :, None],
    coords={
        "stimulus_id": ("presentation", names * 4),
        "repetition": ("presentation", np.repeat(range(4), 50)),
        "neuroid_id": ("neuroid", [f"unit_{number}" for number in range(12)]),
        "region": ("neuroid", ["V4"] * 12),
        "time_bin_start": ("time_bin", [70]),
        "time_bin_end": ("time_bin", [170]),
    },
    dims=["presentation", "neuroid", "time_bin"],
)
write_netcdf(recordings, work / "recordings.nc")

# written by the user
data = ("--identifier", "Doe2026", "--local", "plugins/data/doe2026", "--terms", "Not to be shared.")
brainscore("package", "stimuli", "stimuli.csv", "images", *data)
brainscore("package", "assembly", "recordings.nc", "--class", "NeuroidAssembly", *data)

# a benchmark on these data, its tests, a score, and where it stands
brainscore("new", "benchmark", "Doe2026.V4-ridge", "--folder", "plugins")
brainscore("test", "plugins/data/doe2026", "plugins/benchmarks/doe2026")
brainscore("score", "pixels", "Doe2026.V4-ridge")
brainscore("results", "tree")
brainscore("report", "--output", "report.html")
(receipt,) = ResultsStore(os.environ["BRAINSCORE_RESULTS"]).listing().receipts
print(f"pixels on Doe2026.V4-ridge: {receipt.score.value:.3f}, ceiling {receipt.ceiling.value:.3f}")
