"""Each check of a metric fails on one made to fail it, and only then."""

import numpy as np
import pytest

from brainscore_core.metrics import Ceiling, Metric, Score, declare_no_error
from brainscore_core.plugins import ConformanceError, check_metric

TESTS = "def test_it():\n    assert load_metric('mine')(a, b) == pytest.approx(0.25)\n"


class Sound(Metric):
    """Correlation of mean responses, aligned by stimulus_id."""

    scale = "correlation"

    def __call__(self, source, target):
        source, target = (self.order(side) for side in (source, target))
        order = [list(source["stimulus_id"].values).index(name) for name in target["stimulus_id"].values]
        if not (np.isfinite(source.values).all() and np.isfinite(target.values).all()):
            raise ValueError("NaN")
        return self.result(source.values[order], target.values)

    def order(self, side):
        return side.transpose("presentation", "neuroid")

    def result(self, source, target):
        score = declare_no_error(Score(np.corrcoef(source.mean(axis=1), target.mean(axis=1))[0, 1]), "made up")
        score.attrs["raw"] = score.copy()
        return score


class NoScale(Sound):
    scale = None


class Function:
    def __call__(self, source, target):
        return Sound()(source, target)


class Number(Sound):
    def result(self, source, target):
        return 0.5


class NoRaw(Sound):
    def result(self, source, target):
        return declare_no_error(Score(0.5), "made up")


class NoError(Sound):
    def result(self, source, target):
        return Score(0.5, attrs={"raw": 0.5})


class Random(Sound):
    def result(self, source, target):
        return super().result(source, target) + np.random.default_rng().uniform(0.1, 0.2)


class Changing(Sound):
    def __call__(self, source, target):
        score = super().__call__(source, target)
        source.values[0] += 1
        return score


class ByPosition(Sound):
    def __call__(self, source, target):
        return self.result(self.order(source).values, self.order(target).values)


class SplitByPosition(Sound):
    """Tests on the last rows of the target."""

    def result(self, source, target):
        return super().result(source[-55:], target[-55:])


class Untransposed(Sound):
    def order(self, side):
        return side

    def __call__(self, source, target):
        if source.dims[0] == "neuroid":
            return self.result(source.values.T[:, ::3], target.values[::-1])
        return super().__call__(source, target)


class NaNAsZero(Sound):
    def __call__(self, source, target):
        super().__call__(source.fillna(0.0), target.fillna(0.0))
        features = source.transpose("presentation", "neuroid").sel(stimulus_id=target["stimulus_id"].values).values
        responses = target.transpose("presentation", "neuroid").values
        with np.errstate(invalid="ignore"):
            each = [np.corrcoef(features[:, i], responses[:, i])[0, 1] for i in range(responses.shape[1])]
        score = declare_no_error(Score(np.abs(np.nan_to_num(each)).mean()), "made up")
        score.attrs["raw"] = score.copy()
        return score


class Asserting(Sound):
    def __call__(self, source, target):
        assert set(source["stimulus_id"].values) == set(target["stimulus_id"].values)
        return super().__call__(source, target)


def results(metric, **options):
    checks = check_metric(metric, raise_errors=False, **options)
    return {check.name: check for check in checks if check.result not in ("passed", "not applicable")}


def test_a_sound_metric_passes(tmp_path):
    (tmp_path / "test.py").write_text(TESTS)
    assert {check.result for check in check_metric(Sound(), folder=tmp_path)} == {"passed"}


DECLARED = "it is a Metric with a scale, or a Ceiling with a meaning"
RETURNS = "it returns a Score with raw and error"


@pytest.mark.parametrize(
    ("metric", "check", "said"),
    [
        (NoScale, DECLARED, "scale is None"),
        (Function, DECLARED, "neither a Metric nor a Ceiling"),
        (Number, RETURNS, "it returned a float"),
        (NoRaw, RETURNS, "no attrs['raw']"),
        (NoError, RETURNS, "no attrs['error']"),
        (Random, "it repeats", "the same arguments gave another score"),
        (Changing, "it leaves its arguments as they were", "it changed the source"),
        (ByPosition, "the order of presentations does not matter", "presentations of the source in another order"),
        (SplitByPosition, "the order of presentations does not matter", "presentations of the target in another order"),
        (ByPosition, "other stimuli are refused", "it compared presentations of different stimuli"),
        (Asserting, "other stimuli are refused", "raised AssertionError"),
        (Untransposed, "the order of dimensions does not matter, on either side", "dimensions of the source"),
        (NaNAsZero, "a neuroid of NaN never counts as 0", "a neuroid of NaN in the source changed the score"),
    ],
)
def test_what_is_wrong_is_found_and_mended(metric, check, said):
    found = results(metric())
    assert found[check].result == "failed"
    assert said in found[check].explanation
    assert found[check].remedy


class Reliability(Ceiling):
    meaning = "reliability"

    def __call__(self, assembly):
        if np.isnan(assembly.values).any():
            raise ValueError("NaN")
        assembly = assembly.transpose("presentation", "neuroid")
        halves = [assembly.values[assembly["repetition"].values % 2 == half].mean(axis=0) for half in (0, 1)]
        score = declare_no_error(Score(np.corrcoef(*halves)[0, 1]), "made up")
        score.attrs["raw"] = score.copy()
        return score


def test_ceilings_take_one_assembly():
    assert results(Reliability()) == {}
    meaningless = type("Meaningless", (Reliability,), {"meaning": None})
    assert "meaning is None" in results(meaningless())[DECLARED].explanation


class OfNumbers(Metric):
    scale = "similarity"

    def __call__(self, source, target):
        score = declare_no_error(Score(1 - abs(float(source) - float(target))), "made up")
        score.attrs["raw"] = score.copy()
        return score


def test_what_takes_no_example_is_given_its_arguments():
    found = results(OfNumbers())
    assert list(found) == ["it takes one of the examples"]
    assert found["it takes one of the examples"].result == "warning"
    assert "recordings: TypeError" in found["it takes one of the examples"].explanation
    assert results(OfNumbers(), source=Score(0.5), target=Score(0.75)) == {}


def test_tests_are_read(tmp_path):
    assert "there are no tests" in results(Sound(), folder=tmp_path)["its tests load it"].explanation
    (tmp_path / "test.py").write_text(TESTS.replace("0.25", "other"))
    assert list(results(Sound(), folder=tmp_path)) == ["its tests know a reference score"]


def test_failures_are_raised():
    with pytest.raises(ConformanceError, match="scale is None, so it is undefined how score and ceiling are related"):
        check_metric(NoScale())
