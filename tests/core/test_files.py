import os
import signal
import tempfile
import time

import pytest

from brainscore_core.files import (
    PART_SUFFIX,
    STALE,
    file_digest,
    remove_abandoned_folders,
    replacing,
    sweep,
    temporary_folder,
)


def test_a_file_appears_whole(tmp_path):
    with replacing(tmp_path / "new" / "a.txt") as stream:
        stream.write(b"half")
        assert not (tmp_path / "new" / "a.txt").exists()
        stream.write(b" and half")
    assert (tmp_path / "new" / "a.txt").read_bytes() == b"half and half"


def test_after_an_error_the_file_is_as_before(tmp_path):
    def fail():
        with replacing(tmp_path / "a.txt") as stream:
            stream.write(b"half")
            raise RuntimeError

    (tmp_path / "a.txt").write_text("before")
    with pytest.raises(RuntimeError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "before"


def test_a_temporary_folder_goes_with_its_process(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "kept-by-others").mkdir()
    pid = os.fork()
    if pid == 0:
        with temporary_folder("kept-") as folder:
            (folder / "inside").mkdir()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    with temporary_folder("other-") as other, temporary_folder("kept-") as folder:
        assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "kept-by-others", other, folder])
        assert remove_abandoned_folders("other-") == remove_abandoned_folders("kept-") == 0  # they are in use
    assert [path.name for path in tmp_path.iterdir()] == ["kept-by-others"]


def test_only_what_is_old_and_unfinished_is_swept(tmp_path):
    long_ago = time.time() - 2 * STALE
    for name in (f".old{PART_SUFFIX}", f".new{PART_SUFFIX}", "old.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / f".folder{PART_SUFFIX}").mkdir()
    for name in (f".old{PART_SUFFIX}", "old.txt", f".folder{PART_SUFFIX}"):
        os.utime(tmp_path / name, (long_ago, long_ago))
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".new{PART_SUFFIX}", "old.txt"]


def test_what_vanishes_meanwhile_is_no_error(tmp_path, monkeypatch):
    gone = tmp_path / f".gone{PART_SUFFIX}"
    monkeypatch.setattr(type(tmp_path), "glob", lambda *_: iter([gone]))
    sweep(tmp_path)


def test_a_changed_file_has_another_hash(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"")
    assert file_digest(path, "sha1") == "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    path.write_bytes(b"abc")
    assert file_digest(path, "sha1") == "a9993e364706816aba3e25717850c26c9cd0d89d"
