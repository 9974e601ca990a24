"""Whether models and people err on the same stimuli."""

from brainscore_vision import metric_registry

from .metric import ErrorConsistency

metric_registry["error_consistency"] = ErrorConsistency

BIBTEX = """@inproceedings{geirhos2020beyond,
  title={Beyond accuracy: quantifying trial-by-trial behaviour of {CNNs} and humans by measuring error consistency},
  author={Geirhos, Robert and Meding, Kristof and Wichmann, Felix A},
  booktitle={Advances in Neural Information Processing Systems},
  volume={33},
  year={2020},
  doi={10.48550/arXiv.2006.16736}
}"""
