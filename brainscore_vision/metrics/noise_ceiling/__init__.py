"""Noise ceilings from signal-to-noise ratios and from other subjects."""

from brainscore_vision import metric_registry

from .ceiling import InterSubjectConsistency, NoiseCeilingSNR

metric_registry["ncsnr"] = NoiseCeilingSNR
metric_registry["inter_subject"] = InterSubjectConsistency

BIBTEX = """@article{allen2022massive,
  title={A massive 7T fMRI dataset to bridge cognitive neuroscience and artificial intelligence},
  author={Allen, Emily J. and St-Yves, Ghislain and Wu, Yihan and Breedlove, Jesse L. and Prince, Jacob S. and
    Dowdle, Logan T. and Nau, Matthias and Caron, Brad and Pestilli, Franco and Charest, Ian and Hutchinson, J. Benjamin
    and Naselaris, Thomas and Kay, Kendrick},
  journal={Nature Neuroscience},
  volume={25},
  pages={116--126},
  year={2022},
  doi={10.1038/s41593-021-00962-x}
}"""
