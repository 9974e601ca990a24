"""Subjects made from rows of ``models.csv``."""

from brainscore_core.plugins.tables import table_row
from brainscore_language.model_helpers.huggingface import HuggingfaceSubject
from brainscore_language.model_helpers.networks import from_hub

_BATCH = 4  # stimuli of the localizer


def published(identifier: str) -> HuggingfaceSubject:
    """The network of a row; its ``layer`` is a list of blocks if its units are localized."""
    row = table_row(__file__, "models.csv", identifier)
    repository, layer = row["repository"], row["layer"]
    if not row["localized"]:
        return HuggingfaceSubject(repository, {"language_system": layer})
    config = from_hub("AutoConfig", repository)
    return HuggingfaceSubject(
        repository,
        {"language_system": [f"{layer}.{block}" for block in range(config.num_hidden_layers)]},
        use_localizer=True,
        localizer_kwargs={
            "hidden_dim": config.hidden_size,
            "batch_size": _BATCH,
            "top_k": float(row["localized"]),
        },
    )
