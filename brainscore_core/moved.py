"""Modules that moved: their earlier paths work for one more release, with a ``DeprecationWarning``."""

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "install"]

MOVED = {
    "brainscore_vision._isolated": "brainscore_vision.isolation",
    "brainscore_vision._scorer": "brainscore_vision.scoring",
    **{
        f"brainscore_vision.model_helpers.activations.{library}": (
            "brainscore_vision.model_helpers.activations.pretrained_models"
        )
        for library in ("huggingface", "timm_models", "torchvision_models")
    },
    "brainscore_vision.submitting": "brainscore_vision.submission",
}
"""Earlier and present path of each module that the documentation of version 0.1 or a queued task names."""


class _Alias(Loader):
    """Loads the module from its present path."""

    def __init__(self, path: str) -> None:
        self._path = path

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._module = importlib.import_module(self._path)
        self._spec = self._module.__spec__
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has replaced it by the alias's


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        present = MOVED.get(fullname)
        if present is None:
            return None
        warnings.warn(
            f"{fullname} moved to {present}; the earlier path will be removed", DeprecationWarning, stacklevel=2
        )
        return ModuleSpec(fullname, _Alias(present))


def install() -> None:
    """Make the earlier paths importable; further calls change nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # first, as an update may have left an empty folder at the earlier path
