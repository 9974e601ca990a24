"""Tables that `brainscore results export` wrote."""

from datetime import UTC, datetime, timedelta

import pytest

from brainscore_core.errors import UserError
from brainscore_core.scoring import export_table
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.ingest import IngestReport, ingest_receipts, ingest_table
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Ingestion, Score, VisionModel

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def several(receipt):
    return [
        receipt(),
        receipt("other", day=1),
        receipt("other", "Other2026.V1-pls", parent="V1", version="2a", day=2, ceiling=None),
        *(
            receipt(state=state, day=day)
            for day, state in enumerate(("failed", "undefined", "not applicable"), start=3)
        ),
        receipt(benchmark="Control2026-pls", parent=None, control=True, version=None, day=7),
    ]


@pytest.fixture
def table(several, tmp_path):
    path = tmp_path / "results.parquet"
    export_table(several, path)
    return path


@pytest.fixture
def changed(table):
    """Write the table anew, with other columns: values, or functions of the array that is there."""

    def write(**columns):
        content = pq.read_table(table)
        for name, value in columns.items():
            place = content.schema.get_field_index(name)
            if value is None:
                content = content.remove_column(place)
                continue
            array = value(content.column(name)) if callable(value) else pa.array(value)
            content = content.set_column(place, name, array)
        pq.write_table(content, table)
        return table

    return write


def rows(model):
    """All rows without what differs from one time to the next."""
    left_out = {"id", "document", "model_id", "benchmark_id", "parent_id", "synced"}
    if model is not Score:
        left_out.add("created")
    order = {Score: "receipt", BenchmarkVersion: "since"}.get(model, "identifier")
    found = model.objects.order_by(order).values()
    return [{name: value for name, value in row.items() if name not in left_out} for row in found]


def test_a_table_gives_what_its_receipts_give(db, several, table):
    assert ingest_table(table) == IngestReport(added=len(several))
    from_table = {model: rows(model) for model in (Score, VisionModel, Benchmark, BenchmarkVersion)}
    Score.objects.all().delete()
    VisionModel.objects.all().delete()
    Benchmark.objects.update(parent=None)
    Benchmark.objects.all().delete()
    assert ingest_receipts(several, by=None, default_visibility="public").added == len(several)
    for model, found in from_table.items():
        expected = rows(model)
        if model is Benchmark:  # tables hold no citations
            for row in expected:
                row["bibtex"] = ""
        assert found == expected


def test_models_are_public(db, table):
    ingest_table(table)
    assert set(VisionModel.objects.values_list("visibility", flat=True)) == {"public"}


def test_the_same_again_changes_nothing(db, several, table):
    ingest_table(table)
    before = revision.current()
    assert ingest_table(table) == IngestReport(known=len(several))
    assert revision.current() == before
    assert Ingestion.objects.count() == 2


def test_receipts_and_tables_know_each_other(db, several, table):
    ingest_receipts(several[:3], by=None)
    assert ingest_table(table) == IngestReport(added=len(several) - 3, known=3)


def test_a_receipt_twice_in_a_table_is_kept_once(db, several, changed):
    path = changed(id=lambda ids: pa.array([ids[0].as_py()] * 2 + ids.to_pylist()[2:]))
    assert ingest_table(path) == IngestReport(added=len(several) - 1, known=1)


def test_batches_are_read_one_by_one(db, several, table, monkeypatch):
    monkeypatch.setattr("brainscore_web.leaderboard.ingest.receipts._BATCH", 2)
    seen = []
    report = ingest_table(table, on_progress=lambda done, total: seen.append((done, total)))
    assert report.added == len(several) == 7
    assert seen == [(2, 7), (4, 7), (6, 7), (7, 7)]


def test_rows_that_are_wrong_are_named(db, several, changed):
    def first(value):
        return lambda column: pa.array([value, *column.to_pylist()[1:]], type=column.type)

    def at(place, value):
        return lambda column: pa.array(
            [value if n == place else one for n, one in enumerate(column.to_pylist())], type=column.type
        )

    path = changed(
        id=at(0, "no-id\n"),
        model=at(1, "m" * 201),
        created=at(2, datetime.now(UTC) + timedelta(days=3)),
        state=at(3, "great"),
        score=lambda column: pa.array([*column.to_pylist()[:4], 0.5, *column.to_pylist()[5:]]),
        version=at(5, "v\0"),
        error=at(6, -0.1),
    )
    report = ingest_table(path)
    assert report.added == 0
    words = [
        "not a receipt id",
        "201 characters",
        "in the future",
        "'great' is unknown",
        "has a score",
        "be shown",
        "negative",
    ]
    assert len(report.problems) == len(words)
    for place, (problem, word) in enumerate(zip(report.problems, words, strict=True), start=1):
        assert problem.path.startswith(f"row {place} (")
        assert word in problem.message
    assert not VisionModel.objects.exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_scored_without_a_number_is_wrong(db, several, changed, value):
    path = changed(score=lambda column: pa.array([value, *column.to_pylist()[1:]], type=pa.float64()))
    report = ingest_table(path)
    assert (report.added, len(report.problems)) == (len(several) - 1, 1)
    assert "has no score" in report.problems[0].message


def test_numbers_that_are_not_finite_are_missing(db, changed):
    numbers = [float("nan"), float("inf"), float("-inf"), None, None, None, 0.25]
    path = changed(raw=pa.array(numbers, type=pa.float64()), ceiling=pa.array(numbers, type=pa.float64()))
    assert not ingest_table(path).problems
    assert list(Score.objects.order_by("receipt").values_list("raw", flat=True)) == [None] * 6 + [0.25]


@pytest.mark.parametrize("column", ["score", "error", "raw", "raw_ci_low", "ceiling", "ceiling_error"])
@pytest.mark.parametrize("value", [1.7e308, 2e6])
def test_numbers_that_no_score_can_be_are_refused(db, several, changed, column, value):
    def at(found):
        places = [place for place, one in enumerate(found.to_pylist()) if one is not None]
        return pa.array([value if n == places[0] else one for n, one in enumerate(found.to_pylist())])

    report = ingest_table(changed(**{column: at}))
    assert (report.added, len(report.problems)) == (len(several) - 1, 1)
    assert "at most ±1,000,000 is allowed" in report.problems[0].message


def test_texts_are_cut_and_cleaned(db, changed):
    long = "ü" * 30_000
    path = changed(
        reason=lambda column: pa.array([f"a\0b{long}"] * len(column)),
        ci_estimates=lambda column: pa.array([long] * len(column)),
        ceiling_meaning=lambda column: pa.array([long] * len(column)),
        model_plugin=lambda column: pa.array([long] * len(column)),
    )
    assert not ingest_table(path).problems
    score = Score.objects.first()
    assert score.reason.startswith("a\ufffdbü")
    assert (len(score.reason), len(score.estimates)) == (20_000, 500)
    assert len(BenchmarkVersion.objects.get(version="1").ceiling_meaning) == 50
    assert VisionModel.objects.first().plugin.endswith("…")


@pytest.mark.parametrize(
    "time", [pa.timestamp("ns", tz="UTC"), pa.timestamp("s"), pa.timestamp("ms", tz="Europe/Berlin")], ids=str
)
def test_other_times_are_brought_to_utc(db, changed, time):
    assert not ingest_table(changed(created=lambda column: column.cast(time, safe=False))).problems
    assert Score.objects.earliest("created").created == datetime(2026, 1, 1, tzinfo=UTC)


def test_other_types_of_the_same_kind_are_read(db, several, changed):
    path = changed(
        model=lambda column: column.dictionary_encode(),
        benchmark=lambda column: column.cast(pa.large_string()),
        score=lambda column: column.cast(pa.float32()),
        notes=lambda column: pa.nulls(len(column)),
        reason=lambda column: pa.nulls(len(column)),
        control=lambda column: pa.nulls(len(column)),
    )
    assert ingest_table(path) == IngestReport(added=len(several))


def test_columns_that_are_not_needed_may_be_missing(db, several, changed):
    path = changed(raw=None, ceiling=None, ci_reason=None, parent=None, control=None, reason=None, seconds_total=None)
    assert ingest_table(path) == IngestReport(added=len(several))
    assert not Benchmark.objects.filter(is_mean=False, in_tree=True).exists()


def test_columns_that_are_needed_may_not(db, changed):
    with pytest.raises(UserError, match=r"has no column 'id', 'state'\ningest a file"):
        ingest_table(changed(id=None, state=None))
    assert not Ingestion.objects.exists()


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("score", ["0.5"] * 7, "'score' of .* has type string, not number"),
        ("created", ["2026-01-01"] * 7, "'created' of .* has type string, not time"),
        ("model", [1] * 7, "'model' of .* has type int64, not text"),
        ("control", ["no"] * 7, "'control' of .* has type string, not truth"),
    ],
)
def test_columns_of_other_types_are_named(db, changed, name, array, message):
    with pytest.raises(UserError, match=message):
        ingest_table(changed(**{name: array}))


def test_what_is_no_table_is_said(db, tmp_path):
    path = tmp_path / "no.parquet"
    with pytest.raises(UserError, match="cannot be read"):
        ingest_table(path)
    path.write_text("no table")
    with pytest.raises(UserError, match="cannot be read"):
        ingest_table(path)


def test_texts_that_are_no_utf8_are_said(db, changed):
    broken = pa.Array.from_buffers(pa.string(), 7, pa.array([b"\xff"] * 7, type=pa.binary()).buffers())
    with pytest.raises(UserError, match="is damaged"):
        ingest_table(changed(notes=None, reason=lambda column: broken))
