import numpy as np
import pytest

from brainscore_vision.utils import LazyLoad, fullname


def test_loads_once_and_only_when_used():
    calls = []
    lazy = LazyLoad(lambda: calls.append(1) or {"a": 1})
    assert not calls
    assert lazy["a"] == 1
    assert list(lazy) == ["a"]
    assert calls == [1]
    lazy["b"] = 2
    assert len(lazy) == 2
    assert "b" in lazy
    assert lazy == {"a": 1, "b": 2}
    lazy.reload()
    assert calls == [1, 1]
    assert lazy == {"a": 1}


def test_stands_for_the_object():
    lazy = LazyLoad(lambda: np.arange(3))
    assert isinstance(lazy, np.ndarray)
    assert lazy.shape == (3,)
    np.testing.assert_array_equal(np.asarray(lazy), [0, 1, 2])
    assert LazyLoad(lambda: abs)(-2) == 2
    assert not LazyLoad(list)
    assert repr(LazyLoad(lambda: 5)) == "5"


def test_attributes_are_set_on_the_object():
    class Thing:
        pass

    thing = Thing()
    lazy = LazyLoad(lambda: thing)
    lazy.name = "x"
    assert thing.name == "x"
    with pytest.raises(AttributeError):
        _ = lazy.missing


def test_fullname():
    assert fullname(LazyLoad(lambda: 1).content) == "builtins.int"
