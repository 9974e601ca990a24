"""Spearman correlation of the dissimilarities of stimuli, 1 − Pearson correlation of their responses."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from brainscore_core.metric_helpers import rdm
from brainscore_core.metric_helpers.geometry import CrossValidatedGeometry
from brainscore_core.metric_helpers.xarray_utils import Defaults as XarrayDefaults
from brainscore_core.metrics import Score
from brainscore_core.numerics.dissimilarity import square_rdm
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, walk_coords
from brainscore_language.utils.transformations import TestOnlyCrossValidation


class RDM:
    """Dissimilarities of all pairs of presentations, presentation × presentation_right."""

    def __init__(self, neuroid_dim: str = XarrayDefaults.neuroid_dim) -> None:
        self._neuroid_dim = neuroid_dim

    def __call__(self, assembly: DataAssembly) -> DataAssembly:
        """Compute the matrix of an assembly, presentation × neuroid."""
        (stimuli,) = (dim for dim in assembly.dims if dim != self._neuroid_dim)
        matrix = square_rdm(assembly.transpose(stimuli, self._neuroid_dim).values)
        coords = {name: (dims, values) for name, dims, values in walk_coords(assembly) if tuple(dims) == (stimuli,)}
        return DataAssembly(matrix, coords=coords, dims=[stimuli, f"{stimuli}_right"])


class RDMSimilarity:
    """Spearman correlation of the upper triangles of two matrices."""

    def __init__(self, comparison_coord: str = XarrayDefaults.stimulus_coord) -> None:
        self._comparison_coord = comparison_coord

    def __call__(self, rdm_assembly1: DataAssembly, rdm_assembly2: DataAssembly) -> Score:
        """Compare two matrices of the same stimuli, in any order."""
        values = []
        for matrix in (rdm_assembly1, rdm_assembly2):
            order = np.argsort(matrix[self._comparison_coord].values)
            values.append(self._upper(matrix.values[np.ix_(order, order)]))
        return Score(float(spearmanr(*values).statistic))

    def _upper(self, matrix: np.ndarray) -> np.ndarray:
        diagonal = np.diag(matrix)
        if not (np.isclose(diagonal, 0) | np.isnan(diagonal)).all():
            raise ValueError("the diagonal of a matrix of dissimilarities must be 0")
        return matrix[np.triu_indices(len(matrix), k=1)]


class RDMMetric(rdm.RDMMetric):
    """Similarity of the matrices of two assemblies, over all stimuli, whose ``stimulus_id`` are matched."""

    def __init__(
        self, neuroid_dim: str = XarrayDefaults.neuroid_dim, comparison_coord: str = XarrayDefaults.stimulus_coord
    ) -> None:
        super().__init__()


class RDMCrossValidated(CrossValidatedGeometry):
    """Mean of the similarity over ten random 90 % of the stimuli, as published; nothing is fitted.

    Parameters
    ----------
    neuroid_dim, comparison_coord : str
        Names of the dimension of units and of the coordinate that identifies stimuli.
    crossvalidation_kwargs : dict, optional
        Arguments of :class:`~brainscore_language.utils.transformations.TestOnlyCrossValidation`.
    """

    def __init__(
        self,
        neuroid_dim: str = XarrayDefaults.neuroid_dim,
        comparison_coord: str = XarrayDefaults.stimulus_coord,
        crossvalidation_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(RDMMetric(neuroid_dim, comparison_coord))
        options = {"split_coord": comparison_coord, "test_size": 0.9, **(crossvalidation_kwargs or {})}
        self.subsets = TestOnlyCrossValidation(**options)
