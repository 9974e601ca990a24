"""Activations of PyTorch networks that take clips, and the time axis of their layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.networks import autocasting, to_input
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper as ImageWrapper
from brainscore_vision.model_helpers.activations.temporal.inputs import Stimulus, Video

if TYPE_CHECKING:
    import torch

__all__ = ["ALIGNMENTS", "ClipTimeline", "PytorchWrapper"]

ALIGNMENTS = ("evenly_spaced", "ignore_time", "estimate_layer_fps", "per_frame_aligned")
_ORDER = "KCHW"  # order of the other axes, after the time axis


@dataclass(frozen=True)
class ClipTimeline:
    """Aligns the layers of a temporal network to one time axis.

    Parameters
    ----------
    formats : dict of str to str
        Layer → the axes of its output for one clip, in order: T (time), C (channel), H (height), W (width), K (token).
    fps : float
        Frames per second of the clip, and of the result.
    duration : float
        Duration of the clip, in milliseconds.
    alignment : {'evenly_spaced', 'ignore_time', 'estimate_layer_fps', 'per_frame_aligned'}
        Times of a layer's steps: spread evenly over the clip; all in one bin, as more features; at the nearest multiple
        of a frame's duration to even spreading; one step per frame.

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
                raise ValueError(
                    f"the format of layer {layer!r} is {axes!r}; use each of the letters T, C, H, W, K at most once"
                )
        if not (self.fps > 0 and self.duration > 0 and self.duration * self.fps >= 1000 - 1e-6):
            raise ValueError(f"a clip of {self.duration} ms at {self.fps} frames per second has no frame")

    def bins(self, steps: int) -> list[tuple[float, float]]:
        """Start and end of each step of the result, in milliseconds."""
        edges = [0.0, self.duration] if self.alignment == "ignore_time" else self._frames().tolist()
        return list(pairwise(edges))

    def arrange(self, layer: str, output: NDArray[np.floating]) -> NDArray[np.floating]:
        """Arrange a layer's output for a batch as stimuli × time × the other axes, in the order K, C, H, W.

        Steps in the same time bin are averaged, weighted by the share of the bin that each covers.
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
        """Edges of the result's bins; the last bin may be shorter."""
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
        """Share of each bin of the result that each step of a layer covers, bins × steps."""
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


class PytorchWrapper(ImageWrapper):
    """An activations model of a network that takes clips; images are shown as static clips.

    Videos are shown at `fps`; all stimuli last `img_duration`.

    Parameters
    ----------
    identifier : str
        Name of the model.
    model : torch.nn.Module
        The network.
    preprocessing : callable
        :class:`~brainscore_vision.model_helpers.activations.temporal.inputs.Video` → tensor of one clip.
    process_output : callable, optional
        ``(module, layer, inputs, output)`` → the values to record instead of `output`.
    fps : float
        Frames per second that the network sees; also the time bins of the result.
    layer_activation_format : dict of str to str
        Layer → the axes of its output for one clip, such as ``'TCHW'``, ``'CTHW'``, ``'KC'``, ``'C'``: time, channel,
        height, width, token.
    num_frames, duration : number or (number, number), optional
        Number of frames, or milliseconds, that the network accepts; by default any.
    time_alignment : {'evenly_spaced', 'ignore_time', 'estimate_layer_fps', 'per_frame_aligned'}
        See :class:`~brainscore_vision.model_helpers.activations.temporal.model.pytorch.ClipTimeline`.
    img_duration : float
        Duration of an image, in milliseconds; the duration of videos may differ from it by less than a frame.
    **options
        Options of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

    Raises
    ------
    ValueError
        If the network does not accept the number of frames in a clip of `img_duration`.

    Notes
    -----
    Called with stimuli and layers, it returns presentation × neuroid × time_bin. Complete clips pass the network.
    Inference on growing or successive parts of a clip is not supported.

    Subclasses may override `forward` (a list of preprocessed clips → output), `get_activations`, ``_register_hook``
    and ``_process_activation``, as in brain-score 2.x.

    Examples
    --------
    >>> activations_model = PytorchWrapper(
    ...     "slow-r50", network, preprocess_clip, fps=8, num_frames=8, layer_activation_format={"blocks.4": "CTHW"}
    ... )  # doctest: +SKIP
    """

    def __init__(
        self,
        identifier: str,
        model: "torch.nn.Module",
        preprocessing: Callable[[Video], Any],
        process_output: Callable[[Any, str, Any, Any], Any] | None = None,
        *,
        fps: float,
        layer_activation_format: Mapping[str, str],
        num_frames: float | tuple[float, float] | None = None,
        duration: float | tuple[float, float] | None = None,
        time_alignment: str = "evenly_spaced",
        img_duration: float = 1000.0,
        batch_size: int = 32,
        **options: Any,
    ) -> None:
        if "inferencer_cls" in options:
            raise UserError(
                "inference on parts of a clip is not supported",
                remedy="leave inferencer_cls out: complete clips pass the network",
            )
        self.layer_activation_format = dict(layer_activation_format)
        self._process_output = process_output
        reader = _ClipReader(preprocessing, fps, img_duration)
        frames = int(img_duration * fps / 1000 + 1e-9)
        for what, value, allowed in (("frames", frames, num_frames), ("milliseconds", img_duration, duration)):
            lower, upper = allowed if isinstance(allowed, tuple | list) else (allowed, allowed)
            if (lower is not None and value < lower) or (upper is not None and value > upper):
                raise ValueError(
                    f"an image shown for {img_duration} ms at {fps} frames per second gives {value} {what}, but "
                    f"{identifier!r} takes {lower} to {upper}: choose another img_duration or fps"
                )
        timeline = ClipTimeline(self.layer_activation_format, fps, img_duration, time_alignment)
        super().__init__(model, reader, identifier, batch_size=batch_size, timeline=timeline, **options)

    def register_hook(self, layer: "torch.nn.Module", layer_name: str, target_dict: dict[str, Any]) -> Any:
        """Make a module write its processed output into `target_dict`; returns torch's handle."""
        return self._register_hook(layer, layer_name, target_dict)

    def _register_hook(self, layer: "torch.nn.Module", layer_name: str, target_dict: dict[str, Any]) -> Any:
        def hook(module: Any, inputs: Any, output: Any) -> None:
            processed = self._process_activation(module, layer_name, inputs, output)
            target_dict[layer_name] = self._tensor_to_numpy(processed)

        return layer.register_forward_hook(hook)

    def _process_activation(self, layer: "torch.nn.Module", layer_name: str, inputs: Any, output: Any) -> Any:
        """The values to record instead of `output`."""
        return output if self._process_output is None else self._process_output(layer, layer_name, inputs, output)

    def forward(self, inputs: Any) -> Any:
        """Output of the network for preprocessed clips."""
        return self._model(to_input(self._model, inputs), **self._forward_kwargs)

    def _run(self, network: "torch.nn.Module", images: Any) -> None:
        import torch

        network.eval()
        with torch.inference_mode(), autocasting(self._device, self._autocast):
            self.forward(images)

    def _fingerprint(self) -> dict[str, Any]:
        from brainscore_vision.model_helpers.activations.fingerprints import fingerprint

        return super()._fingerprint() | {"process_output": fingerprint(self._process_output)}


class _ClipReader:
    """Paths → preprocessed clips."""

    def __init__(self, preprocessing: Callable[[Video], Any], fps: float, duration: float) -> None:
        self._preprocessing = preprocessing
        self._fps = fps
        self._duration = duration

    def __call__(self, paths: Sequence[Any]) -> list[Any]:
        return [self._preprocessing(self._video(path)) for path in paths]

    def _video(self, path: Any) -> Video:
        if not Stimulus.is_video_path(path):
            return Video.from_img_path(path, self._duration, self._fps)
        video = Video.from_path(path)
        if abs(video.duration - self._duration) >= 1000 / self._fps:
            raise UserError(
                f"{path} lasts {video.duration:g} ms, not {self._duration:g} ms",
                remedy="pass img_duration, the duration of all stimuli, in milliseconds",
            )
        return video.set_fps(self._fps).set_window(0, self._duration)
