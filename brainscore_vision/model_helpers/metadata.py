"""What is known about a model: where it comes from, what it was trained on, under which licence."""

import re
from dataclasses import dataclass

from brainscore_vision.metadata_checks import (
    require_bibtex,
    require_count,
    require_notes,
    require_positive,
    require_texts,
    require_url,
)

__all__ = ["ModelMetadata"]

_FAMILY = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class ModelMetadata:
    """What a model plugin says about a model, in ``METADATA`` of its ``__init__.py``: a dictionary by identifier.

    None always means *not known*, or that there is no such thing; `notes` can say which.

    Parameters
    ----------
    architecture : str or None
        Kind of architecture, in words: ``'convolutional network'``.
    family : str, optional
        Networks that it is one of, in one word of lower case: ``'resnet'``, ``'vit'``.
    parameters : int or None
        Numbers that training set, or would set; 0 where nothing is learned.
    total_parameters : int, optional
        With those that are fixed, such as the filters of a front end; not less than `parameters`.
    size_mb : float, optional
        Memory that its weights take once they are loaded, statistics of normalisation included, in megabytes of 10⁶
        bytes (as its author states it, where it comes from a ``metadata.yml``). The file they come in can be larger.
    image_size : int, optional
        Side of the square image that the network is given, in pixels; None where it takes any.
    training_data : str or None
        What it was trained on; None where it was not trained, or where that is not published (then `notes` say so).
    code_licence : str or None
        Licence of the architecture's code as it is used here (SPDX).
    weights_licence : str or None
        Licence of the weights (SPDX, or a name); None where none is stated, or where there are no weights.
    source : str or None
        URL of the publication or of the release.
    bibtex : str or None
        Citation.
    twin_of : str, optional
        Identifier of the trained model that this one is without training: the same network and layers.
    runnable : bool
        Whether it can be run with what is public. If not, `notes` say what is missing.
    notes : tuple of str
        What a user must know before comparing scores.

    Raises
    ------
    ValueError
        If something is missing or malformed.

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
    code_licence: str | None
    weights_licence: str | None
    source: str | None
    bibtex: str | None
    twin_of: str | None = None
    runnable: bool = True
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_texts(self, "architecture", "family", "training_data", "code_licence", "weights_licence", "twin_of")
        if self.family is not None and _FAMILY.fullmatch(self.family) is None:
            raise ValueError(f"family is {self.family!r}, not one word of lower case such as 'resnet'")
        require_count(self, "parameters", "total_parameters", "image_size")
        if self.total_parameters is not None and self.total_parameters < (self.parameters or 0):
            raise ValueError(f"total_parameters is {self.total_parameters}, of which {self.parameters} are trained")
        require_positive(self, "size_mb", "image_size")
        require_url(self, "source")
        require_bibtex(self)
        require_notes(self, "notes")
        if not self.runnable and not self.notes:
            raise ValueError("runnable is False, and notes do not say what is missing")
