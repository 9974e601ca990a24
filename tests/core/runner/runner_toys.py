"""A scorer that workers of the tests import; what it does stands in the benchmark's name."""

import ctypes
import os
import sys
import time
from pathlib import Path

import numpy as np

from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt


def score(model, benchmark, *, store, run, isolated, folder):
    """Write down that it was begun, do what the name says, write a receipt."""
    with (Path(folder) / "begun.txt").open("a") as file:
        file.write(f"{model} {benchmark} {os.getpid()} {worker()}\n")
    deed, _, argument = benchmark.partition("-")
    globals().get(f"_{deed}", lambda *arguments: None)(argument, Path(folder) / f"{model} {benchmark}")
    receipt = Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier=benchmark),
        state="scored",
        score=Estimate(value=number(model, benchmark)),
        seeds={"threads": os.environ.get("OMP_NUM_THREADS", ""), "memory": os.environ.get("BRAINSCORE_MAX_MEMORY", "")},
        run=run,
    )
    return store.write(receipt)


def worker():
    """The process that asked for the pair: the nearest ancestor that is no process of a template."""
    parent = os.getppid()
    while b"\0template\0" in _read(f"/proc/{parent}/cmdline"):
        parent = int(_read(f"/proc/{parent}/stat").rpartition(b")")[2].split()[1])
    return parent


def _read(path):
    return Path(path).read_bytes() if Path(path).exists() else b""


def number(model, benchmark):
    """A number that hangs on the last bit of a product of matrices."""
    seed = int.from_bytes(f"{model} {benchmark}".encode(), "little") % 2**32
    matrix = np.random.default_rng(seed).standard_normal((200, 200))
    return float(np.linalg.svd(matrix @ matrix.T, compute_uv=False)[7] / 1000)


def _slow(argument, mark):
    time.sleep(float(argument))


def _eat(argument, mark):
    kept = bytearray(int(argument) * 1_000_000)
    kept[::4096] = b"x" * len(kept[::4096])
    time.sleep(1.0)


def _crash(argument, mark):
    if argument == "once" and mark.exists():
        return
    mark.touch()
    print("last words", file=sys.stderr, flush=True)
    if argument == "segfault":
        ctypes.string_at(0)
    os.abort()


def _hang(argument, mark):
    time.sleep(600)


def _stuck(argument, mark):
    """Until it is killed, the first time that the model of the name comes here."""
    if mark.name.startswith(f"{argument} ") and not mark.exists():
        mark.touch()
        time.sleep(600)


def _exit(argument, mark):
    sys.exit(argument)


def _raise(argument, mark):
    raise ValueError(argument)


def _late(argument, mark):
    """Wait as `_slow` does, for the model of the name only."""
    model, seconds = argument.split("-")
    if mark.name.startswith(f"{model} "):
        time.sleep(float(seconds))


def _meet(argument, mark):
    """Wait until so many models are here at the same time."""
    end = time.monotonic() + 60
    mark.touch()
    while len(list(mark.parent.glob(f"* meet-{argument}"))) < int(argument):
        if time.monotonic() > end:
            raise TimeoutError("no other model came")
        time.sleep(0.01)
