"""Make assemblies from files of other formats: tables of trials, NWB."""

from brainscore_core.supported_data_standards.brainio.import_report import ImportChange, ImportReport
from brainscore_core.supported_data_standards.brainio.nwb import from_nwb
from brainscore_core.supported_data_standards.brainio.trials import from_trials

__all__ = ["ImportChange", "ImportReport", "from_nwb", "from_trials"]
