"""Packages that tests need and that may be absent."""

from importlib.util import find_spec

import pytest


def require_package(name: str, reason: str) -> None:
    """Skip a module of tests if a package is not installed; unlike `importorskip`, do not import it."""
    if find_spec(name) is None:
        pytest.skip(reason, allow_module_level=True)
