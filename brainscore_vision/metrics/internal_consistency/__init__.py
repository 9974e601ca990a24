"""How consistent neural measurements are with themselves."""

from brainscore_vision import metric_registry

from .ceiling import InternalConsistency
from .temporal import TemporalInternalConsistency

metric_registry["internal_consistency"] = InternalConsistency
metric_registry["internal_consistency_temporal"] = TemporalInternalConsistency

BIBTEX = """@article{brown1910some,
  title={Some experimental results in the correlation of mental abilities},
  author={Brown, William},
  journal={British Journal of Psychology},
  volume={3},
  number={3},
  pages={296--322},
  year={1910},
  doi={10.1111/j.2044-8295.1910.tb00207.x}
}

@article{spearman1910correlation,
  title={Correlation calculated from faulty data},
  author={Spearman, Charles},
  journal={British Journal of Psychology},
  volume={3},
  number={3},
  pages={271--295},
  year={1910},
  doi={10.1111/j.2044-8295.1910.tb00206.x}
}"""
