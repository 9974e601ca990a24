"""OASM: a control without language, whose units know only which parts of a text are neighbours.

A score that it reaches comes from the likeness of neighbouring measurements (Hadidi et al. 2025,
doi:10.1101/2025.03.09.642245). The rows of ``models.csv`` differ in the width of the neighbourhood.
"""

from pkgutil import resolve_name

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_core.plugins.tables import table_keys
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)

for _identifier in table_keys(__file__, "models.csv"):
    model_registry[_identifier] = lambda name=_identifier: resolve_name(f"{__name__}.model:oasm")(name)
