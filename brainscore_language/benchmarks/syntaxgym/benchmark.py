"""Suites of SyntaxGym as benchmarks: the share of items for which all predictions hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.benchmarks.measurements import Measurements
from brainscore_core.errors import UserError
from brainscore_core.lazy import LazyLoad
from brainscore_core.metric_helpers.uncertainty import attach_influence
from brainscore_core.metrics import Score, Uncertainty, attach_uncertainty
from brainscore_core.plugins.tables import read_citation, read_table
from brainscore_core.progress import track
from brainscore_core.supported_data_standards.brainio.fetch import fetch_all
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers import reading_times
from brainscore_language.benchmarks.syntaxgym.sg_prediction import Prediction
from brainscore_language.model_helpers.preprocessing import prepare_context

BIBTEX = read_citation(__file__)

_URL = (
    "https://raw.githubusercontent.com/brain-score/language/0e0bb4a2d8df5d3c30fe26ec4528f27a188e1cdc/"
    "brainscore_language/benchmarks/syntaxgym/suites/syntaxgym-2020"
)


def suite_names() -> list[str]:
    """Names of the 31 published suites."""
    return list(_hashes())


def _hashes() -> dict[str, str]:
    return {row["suite"]: row["sha256"] for row in read_table(__file__, "suites.csv")}


def load_suite(reference: str | Path | Mapping[str, Any]) -> Mapping[str, Any]:
    """A suite: its content, the path of its file, or the name of a published one, which is fetched.

    Raises
    ------
    UserError
        If it is neither, or lacks a field, predictions or items.
    """
    if isinstance(reference, Mapping):
        suite = reference
    elif str(reference) in _hashes():
        name = str(reference)
        path = fetch_all([{"url": f"{_URL}/{name}.json", "sha256": _hashes()[name]}])[0]
        suite = json.loads(path.read_text(encoding="utf-8"))
    else:
        try:
            suite = json.loads(Path(reference).read_text(encoding="utf-8-sig"))
        except (OSError, TypeError, ValueError, RecursionError) as error:
            raise UserError(
                f"there is no suite {str(reference)[:200]!r}: {error}",
                f"pass a file, or one of {', '.join(_hashes())}",
            ) from error
    _require_form(suite)
    return suite


def _require_form(suite: Any) -> None:
    """Raise a UserError for a suite that lacks a field, or has none of what it is made of."""
    problem = None
    try:
        missing = {"meta", "predictions", "items"} - set(suite)
        if missing:
            problem = f"the suite lacks {', '.join(sorted(missing))}"
        elif not isinstance(suite["meta"], Mapping):
            problem = "the suite's meta are not named fields"
        elif not all(prediction["formula"] for prediction in suite["predictions"]) or not suite["predictions"]:
            problem = "the suite has no predictions, or one without a formula"
        elif not suite["items"] or not all(
            region["region_number"] and isinstance(region["content"], str)
            for item in suite["items"]
            for condition in item["conditions"]
            if condition["condition_name"]
            for region in condition["regions"]
        ):
            problem = "the suite has no items, or a region without number or text"
    except (KeyError, TypeError) as error:
        problem = f"the suite has another form: {type(error).__name__} {error}"
    if problem is not None:
        raise UserError(problem, "pass a suite in the format of SyntaxGym")


class SyntaxGymSingleTSE(BenchmarkBase):
    """One suite.

    Each sentence is read region by region. An empty region has a surprisal of 0; one without a value (a first token
    that nothing predicts) makes a prediction about it false.

    Parameters
    ----------
    identifier : str
        Unique name.
    suite_ref : str, path or dict
        As for :func:`load_suite`.
    """

    def __init__(self, identifier: str, suite_ref: str | Path | Mapping[str, Any]) -> None:
        super().__init__(identifier=identifier, ceiling=_perfect(), version=1, parent="SyntaxGym", bibtex=BIBTEX)
        self.suite = load_suite(suite_ref)
        metric = self.suite["meta"].get("metric", "sum")
        self.predictions = [
            Prediction(number, prediction["formula"], metric)
            for number, prediction in enumerate(self.suite["predictions"])
        ]

    def measurements(self) -> Measurements:
        """The sentences; nothing but their order of surprisals is expected."""
        sentences = LazyLoad(lambda: _sentences(self.suite))
        return Measurements(benchmark=self.identifier, measured=sentences, compares="judgements")

    def get_region_totals(self, candidate: ArtificialSubject) -> list[dict[tuple[str, int], float]]:
        """Surprisal of each region of each item, by condition and number of the region."""
        return [
            {
                (condition["condition_name"], region["region_number"]): float(value)
                for condition in item["conditions"]
                for region, value in zip(
                    condition["regions"],
                    reading_times(candidate, [region["content"] for region in condition["regions"]]),
                    strict=True,
                )
            }
            for item in self.suite["items"]
        ]

    def evaluate_predictions(self, region_totals: list[dict[tuple[str, int], float]]) -> list[list[bool]]:
        """Whether each prediction holds, for each item."""
        return [[prediction(totals) for prediction in self.predictions] for totals in region_totals]

    def __call__(self, candidate: ArtificialSubject) -> Score:
        """Let a subject read all sentences."""
        candidate.start_behavioral_task(ArtificialSubject.Task.reading_times)
        held = np.array([all(row) for row in self.evaluate_predictions(self.get_region_totals(candidate))])
        score = Score(held.mean())
        limits = binomtest(int(held.sum()), len(held)).proportion_ci(method="wilson")
        attach_uncertainty(
            score,
            error=float(np.sqrt(held.mean() * (1 - held.mean()) / len(held))),
            ci=(float(limits.low), float(limits.high)),
            method="wilson",
            estimates=f"new items like these; {len(held):,} items; share of items",
        )
        items = [str(item.get("item_number", number)) for number, item in enumerate(self.suite["items"])]
        attach_influence(score, held - held.mean(), units="item", ids=items)
        score.attrs.update(raw=Score(held.astype(float), dims=["item"]), ceiling=self.ceiling, scale="ceiled")
        return score


class SyntaxGymTSE(BenchmarkBase):
    """Mean over suites; ``attrs['sub_scores']`` has the score of each.

    The interval combines those of the suites (Zou & Donner 2008, doi:10.1002/sim.3095).

    Parameters
    ----------
    test_suites : dict
        Name → suite, as for :func:`load_suite`.
    """

    def __init__(self, test_suites: Mapping[str, str | Path | Mapping[str, Any]]) -> None:
        super().__init__(identifier="SyntaxGym2020", ceiling=_perfect(), version=1, bibtex=BIBTEX)
        self.sub_benchmarks = [SyntaxGymSingleTSE(f"syntaxgym-{name}", suite) for name, suite in test_suites.items()]

    def __call__(self, candidate: ArtificialSubject) -> Score:
        """Let a subject read the sentences of all suites."""
        suites = track(self.sub_benchmarks, "reading", len(self.sub_benchmarks), unit="suites")
        scores = [benchmark(candidate) for benchmark in suites]
        values = np.array([float(score) for score in scores])
        limits = np.array([score.attrs["ci"] for score in scores])
        errors = np.array([score.attrs["error"] for score in scores])
        n = len(values)
        names = [benchmark.suite["meta"]["name"] for benchmark in self.sub_benchmarks]
        sizes = [len(benchmark.suite["items"]) for benchmark in self.sub_benchmarks]
        score_of_all = Score(values.mean())
        attach_uncertainty(
            score_of_all,
            error=float(np.sqrt((errors**2).sum()) / n),
            ci=tuple(
                values.mean() + side * np.linalg.norm(values - limits[:, column]) / n
                for column, side in enumerate((-1, 1))
            ),
            method="variance estimates recovery",
            estimates=f"new items like those of these {n} suites; {sum(sizes):,} items; mean over suites",
        )
        influences = [Uncertainty.of(score).influence for score in scores]
        attach_influence(
            score_of_all,
            np.concatenate([known.values * sum(sizes) / (n * known.size) for known in influences]),
            units="item",
            ids=[
                f"{name} {item}" for name, each in zip(names, influences, strict=True) for item in each["item"].values
            ],
        )
        sub_scores = Score(values, coords={"sub_benchmark": names}, dims=["sub_benchmark"])
        score_of_all.attrs.update(sub_scores=sub_scores, ceiling=self.ceiling, scale="ceiled")
        return score_of_all

    def measurements(self) -> Measurements:
        """The sentences; nothing but their order of surprisals is expected."""
        sentences = LazyLoad(lambda: _sentences(*(benchmark.suite for benchmark in self.sub_benchmarks)))
        return Measurements(benchmark=self.identifier, measured=sentences, compares="judgements")


def SyntaxGym2020() -> SyntaxGymTSE:  # noqa: N802 - published name
    """The 31 published suites."""
    return SyntaxGymTSE({name: name for name in suite_names()})


def _sentences(*suites: Mapping[str, Any]) -> StimulusSet:
    """Sentences of suites, with the item and condition of each."""
    rows = [
        {
            "stimulus_id": f"{suite['meta'].get('name')} {number} {condition['condition_name']}",
            "stimulus": prepare_context([region["content"] for region in condition["regions"]]),
            "item": f"{suite['meta'].get('name')} {number}",
            "condition": condition["condition_name"],
        }
        for suite in suites
        for number, item in enumerate(suite["items"])
        for condition in item["conditions"]
    ]
    return StimulusSet(rows)


def _perfect() -> Score:
    ceiling = Score(1.0)
    ceiling.attrs["meaning"] = "upper bound"
    return ceiling
