"""Readouts that factorise into where and what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, listed
from brainscore_core.metric_helpers.xarray_utils import XarrayRegression
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class FittedMask(NamedTuple):
    """A fitted readout."""

    spatial: Floats  # positions × targets; mask of each target
    depth: Floats  # channels × targets; channel weights of each target
    offset: Floats
    order: Rows  # positions × channels; column of the features at each position and channel

    def predict(self, X: NDArray[Any]) -> Floats:
        """Predict targets from features, stimuli × columns."""
        result = np.tile(self.offset, (len(X), 1))
        for mask, columns in zip(self.spatial, self.order, strict=True):  # a position at a time: never all weights
            result += (X[:, columns] @ self.depth) * mask
        return result


@dataclass(eq=False, kw_only=True)
class MaskRegression:
    """Regression whose weights are a spatial mask times channel weights, for each target [1]_.

    Minimises, target by target, the mean squared error plus λ_s/2 Σ mask² + λ_d/2 Σ weights², by Adam on batches.

    `init_lr`: learning rate at the start. `max_epochs`: passes through the stimuli. `tol`: training ends when the mean
    squared error of an epoch, targets standardised, falls below this; 0: never. `batch_size`: stimuli in a batch. `ls`,
    `ld`: penalties λ_s of the mask and λ_d of the channel weights. `decay_rate`: epochs after which the learning rate
    is divided by 10, again and again. `seed`: of the initial weights and of the order of stimuli.

    Notes
    -----
    Features are centred, and divided by one number, the root of their mean variance. Targets are standardised for the
    fit. A constant target is predicted as its mean.

    The published implementations differ in the form of the penalties. The same settings therefore need not give the
    same numbers as another implementation.

    References
    ----------
    .. [1] Klindt, Ecker, Euler & Bethge (2017). NeurIPS 30. https://arxiv.org/abs/1711.02653
    """

    init_lr: float = 0.01
    max_epochs: int = 40
    tol: float = 0.1
    batch_size: int = 50
    ls: float = 0.1
    ld: float = 0.1
    decay_rate: int = 25
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in ("max_epochs", "batch_size", "decay_rate"):
            if (value := getattr(self, name)) < 1:
                raise UserError(f"{name} is {value}", remedy="pass 1 or more")
        self._order: Rows | None = None

    def arrange(self, order: Rows) -> None:
        """Say which column of the features is at each position (row) and channel (column)."""
        self._order = order

    def fit(self, X: NDArray[Any], Y: NDArray[Any]) -> FittedMask:
        """Fit targets from features.

        `X`: stimuli × columns. `Y`: stimuli × targets. Result: a FittedMask with ``predict(X)``.
        """
        torch = _torch()
        order = np.arange(X.shape[1])[None, :] if self._order is None else self._order
        positions, channels = order.shape
        mean, spread = X.mean(axis=0, dtype=np.float64), float(np.sqrt(X.var(axis=0, dtype=np.float64).mean())) or 1.0
        center, scale = Y.mean(axis=0, dtype=np.float64), Y.std(axis=0, dtype=np.float64)
        varies = scale > 1e-12 * np.abs(center)
        scale = np.where(varies, scale, 1.0)
        features = torch.as_tensor(((X - mean) / spread)[:, order], dtype=torch.float32, device=self.device)
        targets = torch.as_tensor((Y - center) / scale * varies, dtype=torch.float32, device=self.device)
        generator = torch.Generator().manual_seed(self.seed)
        mask, depth = (
            (torch.randn((size, Y.shape[1]), generator=generator) / size**0.5).to(self.device).requires_grad_()
            for size in (positions, channels)
        )
        bias = torch.zeros(Y.shape[1], device=self.device, requires_grad=True)
        optimizer = torch.optim.Adam([mask, depth, bias], lr=self.init_lr)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=self.decay_rate, gamma=0.1)
        for _ in range(self.max_epochs):
            total = 0.0
            for batch in torch.randperm(len(X), generator=generator).to(self.device).split(self.batch_size):
                predicted = torch.einsum("nsc,ct,st->nt", features[batch], depth, mask) + bias
                error = (predicted - targets[batch]).square().mean(dim=0)
                loss = error.sum() + self.ls / 2 * mask.square().sum() + self.ld / 2 * depth.square().sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += float(error.detach().mean()) * len(batch)
            schedule.step()
            if total / len(X) < self.tol:
                break
        spatial, weights, offset = (
            parameter.detach().cpu().numpy().astype(np.float64) for parameter in (mask, depth, bias)
        )
        spatial = spatial * (scale * varies) / spread
        of_mean = np.einsum("sc,ct,st->t", mean[order], weights, spatial)
        return FittedMask(spatial, weights, center + offset * scale * varies - of_mean, order)


class _XarrayMaskRegression(XarrayRegression):
    """Reads positions and channels of the features from their coordinates."""

    def fit(self, source: DataAssembly, target: DataAssembly) -> "XarrayRegression":
        self._regression.arrange(_layout(source))
        return super().fit(source, target)

    def cross_predict(
        self, source: DataAssembly, target: DataAssembly, splits: Sequence[tuple[Rows, Rows]]
    ) -> Iterator[NeuroidAssembly]:
        self._regression.arrange(_layout(source))
        yield from super().cross_predict(source, target, splits)


def mask_regression(**kwargs: Any) -> XarrayRegression:
    """Mask regression of assemblies; the source has the coordinates ``channel``, ``channel_x`` and ``channel_y``."""
    return _XarrayMaskRegression(MaskRegression(**kwargs))


def _layout(source: DataAssembly) -> Rows:
    """Column of the features at each position and channel."""
    table = as_table(source, ("presentation", "neuroid"), role="source")
    names = ("channel_x", "channel_y", "channel")
    x, y, channel = (coord_values(table, name, role="source", dim="neuroid") for name in names)
    (xs, x_codes), (ys, y_codes), (channels, c_codes) = (np.unique(v, return_inverse=True) for v in (x, y, channel))
    cells = (x_codes * len(ys) + y_codes) * len(channels) + c_codes
    n = len(xs) * len(ys) * len(channels)
    if len(cells) != n or len(np.unique(cells)) != n:
        raise MetricInputError(
            f"the source has {len(cells)} features, but {len(xs)} × {len(ys)} positions and {len(channels)} channels "
            f"({listed(channels)}): each channel is needed once at each position",
            remedy="pass all units of one convolutional layer",
        )
    order = np.empty(n, dtype=np.intp)
    order[cells] = np.arange(n)
    return order.reshape(-1, len(channels))


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise UserError("mask_regression needs PyTorch", remedy="pip install 'brainscore[torch]'") from error
    return torch
