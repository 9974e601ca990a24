"""Whether model and people confuse the same images and objects."""

from brainscore_vision import metric_registry

from .metric import I1, I2, O1, O2, I1n, I2n

metric_registry["i1"] = I1
metric_registry["i1n"] = I1n
metric_registry["i2"] = I2
metric_registry["i2n"] = I2n
metric_registry["o1"] = O1
metric_registry["o2"] = O2

BIBTEX = """@article{rajalingham2018large,
  title={Large-Scale, High-Resolution Comparison of the Core Visual Object Recognition Behavior of Humans, Monkeys, and
    State-of-the-Art Deep Artificial Neural Networks},
  author={Rajalingham, Rishi and Issa, Elias B and Bashivan, Pouya and Kar, Kohitij and Schmidt, Kailyn and
    DiCarlo, James J},
  journal={Journal of Neuroscience},
  volume={38},
  number={33},
  pages={7255--7269},
  year={2018},
  doi={10.1523/JNEUROSCI.0388-18.2018}
}"""
