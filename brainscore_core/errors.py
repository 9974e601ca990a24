"""Errors that name the culprit and the remedy, and suggestions of similar names."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Self


class BrainScoreError(Exception):
    """Base of all errors that this project raises on purpose."""


class UserError(BrainScoreError):
    """An error that the user can fix; the command line shows it without a traceback.

    Parameters
    ----------
    message : str
        What is wrong, and where.
    remedy : str, optional
        How to fix it.

    Examples
    --------
    >>> raise UserError("no folder 'stimuli'", remedy="create it, or pass another folder")
    Traceback (most recent call last):
        ...
    brainscore_core.errors.UserError: no folder 'stimuli'
    create it, or pass another folder
    """

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return self.message if not self.remedy else f"{self.message}\n{self.remedy}"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.remedy), self.__dict__

    def line(self) -> str:
        """Message and remedy in one line.

        Examples
        --------
        >>> UserError("no model is named", remedy="name one").line(), UserError("no model is named").line()
        ('no model is named: name one', 'no model is named')
        """
        return ": ".join(filter(None, (self.message, self.remedy)))


class UnknownIdentifier(UserError, KeyError):
    """An identifier that no plugin registers."""


class MissingColumn(UserError, KeyError):
    """A column that a table lacks, or a coordinate that an assembly lacks."""

    @classmethod
    def among(cls, present: Iterable[object], name: str, *, data: str, kind: str) -> Self:
        """Make the error, with suggestions.

        `data` describes the table or assembly; `kind` is ``'column'`` or ``'coordinate'``.

        Examples
        --------
        >>> print(MissingColumn.among(["stimulus_id", "truth"], "Truth", data="the table", kind="column"))
        the table has no column 'Truth'; it has stimulus_id, truth
        'Truth' and 'truth' differ in capitals
        """
        names = [str(column) for column in present]
        near = nearest(name, names, limit=2)
        suggestion = f"did you mean {' or '.join(map(repr, near))}?" if near else None
        message = f"{data} has no {kind} {name!r}; it has {', '.join(names) or 'none'}"
        return cls(message, remedy=spelling_hint([name], names) or suggestion)


class DataUnavailable(UserError):
    """Data that cannot be fetched; the remedy says how to get access to them."""


class NotApplicable(BrainScoreError):
    """A model cannot do what a benchmark requires; the pair is then *not applicable*, neither failed nor 0.

    Parameters
    ----------
    reason : str
        What the model cannot do.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def nearest(name: str, candidates: Iterable[str], *, limit: int = 5) -> list[str]:
    """Suggest the candidates that a user may have meant, the most likely first.

    `name`: the name that the user gave. `candidates`: all valid names. `limit`: the largest number of suggestions.
    Returns names with a similar spelling (case is ignored), then those that contain `name` or are contained in it.

    Examples
    --------
    >>> nearest("alexnt", ["alexnet", "resnet50", "pixels"])
    ['alexnet']
    >>> nearest("Geirhos", ["Geirhos2021edge-error_consistency", "rdm"])
    ['Geirhos2021edge-error_consistency']
    """
    spellings: dict[str, list[str]] = {}
    for candidate in candidates:
        spellings.setdefault(candidate.lower(), []).append(candidate)
    lower = name.lower()
    close = difflib.get_close_matches(lower, spellings, n=limit, cutoff=0.6)
    if len(lower) >= 3:
        close += sorted(
            (spelling for spelling in spellings if lower in spelling or (len(spelling) >= 3 and spelling in lower)),
            key=lambda spelling: (abs(len(spelling) - len(lower)), spelling),
        )
    return [candidate for spelling in dict.fromkeys(close) for candidate in spellings[spelling]][:limit]


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "accents or Unicode form": lambda text: "".join(
        character for character in unicodedata.normalize("NFKD", text) if not unicodedata.combining(character)
    ),
    "capitals": str.casefold,
    "the folder": lambda text: re.split(r"[/\\]", text)[-1],
    "the file name's ending": lambda text: re.sub(r"\.[a-z][a-z0-9]{1,4}\s*$", "", text, flags=re.IGNORECASE),
    # between digits they matter: 1-10 is not 110
    "spaces or punctuation": lambda text: re.sub(r"(?<!\d)[\W_]+|[\W_]+(?!\d)", "", text),
    "plural and singular": lambda text: text.removesuffix("s"),
}
_NUMBER = re.compile(r"\s*([+-]?)0*(\d*)(?:\.(\d*?)0*)?\s*")


def respelled(names: Iterable[object], known: Iterable[object]) -> dict[object, object]:
    """Names that are not known, but are a known name in another spelling.

    Returns unknown name → known name. Spellings differ in capitals, spaces or punctuation, Unicode form, the format of
    numbers, the ending or folder of a file name, or plural.

    Examples
    --------
    >>> respelled(["CAT", "sewing_machine", "0.50", "dog", "car"], ["cat", "sewing machine", 0.5, "dog"])
    {'CAT': 'cat', 'sewing_machine': 'sewing machine', '0.50': 0.5}
    """
    present = dict.fromkeys(known)
    spellings = {_plain(name): name for name in reversed(present)}
    unknown = dict.fromkeys(name for name in names if name not in present)
    return {name: spellings[plain] for name in unknown if (plain := _plain(name)) in spellings}


def spelling_hint(names: Iterable[object], known: Iterable[object]) -> str:
    """Say why no name is known, if it is a matter of spelling; otherwise ``''``.

    Examples
    --------
    >>> spelling_hint(["Cat ", "Dog "], ["cat", "dog"])
    "'Cat ' and 'cat' differ in capitals and spaces or punctuation"
    >>> spelling_hint([0, 1], ["cat", "dog"])
    'the former are numbers, the latter are names'
    """
    names, known = list(names), list(known)
    for name, near_name in respelled(names, known).items():
        # not as np.str_('…')
        shown = [repr(each.item() if hasattr(each, "item") else each) for each in (name, near_name)]
        return f"{' and '.join(shown)} differ in {' and '.join(_differences(name, near_name))}"
    kinds = [{_as_number(name) is not None for name in side} for side in (names, known)]
    if kinds == [{True}, {False}]:
        return "the former are numbers, the latter are names"
    if kinds == [{False}, {True}]:
        return "the former are names, the latter are numbers"
    return ""


def _text(name: object) -> str:
    if isinstance(name, float):  # not as 1e-05
        return format(Decimal(str(name)), "f")
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


def _as_number(name: object) -> str | None:
    """A number in one format, exactly; None for other texts."""
    match = _NUMBER.fullmatch(_text(name))
    if match is None or not any(character.isdigit() for character in match[0]):
        return None
    sign, whole, fraction = match.groups()
    number = f"{whole or '0'}.{fraction}" if fraction else whole or "0"
    return f"-{number}" if sign == "-" and number != "0" else number


def _plain(name: object, without: str | None = None) -> str:
    """A name in plain spelling; `without` one of the steps towards it."""
    number = _as_number(name)
    if number is not None:
        return number
    text = _text(name)
    for step, simplify in _SPELLINGS.items():
        if step != without:
            text = simplify(text) or text
    return text


def _differences(name: object, near_name: object) -> list[str]:
    if isinstance(name, str) != isinstance(near_name, str):
        return ["type (only one is text)"]
    if _as_number(name) is not None:
        return ["the format of numbers"]
    steps = [step for step in _SPELLINGS if _plain(name, without=step) != _plain(near_name, without=step)]
    return steps or ["spelling"]
