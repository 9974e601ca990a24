"""Simulated recordings of sentences, linear in the vectors of their words, and of the words of the sentence before."""

from functools import partial

from brainscore_language import data_registry

STIMULUS_GROUPS = {"SimulatedText2026": "story", "SimulatedContext2026": "story"}


def _recordings(kind):
    from brainscore_language.data.simulated_text2026 import data_packaging

    return getattr(data_packaging, kind)()


data_registry["SimulatedText2026"] = partial(_recordings, "recordings")
data_registry["SimulatedContext2026"] = partial(_recordings, "recordings_in_context")
