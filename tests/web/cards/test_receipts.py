"""Receipts on the site: what they show, and to whom."""

from dataclasses import replace

import pytest

from brainscore_core.receipts.receipt import (
    AttachmentInfo,
    CacheUse,
    CeilingEstimate,
    DataItem,
    Environment,
    ErrorInfo,
    FeaturesItem,
    FileItem,
    Memory,
    PluginCode,
    RunInfo,
    ScoreAtAngle,
    Timings,
    VisualAngle,
    WeightsItem,
)
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt
from brainscore_web.leaderboard.models import Score

NUMBERS = {"value": 0.5, "error": 0.01, "low": 0.48, "high": 0.52, "level": 0.9, "raw": 0.4, "raw_error": 0.008}
SECRET = "https://bucket.example.org/private/assy_secret.nc"


@pytest.fixture
def receipt(board):
    """A whole receipt, of a public benchmark; one like it of a benchmark with withheld data."""
    return Receipt(
        model=ModelInfo(
            identifier=board.models[0],
            plugin=PluginCode(name="net", sha256="a" * 64),
            visual_angle=VisualAngle(degrees=8, stated=False, others=(ScoreAtAngle(degrees=4, value=0.24),)),
        ),
        benchmark=BenchmarkInfo(identifier=board.benchmarks[0], version=2),
        state="scored",
        score=Estimate(
            value=0.5, error=0.01, ci=(0.48, 0.52), ci_level=0.9, ci_estimates="mean over splits", scale="ceiled"
        ),
        raw=Estimate(value=0.4, error=0.008, scale="correlation"),
        ceiling=CeilingEstimate(value=0.8, error=0.02, meaning="reliability"),
        data=(
            DataItem(
                kind="stimulus_set",
                identifier="Some.stimuli",
                plugin=PluginCode(name="some", distribution="brainscore", version="1.0"),
            ),
        ),
        files=(FileItem(url=SECRET, sha1="b" * 40),),
        weights=(WeightsItem(identifier="weights.pth", sha256="c" * 64),),
        features=(
            FeaturesItem(region="V4", layers=("relu",), stimuli=2560, features=43264, effective_dimensionality=37.25),
        ),
        environment=Environment(
            python="CPython 3.12", platform="Linux", cpu="some cpu", cpu_count=8, packages={"numpy": "2.3"}
        ),
        run=RunInfo(id="run-1", isolated=True),
        seeds={"splits": 1},
        device="cuda",
        timings=Timings(load_model=0.5, score=75.0),
        memory=Memory(peak_bytes=3_200_000_000),
        cache=CacheUse(hits=3, misses=1),
        attachments=(AttachmentInfo(kind="raw", name="", sha256="d" * 64, bytes=2048),),
        notes=("nothing else",),
    ).identified()


def keep(made, board, benchmark, **values):
    one = Score.objects.filter(model__identifier=board.models[0], state="scored").first()
    from brainscore_web.leaderboard.models import Benchmark

    return Score.objects.create(
        receipt=made.id, model=one.model, benchmark=Benchmark.objects.get(identifier=benchmark), version="2",
        created=made.created, state=made.state, document=made.to_dict(),
        **{"reason": made.reason or "", **NUMBERS, **values},
    )  # fmt: skip


def test_everything_is_shown(board, receipt, get, read):
    keep(receipt, board, board.benchmarks[0], unclamped=1.2)
    said = read(get(f"/vision/receipt/{receipt.id}/"))
    for text in (
        "score 0.500 (90 %: 0.480–0.520)", "raw 0.400 (standard error 0.008)", "ceiling 0.800 (standard error 0.020)",
        "reliability", "load model 0.500 s", "score 1 min 15 s", "device cuda", "splits = 1",
        "CPython 3.12", "some cpu", "3.2 GB",
        "3 found, 1 computed", "run-1", "separate", "net", "a" * 64, "Some.stimuli", "brainscore 1.0", SECRET, "b" * 40,
        "weights.pth", "V4 43,264 37.2 2,560 relu", "numpy 2.3", "2.05 kB", "nothing else",
        "before clamping to 0 and 1 1.200",
        "8°, not stated by the model: a default; score 0.240 at 4°",
    ):  # fmt: skip
        assert text in said, text


def test_the_document_can_be_downloaded(board, receipt, get):
    keep(receipt, board, board.benchmarks[0])
    answer = get(f"/vision/receipt/{receipt.id}/receipt.json")
    assert Receipt.from_json(answer.content) == receipt
    assert answer["Content-Disposition"] == f'attachment; filename="{receipt.id}.json"'


def test_addresses_and_tracebacks_of_withheld_data_are_left_out(board, receipt, get, read, staff):
    from dataclasses import replace

    error = ErrorInfo(type="ValueError", message="no", traceback="the traceback")
    failed = replace(receipt, id="", state="failed", score=None, reason="ValueError: no", error=error).identified()
    assert keep(failed, board, "Simulated002.V4-pls", value=None).benchmark.access == "private"
    for address in (f"/vision/receipt/{failed.id}/", f"/vision/receipt/{failed.id}/receipt.json"):
        outside, inside = (get(address, who).content.decode() for who in (None, staff))
        assert SECRET not in outside
        assert "the traceback" not in outside
        assert SECRET in inside
        assert "the traceback" in inside
        assert "b" * 40 in outside  # the hash says which file it was
    said = read(get(f"/vision/receipt/{failed.id}/"))
    assert "URLs of files, error messages and notes are left out" in said
    assert "ValueError: no" not in said
    assert "It raised an error; its text is withheld" in said
    assert "Traceback" not in said
    assert Score.objects.get(receipt=failed.id).document["files"][0]["url"] == SECRET


def test_what_a_caged_model_says_of_itself_is_left_out(receipt):
    """It has seen what is withheld, and may name its weights, seeds and files as it likes."""
    from dataclasses import replace

    from brainscore_core.isolation.process import SANDBOX_REMARK
    from brainscore_web.leaderboard.reasons import withheld_document

    said = {
        "notes": (SANDBOX_REMARK, "it said this"),
        "reason": "it said that",
        "state": "not applicable",
        "score": None,
    }
    sandboxed = replace(receipt, id="", **said).identified()
    shown = Receipt.from_dict(withheld_document(sandboxed.to_dict()))  # it follows the schema
    assert (shown.files, shown.weights, shown.data, shown.seeds, shown.notes, shown.features) == (
        (),
        (),
        (),
        {},
        (),
        (),
    )
    assert shown.reason.startswith("The model cannot do what the benchmark asks of it")
    assert shown.ceiling == sandboxed.ceiling


def test_only_with_its_model(board, get, owner, member, staff):
    private = Score.objects.filter(model__identifier=board.models[-1]).first()
    for address in (f"/vision/receipt/{private.receipt}/", f"/vision/receipt/{private.receipt}/receipt.json"):
        for who in (None, member):
            get(address, who, status=404)
    for who in (owner, staff):
        get(f"/vision/receipt/{private.receipt}/", who)


def test_what_was_read_from_a_table_has_no_document(board, get, read):
    one = Score.objects.filter(model__identifier=board.models[0]).first()
    assert "The full receipt is not available" in read(get(f"/vision/receipt/{one.receipt}/"))
    get(f"/vision/receipt/{one.receipt}/receipt.json", status=404)
    get("/vision/receipt/none/", status=404)


def test_strange_documents_are_shown_as_far_as_they_go(board, get):
    one = Score.objects.filter(model__identifier=board.models[0]).first()
    for document in ({}, {"files": "none", "data": [1], "timings": None, "error": None, "environment": {}}, ["a list"]):
        Score.objects.filter(pk=one.pk).update(document=document)
        get(f"/vision/receipt/{one.receipt}/")


def test_a_receipt_of_many_and_long_texts_has_a_short_page(board, receipt, get, read):
    made = replace(
        receipt,
        notes=("n",) * 100_000,
        state="failed",
        reason="x",
        score=None,
        raw=None,
        ceiling=None,
        error=ErrorInfo(type="x", message="y", traceback="z" * 3_000_000),
    )
    kept = keep(made, board, board.benchmarks[0])
    page = read(get(f"/vision/receipt/{kept.receipt}/"))
    assert "99,500 more in the receipt" in page
    assert len(page) < 100_000
