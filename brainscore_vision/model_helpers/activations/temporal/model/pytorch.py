"""Activations of PyTorch networks that take clips, and the time axis of their layers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import getattr_static
from itertools import pairwise
from math import ceil, floor, inf
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.core import LayerReader
from brainscore_vision.model_helpers.activations.fingerprints import fingerprint
from brainscore_vision.model_helpers.activations.networks import (
    autocasting,
    passing_outputs,
    run_images,
    to_input,
    unwrapped,
)
from brainscore_vision.model_helpers.activations.passes import (
    Forward,
    Recorder,
    TakeOutput,
    as_rows,
    plain_recorder,
    tensor_of,
)
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper as ImageWrapper
from brainscore_vision.model_helpers.activations.pytorch import grey_image
from brainscore_vision.model_helpers.activations.temporal.inputs import Before, Stimulus, Video, image_size

if TYPE_CHECKING:
    import torch

ALIGNMENTS = ("evenly_spaced", "ignore_time", "estimate_layer_fps", "per_frame_aligned")
_ORDER = "TKCHW"  # order of axes in results


@dataclass(frozen=True)
class ClipTimeline:
    """Aligns the layers of a temporal network to one time axis.

    Examples
    --------
    >>> timeline = ClipTimeline({"fc": "TC"}, fps=4, duration=1000, alignment="evenly_spaced")
    >>> timeline.arrange("fc", np.array([[[1.0], [2.0]]]))[..., 0]
    array([[1., 1., 2., 2.]])
    >>> timeline.bins(4)
    [(0.0, 250.0), (250.0, 500.0), (500.0, 750.0), (750.0, 1000.0)]
    """

    # Layer → the axes of its output for one clip, in order: T (time), C (channel), H (height), W (width), K (token)
    formats: Mapping[str, str]
    fps: float  # frames per second of the clip, and of the result
    duration: float  # duration of the clip, in milliseconds
    # Times of a layer's steps: spread evenly over the clip; all in one bin, as more features; at the nearest multiple
    # of a frame's duration to even spreading; one step per frame
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

    def clip(self, path: Any) -> Video:
        """The clip of a stimulus; videos have to last as long as images are shown."""
        if not Stimulus.is_video_path(path):
            return Video.from_img_path(path, self.duration, self.fps)
        video = Video.from_path(path)
        if abs(video.duration - self.duration) >= 1000 / self.fps:
            raise UserError(
                f"{path} lasts {video.duration:g} ms, not {self.duration:g} ms",
                remedy="pass img_duration, the duration of all stimuli, in milliseconds",
            )
        return video.set_fps(self.fps).set_window(0, self.duration)

    def bins(self, steps: int) -> list[tuple[float, float]]:
        """Start and end of each step of the result, in milliseconds."""
        return list(pairwise([0.0, self.duration] if self.alignment == "ignore_time" else self._frames().tolist()))

    def arrange(self, layer: str, output: NDArray[np.floating]) -> NDArray[np.floating]:
        """Arrange a layer's output for a batch as stimuli × time × the other axes, in the order K, C, H, W.

        Steps in the same time bin are averaged, weighted by the share of the bin that each covers.
        """
        values = _in_order(layer, self.formats, output)
        if self.alignment == "ignore_time":
            return values[:, np.newaxis] if "T" in self.formats[layer] else values
        weights = self._weights(self._edges(values.shape[1], layer))
        if np.array_equal(weights, np.eye(len(weights))):
            return values
        return np.moveaxis(np.tensordot(weights.astype(values.dtype), values, axes=(1, 1)), 0, 1)

    def _frames(self) -> NDArray[np.float64]:
        """Edges of the result's bins; the last bin may be shorter."""
        return np.append(np.arange(0, self.duration - 1e-9, 1000 / self.fps), self.duration)

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


class CausalTimeline:
    """Divides a clip into windows that each end with a frame, so that no response depends on later frames.

    Frame i is shown from i to i + 1 frame durations after the onset of the stimulus. The response to it is that of the
    network to the window that ends with it.

    `duration`: milliseconds for which stimuli are recorded, unless :meth:`record` sets another time. `window`: smallest
    and largest number of frames in a window. Of the frames shown so far, a window has as many as possible; if these are
    too few, it begins before the onset. `before`: ``'grey'`` or ``'repeat'``; what is shown before the onset: a grey
    screen, or the first frame.

    Examples
    --------
    >>> timeline = CausalTimeline(fps=10, duration=400, window=(2, 3))
    >>> timeline.bins(4)
    [(0.0, 100.0), (100.0, 200.0), (200.0, 300.0), (300.0, 400.0)]
    >>> timeline.windows()  # the clip begins one frame before the onset
    [(0, 2), (1, 3), (1, 4), (2, 5)]
    """

    def __init__(self, fps: float, duration: float, window: tuple[int, float], before: Before = "grey") -> None:
        self.fps = fps
        self.window = window
        self.before = before
        self._all = (0, self._until(duration))
        self.frames = self._all

    @property
    def lead(self) -> int:
        """Number of frames before the onset in a clip."""
        return self.window[0] - 1

    def record(self, time: tuple[float, float] | None) -> None:
        """Record from one time to another, in milliseconds after the onset; None: from the onset, for `duration`."""
        first, last = self._all
        if time is not None:
            frame = 1000 / self.fps
            first, last = max(floor(time[0] / frame + 1e-9), 0), min(self._until(time[1]), last)
        self.frames = first, max(last, first + 1)

    def windows(self) -> list[tuple[int, int]]:
        """First frame, and frame after the last, of the window of each recorded frame; in the frames of the clip."""
        smallest, largest = self.window
        ends = [self.lead + number + 1 for number in range(*self.frames)]
        return [(end - int(min(max(end - self.lead, smallest), largest)), end) for end in ends]

    def clip(self, path: Any) -> Video:
        """The clip of a stimulus: frames before the onset, and all frames until the end of the recording."""
        frame = 1000 / self.fps
        if Stimulus.is_video_path(path):
            video = Video.from_path(path)
            if video.duration <= (self.frames[1] - 1) * frame + 1e-6:
                raise UserError(
                    f"{path} lasts {video.duration:g} ms, but is recorded for {self.frames[1] * frame:g} ms",
                    remedy="record time bins within the video, or pass a shorter duration to the model",
                )
            video = video.set_fps(self.fps)
        else:
            image_size(path)  # an error if it is not an image either
            video = Video.from_img_path(path, self.frames[1] * frame, self.fps)
        return video.set_window(-self.lead * frame, self.frames[1] * frame, padding=self.before)

    def bins(self, steps: int) -> list[tuple[float, float]]:
        """Start and end of each recorded frame, in milliseconds after the onset."""
        frame = 1000 / self.fps
        return [(number * frame, (number + 1) * frame) for number in range(*self.frames)]

    def arrange(self, layer: str, output: NDArray[np.floating]) -> NDArray[np.floating]:
        """Output of a batch, stimuli × frames × …, unchanged: the recorder has arranged it."""
        return output

    def _until(self, milliseconds: float) -> int:
        return max(ceil(milliseconds * self.fps / 1000 - 1e-9), 1)


#: cls tokens, and whether the tokens of one time step are side by side, by ``config.model_type`` of transformers
_TOKENS = {"timesformer": (1, False), "videomae": (0, True), "vivit": (1, True), "vjepa2": (0, True)}


class TimeAxes:
    """Finds the time axis in the outputs of layers for a window of frames.

    The axis that doubles if the number of frames does; the order of tokens is known for some networks of transformers.

    `example` returns an input of one window, stimuli first; `axis` is that of frames in it.
    """

    def __init__(self, network: "torch.nn.Module", example: Callable[[], "torch.Tensor"], axis: int) -> None:
        self._network = network
        self._example = example
        self._axis = axis

    def find(self) -> None:
        """Run the network, once, to find the axes."""
        if self._tokens is None:
            _ = self._found

    def last_step(self, layer: str, output: NDArray[Any]) -> NDArray[Any]:
        """Output at the last time step, stimuli first; all of it if its time axis is not known."""
        tokens = self._tokens
        if tokens is not None and output.ndim == 3:
            leading, steps, together = tokens
            if output.shape[1] > leading and (output.shape[1] - leading) % steps == 0:
                of_steps = output[:, leading:]
                last = of_steps[:, -(of_steps.shape[1] // steps) :] if together else of_steps[:, steps - 1 :: steps]
                return np.concatenate([output[:, :leading], last], axis=1)
        axis = self._found.get(layer)
        return output if axis is None else output.take(-1, axis=axis)

    @cached_property
    def _tokens(self) -> tuple[int, int, bool] | None:
        """Tokens before those of frames, number of time steps, and whether the tokens of a step are side by side."""
        config = getattr(self._network, "config", None)
        tokens = _TOKENS.get(getattr(config, "model_type", ""))
        if tokens is None:
            return None
        size = getattr(config, "tubelet_size", 1)
        return (
            tokens[0],
            max(self._example().shape[self._axis] // (size if isinstance(size, int) else size[0]), 1),
            tokens[1],
        )

    @cached_property
    def _found(self) -> dict[str, int]:
        """Axis of time of each layer that has one."""
        import torch

        window = self._example()
        frames = window.shape[self._axis]
        once: dict[str, tuple[int, ...]] = {}
        twice: dict[str, tuple[int, ...]] = {}
        self._run(window, once)
        # a network that takes one number of frames fails; the layers before are known then
        with suppress(AssertionError, IndexError, RuntimeError, TypeError, ValueError):
            self._run(torch.cat([window, window], dim=self._axis), twice)
        time_axes: dict[str, int] = {}
        for layer, shape in once.items():
            longer = twice.get(layer, ())
            changed = [axis for axis, sizes in enumerate(zip(shape, longer, strict=False)) if sizes[0] != sizes[1]]
            # more positions than frames are tokens in an unknown order
            if len(shape) == len(longer) and len(changed) == 1 and changed[0] > 0 and shape[changed[0]] <= frames:
                time_axes[layer] = changed[0]
        return time_axes

    def _run(self, window: "torch.Tensor", shapes: dict[str, tuple[int, ...]]) -> None:
        """Run the network and enter the shape of each layer's output; of several in a pass, that of the last."""
        import torch

        def keep(name: str, output: Any) -> None:
            try:
                shapes[name] = tuple(tensor_of(output, name).shape)
            except UserError:
                shapes.pop(name, None)

        named = ((name, module) for name, module in self._network.named_modules(remove_duplicate=False) if name)
        with torch.inference_mode(), passing_outputs(named, keep):
            self._network.eval()(window)


Inference = Literal["whole", "causal"]
_READS_LAYERS = (
    "_output_layer",
    "_process_activation",
    "_register_hook",
    "_tensor_to_numpy",
    "forward",
    "get_activations",
    "get_layer",
    "register_hook",
)


class PytorchWrapper(ImageWrapper):
    """An activations model of a network that takes clips; images are shown as static clips.

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
    layer_activation_format : dict of str to str, optional
        Layer → the axes of its output for one clip, such as ``'TCHW'``, ``'CTHW'``, ``'KC'``, ``'C'``: time, channel,
        height, width, token. For causal inference it is found automatically, if left out (see Notes).
    num_frames, duration : number or (number, number), optional
        Number of frames, or milliseconds, that the network accepts; by default any.
    time_alignment : {'evenly_spaced', 'ignore_time', 'estimate_layer_fps', 'per_frame_aligned'}, optional
        See :class:`~brainscore_vision.model_helpers.activations.temporal.model.pytorch.ClipTimeline`; by default
        ``'evenly_spaced'``. With causal inference, each frame has its response.
    img_duration : float
        Duration of an image, in milliseconds. With whole clips, the duration of videos may differ from it by less than
        a frame; with causal inference, they may be longer.
    inference : {'whole', 'causal'}
        ``'whole'``: complete clips pass the network, whose responses may depend on later frames. ``'causal'``: for each
        frame, the frames until then, as many as the network accepts; see Notes.
    before_onset : {'grey', 'repeat'}
        For causal inference, what the network sees before the onset of a stimulus, if it needs more frames than were
        shown: a grey screen, or the first frame, with which a still image is the same clip at all times.
    **options
        Options of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

    Raises
    ------
    ValueError
        If the network does not accept the number of frames in a clip of `img_duration`.

    Notes
    -----
    Called with stimuli and layers, it returns presentation × neuroid × time_bin. Videos are shown at `fps`: a frame of
    the clip is the frame of the file that is on the screen when it begins.

    *Causal inference.* The response to a frame is the layer's output, at the last time step, for the window of frames
    that ends with this frame, so that no response depends on later frames, whatever the network does with time. A
    network of fixed `num_frames` always sees so many; one that accepts a range sees all frames since the onset, up to
    the largest number. The last time step of an output is taken along the axis T in `layer_activation_format`; without
    it, along the axis that doubles if twice as many frames are shown, and for networks of transformers (TimeSformer,
    VideoMAE, ViViT, V-JEPA 2) of the tokens of the last step. If neither is known, the whole output for the window is
    the response. Each frame costs one pass; a still image needs no further ones once it fills the window.

    The preprocessing is called once for a clip that includes the frames before the onset, from which windows are cut,
    so it must prepare frame by frame.

    Subclasses may override `forward` (a list of preprocessed clips → output), `get_activations`, ``_register_hook``
    and ``_process_activation``, as in brain-score 2.x.

    Examples
    --------
    >>> activations_model = PytorchWrapper(
    ...     "slow-r50", network, preprocess_clip, fps=8, num_frames=8, inference="causal"
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
        layer_activation_format: Mapping[str, str] | None = None,
        num_frames: float | tuple[float, float] | None = None,
        duration: float | tuple[float, float] | None = None,
        time_alignment: str | None = None,
        img_duration: float = 1000.0,
        batch_size: int = 32,
        inference: Inference = "whole",
        before_onset: Before = "grey",
        **options: Any,
    ) -> None:
        if "inferencer_cls" in options:
            raise UserError(
                "there is no argument inferencer_cls",
                remedy="pass inference='causal' for CausalInferencer, and leave it out for TemporalInferencer",
            )
        for name, value, choices in (("inference", inference, Inference), ("before_onset", before_onset, Before)):
            if value not in get_args(choices):
                raise UserError(f"{name} is {value!r}", remedy=f"pass {' or '.join(map(repr, get_args(choices)))}")
        _check_number("fps", fps, "frames per second")
        _check_number("img_duration", img_duration, "milliseconds")
        if layer_activation_format is None and inference == "whole":
            raise UserError(
                f"the axes of the layers of {identifier!r} are not known",
                remedy="pass layer_activation_format={'layer4': 'CTHW', ...}, or inference='causal'",
            )
        formats = dict(layer_activation_format or {})
        network, _ = unwrapped(model)
        self.layer_activation_format = formats
        self._process_output = process_output
        self._causal: CausalTimeline | None = None
        timeline: ClipTimeline | CausalTimeline
        if inference == "causal":
            if time_alignment not in (None, "per_frame_aligned"):
                raise UserError(
                    f"time_alignment is {time_alignment!r}, but with causal inference each frame has its response",
                    remedy="leave it out",
                )
            ClipTimeline(formats, fps, max(img_duration, 1000 / fps))  # raises an error for invalid formats
            window = _window(identifier, fps, num_frames, duration)
            timeline = self._causal = CausalTimeline(fps, img_duration, window, before_onset)
        else:
            frames = int(img_duration * fps / 1000 + 1e-9)
            for unit, shown, allowed in (("frames", frames, num_frames), ("milliseconds", img_duration, duration)):
                lower, upper = allowed if isinstance(allowed, tuple | list) else (allowed, allowed)
                if (lower is not None and shown < lower) or (upper is not None and shown > upper):
                    raise ValueError(
                        f"an image shown for {img_duration} ms at {fps} frames per second gives {shown} {unit}, but "
                        f"{identifier!r} takes {lower} to {upper}: choose another img_duration or fps, or "
                        "inference='causal'"
                    )
            timeline = ClipTimeline(formats, fps, img_duration, time_alignment or "evenly_spaced")
        self._clips = _ClipReader(preprocessing, timeline)
        if inference == "causal":
            self._axes = TimeAxes(network, lambda: to_input(network, self._window_of_grey()), 1 + self._clips.axis)
        super().__init__(model, self._clips, identifier, batch_size=batch_size, timeline=timeline, **options)

    def set_recorded_time(self, time: tuple[float, float] | None) -> None:
        """Set the time in which responses are needed, in milliseconds after the onset of a stimulus.

        With causal inference, only frames in this time are recorded. None: all until `img_duration`.
        """
        if self._causal is not None:
            self._causal.record(time)

    def example_input(self, path: Any) -> "torch.Tensor":
        """Input of the network for one file, stimuli first, on its device; with causal inference, the last window."""
        if self._causal is None:
            return super().example_input(path)
        clips = self._extractor.preprocess([path])
        return to_input(self._model, self._cut(clips, *self._causal.windows()[-1]))

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
        return run_images(self._model, to_input(self._model, inputs), **self._forward_kwargs)

    def _reads_layers_itself(self) -> bool:
        return self._process_output is not None or any(
            getattr_static(type(self), name) is not getattr_static(PytorchWrapper, name) for name in _READS_LAYERS
        )

    def _reader(self) -> LayerReader:
        reader, causal = super()._reader(), self._causal
        if causal is None:
            return reader
        base = reader.recorder or (lambda: plain_recorder(self.get_activations))
        largest = causal.window[1] if causal.window[1] < inf else causal.frames[1]
        return replace(
            reader,
            recorder=lambda: self._in_windows(base(), causal),
            at_once=None if reader.at_once is None else max(1, reader.at_once // int(largest)),
        )

    def _in_windows(self, recorder: Recorder, timeline: CausalTimeline) -> Recorder:
        """Recorder that shows a clip window by window, and takes the responses of each layer to all of them."""

        @contextmanager
        def in_windows(layers: Sequence[str]) -> Iterator[Forward]:
            if not self.layer_activation_format:
                self._axes.find()  # not while responses are recorded: it runs the network
            with recorder(layers) as forward:

                def forward_clips(clips: Any, take: TakeOutput) -> None:
                    responses: dict[str, list[NDArray[Any]]] = {layer: [] for layer in layers}
                    before: list[Any] = []

                    def keep(layer: str, output: Any) -> None:
                        responses[layer].append(np.array(self._last_step(layer, as_rows(tensor_of(output, layer)))))

                    for start, end in timeline.windows():
                        window = self._cut(clips, start, end)
                        if _equal(window, before):  # a still image that fills the window
                            for of_layer in responses.values():
                                of_layer.append(of_layer[-1])
                        else:
                            forward(window, keep)
                        before = window
                    for layer, of_layer in responses.items():
                        if of_layer:
                            take(layer, _stacked(layer, of_layer, timeline.windows()))

                yield forward_clips

        return in_windows

    def _last_step(self, layer: str, output: NDArray[Any]) -> NDArray[Any]:
        if not self.layer_activation_format:
            return self._axes.last_step(layer, output)
        return _in_order(layer, self.layer_activation_format, output)[:, -1]

    def _cut(self, clips: Any, start: int, end: int) -> list[Any]:
        """Frames of each clip from `start` until before `end`."""
        import torch

        axis = self._clips.axis
        return [torch.as_tensor(clip).narrow(axis, start, end - start) for clip in clips]

    def _window_of_grey(self) -> list[Any]:
        timeline: Any = self._causal
        with TemporaryDirectory() as folder:
            start, end = timeline.windows()[-1]
            return self._cut(self._clips([grey_image(folder)]), start, end)

    def _run(self, network: "torch.nn.Module", images: Any) -> Any:
        import torch

        network.eval()
        with torch.inference_mode(), autocasting(self._device, self._autocast):
            if getattr_static(type(self), "forward") is getattr_static(PytorchWrapper, "forward"):
                # possibly a copy on another device
                return run_images(network, to_input(network, images), **self._forward_kwargs)
            return self.forward(images)

    def _fingerprint(self) -> dict[str, Any]:
        return super()._fingerprint() | {
            "process_output": fingerprint(self._process_output),
            "formats": self.layer_activation_format,
        }


def _check_number(name: str, value: Any, unit: str) -> None:
    valid = isinstance(value, int | float | np.number) and not isinstance(value, bool) and 0 < value < inf
    if not valid:
        raise UserError(f"{name} is {value!r}", remedy=f"pass a number of {unit}, such as 25")


def _window(identifier: str, fps: float, num_frames: Any, duration: Any) -> tuple[int, float]:
    """Smallest and largest number of frames that a network accepts."""
    lower, upper = 1.0, inf
    for allowed, per_frame in ((num_frames, 1.0), (duration, 1000 / fps)):
        if allowed is not None:
            smallest, largest = allowed if isinstance(allowed, tuple | list) else (allowed, allowed)
            lower, upper = max(lower, smallest / per_frame), min(upper, largest / per_frame)
    smallest, largest = ceil(lower - 1e-9), upper if upper == inf else floor(upper + 1e-9)
    if smallest > largest:
        raise UserError(
            f"{identifier!r} accepts no number of frames: num_frames is {num_frames}, duration {duration} at {fps} "
            "frames per second",
            remedy="correct num_frames, duration or fps",
        )
    return smallest, largest


def _equal(window: Sequence[Any], before: Sequence[Any]) -> bool:
    """Whether windows have the same frames."""
    return bool(before) and all(
        now.shape == then.shape and bool((now == then).all()) for now, then in zip(window, before, strict=True)
    )


def _stacked(layer: str, responses: list[NDArray[Any]], windows: list[tuple[int, int]]) -> NDArray[Any]:
    """Stack responses to all windows along a second axis."""
    for response, (start, end) in zip(responses, windows, strict=True):
        if response.shape != responses[0].shape:
            raise UserError(
                f"layer {layer!r} has outputs of different shapes for windows of {windows[0][1] - windows[0][0]} and "
                f"{end - start} frames, {responses[0].shape[1:]} and {response.shape[1:]}",
                remedy="name its axes in layer_activation_format, or pass one number as num_frames",
            )
    return np.stack(responses, axis=1)


def _in_order(layer: str, formats: Mapping[str, str], output: NDArray[Any]) -> NDArray[Any]:
    """A layer's output for a batch as stimuli × time × the other axes; a layer without time has one step."""
    axes = formats.get(layer)
    if axes is None:
        raise UserError(f"layer {layer!r} has no format", remedy="name its axes in layer_activation_format")
    if output.ndim != 1 + len(axes):
        raise UserError(
            f"layer {layer!r} has the format {axes!r}, but its output for a batch has shape {output.shape}",
            remedy="correct it in layer_activation_format",
        )
    values = output.transpose(0, *(1 + axes.index(letter) for letter in _ORDER if letter in axes))
    return values if "T" in axes else values[:, np.newaxis]


class _ClipReader:
    """Paths → preprocessed clips; for causal inference they begin before the onset, and windows are cut from them."""

    def __init__(self, preprocessing: Callable[[Video], Any], timeline: ClipTimeline | CausalTimeline) -> None:
        self._preprocessing = preprocessing
        self._timeline = timeline

    @cached_property
    def axis(self) -> int:
        """Axis of frames in a preprocessed clip: the one whose length is the number of frames."""
        lengths = 5, 7
        with TemporaryDirectory() as folder:
            path, fps = grey_image(folder), self._timeline.fps
            shapes = [
                tuple(self._preprocessing(Video.from_img_path(path, number * 1000 / fps, fps)).shape)
                for number in lengths
            ]
        of_frames = [axis for axis, sizes in enumerate(zip(*shapes, strict=False)) if sizes == lengths]
        if len(of_frames) != 1:
            raise UserError(
                f"of clips of {lengths[0]} and {lengths[1]} frames, preprocessing makes the shapes {shapes[0]} and "
                f"{shapes[1]}",
                remedy="return every frame of the video, prepared by itself, along one axis; the network's windows "
                "are cut from it",
            )
        return of_frames[0]

    def __call__(self, paths: Sequence[Any]) -> list[Any]:
        return [self._preprocessing(self._timeline.clip(path)) for path in paths]
