"""Receipts of several domains."""

from dataclasses import replace

from brainscore_core.receipts.receipt import AnswerInfo
from brainscore_web.leaderboard.ingest import ingest_receipts
from brainscore_web.leaderboard.models import Benchmark, VisionModel


def test_receipts_belong_to_a_domain(db, receipt):
    def made(model, benchmark, domain, day):
        return replace(receipt(model, benchmark, parent=None, day=day), domain=domain).identified()

    VisionModel.objects.create(identifier="alexnet")
    Benchmark.objects.create(identifier="Known2026-pls", version="1")
    report = ingest_receipts(
        [
            made("reader", "Texts2026-ridge", "language", 1),
            made("alexnet", "Texts2026-ridge", "language", 2),
            made("reader", "Known2026-pls", "language", 3),
            made("reader", "Texts2026-ridge", "vision", 4),
            made("reader", "Texts2026-ridge", "music", 5),
        ],
        by=None,
        default_visibility="public",
    )
    assert report.added == 1
    assert sorted(problem.message for problem in report.problems) == [
        "it is of the domain language, but 'Known2026-pls' is of the domain vision here",
        "it is of the domain language, but 'alexnet' is of the domain vision here",
        "it is of the domain vision, but 'Texts2026-ridge' is of the domain language here",
        "its domain is 'music'; domains of this site: vision, language",
    ]
    assert VisionModel.objects.get(identifier="reader").domain == "language"
    assert Benchmark.objects.get(identifier="Texts2026-ridge").domain == "language"


def test_answers_to_questions_are_refused(db, receipt):
    answer = AnswerInfo(source="20260101T000000Z-0", question={"benchmark": "Known2026-pls"})
    document = replace(receipt("alexnet", "Known2026-pls"), answer=answer).identified()
    report = ingest_receipts([document], by=None, default_visibility="public")
    assert [problem.message for problem in report.problems] == [
        "it answers a question, and is not a score of the benchmark"
    ]
