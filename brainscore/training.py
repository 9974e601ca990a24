"""Scores of a network while it is trained: a function for training loops, a callback of Lightning, trajectories."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from brainscore_core.domain_names import split_name
from brainscore_core.domains import domain_of
from brainscore_core.errors import UserError
from brainscore_core.identifiers import identifier_problem, series_identifier, series_point

if TYPE_CHECKING:
    import pandas as pd

    from brainscore_core.figures.export import Plot
    from brainscore_core.scoring import ResultsStore

_logger = logging.getLogger(__name__)


class MetricsLogger(Protocol):
    """What scores are logged to; every logger of Lightning has this method."""

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> Any:
        """Log named numbers."""
        ...


class EpochScorer:
    """Scores a network every few epochs; call it at the end of each epoch.

    Parameters
    ----------
    identifier : str
        Name of the model; its scores have the identifiers ``NAME@epoch5``, with a seed ``NAME@seed2@epoch5``.
    benchmarks : str or sequence of str
        Benchmarks to score on.
    every : int
        Number of epochs from one score to the next.
    seed : int, optional
        Seed of the training, if a model is trained repeatedly.
    results : path or ResultsStore, optional
        Where to write the receipts, as for `brainscore.score`.
    loggers : sequence of (str or MetricsLogger)
        ``'wandb'``, ``'mlflow'`` (both log to the active run), ``'tensorboard'`` (writes below ``runs/``), or loggers.
    **how
        Arguments of `brainscore.wrap_model`. Name the layers of regions by ``region_layer_map``; without it, the layers
        that are selected when the network is first scored are used for all epochs.

    Raises
    ------
    UserError
        If an argument is not valid, or a logger is not installed.

    Notes
    -----
    The network keeps its device, its training mode and its random numbers. Activations are stored temporarily. A
    benchmark that fails does not end the training: the failure is logged as a warning, and its receipt is kept.

    Examples
    --------
    >>> scorer = EpochScorer("my-net", "Simulated2026.V1-rdm", every=5, region_layer_map={"V1": "0"})
    >>> for epoch in range(1, 21):  # epochs that are completed
    ...     scorer(network, epoch)  # doctest: +SKIP
    """

    def __init__(
        self,
        identifier: str,
        benchmarks: str | Sequence[str],
        *,
        every: int = 1,
        seed: int | None = None,
        results: ResultsStore | str | os.PathLike[str] | None = None,
        loggers: Sequence[str | MetricsLogger] = (),
        **how: Any,
    ) -> None:
        if every < 1:
            raise UserError(f"every is {every}", remedy="pass the number of epochs between two scores, at least 1")
        if problem := identifier_problem(series_identifier(identifier, seed=seed, epoch=10**6)):
            raise UserError(f"the name of the model is not valid: {problem}", remedy="choose another name")
        named = [benchmarks] if isinstance(benchmarks, str) else list(benchmarks)
        if not named:
            raise UserError("no benchmark is named", remedy="name at least one")
        self._domain = domain_of("benchmark", named[0])
        self._wrap = self._domain.feature("networks in training")
        registry = self._domain.registries["benchmark"]
        self.benchmarks = [registry.resolve(split_name(name)[1]) for name in named]  # before hours of training
        self.identifier, self.every, self.seed = identifier, every, seed
        self._results, self._how = results, how
        self._loggers = [_make_logger(logger) if isinstance(logger, str) else logger for logger in loggers]
        self._network: Any = None
        self._model: Any = None

    def __call__(self, network: Any, epoch: int) -> dict[str, float]:
        """Score the network, the same object in each call, if it is its turn; return the scores by benchmark.

        `epoch` is the number of epochs that are completed, 0 before the training.
        """
        if not hasattr(network, "modules"):
            raise UserError(f"a {type(network).__name__} is not a network", remedy="pass a torch.nn.Module")
        if epoch % self.every:
            return {}
        from brainscore_core.runner.scoring import run_pair, temporary_activations

        scores: dict[str, float] = {}
        metrics: dict[str, float] = {}
        with _undisturbed(network), temporary_activations():
            model = self._wrapped(network)
            for benchmark in self.benchmarks:
                name = series_identifier(self.identifier, seed=self.seed, epoch=epoch)
                receipt = run_pair(
                    self._domain, model, benchmark, results=self._results, identifier=name, raise_errors=False
                ).receipt
                if receipt.score is None or receipt.score.value is None:
                    reason = receipt.reason or (receipt.error.message if receipt.error is not None else receipt.state)
                    _logger.warning("%s has no score on %s: %s", name, benchmark, reason)
                    continue
                scores[benchmark] = receipt.score.value
                low, high = receipt.score.ci or (math.nan, math.nan)
                numbers = {"": receipt.score.value, "/low": low, "/high": high}
                metrics |= {f"brainscore/{benchmark}{end}": n for end, n in numbers.items() if math.isfinite(n)}
        if metrics:
            for logger in self._loggers:
                logger.log_metrics(metrics, epoch)
        return scores

    def _wrapped(self, network: Any) -> Any:
        """The network as a model: once, so that all epochs use the layers that the first one selected."""
        if self._network is not network:
            self._network = network
            self._model = self._wrap(network, identifier=self.identifier, **self._how)
        return self._model


@contextmanager
def _undisturbed(network: Any) -> Iterator[None]:
    """Restore the network's device and modes, and torch's random numbers."""
    import torch

    modes = [(module, module.training) for module in network.modules()]
    parameter = next(network.parameters(), None)
    with torch.random.fork_rng():
        try:
            yield
        finally:
            if parameter is not None:
                network.to(parameter.device)
            for module, training in modes:
                module.training = training


def _make_logger(name: str) -> MetricsLogger:
    factories: dict[str, Callable[[], MetricsLogger]] = {
        "wandb": _WeightsAndBiases,
        "mlflow": _MLflow,
        "tensorboard": _TensorBoard,
    }
    if name not in factories:
        raise UserError(f"there is no logger {name!r}", remedy=f"name one of {', '.join(factories)}, or pass a logger")
    try:
        return factories[name]()
    except ImportError as error:
        raise UserError(f"{name} is not installed: {error}", remedy=f"pip install {name}") from error


class _WeightsAndBiases:
    def __init__(self) -> None:
        import wandb

        self._wandb = wandb

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        if self._wandb.run is None:
            raise UserError("Weights & Biases has no active run", remedy="call wandb.init() before the training")
        # not as the step of the run, which may count batches
        self._wandb.log({**metrics, "brainscore/epoch": step})


class _MLflow:
    def __init__(self) -> None:
        import mlflow

        self._mlflow = mlflow

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        # MLflow allows no colons in names
        self._mlflow.log_metrics({name.replace(":", "."): value for name, value in metrics.items()}, step=step)


class _TensorBoard:
    def __init__(self) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter()

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()


def lightning_callback(scorer: EpochScorer, *, network: str | None = None) -> Any:
    """Make a callback of Lightning that scores before the training and after every few epochs.

    Scores are also logged to the loggers of the trainer. With several processes, the first one scores. `network` is the
    attribute of the `LightningModule` that holds the network; by default the module itself is scored.

    Examples
    --------
    >>> scorer = EpochScorer("my-net", ["Simulated2026.V1-rdm"], every=5)
    >>> callback = lightning_callback(scorer, network="net")  # doctest: +SKIP
    >>> Trainer(max_epochs=20, callbacks=[callback]).fit(module, data)  # doctest: +SKIP
    """
    try:
        from lightning.pytorch import Callback
    except ImportError:
        try:
            from pytorch_lightning import Callback  # type: ignore[assignment,no-redef,unused-ignore] # the older name of the package
        except ImportError as error:
            raise UserError(f"Lightning is not installed: {error}", remedy="pip install lightning") from error

    class ScoreEpochs(Callback):
        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            if trainer.current_epoch == 0:
                self._score(trainer, pl_module, 0)

        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            self._score(trainer, pl_module, trainer.current_epoch + 1)

        def _score(self, trainer: Any, pl_module: Any, epoch: int) -> None:
            if not trainer.is_global_zero:
                return
            if network is not None and not hasattr(pl_module, network):
                raise UserError(
                    f"{type(pl_module).__name__} has no attribute {network!r}", remedy="name the one with the network"
                )
            scores = scorer(pl_module if network is None else getattr(pl_module, network), epoch)
            for logger in trainer.loggers if scores else ():
                named = {f"brainscore/{benchmark}": value for benchmark, value in scores.items()}
                logger.log_metrics({**named, "epoch": epoch}, trainer.global_step)

    return ScoreEpochs()


def trajectory(
    model: str,
    benchmarks: str | Sequence[str] | None = None,
    *,
    results: ResultsStore | str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Scores of one model, named without ``@seed`` and ``@epoch``, over epochs and seeds, from stored receipts.

    By default of all benchmarks that it was scored on. The columns are ``benchmark``, ``seed``, ``epoch``, ``score``,
    ``low``, ``high``, ``identifier``: the newest score of each identifier; a seed or epoch that it lacks is missing.

    Examples
    --------
    >>> trajectory("my-net", results="results")  # doctest: +SKIP
    """
    import pandas as pd

    from brainscore_core.scoring import ResultsStore

    store = results if isinstance(results, ResultsStore) else ResultsStore(results)
    chosen = None if benchmarks is None else {benchmarks} if isinstance(benchmarks, str) else set(benchmarks)
    rows = []
    for identifier, benchmark in store.pairs():
        point = series_point(identifier)
        if point.model != model or (chosen is not None and benchmark not in chosen):
            continue
        receipt = store.latest(identifier, benchmark)
        if receipt is None or receipt.score is None or receipt.score.value is None:
            continue
        low, high = receipt.score.ci or (None, None)
        rows.append((benchmark, point.seed, point.epoch, receipt.score.value, low, high, identifier))
    if not rows:
        raise UserError(
            f"{model!r} has no scores in {store.address}",
            remedy="score it during training with brainscore.training.EpochScorer, or name another model",
        )
    columns = ["benchmark", "seed", "epoch", "score", "low", "high", "identifier"]
    frame = pd.DataFrame(rows, columns=columns).astype({"seed": "Int64", "epoch": "Int64", "low": float, "high": float})
    return frame.sort_values(["benchmark", "seed", "epoch"], ignore_index=True)


def plot_trajectory(frame: pd.DataFrame, path: str | os.PathLike[str] | None = None) -> Plot:
    """Draw scores over epochs with their intervals: a line for each benchmark and seed.

    `frame` is from :func:`trajectory`. Scores without an epoch are left out; if no score has one, scores are drawn over
    seeds. Notebooks show the returned figure; with `path` it is written as SVG, PNG or PDF.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     [("A-x", pd.NA, 0, 0.1, 0.0, 0.2, "net@epoch0"), ("A-x", pd.NA, 5, 0.3, 0.2, 0.4, "net@epoch5")],
    ...     columns=["benchmark", "seed", "epoch", "score", "low", "high", "identifier"],
    ... )
    >>> plot_trajectory(frame)
    <Plot 'Scores of net during training'; save('figure.png') writes it as PNG, SVG or PDF>
    """
    from brainscore_core.figures import StateScore, training_plot
    from brainscore_core.figures.export import Plot

    columns = [frame[name].tolist() for name in ("benchmark", "identifier", "score", "low", "high")]
    scores = [StateScore(*row) for row in zip(*columns, strict=True)]
    drawn = training_plot(scores)
    if drawn is None:
        raise UserError("no score has an epoch or a seed", remedy="score the model during training: EpochScorer")
    plot = Plot(drawn, f"Scores of {series_point(scores[0].identifier).model} during training")
    if path is not None:
        if Path(path).suffix.lower() not in {".png", ".svg", ".pdf"}:
            raise UserError(
                f"cannot write a plot as {Path(path).name!r}", remedy="use the extension .png, .svg or .pdf"
            )
        plot.save(path)
    return plot
