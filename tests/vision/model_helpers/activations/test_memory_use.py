"""What extracting and scoring takes of memory, measured, against the limit and the plan."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
SCRIPT = Path(__file__).resolve().parents[4] / "perf" / "memory.py"


@pytest.mark.slow(reason="measures the memory of a process over much data")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_layers_larger_than_the_limit_are_scored_within_it(tmp_path):
    limit, stimuli, channels = 500_000_000, 680, 23
    metrics = ["pls", "ridgecv", "cka", "rdm"]
    layers = len(metrics)
    arguments = [str(tmp_path), *map(str, (limit, stimuli, channels)), "--", *metrics]
    homes = dict.fromkeys(("BRAINSCORE_HOME", "BRAINIO_HOME", "RESULTCACHING_HOME"), str(tmp_path / "home"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BRAINSCORE_")} | homes
    done = subprocess.run(
        [sys.executable, SCRIPT, "--measure", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    one_layer = stimuli * channels * 64 * 64 * 4
    assert found["layers"] == layers * one_layer > 2 * limit
    peaks = {step["step"]: step["peak"] for step in found["steps"]}
    assert len(peaks) == 3 + layers  # libraries, extraction, controls
    assert max(peaks.values()) <= found["planned"] <= limit
    # no layer was copied as a whole
    assert max(peaks.values()) - peaks["libraries and network"] < one_layer
