"""Baseline: a word's surprisal after the two words before it, in a model of US English of the package pocketsphinx."""

from brainscore_language import model_registry


def _subject():
    from brainscore_language.models.trigram.model import trigram

    return trigram()


model_registry["trigram"] = _subject
