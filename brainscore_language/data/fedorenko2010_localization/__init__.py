"""Stimuli of the localizer of the language system: 240 sentences and 240 lists of non-words, of twelve words each."""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import data_registry

BIBTEX = read_citation(__file__)


def load_data():
    """The stimuli in the order of the files' names.

    Returns
    -------
    pandas.DataFrame
        ``stim14``: ``'S'`` for a sentence and ``'N'`` for non-words; ``sent``: the twelve words in lower case;
        ``stim1`` … ``stim13`` as published.
    """
    import pandas as pd

    from brainscore_core.plugins.tables import read_table
    from brainscore_core.supported_data_standards.brainio.fetch import fetch_all

    folder = (
        "https://raw.githubusercontent.com/brain-score/language/0e0bb4a2d8df5d3c30fe26ec4528f27a188e1cdc"
        "/brainscore_language/data/fedorenko2010_localization"
    )
    files = [{"url": f"{folder}/{row['file']}", "sha256": row["sha256"]} for row in read_table(__file__, "files.csv")]
    data = pd.concat([pd.read_csv(path, keep_default_na=False) for path in fetch_all(files)], ignore_index=True)
    data["sent"] = data[[f"stim{place}" for place in range(2, 14)]].agg(" ".join, axis=1).str.lower()
    return data


data_registry["Fedorenko2010.localization"] = load_data
