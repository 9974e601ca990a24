"""The same for programs."""

import io
import zipfile

import pytest

from brainscore_web.submissions.models import Submission
from tests.web._plugins import model_files, zipped

pytestmark = pytest.mark.django_db


@pytest.fixture
def post(ask, token_of, owner):
    token = token_of(owner, "submit")

    def do(address="submissions", content=None, *, with_token=token, **fields):
        archive = io.BytesIO(zipped(model_files()) if content is None else content)
        archive.name = "mine.zip"
        return ask("POST", address, token=with_token, data={"archive": archive, **fields})

    return do


def test_the_way(post, ask, token_of, owner):
    answer = post(note="tiles", visibility="private")
    assert answer.status_code == 201
    made = answer.json()
    assert (made["state"], made["visibility"], made["open"], made["revision"]) == ("queued", "private", True, 1)
    assert made["url"].endswith(f"/submissions/{made['id']}/")
    assert made["words"] == "It is in the queue to be checked."
    (revision,) = made["revisions"]
    assert [step["kind"] for step in revision["steps"]] == ["check", "test", "review", "publish", "score"]
    assert revision["plugins"] == [
        {
            "domain": "vision",
            "kind": "models",
            "name": "tiles_8",
            "registrations": [
                {
                    "registry": "model_registry",
                    "key": "tiles-8",
                    "line": revision["plugins"][0]["registrations"][0]["line"],
                }
            ],
        }
    ]
    read = token_of(owner, "read")
    assert ask("GET", f"submissions/{made['id']}", token=read).json() == made
    again = post(f"submissions/{made['id']}/revisions", zipped(model_files(size=9)))
    assert again.status_code == 201
    assert again.json()["revision"] == 2
    listed = ask("GET", "submissions?state=queued", token=read).json()
    assert [one["id"] for one in listed["items"]] == [made["id"]]
    assert listed["total"] == 1
    archive = ask("GET", f"submissions/{made['id']}/archive?revision=1", token=read)
    with zipfile.ZipFile(io.BytesIO(archive.content)) as found:
        assert "SIZE = 8" in found.read("models/tiles_8/model.py").decode()
    token = token_of(owner, "submit")
    taken_back = ask("POST", f"submissions/{made['id']}/withdraw", token=token)
    assert taken_back.json()["state"] == "withdrawn"
    assert ask("POST", f"submissions/{made['id']}/withdraw", token=token).status_code == 409


def test_findings(post):
    files = model_files()
    files["models/tiles_8/model.py"] = "def broken(:\n"
    found = post(content=zipped(files)).json()
    assert found["state"] == "changes"
    errors = [one for one in found["revisions"][0]["findings"] if one["severity"] == "error"]
    assert [(one["file"], one["line"]) for one in errors] == [("models/tiles_8/model.py", 1)]
    assert found["revisions"][0]["steps"][0]["state"] == "failed"


def test_scopes(post, ask, token_of, owner, other):
    read, submit = token_of(owner, "read"), token_of(owner, "submit")
    assert post(with_token=None).status_code == 401
    assert post(with_token=read).status_code == 403
    made = post().json()
    assert ask("GET", "submissions").status_code == 401
    assert ask("GET", "submissions", token=submit).status_code == 403
    assert ask("GET", f"submissions/{made['id']}", token=submit).status_code == 403
    theirs = {"read": token_of(other, "read"), "submit": token_of(other, "submit")}
    assert ask("GET", "submissions", token=theirs["read"]).json()["items"] == []
    assert ask("GET", f"submissions/{made['id']}", token=theirs["read"]).status_code == 404
    assert ask("GET", f"submissions/{made['id']}/archive", token=theirs["read"]).status_code == 404
    assert ask("POST", f"submissions/{made['id']}/withdraw", token=theirs["submit"]).status_code == 404
    assert post(f"submissions/{made['id']}/revisions", with_token=theirs["submit"]).status_code == 404
    assert Submission.objects.get().state == "queued"


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        ({}, 400, "send a ZIP file as archive, or a url"),
        ({"url": "ftp://x"}, 400, "does not begin with https://"),
        ({"urls": "x"}, 400, "there is no field 'urls' here"),
        ({"archive": io.BytesIO(b"PK"), "url": "https://x"}, 400, "send a ZIP file as archive, or a url"),
        ({"url": "https://x", "note": "x" * 6000}, 400, "the note has 6,000 characters"),
    ],
)
def test_what_is_wrong_is_said(ask, token_of, owner, sent, status, words):
    answer = ask("POST", "submissions", token=token_of(owner, "submit"), data=sent)
    assert answer.status_code == status
    assert words in answer.json()["message"]
    assert answer.json()["remedy"]


def test_other_bodies(ask, token_of, owner, post):
    token = token_of(owner, "submit")
    told = ask("POST", "submissions", token=token, data="{}", content_type="application/json")
    assert told.status_code == 415
    told = post(content=b"PK" + b"x" * 3_000_000)
    assert told.status_code == 413
    assert post(visibility="secret").status_code == 400
    assert ask("GET", "submissions?state=lost", token=token_of(owner, "read")).status_code == 400
