import csv
import io
import json
import re
from datetime import date

import numpy as np
import pandas as pd
import pytest
from django.contrib.auth.models import AnonymousUser
from pyarrow import parquet as reader

from brainscore_core.errors import UserError
from brainscore_core.plugins.bibtex import parse_bibtex
from brainscore_web.leaderboard import export, revision
from brainscore_web.leaderboard.board import STATES, board_of
from brainscore_web.leaderboard.export import CitedItem, merge_bibtex
from brainscore_web.leaderboard.exposure import EXPOSURES
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, VisionModel
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

EVERYBODY = AnonymousUser()


def made(visitor=EVERYBODY, **state):
    return board_of(snapshot_for(visitor, at=state.get("at")), BoardState(**state))


def test_wide_csv_has_what_the_board_has(board):
    shown = made(region=("V1", "IT"))
    frame = pd.read_csv(io.BytesIO(export.csv(shown)))
    assert frame["model"].tolist() == [model.identifier for model in shown.models]
    assert frame["rank"].tolist() == shown.rank.tolist()
    assert frame["rank_best"].fillna(0).tolist() == shown.best.tolist()
    assert (frame["rank_worst"] < len(frame)).any()
    assert frame["parameters"].tolist() == [model.parameters for model in shown.models]
    for place, node in enumerate(shown.nodes):
        for suffix, array in (("", shown.values), (":error", shown.errors), (":low", shown.low), (":high", shown.high)):
            np.testing.assert_array_equal(frame[node.identifier + suffix], array[:, place])
        assert frame[f"{node.identifier}:state"].tolist() == [STATES[code] for code in shown.states[:, place]]
        exposure = [EXPOSURES[code] if code >= 0 else "" for code in shown.exposure[:, place]]
        assert frame[f"{node.identifier}:exposure"].fillna("").tolist() == exposure
        if node.kind == "mean":
            assert frame[f"{node.identifier}:n_scored"].tolist() == shown.n_scored[:, place].tolist()
            assert frame[f"{node.identifier}:n_all"].tolist() == shown.n_all[:, place].tolist()
        assert frame[f"{node.identifier}:condition"].isna().all()
    assert len(frame.columns) == 16 + sum(10 if node.kind == "mean" else 8 for node in shown.nodes)


def test_conditions_are_exported(db, board):
    version = BenchmarkVersion.objects.filter(benchmark__identifier="Simulated015.IT-rdm")
    version.update(condition="these 2 subjects only; other subjects: unknown")
    revision.bump()
    shown = made()
    long = pd.read_csv(io.BytesIO(export.csv(shown, form="long"))).set_index("node")["condition"].fillna("")
    n = shown.nodes[shown.root].n_benchmarks
    expected = f"these 2 subjects only, on 1 of {n} benchmarks; others: unknown"
    assert set(long["Simulated015.IT-rdm"]) == {"these 2 subjects only; other subjects: unknown"}
    assert set(long[shown.nodes[shown.root].identifier]) == {expected}
    assert f"Intervals, differences and ranks hold for {expected}." in shown.notes


def test_long_forms_are_the_wide_one_melted(board):
    shown = made()
    long = pd.read_csv(io.BytesIO(export.csv(shown, form="long")))
    assert len(long) == shown.values.size
    wide = pd.read_csv(io.BytesIO(export.csv(shown))).set_index("model")
    for suffix, column in (("", "value"), (":error", "error"), (":state", "state")):
        table = long.pivot(index="model", columns="node", values=column)
        for node in shown.nodes:
            pd.testing.assert_series_equal(
                table[node.identifier].loc[wide.index], wide[node.identifier + suffix], check_names=False
            )
    of_leaf = long[long["kind"] == "benchmark"]
    assert set(of_leaf["version"]) == {2}
    assert set(long["kind"]) == {"mean", "benchmark"}


@pytest.mark.parametrize("form", export.FORMS)
def test_parquet_has_types_and_says_what_it_is(board, form):
    at = date(2024, 12, 1)
    shown = made(over="scored", q="vit", at=at)
    table = reader.read_table(io.BytesIO(export.parquet(shown, form=form)))
    from_csv = pd.read_csv(io.BytesIO(export.csv(shown, form=form)), keep_default_na=False, na_values=[""])
    frame = table.to_pandas()
    assert list(frame.columns) == list(from_csv.columns)
    if form == "wide":
        types = {name: str(table.schema.field(name).type) for name in ("model", "parameters", "runnable", "rank", "V1")}
        assert types == {"model": "string", "parameters": "int64", "runnable": "bool", "rank": "int64", "V1": "double"}
        np.testing.assert_allclose(frame["V1"].astype(float), from_csv["V1"])
    metadata = {key.decode(): text.decode() for key, text in table.schema.metadata.items()}
    assert metadata["brainscore.query"] == "q=vit&over=scored&at=2024-12-01"
    assert metadata["brainscore.data"] == shown.snapshot.digest
    assert metadata["brainscore.as_of"] == "2024-12-01"
    assert metadata["brainscore.over"] == "scored"
    assert json.loads(metadata["brainscore.notes"]) == list(shown.notes)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00", metadata["brainscore.exported"])


def test_what_has_no_value_is_missing_not_nan(board):
    shown = made()
    table = export.table(shown)
    for place, node in enumerate(shown.nodes):
        assert table[node.identifier].null_count == np.isnan(shown.values[:, place]).sum()
    text = export.csv(shown).decode()
    assert "nan" not in text.lower().replace("outstanding", "")


@pytest.mark.parametrize("form", export.FORMS)
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_is_a_formula(board, start, form):
    bad = f'{start}HYPERLINK("x")'
    model = VisionModel.objects.filter(visibility="public").first()
    VisionModel.objects.filter(pk=model.pk).update(title=bad, family=bad, identifier=bad)
    Benchmark.objects.filter(identifier=board.benchmarks[0]).update(identifier=bad)
    revision.bump()
    shown = made()
    rows = list(csv.reader(io.StringIO(export.csv(shown, form=form).decode(), newline="")))
    cells = {cell for row in rows for cell in row}
    assert f"'{bad}" in cells
    numbers = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r\n")) and not numbers.fullmatch(cell)]
    assert bad in export.table(shown, form=form)["model"].to_pylist()  # typed files keep it as it is


def test_all_nodes_are_exported_whether_open_or_not(board):
    closed, opened = made(open=()), made(open=("V1", "IT"))
    assert export.csv(closed) == export.csv(opened)


def test_other_forms_are_refused():
    with pytest.raises(UserError, match="unknown form 'tall'"):
        export.table(None, form="tall")


@pytest.mark.parametrize("state", [{"q": "nothing-of-the-kind"}, {"region": ("nowhere",)}])
@pytest.mark.parametrize("form", export.FORMS)
def test_empty_boards_are_tables_without_rows_or_nodes(board, state, form):
    shown = made(**state)
    frame = pd.read_csv(io.BytesIO(export.csv(shown, form=form)))
    assert len(frame) == (len(shown.models) if form == "wide" else shown.values.size)
    table = reader.read_table(io.BytesIO(export.parquet(shown, form=form)))
    full = export.table(made(), form=form)
    assert [str(one.type) for one in table.schema] == [str(full.schema.field(name).type) for name in table.column_names]


class TestBibtex:
    def test_it_cites_what_is_shown(self, board, django_assert_num_queries):
        shown = made(q="vit", region=("V1",))
        with django_assert_num_queries(2):
            text = export.bibtex(shown)
        entries = parse_bibtex(text)
        assert len(entries) == len(shown.models) + sum(node.kind == "benchmark" for node in shown.nodes)
        titles = {entry.fields["title"] for entry in entries}
        assert "Simulated model 2" in titles  # simulated-vit-002
        assert "Simulated model 1" not in titles
        assert "Simulated benchmark 0" in titles  # of V1
        assert text.startswith("% Brain-Score leaderboard")
        assert "query q=vit&region=V1" in text.splitlines()[0]

    def test_never_what_is_private(self, board, owner, staff):
        for visitor in (EVERYBODY, owner, staff):
            text = export.bibtex(made(visitor))
            assert "Simulated model 11" not in text
            assert board.models[-1] not in text

    def test_entries_are_read_again_as_they_were(self):
        bibtex = (
            '@Article{Müller2020, author = "M{\\"u}ller, A", title = {On {IT} \\{x\\}}'
            ', month = jan # "~1", year = 2020}'
        )
        (entry,) = parse_bibtex(merge_bibtex("head", [CitedItem("model", "m", bibtex)]))
        (original,) = parse_bibtex(bibtex)
        assert entry == original

    @pytest.mark.parametrize(
        ("entries", "keys"),
        [
            (["@misc{a, title={x}}"] * 3, ["a"]),
            (["@misc{a, title={x}}", "@misc{a, title={y}}", "@misc{a, title={z}}"], ["a", "aa", "ab"]),
            (["@misc{a, title={x}}", "@misc{A, title={y}}"], ["a", "Aa"]),
            (["@misc{a, title={x}}", "@misc{a, title={y}}", "@misc{aa, title={z}}"], ["a", "ab", "aa"]),
            (["@misc{a, title={x}}\n@misc{b, title={y}}", "@misc{b, title={y}}"], ["a", "b"]),
        ],
    )
    def test_keys_are_unique(self, entries, keys):
        text = merge_bibtex("head", [CitedItem("model", f"m{number}", one) for number, one in enumerate(entries)])
        assert [entry.key for entry in parse_bibtex(text)] == keys

    @pytest.mark.parametrize(
        "bad", ["no entry", "@misc{a, title = {x}", '@misc{a, title = "x}{"}', "@misc{, title={x}}"]
    )
    def test_what_cannot_be_read_spoils_nothing(self, bad):
        text = merge_bibtex(
            "head", [CitedItem("model", "evil @misc{\nx", bad), CitedItem("model", "good", "@misc{a, title={x}}")]
        )
        assert [entry.key for entry in parse_bibtex(text)] == ["a"]
        assert "% model evil (at)misc{ x: its citation is not valid BibTeX" in text
