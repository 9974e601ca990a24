"""Authorisation: uploads in each state, requested by every kind of visitor."""

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.uploads.models import Upload, UploadedFile

from .conftest import confirm

WHO = ("visitor", "owner", "other", "reviewer", "administrator", "unconfirmed")
LOGIN = "/accounts/login/"
MEMBERS = (LOGIN, 200, 200, 200, 200, 403)
SEEN = (LOGIN, 200, 404, 404, 200, 403)
OWN_ONLY = (LOGIN, 405, 405, 405, 405, 403)


def owners(status):
    return (LOGIN, status, 404, 404, 404, 403)


TABLE = {
    # name, method, upload's state: what comes of it
    ("home", "get", None): MEMBERS,
    ("new", "get", None): MEMBERS,
    ("new", "post", None): (LOGIN, "/uploads/…/", "/uploads/…/", "/uploads/…/", "/uploads/…/", 403),
    ("show", "get", "receiving"): SEEN,
    ("show", "get", "accepted"): SEEN,
    ("show", "get", "refused"): SEEN,
    ("state", "get", "checking"): SEEN,
    ("code", "get", "accepted"): SEEN,
    ("code", "get", "receiving"): (LOGIN, 404, 404, 404, 404, 403),
    ("scaffold", "get", "accepted"): SEEN,
    ("scaffold", "get", "receiving"): (LOGIN, 404, 404, 404, 404, 403),
    ("receive", "get", "receiving"): OWN_ONLY,
    ("receive", "post", "receiving"): owners("/uploads/…/"),
    ("receive", "post", "accepted"): owners(409),
    ("grant", "get", "receiving"): OWN_ONLY,
    ("grant", "post", "receiving"): owners(200),
    ("arrived", "get", "receiving"): OWN_ONLY,
    ("arrived", "post", "receiving"): owners(409),
    ("check", "get", "receiving"): OWN_ONLY,
    ("check", "post", "receiving"): owners(409),
    ("withdraw", "get", "accepted"): SEEN,
    ("withdraw", "post", "accepted"): (LOGIN, "/uploads/", 404, 404, "/uploads/", 403),
    ("file", "get", "public"): (200,) * 6,
    ("file", "get", "private"): (403, 200, 403, 403, 200, 200),
    ("file", "get", "checking"): (403,) * 6,
    ("file", "get", "withdrawn"): (403,) * 6,
    ("file", "post", "public"): (405,) * 6,
}
# the user without a confirmed address owns a private upload, and may still load it


@pytest.fixture
def people(uploader, member, staff):
    reviewer = User.objects.create_user("reviewer@example.org", "correct horse battery")
    reviewer.groups.add(Group.objects.get(name="reviewers"))
    for user in (member, reviewer, staff):
        confirm(user)
    unconfirmed = User.objects.create_user("unconfirmed@example.org", "correct horse battery")
    return {
        "visitor": None, "owner": uploader, "other": member, "reviewer": reviewer, "administrator": staff,
        "unconfirmed": unconfirmed,
    }  # fmt: skip


def made(owner, state, root):
    """An upload in a state, with a table."""
    known = state if state in Upload.State.values else "accepted"
    upload = Upload.objects.create(
        owner=owner,
        identifier="A1",
        assembly_identifier="A1",
        state=known,
        visibility="private" if state == "private" else "public",
    )
    version = f"version-{upload.pk}"
    key = f"brainscore-vision/data/user_{owner.pk}/stimulus_A1.csv"
    file = UploadedFile.objects.create(upload=upload, kind="csv")
    if known != "receiving":
        UploadedFile.objects.filter(pk=file.pk).update(
            size=3, bucket="brainscore-storage", key=key, version_id=version, sha1="0" * 40, sha256="1" * 64
        )
        path = root / "brainscore-storage" / key / version
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a,b")
    return upload


@pytest.mark.parametrize("who", WHO)
def test_the_table(people, who, root):
    from io import BytesIO

    wrong = []
    for (name, method, state), row in TABLE.items():
        owner = people["unconfirmed"] if who == "unconfirmed" and name == "file" else people["owner"]
        upload = made(owner, state or "receiving", root)
        browser = Client()
        if people[who] is not None:
            browser.force_login(people[who])
        arguments, data = {}, {}
        if name in ("receive", "grant", "arrived"):
            arguments["kind"] = "csv"
        if name == "file":
            file = upload.files.get()
            arguments, data = {"bucket": file.bucket, "key": file.key}, {"versionId": file.version_id}
        elif name not in ("home", "new"):
            arguments["key"] = upload.pk
        if (name, method) == ("receive", "post"):
            data["file"] = BytesIO(b"stimulus_id\na\n")
            data["file"].name = "a.csv"
        if (name, method) == ("grant", "post"):
            data = {"size": "10", "name": "a.csv"}
        if (name, method) == ("new", "post"):
            data = {"identifier": "B2", "assembly_class": "NeuroidAssembly", "visibility": "public"}
        answer = getattr(browser, method)(reverse(f"uploads:{name}", kwargs=arguments), data)
        got = answer.status_code
        if got in (302, 303):
            got = answer["Location"].split("?")[0]
            last = got.strip("/").rpartition("/")[2]
            got = got.replace(last, "…") if len(last) == 36 else got
        if got != row[WHO.index(who)]:
            wrong.append(f"{method} {name} ({state}): {got}, not {row[WHO.index(who)]}")
        upload.files.all().delete()
        upload.delete()
        Upload.objects.all().delete()
    assert not wrong, "\n".join(wrong)


def test_a_true_form_is_taken(people, root):
    from io import BytesIO

    upload = made(people["owner"], "receiving", root)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(people["owner"])
    page = browser.get(f"/uploads/{upload.pk}/").content.decode()
    token = page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    for headers, fields in (({}, {"csrfmiddlewaretoken": token}), ({"X-CSRFToken": token}, {})):
        file = BytesIO(b"stimulus_id\na\n")
        file.name = "a.csv"
        answer = browser.post(f"/uploads/{upload.pk}/csv/", {**fields, "file": file}, headers=headers)
        assert answer.status_code == 303
    assert upload.files.get().size == 14


@pytest.mark.parametrize(
    ("whose", "scopes", "status"),
    [
        ("owner", ["read"], 200),
        ("owner", ["receipts:write"], 403),
        ("other", ["read"], 403),
        (None, [], 401),
        ("administrator", ["read"], 200),
    ],
)
def test_tokens(people, root, whose, scopes, status):
    upload = made(people["owner"], "private", root)
    file = upload.files.get()
    text = ApiToken.issue(people[whose], "t", scopes)[1] if whose else "bs_none"
    answer = Client().get(
        f"/uploads/files/{file.bucket}/{file.key}",
        {"versionId": file.version_id},
        headers={"authorization": f"Bearer {text}"},
    )
    assert answer.status_code == status
    if whose:
        assert ApiToken.objects.get().last_used
    if status == 200:
        assert answer["Cache-Control"] == "private, no-store"


def test_who_is_no_longer_active_loads_nothing(people, root):
    upload = made(people["owner"], "private", root)
    file = upload.files.get()
    text = ApiToken.issue(people["owner"], "t", ["read"])[1]
    User.objects.filter(pk=people["owner"].pk).update(is_active=False)
    answer = Client().get(f"/uploads/files/{file.bucket}/{file.key}", headers={"authorization": f"Bearer {text}"})
    assert answer.status_code == 401


def test_private_and_missing_are_the_same(people, root):
    """Responses do not reveal that a private file exists."""
    file = made(people["owner"], "private", root).files.get()
    there, missing = (
        Client().get(f"/uploads/files/{bucket}/{key}")
        for bucket, key in ((file.bucket, file.key), (file.bucket, file.key.replace("A1", "A2")))
    )
    assert there.headers.pop("X-Request-ID") != missing.headers.pop("X-Request-ID")
    assert (there.status_code, there.content, dict(there.headers)) == (
        missing.status_code, missing.content, dict(missing.headers),
    )  # fmt: skip


def test_addresses_of_files_lead_nowhere_else(people, root, tmp_path):
    (tmp_path / "secret").write_text("secret")
    for key in ("../../secret", "..%2f..%2fsecret", "/etc/passwd", "%00", "x" * 3000):
        assert Client().get(f"/uploads/files/brainscore-storage/{key}").status_code in (400, 403, 404)


def test_who_looks_at_the_administration(people, root):
    upload = made(people["owner"], "accepted", root)
    browser = Client()
    browser.force_login(people["administrator"])
    page = browser.get(f"/admin/uploads/upload/{upload.pk}/change/")
    assert page.status_code == 200
    assert browser.get("/admin/uploads/upload/").status_code == 200
    assert browser.post(f"/admin/uploads/upload/{upload.pk}/delete/", {"post": "yes"}).status_code == 403


def test_pages_are_kept_nowhere(people, root):
    upload = made(people["owner"], "accepted", root)
    browser = Client()
    browser.force_login(people["owner"])
    for address in ("/uploads/", f"/uploads/{upload.pk}/", f"/uploads/{upload.pk}/__init__.py"):
        assert "no-store" in browser.get(address)["Cache-Control"]
