"""When the steps of a layer over time happen."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

__all__ = ["ALIGNMENTS", "ClipTimeline"]

ALIGNMENTS = ("evenly_spaced", "ignore_time", "estimate_layer_fps", "per_frame_aligned")
_ORDER = "KCHW"  # in which the other letters follow the time axis


@dataclass(frozen=True)
class ClipTimeline:
    """Brings the layers of a network over time onto one time axis.

    Parameters
    ----------
    formats : dict of str to str
        Layer → the axes of its output for one clip, in their order: T (time), C (channel), H (height), W (width),
        K (token).
    fps : float
        Frames per second of the clip, and of the result.
    duration : float
        Of the clip, in milliseconds.
    alignment : {'evenly_spaced', 'ignore_time', 'estimate_layer_fps', 'per_frame_aligned'}
        When a layer's steps happen: spread evenly over the clip; all in one bin, as more features; at the multiple of
        a frame that comes nearest to that; one a frame.

    Examples
    --------
    >>> timeline = ClipTimeline({"fc": "TC"}, fps=4, duration=1000, alignment="evenly_spaced")
    >>> timeline.arrange("fc", np.array([[[1.0], [2.0]]]))[..., 0]
    array([[1., 1., 2., 2.]])
    >>> timeline.bins(4)
    [(0.0, 250.0), (250.0, 500.0), (500.0, 750.0), (750.0, 1000.0)]
    """

    formats: Mapping[str, str]
    fps: float
    duration: float
    alignment: str = "evenly_spaced"

    def __post_init__(self) -> None:
        if self.alignment not in ALIGNMENTS:
            raise ValueError(f"time_alignment is {self.alignment!r}, not one of {', '.join(ALIGNMENTS)}")
        for layer, axes in self.formats.items():
            if set(axes) - set("TCHWK") or len(set(axes)) < len(axes):
                raise ValueError(f"the format of layer {layer!r} is {axes!r}; its letters are T, C, H, W, K, each once")
        if not (self.fps > 0 and self.duration > 0 and self.duration * self.fps >= 1000 - 1e-6):
            raise ValueError(f"a clip of {self.duration} ms at {self.fps} frames per second has no frame")

    def bins(self, steps: int) -> list[tuple[float, float]]:
        """Start and end of each step of the result, in milliseconds."""
        edges = [0.0, self.duration] if self.alignment == "ignore_time" else self._frames().tolist()
        return list(pairwise(edges))

    def arrange(self, layer: str, output: NDArray[np.floating]) -> NDArray[np.floating]:
        """A layer's output for a batch as stimuli × time × the other axes, in the order K, C, H, W.

        Steps that fall into one time bin are averaged, weighted by how much of the bin each takes.
        """
        axes = self.formats.get(layer)
        if axes is None:
            raise UserError(f"layer {layer!r} has no format", remedy="name its axes in layer_activation_format")
        if output.ndim != 1 + len(axes):
            raise UserError(
                f"layer {layer!r} has the format {axes!r}, but its output for a batch has shape {output.shape}",
                remedy="correct it in layer_activation_format",
            )
        others = [letter for letter in _ORDER if letter in axes]
        places = [1 + axes.index(letter) for letter in (["T"] if "T" in axes else []) + others]
        values = output.transpose(0, *places)
        if "T" not in axes:
            values = values[:, np.newaxis]
        if self.alignment == "ignore_time":
            return values[:, :1] if "T" not in axes else values[:, np.newaxis]
        weights = self._weights(self._edges(values.shape[1], layer))
        if np.array_equal(weights, np.eye(len(weights))):
            return values
        return np.moveaxis(np.tensordot(weights.astype(values.dtype), values, axes=(1, 1)), 0, 1)

    def _frames(self) -> NDArray[np.float64]:
        """Edges of the result's bins; the last may be shorter."""
        edges = np.arange(0, self.duration - 1e-9, 1000 / self.fps)
        return np.append(edges, self.duration)

    def _edges(self, steps: int, layer: str) -> NDArray[np.float64]:
        """Edges of the steps of a layer."""
        frame = 1000 / self.fps
        if self.alignment == "evenly_spaced":
            return np.linspace(0, self.duration, steps + 1)
        if self.alignment == "per_frame_aligned":
            if steps < int(self.duration / frame + 1e-9):
                raise UserError(
                    f"layer {layer!r} has {steps} steps for {int(self.duration / frame + 1e-9)} frames",
                    remedy="align it by 'evenly_spaced'",
                )
            return np.asarray(np.arange(steps + 1) * frame)
        multiple = max(1, round(self.duration / steps / frame))
        return np.asarray(np.arange(steps + 1) * (frame * multiple))

    def _weights(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of each bin of the result that each step of a layer takes, bins × steps."""
        frames = self._frames()
        starts = np.maximum(frames[:-1, np.newaxis], edges[:-1])
        ends = np.minimum(frames[1:, np.newaxis], edges[1:])
        overlap = np.clip(ends - starts, 0, None)
        overlap[overlap < 1e-6] = 0
        total = overlap.sum(axis=1, keepdims=True)
        if np.any(total == 0):
            raise UserError(
                f"{len(edges) - 1} steps end after {edges[-1]:g} of {self.duration:g} ms",
                remedy="align them by 'evenly_spaced'",
            )
        return overlap / total
