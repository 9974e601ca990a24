"""Submissions: plugins read from a ZIP file, folder or repository, and examined without running them.

>>> from pathlib import Path
>>> import brainscore_vision
>>> package = read_folder(Path(brainscore_vision.__file__).parent / "models" / "pixels")
>>> [plugin.path for plugin in package.plugins]
['models/pixels']
>>> [finding.check for finding in examine(package) if finding.severity == "error"]  # it is registered already
['identifier']
"""

from brainscore_core.submission.examination import (
    examine,
    examine_files,
    examine_identifiers,
    registered_elsewhere,
    registered_here,
)
from brainscore_core.submission.package import KIND_FOLDERS as KINDS
from brainscore_core.submission.package import (
    Finding,
    Limits,
    Package,
    Registered,
    SubmittedPlugin,
    errors_among,
    sort_findings,
    unpack,
)
from brainscore_core.submission.plugin_source import DeclaredFile, declared_files
from brainscore_core.submission.readers import read_folder, read_zip
from brainscore_core.submission.repositories import is_pull, read_git, read_pull

__all__ = [
    "KINDS",
    "DeclaredFile",
    "Finding",
    "Limits",
    "Package",
    "Registered",
    "SubmittedPlugin",
    "declared_files",
    "errors_among",
    "examine",
    "examine_files",
    "examine_identifiers",
    "is_pull",
    "read_folder",
    "read_git",
    "read_pull",
    "read_zip",
    "registered_elsewhere",
    "registered_here",
    "sort_findings",
    "unpack",
]
