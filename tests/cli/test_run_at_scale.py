"""Two models on five benchmarks in one command, killed twice in between."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from brainscore_core.scoring import ResultsStore
from tests.optional import require_package

pytest.importorskip("torch")
require_package("distributed", "needs Dask: pip install 'brainscore[cluster]'")
pytestmark = pytest.mark.slow(reason="scores twenty pairs in processes that are killed", first=True)

PLUGINS = Path(__file__).parents[1] / "plugins_at_scale"
MODELS = ("scale-network-0", "scale-network-1")
BENCHMARKS = ("ScaleMajajHong.*-ridge", "Simulated2026.V1-rdm")
REAL = ("Kriegeskorte2008.IT-human-rdm", "Kriegeskorte2008.IT-monkey-rdm")  # measured
INSTEAD = ("Simulated2026.IT:rdm_cosine", "Simulated2026.V1:cka")
KILLED_AFTER = (3, 7)  # receipts


def environment(home: Path) -> dict[str, str]:
    home.mkdir()
    drawn = (Path(os.environ["BRAINSCORE_HOME"]) / "simulated2026").resolve()
    if drawn.is_dir():  # the stimuli, which any test may complete
        (home / "simulated2026").symlink_to(drawn)
    passes = home / "passes"
    passes.mkdir()
    return {
        **os.environ,
        "BRAINSCORE_HOME": str(home),
        "BRAINSCORE_PLUGINS": str(PLUGINS),
        "SCALE_PASSES": str(passes),
        "OMP_NUM_THREADS": "1",
    }


def start(results: Path, variables: dict[str, str]) -> subprocess.Popen:
    benchmarks = (*BENCHMARKS, *(REAL if "BRAINSCORE_MIRROR" in os.environ else INSTEAD))
    command = [sys.executable, "-m", "brainscore", "run", "--models", *MODELS, "--benchmarks", *benchmarks]
    command += ["--results", str(results), "--workers", "2"]
    output = (results.parent / f"{results.name}.txt").open("a")
    return subprocess.Popen(command, env=variables, stdout=output, stderr=output, start_new_session=True)


def finish(process: subprocess.Popen, results: Path) -> None:
    code = process.wait(timeout=900)
    assert code == 0, (results.parent / f"{results.name}.txt").read_text()[-3000:]


def run_undisturbed(folder: Path) -> None:
    folder.mkdir()
    finish(start(folder / "results", environment(folder / "home")), folder / "results")


def run_killed_twice(folder: Path) -> None:
    folder.mkdir()
    variables = environment(folder / "home")
    for receipts in KILLED_AFTER:
        process = start(folder / "results", variables)
        deadline = time.monotonic() + 600
        while len(list((folder / "results").glob("*/*/*.json"))) < receipts:
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline, "the run takes too long"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    finish(start(folder / "results", variables), folder / "results")


def by_pair(folder: Path) -> dict[tuple[str, str], list]:
    listing = ResultsStore(folder / "results").listing()
    assert not listing.problems
    pairs: dict[tuple[str, str], list] = {}
    for receipt in listing.receipts:
        pairs.setdefault((receipt.model.identifier, receipt.benchmark.identifier), []).append(receipt)
    return pairs


@pytest.fixture
def _plugins_here(monkeypatch):
    """This process has the plugins of the runs, too."""
    import brainscore_vision

    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(PLUGINS))
    brainscore_vision.plugin_index.refresh()
    yield
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    brainscore_vision.plugin_index.refresh()


@pytest.mark.usefixtures("_plugins_here")
def test_two_models_on_five_benchmarks(tmp_path):
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    run_undisturbed(undisturbed)
    run_killed_twice(killed)
    for folder in (undisturbed, killed):
        require_every_pair_once(folder)
    require_the_same_to_the_last_bit(undisturbed, killed)
    require_the_score_of_a_pair_alone(undisturbed)
    require_one_pass_of_each_stimulus(undisturbed)


def require_every_pair_once(folder: Path) -> None:
    pairs = by_pair(folder)
    assert len(pairs) == 10
    assert set(map(len, pairs.values())) == {1}
    states = Counter(receipts[0].state for receipts in pairs.values())
    assert states["failed"] == 0
    assert states["scored"] >= 8, states


def require_the_same_to_the_last_bit(undisturbed: Path, killed: Path) -> None:
    before, after = by_pair(undisturbed), by_pair(killed)
    assert before.keys() == after.keys()
    stores = [ResultsStore(folder / "results") for folder in (undisturbed, killed)]
    for pair, (one,) in before.items():
        (other,) = after[pair]
        assert (one.state, one.reason, one.score, one.raw, one.ceiling) == (
            other.state,
            other.reason,
            other.score,
            other.raw,
            other.ceiling,
        ), pair
        for kind in {attachment.kind for attachment in one.attachments} & {"raw", "predictions"}:
            arrays = [store.open_attachment(receipt, kind) for store, receipt in zip(stores, (one, other), strict=True)]
            np.testing.assert_array_equal(arrays[0].values, arrays[1].values, err_msg=f"{pair} {kind}")


def require_the_score_of_a_pair_alone(undisturbed: Path) -> None:
    import brainscore_vision

    alone = brainscore_vision.run_pair(MODELS[0], "Simulated2026.V1-rdm").receipt
    (receipt,) = by_pair(undisturbed)[MODELS[0], "Simulated2026.V1-rdm"]
    assert receipt.score.value == pytest.approx(alone.score.value, rel=1e-12)
    assert receipt.score.ci == pytest.approx(alone.score.ci, rel=1e-9)
    assert receipt.data == alone.data
    assert receipt.model == alone.model


def require_one_pass_of_each_stimulus(undisturbed: Path) -> None:
    """But for the first of each set: it is compared with what is stored before that is used."""
    files = sorted((undisturbed / "home" / "passes").iterdir())
    assert [file.name for file in files] == sorted(MODELS)
    for file in files:
        passes = Counter(file.read_text().split())
        several = [count for count in passes.values() if count > 1]
        assert len(passes) > 100
        assert len(several) <= 12, f"{len(several)} of {len(passes)} stimuli passed more than once"
