"""Activations of PyTorch networks."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper, LayerReader
from brainscore_vision.model_helpers.activations.fingerprints import (
    code_fingerprint,
    fingerprint,
    network_state,
    weights_fingerprint,
)
from brainscore_vision.model_helpers.activations.networks import (
    LayerNames,
    Listener,
    across_devices,
    autocast_type,
    autocasting,
    choose_devices,
    in_float32,
    to_input,
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
    "load_image",
    "load_images",
    "load_preprocess_images",
    "preprocess_images",
]

_AT_ONCE_ON_CPU = 16  # with more, a network's responses exceed the CPU cache, and it becomes slower
_READS_LAYERS = ("get_activations", "get_layer", "register_hook", "_output_layer", "_tensor_to_numpy")


class PytorchWrapper:
    """An activations model of a network: called with stimuli and layers, it returns activations.

    Parameters
    ----------
    model : torch.nn.Module
        The network; it is moved to the device and set to evaluation mode.
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
    **options
        Options of :class:`~brainscore_vision.model_helpers.activations.core.ActivationsExtractorHelper`: ``store``,
        ``dtype``, ``pooling``, ``workers``, ``loader``.

    Notes
    -----
    A layer is a name as in ``named_modules()``, a pattern (``'layer?.0'``), ``'logits'`` (the last module without
    children), or a name with a call number such as ``'IT.output-t1'``: the output of a module in its second call of a
    forward pass. Without a number, the last call is recorded. If a layer returns several tensors, the first is used.

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
        **options: Any,
    ) -> None:
        self._devices = choose_devices(device)
        self._device = self._devices[0]
        self._model = model.to(self._devices[0]).eval()
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
            at_once=_AT_ONCE_ON_CPU * len(self._devices) if device.type == "cpu" else None,
            device=device if device.type == "cuda" else None,
        )
        if self._reads_layers_itself():
            return reader
        names = LayerNames(self._model)
        return replace(reader, recorder=self._recorder, resolve=names.resolve, canonical=names.canonical)

    @property
    def identifier(self) -> Any:
        """Name of the model."""
        return self._extractor.identifier

    @identifier.setter
    def identifier(self, identifier: str) -> None:
        self._extractor.identifier = identifier

    def __call__(self, *args: Any, **kwargs: Any) -> NeuroidAssembly:
        """Return activations; see :meth:`ActivationsExtractorHelper.__call__`."""
        return self._extractor(*args, **kwargs)

    def __repr__(self) -> str:
        return repr(self._model)

    @property
    def model(self) -> "torch.nn.Module":
        """The network."""
        return self._model

    def example_input(self, path: Any) -> "torch.Tensor":
        """Input of the network for one image file, stimuli first, on its device."""
        return to_input(self._model, pixel_values(self._extractor.preprocess([path])))

    def layers(self) -> list[str]:
        """Names of the modules without children, in the network's order."""
        return [
            name
            for name, module in self._model.named_modules(remove_duplicate=False)
            if name and next(module.children(), None) is None
        ]

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
        """Make the recorder of one extraction; its first pass counts how often each module runs."""
        counts: dict[Any, int] = {}

        @contextmanager
        def recorder(layers: Sequence[str]) -> Iterator[Forward]:
            with in_float32(self._device), prepared(layers) as forward:
                yield forward

        @contextmanager
        def prepared(layers: Sequence[str]) -> Iterator[Forward]:
            if counts and len(self._devices) > 1:
                with across_devices(self._model, self._devices, layers, self._run) as forward:
                    yield forward
                return
            # compiling is not worth it for the first stimulus alone
            compile = bool(counts) and bool(self._compile)  # noqa: A001 - as the option
            network = self._compiled() if compile else self._model
            with Listener(self._model, layers, counts, compiled=compile) as listener:

                def forward_one(images: Any, take: TakeOutput) -> None:
                    try:
                        with listener.passing(take):
                            self._run(network, images)
                    except RuntimeError as error:
                        about_layout = any(word in str(error) for word in ("contiguous", "stride"))
                        if counts or not self._channels_last or not about_layout:
                            raise
                        self._channels_last = False  # the network joins axes in the order in which they usually lie
                        with listener.passing(take):
                            self._run(network, images)

                yield forward_one

        return recorder

    def _run(self, network: "torch.nn.Module", images: Any) -> None:
        import torch

        device = next(network.parameters(), torch.empty(0)).device
        network.eval()
        with torch.inference_mode(), autocasting(device, self._autocast):
            network(self._arranged(to_input(network, images)), **self._forward_kwargs)

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
        }
