"""Packages that tests need and that may be absent."""

from importlib.util import find_spec

import pytest


def require_package(name: str, reason: str) -> None:
    """Skip a module of tests if a package is not installed; unlike `importorskip`, do not import it."""
    if find_spec(name) is None:
        pytest.skip(reason, allow_module_level=True)


def declare_operators() -> None:
    """Declare two operators, so that a torchvision that was built for another torch can be imported."""
    torch = pytest.importorskip("torch")
    try:
        pytest.importorskip("torchvision")
    except RuntimeError as error:  # declared where they exist, they would end the process
        if "operator torchvision::nms does not exist" not in str(error):
            raise
        for operator in ("nms", "qnms"):
            if not hasattr(torch.ops.torchvision, operator):
                torch.library.define(
                    f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
                )
