"""Make assemblies from files of other formats: tables of trials, NWB."""

from brainscore_core.supported_data_standards.brainio.nwb import from_nwb
from brainscore_core.supported_data_standards.brainio.tables import (
    IDENTIFIER_MARKS,
    MISSING_MARKS,
    ImportChange,
    ImportReport,
)
from brainscore_core.supported_data_standards.brainio.trials import from_trials

__all__ = ["IDENTIFIER_MARKS", "MISSING_MARKS", "ImportChange", "ImportReport", "from_nwb", "from_trials"]
