"""The subjects that `SimulatedText2026` and `SimulatedContext2026` were made from."""

from pkgutil import resolve_name

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)

model_registry["simulated-text-truth"] = lambda: resolve_name(f"{__name__}.model:truth")("simulated-text-truth")
model_registry["simulated-context-truth"] = lambda: resolve_name(f"{__name__}.model:truth")(
    "simulated-context-truth", context=True
)
