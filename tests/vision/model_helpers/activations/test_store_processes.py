"""The store under several processes, some of which are killed."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from brainscore_core.activation_store import ActivationStore, layer_key
from brainscore_core.files import STALE

START = """
import os, sys, time
import numpy as np
from brainscore_core.activation_store import ActivationStore, layer_key
store = ActivationStore(sys.argv[1], max_bytes=int(sys.argv[2]))
"""


def start(folder, code, *arguments, limit=10**9):
    source = START + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", source, str(folder), str(limit), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
@pytest.mark.parametrize("when", ["half of the rows", "before the rename", "before the manifest"])
def test_killed_in_the_middle(tmp_path, when):
    process = start(
        tmp_path,
        """
        from pathlib import Path
        def wait(*_):
            print("now", flush=True)
            time.sleep(100)
        when = sys.argv[3]
        if when == "before the rename":
            os.fsync = wait
        if when == "before the manifest":
            import brainscore_core.activation_store._layers as module
            module.replacing = wait
        parts = {"layer": "conv1"}
        with store.writer(layer_key(parts), shape=(10, 1000), parts=parts) as writer:
            writer[:5] = np.ones((5, 1000))
            if when == "half of the rows":
                wait()
            writer[5:] = np.ones((5, 1000))
        """,
        when,
    )
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=600)

    store = ActivationStore(tmp_path, max_bytes=10**9)
    key = layer_key({"layer": "conv1"})
    assert store.get(key) is None
    assert store.entries() == []
    (left,) = store.leftovers()
    with store.writer(key, shape=(10, 1000), parts={"layer": "conv1"}) as writer:  # the next run
        writer[:] = np.full((10, 1000), 2)
    assert left.path.exists()  # it might still be written
    assert store.get(key).array.min() == 2
    os.utime(left.path, (time.time() - 2 * STALE,) * 2)
    ActivationStore(tmp_path, max_bytes=10**9).trim()
    assert not left.path.exists()
    assert store.get(key).array.min() == 2
    assert store.leftovers() == []


@pytest.mark.slow(reason="starts processes that read and write at once")
def test_many_readers_and_writers(tmp_path):
    code = """
        me, until = int(sys.argv[3]), time.monotonic() + 0.8
        seen = written = 0
        rng = np.random.default_rng(me)
        while time.monotonic() < until or written < 5:
            for name in ("shared", "also shared", f"of {me}"):
                parts = {"layer": name}
                key = layer_key(parts)
                layer = store.get(key)
                if layer is not None:
                    values = np.asarray(layer.array)
                    assert values.shape == (20, 500)
                    assert (values == values[0, 0]).all(), "rows of two writers in one layer"
                    seen += 1
                if rng.random() < 0.5:
                    with store.writer(key, shape=(20, 500), parts=parts) as writer:
                        for row in rng.permutation(20):
                            writer[row] = np.full(500, me)
                    written += 1
        print(seen, written)
    """
    counts = [finish(process).split() for process in [start(tmp_path, code, number) for number in range(4)]]
    assert all(int(seen) > 0 and int(written) >= 5 for seen, written in counts)
    store = ActivationStore(tmp_path)
    names = {entry.named("layer") for entry in store.entries()}
    assert names == {"shared", "also shared", *(f"of {number}" for number in range(4))}
    assert {item.state for item in store.verify()} == {"good"}
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.slow(reason="starts processes that write at once")
def test_many_writers_within_a_limit(tmp_path):
    limit = 3 * 40_500
    code = """
        me, seen = int(sys.argv[3]), 0
        for number in range(12):
            parts = {"layer": number % 6}
            key = layer_key(parts)
            layer = store.get(key)
            if layer is not None:
                assert (np.asarray(layer.array) == number % 6).all()
                seen += 1
            with store.writer(key, shape=(10, 1000), parts=parts) as writer:
                writer[:] = np.full((10, 1000), number % 6)
            assert (writer.stored.array == number % 6).all()  # also where another process dropped it already
    """
    for process in [start(tmp_path, code, number, limit=10 * 40_500) for number in range(3)]:
        finish(process)
    store = ActivationStore(tmp_path, max_bytes=limit)
    store.trim()
    assert store.nbytes() <= limit
    assert 1 <= len(store.entries()) <= 3
    assert {item.state for item in store.verify()} == {"good"}


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit of file size")
def test_a_real_write_that_fails(tmp_path):
    code = """
        import resource
        from brainscore_core.errors import UserError
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        parts = {"layer": "conv1"}
        try:
            with store.writer(layer_key(parts), shape=(10, 1000), parts=parts) as writer:
                writer[:] = np.ones((10, 1000))
        except UserError as error:
            print(error.message)
        print(store.leftovers(), store.get(layer_key(parts)))
    """
    message, left = finish(start(tmp_path, code)).splitlines()
    assert "no space for activations" in message
    assert left == "[] None"


def test_only_what_is_looked_at_is_read(tmp_path):
    """A layer of 200 MB is written and partly read within 40 MB."""
    code = """
        from brainscore_core.memory import resident_memory
        import resource
        parts = {"layer": "conv1"}
        def held():
            return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) * 1024
        with store.writer(layer_key(parts), shape=(50, 1_000_000), parts=parts) as writer:
            block = np.ones((1, 1_000_000), np.float32)
            before = held()
            most = 0
            for row in range(50):
                writer[row] = block
                most = max(most, held() - before)
        layer = store.get(layer_key(parts))
        assert layer.array[::10, ::100_000].sum() == 50
        print(max(most, held() - before))
    """
    if not os.path.exists("/proc/self/status"):
        pytest.skip("needs /proc")
    assert int(finish(start(tmp_path, code))) < 40_000_000
