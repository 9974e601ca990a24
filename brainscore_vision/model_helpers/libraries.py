"""Libraries that hold architectures (torchvision, timm, transformers), imported when a model is loaded."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from brainscore_core.errors import UserError

__all__ = ["library", "unusable"]

_BUILDS = "operator torchvision::"  # what torchvision says where it was built for another torch


def library(name: str, *, needed_by: str) -> Any:
    """Import a module of a library.

    Parameters
    ----------
    name : str
        Module, such as ``'torchvision.models'``.
    needed_by : str
        Identifier of the model, for the message.

    Returns
    -------
    module

    Raises
    ------
    UserError
        If the library is not installed, or torchvision, which all of them use, was built for another torch.

    Examples
    --------
    >>> library("json", needed_by="my-model").dumps([1])
    '[1]'
    """
    try:
        return import_module(name)
    except (ImportError, RuntimeError) as error:
        raise unusable(name, needed_by, error) from error


def unusable(name: str, needed_by: str, error: Exception) -> UserError:
    """Explain why a library cannot be imported."""
    package = name.partition(".")[0]
    if any(_BUILDS in str(cause) for cause in _causes(error)):
        import torch

        return UserError(
            f"{needed_by!r} needs {package}, and the installed torchvision was not built for the installed torch "
            f"{torch.__version__}",
            remedy="install both from the same place: pip install --force-reinstall torch torchvision "
            "--index-url https://download.pytorch.org/whl/cpu (or …/cu126 and its like for a GPU)",
        )
    return UserError(f"{needed_by!r} needs {package}: {error}", remedy="pip install 'brainscore[models]'")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
