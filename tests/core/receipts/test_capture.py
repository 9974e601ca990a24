"""What a process and its children print is kept, within bounds."""

import ctypes
import os
import re
import subprocess
import sys
import threading
import time

import pytest

from brainscore_core.receipts import output
from brainscore_core.receipts.output import Captured, capture_output, unnamed_file


def test_python_native_code_and_other_processes_are_caught(capfd):
    print("before")
    with capture_output() as captured:
        print("from Python")
        print("as an error", file=sys.stderr)
        subprocess.run([sys.executable, "-S", "-c", "print('from a child')"], check=True)
        ctypes.CDLL(None).printf(b"from C\n")
        os.write(2, b"from a descriptor\n")
        assert captured.text().count("\n") == 5  # also while it goes on
    print("after")
    lines = ["from Python", "as an error", "from a child", "from C", "from a descriptor"]
    assert captured.text().splitlines() == lines
    printed, errors = capfd.readouterr()
    assert (printed.split(), errors) == (["before", "after"], "")


def test_the_first_and_the_last_half_stay():
    with capture_output(1000) as captured:
        sys.stdout.write("a" * 500 + "b" * 4000 + "c" * 500)
    text = captured.text()
    assert text == f"{'a' * 500}\n… 4,000 bytes left out …\n{'c' * 500}"


def test_a_flood_does_not_fill_the_disk(monkeypatch):
    monkeypatch.setattr(output, "_GROWTH", 20_000)
    monkeypatch.setattr(output, "_INTERVAL", 0.005)
    largest = 0
    with capture_output(1000) as captured:
        for number in range(400):
            os.write(1, f"{number:05d}".encode() * 100)
            largest = max(largest, os.fstat(1).st_size)
            time.sleep(0.001)
    assert largest < 150_000
    first, left_out, last = captured.text().split("\n")
    assert first == "00000" * 100
    assert last == "00399" * 100
    count = int(re.fullmatch(r"… ([\d,]+) bytes left out …", left_out)[1].replace(",", ""))
    # what is printed at the moment of a cut may be lost, and is then not counted
    assert 400 * 500 - 1000 - 10 * 500 <= count <= 400 * 500 - 1000


def test_streams_are_given_back_after_an_error(capfd):
    before = sys.stdout, sys.stderr

    def fail():
        with capture_output():
            print("caught")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    print("printed")
    assert (sys.stdout, sys.stderr) == before
    assert capfd.readouterr().out == "printed\n"


def test_who_keeps_a_stream_may_go_on_using_it(capfd):
    with capture_output() as captured:
        kept = sys.stderr  # as a handler of logging does
    kept.write("later\n")
    assert captured.text() == ""
    assert capfd.readouterr().err == "later\n"


def test_one_captures_at_a_time():
    texts = []

    def other():
        with capture_output() as second:
            texts.append(second.text())

    with capture_output() as first:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        print("of the first")
    assert texts == [""]
    assert first.text() == "of the first\n"


def test_a_process_that_dies_leaves_what_it_printed_to_who_gave_it_the_file():
    code = (
        "import os; from brainscore_core.receipts.output import capture_output\n"
        "os.dup2(2, 1)\nprint('before', flush=True)\n"
        "with capture_output() as first:\n    print('first pair')\n"
        "assert first.text() == 'first pair\\n'\n"
        "with capture_output():\n    print('second pair')\n    os.abort()\n"
    )
    with unnamed_file() as file:
        done = subprocess.run([sys.executable, "-c", code], stderr=file, check=False)
        assert done.returncode < 0
        assert Captured(file).text() == "second pair\n"


def test_a_file_with_a_name_is_not_emptied(tmp_path):
    code = "from brainscore_core.receipts.output import capture_output\nwith capture_output():\n    print('caught')\n"
    path = tmp_path / "log"
    path.write_text("kept\n")
    with path.open("a+") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, stderr=file, check=True)
    assert path.read_text() == "kept\n"
