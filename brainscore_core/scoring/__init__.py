"""Score one model on one benchmark and keep what is needed to redo and compare it."""

from brainscore_core.scoring._environment import Environment
from brainscore_core.scoring._errors import ReceiptError
from brainscore_core.scoring._listing import Listing, Problem
from brainscore_core.scoring._parts import (
    AttachmentInfo,
    BenchmarkInfo,
    CacheUse,
    CeilingEstimate,
    DataItem,
    ErrorInfo,
    Estimate,
    FileItem,
    Memory,
    ModelInfo,
    PluginCode,
    Timings,
)
from brainscore_core.scoring._receipt import SCHEMA_VERSION, Receipt, State, receipt_schema
from brainscore_core.scoring._run import Outcome, run_pair
from brainscore_core.scoring._store import ResultsStore, default_results_folder

__all__ = [
    "SCHEMA_VERSION",
    "AttachmentInfo",
    "BenchmarkInfo",
    "CacheUse",
    "CeilingEstimate",
    "DataItem",
    "Environment",
    "ErrorInfo",
    "Estimate",
    "FileItem",
    "Listing",
    "Memory",
    "ModelInfo",
    "Outcome",
    "PluginCode",
    "Problem",
    "Receipt",
    "ReceiptError",
    "ResultsStore",
    "State",
    "Timings",
    "default_results_folder",
    "receipt_schema",
    "run_pair",
]
