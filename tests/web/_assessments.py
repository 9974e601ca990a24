"""Assessments of benchmarks, as their parts write them, with few rows."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from typing import Any

from scipy.stats import beta

from brainscore_core.receipts.assessment import Assessment, Part, Used
from brainscore_core.receipts.receipt import ErrorInfo
from brainscore_core.results.assessments import AssessmentStore
from brainscore_web.leaderboard.ingest import ingest_store
from brainscore_web.leaderboard.models import Benchmark

START = datetime(2026, 3, 1, tzinfo=UTC)
CODE = "800b77be7179eeb37e65a8da72de90b70598ebc540227368d62b5f24f6547756"


def share(found: int, experiments: int = 12) -> dict[str, Any]:
    low = float(beta.ppf(0.025, found, experiments - found + 1)) if found else 0.0
    high = float(beta.ppf(0.975, found + 1, experiments - found)) if found < experiments else 1.0
    return {"found": found, "experiments": experiments, "share": found / experiments, "low": low, "high": high}


def control(name: str, kind: str, score: float | None, p: float | None = None, **more: Any) -> dict[str, Any]:
    known = score is not None
    difference = None
    if p is not None:
        value, width = 0.612 - (score or 0.0), 0.15 if p < 0.05 else 0.5
        difference = {"value": value, "ci": [value - width, value + width], "p": p, "reason": None}
    return {
        "name": name, "kind": kind, "description": f"features called {name}", "features": 8, "score": score,
        "ci": [score - 0.1, score + 0.1] if known else None, "difference": difference,
        "reason": None if known else "the order is not known", **more,
    }  # fmt: skip


def controls(model: str | None = "a-model", *, p: float | None = 0.004) -> dict[str, Any]:
    p = p if model else None
    return {
        "benchmark": "Some2026.IT-pls",
        "controls": [
            control("pixels", "baseline", 0.125, p),
            control("labels", "baseline", 0.432, None if p is None else 0.25),
            control("shuffled groups", "artefact check", -0.012, p),
            control("time codes", "artefact check", None),
        ],
        "model": model, "score": 0.612 if model else None, "ci": [0.55, 0.67] if model else None, "reason": None,
        "best": "labels", "above_all_controls": False if model else None,
    }  # fmt: skip


def audit(*, clean: bool = False) -> dict[str, Any]:
    loss = {
        "rule": "object_name", "model": "unrelated features", "default": 0.329, "grouped": 0.0,
        "default_ci": [0.31, 0.34], "grouped_ci": [-0.02, 0.02], "score": 0.5, "grouped_score": 0.0, "loss": 0.329,
        "ci": [0.315, 0.343], "p": 1e-9, "reason": None,
    }  # fmt: skip
    found: dict[str, Any] = {
        "benchmark": "Some2026.IT-pls", "stimuli": 800, "units": {"pictures": 793, "object_name": 8},
        "overlaps": [
            {"kind": "near-duplicates", "groups": 7, "stimuli": 14, "pairs": 7, "share": 0.02, "reason": None},
            {"kind": "object_name", "groups": 8, "stimuli": 800, "pairs": None, "share": 1.0, "reason": None},
        ],
        "copies": [
            {"kind": "repetitions", "presentations": 3, "of": 900, "examples": ["tiger-11", "cat-02"], "expected": 0.0}
        ],
        "pairs": [
            {"first": "tiger-11", "second": "tiger-12", "similarity": 0.97, "equal": False, "first_path": "tiger.png",
             "second_path": "tiger2.png"}
        ],
        "tests": [
            {"kind": "drift", "recordings": "averaged", "order": "presentation_time", "within": "", "value": 0.21,
             "p": 0.001, "p_corrected": 0.002, "presentations": 800}
        ],
        "losses": [
            loss, {**loss, "model": "pixels", "loss": None, "default": None, "ci": None, "p": None, "reason": "too few"}
        ],
        "notes": ["tiger-11 was not examined"], "threshold": 0.9, "seed": 0, "independent": 8, "clean": False,
    }  # fmt: skip
    if clean:
        found |= {"overlaps": [], "copies": [], "pairs": [], "tests": [], "losses": [], "notes": [], "clean": True}
    return found


def recovery(candidates: tuple[str, ...] = ("pixels", "gabor"), *, missed: bool = False) -> dict[str, Any]:
    n = len(candidates)
    diagonal = [[12 if row == column else 0 for column in range(n)] for row in range(n)]
    second = [[12 if column == n - 1 else 0 for column in range(n)] for _ in range(n)] if missed else diagonal
    return {
        "benchmark": "Some2026.IT-pls", "candidates": list(candidates),
        "generators": ["fitted readout", "sampled units"], "stimuli": 800, "neuroids": 96, "reliability": 0.85,
        "reliability_source": "measured", "repetitions": 12, "seed": 0, "scores": [0.1] * n,
        "confusions": [
            {"generator": name, "counts": counts, "undefined": [0] * n,
             "found": [share(counts[at][at]) for at in range(n)],
             "overall": share(sum(counts[at][at] for at in range(n)), 12 * n)}
            for name, counts in (("fitted readout", second), ("sampled units", diagonal))
        ],
        "mixtures": [
            {"generator": "fitted readout", "first": candidates[0], "second": candidates[1], "weights": [0.1, 1.0],
             "found": [share(2), share(12)], "smallest": 1.0, "reason": None}
        ],
        "sizes": [
            {"generator": "sampled units", "stimuli": 1600, "neuroids": 96, "overall": share(2 * n, 2 * n),
             "reason": None}
        ],
        "notes": [], "holds_for": f"These shares hold for these {n} candidates ({', '.join(candidates)}).",
    }  # fmt: skip


def make_assessment(
    part: Part,
    result: dict[str, Any] | None = None,
    *,
    benchmark: str = "Some2026.IT-pls",
    version: str | int | None = 1,
    models: tuple[str, ...] = (),
    day: int = 0,
    state: Any = "assessed",
    reason: str | None = None,
    **more: Any,
) -> Assessment:
    """An assessment made `day` days after the first of March 2026."""
    failed = state == "failed"
    return Assessment(
        part=part,
        benchmark=Used(kind="benchmark", identifier=benchmark, version=version, sha256="3" * 64),
        models=tuple(Used(kind="model", identifier=model, sha256="0" * 64) for model in models),
        state=state,
        reason=reason if state == "assessed" else reason or f"it is {state}",
        error=ErrorInfo(type="ValueError", message=str(reason), traceback=str(reason)) if failed else None,
        result=result if state == "assessed" else None,
        text=more.pop("text", "printed"),
        code=CODE,
        seconds=1.5,
        created=f"{START + timedelta(days=day):%Y-%m-%dT%H:%M:%S.%f}Z",
        **more,
    ).identified()


def ingest(*made: Assessment) -> None:
    """Store assessments in a folder, and ingest it."""
    with tempfile.TemporaryDirectory() as folder:
        store = AssessmentStore(folder)
        store.require_writable()
        for one in made:
            store.write(one)
        assert not ingest_store(folder).problems


def add_assessments(benchmark: str, model: str, *, others: tuple[str, ...] = (), clean: bool = False) -> None:
    """Give a benchmark all parts of an assessment, for its current version; controls also for other models."""
    version = Benchmark.objects.get(identifier=benchmark).version
    about = {"benchmark": benchmark, "version": version}
    candidates = ("pixels", "gabor", model)
    ingest(
        make_assessment("audit", audit(clean=clean), models=(model,), **about),
        make_assessment("recovery", recovery(candidates, missed=not clean), models=candidates, **about),
        *(
            make_assessment("controls", controls(name), models=(name,), day=day, **about)
            for day, name in enumerate((*others, model))
        ),
    )
