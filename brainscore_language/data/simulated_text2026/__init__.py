"""Simulated recordings of sentences, linear in the vectors of their words."""

from brainscore_language import data_registry

STIMULUS_GROUPS = {"SimulatedText2026": "story"}


def _recordings():
    from brainscore_language.data.simulated_text2026.data_packaging import recordings

    return recordings()


data_registry["SimulatedText2026"] = _recordings
