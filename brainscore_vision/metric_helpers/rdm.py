"""Representational dissimilarity matrices of recordings, and how similar two of them are."""

from typing import get_args

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.numerics import compare_rdms, influence_interval, square_rdm
from brainscore_core.numerics.dissimilarity import Dissimilarity, condensed
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_vision.metric_helpers.alignment import as_table, finite_values
from brainscore_vision.metric_helpers.uncertainty import attach_interval


class RDM:
    """Turns recordings into their representational dissimilarity matrix.

    Parameters
    ----------
    dissimilarity : ``'correlation'``, ``'cosine'``, ``'euclidean'`` or ``'sqeuclidean'``
        See :func:`brainscore_core.numerics.rdm`.

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

    def __init__(self, dissimilarity: Dissimilarity = "correlation") -> None:
        self._dissimilarity = known_dissimilarity(dissimilarity)

    def __call__(self, assembly: DataAssembly) -> DataAssembly:
        """Dissimilarities of all pairs of presentations.

        Returns
        -------
        DataAssembly
            presentation × presentation_other; the levels of the second have the prefix ``other_``. NaN in rows and
            columns of presentations to which all neuroids respond alike.
        """
        assembly = as_table(assembly, ("presentation", "neuroid"), role="assembly")
        values = square_rdm(finite_values(assembly, role="assembly"), dissimilarity=self._dissimilarity)
        coords = coords_for_dim(assembly, "presentation")
        second_coords = {f"other_{name}": ("presentation_other", np.asarray(assembly[name].values)) for name in coords}
        return DataAssembly(values, coords=coords | second_coords, dims=["presentation", "presentation_other"])


class RDMSimilarity:
    """Spearman correlation of the upper triangles of two dissimilarity matrices of the same stimuli, in one order."""

    def __call__(self, first: DataAssembly, second: DataAssembly) -> Score:
        """Compare two presentation × presentation matrices.

        Returns
        -------
        Score
            In [−1, 1], with ``error`` and ``ci`` over stimuli.
        """
        similarity = compare_rdms(*(condensed(np.asarray(m.values, dtype=np.float64)) for m in (first, second)))
        score = Score(similarity.value)
        score.attrs[Score.RAW_VALUES_KEY] = Score(similarity.value)
        score.attrs["influence"] = similarity.influence
        interval = influence_interval(similarity.value, similarity.influence, correlation=True)
        if similarity.reason is not None:
            interval = interval._replace(reason=similarity.reason)
        return attach_interval(score, interval, units="stimuli for these neuroids", estimates="correlation of the RDMs")


def known_dissimilarity(dissimilarity: Dissimilarity) -> Dissimilarity:
    """`dissimilarity`, or a ValueError that lists the known ones."""
    if dissimilarity not in get_args(Dissimilarity):
        names = ", ".join(map(repr, get_args(Dissimilarity)))
        raise ValueError(f"unknown dissimilarity {dissimilarity!r}; known: {names}")
    return dissimilarity
