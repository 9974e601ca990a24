"""Compare the geometry of two representations by centred kernel alignment."""

from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import cka, influence_interval
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.alignment import MetricInputError, as_table, finite_values, match_rows
from brainscore_vision.metric_helpers.uncertainty import attach_interval

__all__ = ["CKAMetric"]

_DIMS = ("presentation", "neuroid")


class CKAMetric(Metric):
    """Centred kernel alignment with linear kernels, invariant to rotation and overall scale of either side.

    Parameters
    ----------
    unbiased : bool
        Whether HSIC is estimated without bias (Song 2012), which keeps wide representations of few stimuli from
        approaching 1 [2]_; otherwise the plain estimate [1]_.

    Notes
    -----
    Needs at least 4 stimuli (2 for the plain estimate). Where one side does not vary over stimuli, or its unbiased
    self-similarity is not positive, the score is NaN with a reason; the existing platform returns 0 there.
    ``error`` and ``ci`` (Fisher's z) come from the jackknife over stimuli, exact; neuroids are kept.
    ``attrs['influence']`` has each stimulus's part in it.

    References
    ----------
    .. [1] Kornblith et al. (2019). ICML. https://doi.org/10.48550/arXiv.1905.00414
    .. [2] Murphy, Zylberberg & Fyshe (2024). https://doi.org/10.48550/arXiv.2405.01012

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.random.default_rng(0).standard_normal((10, 6)),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")), "neuroid_id": ("neuroid", list(range(6)))},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> float(CKAMetric()(assembly, 3 * assembly + 1).round(6))
    1.0
    """

    scale = "similarity"

    def __init__(self, *, unbiased: bool = True) -> None:
        self.unbiased = unbiased

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare `source` and `target`.

        Parameters
        ----------
        source, target : NeuroidAssembly, presentation × neuroid
            With the same ``stimulus_id``, in any order, each once.

        Returns
        -------
        Score
            At most 1; NaN with a reason where undefined.

        Raises
        ------
        MetricInputError
            If the two hold different stimuli or NaN, or too few stimuli.
        """
        source, target = (as_table(a, _DIMS, role=role) for a, role in ((source, "source"), (target, "target")))
        order = match_rows(source, target)
        fewest = 4 if self.unbiased else 2
        if len(order) < fewest:
            raise MetricInputError(f"{len(order)} stimuli are too few for CKA", remedy=f"use at least {fewest} stimuli")
        Y = finite_values(target, role="target")
        X = finite_values(source, role="source")
        # the target is put into the source's order, which leaves the wide features where they are
        in_source_order = Y.copy()
        in_source_order[order] = Y
        similarity = cka(X, in_source_order, unbiased=self.unbiased)
        score = Score(similarity.value)
        score.attrs[Score.RAW_VALUES_KEY] = Score(similarity.value)
        score.attrs["scale"] = self.scale
        score.attrs["influence"] = DataAssembly(
            similarity.influence, coords={"stimulus_id": ("presentation", source["stimulus_id"].values)},
            dims=["presentation"],
        )  # fmt: skip
        interval = influence_interval(similarity.value, similarity.influence, correlation=True)
        if similarity.reason is not None:
            reason = similarity.reason.replace("first representation", "source").replace(
                "second representation", "target"
            )
            interval = interval._replace(reason=reason)
        elif interval.reason is not None:
            interval = interval._replace(reason="too few stimuli, or undefined when one of them is left out")
        return attach_interval(score, interval, estimates="CKA; stimuli vary, neuroids are kept")
