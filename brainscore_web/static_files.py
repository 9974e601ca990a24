"""How files for browsers are stored: packed, under names that change with their content."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

__all__ = ["PackedStaticFiles"]


class PackedStaticFiles(CompressedManifestStaticFilesStorage):
    """What modules import from each other gets these names, too."""

    support_js_module_import_aggregation = True
