"""Subjects that misbehave, in a module of their own, as a plugin has them."""

import os
import sys
import textwrap

import pytest

from brainscore_core.isolation import start_model_process

MODULE = """
import os, subprocess, sys, time, warnings
import numpy as np
from brainscore_core.errors import DataUnavailable, NotApplicable, UserError
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.downloads import IncompleteDownload


class Subject:
    def __init__(self, name, **options):
        self.identifier, self.options = name, options

    def echo(self, *args, **kwargs):
        return [*args, kwargs]

    def start_task(self, task, fitting_stimuli=None, *, number_of_trials=1):
        pass

    def environment(self, name):
        return os.environ.get(name)

    def pid(self):
        return os.getpid()

    def large(self, count, seed):
        return np.random.default_rng(seed).standard_normal((count, 1000))

    # what goes wrong

    def leave(self, status):
        print("leaving now")
        sys.exit(status)

    def hang(self):
        time.sleep(600)

    def run_out_of_memory(self):
        import resource
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, before[1]))
        try:
            return np.ones(1 << 34)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)

    def print_much(self, count):
        for _ in range(count):
            print("x" * 9999)

    def raise_it(self, kind):
        if kind == "not applicable":
            raise NotApplicable("it has no such region")
        if kind == "user":
            raise UserError("weights are missing", "download them")
        if kind == "data":
            raise DataUnavailable("no data", "ask for them")
        if kind == "fetched":
            raise IncompleteDownload("half a file", "try again")
        if kind == "connection":
            raise ConnectionRefusedError(111, "Connection refused")
        raise ValueError("shapes do not match")

    def give_what_does_not_travel(self):
        return object()

    def remember(self):
        note("cache", hits=3, misses=1)
        note("weights", identifier="mine", sha256="00ff")
        warnings.warn("a region was guessed", RuntimeWarning)
        warnings.warn("a category of its own", type("Own", (DeprecationWarning,), {}))

    def children(self):
        quiet = dict(stdin=subprocess.DEVNULL)
        first = subprocess.Popen(["sleep", "600"], **quiet)
        second = subprocess.Popen(["sleep", "600"], start_new_session=True, **quiet)
        return [os.getpid(), first.pid, second.pid]


def load(name, **options):
    return Subject(name, **options)


def load_badly(name):
    import no_such_module_at_all


def load_and_die(name):
    print("reading the weights")
    os.abort()
"""

LIGHT = """#!{interpreter} -IS
import ctypes, json, os, signal, subprocess, sys, time

connection = int(sys.argv[-1])


def say(body, *payloads):
    sizes = [["inline", len(one)] for one in payloads]
    message = json.dumps({{"body": body, "payloads": sizes}}).encode()
    os.write(connection, message + b"\\n" + b"".join(payloads))


def pid():
    return os.getpid()


def children():
    quiet = dict(stdin=subprocess.DEVNULL)
    first = subprocess.Popen(["sleep", "600"], **quiet)
    second = subprocess.Popen(["sleep", "600"], start_new_session=True, **quiet)
    return [os.getpid(), first.pid, second.pid]


def segmentation_fault():
    ctypes.string_at(0)


def be_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    subprocess.Popen(["sleep", "600"])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("hanging", flush=True)
    time.sleep(600)


def print_for_ever():
    while True:
        os.write(1, b"y" * 65536)


def noise(text):
    os.write(connection, text.encode())


def answer_another_question():
    say({{"id": 99, "answer": 1}})


def close_the_connection():
    os.close(connection)
    time.sleep(600)


say({{"protocol": 2, "python": "3"}})
for line in os.fdopen(connection, closefd=False):
    request = json.loads(line)["body"]
    answer = {{"methods": {{}}}} if request["ask"] == "load" else globals()[request["method"]](*request["args"])
    about = json.dumps({{"notes": [], "warnings": [], "peak_bytes": 1}}).encode()
    say({{"id": request["id"], "answer": answer, "about": 0}}, about)
"""


@pytest.fixture(scope="session")
def light(tmp_path_factory):
    """An interpreter that speaks the protocol and imports nothing: it is ready at once, and goes wrong as asked."""
    python = tmp_path_factory.mktemp("light") / "python"
    python.write_text(LIGHT.format(interpreter=sys.executable))
    python.chmod(0o755)
    return python


@pytest.fixture(scope="session")
def variables(tmp_path_factory):
    """Environment variables with which the module is found."""
    folder = tmp_path_factory.mktemp("subjects")
    (folder / "misbehaving.py").write_text(textwrap.dedent(MODULE))
    return {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture
def start(variables):
    """``start(loader='load', …)``: a subject, closed at the end of the test."""
    started = []

    def start(loader="load", *, more=None, **options):
        environment = {**variables, **(more or {})}
        subject = start_model_process(
            f"misbehaving:{loader}", "mine", environment=environment, **{"timeout": 60, **options}
        )
        started.append(subject)
        return subject

    yield start
    for subject in started:
        subject.close()


@pytest.fixture(scope="module")
def subject(variables):
    """One that several tests may ask, as long as it stays well."""
    with start_model_process(
        "misbehaving:load", "mine", environment=variables, timeout=60, options={"a": 1}
    ) as subject:
        yield subject
