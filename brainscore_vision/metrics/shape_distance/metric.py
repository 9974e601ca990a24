"""Compare two representations after the best rotation."""

from brainscore_core.metric_helpers.geometry import codes_in_source_order, geometry_score, matched, stimuli_that_vary
from brainscore_core.metric_helpers.uncertainty import units_of_stimuli
from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import shape_similarity
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED

_ENOUGH = 30
"""Stimuli below which the fitted rotation's bias is corrected too badly for an interval that holds what it says."""


class ProcrustesMetric(Metric):
    """Procrustes similarity: how well one representation, rotated, reflected and scaled, falls onto the other [1]_.

    Both are centred and scaled to unit norm. The score is the cosine of the angle between them after the best rotation;
    the angle itself (radians, in [0, π/2]) is the Riemannian shape distance, a metric in the mathematical sense, in
    ``attrs['angle']``.

    `stimulus_groups`: coordinate of the target in whose groups stimuli were drawn: whole groups vary
    (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`).

    Notes
    -----
    In [0, 1]. A rotation is fitted to the very stimuli on which it is judged, so the score is too high where neuroids
    are many and stimuli few; unrelated representations of n stimuli with n neuroids or more each come near 1. Compare
    scores of the same numbers only. ``ci`` is around the score minus that bias (``attrs['bias']``, estimated by leaving
    out groups of stimuli) and need not contain it. ``error`` and ``ci`` (Fisher's z) come from each stimulus's
    influence, stimuli (or their groups) as the independent units; below 30 stimuli there is no ``ci``, as the bias is
    known too badly. NaN with a reason where a side does not vary.

    References
    ----------
    .. [1] Williams, Kunz, Kornblith & Linderman (2021). NeurIPS 34. https://doi.org/10.48550/arXiv.2110.14739

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.random.default_rng(0).standard_normal((10, 6)),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")), "neuroid_id": ("neuroid", list(range(6)))},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> float(ProcrustesMetric()(assembly, 3 * assembly + 1).round(6))
    1.0
    """

    scale = "similarity"
    compares = "recordings"
    from_products = True

    def __init__(self, *, stimulus_groups: str | None = DECLARED) -> None:
        self._stimulus_groups = stimulus_groups

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare `source` and `target`.

        `source`, `target`: presentation × neuroid; with the same ``stimulus_id``, in any order, each once; any numbers
        of neuroids. Result: a Score in [0, 1]; NaN with a reason where undefined. A MetricInputError if the two hold
        different stimuli, a stimulus twice, NaN, or fewer than 3 stimuli.
        """
        pair = matched(source, target, fewest=3, what="a shape")
        stimuli = units_of_stimuli(pair.target, self._stimulus_groups)
        shape = shape_similarity(pair.X, pair.Y, order=codes_in_source_order(pair, stimuli))
        score = geometry_score(
            shape.similarity,
            estimates="Procrustes similarity",
            names={"first representation": "source", "second representation": "target"},
            varied=[stimuli_that_vary(pair, shape.similarity.influence, stimuli)],
            enough=_ENOUGH,
        )
        score.attrs["angle"] = shape.angle
        return score
