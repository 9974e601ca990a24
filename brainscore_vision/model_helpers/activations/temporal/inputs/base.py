"""What all inputs of networks over time have in common."""

import os
from pathlib import Path

__all__ = ["Stimulus"]

_VIDEOS = {".mp4", ".avi", ".mov", ".flv", ".wmv", ".webm", ".mkv", ".gif"}
_IMAGES = {".jpg", ".jpeg", ".png", ".bmp", ".tiff"}


class Stimulus:
    """Base of :class:`Image` and :class:`Video`."""

    @staticmethod
    def is_video_path(path: str | os.PathLike[str]) -> bool:
        """Whether a file is a video, by its ending.

        Examples
        --------
        >>> Stimulus.is_video_path("waves.mp4"), Stimulus.is_video_path("waves.png")
        (True, False)
        """
        return Path(path).suffix.lower() in _VIDEOS

    @staticmethod
    def is_image_path(path: str | os.PathLike[str]) -> bool:
        """Whether a file is an image, by its ending."""
        return Path(path).suffix.lower() in _IMAGES
