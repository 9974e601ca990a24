"""Small pictures of stimuli for the cards of benchmarks whose data everybody may see."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from django.core.files.base import ContentFile
from django.db import transaction

from brainscore_core.errors import UserError
from brainscore_vision.model_interface import BrainModel
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.models import Benchmark, StimulusSample, Visibility

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["LARGEST_SIDE", "keep_samples", "public_benchmarks", "stimuli_of", "thumbnail"]

LARGEST_SIDE = 200
"""Pixels of the longer side of a sample."""

_CAPTIONS = ("object_name", "category_name", "category", "texture_type", "label", "image_label", "truth")
"""Columns that may say in a word what a stimulus shows; the first there is counts."""


def public_benchmarks() -> list[str]:
    """Identifiers of the benchmarks whose stimuli everybody may see."""
    rows = Benchmark.objects.filter(is_mean=False, access=Visibility.PUBLIC)
    return list(rows.order_by("identifier").values_list("identifier", flat=True))


def keep_samples(identifier: str, *, count: int = 8, replace: bool = False) -> int:
    """Keep samples of a benchmark's stimuli, spread evenly over all of them.

    Parameters
    ----------
    identifier : str
        A benchmark that the site knows.
    count : int
        How many, at most.
    replace : bool
        Whether to put them in place of those it has; else a benchmark that has samples keeps them.

    Returns
    -------
    int
        How many were kept; 0 where there were some already.

    Raises
    ------
    UserError
        If the benchmark is unknown, its data are withheld, or its stimuli cannot be had here or are no images.
    """
    benchmark = Benchmark.objects.filter(identifier=identifier, is_mean=False).first()
    if benchmark is None:
        raise UserError(f"the site knows no benchmark {identifier!r}", remedy="run sync_catalogue, or correct the name")
    if benchmark.access != Visibility.PUBLIC:
        raise UserError(
            f"the data of {identifier!r} are withheld: no sample may be shown",
            remedy="name benchmarks whose access is public, or --all-public",
        )
    if benchmark.samples.exists() and not replace:
        return 0
    stimuli = stimuli_of(identifier)
    places = np.unique(np.linspace(0, len(stimuli) - 1, min(count, len(stimuli))).round().astype(int))
    captions = _captions(stimuli)
    made = [(thumbnail(_original(stimuli, place)), captions[place]) for place in places]
    before = list(benchmark.samples.all())
    with transaction.atomic():
        for sample in before:
            sample.delete()
        for place, (picture, caption) in enumerate(made):
            sample = StimulusSample(benchmark=benchmark, place=place, caption=caption)
            sample.image.save(f"{place}.png", ContentFile(picture), save=False)
            sample.save()
    for sample in before:
        sample.image.delete(save=False)
    return len(made)


def stimuli_of(identifier: str) -> StimulusSet:
    """Stimuli that a benchmark shows first; its data are loaded for that.

    Raises
    ------
    UserError
        If the benchmark is not installed, its data cannot be had here, or it shows nothing.
    """
    from brainscore_vision import load_benchmark

    try:
        benchmark = load_benchmark(identifier)
        benchmark(_StimulusRecorder(getattr(benchmark, "_visual_degrees", None)))
    except _StimuliShown as shown:
        return shown.stimuli
    except UserError:
        raise
    except Exception as error:  # a plugin's, whatever it is
        raise UserError(f"the stimuli of {identifier!r} cannot be had: {type(error).__name__}: {error}") from error
    raise UserError(f"{identifier!r} shows no stimuli")


def thumbnail(path: Path) -> bytes:
    """Make a small PNG of an image, without whatever else its file tells.

    Raises
    ------
    UserError
        If it is no image.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            small = ImageOps.exif_transpose(image)
            small = small.convert("RGBA" if "A" in small.getbands() or "transparency" in small.info else "RGB")
            small.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise UserError(f"{path.name} is no image that can be shown: {error}") from error
    stream = BytesIO()
    Image.frombytes(small.mode, small.size, small.tobytes()).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _original(stimuli: StimulusSet, place: int) -> Path:
    """File of a stimulus as it is, not as it was placed on a screen."""
    identifier = str(stimuli["stimulus_id"].iloc[place])
    original = (stimuli.original_paths or {}).get(identifier)
    return Path(original or stimuli.get_stimulus(identifier))


def _captions(stimuli: StimulusSet) -> Sequence[str]:
    limit = StimulusSample._meta.get_field("caption").max_length
    for column in _CAPTIONS:
        if column in stimuli.columns:
            return [text(value, limit) if isinstance(value, str) else "" for value in stimuli[column]]
    return [""] * len(stimuli)


class _StimuliShown(BaseException):
    """Carries what a benchmark shows past whatever it catches."""

    def __init__(self, stimuli: StimulusSet) -> None:
        super().__init__()
        self.stimuli = stimuli


class _StimulusRecorder(BrainModel):
    """A subject that goes as soon as it is shown something.

    Parameters
    ----------
    degrees : float or None
        Its visual angle; that of the benchmark spares placing all stimuli on another screen.
    """

    def __init__(self, degrees: float | None) -> None:
        self._degrees = float(degrees) if isinstance(degrees, int | float) else 8.0

    @property
    def identifier(self) -> str:
        return "onlooker"

    def visual_degrees(self) -> float:
        return self._degrees

    def start_task(self, task: Any, fitting_stimuli: Any = None) -> None:
        """Do nothing: it will not answer."""

    def start_recording(self, recording_target: Any, time_bins: Any, **kwargs: Any) -> None:
        """Do nothing: nothing will be recorded."""

    def look_at(self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False) -> NoReturn:
        raise _StimuliShown(stimuli)
