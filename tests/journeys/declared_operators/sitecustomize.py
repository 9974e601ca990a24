"""Declares two operators, so that a torchvision that was built for another torch can be imported.

Python runs this file at its start if the folder is in ``PYTHONPATH``. Only where ``import torchvision`` fails with
``operator torchvision::nms does not exist``; elsewhere the operators would be declared twice.
"""

import torch

for operator in ("nms", "qnms"):
    torch.library.define(f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
