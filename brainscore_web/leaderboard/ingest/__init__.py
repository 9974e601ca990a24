"""Reads receipts into the site: from a results folder or bucket, from what was posted, from an exported table.

What is known already is passed over; what is wrong is named, and the rest goes in. Models and benchmarks that are not
known yet are made; what somebody edited on the site stays.
"""

from brainscore_web.leaderboard.catalogue import CatalogueReport, sync_catalogue
from brainscore_web.leaderboard.ingest._receipts import ingest_receipts, ingest_store
from brainscore_web.leaderboard.ingest._table import ingest_table
from brainscore_web.leaderboard.ingest.rows import IngestReport

__all__ = [
    "CatalogueReport",
    "IngestReport",
    "ingest_receipts",
    "ingest_store",
    "ingest_table",
    "sync_catalogue",
]
