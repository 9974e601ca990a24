"""Baseline: a word's surprisal after the two words before it, in a model of US English of the package pocketsphinx."""

from pkgutil import resolve_name

from brainscore_language import model_registry

model_registry["trigram"] = lambda: resolve_name(f"{__name__}.model:trigram")()
