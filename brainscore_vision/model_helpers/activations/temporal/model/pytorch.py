"""Activations of PyTorch networks that take clips."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations._devices import as_input, autocasting
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper as ImageWrapper
from brainscore_vision.model_helpers.activations.temporal.inputs import Stimulus, Video
from brainscore_vision.model_helpers.activations.temporal.timeline import ClipTimeline

if TYPE_CHECKING:
    import torch

__all__ = ["PytorchWrapper"]


class PytorchWrapper(ImageWrapper):
    """Makes a network that takes clips an activations model; images are shown as clips in which nothing moves.

    Films are shown as they are, at `fps`; all stimuli last `img_duration`.

    Parameters
    ----------
    identifier : str
        Name of the model.
    model : torch.nn.Module
        The network.
    preprocessing : callable
        :class:`~brainscore_vision.model_helpers.activations.temporal.inputs.Video` → tensor of one clip.
    process_output : callable, optional
        ``(module, layer, inputs, output)`` → what is recorded instead of `output`.
    fps : float
        Frames per second that the network sees; also the time bins of the result.
    layer_activation_format : dict of str to str
        Layer → the axes of its output for one clip, such as ``'TCHW'``, ``'CTHW'``, ``'KC'``, ``'C'``: time, channel,
        height, width, token.
    num_frames, duration : number or (number, number), optional
        How many frames, or milliseconds, the network takes; by default any.
    time_alignment : {'evenly_spaced', 'ignore_time', 'estimate_layer_fps', 'per_frame_aligned'}
        See :class:`~brainscore_vision.model_helpers.activations.temporal.timeline.ClipTimeline`.
    img_duration : float
        How long an image is shown, in milliseconds; films must last as long, but for less than a frame.
    **options
        Of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

    Raises
    ------
    ValueError
        If a clip of `img_duration` has more or fewer frames than the network takes.

    Notes
    -----
    Called with stimuli and layers it returns presentation × neuroid × time_bin. The clip passes the network whole.
    Inference on growing or successive parts of a clip is not supported.

    Subclasses may override `forward` (a list of preprocessed clips → output), `get_activations`, ``_register_hook``
    and ``_process_activation``, as on brain-score 2.x.

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
                remedy="leave inferencer_cls out: the clip passes the network whole",
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
        """Let a module write what it returns, processed, into `target_dict`; returns torch's handle."""
        return self._register_hook(layer, layer_name, target_dict)

    def _register_hook(self, layer: "torch.nn.Module", layer_name: str, target_dict: dict[str, Any]) -> Any:
        def hook(module: Any, inputs: Any, output: Any) -> None:
            processed = self._process_activation(module, layer_name, inputs, output)
            target_dict[layer_name] = self._tensor_to_numpy(processed)

        return layer.register_forward_hook(hook)

    def _process_activation(self, layer: "torch.nn.Module", layer_name: str, inputs: Any, output: Any) -> Any:
        """What is recorded instead of `output`."""
        return output if self._process_output is None else self._process_output(layer, layer_name, inputs, output)

    def forward(self, inputs: Any) -> Any:
        """Output of the network for preprocessed clips."""
        return self._model(as_input(self._model, inputs), **self._forward_kwargs)

    def _run(self, network: "torch.nn.Module", images: Any) -> None:
        import torch

        network.eval()
        with torch.inference_mode(), autocasting(self._device, self._autocast):
            self.forward(images)

    def _fingerprint(self) -> dict[str, Any]:
        from brainscore_vision.model_helpers.activations._fingerprint import fingerprint

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
        film = Video.from_path(path)
        if abs(film.duration - self._duration) >= 1000 / self._fps:
            raise UserError(
                f"{path} lasts {film.duration:g} ms, not {self._duration:g} ms",
                remedy="pass img_duration, the duration of all stimuli, in milliseconds",
            )
        return film.set_fps(self._fps).set_window(0, self._duration)
