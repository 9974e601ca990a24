"""Score one model on one benchmark, and keep what is needed to reproduce and compare the result."""

from brainscore_core.paths import default_results_address
from brainscore_core.receipts.changes import Change
from brainscore_core.receipts.difference import (
    ArrayDifference,
    Difference,
    NumberDifference,
    Tolerance,
    array_difference,
    difference,
)
from brainscore_core.receipts.receipt import (
    AttachmentInfo,
    BenchmarkInfo,
    CacheUse,
    CeilingEstimate,
    DataItem,
    Environment,
    ErrorInfo,
    Estimate,
    FileItem,
    Memory,
    ModelInfo,
    PluginCode,
    Receipt,
    RunInfo,
    State,
    Timings,
    WeightsItem,
)
from brainscore_core.receipts.schema import SCHEMA_VERSION, ReceiptError, receipt_schema
from brainscore_core.results.backend import StoreError
from brainscore_core.results.claims import CLAIM_SECONDS, Claim, ClaimInfo
from brainscore_core.results.export import EXPORT_COLUMNS, ExportColumn, export_rows, export_table
from brainscore_core.results.store import Listing, Problem, ResultsStore, Scan
from brainscore_core.runner.pair import Outcome, run_pair
from brainscore_core.runner.verification import Stored, Verification, compare_attachments, foresee, read_receipt, verify

__all__ = [
    "CLAIM_SECONDS",
    "EXPORT_COLUMNS",
    "SCHEMA_VERSION",
    "ArrayDifference",
    "AttachmentInfo",
    "BenchmarkInfo",
    "CacheUse",
    "CeilingEstimate",
    "Change",
    "Claim",
    "ClaimInfo",
    "DataItem",
    "Difference",
    "Environment",
    "ErrorInfo",
    "Estimate",
    "ExportColumn",
    "FileItem",
    "Listing",
    "Memory",
    "ModelInfo",
    "NumberDifference",
    "Outcome",
    "PluginCode",
    "Problem",
    "Receipt",
    "ReceiptError",
    "ResultsStore",
    "RunInfo",
    "Scan",
    "State",
    "StoreError",
    "Stored",
    "Timings",
    "Tolerance",
    "Verification",
    "WeightsItem",
    "array_difference",
    "compare_attachments",
    "default_results_address",
    "difference",
    "export_rows",
    "export_table",
    "foresee",
    "read_receipt",
    "receipt_schema",
    "run_pair",
    "verify",
]
