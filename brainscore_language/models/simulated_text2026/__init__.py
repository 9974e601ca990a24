"""The subject that `SimulatedText2026` was made from."""

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)


def _subject():
    from brainscore_language.models.simulated_text2026.model import simulated_text_truth

    return simulated_text_truth()


model_registry["simulated-text-truth"] = _subject
