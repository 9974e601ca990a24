"""Share of dimensions that encode a factor."""

import numpy as np
import pandas as pd

from brainscore_core.metric_helpers.alignment import (
    MetricInputError,
    as_table,
    coord_values,
    finite_values,
    listed,
    match_rows,
)
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval, clipped
from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import jackknife_interval
from brainscore_core.numerics.factors import factor_dimensions
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

RESIDUAL = "residual"


class Dimensionality(Metric):
    """Share of a model's dimensions that encode a factor, from pairs of stimuli that share it [1]_ [2]_.

    Pairs that have the same shape, but different textures, tell by how much they covary how many dimensions encode
    shape. A softmax over all factors' covariances, relative to the total variance, and a residual of 1 divides the
    dimensions among them.

    `factor`: value of the coordinate ``factor`` whose share is the score, such as ``'shape'``; or ``'residual'``.

    Notes
    -----
    Pairs are matched by the coordinate ``pair_id``, if both have it; otherwise row i of the first assembly and row i of
    the second are a pair. Dimensions are rounded down to whole ones before
    they are divided by the number of neuroids, as published. A model that does not vary has no share: NaN with a
    reason. The shares of a single factor depend on which other factors there are.

    ``attrs``: ``raw`` (factor and residual, shares), ``dimensions`` (the same, whole dimensions), ``factor_scores``
    (relative covariances), ``unrounded``; ``error`` and ``ci`` from the jackknife over pairs within factors (Student's
    t; none was published), of the share before it is rounded down: pairs are taken as independent, which they are not
    where they share stimuli.
    ``scale``: ``'similarity'``.

    References
    ----------
    .. [1] Islam et al. (2021). ICLR. https://openreview.net/forum?id=NcFEZOi-rLa
    .. [2] Esser, Rombach & Ommer (2020). CVPR, 9223–9232. https://doi.org/10.1109/CVPR42600.2020.00924

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> rng = np.random.default_rng(0)
    >>> one, other = rng.standard_normal((2, 400, 50))
    >>> other[:200] = one[:200]  # pairs of the same shape evoke the same response
    >>> coords = {"factor": ("presentation", np.repeat(["shape", "texture"], 200)),
    ...           "neuroid_id": ("neuroid", np.arange(50))}
    >>> pair = [NeuroidAssembly(x, coords=coords, dims=["presentation", "neuroid"]) for x in (one, other)]
    >>> float(Dimensionality("shape")(*pair)), float(Dimensionality("texture")(*pair))
    (0.42, 0.14)
    """

    scale = "similarity"
    compares = "pairs of stimuli"

    def __init__(self, factor: str) -> None:
        self._factor = factor

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Estimate the share of dimensions.

        `source`, `target`: presentation × neuroid; a model's responses to the first and to the second stimulus of each
        pair, with the coordinate ``factor``. A MetricInputError if the two do not correspond, values are missing or no
        pair has the factor.
        """
        first, second = (
            as_table(assembly, ("presentation", "neuroid"), role=role)
            for assembly, role in ((source, "first assembly"), (target, "second assembly"))
        )
        if first.shape != second.shape:
            raise MetricInputError(
                f"the assemblies are {first.shape} and {second.shape}: row i of both is a pair, with the same neuroids",
                remedy="record the same neuroids for both stimuli of each pair",
            )
        if all("pair_id" in assembly.coords for assembly in (first, second)):
            first = first.isel(
                presentation=match_rows(first, second, "pair_id", roles=("first assembly", "second assembly"))
            )
        factors = coord_values(first, "factor", role="first assembly")
        second_factors = coord_values(second, "factor", role="second assembly")
        if pd.isna(factors).any():
            raise MetricInputError("coordinate 'factor' has missing values", remedy="name what each pair shares")
        differing = np.flatnonzero(factors != second_factors)
        if len(differing):
            raise MetricInputError(
                f"row {differing[0]} is a pair of {listed(factors[differing[:1]])} in the first assembly and of "
                f"{listed(second_factors[differing[:1]])} in the second",
                remedy="bring both into the order of the pairs, or name the pairs in the coordinate 'pair_id'",
            )
        if self._factor not in (RESIDUAL, *factors):
            raise MetricInputError(
                f"no pair has the factor {self._factor!r}; factors: {listed(pd.unique(pd.Series(factors)))}",
                remedy="pass factor=… of one of them",
            )
        result = factor_dimensions(
            finite_values(first, role="first assembly"), finite_values(second, role="second assembly"), factors
        )
        names = [*(str(name) for name in result.factors), RESIDUAL]
        coords = {"factor": ("factor", names)}
        chosen, n = names.index(str(self._factor)), first.sizes["neuroid"]
        undefined = bool(np.isnan(result.shares).any())
        whole = np.full(len(names), np.nan) if undefined else result.dimensions / n
        score = Score(float(whole[chosen]))
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(whole, coords=coords, dims=["factor"]),
            "dimensions": Score(result.dimensions, coords=coords, dims=["factor"]),
            "factor_scores": Score(np.append(result.scores, 1.0), coords=coords, dims=["factor"]),
            "unrounded": float(result.shares[chosen]),
            "scale": self.scale,
        }
        left_out = np.column_stack([result.left_out, 1 - result.left_out.sum(axis=1)])  # the residual has the rest
        values = left_out[:, chosen]
        codes = np.unique(factors, return_inverse=True)[1]
        within = values - (np.bincount(codes, values) / np.bincount(codes))[codes]  # factors' sizes were chosen
        share = float(result.shares[chosen])
        if not undefined:
            attach_influence(score, -(len(within) - 1) * within, units="pairs")
        interval = clipped(jackknife_interval(share, share + within, units="pairs"), low=0.0)
        if undefined:
            interval = interval._replace(reason="the model responds alike to all stimuli")
        elif np.bincount(codes).min() < 2:
            interval = interval._replace(reason="a factor has a single pair")
        return attach_interval(
            score,
            interval,
            units="pairs for these neuroids",
            estimates="share of dimensions before it is rounded down; pairs vary within factors",
        )
