"""Scores of models on a small tree, and the order of the models that every surface shows."""

from brainscore_core.results.tree import Tree, TreeNode
from brainscore_core.scoring import BenchmarkInfo, ErrorInfo, Estimate, ModelInfo, Receipt

V1 = ("A2026.V1-pls", "B2026.V1-pls", "C2026.V1-pls")
IT = ("A2026.IT-pls", "B2026.IT-pls")
OUTSIDE = "Own2026-pls"


def small_tree():
    """``average_vision`` of V1 and IT, and ``engineering_vision``."""
    nodes = [TreeNode(identifier=name, order=at) for at, name in enumerate(("average_vision", "engineering_vision"))]
    for parent, names in (("V1", V1), ("IT", IT)):
        nodes.append(TreeNode(identifier=parent, parent="average_vision"))
        nodes += [TreeNode(identifier=name, parent=parent, benchmark=True, version=1) for name in names]
    nodes.append(TreeNode(identifier="E2026-top1", parent="engineering_vision", benchmark=True, version=1))
    return Tree(nodes)


def receipts_of(scores):
    """Receipts of `scores`: (model, benchmark, value); without a value, the pair failed."""
    return [
        Receipt(
            model=ModelInfo(identifier=model),
            benchmark=BenchmarkInfo(identifier=benchmark, version=1),
            state="failed" if value is None else "scored",
            reason="ValueError: no" if value is None else None,
            error=ErrorInfo(type="ValueError", message="no", traceback="no") if value is None else None,
            score=None if value is None else Estimate(value=value, error=0.02),
            created=f"2026-01-01T00:00:00.{number:06}Z",
        ).identified()
        for number, (model, benchmark, value) in enumerate(scores)
    ]


def scores_of(model, benchmarks, value):
    return [(model, benchmark, value) for benchmark in benchmarks]


CASES = {
    "few high scores do not come before many low ones": (
        scores_of("few-high", V1[:1], 0.9) + scores_of("many-low", V1[:2], 0.1),
        [("many-low", None), ("few-high", None)],
    ),
    "ranked models come first, whatever their means": (
        scores_of("best", V1[:2], 0.9) + scores_of("ranked", V1, 0.2),
        [("ranked", 1), ("best", None)],
    ),
    "of equally many scores the mean decides": (
        scores_of("low", V1[:2], 0.2) + scores_of("high", V1[1:], 0.3) + scores_of("medium", IT[:1], 0.25),
        [("high", None), ("low", None), ("medium", None)],
    ),
    "missing scores count as 0": (
        scores_of("narrow", V1, 0.5) + scores_of("broad", V1 + IT, 0.4),
        [("broad", 1), ("narrow", 2)],
    ),
    "a benchmark that one of four ranked models has does not count": (
        [row for name, value in (("a", 0.4), ("b", 0.3), ("c", 0.2), ("d", 0.1)) for row in scores_of(name, V1, value)]
        + scores_of("d", IT[:1], 0.9),
        [("a", 1), ("b", 2), ("c", 3), ("d", 4)],
    ),
    "equal means share a rank and stand by name": (
        scores_of("b", V1, 0.3) + scores_of("a", V1, 0.3) + scores_of("c", V1, 0.2),
        [("a", 1), ("b", 1), ("c", 3)],
    ),
    "the newest result counts, even if it failed": (
        scores_of("a", V1, 0.9) + scores_of("b", V1, 0.5) + scores_of("a", V1[1:], None),
        [("b", 1), ("a", None)],
    ),
    "scores outside the average order the others": (
        scores_of("a", [OUTSIDE], 0.2) + scores_of("b", [OUTSIDE], 0.3) + scores_of("c", ["E2026-top1"], 0.9),
        [("c", None), ("b", None), ("a", None)],
    ),
}  # fmt: skip
"""Description → (model, benchmark, score) in the order of time, and the models with their ranks, the best first."""
