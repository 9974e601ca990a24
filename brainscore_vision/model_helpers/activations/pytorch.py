"""Activations of PyTorch networks."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from inspect import getattr_static
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import BrainScoreError, UserError
from brainscore_core.plurals import counted
from brainscore_core.supported_data_standards.brainio.images import GREY
from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper, ExtractedModel, LayerReader
from brainscore_vision.model_helpers.activations.fingerprints import (
    code_fingerprint,
    fingerprint,
    network_state,
    weights_fingerprint,
)
from brainscore_vision.model_helpers.activations.layouts import Layout, find_layout, stimulus_axis
from brainscore_vision.model_helpers.activations.networks import (
    FirstPass,
    LayerNames,
    Listener,
    across_devices,
    autocast_type,
    autocasting,
    choose_devices,
    image_tower,
    in_float32,
    plain_name,
    run_images,
    to_input,
    unwrapped,
    without_compilation,
)
from brainscore_vision.model_helpers.activations.passes import Forward, Recorder, TakeOutput, as_rows, tensor_of
from brainscore_vision.model_helpers.activations.preprocessing import (
    load_image,
    load_images,
    load_preprocess_images,
    pixel_values,
    preprocess_images,
)

if TYPE_CHECKING:
    import torch

__all__ = [
    "PytorchWrapper",
    "disable_activation_caching",
    "load_image",
    "load_images",
    "load_preprocess_images",
    "preprocess_images",
]

_AT_ONCE_ON_CPU = 16  # with more, a network's responses exceed the CPU cache, and it becomes slower
_DYNAMIC = "torch.ao.nn.quantized.dynamic"
_READS_LAYERS = ("get_activations", "get_layer", "register_hook", "_output_layer", "_tensor_to_numpy")


def _is_about_layout(error: Exception) -> bool:
    return isinstance(error, RuntimeError) and any(word in str(error) for word in ("contiguous", "stride"))


class NetworkError(UserError, RuntimeError):
    """An input that a network cannot process."""


@contextmanager
def _explaining_errors(images: Any) -> Iterator[None]:
    """Turn errors of a network into a :class:`NetworkError`, but not those about memory, which callers handle."""
    try:
        yield
    except Exception as error:
        if isinstance(error, BrainScoreError | MemoryError) or "memory" in str(error) or _is_about_layout(error):
            raise
        shape = np.shape(images) if hasattr(images, "shape") else (len(images), *np.shape(images[0]))
        raise NetworkError(
            f"the network fails on an input of the shape {tuple(shape)} ({type(error).__name__}: {error})",
            remedy="check that preprocessing returns what the network takes: one entry for each path, mostly "
            "channels × height × width, without an axis for batches",
        ) from error


class PytorchWrapper(ExtractedModel):
    """An activations model of a network: called with stimuli and layers, it returns activations.

    Parameters
    ----------
    model : torch.nn.Module
        The network; it is moved to the device and set to evaluation mode. Of a network compiled by ``torch.compile`` or
        wrapped in (Distributed)DataParallel, the network inside; of one of images and text, its image tower runs.
    preprocessing : callable or None
        List of image paths → array or tensors, one per path, such as
        ``functools.partial(load_preprocess_images, image_size=224)``.
    identifier : str, optional
        Name of the model; by default that of its class.
    forward_kwargs : dict, optional
        Passed to the network in each call.
    batch_size : int
        Number of stimuli in a batch; halved whenever memory runs out. On the CPU, at most 16 of them pass the network
        together, which is faster, and the channels of images are last in memory (``torch.channels_last``), unless the
        network cannot be run that way.
    device : str, torch.device or list of these
        ``'auto'``: the GPU, else Apple's (``'mps'``), else the CPU. Several: each gets a copy of the network and its
        share of every batch.
    autocast : bool or torch.dtype
        Compute in half precision where PyTorch considers it safe: ``True`` (bfloat16) or a type.
    compile : bool or str
        Compile the network with ``torch.compile``; a text names its backend. Compiling takes a minute, and recorded
        layers interrupt the compiled code: on a CPU, it helps few networks, and only with thousands of stimuli.
    logits : str or int, optional
        Entry of the network's output that has the classes, if it returns several tensors and it is not known which: a
        key, the name of a field or a position.
    **options
        Options of :class:`~brainscore_vision.model_helpers.activations.core.ActivationsExtractorHelper`: ``store``,
        ``dtype``, ``pooling``, ``workers``, ``loader``.

    Raises
    ------
    UserError
        If the network has parameters without values, or cannot be set to evaluation mode.

    Notes
    -----
    A layer is a name as in ``named_modules()``, a pattern (``'layer?.0'``), ``'logits'`` (the output of the network; of
    several tensors, that named ``logits``, or the only list of numbers for each stimulus that is not named ``aux…``; if
    there is none, the output of the last module without children), or a
    name with a call number such as ``'IT.output-t1'``: the output of a module in its second call of a forward pass.
    Without a number, the last call is recorded. If a layer returns several tensors, the first is used. If stimuli are
    not the first axis of its output, they are found with two further passes and moved there; :meth:`describe_layers`
    says so.

    Subclasses may override how layers are read, as in brain-score 2.x: `get_activations`, `get_layer`,
    `register_hook`, ``_output_layer`` and ``_tensor_to_numpy``. Their layers are then passed on unchanged, without
    support for patterns.

    Examples
    --------
    >>> import functools, torch
    >>> network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.ReLU())
    >>> preprocessing = functools.partial(load_preprocess_images, image_size=32)
    >>> activations_model = PytorchWrapper(identifier="two-layers", model=network, preprocessing=preprocessing)
    >>> activations_model.layers()
    ['0', '1']
    >>> activations = activations_model(stimuli, layers=["1"])  # doctest: +SKIP
    """

    def __init__(
        self,
        model: "torch.nn.Module",
        preprocessing: Callable[[Sequence[Any]], Any] | None,
        identifier: str | None = None,
        forward_kwargs: Mapping[str, Any] | None = None,
        batch_size: int = 64,
        *,
        device: Any = "auto",
        autocast: Any = False,
        compile: bool | str = False,  # noqa: A002 - torch's own name for it
        logits: str | int | None = None,
        **options: Any,
    ) -> None:
        self._devices = choose_devices(device)
        self._device = self._devices[0]
        model, self.remarks = unwrapped(model)
        if (tower := image_tower(model)) is not None:
            self.remarks.append(f"images are shown to the image tower of the network, by {tower}")
        self._model = _prepared(model, self._devices[0])
        self._image: tuple[int, int] | None = None
        self._known = FirstPass()  # of the last extraction
        self._logits: str | None = None
        self._entry = logits
        self._names = LayerNames(self._model)
        self._layouts: dict[tuple[str, tuple[int, ...], tuple[int, int] | None], Layout] = {}
        self._forward_kwargs = dict(forward_kwargs or {})
        self._autocast = autocast_type(autocast)
        self._compile = compile
        self._channels_last = not self._reads_layers_itself()
        self._known_weights: tuple[Any, str] | None = None
        self._extractor = self._build_extractor(
            identifier=identifier or type(model).__name__,
            preprocessing=preprocessing,
            get_activations=self.get_activations,
            batch_size=batch_size,
            reader=self._reader(),
            **options,
        )
        self._extractor.insert_attrs(self)

    def _build_extractor(
        self, identifier: str, preprocessing: Any, get_activations: Any, **options: Any
    ) -> ActivationsExtractorHelper:
        return ActivationsExtractorHelper(
            get_activations=get_activations, preprocessing=preprocessing, identifier=identifier, **options
        )

    def _reader(self) -> LayerReader:
        device = self._devices[0]
        reader = LayerReader(
            fingerprint=self._fingerprint,
            at_once=self._at_once,
            device=device if device.type == "cuda" else None,
            half=self._is_half,
        )
        if self._reads_layers_itself():
            return reader
        return replace(
            reader, recorder=self._recorder, resolve=self._resolve, canonical=self._canonical, layout=self._layout
        )

    def _resolve(self, layers: Sequence[str]) -> list[str]:
        return LayerNames(self._model).resolve(layers)

    @property
    def _at_once(self) -> int | None:
        if any(type(module).__module__.startswith(_DYNAMIC) for module in self._model.modules()):
            return 1  # these round by the range of all values in a batch
        return _AT_ONCE_ON_CPU * len(self._devices) if self._device.type == "cpu" else None

    def _canonical(self, layer: str) -> str:
        """Name under which a layer is stored; that of ``'logits'`` is known after the first pass."""
        is_output = self._logits == "output" and self._names.is_output(layer)
        return layer if is_output else self._names.canonical(layer)

    def _layout(self, layer: str, shape: tuple[int, ...]) -> Layout:
        """Layout of the output of a layer that was recorded."""
        key = (layer, shape, self._image)
        if key not in self._layouts:
            axis = self._known.axes.get(layer)
            if axis is not None and axis.order != "alone":
                self._layouts[key] = Layout(layer)
            else:
                module = None if self._names.is_output(layer) else self._names.module(layer)[0]
                self._layouts[key] = find_layout(layer, shape, module=module, network=self._model, image=self._image)
        return self._layouts[key]

    def __repr__(self) -> str:
        return repr(self._model)

    def without_store(self) -> Self:
        """The wrapper itself, whose activations are not stored from now on."""
        self._extractor.store = None
        return self

    @property
    def model(self) -> "torch.nn.Module":
        """The network."""
        return self._model

    @property
    def preprocessing(self) -> Callable[[Sequence[Any]], Any]:
        """Function of file paths that returns the network's input."""
        return self._extractor.preprocess

    def example_input(self, path: Any) -> "torch.Tensor":
        """Input of the network for one image file, stimuli first, on its device."""
        return to_input(self._model, pixel_values(self._extractor.preprocess([path])))

    def layers(self) -> list[str]:
        """Names of the modules without children, in the network's order."""
        named = self._model.named_modules(remove_duplicate=False)
        return [plain_name(name) for name, module in named if name and next(module.children(), None) is None]

    def describe_layers(self, layers: Sequence[str]) -> list[str]:
        """Describe in words what is recorded of layers; the network runs once.

        Parameters
        ----------
        layers : list of str
            Names or patterns.

        Returns
        -------
        list of str
            One sentence about each layer, after those about the network.

        Raises
        ------
        UserError
            If a layer does not exist or cannot be recorded.

        Examples
        --------
        >>> import torch
        >>> network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(7200, 10))
        >>> model = PytorchWrapper(network, lambda paths: torch.zeros(len(paths), 3, 32, 32), "small")
        >>> model.describe_layers(["0", "logits"])
        ['0: stimuli × 8 channels × 30 rows × 30 columns', 'logits: stimuli × 10, output of the network, that of 2']
        """
        if self._reads_layers_itself():
            return [*self.remarks, f"layers are read as the class {type(self).__name__} does"]
        shapes = self._shown_example(LayerNames(self._model).resolve(layers))
        return [*self.remarks, *(f"{layer}: {self._described(layer, shape)}" for layer, shape in shapes.items())]

    @property
    def logits_source(self) -> str:
        """What ``'logits'`` was in the last pass, in words; empty if it is all that the network returns."""
        known = self._known
        if known.entry is not None:
            return f"{known.entry!r} of the output of the network"
        return f"output of {self._names.canonical('logits')}" if known.logits == "not the output" else ""

    def _described(self, layer: str, shape: tuple[int, ...]) -> str:
        """Description of a layer whose output has this shape for one stimulus, after a pass."""
        words = [_in_words(shape, self._layout(layer, shape))]
        if self._names.is_output(layer):
            last = self._names.canonical(layer)
            if self._known.logits == "not the output":
                words.append(f"output of {last}, the last module, since that of the network is not a list of numbers")
            else:
                words.append("output of the network" if self._known.entry is None else self.logits_source)
                words += [f"that of {last}"] if self._known.logits == "last module" else []
        if layer in self._known.containers:
            words.append(f"the first tensor in its {self._known.containers[layer]}")
        if layer in self._known.axes:
            words.append(str(self._known.axes[layer]))
        return ", ".join(words)

    def get_layer(self, layer_name: str) -> "torch.nn.Module":
        """The module of a layer."""
        if layer_name == "logits" and layer_name not in dict(self._model.named_children()):
            return self._output_layer()
        return LayerNames(self._model).module(layer_name)[0]

    def _output_layer(self) -> "torch.nn.Module":
        return LayerNames(self._model).module("logits")[0]

    def get_activations(self, images: Any, layer_names: Sequence[str]) -> "OrderedDict[str, NDArray[Any]]":
        """Outputs of layers for preprocessed images, stimuli first."""
        outputs: OrderedDict[str, NDArray[Any]] = OrderedDict()
        if self._reads_layers_itself():
            handles = [self.register_hook(self.get_layer(name), name, target_dict=outputs) for name in layer_names]
            try:
                with in_float32(self._device):
                    self._run(self._model, images)
            finally:
                for handle in handles:
                    handle.remove()
            return outputs

        def keep(layer: str, output: Any) -> None:
            outputs[layer] = np.array(as_rows(tensor_of(output, layer)))

        with self._recorder()(layer_names) as forward:
            if len(images) > 1:
                forward(images[:1], keep)  # shows where the stimuli are in outputs
            forward(images, keep)
        return OrderedDict((name, outputs[name]) for name in layer_names)

    def register_hook(self, layer: "torch.nn.Module", layer_name: str, target_dict: dict[str, Any]) -> Any:
        """Make a module write its output into `target_dict` under `layer_name`; returns torch's handle."""

        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            target_dict[layer_name] = self._tensor_to_numpy(output)

        return layer.register_forward_hook(hook)

    @classmethod
    def _tensor_to_numpy(cls, output: Any) -> NDArray[Any]:
        """Copy the output of a layer into an array."""
        return np.array(as_rows(tensor_of(output, "that was requested")))

    def _reads_layers_itself(self) -> bool:
        """Whether a subclass overrides methods that read layers; they are then used."""
        return any(
            getattr_static(type(self), name) is not getattr_static(PytorchWrapper, name) for name in _READS_LAYERS
        )

    def _recorder(self) -> Recorder:
        """Make the recorder of one extraction; its first pass shows how often each module runs."""
        first_pass = self._known = FirstPass(entry=self._entry)
        self._names = LayerNames(self._model)
        self._layouts.clear()

        @contextmanager
        def recorder(layers: Sequence[str]) -> Iterator[Forward]:
            with ExitStack() as stack:
                stack.enter_context(in_float32(self._device))
                if first_pass.counts and len(self._devices) > 1:
                    yield stack.enter_context(across_devices(self._model, self._devices, layers, self._run, first_pass))
                    return
                # compiling is not worth it for the first stimulus alone
                compile = bool(first_pass.counts) and bool(self._compile)  # noqa: A001 - as the option
                network = self._compiled() if compile else self._model
                stack.enter_context(nullcontext() if compile else without_compilation(self._model))
                listener = stack.enter_context(Listener(self._model, layers, first_pass, compiled=compile))

                def run(images: Any, take: TakeOutput) -> _MovedOutputs:
                    moved = _MovedOutputs(first_pass, len(images), take)
                    with listener.passing(moved.take):
                        listener.finish(self._run(network, images))
                    return moved

                def forward(images: Any, take: TakeOutput) -> None:
                    with nullcontext() if first_pass.counts else _explaining_errors(images):
                        try:
                            moved = run(images, take)
                        except RuntimeError as error:
                            if first_pass.counts or not self._channels_last or not _is_about_layout(error):
                                raise
                            self._channels_last = False  # the network joins axes in the order in which they usually lie
                            moved = run(images, take)
                        self._logits = first_pass.logits or self._logits
                        if moved.waiting:
                            self._find_axes(first_pass, list(moved.waiting), images)
                            moved.finish()

                yield forward

        return recorder

    def _find_axes(self, first_pass: FirstPass, layers: Sequence[str], images: Any) -> None:
        """Find the axes of stimuli of layers where it is not the first one: show a stimulus alone, and with another."""
        import torch

        alone = to_input(self._model, images[:1])
        companion = alone.flip(-1) + torch.linspace(-1, 1, alone.numel()).reshape(alone.shape).to(alone)
        outputs: list[dict[str, Any]] = []
        with Listener(self._model, layers, replace(first_pass)) as listener:
            for inputs in (alone, torch.cat([alone, companion])):
                outputs.append({})

                def keep(layer: str, output: Any) -> None:
                    outputs[-1][layer] = tensor_of(output, layer).detach().clone()

                with listener.passing(keep):
                    listener.finish(self._run(self._model, inputs))
        for layer in layers:
            first_pass.axes[layer] = stimulus_axis(layer, *(of_layer[layer] for of_layer in outputs))

    def _shown_example(self, layers: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """Show a grey image; the shape of the output of each layer for one stimulus."""
        shapes: dict[str, tuple[int, ...]] = {}

        def keep(layer: str, output: Any) -> None:
            shapes[layer] = tuple(tensor_of(output, layer).shape[1:])

        with TemporaryDirectory() as folder:
            images = self.example_input(grey_image(folder))
        with self._recorder()(layers) as forward:
            forward(images, keep)
        return {layer: shapes[layer] for layer in layers}

    def logits_width(self) -> int | None:
        """Number of values of ``'logits'``, for which the network runs once; None if a subclass reads layers itself."""
        return None if self._reads_layers_itself() else int(np.prod(self._shown_example(["logits"])["logits"]))

    def _run(self, network: "torch.nn.Module", images: Any) -> Any:
        import torch

        device = next(network.parameters(), torch.empty(0)).device
        network.eval()
        with torch.inference_mode(), autocasting(device, self._autocast):
            inputs = to_input(network, images)
            self._image = (inputs.shape[-2], inputs.shape[-1]) if inputs.ndim == 4 else None
            return run_images(network, self._arranged(inputs), **self._forward_kwargs)

    def _is_half(self) -> bool:
        tensors = chain(self._model.parameters(), self._model.buffers())
        return self._autocast is not None or any(t.is_floating_point() and t.dtype.itemsize < 4 for t in tensors)

    def _arranged(self, inputs: Any) -> Any:
        """Images on a CPU with their channels last in memory, in which convolutions are faster there."""
        import torch

        if not self._channels_last or inputs.ndim != 4 or inputs.device.type != "cpu":
            return inputs
        return inputs.contiguous(memory_format=torch.channels_last)

    def _compiled(self) -> Any:
        import torch

        return torch.compile(self._model, backend=self._compile if isinstance(self._compile, str) else "inductor")

    def _fingerprint(self) -> dict[str, Any]:
        state = network_state(self._model)
        if self._known_weights is None or self._known_weights[0] != state:
            self._known_weights = (state, weights_fingerprint(self._model))
        return {
            "weights": self._known_weights[1],
            "code": code_fingerprint(self._model),
            "wrapper": fingerprint(type(self)),
            "forward_kwargs": fingerprint(self._forward_kwargs),
            "device": self._devices[0].type,
            "autocast": None if self._autocast is None else str(self._autocast),
            "compile": self._compile,
            **({} if self._entry is None else {"logits": self._entry}),
        }


def grey_image(folder: str) -> Path:
    """Make a grey image file in a folder."""
    from PIL import Image

    path = Path(folder) / "grey.png"
    Image.new("RGB", (256, 256), (GREY, GREY, GREY)).save(path)
    return path


def disable_activation_caching(wrapper: PytorchWrapper) -> PytorchWrapper:
    """Store no activations of a model from now on; needed for no network here, since each layer is stored by itself.

    Examples
    --------
    >>> import torch
    >>> wrapper = disable_activation_caching(PytorchWrapper(torch.nn.Flatten(), None))
    >>> wrapper.keeps_activations()
    False
    """
    return wrapper.without_store()


class _MovedOutputs:
    """Passes on outputs with the stimuli first; those whose axis of stimuli is not known wait for :meth:`finish`."""

    def __init__(self, known: FirstPass, stimuli: int, take: TakeOutput) -> None:
        self._known = known
        self._stimuli = stimuli
        self._take = take
        self.waiting: dict[str, Any] = {}

    def take(self, layer: str, output: Any) -> None:
        tensor = tensor_of(output, layer)
        if layer in self._known.axes:
            self._take(layer, self._known.axes[layer].first(tensor, self._stimuli))
        elif tensor.shape[0] == self._stimuli:
            self._take(layer, tensor)
        else:
            self.waiting[layer] = tensor.detach().clone()  # the network may change it

    def finish(self) -> None:
        while self.waiting:
            layer, tensor = self.waiting.popitem()
            self._take(layer, self._known.axes[layer].first(tensor, self._stimuli))


def _prepared(network: "torch.nn.Module", device: "torch.device") -> "torch.nn.Module":
    """The network on the device, in evaluation mode."""
    from torch.nn.parameter import is_lazy

    for name, tensor in (*network.named_parameters(), *network.named_buffers()):
        if tensor.is_meta or is_lazy(tensor):
            raise UserError(
                f"{name} of {type(network).__name__} has no values",
                remedy="load the weights first; a network made on the device 'meta' or with lazy modules has none",
            )
    try:
        return network.to(device).eval()
    except NotImplementedError as error:
        raise UserError(
            f"{type(network).__name__} cannot be set to evaluation mode: {error}",
            remedy="pass the network as it was before torch.export",
        ) from error


def _in_words(shape: tuple[int, ...], layout: Layout) -> str:
    if len(shape) == 2:
        prefix = layout.prefix_tokens
        before = "an unknown number" if prefix is None else prefix
        first = ", the first a class token" if layout.class_token else ""
        tokens = counted(shape[0], "token")
        return f"stimuli × {tokens} × {shape[1]} channels, {before} of them before those of the image{first}"
    if len(shape) == 3 and layout.channels_last is not None:
        names = ("rows", "columns", "channels") if layout.channels_last else ("channels", "rows", "columns")
        return " × ".join(["stimuli", *(f"{size} {name}" for size, name in zip(shape, names, strict=True))])
    sizes = " × ".join(["stimuli", *map(str, shape)])
    return f"{sizes}{'' if len(shape) < 2 else ' values in an unknown layout'}"
