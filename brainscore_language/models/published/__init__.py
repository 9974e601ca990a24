"""Published networks of the Hugging Face hub: the rows of ``models.csv``.

The layer that stands for the language system, or the localizer in its place, is that of the published registration.
Weights are fetched when a model is loaded; they take about 4 bytes a parameter.
"""

from pkgutil import resolve_name

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_core.plugins.tables import table_keys
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)

for _identifier in table_keys(__file__, "models.csv"):
    model_registry[_identifier] = lambda name=_identifier: resolve_name(f"{__name__}.model:published")(name)
