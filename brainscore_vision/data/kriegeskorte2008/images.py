"""Images that are published inside a MATLAB file, as PNG files in the cache."""

import io
from pathlib import Path

import numpy as np

from brainscore_core.files import replacing, sweep
from brainscore_core.supported_data_standards.brainio.fetch import cache_home


def image_folder(sha256: str) -> Path:
    """Folder of the cache for images out of the file with this hash."""
    return cache_home() / sha256 / "images"


def write_images(images: dict[str, np.ndarray], folder: Path) -> dict[str, Path]:
    """Write images as PNG files, unless they are there already.

    `images`: arrays (height × width × 3, uint8) by stimulus.

    Notes
    -----
    The same pixels give the same bytes. A file that holds other pixels than it should is replaced. Each file is moved
    into place in one step, so an interrupted process leaves none half-written and several may write at once.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)  # what a killed process left unfinished
    paths = {stimulus: folder / f"{stimulus}.png" for stimulus in images}
    for stimulus, path in paths.items():
        if not _holds(path, images[stimulus]):
            with replacing(path) as stream:
                stream.write(_png(images[stimulus]))
    return paths


def _png(pixels: np.ndarray) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format="PNG", compress_level=9)
    return stream.getvalue()


def _holds(path: Path, pixels: np.ndarray) -> bool:
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.mode == "RGB" and np.array_equal(np.asarray(image), pixels)
    except (OSError, SyntaxError, ValueError):
        return False  # missing or broken: written anew
