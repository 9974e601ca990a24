"""Models of Hugging Face's transformers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.activations.transforms import from_settings

__all__ = ["from_huggingface"]


def from_huggingface(
    model: Any, processor: Any = None, identifier: str | None = None, *, preprocessing: Any = None, **options: Any
) -> PytorchWrapper:
    """Make a vision model of transformers an activations model.

    Parameters
    ----------
    model : str or torch.nn.Module
        Name on the hub, or folder (loaded by ``AutoModel``), or the model. Of a model of images and text, pass the
        part for images, such as ``model.vision_model``.
    processor : image processor, mapping, path or None
        What says how images are prepared: the image processor, its settings, or ``preprocessor_config.json``. By
        default the one beside `model`, which must then be a name or folder.
    identifier : str, optional
        Name of the model; by default that on the hub.
    preprocessing : callable, optional
        Instead of `processor`: list of paths → tensor.
    **options
        Of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

    Returns
    -------
    PytorchWrapper
        Of outputs with several tensors the ``last_hidden_state``, else the first, is recorded.

    Raises
    ------
    UserError
        If the preprocessing is not given, or asks for what is not known here.

    Notes
    -----
    Images are resized by Pillow, antialiased. Processors that resize tensors by torchvision differ from it by the
    rounding of 8-bit levels.

    Examples
    --------
    >>> activations_model = from_huggingface("facebook/dinov2-base")  # doctest: +SKIP
    """
    if isinstance(model, str):
        import transformers

        name = model
        identifier = identifier or name.rsplit("/", 1)[-1]
        if preprocessing is None and processor is None:
            from transformers.image_processing_utils import BaseImageProcessor

            processor = BaseImageProcessor.get_image_processor_dict(name)[0]
        model = transformers.AutoModel.from_pretrained(name)
    if preprocessing is None:
        preprocessing = from_settings(_settings(processor))
    return PytorchWrapper(model, preprocessing, identifier or type(model).__name__, **options)


def _settings(processor: Any) -> Mapping[str, Any]:
    if processor is None:
        raise UserError("it is not known how images are prepared", remedy="pass processor or preprocessing")
    if isinstance(processor, Mapping):
        return processor
    if isinstance(processor, str | Path):
        return dict(json.loads(Path(processor).read_text()))
    image_processor = getattr(processor, "image_processor", processor)  # of a processor for images and text
    return dict(image_processor.to_dict())
