"""What is known about a model: where it comes from, what it was trained on, under which licence."""

from dataclasses import dataclass

__all__ = ["ModelMetadata"]


@dataclass(frozen=True, kw_only=True)
class ModelMetadata:
    """What a model plugin says about a model, in ``METADATA`` of its ``__init__.py``: a dictionary by identifier.

    Parameters
    ----------
    architecture : str
        Family of the architecture, in words.
    parameters : int
        Numbers that training set, or would set; 0 where nothing is learned.
    training_data : str or None
        What it was trained on; None where it was not trained, or where that is not published (then `notes` say so).
    code_licence : str
        Licence of the architecture's code as it is used here (SPDX).
    weights_licence : str or None
        Licence of the weights (SPDX, or a name); None where none is stated, or where there are no weights.
    source : str
        URL of the publication or of the release.
    bibtex : str
        Citation.
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
    ...     source="https://www.brain-score.org", bibtex="@misc{pixels, title = {Pixels}}",
    ... ).parameters
    0
    """

    architecture: str
    parameters: int
    training_data: str | None
    code_licence: str
    weights_licence: str | None
    source: str
    bibtex: str
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("architecture", "training_data", "code_licence", "weights_licence"):
            value = getattr(self, name)
            if value is not None and not value.strip():
                raise ValueError(f"{name} is empty")
        if self.parameters < 0:
            raise ValueError(f"parameters is {self.parameters}")
        if not self.source.startswith(("https://", "http://")):
            raise ValueError(f"source {self.source!r} is no URL")
        if not self.bibtex.lstrip().startswith("@") or self.bibtex.count("{") != self.bibtex.count("}"):
            raise ValueError(f"bibtex is no entry: {self.bibtex[:60]!r}")
