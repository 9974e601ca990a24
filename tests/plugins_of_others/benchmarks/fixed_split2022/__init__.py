from brainscore_vision import benchmark_registry

from .benchmark import FixedSplit2022

benchmark_registry["FixedSplit2022.IT-ridge"] = lambda: FixedSplit2022(region="IT", metric_type="ridge")
benchmark_registry["FixedSplit2022.IT-dual_ridge"] = lambda: FixedSplit2022(region="IT", metric_type="dual_ridge")
benchmark_registry["FixedSplit2022.IT-ridgecv"] = lambda: FixedSplit2022(region="IT", metric_type="ridgecv")
benchmark_registry["FixedSplit2022.IT-pls"] = lambda: FixedSplit2022(region="IT", metric_type="pls")
