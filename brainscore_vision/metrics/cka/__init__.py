"""Centred kernel alignment."""

from brainscore_vision import metric_registry

from .metric import CKAMetric

metric_registry["cka"] = CKAMetric
metric_registry["cka_biased"] = lambda: CKAMetric(unbiased=False)

BIBTEX = """@inproceedings{kornblith2019similarity,
  title={Similarity of neural network representations revisited},
  author={Kornblith, Simon and Norouzi, Mohammad and Lee, Honglak and Hinton, Geoffrey},
  booktitle={International Conference on Machine Learning},
  pages={3519--3529},
  year={2019}
}

@article{murphy2024correcting,
  title={Correcting biased centered kernel alignment measures in biological and artificial neural networks},
  author={Murphy, Alex and Zylberberg, Joel and Fyshe, Alona},
  journal={arXiv preprint arXiv:2405.01012},
  year={2024}
}"""
