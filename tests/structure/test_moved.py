"""Earlier paths of modules that moved."""

import importlib
import subprocess
import sys

import pytest

from brainscore_core.moved import MOVED


@pytest.mark.parametrize("earlier", sorted(MOVED))
def test_the_earlier_path_gives_the_same_module_and_warns(earlier):
    pytest.importorskip("torch")
    sys.modules.pop(earlier, None)
    with pytest.warns(DeprecationWarning, match=f"{earlier} moved to {MOVED[earlier]}") as caught:
        module = importlib.import_module(earlier)
    assert module is importlib.import_module(MOVED[earlier])
    assert module.__spec__.name == MOVED[earlier]
    assert (
        sum(str(warning.message).startswith(f"{earlier} moved") for warning in caught) == 1
    )  # its parent may warn, too


def test_present_paths_do_not_warn():
    code = "import brainscore_vision.scoring.pairs, brainscore_vision.submission"
    subprocess.run([sys.executable, "-W", "error::DeprecationWarning:brainscore", "-c", code], check=True)
