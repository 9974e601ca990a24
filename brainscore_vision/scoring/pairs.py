"""Scores vision models on vision benchmarks; `brainscore_core.runner.scoring` does the work for all domains."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from brainscore_core.domains import domain
from brainscore_core.runner import scoring
from brainscore_core.runner.reproduction import PublishedScore
from brainscore_core.runner.scoring import data_name
from brainscore_core.runner.scoring import verify as verify
from brainscore_vision.catalogue import leaderboard_tree
from brainscore_vision.model_interface import BrainModel

if TYPE_CHECKING:
    from brainscore_core.metrics import Score
    from brainscore_core.receipts.receipt import RunInfo
    from brainscore_core.runner.pair import Outcome
    from brainscore_core.scoring import ResultsStore


def score(
    model_identifier: Any,
    benchmark_identifier: str,
    *,
    results: Any = None,
    identifier: str | None = None,
    isolated: bool = False,
    conda_active: bool | None = None,
    **how: Any,
) -> Score:
    """Score a model on a benchmark.

    Parameters
    ----------
    model_identifier : str, BrainModel, torch.nn.Module or callable
        Key of `model_registry`; a model of a library, such as ``timm:resnet18.a1_in1k``;
        ``path/to/file.py:make_model``; or the model itself, which does not have to be registered: a `BrainModel`, a
        network, an activations model, or a function of images.
    benchmark_identifier : str
        As for :func:`load_benchmark`.
    results : path or ResultsStore, optional
        Where to write the receipt.
    identifier : str, optional
        Name in the results, for a model that is not registered.
    isolated : bool
        Whether the model runs in a process of its own, in an environment with the packages of its
        ``requirements.txt``; the model must be registered or defined in a file.
    conda_active : bool, optional
        Has no effect; accepted for scripts written for brain-score 2.x.
    **how
        For a network or a function: ``layers``, ``region_layer_map``, ``time_mapping``, ``preprocessing``,
        ``visual_degrees``, as for :func:`~brainscore_vision.model_sources.unregistered.to_unregistered_model`. Missing
        layers are determined automatically: blocks or stages of the network, and one is selected for each region.

    Returns
    -------
    Score
        With ``raw``, ``ceiling``, ``error``, ``ci``, ``model_identifier`` and ``benchmark_identifier`` in its
        attributes; NaN if the model cannot do what the benchmark requires.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        The model or benchmark does not exist.
    brainscore_core.errors.UserError
        The object passed is not a model.
    Exception
        Any error of the model or the benchmark; the state in the receipt is then *failed*.

    Examples
    --------
    >>> import numpy as np
    >>> def coarse(images):
    ...     return np.stack([image[::16, ::16].mean(axis=2).ravel() for image in images])
    >>> result = score(coarse, "Simulated2026.V1-rdm")
    >>> bool(result.attrs["ci"][0] < float(result) < result.attrs["ci"][1])
    True
    """
    return run_pair(
        model_identifier, benchmark_identifier, results=results, identifier=identifier, how=how, isolated=isolated
    ).score


def run_pair(
    model_identifier: Any,
    benchmark_identifier: str,
    *,
    results: ResultsStore | str | os.PathLike[str] | None = None,
    identifier: str | None = None,
    how: Mapping[str, Any] | None = None,
    isolated: bool = False,
    cage: Mapping[str, Any] | None = None,
    other_angles: bool = False,
    products: bool = True,
    raise_errors: bool = True,
    run: RunInfo | None = None,
    log: str = "",
) -> Outcome:
    """Score a model on a benchmark, and return the score together with its receipt.

    Parameters
    ----------
    model_identifier, benchmark_identifier, results, identifier, isolated
        See :func:`score`.
    how : mapping, optional
        The further keyword arguments of :func:`score`.
    cage : mapping, optional
        Runs the model isolated and in a sandbox without network: which files the model sees, and its limits
        (``files``, ``memory``, ``processes``, ``scratch``, …). An empty mapping: the defaults.
    other_angles : bool
        Whether to score also at half and double the visual angle of the model: scores without intervals, in
        ``receipt.model.visual_angle``. Stimuli on these screens pass the model, too.
    products : bool
        Whether products of the recorded features are stored in `results`, from which questions are answered later.
    raise_errors, run, log
        As for `brainscore_core.scoring.run_pair`.

    Returns
    -------
    Outcome
        ``score`` and ``receipt``.
    """
    return scoring.run_pair(
        domain("vision"),
        model_identifier,
        benchmark_identifier,
        results=results,
        identifier=identifier,
        how=how,
        isolated=isolated,
        cage=cage,
        other_angles=other_angles,
        products=products,
        raise_errors=raise_errors,
        run=run,
        log=log,
    )


def regions_by_data(benchmarks: Iterable[str]) -> dict[str, list[str]]:
    """Regions that several benchmarks record on the same data, as known from their names and the tree.

    Result: name of the data → regions; only data with several recorded regions.

    Examples
    --------
    >>> regions_by_data(["Simulated2026.V1-pls", "Simulated2026.IT:cka", "MajajHong2015public.IT-pls"])
    {'Simulated2026': ['V1', 'IT']}
    """
    tree = leaderboard_tree()
    names_of: dict[str, set[str]] = {}
    for benchmark in benchmarks:
        names = {*re.split(r"[^A-Za-z0-9]+", benchmark), *(tree.ancestors(benchmark) if benchmark in tree else ())}
        names_of.setdefault(data_name(benchmark), set()).update(names)
    regions = {
        data: [str(region) for region in BrainModel.RecordingTarget if region in names]
        for data, names in names_of.items()
    }
    return {data: names for data, names in regions.items() if len(names) > 1}


def _alexnet(benchmark: str, value: float, tolerance: float) -> PublishedScore:
    return PublishedScore(model="alexnet", benchmark=benchmark, value=value, tolerance=tolerance)


PUBLISHED_SCORES: Final = (
    _alexnet("tong.Coggan2024_fMRI.V1-rdm", 0.0182585, 0.005),
    _alexnet("tong.Coggan2024_fMRI.V2-rdm", 0.3352083, 0.005),
    _alexnet("tong.Coggan2024_fMRI.V4-rdm", 0.3008136, 0.005),
    _alexnet("tong.Coggan2024_fMRI.IT-rdm", 0.4486508, 0.005),
    _alexnet("tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity", 0.1318, 0.001),
    _alexnet("Papale2025.V1-ridgecv", 0.75668312, 0.001),
    _alexnet("Papale2025.V4-ridgecv", 0.57444855, 0.001),
    _alexnet("Papale2025.IT-ridgecv", 0.46021319, 0.001),
    *(
        PublishedScore(model=model, benchmark="Rajalingham2018-i2n", value=value, tolerance=0.005, quantity="raw")
        for model, value in (("alexnet", 0.253), ("pixels", 0.0139))
    ),
)
"""Ten pairs that tests of brainscore-vision 2.4.2 score with the model itself rather than with stored features."""
