"""Submissions: plugins read from a ZIP file, a folder or a repository, laid out, and examined without running them.

>>> from pathlib import Path
>>> import brainscore_vision
>>> package = read_folder(Path(brainscore_vision.__file__).parent / "models" / "pixels")
>>> [plugin.path for plugin in package.plugins]
['models/pixels']
>>> [finding.check for finding in examine(package) if finding.severity == "error"]  # it is registered already
['identifier']
"""

from brainscore_vision.submitting._declared import DeclaredFile, declared_files
from brainscore_vision.submitting._examine import examine, registered_elsewhere, registered_here
from brainscore_vision.submitting._findings import Finding, errors_among, in_order
from brainscore_vision.submitting._folder import read_folder
from brainscore_vision.submitting._git import read_git
from brainscore_vision.submitting._layout import KIND_FOLDERS as KINDS
from brainscore_vision.submitting._limits import Limits
from brainscore_vision.submitting._package import Package, Registered, SubmittedPlugin, unpack
from brainscore_vision.submitting._pull import is_pull, read_pull
from brainscore_vision.submitting._zip import read_zip

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
    "in_order",
    "is_pull",
    "read_folder",
    "read_git",
    "read_pull",
    "read_zip",
    "registered_elsewhere",
    "registered_here",
    "unpack",
]
