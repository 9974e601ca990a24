import numpy as np
from scipy.stats import pearsonr

from brainscore_core import Metric, Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


class LabCorrelation(Metric):
    def __call__(self, assembly1: DataAssembly, assembly2: DataAssembly) -> Score:
        assembly1, assembly2 = assembly1.sortby("stimulus_id"), assembly2.sortby("stimulus_id")
        assert (assembly1["stimulus_id"].values == assembly2["stimulus_id"].values).all()
        correlation, p = pearsonr(assembly1.values.mean(axis=1), assembly2.values.mean(axis=1))
        score = Score(np.abs(correlation))
        score.attrs["p"] = p
        score.attrs["raw"] = correlation
        score.attrs["error"] = 0.0
        return score
