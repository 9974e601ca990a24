"""SyntaxGym: whether a subject's surprisals show that it knows a rule of grammar."""

from brainscore_core.plugins.tables import table_keys
from brainscore_language import benchmark_registry


def _benchmark(name: str, *arguments: str):
    from brainscore_language.benchmarks.syntaxgym import benchmark

    return getattr(benchmark, name)(*arguments)


benchmark_registry["SyntaxGym2020"] = lambda: _benchmark("SyntaxGym2020")

for suite in table_keys(__file__, "suites.csv"):
    benchmark_registry[f"syntaxgym-{suite}"] = lambda suite=suite: _benchmark(
        "SyntaxGymSingleTSE", f"syntaxgym-{suite}", suite
    )
