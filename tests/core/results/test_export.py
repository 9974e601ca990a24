import csv
import io
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from brainscore_core.errors import UserError
from brainscore_core.results.export import write_rows
from brainscore_core.scoring import (
    EXPORT_COLUMNS,
    BenchmarkInfo,
    CacheUse,
    CeilingEstimate,
    DataItem,
    Environment,
    ErrorInfo,
    Estimate,
    FileItem,
    Memory,
    ModelInfo,
    PluginCode,
    Receipt,
    RunInfo,
    Timings,
    WeightsItem,
    export_rows,
    export_table,
)

FULL = Receipt(
    model=ModelInfo(identifier='net, "wide"', plugin=PluginCode(name="net", sha256="1" * 64)),
    benchmark=BenchmarkInfo(identifier="Some2026-pls", version=1, parent="IT"),
    state="scored",
    created="2026-01-14T09:30:12.123456Z",
    score=Estimate(value=0.1 + 0.2, error=1e-17, ci=(0.25, 1 / 3), ci_level=0.95, unclamped=0.3),
    raw=Estimate(value=-0.5, error_reason="one subject"),
    ceiling=CeilingEstimate(value=0.8, meaning="reliability"),
    data=(
        DataItem(kind="data", identifier="B2026", plugin=PluginCode(name="b", sha256="2" * 64)),
        DataItem(kind="data", identifier="A2026", plugin=PluginCode(name="b", sha256="2" * 64)),
        DataItem(kind="metric", identifier="pls", plugin=PluginCode(name="pls", sha256="3" * 64)),
    ),
    files=(FileItem(url="file:a.nc", sha256="a" * 64), FileItem(url="file:b.nc", sha1="b" * 40)),
    weights=(WeightsItem(identifier="net", sha256="c" * 64),),
    environment=Environment(
        python="CPython 3.11.4", platform="Linux", cpu="Ünïcode CPU", cpu_count=2, packages={"scikit-learn": "1.7"}
    ),
    seeds={"splits": 1},
    timings=Timings(load_model=0.5, extraction=2.0, total=3.25),
    memory=Memory(peak_bytes=2**40 + 1, raised_here=True),
    cache=CacheUse(hits=1, misses=2),
    run=RunInfo(id="run-1", isolated=True, environment="key", packages={"torch": "2.4"}),
    notes=("first line", "second\nthird"),
).identified()

FAILED = Receipt(
    model=ModelInfo(identifier="broken"),
    benchmark=BenchmarkInfo(identifier="Some2026-pls"),
    state="failed",
    reason="ValueError: boom",
    error=ErrorInfo(type="ValueError", message="boom", traceback="…"),
).identified()


def test_names_are_unique_and_types_hold():
    names = [column.name for column in EXPORT_COLUMNS]
    assert len(set(names)) == len(names)
    kinds = {"text": str, "number": float, "integer": int, "truth": bool, "time": str}
    for row in export_rows([FULL, FAILED]):
        assert list(row) == names
        for column in EXPORT_COLUMNS:
            assert row[column.name] is None or type(row[column.name]) is kinds[column.type], column.name


def test_a_row():
    (row,) = export_rows([FULL])
    assert row["id"] == FULL.id
    assert (row["score"], row["error"], row["ci_low"], row["ci_high"]) == (0.1 + 0.2, 1e-17, 0.25, 1 / 3)
    assert (row["raw"], row["raw_error"], row["raw_error_reason"]) == (-0.5, None, "one subject")
    assert (row["ceiling"], row["ceiling_meaning"]) == (0.8, "reliability")
    assert (row["version"], row["parent"], row["control"]) == ("1", "IT", False)
    assert (row["data"], row["metrics"], row["stimulus_sets"]) == ("A2026; B2026", "pls", None)
    assert row["data_code_sha256"] == "2" * 64  # of one folder, its own hash
    assert row["metric_code_sha256"] == "3" * 64
    assert row["weights_sha256"] == "c" * 64
    assert len(row["files_sha"]) == 64
    assert row["files_sha"] not in {"a" * 64, "b" * 64}
    assert (row["seconds_extraction"], row["seconds_ceiling"], row["seconds_total"]) == (2.0, None, 3.25)
    assert (row["peak_memory_bytes"], row["cache_hits"]) == (2**40 + 1, 1)
    assert (row["run"], row["isolated"], row["environment"], row["model_packages"]) == (
        "run-1",
        True,
        "key",
        '{"torch": "2.4"}',
    )
    assert (row["package_scikit_learn"], row["package_numpy"]) == ("1.7", None)
    assert row["notes"] == "first line\nsecond\nthird"


def test_an_undetermined_score():
    score = Estimate(value=3.0, ci=(1.3, math.inf), ci_level=0.95, scale="ceiled")
    (row,) = export_rows([replace(FULL, score=score, ceiling=CeilingEstimate(value=0.1, ci=(-0.01, 0.2)))])
    assert (row["score"], row["ci_low"], row["ci_high"]) == (3.0, 1.3, None)
    assert row["undetermined"] == "the interval of the ceiling 0.100, -0.010 to 0.200, includes 0"


def test_the_hash_of_files_depends_on_their_contents_alone():
    def hash_of(*files):
        return export_rows([replace(FULL, files=files)])[0]["files_sha"]

    a, b = FULL.files
    assert hash_of(a, b) == hash_of(b, replace(a, url="https://example.org/a.nc"))
    assert hash_of(a, b) != hash_of(replace(a, sha256="d" * 64), b)
    assert hash_of() is None


def read(path):
    if path.suffix == ".csv":
        types = {column.name: column.pandas_type for column in EXPORT_COLUMNS}
        table = pd.read_csv(path, dtype=types, keep_default_na=False, na_values=[""])
        return table.assign(created=pd.to_datetime(table["created"], format="ISO8601", utc=True))
    return pd.read_parquet(path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".CSV"])
def test_pandas_reads_what_was_written(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"table{suffix}"
    assert export_table([FULL, FAILED], path) == 2
    table = read(path.rename(path.with_suffix(suffix.lower())))
    assert list(table.columns) == [column.name for column in EXPORT_COLUMNS]
    assert [item.name for item in tmp_path.iterdir()] == [f"table{suffix.lower()}"]
    for number, row in enumerate(export_rows([FULL, FAILED])):
        for column in EXPORT_COLUMNS:
            value, expected = table[column.name][number], row[column.name]
            if expected is None:
                assert pd.isna(value), column.name
            elif column.type == "time":
                assert value == pd.Timestamp(expected)
            else:
                assert value == (pytest.approx(expected, rel=1e-15) if column.type == "number" else expected), (
                    column.name
                )
    assert table["score"].dtype == np.float64
    assert str(table["created"].dtype).endswith("UTC]")


def test_a_table_for_pandas(tmp_path):
    from brainscore_core.scoring import ResultsStore

    store = ResultsStore(tmp_path / "results")
    older, newer = (
        replace(FULL, id=None, created=f"2026-01-1{day}T09:30:12.000000Z", attachments=()) for day in (3, 4)
    )
    for receipt in (older, newer, replace(FAILED, id=None)):
        store.write(receipt)
    table = store.to_pandas()
    assert table[["model", "state"]].to_numpy().tolist() == [["broken", "failed"], ['net, "wide"', "scored"]]
    assert table["created"][1] == pd.Timestamp(newer.created)
    assert table["score"].tolist()[1] == 0.1 + 0.2
    assert pd.isna(table["score"][0])
    assert {name: str(kind) for name, kind in table.dtypes.items() if name in ("cache_hits", "isolated", "score")} == {
        "score": "float64",
        "cache_hits": "Int64",
        "isolated": "boolean",
    }
    assert len(store.to_pandas(model="broken")) == 1
    assert len(store.listing().to_pandas()) == 3
    empty = ResultsStore(tmp_path / "empty").to_pandas()
    assert (len(empty), list(empty.columns)) == (0, [column.name for column in EXPORT_COLUMNS])


def test_both_formats_hold_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    tables = []
    for suffix in (".csv", ".parquet"):
        export_table([FULL, FAILED], tmp_path / f"table{suffix}")
        tables.append(read(tmp_path / f"table{suffix}"))
    for column in EXPORT_COLUMNS:
        left, right = (table[column.name] for table in tables)
        if column.type == "number":
            np.testing.assert_allclose(left, right, rtol=1e-15, err_msg=column.name)
        else:
            left, right = ([None if pd.isna(value) else value for value in side] for side in (left, right))
            assert left == right, column.name


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "＝1+1"])
def test_csv_has_no_formulas(name):
    stream = io.BytesIO()
    write_rows([{"model": name, "score": -0.5}], EXPORT_COLUMNS[:2], stream)
    assert list(csv.reader(io.StringIO(stream.getvalue().decode())))[1] == [f"'{name}".replace("\r", "\n"), "-0.5"]


def test_csv_has_all_digits(tmp_path):
    export_table([FULL], tmp_path / "table.csv")
    (row,) = csv.DictReader((tmp_path / "table.csv").open(newline="", encoding="utf-8"))
    assert (float(row["score"]), float(row["error"])) == (0.1 + 0.2, 1e-17)
    assert (row["peak_memory_here"], row["control"], row["isolated"]) == ("true", "false", "true")
    assert (row["model"], row["cpu"]) == ('net, "wide"', "Ünïcode CPU")


def test_the_documentation_lists_the_columns():
    page = (Path(__file__).parents[3] / "docs" / "verification.md").read_text(encoding="utf-8")
    table = page.split("<!-- begin: columns -->")[1].split("<!-- end: columns -->")[0].strip().splitlines()
    assert table[:2] == ["| column | type | holds |", "|---|---|---|"]
    assert table[2:] == [f"| `{each.name}` | {each.type} | {each.meaning} |" for each in EXPORT_COLUMNS]


def test_parquet_explains_its_columns(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export_table([], tmp_path / "empty.parquet")
    schema = parquet.read_schema(tmp_path / "empty.parquet")
    assert schema.field("error").metadata[b"meaning"] == b"standard error of the score"
    assert str(schema.field("cache_hits").type) == "int64"


def test_an_empty_table_has_a_header(tmp_path):
    assert export_table([], tmp_path / "empty.csv") == 0
    assert (tmp_path / "empty.csv").read_text().splitlines()[0].startswith("id,created,model,benchmark,version,")


def test_an_older_table_stays_where_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("older")

    def fail(rows, columns, stream):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("brainscore_core.results.export._write_csv", fail)
    with pytest.raises(UserError, match="No space left"):
        export_table([FULL], path)
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_format(tmp_path):
    with pytest.raises(UserError, match=r"table\.xlsx") as raised:
        export_table([FULL], tmp_path / "table.xlsx")
    assert raised.value.remedy == "use a name that ends in .csv or .parquet"


def test_without_pyarrow_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match="pyarrow") as raised:
        export_table([FULL], tmp_path / "table.parquet")
    assert 'pip install "brainscore[tables]"' in raised.value.remedy
    assert not list(tmp_path.iterdir())
