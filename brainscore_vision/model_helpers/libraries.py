"""Libraries of architectures (torchvision, timm, transformers), imported when a model is loaded."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from brainscore_core.errors import UserError

_BUILDS = "operator torchvision::"  # in the error of a torchvision that was built for another version of torch


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
        If the library is not installed, or torchvision, which all of them use, was built for another version of torch.

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
    """Make the error that explains why a library cannot be imported."""
    package = name.partition(".")[0]
    if any(_BUILDS in str(cause) for cause in _causes(error)):
        import torch

        return UserError(
            f"{needed_by!r} needs {package}, and the installed torchvision was not built for the installed torch "
            f"{torch.__version__}",
            remedy="install both from the same place: pip install --force-reinstall torch torchvision "
            "--index-url https://download.pytorch.org/whl/cpu (for a GPU, a URL such as …/cu126)",
        )
    return UserError(f"{needed_by!r} needs {package}: {error}", remedy="pip install 'brainscore[models]'")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
