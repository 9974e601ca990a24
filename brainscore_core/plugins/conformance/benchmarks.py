"""Checks of benchmarks; each raises an error with an explanation and a remedy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from brainscore_core.errors import NotApplicable
from brainscore_core.metrics import ABOVE_CEILING, Score, Uncertainty, undetermined
from brainscore_core.plugins.bibtex import BibtexError, missing_fields, parse_bibtex
from brainscore_core.plugins.conformance import Failed, Unusual
from brainscore_core.plugins.declared_tests import TestsRead, read_tests

_NAME = re.compile(r"(?P<study>[A-Za-z0-9_]+)(?:\.[A-Za-z0-9_]+)*-[A-Za-z0-9_.-]+")
_AUTHOR_YEAR = re.compile(r"[A-Z][A-Za-z]*(19|20)\d\d(?!\d)")
_PLACEHOLDERS = ("your paper title", "your title", "journal name", "author, a. and coauthor", "your name")


@dataclass(frozen=True)
class BenchmarkContext:
    """What the checks of a benchmark need besides the benchmark."""

    models: tuple[Any, ...]
    parents: Collection[str] | None
    folder: Path | None


def _identifier(benchmark: Any, context: BenchmarkContext) -> None:
    identifier = getattr(benchmark, "identifier", None)
    if not isinstance(identifier, str) or not identifier.strip():
        raise Failed(f"identifier is {identifier!r}", "set identifier='AuthorYear-metric'")
    match = _NAME.fullmatch(identifier)
    if match is None:
        raise Failed(
            f"{identifier!r} is not written as AuthorYear-metric or AuthorYear.subset-metric",
            "use letters, digits and '_'; '.' before a subset; '-' before the metric: MajajHong2015.IT-pls",
        )
    if _AUTHOR_YEAR.match(match["study"]) is None:
        raise Unusual(
            f"{match['study']!r} does not begin with an author and a year",
            "name the study AuthorYear, such as MajajHong2015; ignore this if it is known by another name",
        )


def _version(benchmark: Any, context: BenchmarkContext) -> None:
    version = getattr(benchmark, "version", None)
    if isinstance(version, str) and version.strip():
        return
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise Failed(f"version is {version!r}", "set version=1; raise it whenever scores change")


def _parent(benchmark: Any, context: BenchmarkContext) -> None:
    parent = getattr(benchmark, "parent", None)
    if parent is None and getattr(benchmark, "control", False):
        raise NotApplicable("a control benchmark counts in no average")
    if not isinstance(parent, str) or not parent.strip():
        raise Failed(
            f"parent is {parent!r}: the benchmark would stand outside of all averages",
            f"set parent to one of {', '.join(context.parents or ())}" if context.parents else "set parent",
        )
    study = re.split(r"[.-]", str(benchmark.identifier))[0]
    author_year = _AUTHOR_YEAR.match(study)
    groups = (study, author_year[0] if author_year else study)
    if context.parents is None or parent in context.parents or re.split(r"[.-]", parent)[0] in groups:
        return
    raise Failed(
        f"there is no parent {parent!r}",
        f"take one of {', '.join(context.parents)}; or a group of your own study, such as {study!r}",
    )


def _citation(benchmark: Any, context: BenchmarkContext) -> None:
    bibtex = getattr(benchmark, "bibtex", None)
    if bibtex is None and getattr(benchmark, "control", False):
        raise NotApplicable("a control benchmark has no measurements to cite")
    example = "@article{author2024, author={…}, title={…}, journal={…}, year={2024}, url={…}}"
    if not isinstance(bibtex, str) or not bibtex.strip():
        raise Failed("bibtex is missing", f"pass bibtex={example!r}")
    try:
        entries = parse_bibtex(bibtex)
    except BibtexError as error:
        raise Failed(f"bibtex cannot be read: {error}", f"write it as {example}") from error
    if not entries:
        raise Failed("bibtex holds no entry", f"write it as {example}")
    for entry in entries:
        if missing := missing_fields(entry):
            raise Failed(f"the citation {entry.key!r} lacks {', '.join(missing)}", "add what is missing to bibtex")
    placeholders = [text for text in _PLACEHOLDERS if text in " ".join(bibtex.lower().split())]
    if placeholders:
        raise Unusual(f"the citation still holds the template's {placeholders[0]!r}", "cite the paper")


def _ceiling(benchmark: Any, context: BenchmarkContext) -> None:
    ceiling = benchmark.ceiling
    if not isinstance(ceiling, Score):
        raise Failed(
            f"the ceiling is a {type(ceiling).__name__}", "let ceiling_func return a Score, such as Score(0.8)"
        )
    if ceiling.ndim or ceiling.dtype.kind not in "fiu":
        raise Failed(
            f"the ceiling has the dimensions {ceiling.dims} and type {ceiling.dtype}; it must be one number",
            "aggregate it, such as the median over neuroids, and keep the rest in attrs['raw']",
        )
    value = float(ceiling)
    if math.isnan(value) and ceiling.attrs.get("meaning") == "none":
        raise NotApplicable("the measurements have no ceiling, and it says so")
    if not 0 < value <= 1:
        raise Failed(
            f"the ceiling is {value:.4g}; it must be above 0 and at most 1",
            "look at the measurements: a ceiling that is not above 0 means that repetitions or subjects do not agree",
        )


def _ceiling_differs_from_zero(benchmark: Any, context: BenchmarkContext) -> None:
    ceiling = benchmark.ceiling
    if isinstance(ceiling, Score) and (reason := undetermined(ceiling)):
        raise Failed(
            f"{reason}: scores relative to it are undetermined",
            "measure more repetitions, stimuli or subjects, leave out neuroids without a reliable response, or report "
            "the raw score with a ceiling whose meaning is 'none'",
        )


def _ceiling_without_drift(benchmark: Any, context: BenchmarkContext) -> None:
    ceiling = benchmark.ceiling
    drift = ceiling.attrs.get("drift") if isinstance(ceiling, Score) else None
    if drift == "found":
        raise Failed(
            "stimuli were shown in the same order in all repetitions, and mean responses follow this order: a drift "
            "counts as signal",
            "show the stimuli of each repetition in an order of its own; if similar stimuli follow each other, declare "
            "their groups with stimulus_groups",
        )
    if drift != "none":
        raise NotApplicable(
            "no coordinate tells in which order the stimuli were shown, such as presentation_order: a slow drift in an "
            "order that all repetitions share would count as signal"
            if drift == "unknown"
            else "the ceiling does not tell"
        )


def _ceiling_error(benchmark: Any, context: BenchmarkContext) -> None:
    ceiling = benchmark.ceiling
    if isinstance(ceiling, Score):
        _require_error(ceiling, "ceiling")


def _require_error(score: Score, subject: str) -> None:
    uncertainty = Uncertainty.of(score)
    if uncertainty.error is None:
        raise Failed(
            f"the {subject} has no attrs['error']",
            "set the standard error, or call brainscore_core.metrics.declare_no_error(score, 'reason')",
        )
    if np.size(uncertainty.error) == 1 and math.isnan(uncertainty.standard_error) and not uncertainty.error_reason:
        raise Failed(
            f"attrs['error'] of the {subject} is NaN and no reason is given",
            "say why: brainscore_core.metrics.declare_no_error(score, 'reason')",
        )


def _runs(benchmark: Any, context: BenchmarkContext) -> None:
    if not context.models:
        raise NotApplicable("no model is given to run it on")
    for model in context.models:
        name = getattr(model, "identifier", "the model")
        try:
            score = benchmark(model)
            break
        except (NotApplicable, NotImplementedError) as error:
            reason = f"{name!r} cannot do what it asks: {getattr(error, 'reason', error)}"
    else:
        raise NotApplicable(reason)
    if not isinstance(score, Score):
        raise Failed(f"it returned a {type(score).__name__} for {name!r}", "return a Score")
    if score.ndim:
        raise Failed(
            f"the score of {name!r} has the dimensions {score.dims}; it must be one number",
            "aggregate it, and keep the rest in attrs['raw']",
        )
    missing = [key for key in ("raw", "ceiling") if key not in score.attrs]
    if len(missing) == 2:
        raise Failed(
            f"the score of {name!r} has neither attrs['raw'] nor attrs['ceiling']",
            "relate the raw score to the ceiling with brainscore_core.benchmarks.normalise(raw, ceiling)",
        )
    uncertainty = Uncertainty.of(score)
    if math.isnan(float(score)) and not uncertainty.error_reason:
        raise Failed(f"the score of {name!r} is NaN and says no reason", "set attrs['error_reason']")
    _require_error(score, "score")
    if str(uncertainty.ci_reason).startswith(ABOVE_CEILING):
        raise Unusual(
            f"the score of {name!r} is {uncertainty.ci_reason}",
            "look for noise that the ceiling leaves out and the model can know: copied or averaged repetitions, other "
            "measurements of the same trials, drift in a constant order",
        )


def tests_show(shown: Callable[[TestsRead], bool], problem: str, remedy: str) -> Callable[..., None]:
    """Make a check that the tests in the folder of its last argument show something."""

    def check(*arguments: Any) -> None:
        folder = arguments[-1].folder
        if folder is None:
            raise NotApplicable("the plugin's folder is not given")
        tests = read_tests(folder)
        if tests is None or not tests.tests:
            raise Failed(f"there are no tests in {folder}", "write them into its test.py")
        if not shown(tests):
            raise Failed(problem, remedy)

    return check


def tests_load(kind: str) -> Callable[..., None]:
    """Make a check that the tests load a plugin of this kind by its identifier."""
    loader = "load_dataset" if kind == "data" else f"load_{kind}"
    return tests_show(
        lambda tests: kind in tests.loads,
        "no test loads it by its identifier",
        f"write def test_loads(): …, with {loader}('identifier')",
    )


CHECKS: dict[str, Callable[[Any, BenchmarkContext], None]] = {
    "its identifier is AuthorYear-metric": _identifier,
    "its version is set": _version,
    "its parent is known": _parent,
    "its citation is complete": _citation,
    "its ceiling is a Score above 0 and at most 1": _ceiling,
    "its ceiling says how sure it is": _ceiling_error,
    "its ceiling's interval is above 0": _ceiling_differs_from_zero,
    "its ceiling is not of responses that drift": _ceiling_without_drift,
    "it scores a model": _runs,
    "its tests load it": tests_load("benchmark"),
    "its tests look at the ceiling": tests_show(
        lambda tests: tests.ceiling,
        "no test looks at the ceiling",
        "write assert 0 < load_benchmark('identifier').ceiling <= 1",
    ),
    "its tests run it on a model": tests_show(
        lambda tests: tests.runs,
        "no test runs it on a model",
        "write score = load_benchmark('identifier')(load_model('pixels'))",
    ),
    "its tests know a reference score": tests_show(
        lambda tests: tests.score,
        "no test compares a score with a number",
        "document the score of one model: assert float(score) == pytest.approx(0.212, abs=0.005)",
    ),
}
