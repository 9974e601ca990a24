"""Each check of a benchmark fails on one made to fail it, and only then."""

from typing import ClassVar

import numpy as np
import pytest

from brainscore_core.benchmarks import BenchmarkBase, bound_score
from brainscore_core.errors import DataUnavailable, NotApplicable
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.plugins import ConformanceError, check_benchmark

BIBTEX = "@article{a, author = {A}, title = {T}, year = {2024}, url = {https://example.org}}"
TESTS = """
def test_runs():
    benchmark = load_benchmark('Mine2024.IT-pls')
    assert benchmark.ceiling <= 1
    assert benchmark(load_model('pixels')) == 0.212
"""


def number(value, **attrs):
    score = declare_no_error(Score(value), "made up")
    score.attrs |= attrs
    return score


class Sound(BenchmarkBase):
    """Passes every check."""

    given: ClassVar = {}
    ceiling_value = staticmethod(lambda: number(0.8, meaning="upper bound", drift="none"))

    def __init__(self):
        super().__init__(
            **{
                "identifier": "Mine2024.IT-pls", "ceiling_func": self.ceiling_value, "version": 1, "parent": "IT",
                "bibtex": BIBTEX, **self.given,
            }
        )  # fmt: skip

    def __call__(self, candidate):
        return number(0.4, raw=number(0.32), ceiling=self.ceiling)


class Model:
    identifier = "made-up"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "test.py").write_text(TESTS)
    return tmp_path


def results(benchmark, folder=None, **options):
    checks = check_benchmark(benchmark, model=Model(), folder=folder, raise_errors=False, **options)
    return {check.name: check for check in checks if check.result not in ("passed", "not applicable")}


def test_a_sound_benchmark_passes(folder):
    checks = check_benchmark(Sound(), model=Model(), parents=["IT", "V1"], folder=folder)
    assert {check.result for check in checks} == {"passed"}


def with_(**given):
    return type("Changed", (Sound,), {"given": given})()


def with_ceiling(make):
    return type("Changed", (Sound,), {"ceiling_value": staticmethod(make)})()


def with_score(make):
    return type("Changed", (Sound,), {"__call__": lambda self, candidate: make()})()


NAME, PARENT = "its identifier is AuthorYear-metric", "its parent is known"
CITATION, CEILING = "its citation is complete", "its ceiling is a Score above 0 and at most 1"
RUNS = "it scores a model"
DRIFT = "its ceiling is not of responses that drift"


@pytest.mark.parametrize(
    ("benchmark", "check", "result", "said"),
    [
        (with_(identifier="mine"), NAME, "failed", "'mine' is not written as AuthorYear-metric"),
        (with_(identifier="Mine 2024-pls"), NAME, "failed", "'Mine 2024-pls' is not written as"),
        (with_(identifier=""), NAME, "failed", "identifier is ''"),
        (with_(identifier="ImageNet-top1"), NAME, "warning", "'ImageNet' does not begin with an author and a year"),
        (with_(version=0), "its version is set", "failed", "version is 0"),
        (with_(version=None), "its version is set", "failed", "version is None"),
        (with_(parent=None), PARENT, "failed", "parent is None"),
        (with_(parent="I T"), PARENT, "failed", "there is no parent 'I T'"),
        (with_(bibtex=None), CITATION, "failed", "bibtex is missing"),
        (with_(bibtex="Author (2024)"), CITATION, "failed", "bibtex holds no entry"),
        (with_(bibtex=BIBTEX[:-1]), CITATION, "failed", "bibtex cannot be read: line 1"),
        (with_(bibtex="@misc{x, title={T}, year=2024}"), CITATION, "failed", "'x' lacks author, journal or url"),
        (with_(bibtex=BIBTEX.replace("{T}", "{Your Paper Title}")), CITATION, "warning", "'your paper title'"),
        (with_ceiling(lambda: number(0.0)), CEILING, "failed", "the ceiling is 0"),
        (with_ceiling(lambda: number(1.2)), CEILING, "failed", "the ceiling is 1.2"),
        (with_ceiling(lambda: number(np.nan)), CEILING, "failed", "the ceiling is nan"),
        (with_ceiling(lambda: Score([0.5, 0.6], dims=["neuroid"])), CEILING, "failed", "the dimensions ('neuroid',)"),
        (with_ceiling(lambda: Score(0.5)), "its ceiling says how sure it is", "failed", "no attrs['error']"),
        (
            with_ceiling(lambda: number(0.1, error=0.06, ci=(-0.01, 0.21))),
            "its ceiling's interval is above 0", "failed", "-0.010 to 0.210, includes 0: scores relative to it",
        ),
        (with_ceiling(lambda: number(0.5, drift="found")), DRIFT, "failed", "mean responses follow this order"),
        (with_ceiling(lambda: 1 / 0), CEILING, "failed", "ZeroDivisionError was raised"),
        (with_score(lambda: 0.4), RUNS, "failed", "it returned a float for 'made-up'"),
        (with_score(lambda: number(0.4)), RUNS, "failed", "neither attrs['raw'] nor attrs['ceiling']"),
        (with_score(lambda: Score(np.nan, attrs={"raw": 0})), RUNS, "failed", "is NaN and says no reason"),
        (
            with_score(lambda: bound_score(Score(1.9, attrs={"raw": 0.9, "error": 0.1, "ci": (1.7, 2.1)}))),
            RUNS, "warning", "the score of 'made-up' is above the ceiling: 1.900 (1.700–2.100) before",
        ),
        (with_score(lambda: Score([0.4], dims=["a"])), RUNS, "failed", "the dimensions ('a',)"),
        (with_score(lambda: Score(0.4, attrs={"raw": 0.3, "error": np.nan})), RUNS, "failed", "NaN and no reason"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_and_mended(benchmark, check, result, said, folder):
    found = results(benchmark, folder, parents=["IT", "V1"])
    assert found[check].result == result
    assert said in found[check].explanation
    assert found[check].remedy or "was raised" in said


def test_an_unknown_order_of_presentations_is_reported(folder):
    benchmark = with_ceiling(lambda: number(0.5, drift="unknown"))
    checks = check_benchmark(benchmark, model=Model(), folder=folder, raise_errors=False)
    (check,) = (check for check in checks if check.name == DRIFT)
    assert check.result == "not applicable"
    assert "no coordinate tells in which order" in check.explanation


def test_a_group_of_its_own_study_is_a_parent():
    assert results(with_(identifier="Geirhos2021edge-top1", parent="Geirhos2021-top1"), parents=["IT"]) == {}
    assert PARENT in results(with_(parent="Geirhos2021"), parents=["IT"])


def test_without_a_list_of_parents_any_will_do():
    assert results(with_(parent="somewhere")) == {}


def test_no_ceiling_that_says_so_is_no_fault():
    checks = check_benchmark(with_ceiling(lambda: number(np.nan, meaning="none")), raise_errors=False)
    assert {check.name: check.result for check in checks}[CEILING] == "not applicable"


def test_a_control_needs_no_citation():
    control = with_(bibtex=None)
    control.control = True
    assert results(control) == {}


def test_what_a_model_cannot_do_and_data_that_are_not_at_hand_are_no_fault():
    def refuse():
        raise NotApplicable("no such region")

    def unavailable():
        raise DataUnavailable("the bucket is private", "ask for access")

    assert results(with_score(refuse)) == {}
    checks = check_benchmark(with_ceiling(unavailable), raise_errors=False)
    found = {check.name: check for check in checks}[CEILING]
    assert (found.result, found.explanation) == (
        "not applicable", "the check needs data that are not available: the bucket is private",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("source", "check"),
    [
        (None, "its tests load it"),
        (TESTS.replace("load_benchmark(", "make("), "its tests load it"),
        (TESTS.replace("benchmark.ceiling", "0"), "its tests look at the ceiling"),
        (TESTS.replace("benchmark(load_model('pixels'))", "0.212"), "its tests run it on a model"),
        (TESTS.replace("0.212", "other"), "its tests know a reference score"),
    ],
)
def test_what_its_tests_lack(folder, source, check):
    (folder / "test.py").unlink() if source is None else (folder / "test.py").write_text(source)
    found = results(Sound(), folder)
    assert found[check].result == "failed"
    assert found[check].remedy


def test_failures_are_raised_with_their_remedies():
    with pytest.raises(ConformanceError, match="version is 0; set version=1") as caught:
        check_benchmark(with_(version=0))
    assert len(caught.value.checks) == 13
