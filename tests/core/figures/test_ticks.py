"""Round numbers and dates along axes."""

import math
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.figures import nice_range, nice_ticks, tick_texts
from brainscore_core.figures.axes import date_ticks

ends = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def ranges(draw):
    low = draw(ends)
    span = 10 ** draw(st.floats(-4, 6))
    return low, low + span


@given(ranges(), st.integers(3, 10))
def test_ticks_are_round_rising_inside_and_at_most_so_many_steps(axis, n):
    low, high = axis
    ticks = nice_ticks(low, high, n)
    gaps = [after - before for before, after in pairwise(ticks)]
    assert all(gap > 0 for gap in gaps)
    slack = 1e-6 * (high - low)
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    assert len(gaps) <= n
    assert ticks  # 1, 2 and 5 are so near each other that one step always goes in
    if gaps:
        step = gaps[0]
        assert all(math.isclose(gap, step, rel_tol=1e-5) for gap in gaps)
        digits = step / 10 ** math.floor(math.log10(step) + 1e-6)
        assert min(abs(digits - whole) for whole in (1, 2, 5)) < 1e-4
        step = float(f"{step:.0e}")
        assert all(abs(tick / step - round(tick / step)) < 1e-4 for tick in ticks)


@given(ranges(), st.integers(3, 10))
def test_no_two_ticks_have_the_same_text_and_each_says_its_number(axis, n):
    ticks = nice_ticks(*axis, n)
    texts = tick_texts(ticks)
    if abs(max(ticks, key=abs)) < 1e5:
        assert len(set(texts)) == len(texts)
        step = min((b - a for a, b in pairwise(ticks)), default=abs(ticks[0]) or 1)
        for tick, text in zip(ticks, texts, strict=True):
            assert float(text.replace("−", "-")) == pytest.approx(tick, abs=0.51 * step)
    assert "-" not in "".join(text for text in texts if "e" not in text)


@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False) | st.just(math.nan) | st.just(math.inf)))
def test_a_range_holds_all_finite_values_and_is_never_empty(values):
    low, high = nice_range(values)
    assert low < high
    assert all(low <= value <= high for value in values if math.isfinite(value))


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (math.nan, 1), (0, math.inf)])
def test_an_axis_needs_two_ends_in_order(low, high):
    with pytest.raises(ValueError, match="axis"):
        nice_ticks(low, high)


def test_a_range_has_ends_whose_difference_is_a_number():
    low, high = nice_range([-1.7e308, 1.7e308])
    assert math.isfinite(high - low)
    assert nice_ticks(low, high)


def test_ticks_known():
    assert nice_ticks(0, 1) == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert nice_ticks(-0.04, 0.04, 4) == (-0.04, -0.02, 0.0, 0.02, 0.04)
    assert tick_texts((0.25, 0.5)) == ("0.25", "0.50")
    assert tick_texts(()) == ()


@given(st.dates(date(1990, 1, 1), date(2080, 1, 1)), st.integers(0, 9000))
def test_dates_are_in_order_and_inside(start, days):
    end = start + timedelta(days=days)
    ticks = date_ticks(start, end)
    found = [day for day, _ in ticks]
    assert found == sorted(set(found))
    assert 1 <= len(found) <= 7
    assert start <= found[0]
    assert found[-1] <= end
    assert all(day.isoformat().startswith(text) for day, text in ticks)
