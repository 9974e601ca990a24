"""Core and vision without what Windows lacks: its absence is simulated, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ABSENT = """
import os, shutil, signal, socket, sys
import distributed, h5py, multiprocessing.popen_fork, netCDF4, numpy, pandas, PIL.Image, scipy.stats
import sklearn.linear_model, subprocess, tempfile, xarray, pooch, rich.console, rich.progress, click, jsonschema

usage = shutil._ntuple_diskusage
MODULES = ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios")

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Finder())
for name in MODULES:
    sys.modules.pop(name, None)
for name in ("O_CLOEXEC", "chown", "fork", "geteuid", "getpgid", "getpgrp", "getuid", "killpg", "memfd_create",
             "mkfifo", "nice", "sched_getaffinity", "setsid", "statvfs", "uname", "posix_spawn", "fchmod"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGCHLD", "SIGPIPE", "SIGALRM", "SIGHUP", "SIGUSR1", "pthread_sigmask", "alarm", "setitimer"):
    if hasattr(signal, name):
        delattr(signal, name)
del socket.AF_UNIX

def refused(*arguments, **options):
    raise OSError("not supported")

os.link = os.symlink = refused
shutil.disk_usage = lambda path, free=10**12: usage(free, 0, free)
"""

EVERY_MODULE = """
import importlib, pkgutil
import brainio, brainscore, brainscore_core, brainscore_vision

failed, count = [], 0
for package in (brainio, brainscore, brainscore_core, brainscore_vision):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".", onerror=lambda name: None):
        name = module.name
        if name.endswith((".test", ".__main__")) or name in LINUX_ONLY:
            continue
        count += 1
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name in MODULES:
                failed.append(f"{name}: {error}")
        except AttributeError as error:
            failed.append(f"{name}: {error}")
print(count, *failed, sep="\\n")
"""

USE = """
import numpy as np
from pathlib import Path
from brainscore_core.files import folder_lock, replacing, temporary_folder
from brainscore_core.memory import memory_limit
from brainscore_core.scoring import ResultsStore
from brainscore_vision import run_pair
from brainscore_vision.testing import small_models

with folder_lock(Path(".")), temporary_folder("brainscore-") as folder, replacing(Path("file")) as stream:
    stream.write(b"text")
assert memory_limit() > 0
model = small_models()[0]
outcome = run_pair(model, "Simulated2026.IT-rdm", results="results")
print(outcome.receipt.state, len(ResultsStore("results").listing().receipts))
"""

SANDBOX = {"brainscore_core.isolation._launch", "brainscore_core.isolation._guard"}  # programs for Linux


def _run(code, folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow(reason="imports all modules in a new process")
def test_every_module_can_be_imported(tmp_path):
    done = _run(f"{ABSENT}\nLINUX_ONLY = {SANDBOX!r}\n{EVERY_MODULE}", tmp_path)
    assert done.returncode == 0, done.stderr
    count, *failed = done.stdout.split("\n")[:-1]
    assert int(count) > 300
    assert not failed


@pytest.mark.slow(reason="scores a model in a new process")
def test_a_pair_is_scored(tmp_path):
    done = _run(f"{ABSENT}\n{USE}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["scored", "1"]
