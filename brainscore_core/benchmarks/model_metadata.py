"""Metadata of models: architecture, training data, source, licences."""

import re
from dataclasses import dataclass
from typing import Annotated

from brainscore_core.benchmarks.metadata import (
    METADATA_TABLE,
    Citation,
    Count,
    Metadata,
    Positive,
    Text,
    Texts,
    Url,
    ValueKind,
)
from brainscore_core.plugins.tables import read_table

_FAMILY_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_FAMILY = ValueKind(
    "one lower-case word such as 'resnet'", lambda text: isinstance(text, str) and bool(_FAMILY_NAME.fullmatch(text))
)
_YES_OR_NO = ValueKind("True or False", lambda value: isinstance(value, bool), lambda text: text == "yes")
_SIZE = ValueKind("a positive whole number", lambda number: type(number) is int and number > 0, int)


@dataclass(frozen=True, kw_only=True)
class ModelMetadata(Metadata):
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

    architecture: Text
    family: Annotated[Text, _FAMILY] = None
    parameters: Count
    total_parameters: Count = None
    size_mb: Positive = None
    image_size: Annotated[int | None, _SIZE] = None
    training_data: Text
    trained_on: Annotated[tuple[str, ...] | None, ValueKind.texts(";")] = None
    fine_tuned_from: Text = None
    code_licence: Text
    weights_licence: Text
    source: Url
    bibtex: Citation
    discussion: Url = None
    twin_of: Text = None
    runnable: Annotated[bool, _YES_OR_NO] = True
    notes: Texts = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.total_parameters is not None and self.total_parameters < (self.parameters or 0):
            raise ValueError(f"total_parameters is {self.total_parameters}, less than parameters ({self.parameters})")
        if self.twin_of is not None and (self.trained_on or self.fine_tuned_from):
            raise ValueError("twin_of is for untrained models, but trained_on or fine_tuned_from is given")
        if not self.runnable and not self.notes:
            raise ValueError("runnable is False, but notes do not say what is missing")


def read_metadata(plugin_file: str, *, bibtex: str | None) -> dict[str, ModelMetadata]:
    """Metadata of a plugin's models, from the table ``metadata.csv`` next to a file of the plugin.

    The first column is ``model``, the others are named after fields. Empty cells are unknown; notes are separated by
    ``|``, data sets by ``;``, and ``none`` means no data set; ``runnable`` is ``yes`` or ``no``. `bibtex` is the
    citation of all models.
    """
    rows = ((cells.pop("model"), cells) for cells in read_table(plugin_file, METADATA_TABLE))
    return {identifier: ModelMetadata.of(cells, bibtex=bibtex) for identifier, cells in rows}
