"""The whole site in a folder, and back."""

from brainscore_web.operations.backups._making import back_up
from brainscore_web.operations.backups._manifest import Manifest, read_manifest
from brainscore_web.operations.backups._restoring import restore

__all__ = ["Manifest", "back_up", "read_manifest", "restore"]
