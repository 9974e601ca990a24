"""Linear readouts of an image's object."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

WEIGHT_DECAY = 0.463
"""Published L2 penalty: this times half the sum of squared weights is added to the mean cross-entropy."""

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class Readout(Protocol):
    """What :class:`~brainscore_vision.metrics.ost.OSTCorrelation` asks of a readout."""

    def fit(self, X: Floats, y: Codes) -> Any:
        """Fit labels `y` (numbers from 0 on) from `X`, stimuli × features."""

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities, stimuli × labels."""


class SoftmaxReadout:
    """Softmax regression trained by Adam, as published.

    `seed`: of the initial weights (Xavier) and of the batches' order. `device`: where torch computes, such as
    ``'cuda'``.

    Notes
    -----
    Features are z-scored with the training stimuli's mean and standard deviation; constant ones are only centred.
    Training ends after `epochs`, before the optimum: see :class:`LogisticReadout` for that.
    """

    def __init__(
        self,
        *,
        learning_rate: float = 1e-4,
        epochs: int = 40,
        batch_size: int = 64,
        weight_decay: float = WEIGHT_DECAY,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        self._learning_rate = learning_rate
        self._epochs = epochs
        self._batch_size = batch_size
        self._weight_decay = weight_decay
        self._seed = seed
        self._device = device

    def fit(self, X: Floats, y: Codes) -> "SoftmaxReadout":
        """Fit labels from features."""
        torch = _torch()
        self._mean, self._scale = _moments(X)
        features = torch.as_tensor((X - self._mean) / self._scale, dtype=torch.float32, device=self._device)
        labels = torch.as_tensor(np.asarray(y, dtype=np.int64), device=self._device)
        generator = torch.Generator().manual_seed(self._seed)
        p, k = X.shape[1], int(y.max()) + 1
        bound = (6 / (p + k)) ** 0.5
        initial = (2 * torch.rand((p, k), generator=generator) - 1) * bound
        weights = initial.to(self._device).requires_grad_()
        bias = torch.zeros(k, device=self._device, requires_grad=True)
        optimizer = torch.optim.Adam([weights, bias], lr=self._learning_rate)
        for _ in range(self._epochs):
            order = torch.randperm(len(labels), generator=generator).to(self._device)
            for batch in order.split(self._batch_size):
                loss = torch.nn.functional.cross_entropy(features[batch] @ weights + bias, labels[batch])
                loss = loss + self._weight_decay / 2 * weights.square().sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        self._weights = weights.detach().cpu().numpy().astype(np.float64)
        self._bias = bias.detach().cpu().numpy().astype(np.float64)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities, stimuli × labels."""
        from scipy.special import softmax

        logits = (X - self._mean) / self._scale @ self._weights + self._bias
        return np.asarray(softmax(logits, axis=1))


class LogisticReadout:
    """The optimum that :class:`SoftmaxReadout` tends to: multinomial logistic regression by scikit-learn.

    `weight_decay`: penalty, as for :class:`SoftmaxReadout`.
    """

    def __init__(self, *, weight_decay: float = WEIGHT_DECAY) -> None:
        self._weight_decay = weight_decay

    def fit(self, X: Floats, y: Codes) -> "LogisticReadout":
        """Fit labels from features."""
        from sklearn.linear_model import LogisticRegression

        self._mean, self._scale = _moments(X)
        self._n_labels = int(y.max()) + 1
        model = LogisticRegression(C=1 / (self._weight_decay * len(X)), max_iter=1000, tol=1e-6)
        self._model = model.fit((X - self._mean) / self._scale, y)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities, stimuli × labels; 0 for a label that was not fitted."""
        result = np.zeros((len(X), self._n_labels))
        result[:, self._model.classes_] = self._model.predict_proba((X - self._mean) / self._scale)
        return result


def make_readout(name: str, *, seed: int, device: str) -> Readout:
    """A readout by name, ``'softmax'`` or ``'logistic'``."""
    if name == "softmax":
        return SoftmaxReadout(seed=seed, device=device)
    if name == "logistic":
        return LogisticReadout()
    raise UserError(f"unknown readout {name!r}", remedy="pass 'softmax', 'logistic', or a function that makes one")


def _moments(X: Floats) -> tuple[Floats, Floats]:
    scale = X.std(axis=0)
    mean = X.mean(axis=0)
    return mean, np.where(scale > 1e-12 * np.abs(mean), scale, 1.0)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise UserError(
            "the published readout needs PyTorch",
            remedy="pip install 'brainscore[torch]', or use load_metric('ost', readout='logistic')",
        ) from error
    return torch
