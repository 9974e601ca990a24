"""The subjects that `SimulatedText2026` and `SimulatedContext2026` were made from."""

from functools import partial

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)


def _subject(identifier, **options):
    from brainscore_language.models.simulated_text2026.model import truth

    return truth(identifier, **options)


model_registry["simulated-text-truth"] = partial(_subject, "simulated-text-truth")
model_registry["simulated-context-truth"] = partial(_subject, "simulated-context-truth", context=True)
