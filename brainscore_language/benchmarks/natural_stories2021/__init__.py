"""Reading times of ten stories, compared with the surprisal of their words."""

from brainscore_language import benchmark_registry


def _benchmark(name: str, **options: object):
    from brainscore_language.benchmarks.natural_stories2021 import benchmark

    return getattr(benchmark, name)(**options)


benchmark_registry["NaturalStories2021-pearsonr"] = lambda: _benchmark("NaturalStories2021Pearsonr")
benchmark_registry["NaturalStories2021.listed-pearsonr"] = lambda: _benchmark("NaturalStories2021Pearsonr", listed=True)
benchmark_registry["NaturalStories2021-added"] = lambda: _benchmark("NaturalStories2021Added")
