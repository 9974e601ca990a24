"""Compare which stimuli evoke similar patterns of responses."""

import numpy as np

from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import compare_rdms, influence_interval, rdm
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_vision.metric_helpers.alignment import MetricInputError, as_table, finite_values, match_rows
from brainscore_vision.metric_helpers.uncertainty import attach_interval

__all__ = ["RDM", "RDMMetric", "RDMSimilarity"]

_DIMS = ("presentation", "neuroid")


class RDM:
    """Turns recordings into their representational dissimilarity matrix: 1 − Pearson correlation of stimuli.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]],
    ...     coords={"stimulus_id": ("presentation", list("abc")), "neuroid_id": ("neuroid", [0, 1, 2])},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> RDM()(assembly).values.round(6).tolist()
    [[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    """

    def __call__(self, assembly: DataAssembly) -> DataAssembly:
        """Dissimilarities of all pairs of presentations.

        Returns
        -------
        DataAssembly
            presentation × presentation_other; the levels of the second have the prefix ``other_``. NaN in rows and
            columns of presentations to which all neuroids respond alike.
        """
        from scipy.spatial.distance import squareform

        assembly = as_table(assembly, _DIMS, role="assembly")
        values = squareform(rdm(finite_values(assembly, role="assembly")), checks=False)
        coords = coords_for_dim(assembly, "presentation")
        other = {f"other_{name}": ("presentation_other", np.asarray(assembly[name].values)) for name in coords}
        return DataAssembly(values, coords=coords | other, dims=["presentation", "presentation_other"])


class RDMSimilarity:
    """Spearman correlation of the upper triangles of two dissimilarity matrices of the same stimuli, in one order."""

    def __call__(self, first: DataAssembly, second: DataAssembly) -> Score:
        """Compare two presentation × presentation matrices.

        Returns
        -------
        Score
            In [−1, 1], with ``error`` and ``ci`` over stimuli.
        """
        from scipy.spatial.distance import squareform

        return _score(*(squareform(np.asarray(m.values), checks=False) for m in (first, second)), names=None)


class RDMMetric(Metric):
    """Representational similarity: whether the same pairs of stimuli evoke similar responses in model and brain.

    Spearman correlation of the upper triangles of the two representational dissimilarity matrices, each 1 − Pearson
    correlation between the responses to two stimuli [1]_.

    Notes
    -----
    ``error`` and ``ci`` (Fisher's z) come from each stimulus's influence on the correlation, with stimuli as the
    independent units: what a bootstrap over stimuli that leaves out pairs of a stimulus with itself estimates [2]_,
    without its random numbers. Recordings are taken as they are; the neuroids' own sampling is not in it.
    ``attrs['influence']`` keeps it (presentation), so that two models' difference can be tested on the same stimuli.
    A stimulus to which all neuroids (or features) respond alike has no dissimilarities: the score is NaN with a
    reason. NaN in the input is an error.

    References
    ----------
    .. [1] Kriegeskorte et al. (2008). Frontiers in Systems Neuroscience 2, 4. https://doi.org/10.3389/neuro.06.004.2008
    .. [2] Nili et al. (2014). PLOS Computational Biology 10, e1003553. https://doi.org/10.1371/journal.pcbi.1003553

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.random.default_rng(0).standard_normal((10, 6)),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")), "neuroid_id": ("neuroid", list(range(6)))},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> float(RDMMetric()(assembly, 3 * assembly + 1).round(6))
    1.0
    """

    scale = "similarity"

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare the geometries of `source` and `target`.

        Parameters
        ----------
        source, target : NeuroidAssembly, presentation × neuroid
            With the same ``stimulus_id``, in any order, each once.

        Returns
        -------
        Score
            In [−1, 1]; NaN with a reason where undefined.

        Raises
        ------
        MetricInputError
            If the two hold different stimuli or NaN, or fewer than three stimuli.
        """
        source, target = (as_table(a, _DIMS, role=role) for a, role in ((source, "source"), (target, "target")))
        order = match_rows(source, target)
        if len(order) < 3:
            raise MetricInputError(f"{len(order)} stimuli have no geometry to compare", remedy="use at least 3 stimuli")
        ours = rdm(finite_values(target, role="target"))
        theirs = rdm(finite_values(source, role="source"))
        if not np.array_equal(order, np.arange(len(order))):
            theirs = _reordered(theirs, order)
        score = _score(theirs, ours, names=("source", "target"))
        score.attrs["influence"] = DataAssembly(
            score.attrs["influence"], coords={"stimulus_id": ("presentation", target["stimulus_id"].values)},
            dims=["presentation"],
        )  # fmt: skip
        score.attrs["scale"] = self.scale
        return score


def _score(first: np.ndarray, second: np.ndarray, *, names: tuple[str, str] | None) -> Score:
    similarity = compare_rdms(first, second)
    score = Score(similarity.value)
    score.attrs[Score.RAW_VALUES_KEY] = Score(similarity.value)
    score.attrs["influence"] = similarity.influence
    interval = influence_interval(similarity.value, similarity.influence, correlation=True)
    if similarity.reason is not None:
        reason = similarity.reason
        for which, name in zip(("first", "second"), names or (), strict=False):
            reason = reason.replace(f"the {which} RDM", f"the RDM of the {name}")
        interval = interval._replace(reason=reason)
    return attach_interval(score, interval, estimates="correlation of the RDMs; stimuli vary, neuroids are kept")


def _reordered(condensed: np.ndarray, order: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import squareform

    return np.asarray(squareform(squareform(condensed, checks=False)[np.ix_(order, order)], checks=False))
