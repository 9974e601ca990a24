import getpass
import socket

import pytest

from brainscore_core.receipts import output
from brainscore_core.receipts.output import LOG_BYTES, kept_log, read_log


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("one\ntwo", "one\ntwo\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("10 %\r50 %\r100 %\ndone\n", "100 %\ndone\n"),
        ("100 %\r\n", "100 %\n"),
        ("\x1b[1;31mred\x1b[0m \x1b]0;title\x07text\x00\n", "red text\n"),
        ("tab\tstays\n\nso do empty lines\n", "tab\tstays\n\nso do empty lines\n"),
        ("half a character \udcff\n", "half a character ?\n"),
        (
            "wrote /mnt/lab/results/a.nc to s3://key:secret@bucket/b?X-Amz-Signature=1\n",
            "wrote …/a.nc to s3://bucket/b\n",
        ),
    ],
)
def test_what_is_kept(printed, kept):
    assert kept_log(printed) == kept


def test_names_of_people_and_machines_go(monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "alice42")
    monkeypatch.setattr(socket, "gethostname", lambda: "labserver7.example.org")
    output._personal_names.cache_clear()
    try:
        assert kept_log("alice42@labserver7: hello") == "<user>@<host>: hello\n"
    finally:
        output._personal_names.cache_clear()


@pytest.mark.parametrize("line", ["x" * 79, "𝄞" * 20, "/home/someone/a.nc " * 4])
def test_a_long_log_loses_its_middle(line):
    count = 3 * LOG_BYTES // len(line.encode()) + 1000
    text = "\n".join(["first line", *[line] * count, "last line\n"])
    kept = kept_log(text)
    assert len(kept.encode()) <= LOG_BYTES
    assert len(kept) > LOG_BYTES / 10
    assert kept.startswith("first line\n")
    assert kept.endswith("\nlast line\n")
    assert "are left out here" in kept
    assert "someone" not in kept


@pytest.mark.parametrize("piece", ["x", "a-", "a.b", "/a", "'/", "\r", "s3:/", "…/"])
def test_a_flood_without_a_line_break_is_kept_quickly(piece):
    kept = kept_log(piece * (3_000_000 // len(piece)))  # a search whose time grows with the square would take hours
    assert len(kept.encode()) <= LOG_BYTES


def test_a_stored_log_of_any_size_and_content_is_read_in_bounded_memory(tmp_path):
    file = tmp_path / "a.log"
    file.write_text("ä" * (LOG_BYTES // 2), encoding="utf-8")
    assert read_log(file) == "ä" * (LOG_BYTES // 2)
    with file.open("r+b") as stream:  # a sparse file: reading all of it would not fit into memory
        stream.write(b"first \xff")
        stream.truncate(1 << 40)
        stream.seek(-4, 2)
        stream.write(b"last")
    text = read_log(file)
    assert (text[:7], text[-4:]) == ("first \ufffd", "last")
    assert len(text) < LOG_BYTES + 100
