"""What pairs take, predicted from receipts of simulated costs."""

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.runner.plan import Costs, costs_table
from brainscore_core.scoring import BenchmarkInfo, Memory, ModelInfo, Receipt, RunInfo, Timings

MODELS = [f"m{number}" for number in range(12)]
BENCHMARKS = [f"B{number}2026-pls" for number in range(15)]


def receipt(model, benchmark, seconds, *, state="scored", bytes_=None, raised=None, run=None):
    return Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier=benchmark),
        state=state,
        timings=Timings(total=seconds),
        memory=Memory(peak_bytes=bytes_, raised_here=raised),
        run=run,
    )


@pytest.fixture(scope="module")
def truth():
    """Seconds of every pair: what the model and the benchmark take, multiplied."""
    rng = np.random.default_rng(0)
    models, benchmarks = rng.normal(0, 1, len(MODELS)), rng.normal(2, 1.2, len(BENCHMARKS))
    return {
        (model, benchmark): float(np.exp(models[i] + benchmarks[j]))
        for i, model in enumerate(MODELS)
        for j, benchmark in enumerate(BENCHMARKS)
    }


def observed(truth, share, *, noise=0.1, outliers=0.0, seed=1):
    rng = np.random.default_rng(seed)
    kept = {}
    for pair, seconds in truth.items():
        factor = np.exp(rng.normal(0, noise)) * (50 if rng.random() < outliers else 1)
        if rng.random() < share:
            kept[pair] = seconds * factor
    return kept


@pytest.mark.parametrize("outliers", [0.0, 0.08])
def test_effects_of_models_and_benchmarks_are_recovered(truth, outliers):
    seen = observed(truth, 0.5, outliers=outliers)
    costs = Costs(receipt(*pair, seconds) for pair, seconds in seen.items())
    hidden = [pair for pair in truth if pair not in seen]
    assert len(hidden) > 50
    predicted = [costs.of(*pair).seconds for pair in hidden]
    assert {one.source for one in predicted} == {"fitted"}
    ratios = np.log([one.value / truth[pair] for one, pair in zip(predicted, hidden, strict=True)])
    assert np.median(np.abs(ratios)) < 0.12
    assert np.max(np.abs(ratios)) < np.log(2)
    inside = [one.low <= truth[pair] <= one.high for one, pair in zip(predicted, hidden, strict=True)]
    assert np.mean(inside) > 0.9


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.6])
def test_nine_ranges_of_ten_hold_what_a_pair_takes(noise):
    inside = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        models, benchmarks = rng.normal(0, 1, len(MODELS)), rng.normal(2, 1.2, len(BENCHMARKS))
        logarithms = models[:, None] + benchmarks + rng.normal(0, noise, (len(MODELS), len(BENCHMARKS)))
        seconds = {
            (model, benchmark): float(np.exp(logarithms[i, j]))
            for i, model in enumerate(MODELS)
            for j, benchmark in enumerate(BENCHMARKS)
        }
        seen = {pair for pair in seconds if rng.random() < 0.3}
        costs = Costs(receipt(*pair, seconds[pair]) for pair in seen)
        for pair in seconds.keys() - seen:
            one = costs.of(*pair).seconds
            inside.append(one.low <= seconds[pair] <= one.high)
    assert len(inside) > 800
    assert np.mean(inside) > 0.88


def test_the_range_is_not_wider_than_it_needs_to_be(truth):
    costs = Costs(receipt(*pair, seconds) for pair, seconds in observed(truth, 0.6, noise=0.3).items())
    hidden = [pair for pair in truth if costs.of(*pair).seconds.source == "fitted"]
    for pair in hidden:
        one = costs.of(*pair).seconds
        assert 1.3 < one.high / one.value < 4
        assert one.value / one.low == pytest.approx(one.high / one.value)


def test_the_same_pair_says_most():
    runs = [receipt("m", "B", seconds) for seconds in (9.0, 10.0, 30.0)]
    one = Costs([*runs, receipt("m", "C", 1000.0)]).of("m", "B").seconds
    assert (one.value, one.source) == (10.0, "measured")
    assert one.low < 9 < 10 < one.high
    single = Costs(runs[:1]).of("m", "B").seconds
    assert single.high / single.value < one.high / one.value  # the others spread


def test_a_new_model_gets_a_wide_range_and_two_unknowns_none(truth):
    costs = Costs(receipt(*pair, seconds) for pair, seconds in truth.items())
    new = costs.of("new", BENCHMARKS[0]).seconds
    known = Costs(receipt(*pair, s) for pair, s in truth.items() if pair != ("m0", BENCHMARKS[0]))
    assert (
        new.high / new.low > 3 * known.of("m0", BENCHMARKS[0]).seconds.high / known.of("m0", BENCHMARKS[0]).seconds.low
    )
    assert costs.of("new", "new").seconds is None
    assert costs.of("new", "new").memory is None
    assert Costs().of("m0", BENCHMARKS[0]).seconds is None


def test_failures_do_not_count_and_what_is_not_applicable_only_for_itself():
    costs = Costs(
        [
            receipt("m", "B", 0.1, state="failed"),
            receipt("m", "C", 0.2, state="not applicable"),
            receipt("n", "C", 60.0),
            receipt("n", "B", 600.0, state="undefined"),
            receipt("m", "D", 6.0),
            receipt("n", "D", 6.0),
        ]
    )
    assert costs.of("m", "C").seconds.value == 0.2
    assert costs.of("m", "B").seconds.source == "fitted"
    assert costs.of("m", "B").seconds.value > 100  # n's 600 s and the like of m and n on D, not m's 0.1 s


def test_memory_counts_only_where_a_pair_raised_it():
    costs = Costs(
        [
            receipt("m", "B", 1.0, bytes_=4_000_000_000, raised=True),
            receipt("m", "C", 1.0, bytes_=9_000_000_000, raised=False),
            receipt("n", "C", 1.0, bytes_=2_000_000_000, raised=True),
            receipt("n", "B", 1.0, bytes_=None, raised=None),
        ]
    )
    assert costs.of("m", "B").memory.value == 4_000_000_000
    assert costs.of("m", "C").memory.source == "fitted"
    assert costs.of("m", "C").memory.value < 4_500_000_000
    assert costs.of("n", "B").memory.low < costs.of("n", "B").memory.value


def test_memory_of_an_isolated_model_is_not_that_of_the_pair():
    here, isolated = (RunInfo(id="r", isolated=on, environment=None, packages={}) for on in (False, True))
    receipts = [
        receipt("m", "B", 1.0, bytes_=4_000_000_000, raised=True, run=here),
        receipt("m", "B", 1.0, bytes_=1_000_000_000, raised=True, run=isolated),
        receipt("m", "C", 1.0, bytes_=1_000_000_000, raised=True, run=isolated),
    ]
    assert Costs(receipts).of("m", "B").memory.value == 4_000_000_000
    assert [entry[3] for entry in costs_table(receipts)["pairs"]] == [4_000_000_000, None]


def test_a_table_of_another_machine_is_scaled_to_this_one(truth):
    table = costs_table(receipt(*pair, seconds) for pair, seconds in truth.items())
    alone = Costs(table=table).of("m3", BENCHMARKS[4]).seconds
    assert alone.source == "table"
    assert alone.value == pytest.approx(truth["m3", BENCHMARKS[4]], rel=0.2)
    slower = [receipt(*pair, 3 * seconds) for pair, seconds in truth.items() if pair[0] in ("m0", "m1", "new")]
    both = Costs(slower, table=table).of("m3", BENCHMARKS[4]).seconds
    assert both.source == "fitted"
    assert both.value == pytest.approx(3 * truth["m3", BENCHMARKS[4]], rel=0.2)
    assert both.high / both.low < alone.high / alone.low


def test_the_table_is_plain_and_read_again():
    table = costs_table(
        [
            receipt("m", "B", 2.0, bytes_=10**9, raised=True),
            receipt("m", "B", 4.0),
            receipt("m", "C", 1.0, state="failed"),
            receipt("m", "D", None),
        ]
    )
    assert table["pairs"] == [["m", "B", 3.0, 10**9]]
    assert Costs(table=table).of("m", "B").memory.value == pytest.approx(10**9)
    with pytest.raises(UserError, match="version 99"):
        Costs(table={"version": 99, "pairs": []})


def test_effects_are_those_of_an_exact_table():
    cells = [("a", "x", 2.0), ("a", "y", 8.0), ("b", "x", 6.0), ("b", "y", 24.0), ("c", "x", 1.0)]
    costs = Costs(receipt(*cell) for cell in cells)
    assert costs.of("c", "y").seconds.value == pytest.approx(4.0, rel=0.1)
    assert costs.of("b", "new").seconds.value / costs.of("a", "new").seconds.value == pytest.approx(3.0, rel=0.1)
