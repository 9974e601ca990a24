"""Representational similarity analysis."""

from collections.abc import Mapping
from typing import Any

from brainscore_core.metric_helpers.geometry import CrossValidatedGeometry
from brainscore_core.metric_helpers.rdm import Comparison, RDMMetric
from brainscore_vision import metric_registry

from .noise import NoiseNormalisedRDMMetric


def _cross_validated(
    *, crossvalidation_kwargs: Mapping[str, Any] | None = None, **kwargs: Any
) -> CrossValidatedGeometry:
    return CrossValidatedGeometry(RDMMetric(**kwargs), crossvalidation_kwargs=crossvalidation_kwargs)


def _mahalanobis(*, comparison: Comparison = "spearman", repetition_coord: str = "repetition") -> Any:
    return NoiseNormalisedRDMMetric(
        crossvalidated=False, comparison=comparison, repetition_coord=repetition_coord
    )  # fmt: skip


def _crossnobis(*, comparison: Comparison = "spearman", repetition_coord: str = "repetition") -> Any:
    return NoiseNormalisedRDMMetric(comparison=comparison, repetition_coord=repetition_coord)


metric_registry["rdm"] = RDMMetric
metric_registry["rdm_cv"] = _cross_validated
metric_registry["rdm_cosine"] = lambda *, device=None: RDMMetric(dissimilarity="cosine", device=device)
metric_registry["rdm_euclidean"] = lambda *, device=None: RDMMetric(dissimilarity="euclidean", device=device)
metric_registry["rdm_whitened"] = lambda *, device=None: RDMMetric(
    dissimilarity="sqeuclidean", comparison="whitened", device=device
)
metric_registry["rdm_mahalanobis"] = _mahalanobis
metric_registry["rdm_crossnobis"] = _crossnobis
metric_registry["rdm_crossnobis_whitened"] = lambda *, repetition_coord="repetition": _crossnobis(
    comparison="whitened", repetition_coord=repetition_coord
)

BIBTEX = """@article{kriegeskorte2008representational,
  title={Representational similarity analysis -- connecting the branches of systems neuroscience},
  author={Kriegeskorte, Nikolaus and Mur, Marieke and Bandettini, Peter A},
  journal={Frontiers in Systems Neuroscience},
  volume={2},
  pages={4},
  year={2008},
  doi={10.3389/neuro.06.004.2008}
}

@article{walther2016reliability,
  title={Reliability of dissimilarity measures for multi-voxel pattern analysis},
  author={Walther, Alexander and Nili, Hamed and Ejaz, Naveed and Alink, Arjen and Kriegeskorte, Nikolaus and
    Diedrichsen, J{\\"o}rn},
  journal={NeuroImage},
  volume={137},
  pages={188--200},
  year={2016},
  doi={10.1016/j.neuroimage.2015.12.012}
}

@article{diedrichsen2021comparing,
  title={Comparing representational geometries using whitened unbiased-distance-matrix similarity},
  author={Diedrichsen, J{\\"o}rn and Berlot, Eva and Mur, Marieke and Sch{\\"u}tt, Heiko H and Shahbazi, Mahdiyar
    and Kriegeskorte, Nikolaus},
  journal={Neurons, Behavior, Data Analysis, and Theory},
  volume={5},
  number={3},
  year={2021},
  doi={10.51628/001c.27664}
}"""
