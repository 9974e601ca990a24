import csv
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from brainscore.cli._options import parse_moment
from brainscore.cli.results import command
from brainscore_core.errors import UserError
from brainscore_core.receipts.assessment import Assessment, Used
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.scoring import (
    AttachmentInfo,
    BenchmarkInfo,
    CeilingEstimate,
    Environment,
    ErrorInfo,
    Estimate,
    ModelInfo,
    Receipt,
    ResultsStore,
    RunInfo,
    WeightsItem,
)


@pytest.fixture
def store(tmp_path):
    store = ResultsStore(tmp_path / "results")
    for model, value in (("a", 0.1), ("a", 0.2), ("b", 0.3)):
        store.write(
            Receipt(
                model=ModelInfo(identifier=model),
                benchmark=BenchmarkInfo(identifier="A2026-pls", version=1),
                state="scored",
                score=Estimate(value=value, error=0.01, ci=(value - 0.02, value + 0.02)),
            )
        )
    store.write(
        Receipt(
            model=ModelInfo(identifier="c"),
            benchmark=BenchmarkInfo(identifier="A2026-pls"),
            state="failed",
            reason="ValueError: boom",
            error=ErrorInfo(type="ValueError", message="boom", traceback="Traceback …"),
        )
    )
    return store


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def test_ls(store):
    listed = json.loads(run("ls", "--results", store.folder, "--json").stdout)
    assert [(entry["model"], entry["score"]) for entry in listed] == [("a", 0.1), ("a", 0.2), ("b", 0.3), ("c", None)]
    newest = json.loads(run("ls", "--results", store.folder, "--newest", "--model", "a", "--json").stdout)
    assert [entry["score"] for entry in newest] == [0.2]
    lines = run("ls", "--results", store.folder).stdout.split()
    assert lines == [entry["id"] for entry in listed]


def test_ls_of_nothing(tmp_path):
    result = run("ls", "--results", tmp_path / "none")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(run("ls", "--results", tmp_path / "none", "--json").stdout) == []


def test_ls_names_what_cannot_be_read(store):
    (store.folder_of("a", "A2026-pls") / "broken.json").write_text("{")
    result = run("ls", "--results", store.folder, "--json")
    assert len(json.loads(result.stdout)) == 4
    assert "broken.json" in result.stderr


def test_show(store):
    receipt = store.latest("b", "A2026-pls")
    assert json.loads(run("show", receipt.id, "--results", store.folder, "--json").stdout) == receipt.to_dict()
    text = run("show", receipt.id[:-3], "--results", store.folder).stdout
    assert "0.300 (95 %: 0.280–0.320)" in text
    assert str(store.path_of(receipt)) in text
    text = run("show", store.latest("c", "A2026-pls").id, "--results", store.folder).stdout
    assert "ValueError: boom" in text
    assert "Traceback" in text


def test_an_undetermined_score(store):
    """The raw score and the reason in text; the value as computed in JSON."""
    receipt = replace(
        store.latest("b", "A2026-pls"),
        id="",
        created="",
        score=Estimate(value=3.0, ci=(1.3, math.inf), ci_level=0.95, ci_estimates="new stimuli", scale="ceiled"),
        raw=Estimate(value=0.3),
        ceiling=CeilingEstimate(value=0.1, ci=(-0.01, 0.2)),
    )
    stored = store.write(receipt)
    reason = "the interval of the ceiling 0.100, -0.010 to 0.200, includes 0"
    text = run("show", stored.id, "--results", store.folder).stdout
    assert f"undetermined (raw 0.300): {reason}" in " ".join(text.split())
    assert "1.300 and more, no upper limit; new stimuli" in " ".join(text.split())
    shown = json.loads(run("show", stored.id, "--results", store.folder, "--json").stdout)
    assert (shown["score"]["value"], shown["score"]["ci"]) == (3.0, [1.3, None])
    (row,) = json.loads(run("ls", "--results", store.folder, "--newest", "--model", "b", "--json").stdout)
    assert (row["score"], row["undetermined"]) == (3.0, reason)


def test_show_of_an_unknown_receipt(store):
    with pytest.raises(UserError, match="no receipt"):
        run("show", "20200101T000000000000Z-000000000000", "--results", store.folder)


def listed(store, *arguments):
    return [entry["id"] for entry in json.loads(run("ls", "--results", store.folder, "--json", *arguments).stdout)]


@pytest.fixture
def mixed(tmp_path):
    """Two models on two benchmarks, of two days, two runs and two states."""
    store = ResultsStore(tmp_path / "mixed")
    old, new = "2026-01-10T12:00:00.000000Z", "2026-02-10T12:00:00.000000Z"
    for model, benchmark, created, run_id, state in (
        ("net-1", "A2026-pls", old, "run-a", "scored"),
        ("net-1", "A2026-pls", new, "run-b", "scored"),
        ("net-2", "A2026-pls", old, "run-a", "failed"),
        ("net-2", "B2026-rdm", new, "run-b", "undefined"),
        ("other", "B2026-rdm", new, None, "scored"),
    ):
        store.write(
            Receipt(
                model=ModelInfo(identifier=model),
                benchmark=BenchmarkInfo(identifier=benchmark, version=1),
                state=state,
                created=created,
                score=Estimate(value=0.5) if state == "scored" else None,
                reason=None if state == "scored" else "why",
                error=ErrorInfo(type="E", message="m", traceback="t") if state == "failed" else None,
                run=RunInfo(id=run_id) if run_id else None,
            )
        )
    return store


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--model", "net-1"], 2),
        (["--model", "net-*"], 4),
        (["--model", "net-1", "--model", "other"], 3),
        (["--benchmark", "B2026-rdm", "--model", "net-2"], 1),
        (["--benchmark", "?2026-rdm"], 2),
        (["--state", "failed"], 1),
        (["--state", "failed", "--state", "undefined"], 2),
        (["--since", "2026-02-01"], 3),
        (["--since", "2026-02-10T13:00+01:00"], 3),
        (["--since", "2026-02-10T12:00:01"], 0),
        (["--run", "run-a"], 2),
        (["--run", "run"], 4),
        (["--newest"], 4),
        (["--limit", "2"], 2),
    ],
)
def test_ls_of_some(mixed, arguments, expected):
    found = listed(mixed, *arguments)
    assert len(found) == expected
    assert found == [receipt for receipt in listed(mixed) if receipt in found] or "--newest" in arguments


def test_ls_limits_to_the_newest(mixed):
    assert listed(mixed, "--limit", "2") == listed(mixed)[-2:]


def test_ls_of_an_unknown_state(mixed):
    result = run("ls", "--results", mixed.folder, "--state", "done")
    assert result.exit_code == 2
    assert "The states are: scored, undefined, not applicable, failed." in result.stderr


def test_moments():
    now = datetime(2026, 2, 1, 12, tzinfo=UTC)
    assert parse_moment("90min", now=now) == now - timedelta(minutes=90)
    assert parse_moment(" 1.5 d ", now=now) == now - timedelta(hours=36)
    assert parse_moment("2026-01-31T12:00+02:00") == datetime(2026, 1, 31, 10, tzinfo=UTC)
    for wrong in ("yesterday", "7", "99999999999w"):
        with pytest.raises(UserError):
            parse_moment(wrong)


def test_show_of_everything(tmp_path):
    store = ResultsStore(tmp_path)
    receipt = store.write(
        Receipt(
            model=ModelInfo(identifier="net"),
            benchmark=BenchmarkInfo(identifier="A2026-pls", version=1),
            state="undefined",
            reason="no neuroid is reliable",
            weights=(WeightsItem(identifier="net", sha256="c" * 64),),
            run=RunInfo(id="run-1", isolated=True, environment="key", packages={"torch": "2.4"}),
            environment=Environment(python="CPython 3", platform="Linux", cpu=None, cpu_count=2, packages={"a": "1"}),
        )
    )
    text = run("show", receipt.id, "--results", tmp_path).stdout
    for expected in (
        receipt.id,
        "undefined: no neuroid is reliable",
        "net cccccccccccc…",
        "run-1, the model in a process of its own",
        "key torch 2.4",
        "a 1",
        store.address_of(receipt),
    ):
        assert expected in text
    with pytest.raises(UserError, match="log"):
        run("show", receipt.id, "--results", tmp_path, "--log")


def test_export(mixed, tmp_path):
    path = tmp_path / "table.csv"
    result = run("export", path, "--results", mixed.folder, "--model", "net-*", "--newest")
    assert result.stdout == f"3 receipts: {path}\n"
    rows = list(csv.DictReader(path.open(newline="")))
    assert [(row["model"], row["benchmark"], row["score"], row["state"]) for row in rows] == [
        ("net-1", "A2026-pls", "0.5", "scored"),
        ("net-2", "A2026-pls", "", "failed"),
        ("net-2", "B2026-rdm", "", "undefined"),
    ]
    told = json.loads(run("export", path, "--results", mixed.folder, "--json").stdout)
    assert (told["rows"], told["file"], told["unreadable"]) == (5, str(path), 0)
    with pytest.raises(UserError, match=r"table\.txt"):
        run("export", tmp_path / "table.txt", "--results", mixed.folder)


def test_rm_asks(mixed):
    first = listed(mixed)[0]
    arguments = [command, ["rm", first[:-3], "--results", str(mixed.folder)]]
    refused = CliRunner().invoke(*arguments, input="n\n")
    assert refused.exit_code == 1
    assert f"Remove 1 receipt from {mixed.folder}?" in refused.stderr
    assert first in refused.stderr
    assert len(listed(mixed)) == 5
    assert CliRunner().invoke(*arguments).exit_code == 1  # nobody answers
    assert len(listed(mixed)) == 5
    agreed = CliRunner().invoke(*arguments, input="y\n")
    assert agreed.exit_code == 0
    assert f"Removed {first}  net-" in agreed.stdout
    assert agreed.stdout.endswith((" on A2026-pls: scored\n", " on A2026-pls: failed\n"))
    assert first not in listed(mixed)


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["--model", "net-1"], 3),
        (["--benchmark", "A2026-*", "--older-than", "2026-02-01"], 3),
        (["--state", "failed"], 4),
        (["--older-than", "1d"], 0),
        (["--older-than", "99999d"], 5),
        (["--superseded"], 4),
        (["--superseded", "--state", "failed"], 5),
        (["--run", "run-b"], 3),
    ],
)
def test_rm_of_some(mixed, arguments, left):
    before = listed(mixed)
    dry = json.loads(run("rm", *arguments, "--results", mixed.folder, "--dry-run", "--json").stdout)
    assert listed(mixed) == before
    told = json.loads(run("rm", *arguments, "--results", mixed.folder, "--yes", "--json").stdout)
    removed = [entry["id"] for entry in told.get("removed", [])]
    assert removed == [entry["id"] for entry in dry["would_remove"]]
    assert [entry for entry in before if entry not in removed] == listed(mixed)
    assert len(listed(mixed)) == left


def test_a_score_is_not_superseded_by_a_failure(store):
    first, second = store.listing(model="a").receipts
    failed = replace(store.latest("c", "A2026-pls"), id="", created="", model=first.model)
    newest = store.write(failed)
    told = json.loads(run("rm", "--superseded", "--dry-run", "--json", "--results", store.folder).stdout)
    assert [entry["id"] for entry in told["would_remove"]] == [first.id]
    assert {second.id, newest.id} <= {receipt.id for receipt in store.listing().receipts}


def test_rm_takes_what_lies_beside_a_receipt(tmp_path):
    from brainscore_core.results.store import Arrays
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

    store = ResultsStore(tmp_path / "store")
    receipt = Receipt(
        model=ModelInfo(identifier="a"),
        benchmark=BenchmarkInfo(identifier="b"),
        state="scored",
        score=Estimate(value=0.5),
    )
    raw = {"raw": Arrays(DataAssembly([0.5], coords={"neuroid_id": ("neuroid", ["n"])}, dims=["neuroid"]))}
    gone, stays = store.write(receipt, raw), store.write(receipt, raw)
    assert isinstance(gone.attachments[0], AttachmentInfo)
    run("rm", gone.id, "--yes", "--results", store.folder)
    names = [path.name for path in store.folder_of("a", "b").iterdir() if not path.name.startswith(".")]
    assert sorted(names) == sorted([f"{stays.id}.json", stays.attachments[0].name])


def test_rm_needs_to_be_told_what(mixed):
    with pytest.raises(UserError, match="no receipts are selected"):
        run("rm", "--results", mixed.folder, "--yes")
    with pytest.raises(UserError, match="receipt ids and options"):
        run("rm", listed(mixed)[0], "--model", "net-1", "--results", mixed.folder, "--yes")
    with pytest.raises(UserError, match="no receipt"):
        run("rm", listed(mixed)[0], "20990101", "--results", mixed.folder, "--yes")
    assert len(listed(mixed)) == 5


def test_rm_leaves_what_is_being_scored(mixed):
    script = (
        "import sys; from brainscore_core.scoring import ResultsStore; "
        "claim = ResultsStore(sys.argv[1]).claim('net-1', 'A2026-pls', owner='test'); "
        "print(claim is not None, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(mixed.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "True\n"
        result = run("rm", "--model", "net-*", "--yes", "--results", mixed.folder)
        other.stdin.close()
    assert result.exit_code == 1
    assert result.stderr.count("(net-1 on A2026-pls): its pair is being scored") == 2
    assert result.stdout.count("Removed") == 2
    left = [(entry.model.identifier, entry.benchmark.identifier) for entry in mixed.listing().receipts]
    assert sorted(left) == [("net-1", "A2026-pls"), ("net-1", "A2026-pls"), ("other", "B2026-rdm")]


def test_diff(store):
    first, second = (receipt.id for receipt in store.listing(model="a").receipts)
    result = run("diff", first, second, "--results", store.folder)
    assert result.exit_code == 1
    assert "verdict  different" in result.stdout
    assert "score: 0.1 and 0.2" in result.stdout
    found = json.loads(run("diff", first, second, "--results", store.folder, "--json").stdout)
    assert found["verdict"] == "different"
    assert found["numbers"][0]["apart"] == pytest.approx(0.1)
    wide = run("diff", first, second, "--results", store.folder, "--tolerance", "0.2")
    assert wide.exit_code == 0
    assert "within tolerance" in wide.stdout


def test_diff_of_files_and_of_other_pairs(store, tmp_path):
    a, b = store.latest("a", "A2026-pls"), store.latest("b", "A2026-pls")
    moved = tmp_path / "moved.json"
    moved.write_text(replace(a).to_json())
    result = run("diff", moved, b.id, "--results", store.folder)
    assert result.exit_code == 0
    assert "verdict  other pair" in result.stdout
    assert "brainscore compare" in result.stdout
    assert run("diff", moved, a.id, "--results", tmp_path / "none", "--results", store.folder).exit_code == 0


def test_results_in_a_bucket(s3_server):
    boto3 = pytest.importorskip("boto3")
    boto3.client("s3", endpoint_url=s3_server).create_bucket(Bucket="lab")
    store = ResultsStore("s3://lab/results")
    ids = [
        store.write(
            Receipt(
                model=ModelInfo(identifier="net"),
                benchmark=BenchmarkInfo(identifier="A2026-pls", version=1),
                state="scored",
                score=Estimate(value=value),
            )
        ).id
        for value in (0.25, 0.5)
    ]
    where = ("--results", "s3://lab/results")
    assert run("ls", *where).stdout.split() == ids
    assert "s3://lab/results/A2026-pls/net/" in run("show", ids[0], *where).stdout
    assert "different" in run("diff", *ids, *where).stdout
    assert "net" in run("tree", *where).stdout or "Not on the leaderboard" in run("tree", *where).stderr
    assert f"Removed {ids[0]}" in run("rm", "--superseded", "--yes", *where).stdout
    assert run("ls", *where).stdout.split() == ids[1:]
    assert "AWS_ENDPOINT_URL" in os.environ


@pytest.mark.parametrize(
    ("options", "assessments"),
    [
        ((), 3),
        (("--newest",), 2),
        (("--benchmark", "B2026*"), 1),
        (("--model", "net"), 1),
        (("--since", "2100-01-01"), 0),
    ],
)
def test_export_of_assessments(tmp_path, options, assessments):
    store = AssessmentStore(tmp_path / "results")
    for name, models in (("A2026-pls", ()), ("A2026-pls", ()), ("B2026-pls", ("net",))):
        used = tuple(Used(kind="model", identifier=model) for model in models)
        about = Used(kind="benchmark", identifier=name)
        store.write(Assessment(part="audit", benchmark=about, models=used, state="assessed", result={"stimuli": 3}))
    broken = tmp_path / "results" / ".assessments" / "A2026-pls" / "audit" / "20200101T000000000000Z-000000000000.json"
    broken.write_text("{")
    path = tmp_path / "table.csv"
    result = run("export", path, "--results", tmp_path / "results", "--assessments", *options)
    assert result.stdout == f"{assessments} assessments, {assessments} rows: {path}\n"
    assert "cannot be read" in result.stderr
    with path.open() as stream:
        assert [row["kind"] for row in csv.DictReader(stream)] == ["stimuli"] * assessments


def test_assessments_have_no_run(tmp_path):
    with pytest.raises(UserError, match="no run"):
        run("export", tmp_path / "table.csv", "--results", tmp_path, "--assessments", "--run", "one")
