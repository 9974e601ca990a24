"""Metadata of models: architecture, training data, source, licences."""

import re
from dataclasses import dataclass
from typing import Any

from brainscore_core.benchmarks.metadata import (
    METADATA_TABLE,
    require,
    required_fields,
)
from brainscore_core.plugins.tables import read_table

_FAMILY = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class ModelMetadata:
    """Metadata of a model; ``METADATA`` in a plugin's ``__init__.py`` maps model identifiers to such metadata.

    None means *unknown* or *not applicable*; `notes` can state which.

    Parameters
    ----------
    architecture : str or None
        Kind of architecture, in words: ``'convolutional network'``.
    family : str, optional
        Family of networks, one lower-case word: ``'resnet'``, ``'vit'``.
    parameters : int or None
        Number of trainable parameters; 0 if nothing is learned.
    total_parameters : int, optional
        Number of all parameters, including fixed ones such as the filters of a front end; at least `parameters`.
    size_mb : float, optional
        Memory that the loaded weights take, including statistics of normalisation layers, in megabytes (10⁶ bytes); in
        a ``metadata.yml``, as stated by its author. The file with the weights can be larger.
    image_size : int, optional
        Side of the square input image, in pixels; None if the network accepts any size.
    training_data : str or None
        Training data; None if the model was not trained, or its data are not published (as `notes` then state).
    trained_on : tuple of str, optional
        Names of all data sets whose stimuli the weights were trained on, with or without labels; empty if there are
        none, None if they are not known. See :mod:`brainscore_core.training_data`.
    fine_tuned_from : str, optional
        Identifier of the model with whose weights training began; its data sets count, too.
    code_licence : str or None
        SPDX identifier of the licence of the architecture's code in this package.
    weights_licence : str or None
        SPDX identifier or name of the licence of the weights; None if no licence is stated, or there are no weights.
    source : str or None
        URL of the publication or of the release of the model.
    bibtex : str or None
        Citation of the model, as BibTeX.
    discussion : str, optional
        URL of the place where the model is discussed, such as an issue tracker or a forum.
    twin_of : str, optional
        For an untrained model: identifier of the trained model with the same network and layers.
    runnable : bool
        Whether the model can be run with public files. If not, `notes` state what is missing.
    notes : tuple of str
        Information for users who compare scores.

    Raises
    ------
    ValueError
        If a field is missing or malformed.

    Examples
    --------
    >>> ModelMetadata(
    ...     architecture="pixels", parameters=0, training_data=None, code_licence="MIT", weights_licence=None,
    ...     source="https://www.brain-score.org", bibtex="@misc{pixels, title = {Pixels}}", family="pixels",
    ... ).parameters
    0
    """

    architecture: str | None
    family: str | None = None
    parameters: int | None
    total_parameters: int | None = None
    size_mb: float | None = None
    image_size: int | None = None
    training_data: str | None
    trained_on: tuple[str, ...] | None = None
    fine_tuned_from: str | None = None
    code_licence: str | None
    weights_licence: str | None
    source: str | None
    bibtex: str | None
    discussion: str | None = None
    twin_of: str | None = None
    runnable: bool = True
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(self, "text", "architecture", "family", "training_data", "fine_tuned_from")
        require(self, "text", "code_licence", "weights_licence", "twin_of")
        if self.family is not None and _FAMILY.fullmatch(self.family) is None:
            raise ValueError(f"family is {self.family!r}, not one lower-case word such as 'resnet'")
        require(self, "count", "parameters", "total_parameters", "image_size")
        if self.total_parameters is not None and self.total_parameters < (self.parameters or 0):
            raise ValueError(f"total_parameters is {self.total_parameters}, less than parameters ({self.parameters})")
        require(self, "positive", "size_mb", "image_size")
        require(self, "URL", "source", "discussion")
        require(self, "BibTeX", "bibtex")
        require(self, "texts", "trained_on", "notes")
        if self.twin_of is not None and (self.trained_on or self.fine_tuned_from):
            raise ValueError("twin_of is for untrained models, but trained_on or fine_tuned_from is given")
        if not self.runnable and not self.notes:
            raise ValueError("runnable is False, but notes do not say what is missing")


_WHOLE = ("image_size", "parameters", "total_parameters")


def read_metadata(plugin_file: str, *, bibtex: str | None) -> dict[str, ModelMetadata]:
    """Metadata of a plugin's models, from the table ``metadata.csv`` next to a file of the plugin.

    The first column is ``model``, the others are named after fields. Empty cells are unknown; notes are separated by
    ``|``, data sets by ``;``, and ``none`` means no data set; ``runnable`` is ``yes`` or ``no``. `bibtex` is the
    citation of all models.
    """
    result = {}
    for cells in read_table(plugin_file, METADATA_TABLE):
        identifier = cells.pop("model")
        values: dict[str, Any] = dict.fromkeys(required_fields(ModelMetadata))
        values |= {name: _value(name, text) for name, text in cells.items() if text}
        result[identifier] = ModelMetadata(**values | {"bibtex": bibtex})
    return result


def _value(name: str, text: str) -> Any:
    if name == "notes":
        return tuple(text.split("|"))
    if name == "trained_on":
        return () if text == "none" else tuple(text.split(";"))
    if name == "runnable":
        return text == "yes"
    if name == "size_mb":
        return float(text)
    return int(text) if name in _WHOLE else text
