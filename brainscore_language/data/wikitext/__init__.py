"""Wikipedia articles (Merity et al. 2017), for the prediction of next words."""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import data_registry

BIBTEX = read_citation(__file__)


def _lines() -> list[str]:
    from brainscore_language.data.wikitext.data_packaging import load_lines

    return load_lines()


data_registry["wikitext-2/test"] = _lines
