"""Parts of files: what was cut off can be gone on with, and never glued to another version."""

import gzip
import io

import pytest
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from brainscore_web.api.responses import answer_part
from brainscore_web.leaderboard.models import VisionModel
from brainscore_web.submissions.examining import Zip
from brainscore_web.submissions.receiving import receive
from tests.web._plugins import model_files, zipped

TABLES = ("exports/scores.csv", "exports/scores.parquet", "exports/leaderboard.csv")
FILES = (*TABLES, "exports/leaderboard.bib", "archive")


@pytest.fixture
def fetch(get, board, owner, token_of, settings, tmp_path):
    """``fetch('exports/scores.csv', Range='bytes=5-')``; ``archive`` is that of a submission of the owner's."""
    from allauth.account.models import EmailAddress

    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "folder": str(tmp_path), "results": str(tmp_path)}
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    made = receive(owner, Zip(zipped(model_files()), "mine.zip"))
    archive = f"submissions/{made.submission_id}/archive"
    token = token_of(owner, "read")

    def do(address, **headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return get(archive if address == "archive" else address, token=token, **sent)

    return do


@pytest.mark.parametrize("address", FILES)
def test_parts_make_the_whole(fetch, address):
    whole = fetch(address)
    content = whole.getvalue()
    assert (whole.status_code, whole["Accept-Ranges"]) == (200, "bytes")
    assert whole["ETag"].startswith('"')
    assert "Accept-Encoding" in whole["Vary"]
    cut, size = len(content) // 3, len(content)
    glued = b""
    for asked, first, last in (
        (f"bytes=0-{cut - 1}", 0, cut - 1), (f"bytes={cut}-{cut}", cut, cut), (f"bytes={cut + 1}-", cut + 1, size - 1)
    ):  # fmt: skip
        part = fetch(address, Range=asked, If_Range=whole["ETag"])
        assert (part.status_code, part["Content-Range"]) == (206, f"bytes {first}-{last}/{size}")
        assert (part["ETag"], part["Content-Type"]) == (whole["ETag"], whole["Content-Type"])
        glued += part.getvalue()
        assert int(part["Content-Length"]) == last + 1 - first
        assert len(glued) == last + 1
    assert glued == content
    assert fetch(address, Range=f"bytes={size - 2}-{size + 50}").getvalue() == content[-2:]


@pytest.mark.parametrize("address", FILES)
def test_beyond_the_end(fetch, address):
    size = len(fetch(address).getvalue())
    for asked in (f"bytes={size}-", f"bytes={size + 7}-{size + 9}"):
        found = fetch(address, Range=asked)
        assert (found.status_code, found["Content-Range"]) == (416, f"bytes */{size}")
        assert found["Content-Type"] == "application/problem+json"
        assert found.json()["remedy"]
    assert "Content-Disposition" not in found


@pytest.mark.parametrize(
    "asked", ["", "bytes=", "bytes=-", "bytes=-5", "bytes=5-2", "bytes=0-1,3-4", "items=0-1", "bytes=٣-", "bytes=x-9",
              "bytes=" + "9" * 5000 + "-"],
)  # fmt: skip
def test_what_cannot_be_read_is_answered_by_the_whole(fetch, asked):
    for address in ("exports/scores.csv", "archive"):
        found = fetch(address, Range=asked)
        assert (found.status_code, found.getvalue()) == (200, fetch(address).getvalue())


@pytest.mark.parametrize("address", TABLES)
def test_another_version_is_sent_whole(fetch, board, address):
    before = fetch(address)["ETag"]
    assert fetch(address, Range="bytes=5-", If_Range=before).status_code == 206
    VisionModel.objects.get(identifier=board.models[0]).delete()
    found = fetch(address, Range="bytes=5-", If_Range=before)
    assert (found.status_code, found["ETag"] == before) == (200, False)
    assert found.getvalue() == fetch(address).getvalue()
    for tag in (f"W/{found['ETag']}", "Sat, 01 Jan 2028 00:00:00 GMT", "*"):
        assert fetch(address, Range="bytes=5-", If_Range=tag).status_code == 200


def test_what_is_known_is_not_sent_in_parts_either(fetch):
    tag = fetch("exports/scores.csv")["ETag"]
    assert fetch("exports/scores.csv", Range="bytes=5-", If_None_Match=tag).status_code == 304


@pytest.mark.parametrize("address", FILES)
def test_what_is_compressed_has_no_parts(fetch, address):
    plain = fetch(address).getvalue()
    packed = fetch(address, Range="bytes=5-", Accept_Encoding="gzip, br")
    assert packed.status_code == 200
    assert "Accept-Ranges" not in packed
    if packed.get("Content-Encoding") == "gzip":
        assert packed["ETag"].startswith("W/")
        assert gzip.decompress(packed.getvalue()) == plain
        assert fetch(address, Range="bytes=5-", If_Range=packed["ETag"]).status_code == 200
    part = fetch(address, Range="bytes=5-", Accept_Encoding="identity")
    assert (part.status_code, part.getvalue()) == (206, plain[5:])
    assert "Content-Encoding" not in part


def test_what_says_when_it_was_written_has_no_parts(fetch):
    found = fetch("exports/leaderboard.parquet", Range="bytes=5-")
    assert found.status_code == 200
    assert found["ETag"].startswith("W/")
    assert "Accept-Ranges" not in found


def test_head_is_told_of_parts(client, board):
    for address in ("exports/scores.csv", "exports/leaderboard.csv"):
        found = client.head(f"/api/v1/{address}", headers={"Range": "bytes=5-"})
        assert (found.status_code, found["Accept-Ranges"], found.getvalue()) == (200, "bytes", b"")
        assert "Content-Range" not in found


def test_answers_that_are_no_files_are_whole(get, board):
    for address in ("models", "scores", "leaderboard", "openapi.json", "models/absent"):
        found = get(address, Range="bytes=5-")
        assert found.status_code in (200, 404)
        assert "Accept-Ranges" not in found


class Counting(io.BytesIO):
    """Says how much was read."""

    taken = 0

    def read(self, size=-1):
        piece = super().read(size)
        self.taken += len(piece)
        return piece


def asked(response, text):
    response["ETag"], response["Content-Disposition"] = '"a"', "attachment"
    return answer_part(RequestFactory().get("/", headers={"Range": text}), response)


def test_of_a_file_only_the_part_is_read(db):
    content = bytes(range(256)) * 2000
    file = Counting(content)
    part = asked(FileResponse(file), "bytes=100000-299999")
    pieces = list(part)
    assert b"".join(pieces) == content[100_000:300_000]
    assert max(map(len, pieces)) <= 1 << 16
    assert file.taken == 200_000
    assert part.file_to_stream is None  # a server that sends files by itself would send all
    part.close()
    assert file.closed


def test_a_file_that_is_not_sent_is_closed():
    file = Counting(b"abc")
    assert asked(FileResponse(file), "bytes=3-").status_code == 416
    assert file.closed


def test_what_cannot_be_cut_is_sent_whole():
    assert asked(StreamingHttpResponse([b"abc"]), "bytes=1-").status_code == 200
    assert asked(HttpResponse(b"abc", status=404), "bytes=1-").status_code == 404
    assert asked(HttpResponse(b"abc", headers={"Content-Encoding": "gzip"}), "bytes=1-").content == b"abc"
    assert asked(HttpResponse(b""), "bytes=0-").status_code == 416
