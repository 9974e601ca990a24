"""What importing the packages costs."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "sklearn", "matplotlib", "scipy", "netCDF4", "pooch", "xarray", "pandas", "numpy", "PIL", "rich"}


@pytest.mark.parametrize("module", ["brainscore", "brainscore_vision", "brainscore_core.plugins", "brainscore.cli"])
def test_importing_loads_nothing_heavy(module):
    code = f"import sys, {module}\nprint(' '.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) & HEAVY == set()


@pytest.mark.parametrize("name", ["BrainModel", "Score", "Metric", "Ceiling", "Benchmark"])
def test_names_that_are_loaded_when_asked_for(name):
    import brainscore_vision

    assert getattr(brainscore_vision, name).__name__ == name
    assert name in dir(brainscore_vision)
    assert name in brainscore_vision.__all__


def test_all_of_all_is_there():
    import brainscore_vision

    assert [name for name in brainscore_vision.__all__ if not hasattr(brainscore_vision, name)] == []


def test_a_name_that_is_not_there():
    import brainscore_vision

    with pytest.raises(AttributeError, match="no attribute 'load_modle'"):
        _ = brainscore_vision.load_modle


def test_the_top_package():
    import brainscore
    import brainscore_vision

    assert brainscore.score is brainscore_vision.score
    assert brainscore.__version__
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = brainscore.nonesuch
