"""What comes in: each layout by page and interface, what is hostile, whose names are taken."""

import io
import struct
import zipfile

import pytest

from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions.examining import Refused, Source, source_at
from brainscore_web.submissions.models import Plugin, Revision, Step, Submission
from tests.web._plugins import benchmark_files, model_files, zipped

from .conftest import browser_of, confirm

pytestmark = pytest.mark.django_db

LAYOUTS = {
    "folder of kinds": (model_files(), ""),
    "one folder around": (model_files(), "work/"),
    "checkout": (model_files(), "vision/brainscore_vision/"),
    "the plugin alone": ({path.removeprefix("models/"): text for path, text in model_files().items()}, ""),
    "only its files": ({path.removeprefix("models/tiles_8/"): text for path, text in model_files().items()}, ""),
    "several": (model_files() | benchmark_files(), ""),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", ["page", "interface"])
def test_each_layout_is_taken(submitter, send, ask, token_of, layout, way):
    files, wrapper = LAYOUTS[layout]
    content = zipped(files, wrapper=wrapper)
    if way == "page":
        answer = send(content, name="tiles_8.zip")
        assert answer.status_code == 302, answer.content.decode()
    else:
        archive = io.BytesIO(content)
        archive.name = "tiles_8.zip"
        answer = ask("POST", "submissions", token=token_of(submitter, "submit"), data={"archive": archive})
        assert answer.status_code == 201, answer.content.decode()
    row = Submission.objects.get()
    assert row.owner == submitter
    assert row.latest.address == "tiles_8.zip"
    with zipfile.ZipFile(io.BytesIO(bytes(row.latest.archive))) as archive:
        assert "models/tiles_8/__init__.py" in archive.namelist()
    assert ("models", "tiles_8") in {(one["kind"], one["name"]) for one in row.latest.plugins}
    assert not [one for one in row.latest.findings if one["severity"] == "error"]
    assert row.state == "queued"
    steps = row.latest.steps.order_by("order")
    assert [step.kind for step in steps] == Step.Kind.values
    assert steps[0].due is not None


def test_findings_say_file_and_line_and_nothing_is_run(submitter, client, send):
    files = model_files()
    files["models/tiles_8/model.py"] += "\n\nimport os\nos.system('echo ran > /tmp/ran')\n"
    files["models/tiles_8/model.py"] = files["models/tiles_8/model.py"].replace("SIZE = 8", "SIZE = = 8")
    assert send(files).status_code == 302
    row = Submission.objects.get()
    assert row.state == "changes"
    assert not Step.objects.exclude(due=None).exists()
    (found,) = [one for one in row.latest.findings if one["severity"] == "error"]
    line = files["models/tiles_8/model.py"].split("\n").index("SIZE = = 8") + 1
    assert (found["file"], found["line"]) == ("models/tiles_8/model.py", line)
    page = client.get(f"/submissions/{row.pk}/").content.decode()
    assert f"models/tiles_8/model.py:{line}" in page
    assert "1 error must be fixed before anything is run" in page
    assert "SIZE</span>" in page or "SIZE = = 8" in page  # the line itself
    assert "hx-get" not in page  # nothing changes by itself


def bomb():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("models/m/__init__.py", b"#" * 4_900_000)
    return stream.getvalue()


def linked():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        member = zipfile.ZipInfo("models/m/__init__.py")
        member.create_system, member.external_attr = 3, 0o120777 << 16
        archive.writestr(member, "/etc/passwd")
    return stream.getvalue()


def flipped():
    content = bytearray(zipped(model_files()))
    for at in range(80, 200):  # in the midst of the first file
        content[at] ^= 0xFF
    return bytes(content)


def named(path):
    return zipped({**model_files(), path: "x"})


HOSTILE = {
    "empty": b"PK",
    "no ZIP": b"\x1f\x8b" + b"x" * 100,
    "cut off": zipped(model_files())[:-40],
    "flipped": flipped(),
    "bomb": bomb(),
    "link": linked(),
    "out": named("../../etc/cron.d/x"),
    "absolute": named("/etc/cron.d/x"),
    "drive": named("C:/x.py"),
    "no plugin": zipped({"readme.md": "hello"}),
    "nothing": zipped({}),
    "huge directory": b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_archives_are_refused_in_words(submitter, send, ask, token_of, what):
    answer = send(HOSTILE[what])
    assert answer.status_code in (400, 413), answer.status_code
    text = answer.content.decode()
    assert 'class="errorlist nonfield"' in text
    assert "→" in text
    assert "Traceback" not in text
    archive = io.BytesIO(HOSTILE[what])
    archive.name = "x.zip"
    told = ask("POST", "submissions", token=token_of(submitter, "submit"), data={"archive": archive})
    assert told.status_code in (400, 413)
    assert told.json()["message"]
    assert told.json()["remedy"]
    assert not Revision.objects.exists()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + ")" * 5000,
        "x = " + "-" * 20_000 + "1",
        "\0",
        "# coding: nonsense\n",
        "\ud800".encode("utf-8", "surrogatepass"),
    ],
)
def test_code_that_parsers_choke_on_is_a_finding(submitter, client, send, text):
    answer = send({**model_files(), "models/tiles_8/more.py": text})
    assert answer.status_code == 302, answer.content.decode()
    row = Submission.objects.get()
    assert {one["file"] for one in row.latest.findings if one["severity"] == "error"} == {"models/tiles_8/more.py"}
    assert client.get(f"/submissions/{row.pk}/").status_code == 200
    assert client.get(f"/submissions/{row.pk}/1/code/").status_code == 200


def test_what_is_too_large_is_not_read(submitter, client, settings):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "size": 1000}
    answer = client.post("/submissions/new/", {"archive": io.BytesIO(b"PK" + b"x" * 3_000_000)})
    assert answer.status_code == 413
    assert "may not exceed" in answer.content.decode()


def test_a_name_that_is_no_text_is_kept_readable(submitter, send, client):
    assert send(model_files(), name="a\u202eb\n.zip", note="fine\r\nnote").status_code == 302
    assert client.get(f"/submissions/{Submission.objects.get().pk}/").status_code == 200


def errors_of(revision):
    return [one["message"] for one in revision.findings if one["severity"] == "error"]


def test_identifiers_of_the_platform_are_taken(submitter, submitted):
    made = submitted(submitter, model_files("pixels", name="mine"))
    assert "'pixels' is taken" in errors_of(made)[0]
    made = submitted(submitter, model_files("word-length", name="length"))
    assert errors_of(made)[0].startswith("'word-length' is taken: brainscore_language.models.word_properties")
    made = submitted(submitter, model_files("language:mine", name="prefix"))
    assert errors_of(made)[0] == "language: stands for a domain in front of a name"
    made = submitted(submitter, model_files("pixels-2", name="pixels"))
    assert errors_of(made) == ["the platform already has a folder models/pixels"]


def _language(name):
    return {
        path: content.replace("brainscore_vision", "brainscore_language") if isinstance(content, str) else content
        for path, content in model_files(name).items()
    }


def test_plugins_of_language(submitter, submitted):
    made = submitted(submitter, {f"brainscore_language/{path}": text for path, text in _language("reader").items()})
    assert made.submission.domain == made.plugins[0]["domain"] == "language"
    assert not errors_of(made)
    taken = submitted(submitter, _language("pixels"))  # models have names that are unique across domains
    assert "'pixels' is taken: brainscore_vision.models.pixels" in errors_of(taken)[0]
    mixed = submitted(submitter, model_files("seer") | _language("listener"))
    assert any("models/seer is of vision, and models/listener of language" in message for message in errors_of(mixed))


def test_open_submissions_of_others_have_their_names(submitter, other, submitted):
    first = submitted(submitter)
    second = submitted(other)
    assert not errors_of(first)
    assert sorted(errors_of(second)) == [
        "'tiles-8' is taken: an open submission of another member",
        "an open submission of another member already has a folder models/tiles_8",
    ]
    again = submitted(submitter, model_files(size=9), submission=first.submission)
    assert not errors_of(again)  # of two open ones, the older has the name
    Submission.objects.filter(pk=first.submission_id).update(state="withdrawn")
    third = submitted(other, submission=second.submission)
    assert not errors_of(third)


def live(user, revision):
    return Plugin.objects.create(
        kind="models", name="tiles_8", owner=user, revision=revision, identifiers=["tiles-8"], code="x"
    )


def test_own_live_plugins_become_new_versions_and_those_of_others_are_theirs(submitter, other, submitted):
    first = submitted(submitter)
    Submission.objects.update(state="done")
    live(submitter, first)
    VisionModel.objects.create(identifier="tiles-8", owner=submitter, plugin="tiles_8")
    again = submitted(submitter, model_files(size=9))
    assert not errors_of(again)
    assert "this replaces your live plugin of the same name" in str(again.findings)
    assert sorted(errors_of(submitted(other, model_files(size=9)))) == [
        "'tiles-8' is taken: a plugin of another member",
        "a plugin of another member already has a folder models/tiles_8",
    ]
    elsewhere = submitted(submitter, model_files("tiles-8", name="elsewhere"))
    assert errors_of(elsewhere) == ["'tiles-8' is taken: your plugin models/tiles_8"]


def test_names_that_differ_in_separators_are_equal(submitter, other, submitted):
    live(submitter, submitted(submitter))
    Submission.objects.update(state="done")
    for identifier, name in (("tiles_8", "tiles__8"), ("tiles.8", "Tiles_8"), ("tiles--8", "tiles_8_")):
        errors = errors_of(submitted(other, model_files(identifier, name=name)))
        assert f"{identifier!r} is taken: it looks like 'tiles-8', which is already in use" in errors
        assert ("a plugin of another member already has a folder models/tiles_8" in errors) == (name != "tiles_8_")
        Submission.objects.update(state="done")
    assert not errors_of(submitted(submitter, model_files(size=9)))  # the next version
    pixels = errors_of(submitted(other, model_files("pix-els_2", name="grey__pixels")))
    assert not pixels


@pytest.mark.parametrize("kind", [VisionModel, Benchmark])
def test_names_of_the_board_belong_to_who_has_them(submitter, other, submitted, kind):
    identifier = "tiles-8" if kind is VisionModel else "Author2026-pls"
    files = model_files() if kind is VisionModel else benchmark_files()
    row = kind.objects.create(identifier=identifier, owner=other)
    made = submitted(submitter, files)
    assert f"'{identifier}' is taken: an entry of this site's leaderboard that is not yours" in errors_of(made)
    kind.objects.filter(pk=row.pk).update(owner=submitter)
    assert not errors_of(submitted(submitter, files, submission=made.submission))


def test_names_that_could_be_taken_for_others_are_refused(submitter, other, submitted):
    VisionModel.objects.create(identifier="vit-lab", owner=other)
    made = submitted(submitter, model_files("ViT-1ab", name="mine"))
    assert errors_of(made) == ["'ViT-1ab' is taken: it looks like 'vit-lab', which is already in use"]
    first = submitted(other, model_files("tiles-rn", name="theirs"))
    made = submitted(submitter, model_files("tiles-m", name="ours"))
    assert errors_of(made) == ["'tiles-m' is taken: it looks like 'tiles-rn', which is already in use"]
    live_one = Plugin.objects.create(
        kind="models", name="theirs", owner=other, revision=first, identifiers=["tiles-rn"], code="x"
    )
    assert not errors_of(submitted(other, model_files("tiles-rn", size=9, name="theirs"))), live_one


def test_addresses():
    commit = "0123456789" * 4
    assert source_at("https://github.com/you/vision/pull/12") == Source("pull", "https://github.com/you/vision/pull/12")
    assert source_at(" https://example.org/x.git ", f" {commit}") == Source(
        "git", "https://example.org/x.git", commit=commit
    )
    for address in ("git@github.com:x", "ext::sh -c id", "http://example.org/x.git", "", "--upload-pack=id"):
        with pytest.raises(Refused):
            source_at(address, commit)


def test_a_repository(submitter, client, tmp_path, monkeypatch):
    import subprocess

    for path, text in model_files().items():
        file = tmp_path / "repository" / "brainscore_vision" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def git(*words):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *who, "-C", str(tmp_path / "repository"), *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "tiles")
    monkeypatch.setenv("BRAINSCORE_GIT_LOCAL", "1")
    head = git("rev-parse", "HEAD")
    fields = {"address": f"file://{tmp_path / 'repository'}", "commit": head, "visibility": "private"}
    answer = client.post("/submissions/new/", fields)
    assert answer.status_code == 302, answer.content.decode()
    made = Revision.objects.get()
    assert (made.origin, made.commit, made.submission.visibility) == ("git", fields["commit"], "private")
    for commit in ("f" * 40, "no-such-branch", "--upload-pack=id", "a b"):
        answer = client.post("/submissions/new/", {**fields, "commit": commit})
        assert answer.status_code == 400
        assert "→" in answer.content.decode()


def test_only_members_with_a_confirmed_address(owner, send, ask, submitted):
    from brainscore_web.accounts.models import ApiToken

    answer = send(model_files(), by=browser_of(owner))
    assert answer.status_code == 403
    assert "Confirm your e-mail address first" in answer.content.decode()
    token = ApiToken.issue(owner, "x", ["submit"])[1]
    told = ask("POST", "submissions", token=token, data={"archive": io.BytesIO(zipped(model_files()))})
    assert told.status_code == 403
    confirm(owner)
    assert send(model_files(), by=browser_of(owner)).status_code == 302
