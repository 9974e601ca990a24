"""Cards of models and benchmarks, receipts, and lists; pure functions compute their content."""

from brainscore_web.leaderboard.cards._benchmark import BenchmarkCard, BenchmarkData, benchmark_card
from brainscore_web.leaderboard.cards._model import ModelCard, ModelData, model_card
from brainscore_web.leaderboard.cards.receipts import ReceiptCard, receipt_card

__all__ = [
    "BenchmarkCard",
    "BenchmarkData",
    "ModelCard",
    "ModelData",
    "ReceiptCard",
    "benchmark_card",
    "model_card",
    "receipt_card",
]
