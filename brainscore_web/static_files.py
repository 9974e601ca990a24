"""How files for browsers are stored: packed, under names that change with their content."""

from datetime import datetime

from whitenoise.storage import CompressedManifestStaticFilesStorage

__all__ = ["PackedStaticFiles"]


class PackedStaticFiles(CompressedManifestStaticFilesStorage):
    """What modules import from each other gets these names, too."""

    support_js_module_import_aggregation = True

    def get_modified_time(self, name: str) -> datetime:
        """Not known: files are copied always, as those of an earlier version of the package may be the newer ones."""
        raise NotImplementedError("what was copied is not told from what changed by its time")
