"""What the models are, and their citations."""

from brainscore_vision.model_sources.tables import table_metadata

METADATA = table_metadata(__file__)
