"""Score one model on one benchmark and keep what is needed to redo and compare it."""

from brainscore_core.scoring._addresses import default_results_address
from brainscore_core.scoring._claims import CLAIM_SECONDS, Claim, ClaimInfo
from brainscore_core.scoring._diff import Difference, NumberDifference, Tolerance, difference
from brainscore_core.scoring._diff_arrays import ArrayDifference, array_difference
from brainscore_core.scoring._diff_parts import Change
from brainscore_core.scoring._environment import Environment
from brainscore_core.scoring._errors import ReceiptError, StoreError
from brainscore_core.scoring._export import EXPORT_COLUMNS, ExportColumn, export_rows, export_table
from brainscore_core.scoring._listing import Listing, Problem, Scan
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
    RunInfo,
    Timings,
    WeightsItem,
)
from brainscore_core.scoring._receipt import Receipt, State
from brainscore_core.scoring._run import Outcome, run_pair
from brainscore_core.scoring._schema import SCHEMA_VERSION, receipt_schema
from brainscore_core.scoring._store import ResultsStore
from brainscore_core.scoring._verify import Stored, Verification, compare_attachments, foresee, read_receipt, verify

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
