"""Benchmarks on stand-ins (simulated) for MajajHong2015."""

from brainscore_vision import benchmark_registry

BIBTEX = """@misc{standins,
  title = {Simulated stand-ins for published recordings},
  author = {Brain-Score contributors},
  year = {2026}
}"""


def neural(identifier: str, region: str, metric: str):
    from brainscore_vision import load_ceiling, load_metric
    from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
    from brainscore_vision.testing import stand_in

    recordings = stand_in("MajajHong2015.public")
    recordings = recordings.sel(region=region)
    if "time_bin" in recordings.dims:
        recordings = recordings.isel(time_bin=0)
    ceiling = load_ceiling("internal_consistency")
    return NeuralBenchmark(
        identifier=identifier,
        version=1,
        assembly=average_repetition(recordings),
        similarity_metric=load_metric(metric),
        visual_degrees=8,
        number_of_trials=1,
        ceiling_func=lambda: ceiling(recordings),
        parent=region,
        bibtex=BIBTEX,
    )


benchmark_registry["ScaleMajajHong.V4-pls"] = lambda: neural("ScaleMajajHong.V4-pls", "V4", "pls")
benchmark_registry["ScaleMajajHong.V4-ridge"] = lambda: neural("ScaleMajajHong.V4-ridge", "V4", "ridge")
benchmark_registry["ScaleMajajHong.IT-pls"] = lambda: neural("ScaleMajajHong.IT-pls", "IT", "pls")
benchmark_registry["ScaleMajajHong.IT-ridge"] = lambda: neural("ScaleMajajHong.IT-ridge", "IT", "ridge")
