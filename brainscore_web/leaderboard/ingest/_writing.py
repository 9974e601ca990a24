"""Writes scores, and what they need: models, benchmarks, versions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING

from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.ingest._benchmarks import benchmarks_of, keep_versions
from brainscore_web.leaderboard.ingest._models import chunks, model_ids
from brainscore_web.leaderboard.ingest._report import Tally
from brainscore_web.leaderboard.ingest._rows import Row
from brainscore_web.leaderboard.models import Benchmark, Ingestion, Score
from brainscore_web.leaderboard.scores import COLUMNS, insert_scores
from brainscore_web.leaderboard.writing import writing_alone

if TYPE_CHECKING:
    from brainscore_web.accounts.models import User

__all__ = ["Writer", "known_receipts"]

_AS_THEY_ARE = itemgetter(*(Row._fields.index(name) for name in COLUMNS[: COLUMNS.index("model")]))


def known_receipts(ids: Collection[str]) -> set[str]:
    """Those receipts that have been read before."""
    scores = Score.objects.order_by()
    return {
        receipt for part in chunks(ids) for receipt in scores.filter(receipt__in=part).values_list("receipt", flat=True)
    }


class Writer:
    """Writes rows in batches, each whole or not at all, and counts what came of them.

    Parameters
    ----------
    by : User or None
        Who ingests; owns models that are made private.
    visibility : str
        Of models that are made.
    """

    def __init__(self, by: User | None, visibility: str) -> None:
        self._by = by
        self._visibility = visibility
        self.tally = Tally()

    @contextmanager
    def ingesting(self, source: str) -> Iterator[None]:
        """Keep a record of the ingestion, whatever happens."""
        started = timezone.now()
        record = Ingestion.objects.create(source=text(source, 500), by=self._by, started=started)
        try:
            yield
        finally:
            report = self.tally.report()
            record.added, record.known, record.finished = report.added, report.known, timezone.now()
            record.problems = [
                {"where": problem.path, "message": problem.message, "remedy": problem.remedy}
                for problem in report.problems
            ]
            record.save(update_fields=["added", "known", "finished", "problems"])  # who asked may have left meanwhile

    def write(self, rows: Sequence[Row]) -> None:
        """Write what is new of these rows."""
        if not rows:
            return
        with writing_alone():
            known = known_receipts([row.receipt for row in rows])
            new = sorted({row.receipt: row for row in rows if row.receipt not in known}.values())
            n_new = len(new)
            benchmarks = benchmarks_of(new)
            for row in [row for row in new if benchmarks[row.benchmark].is_mean]:
                self.tally.wrong(row.receipt, f"{row.benchmark!r} is a mean of the leaderboard, no benchmark")
            new = [row for row in new if not benchmarks[row.benchmark].is_mean]
            models = model_ids(new, owner=self._by, visibility=self._visibility)
            written = self._insert(new, models, benchmarks)
            keep_versions(benchmarks, written)
            if n_new:
                revision.bump()  # with the batch: a process that is killed leaves nothing that others do not notice
        self.tally.added += len(written)
        self.tally.known += len(rows) - n_new

    def _insert(self, rows: list[Row], models: Mapping[str, int], benchmarks: Mapping[str, Benchmark]) -> list[Row]:
        """Insert scores; one that the database refuses is named, the others go in. Gives what went in."""
        values = [
            (*_AS_THEY_ARE(row), models[row.model], benchmarks[row.benchmark].pk, row.created, row.document)
            for row in rows
        ]
        try:
            with transaction.atomic():
                insert_scores(values)
        except (DataError, IntegrityError) as error:
            if len(rows) == 1:
                self.tally.wrong(rows[0].receipt, f"the database refuses it: {error}")
                return []
            return [row for row in rows if self._insert([row], models, benchmarks)]
        return rows
