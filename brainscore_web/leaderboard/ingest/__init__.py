"""Ingestion of receipts into the site: from a results folder or bucket, from the API, or from an exported table.

Assessments of benchmarks that lie beside the receipts of a folder or bucket are read with them. Known receipts are
skipped; invalid ones are reported, and the others are stored. New models and benchmarks are created; values that were
edited on the site are kept.
"""

from brainscore_web.leaderboard.catalogue import CatalogueReport, sync_catalogue
from brainscore_web.leaderboard.ingest.receipts import ingest_receipts, ingest_store, ingest_table
from brainscore_web.leaderboard.ingest.rows import IngestReport

__all__ = [
    "CatalogueReport",
    "IngestReport",
    "ingest_receipts",
    "ingest_store",
    "ingest_table",
    "sync_catalogue",
]
