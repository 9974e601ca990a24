import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from brainscore_core.numerics import corrected

# p-values that statsmodels and R's multtest publish in their tests
RAW = [0.838541367553, 0.642193923795, 0.680845947633, 0.967833824309, 0.71626938238, 0.177096952723]
RAW += [5.23656777208e-05, 0.0202732688798, 0.00028140506198, 0.0149877310796]
HOLM = {5.23656777208e-05: 5.23656777208e-04, 0.00028140506198: 2.53264555782e-03, 0.0149877310796: 1.19901848637e-01}
HOLM |= {0.0202732688798: 1.419128821586e-01}


def test_holm_equals_the_published_values():
    found = dict(zip(RAW, corrected(RAW), strict=True))
    for raw, expected in HOLM.items():
        assert found[raw] == pytest.approx(expected, rel=1e-9)
    assert all(p == 1 for raw, p in found.items() if raw not in HOLM)


@given(arrays.arrays(float, st.integers(1, 20), elements=st.floats(0, 1)))
def test_benjamini_hochberg_is_scipys(p):
    np.testing.assert_allclose(
        corrected(p, "benjamini-hochberg"), stats.false_discovery_control(p, method="bh"), rtol=1e-12
    )


@given(arrays.arrays(float, st.integers(1, 20), elements=st.floats(0, 1)), st.randoms())
def test_corrections_keep_order_and_are_ordered(p, random):
    holm, bh, none = (corrected(p, method) for method in ("holm", "benjamini-hochberg", "none"))
    assert (none <= bh).all()
    assert (bh <= holm + 1e-12).all()
    assert (holm <= np.minimum(p * len(p), 1) + 1e-12).all()
    order = list(range(len(p)))
    random.shuffle(order)
    np.testing.assert_allclose(corrected(p[order]), holm[order])


def test_what_was_not_tested_does_not_count():
    assert corrected([0.01, np.nan, 0.04]).tolist()[::2] == [0.02, 0.04]
    assert np.isnan(corrected([[np.nan]])).all()
    assert corrected([[0.01, 0.04]]).shape == (1, 2)


@pytest.mark.parametrize(
    ("p", "method", "match"), [([1.1], "holm", "0, 1"), ([0.1], "bonferroni", "use one of 'holm'")]
)
def test_arguments(p, method, match):
    with pytest.raises(ValueError, match=match):
        corrected(p, method)
