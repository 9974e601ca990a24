"""Recurrent networks in containers: the rows of ``models.csv``, of the image benlipkin/rnng.

``rnn-tdg-…`` are recurrent grammars and ``rnn-slm-…`` networks of the same training; both read each part without
context, and are recorded only. ``rnn-lm-ptb`` also predicts words. The image's tag states its program and weights.
"""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_language import model_registry


def _make(identifier: str):
    from brainscore_core.plugins.tables import table_row
    from brainscore_language.model_helpers.container import ContainerSubject

    row = table_row(__file__, "models.csv", identifier)
    return ContainerSubject(
        container=f"benlipkin/rnng:{row['tag']}",
        entrypoint="cd /app && source activate rnng && python -m brainscore",
        identifier=identifier,
        region_layer_mapping={"language_system": row["measure"]},
    )


for _identifier in table_keys(__file__, "models.csv"):
    model_registry[_identifier] = partial(_make, _identifier)
