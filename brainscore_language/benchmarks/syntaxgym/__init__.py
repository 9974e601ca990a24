"""SyntaxGym: whether a subject's surprisals show that it knows a rule of grammar."""

from functools import partial

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_core.plugins.tables import table_keys
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.syntaxgym.benchmark import BIBTEX, SyntaxGym2020, SyntaxGymSingleTSE

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["SyntaxGym2020"] = SyntaxGym2020

for _suite in table_keys(__file__, "suites.csv"):
    benchmark_registry[f"syntaxgym-{_suite}"] = partial(SyntaxGymSingleTSE, f"syntaxgym-{_suite}", _suite)
