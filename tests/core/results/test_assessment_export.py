"""Assessments as a table."""

from pathlib import Path

import pandas as pd
import pytest

from brainscore_core.errors import UserError
from brainscore_core.receipts.assessment import Assessment, Used
from brainscore_core.results.assessments import ASSESSMENT_COLUMNS, assessment_rows, export_assessments

LOSS = {"rule": "scene", "model": "pixels", "default": 0.3, "grouped": 0.1, "grouped_ci": [0.0, 0.2], "loss": 0.2,
        "ci": [0.15, 0.25], "p": 0.001, "reason": None}  # fmt: skip
AUDIT = {
    "stimuli": 90, "units": {"pictures": 88, "scene": 9},
    "overlaps": [{"kind": "scene", "groups": 9, "stimuli": 90, "pairs": None, "share": 0.5, "reason": None}],
    "copies": [{"kind": "repetitions", "presentations": 3, "of": 90, "examples": []}],
    "tests": [{"kind": "drift", "recordings": "averaged", "value": 0.2, "p": 0.01, "p_corrected": 0.02}],
    "losses": [LOSS],
}  # fmt: skip
CONTROLS = {
    "model": "net", "score": 0.5, "ci": [0.4, 0.6],
    "controls": [{"name": "gabor", "kind": "baseline", "score": 0.25, "ci": [0.1, 0.3], "reason": None,
                  "difference": {"value": 0.25, "ci": [0.1, 0.4], "p": 0.01}}],
}  # fmt: skip
SHARE = {"found": 3, "experiments": 4, "share": 0.75, "low": 0.19, "high": 0.99}
RECOVERY = {
    "candidates": ["pixels", "net"],
    "confusions": [{"generator": "sampled units", "found": [SHARE, {**SHARE, "share": 1.0}], "overall": SHARE}],
    "mixtures": [{"generator": "sampled units", "first": "pixels", "second": "net", "smallest": 0.5}],
}


def assessed(part, result, models=(), **fields):
    return Assessment(
        part=part,
        benchmark=Used(kind="benchmark", identifier="A2026.IT-pls", version=3),
        models=tuple(Used(kind="model", identifier=model) for model in models),
        **{"state": "assessed", "result": result, **fields},
    ).identified()


EVERY = [
    assessed("audit", AUDIT),
    assessed("controls", CONTROLS, ("net",)),
    assessed("recovery", RECOVERY, ("pixels", "net")),
    assessed("audit", None, state="failed", reason="ValueError: no"),
]


def rows_of(assessment):
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in assessment_rows([assessment.to_dict()])
    ]


def without_origin(assessment):
    origin = {"id", "created", "benchmark", "version", "part", "models", "state", "seconds"}
    return [{name: value for name, value in row.items() if name not in origin} for row in rows_of(assessment)]


def test_an_audit():
    assert without_origin(EVERY[0]) == [
        {"kind": "stimuli", "count": 90},
        {"kind": "independent units", "name": "pictures", "count": 88},
        {"kind": "independent units", "name": "scene", "count": 9},
        {"kind": "overlap", "name": "scene", "value": 0.5, "count": 90},
        {"kind": "equal responses", "name": "repetitions", "count": 3},
        {"kind": "serial test", "name": "drift", "group": "averaged", "value": 0.2, "p": 0.02},
        {"kind": "loss", "name": "scene", "group": "pixels", "value": 0.1, "ci_low": 0.0, "ci_high": 0.2,
         "difference": 0.2, "difference_ci_low": 0.15, "difference_ci_high": 0.25, "p": 0.001},
    ]  # fmt: skip


def test_controls():
    model, control = without_origin(EVERY[1])
    assert model == {"kind": "model", "name": "net", "value": 0.5, "ci_low": 0.4, "ci_high": 0.6}
    assert (control["name"], control["group"], control["value"]) == ("gabor", "baseline", 0.25)
    assert (control["difference"], control["difference_ci_low"], control["p"]) == (0.25, 0.1, 0.01)


def test_a_recovery():
    rows = without_origin(EVERY[2])
    assert [(row["kind"], row["name"], row["value"]) for row in rows] == [
        ("recovered", "pixels", 0.75),
        ("recovered", "net", 1.0),
        ("recovered", "all candidates", 0.75),
        ("smallest mixture", "pixels and net", 0.5),
    ]
    assert {row["models"] for row in rows_of(EVERY[2])} == {"pixels; net"}


def test_without_a_result():
    (row,) = rows_of(EVERY[3])
    assert (row["state"], row["reason"]) == ("failed", "ValueError: no")
    assert "kind" not in row


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files(tmp_path, ending):
    path = tmp_path / f"assessments.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    assert export_assessments(EVERY, path) == 14
    if ending == "csv":
        table = pd.read_csv(path, dtype={column.name: column.pandas_type for column in ASSESSMENT_COLUMNS})
    else:
        table = pd.read_parquet(path)
    assert list(table) == [column.name for column in ASSESSMENT_COLUMNS]
    assert table["count"][0] == 90
    assert table["difference"].dropna().tolist() == [0.2, 0.25]
    assert table["created"].notna().all()


def test_another_ending(tmp_path):
    with pytest.raises(UserError, match=r"table\.txt"):
        export_assessments(EVERY, tmp_path / "table.txt")


def test_the_documentation_lists_the_columns():
    page = Path(__file__).parents[3].joinpath("docs", "validity", "export.md").read_text(encoding="utf-8")
    table = page.split("<!-- begin: columns -->")[1].split("<!-- end: columns -->")[0].strip().splitlines()
    assert table[2:] == [f"| `{column.name}` | {column.type} | {column.meaning} |" for column in ASSESSMENT_COLUMNS]
