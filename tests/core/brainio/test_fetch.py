import errno
import hashlib
import io
import logging
import os
import pickle
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from brainscore_core import files, progress, provenance
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.files import folder_lock
from brainscore_core.supported_data_standards.brainio import downloads
from brainscore_core.supported_data_standards.brainio.fetch import (
    AccessDenied,
    FetchError,
    FetchRequest,
    HashMismatch,
    IncompleteDownload,
    NotFound,
    Offline,
    SeveralFailures,
    StorageError,
    fetch,
    fetch_all,
)

BODY = b"stimulus_id,rate\nimg_1,12.5\n" * 40
ROOT = Path(__file__).parents[3]


def sha1(body):
    return hashlib.sha1(body).hexdigest()


def sha256(body):
    return hashlib.sha256(body).hexdigest()


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


class TestWhereItLies:
    def test_named_by_sha1(self, web, cache):
        web.files["/data/rates.csv"] = BODY
        path = fetch(web.url("/data/rates.csv"), sha1=sha1(BODY))
        assert path == cache / sha1(BODY) / "rates.csv"
        assert path.read_bytes() == BODY
        assert files_in(cache) == [f"{sha1(BODY)}/rates.csv"]

    def test_named_by_sha256_where_there_is_no_sha1(self, web, cache):
        web.files["/rates.csv"] = BODY
        assert fetch(web.url("/rates.csv"), sha256=sha256(BODY)) == cache / sha256(BODY) / "rates.csv"

    def test_both_hashes_are_checked(self, web):
        web.files["/rates.csv"] = BODY
        with pytest.raises(HashMismatch, match="expected sha256:0000"):
            fetch(web.url("/rates.csv"), sha1=sha1(BODY), sha256="0" * 64)

    def test_second_time_no_network(self, web):
        web.files["/rates.csv"] = BODY
        first = fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        assert fetch(web.url("/rates.csv"), sha1=sha1(BODY).upper()) == first
        assert len(web.requested) == 1

    def test_version_goes_into_the_query(self, web):
        web.files["/rates.csv"] = BODY
        path = fetch(web.url("/rates.csv?a=1"), sha1=sha1(BODY), version_id="x/.y")
        assert web.requested == ["/rates.csv?a=1&versionId=x%2F.y"]
        assert path.name == "rates.csv"

    @pytest.mark.parametrize(
        ("path", "name"), [("/a%20b.csv", "a b.csv"), ("/download/", "download"), ("/", "download"), ("", "download")]
    )
    def test_name(self, path, name):
        assert FetchRequest(f"https://example.org{path}", sha1="0" * 40).name == name

    def test_filename_is_chosen(self, web):
        web.files["/download"] = BODY
        assert fetch(web.url("/download"), sha1=sha1(BODY), filename="rates.csv").name == "rates.csv"

    def test_file_is_readable_for_others(self, web):
        web.files["/rates.csv"] = BODY
        mask = os.umask(0o022)
        try:
            assert fetch(web.url("/rates.csv"), sha1=sha1(BODY)).stat().st_mode & 0o777 == 0o644
        finally:
            os.umask(mask)

    def test_empty_file(self, web):
        web.files["/empty"] = b""
        assert fetch(web.url("/empty"), sha1=sha1(b"")).read_bytes() == b""


class TestArguments:
    @pytest.mark.parametrize("url", ["rates.csv", "ftp://example.org/a", "s3://bucket/a", "https://", "http://[::1/a"])
    def test_url(self, url):
        with pytest.raises(UserError, match="starts with https://"):
            fetch(url, sha1="0" * 40)

    def test_a_hash_is_needed(self):
        with pytest.raises(UserError, match=r"no hash is given for https://example.org/a"):
            fetch("https://example.org/a")

    @pytest.mark.parametrize("value", ["", "0" * 39, "0" * 64, "z" * 40])
    def test_hash_is_one(self, value):
        with pytest.raises(UserError, match="not a valid sha1 hash"):
            fetch("https://example.org/a", sha1=value)

    @pytest.mark.parametrize(
        "url", ["https://example.org/..", "https://example.org/%2E%2E%2Fetc", "https://a.org/a%00"]
    )
    def test_name_never_leaves_the_folder(self, url):
        with pytest.raises(UserError, match="is not a valid file name"):
            fetch(url, sha1="0" * 40)

    def test_filename_has_no_folders(self):
        with pytest.raises(UserError, match="pass filename="):
            fetch("https://example.org/a", sha1="0" * 40, filename="../a")


class TestFailures:
    def test_wrong_hash_names_url_and_both_hashes(self, web, cache):
        web.files["/rates.csv"] = BODY
        with pytest.raises(HashMismatch) as caught:
            fetch(web.url("/rates.csv"), sha1="0" * 40)
        text = str(caught.value)
        assert web.url("/rates.csv") in text
        assert f"expected sha1:{'0' * 40}, found sha1:{sha1(BODY)}" in text
        assert "ask" in caught.value.remedy
        assert (caught.value.expected, caught.value.found) == (f"sha1:{'0' * 40}", f"sha1:{sha1(BODY)}")
        assert files_in(cache) == []
        assert len(web.requested) == 1

    def test_a_login_page_is_told_apart(self, web):
        web.files["/rates.csv"] = b"\n<!DOCTYPE html><title>Log in</title>"
        with pytest.raises(HashMismatch, match="web page"):
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))

    def test_truncated(self, web, cache):
        web.answers["/rates.csv"] = lambda handler: web.send(handler, BODY[:100], length=len(BODY))
        with pytest.raises(IncompleteDownload, match=f"after 100 of {len(BODY)} bytes") as caught:
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        assert web.url("/rates.csv") in str(caught.value)
        assert sha1(BODY) in str(caught.value)
        assert len(web.requested) == downloads.ATTEMPTS
        assert files_in(cache) == []

    def test_truncated_where_the_http_library_does_not_notice(self, web, monkeypatch):
        import urllib3

        whole = urllib3.response.HTTPResponse.__init__

        def lenient(self, *args, **kwargs):
            whole(self, *args, **{**kwargs, "enforce_content_length": False})

        monkeypatch.setattr(urllib3.response.HTTPResponse, "__init__", lenient)
        web.answers["/rates.csv"] = lambda handler: web.send(handler, BODY[:100], length=len(BODY))
        with pytest.raises(IncompleteDownload, match="after 100 of"):
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))

    def test_truncated_without_announced_length(self, web, cache):
        def break_off(handler):
            handler.protocol_version = "HTTP/1.1"
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            handler.wfile.write(b"64\r\n" + BODY[:100] + b"\r\n64\r\nabc")
            handler.close_connection = True

        web.answers["/rates.csv"] = break_off
        with pytest.raises(IncompleteDownload, match="of an unknown number of bytes"):
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        assert files_in(cache) == []

    def test_interrupted(self, web, cache, monkeypatch):
        def interrupt(self, count):
            raise KeyboardInterrupt

        web.files["/rates.csv"] = BODY
        monkeypatch.setattr(downloads.Meter, "update", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        assert files_in(cache) == []

    def test_missing(self, web, cache):
        with pytest.raises(NotFound, match="404") as caught:
            fetch(web.url("/nothing.csv"), sha1=sha1(BODY))
        assert web.url("/nothing.csv") in str(caught.value)
        assert sha1(BODY) in str(caught.value)
        assert isinstance(caught.value, DataUnavailable)
        assert len(web.requested) == 1
        assert files_in(cache) == []

    @pytest.mark.parametrize("status", [401, 403])
    def test_private(self, web, status):
        web.answers["/a.nc"] = lambda handler: handler.send_error(status)
        with pytest.raises(AccessDenied, match="private") as caught:
            fetch(web.url("/a.nc"), sha1=sha1(BODY))
        assert "ask the owner" in caught.value.remedy
        assert "BRAINSCORE_MIRROR" in caught.value.remedy
        assert len(web.requested) == 1

    def test_other_refusals_are_not_repeated(self, web):
        web.answers["/a.nc"] = lambda handler: handler.send_error(400)
        with pytest.raises(FetchError, match="400"):
            fetch(web.url("/a.nc"), sha1=sha1(BODY))
        assert len(web.requested) == 1

    def test_flaky(self, web):
        def flaky(handler):
            if len(web.requested) < 3:
                web.send(handler, b"later", status=503, headers=[("Retry-After", "0")])
            else:
                web.send(handler, BODY)

        web.answers["/rates.csv"] = flaky
        assert fetch(web.url("/rates.csv"), sha1=sha1(BODY)).read_bytes() == BODY
        assert len(web.requested) == 3

    def test_broken_off_then_whole(self, web):
        def flaky(handler):
            web.send(
                handler, BODY[: 500 * (len(web.requested) - 1)] if len(web.requested) < 3 else BODY, length=len(BODY)
            )

        web.answers["/rates.csv"] = flaky
        assert fetch(web.url("/rates.csv"), sha1=sha1(BODY)).read_bytes() == BODY

    def test_always_in_trouble(self, web):
        web.answers["/a.nc"] = lambda handler: handler.send_error(502)
        with pytest.raises(FetchError, match=r"502.*\n.*try again later"):
            fetch(web.url("/a.nc"), sha1=sha1(BODY))
        assert len(web.requested) == downloads.ATTEMPTS

    def test_a_wait_that_the_server_asks_for_is_kept_short(self, web, monkeypatch):
        monkeypatch.setattr(downloads, "LONGEST_PAUSE", 0.02)
        web.answers["/a.nc"] = lambda handler: web.send(handler, b"", status=429, headers=[("Retry-After", "3600")])
        with pytest.raises(FetchError, match="429"):
            fetch(web.url("/a.nc"), sha1=sha1(BODY))

    def test_silent_server(self, web, monkeypatch):
        monkeypatch.setattr(downloads, "TIMEOUT", (1.0, 0.1))
        done = threading.Event()
        web.answers["/a.nc"] = lambda handler: done.wait(10)
        with pytest.raises(Offline, match="did not respond in time"):
            fetch(web.url("/a.nc"), sha1=sha1(BODY))
        done.set()

    def test_silent_in_the_middle(self, web, cache, monkeypatch):
        monkeypatch.setattr(downloads, "TIMEOUT", (1.0, 0.1))
        done = threading.Event()

        def stall(handler):
            web.send(handler, BODY[:100], length=len(BODY))
            done.wait(10)

        web.answers["/a.nc"] = stall
        with pytest.raises(FetchError, match=r"in time|interrupted"):
            fetch(web.url("/a.nc"), sha1=sha1(BODY))
        done.set()
        assert files_in(cache) == []

    def test_slow_is_not_silent(self, web, monkeypatch):
        monkeypatch.setattr(downloads, "TIMEOUT", (1.0, 1.0))

        def drip(handler):
            web.send(handler, b"", length=10)
            for _ in range(10):
                time.sleep(0.15)
                handler.wfile.write(b"x")
                handler.wfile.flush()

        web.answers["/a.nc"] = drip
        assert fetch(web.url("/a.nc"), sha1=sha1(b"x" * 10)).read_bytes() == b"x" * 10

    def test_nobody_listens(self, cache, monkeypatch):
        monkeypatch.setattr(downloads, "PAUSE", 0.01)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with pytest.raises(Offline, match="no connection") as caught:
            fetch(f"http://127.0.0.1:{port}/a.nc", sha1=sha1(BODY))
        assert "BRAINSCORE_MIRROR" in caught.value.remedy
        assert isinstance(caught.value, DataUnavailable)

    def test_no_network(self, cache, monkeypatch):
        def unknown(*args, **kwargs):
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

        monkeypatch.setattr(downloads, "PAUSE", 0.01)
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        with pytest.raises(Offline, match=r"host name data\.example\.org cannot be resolved") as caught:
            fetch("https://data.example.org/a.nc", sha1=sha1(BODY))
        assert "BRAINSCORE_MIRROR" in caught.value.remedy
        assert "proxy" in caught.value.remedy

    def test_no_certificate(self, web):
        with pytest.raises(Offline, match=r"certificate|no connection"):
            fetch(web.url("/a.nc").replace("http:", "https:"), sha1=sha1(BODY))

    def test_proxy_that_is_not_there(self, cache, monkeypatch):
        monkeypatch.setattr(downloads, "PAUSE", 0.01)
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        with pytest.raises(Offline, match="proxy") as caught:
            fetch("http://data.example.org/a.nc", sha1=sha1(BODY))
        assert "HTTPS_PROXY" in caught.value.remedy

    def test_redirect(self, web):
        web.files["/new.csv"] = BODY
        web.answers["/old.csv"] = lambda handler: web.send(handler, b"", status=302, headers=[("Location", "/new.csv")])
        assert fetch(web.url("/old.csv"), sha1=sha1(BODY)).name == "old.csv"

    def test_redirect_in_a_circle(self, web):
        web.answers["/a"] = lambda handler: web.send(handler, b"", status=302, headers=[("Location", "/a")])
        with pytest.raises(FetchError, match="redirects"):
            fetch(web.url("/a"), sha1=sha1(BODY))

    def test_secrets_are_not_shown(self, web):
        url = web.url("/a.csv?versionId=3&X-Amz-Signature=s3cret").replace("//", "//me:passw0rd@")
        with provenance.recording() as record, pytest.raises(NotFound) as caught:
            fetch(url, sha1=sha1(BODY))
        assert "s3cret" not in str(caught.value)
        assert "passw0rd" not in str(caught.value)
        assert "versionId=3" in str(caught.value)
        web.files["/a.csv"] = BODY
        with provenance.recording() as record:
            fetch(url, sha1=sha1(BODY))
        assert "s3cret" not in str(record.items)

    def test_errors_survive_pickling(self, web):
        with pytest.raises(NotFound) as caught:
            fetch(web.url("/a"), sha1=sha1(BODY))
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        assert again.url == caught.value.url


class TestStorage:
    def test_cache_is_a_file(self, web, tmp_path, monkeypatch):
        (tmp_path / "occupied").write_text("")
        monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "occupied" / "cache"))
        web.files["/rates.csv"] = BODY
        with pytest.raises(StorageError, match="set BRAINIO_HOME") as caught:
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        assert str(tmp_path / "occupied") in str(caught.value)

    def test_cache_is_read_only(self, web, monkeypatch):
        def refuse(self, **options):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(Path, "mkdir", refuse)
        with pytest.raises(StorageError, match="Permission denied\nMake it writable"):
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))

    def test_no_room_for_the_file(self, web, cache, fork):
        resource = pytest.importorskip("resource")
        body = bytes(300_000)
        web.files["/big.nc"] = body

        def fetch_it():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            with pytest.raises(StorageError, match="Free some space") as caught:
                fetch(web.url("/big.nc"), sha1=sha1(body), progress=False)
            assert web.url("/big.nc") in str(caught.value)

        process = fork(fetch_it)
        process.join(60)
        assert process.exitcode == 0
        assert files_in(cache) == []

    def test_disk_is_full_at_the_last_moment(self, web, cache, monkeypatch):
        def full(descriptor):
            raise OSError(errno.ENOSPC, "No space left on device")

        web.files["/rates.csv"] = BODY
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="No space left"):
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        assert files_in(cache) == []


class TestCorruption:
    def test_corrupted_copy_is_fetched_again(self, web):
        web.files["/rates.csv"] = BODY
        path = fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        path.write_bytes(BODY[:-1] + b"?")
        assert fetch(web.url("/rates.csv"), sha1=sha1(BODY)).read_bytes() == BODY
        assert len(web.requested) == 2

    def test_truncated_copy_is_fetched_again(self, web, cache):
        web.files["/rates.csv"] = BODY
        (cache / sha1(BODY)).mkdir(parents=True)
        (cache / sha1(BODY) / "rates.csv").write_bytes(BODY[:10])
        assert fetch(web.url("/rates.csv"), sha1=sha1(BODY)).read_bytes() == BODY

    def test_good_copy_is_kept_when_the_server_turns_bad(self, web):
        web.files["/rates.csv"] = BODY
        path = fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        web.files["/rates.csv"] = b"something else"
        assert fetch(web.url("/rates.csv"), sha1=sha1(BODY)) == path
        assert path.read_bytes() == BODY

    def test_corrupted_copy_and_bad_server(self, web, cache):
        web.files["/rates.csv"] = b"bad"
        path = cache / sha1(BODY) / "rates.csv"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"worse")
        with pytest.raises(HashMismatch) as caught:
            fetch(web.url("/rates.csv"), sha1=sha1(BODY))
        assert f"{path} was ignored: it has sha1:{sha1(b'worse')}" in str(caught.value)
        assert path.read_bytes() == b"worse"

    def test_a_hash_is_remembered_only_while_the_file_is_untouched(self, tmp_path):
        path = tmp_path / "a"
        path.write_bytes(b"1")
        os.utime(path, (1_000, 1_000))
        assert files.file_digest(path, "sha1") == sha1(b"1")
        assert files.file_digest(path, "sha1") == sha1(b"1")
        path.write_bytes(b"2")
        assert files.file_digest(path, "sha1") == sha1(b"2")
        path.write_bytes(b"3")
        assert files.file_digest(path, "sha1") == sha1(b"3")

    def test_a_large_file_is_hashed_once(self, tmp_path, monkeypatch):
        path = tmp_path / "a"
        path.write_bytes(b"1")
        os.utime(path, (1_000, 1_000))
        calls = []
        original = hashlib.file_digest
        monkeypatch.setattr(hashlib, "file_digest", lambda *args: calls.append(1) or original(*args))
        for _ in range(3):
            files.file_digest(path, "sha256")
        assert len(calls) == 1


class TestAtOnce:
    def slow(self, web, body, calls=None):
        def answer(handler):
            web.send(handler, body[: len(body) // 2], length=len(body))
            time.sleep(0.5)
            handler.wfile.write(body[len(body) // 2 :])

        return answer

    def test_two_processes(self, web, cache, fork):
        body = os.urandom(1_000_000)
        web.answers["/big.nc"] = self.slow(web, body)

        def fetch_it():
            path = fetch(web.url("/big.nc"), sha1=sha1(body), progress=False)
            assert path == cache / sha1(body) / "big.nc"

        processes = [fork(fetch_it) for _ in range(2)]
        for process in processes:
            process.join(60)
        assert [process.exitcode for process in processes] == [0, 0]
        assert len(web.requested) == 1
        assert (cache / sha1(body) / "big.nc").read_bytes() == body
        assert files_in(cache) == [f"{sha1(body)}/big.nc"]

    def test_threads_download_once(self, web):
        web.answers["/rates.csv"] = self.slow(web, BODY)
        with ThreadPoolExecutor(6) as pool:
            paths = list(pool.map(lambda _: fetch(web.url("/rates.csv"), sha1=sha1(BODY)), range(6)))
        assert len(set(paths)) == 1
        assert len(web.requested) == 1

    def test_where_the_file_system_knows_no_locks(self, web, cache, monkeypatch):
        def unsupported(*args):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(files.fcntl, "flock", unsupported)
        web.answers["/rates.csv"] = self.slow(web, BODY)
        with ThreadPoolExecutor(4) as pool:
            paths = list(pool.map(lambda _: fetch(web.url("/rates.csv"), sha1=sha1(BODY)), range(4)))
        assert len(web.requested) > 1
        assert {path.read_bytes() for path in paths} == {BODY}
        assert files_in(cache) == [f"{sha1(BODY)}/rates.csv"]

    def test_a_lock_that_is_never_released_does_not_block_for_ever(self, web, cache, monkeypatch):
        monkeypatch.setattr(files, "LOCK_PATIENCE", 0.2)
        web.files["/rates.csv"] = BODY
        (cache / sha1(BODY)).mkdir(parents=True)
        with folder_lock(cache / sha1(BODY)):
            assert fetch(web.url("/rates.csv"), sha1=sha1(BODY)).read_bytes() == BODY

    def test_one_fails_while_another_waits(self, web):
        def fail_first(handler):
            number = len(web.requested)
            time.sleep(0.2)
            if number == 1:
                handler.send_error(404)
            else:
                web.send(handler, BODY)

        web.answers["/rates.csv"] = fail_first
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(fetch, web.url("/rates.csv"), sha1=sha1(BODY)) for _ in range(2)]
            errors = [future.exception() for future in futures]
        assert sorted(type(error) for error in errors if error) == [NotFound]

    def test_kill_in_the_middle(self, web, cache, fork):
        body = os.urandom(1_200_000)
        halfway, release = threading.Event(), threading.Event()

        def stall_once(handler):
            if len(web.requested) > 1:
                web.send(handler, body)
                return
            web.send(handler, body[:800_000], length=len(body))
            halfway.set()
            release.wait(30)

        web.answers["/big.nc"] = stall_once
        process = fork(lambda: fetch(web.url("/big.nc"), sha1=sha1(body), progress=False))
        try:
            assert halfway.wait(60)
            deadline = time.monotonic() + 20
            while not any(path.stat().st_size for path in cache.rglob("*.part")):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.kill()
            process.join(20)
        finally:
            process.kill()
            release.set()
        target = cache / sha1(body) / "big.nc"
        assert not target.exists()
        (left,) = cache.rglob("*.part")
        os.utime(left, (1_000, 1_000))
        assert fetch(web.url("/big.nc"), sha1=sha1(body)).read_bytes() == body
        assert files_in(cache) == [f"{sha1(body)}/big.nc"]


class TestMirror:
    @pytest.fixture
    def local_mirror(self, tmp_path, monkeypatch):
        folder = tmp_path / "mirror"
        folder.mkdir()
        monkeypatch.setenv("BRAINSCORE_MIRROR", os.pathsep.join([str(tmp_path / "nothing"), "", str(folder)]))
        return folder

    def put(self, mirror, web, path, body):
        file = mirror / web.host / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        return file

    def test_comes_first_and_is_used_in_place(self, web, cache, local_mirror):
        web.files["/data/a b.csv"] = BODY
        file = self.put(local_mirror, web, "/data/a b.csv", BODY)
        assert fetch(web.url("/data/a%20b.csv"), sha1=sha1(BODY)) == file
        assert web.requested == []
        assert not cache.exists()

    def test_query_is_ignored_or_part_of_the_name(self, web, local_mirror):
        plain = self.put(local_mirror, web, "/a.csv", BODY)
        assert fetch(web.url("/a.csv"), sha1=sha1(BODY), version_id="7") == plain
        older = self.put(local_mirror, web, "/a.csv?versionId=6", b"older")
        assert fetch(web.url("/a.csv"), sha1=sha1(b"older"), version_id="6") == older

    def test_second_mirror(self, web, tmp_path, local_mirror, monkeypatch):
        file = self.put(tmp_path / "second", web, "/a.csv", BODY)
        monkeypatch.setenv("BRAINSCORE_MIRROR", os.pathsep.join([str(local_mirror), str(tmp_path / "second")]))
        assert fetch(web.url("/a.csv"), sha1=sha1(BODY)) == file

    def test_relative_to_where_one_stands(self, web, tmp_path, local_mirror, monkeypatch):
        file = self.put(local_mirror, web, "/a.csv", BODY)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("BRAINSCORE_MIRROR", "mirror")
        assert fetch(web.url("/a.csv"), sha1=sha1(BODY)) == file

    def test_bad_file_is_passed_over(self, web, cache, local_mirror, caplog):
        bad = self.put(local_mirror, web, "/a.csv", b"bad")
        web.files["/a.csv"] = BODY
        with caplog.at_level(logging.WARNING):
            path = fetch(web.url("/a.csv"), sha1=sha1(BODY))
        assert path == cache / sha1(BODY) / "a.csv"
        assert f"{bad} is not used" in caplog.text
        assert bad.read_bytes() == b"bad"

    def test_bad_file_and_no_network_names_both(self, web, local_mirror, tmp_path):
        bad = self.put(local_mirror, web, "/a.csv", b"bad")
        with pytest.raises(NotFound) as caught:
            fetch(web.url("/a.csv"), sha1=sha1(BODY))
        assert f"{bad} was ignored: it has sha1:{sha1(b'bad')}" in str(caught.value)
        assert f"BRAINSCORE_MIRROR names {tmp_path / 'nothing'}, which is not a folder" in str(caught.value)

    def test_path_never_leaves_the_mirror(self, web, local_mirror, tmp_path):
        (tmp_path / "outside").write_bytes(BODY)
        (local_mirror / web.host).mkdir()
        with pytest.raises(NotFound):
            fetch(web.url("/%2E%2E/%2E%2E/outside"), sha1=sha1(BODY))
        with pytest.raises(NotFound):
            fetch(web.url("/..%2F..%2Foutside/x"), sha1=sha1(BODY))

    def test_real_data(self, mirror, cache, monkeypatch):
        monkeypatch.setenv("BRAINSCORE_MIRROR", str(mirror))
        base = "https://raw.githubusercontent.com/bethgelab/model-vs-human/79ed7cd1d9ac3a114e71b6638f0a98bdd627316c/raw-data"
        hashes = {
            "01": "412a6acabff27e364955e82a4a51c600feffba44ac782e20c4952b6b4aa1e2a5",
            "02": "ab317fd6e5dbfb91b3623a6230cdf34259f316c227dd11a986a798395a77e81d",
        }
        paths = fetch_all(
            [
                FetchRequest(f"{base}/colour/colour_subject-{name}_session_1.csv", sha256=value)
                for name, value in hashes.items()
            ]
        )
        assert [path.stat().st_size for path in paths] == [119655, 119718]
        assert all(mirror in path.parents for path in paths)
        assert not cache.exists()


class TestFileUrl:
    def test_in_place(self, cache, tmp_path):
        path = tmp_path / "with space.csv"
        path.write_bytes(BODY)
        assert fetch(path.as_uri(), sha256=sha256(BODY)) == path
        assert not cache.exists()

    def test_wrong(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(BODY)
        with pytest.raises(HashMismatch):
            fetch(path.as_uri(), sha256="0" * 64)
        assert path.read_bytes() == BODY

    def test_missing(self, tmp_path):
        with pytest.raises(NotFound, match="No such file"):
            fetch((tmp_path / "a.csv").as_uri(), sha256="0" * 64)


class TestFetchAll:
    def test_in_order(self, web):
        bodies = [str(number).encode() for number in range(30)]
        for number, body in enumerate(bodies):
            web.files[f"/{number}.txt"] = body
        requests = [{"url": web.url(f"/{n}.txt"), "sha256": sha256(body)} for n, body in enumerate(bodies)]
        with provenance.recording() as record:
            paths = fetch_all(requests)
        assert [path.read_bytes() for path in paths] == bodies
        assert [item["sha256"] for item in record.items] == [sha256(body) for body in bodies]

    def test_nothing(self):
        assert fetch_all([]) == []

    def test_same_file_twice(self, web):
        web.files["/a"] = BODY
        request = FetchRequest(web.url("/a"), sha1=sha1(BODY))
        first, second = fetch_all([request, request])
        assert first == second
        assert len(web.requested) == 1

    def test_all_failures_are_reported(self, web):
        web.files["/good"] = BODY
        web.files["/wrong"] = b"?"
        requests = [FetchRequest(web.url(f"/{name}"), sha1=sha1(BODY)) for name in ("good", "gone", "wrong")]
        with pytest.raises(SeveralFailures, match="2 of 3 files") as caught:
            fetch_all(requests, workers=2)
        assert [type(error) for error in caught.value.errors] == [NotFound, HashMismatch]
        assert web.url("/gone") in str(caught.value)
        assert web.url("/wrong") in str(caught.value)
        assert web.url("/good") not in str(caught.value)

    def test_a_hundred_failures_stay_readable(self, web):
        requests = [FetchRequest(web.url(f"/{number}"), sha1=sha1(BODY)) for number in range(100)]
        with pytest.raises(SeveralFailures, match="and 90 more") as caught:
            fetch_all(requests)
        assert len(str(caught.value).splitlines()) < 15

    def test_one_failure_is_itself(self, web):
        web.files["/good"] = BODY
        with pytest.raises(NotFound):
            fetch_all([FetchRequest(web.url(f"/{name}"), sha1=sha1(BODY)) for name in ("good", "gone")])

    def test_a_host_that_is_unknown_is_not_asked_a_hundred_times(self, cache, tmp_path, monkeypatch):
        asked = []

        def unknown(*args, **kwargs):
            asked.append(1)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

        monkeypatch.setattr(downloads, "PAUSE", 0.01)
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        here = tmp_path / "here"
        here.write_bytes(BODY)
        requests = [FetchRequest(f"https://data.example.org/{number}", sha1=sha1(BODY)) for number in range(100)]
        with pytest.raises(SeveralFailures, match="100 of 101 files") as caught:
            fetch_all([*requests, FetchRequest(here.as_uri(), sha1=sha1(BODY))], workers=2)
        assert {type(error) for error in caught.value.errors} == {Offline}
        assert len({error.url for error in caught.value.errors}) == 100
        assert len(asked) <= 2 * downloads.ATTEMPTS_TO_FIND_HOST

    def test_workers(self):
        with pytest.raises(UserError, match="workers=0"):
            fetch_all([], workers=0)

    def test_interrupt_ends_running_downloads(self, web, cache, monkeypatch):
        def drip(handler):
            web.send(handler, b"", length=600 * 300_000)
            for _ in range(600):
                handler.wfile.write(bytes(300_000))
                time.sleep(0.1)

        def interrupt(self):
            raise KeyboardInterrupt

        web.files["/quick"] = BODY
        web.answers["/slow"] = drip
        monkeypatch.setattr(progress.Stage, "advance", interrupt)
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            # with one hash they would share a folder, and the quick one could wait for the slow one's lock
            fetch_all(
                [FetchRequest(web.url("/quick"), sha1=sha1(BODY)), FetchRequest(web.url("/slow"), sha1=sha1(b""))]
            )
        assert time.monotonic() - started < 30  # the download alone takes 60
        assert files_in(cache) == [f"{sha1(BODY)}/quick"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestProgress:
    def test_plain_line_only_for_downloads(self, web, capsys):
        web.files["/a.csv"] = BODY
        fetch(web.url("/a.csv"), sha1=sha1(BODY))
        assert capsys.readouterr() == ("", "Downloading a.csv\n")
        fetch(web.url("/a.csv"), sha1=sha1(BODY))
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize(("n", "line"), [(5, "Fetching 5 files\n"), (1, "Fetching 1 file\n")])
    def test_one_plain_line_for_many(self, web, capsys, n, line):
        for number in range(n):
            web.files[f"/{number}"] = BODY
        requests = [FetchRequest(web.url(f"/{number}"), sha1=sha1(BODY)) for number in range(n)]
        fetch_all(requests)
        assert capsys.readouterr() == ("", line)
        fetch_all(requests)
        assert capsys.readouterr() == ("", "")

    def test_silent(self, web, capsys, monkeypatch):
        web.files["/a.csv"] = BODY
        monkeypatch.setattr(sys, "stderr", Terminal())
        fetch(web.url("/a.csv"), sha1=sha1(BODY), progress=False)
        fetch_all([FetchRequest(web.url("/a.csv"), sha256=sha256(BODY))], progress=False)
        assert sys.stderr.getvalue() == ""

    def test_progress_in_a_terminal(self, web, monkeypatch):
        body = bytes(2_000_000)

        def pause(handler):
            web.send(handler, body[:1_500_000], length=len(body))
            time.sleep(0.6)
            handler.wfile.write(body[1_500_000:])

        web.answers["/a.csv"] = pause
        monkeypatch.setattr(progress, "DELAY", 0.0)
        monkeypatch.setattr(sys, "stderr", Terminal())
        terminal = sys.stderr
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "120")
        fetch(web.url("/a.csv"), sha1=sha1(body))
        assert "downloading a.csv" in terminal.getvalue()
        assert "of 2 MB" in terminal.getvalue()
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        fetch_all([FetchRequest(web.url("/a.csv"), sha256=sha256(body))])
        assert "fetching: 0 of 1 files" in terminal.getvalue()


def test_what_was_fetched_is_noted(web):
    web.files["/a.csv"] = BODY
    with provenance.recording() as record:
        path = fetch(web.url("/a.csv"), sha1=sha1(BODY), version_id="9")
    assert record.items == [
        {"kind": "file", "url": web.url("/a.csv?versionId=9"), "path": str(path), "sha1": sha1(BODY)}
    ]


def test_a_failure_is_not_noted(web):
    with provenance.recording() as record, pytest.raises(NotFound):
        fetch(web.url("/a.csv"), sha1=sha1(BODY))
    assert record.items == []


def test_a_path_as_address_is_an_error_with_the_remedy(tmp_path):
    with pytest.raises(UserError, match="cannot fetch") as caught:
        FetchRequest(tmp_path / "a.csv", sha256="0" * 64)
    assert "as_uri()" in caught.value.remedy


def test_a_changed_local_file_is_not_called_a_download(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("changed")
    with pytest.raises(HashMismatch) as caught:
        fetch(file.as_uri(), sha256="0" * 64)
    assert "register its new hash" in caught.value.remedy
    assert "download" not in caught.value.remedy
    assert file.read_text() == "changed"
