"""Centred kernel alignment."""

from brainscore_language import metric_registry
from brainscore_language.metrics.cka.metric import CKACrossValidated

metric_registry["cka"] = CKACrossValidated
