"""Errors that name the culprit and the remedy, and suggestions of similar names."""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

__all__ = [
    "BrainScoreError",
    "DataUnavailable",
    "NotApplicable",
    "UnknownIdentifier",
    "UserError",
    "checks_arguments",
    "nearest",
]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


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


class UnknownIdentifier(UserError, KeyError):
    """An identifier that no plugin registers."""


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

    Parameters
    ----------
    name : str
        The name that the user gave.
    candidates : iterable of str
        All valid names.
    limit : int, optional
        The largest number of suggestions.

    Returns
    -------
    list of str
        Names with a similar spelling (case is ignored), then those that contain `name` or are contained in it.

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
            (known for known in spellings if lower in known or (len(known) >= 3 and known in lower)),
            key=lambda known: (abs(len(known) - len(lower)), known),
        )
    return [candidate for known in dict.fromkeys(close) for candidate in spellings[known]][:limit]


def checks_arguments(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a function that users call with many arguments: wrong ones are a UserError that names the right ones.

    Examples
    --------
    >>> @checks_arguments
    ... def load(identifier, sha1=None): ...
    >>> load("a", sha_1="0")
    Traceback (most recent call last):
        ...
    brainscore_core.errors.UserError: load has no argument 'sha_1'
    did you mean 'sha1'? Its arguments are identifier, sha1.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise _argument_error(function.__name__, signature, kwargs, error) from None
        return function(*args, **kwargs)

    return checked


def _argument_error(name: str, signature: inspect.Signature, given: Iterable[str], error: TypeError) -> UserError:
    arguments = f"Its arguments are {', '.join(signature.parameters)}."
    for argument in given:
        if argument not in signature.parameters:
            near = nearest(argument, signature.parameters, limit=2)
            hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
            return UserError(f"{name} has no argument {argument!r}", remedy=hint + arguments)
    return UserError(f"{name}: {error}", remedy=arguments)
