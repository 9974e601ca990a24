"""The code of published plugins: who reads it, what its page says, what is downloaded."""

import io
import zipfile
from pathlib import Path

import pytest
from django.test import Client

from brainscore_core.plugins.source import plugin_hash
from brainscore_vision import models
from brainscore_web.accounts.models import Lab
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.submissions import published as published_code
from brainscore_web.submissions.models import Plugin, PublishedVersion, Submission
from brainscore_web.submissions.published import find_code

from .._html import html_problems
from ._made import add_revision, benchmark_files, make, model_files

CODE = "/vision/code/"
EVERYBODY = ("nobody", "stranger", "rita", "sam", "admin")
DATA = {"data/author2026/__init__.py": "ADDRESS = 'https://bucket.example.org/stimuli.zip'\n"}
EVIL = "<script>alert(1)</script>"
MODEL = [{"kind": "models", "name": "tiles_8", "registrations": [{"registry": "model_registry", "key": "tiles-8"}]}]


def published(owner, files, *, code="a" * 64, licence="", version=1, **fields):
    """The plugins of a new submission, live."""
    submission = make(owner, files, state="done", number=version, **fields)
    for plugin in submission.latest.plugins:
        names = {"kind": plugin["kind"], "name": plugin["name"]}
        row, _ = Plugin.objects.get_or_create(**names, defaults={"owner": owner, "revision": submission.latest})
        Plugin.objects.filter(pk=row.pk).update(revision=submission.latest, code=code)
        PublishedVersion.objects.create(**names, code=code, revision=submission.latest, licence=licence)
    return submission


def model(owner, visibility="public", **fields):
    row = VisionModel.objects.create(identifier="tiles-8", owner=owner, visibility=visibility, plugin="tiles_8")
    return row, published(owner, model_files(), plugins=MODEL, **fields)


def benchmark(owner, access="public", **fields):
    registrations = [{"registry": "benchmark_registry", "key": "Author2026-pls"}]
    plugins = [{"kind": "benchmarks", "name": "author2026", "registrations": registrations}]
    plugins.append({"kind": "data", "name": "author2026", "registrations": []})
    Benchmark.objects.create(identifier="Author2026-pls", owner=owner, access=access, plugin="author2026", version="1")
    return published(owner, {**benchmark_files(), **DATA}, plugins=plugins, **fields)


def readers(people, kind, name, sha256="a" * 64):
    """Who gets the page; the archive and the address without a version lead to the same."""
    found = set()
    for who in EVERYBODY:
        client = Client()
        if who != "nobody":
            client.force_login(people[who])
        address = f"{CODE}{kind}/{name}/"
        answers = [client.get(f"{address}{sha256}/"), client.get(f"{address}{sha256}.zip"), client.get(address)]
        assert [answer.status_code for answer in answers] in ([200, 200, 302], [404, 404, 404])
        if answers[0].status_code == 200:
            assert answers[2]["Location"] == f"{address}{sha256}/"
            assert [answer["Cache-Control"] for answer in answers[:2]] == ["private, no-cache"] * 2
            found.add(who)
    return found


@pytest.mark.parametrize(("visibility", "expected"), [("public", set(EVERYBODY)), ("private", {"sam", "admin"})])
def test_who_reads_the_code_of_a_model(people, visibility, expected):
    model(people["sam"], visibility)
    assert readers(people, "models", "tiles_8") == expected


def test_a_model_beside_a_private_one(people):
    """A plugin with a private model is read by nobody else, also if the private one is in an earlier version."""
    row, submission = model(people["sam"])
    both = [{**MODEL[0], "registrations": [*MODEL[0]["registrations"], {"registry": "model_registry", "key": "b"}]}]
    VisionModel.objects.create(identifier="b", owner=people["sam"], visibility="private", plugin="tiles_8")
    earlier = add_revision(submission, model_files(size=4), number=2, state="done", plugins=both)
    PublishedVersion.objects.create(kind="models", name="tiles_8", code="b" * 64, revision=earlier)
    assert readers(people, "models", "tiles_8") == set(EVERYBODY)
    page = f"{CODE}models/tiles_8/{'a' * 64}/"
    assert Client().get(f"{CODE}models/tiles_8/{'b' * 64}/").status_code == 404
    assert "b" * 12 not in Client().get(page).content.decode()
    own = Client()
    own.force_login(people["sam"])
    assert "b" * 12 in own.get(page).content.decode()
    row.delete()
    assert readers(people, "models", "tiles_8") == {"sam", "admin"}  # not even with a model that is gone


def test_other_plugins_of_a_submission_with_a_private_model(people):
    row = VisionModel.objects.create(identifier="tiles-8", owner=people["sam"], visibility="private", plugin="tiles_8")
    others = [{"kind": kind, "name": "author2026", "registrations": []} for kind in ("data", "metrics")]
    published(people["sam"], {**model_files(), **DATA}, plugins=[*MODEL, *others])
    for kind in ("data", "metrics"):
        assert readers(people, kind, "author2026") == {"rita", "sam", "admin"}
    VisionModel.objects.filter(pk=row.pk).update(visibility="public")
    for kind in ("data", "metrics"):
        assert readers(people, kind, "author2026") == set(EVERYBODY)


@pytest.mark.parametrize("kind", ["benchmarks", "data"])
def test_who_reads_the_code_of_a_benchmark(people, kind):
    submission = benchmark(people["sam"])
    card = "/vision/benchmark/Author2026-pls/"
    assert readers(people, kind, "author2026") == set(EVERYBODY)
    assert f"{CODE}benchmarks/author2026/" in text_at(card)
    submission.latest.steps.filter(kind="check").update(result={"files": [{"private": True}]})
    assert readers(people, kind, "author2026") == {"rita", "sam", "admin"}
    submission.latest.steps.filter(kind="check").update(result={})
    Benchmark.objects.update(access="private")
    assert readers(people, kind, "author2026") == {"rita", "sam", "admin"}  # reviewers have read it before
    assert CODE not in text_at(card)


def test_data_of_an_owner_who_withholds_a_benchmark(people):
    benchmark(people["sam"])
    published(people["sam"], {"data/other2026/__init__.py": "x = 1\n"})
    published(people["sam"], {"metrics/other2026/__init__.py": "x = 1\n"})
    published(people["rita"], {"data/ritas2026/__init__.py": "x = 1\n"})
    Benchmark.objects.update(access="private")
    assert readers(people, "data", "other2026") == {"rita", "sam", "admin"}
    assert readers(people, "metrics", "other2026") == set(EVERYBODY)
    assert readers(people, "data", "ritas2026") == set(EVERYBODY)


def test_data_of_another_member_of_a_lab_that_withholds_a_benchmark(people):
    benchmark(people["sam"])
    other = [{"kind": "data", "name": "other", "registrations": []}]
    submission = published(people["rita"], {"data/other/__init__.py": "A = 1\n"}, plugins=other)
    lab = Lab.objects.create(name="Lab", slug="lab")
    for table in (Submission, Plugin, Benchmark):
        table.objects.update(lab=lab)
    assert readers(people, "data", "other") == set(EVERYBODY)
    Benchmark.objects.update(access="private")
    assert "stranger" not in readers(people, "data", "other")
    Submission.objects.filter(pk=submission.pk).update(lab=None)
    assert "stranger" in readers(people, "data", "other")


def test_what_is_not_published(people, submission):
    """A revision that waits, another hash, and addresses that leave the folder."""
    model(people["sam"])
    for address in (
        f"benchmarks/author2026/{'a' * 64}/", "benchmarks/author2026/", f"models/tiles_8/{'c' * 64}/",
        f"benchmarks/tiles_8/{'a' * 64}/", "models/../", "models/..%2f..%2fbrainscore_web/", "models/a%00b/",
        "models/__pycache__/", "nothing/tiles_8/", "models/tiles_8%0a/", f"models/tiles_8/{'a' * 64}/?path=../x",
        f"models/tiles_8/{'a' * 64}/?path=/etc/passwd", f"models/pixels/{'a' * 64}/",
    ):  # fmt: skip
        assert Client().get(CODE + address).status_code in (400, 404), address


def text_at(address):
    answer = Client().get(address)
    assert answer.status_code == 200
    text = answer.content.decode()
    assert not html_problems(text)
    return text


@pytest.mark.parametrize(
    ("licence", "files", "sentence"),
    [
        ("MIT", {}, "MIT, as its authors state it"),
        ("", {}, "No licence is stated for this code. It belongs to its authors: ask them before you use it."),
        ("", {"models/tiles_8/LICENSE": EVIL}, "<code>models/tiles_8/LICENSE</code>"),
        (
            f"MIT{EVIL}\u202e",
            {"models/tiles_8/COPYING.\u202etxt": "x"},
            "⟨U+202E⟩, as its authors state it; see <a href=",
        ),
    ],
)
def test_the_page(people, licence, files, sentence):
    """Highlighted code, its licence, the models; nothing of it is markup."""
    submission = make(people["sam"], title="other")  # of another plugin
    VisionModel.objects.create(identifier="tiles-8", owner=people["sam"], plugin="tiles_8")
    hostile = {f"models/tiles_8/{EVIL.replace('/', '_')}.py": f"x = '{EVIL}\u202e'\n"}
    content = {**model_files(), **hostile, **files, **benchmark_files()}
    published(people["sam"], content, plugins=[*MODEL, *submission.latest.plugins], licence=licence)
    page = text_at(f"{CODE}models/tiles_8/{'a' * 64}/")
    assert sentence in page
    assert ("No licence" in page) == (not licence and not files)
    assert 'class="kn"' in page  # highlighted
    assert "⟨U+202E⟩" in page
    assert EVIL not in page
    assert "\u202e" not in page
    assert "author2026" not in page  # another plugin of the submission
    assert 'href="/vision/model/tiles-8/"' in page
    alone = text_at(f"{CODE}models/tiles_8/{'a' * 64}/?path=models/tiles_8/model.py")
    assert alone.count('class="file"') == 1


def test_the_archive(people):
    """The files of the plugin as they were sent, and no others."""
    files = {**model_files(), "models/tiles_8/table.bin": b"\0\xff" * 1000}
    plugins = [*MODEL, {"kind": "benchmarks", "name": "author2026", "registrations": []}]
    VisionModel.objects.create(identifier="tiles-8", owner=people["sam"], plugin="tiles_8")
    published(people["sam"], {**files, **benchmark_files()}, plugins=plugins)
    answer = Client().get(f"{CODE}models/tiles_8/{'a' * 64}.zip")
    assert answer["Content-Disposition"] == 'attachment; filename="models-tiles_8-aaaaaaaaaaaa.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    assert read == {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}


def test_a_plugin_of_the_package(people):
    """Read from the installed package as long as its hash is the one that is asked for."""
    code = find_code("vision", "models", "pixels", people["stranger"])
    assert code.sha256 == plugin_hash(Path(models.__path__[0]) / "pixels")
    page = text_at(f"{CODE}models/pixels/{code.sha256}/")
    assert "MIT, the licence of the package brainscore" in page
    assert "models/pixels/__init__.py" in page
    archive = zipfile.ZipFile(io.BytesIO(Client().get(code.link.archive).content))
    assert "models/pixels/__init__.py" in archive.namelist()
    assert not any("__pycache__" in name for name in archive.namelist())
    VisionModel.objects.create(identifier="mine", owner=people["sam"], visibility="private", plugin="pixels")
    row = VisionModel.objects.create(identifier="pixels", plugin="pixels")
    assert 'href="/vision/code/models/pixels/' in text_at("/vision/model/pixels/")
    row.visibility = "private"
    row.save()
    assert find_code("vision", "models", "pixels", people["stranger"]) is None
    assert find_code("vision", "models", "pixels", people["admin"]) is not None


def test_other_files_in_the_folder_of_a_package(people, monkeypatch, tmp_path):
    """A checkout may contain hidden files, keys, caches, tests and links; none of them is shown."""
    folder = tmp_path / "models" / "mine"
    for name in ("__init__.py", "table.csv", "LICENSE", ".env", ".git/config.txt", "__pycache__/a.txt", "key.pem"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("1\n")
    (tmp_path / "secret.txt").write_text("1\n")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path, target_is_directory=True)
    monkeypatch.setattr(published_code, "package_folder", lambda domain: tmp_path)
    code = find_code("vision", "models", "mine", people["stranger"])
    published_code._installed.cache_clear()
    with zipfile.ZipFile(io.BytesIO(code.archive())) as archive:
        names = archive.namelist()
    assert names == list(code.texts()) == [f"models/mine/{name}" for name in ("LICENSE", "__init__.py", "table.csv")]


def test_links_of_card_and_receipt(people):
    """Both lead to the version, as long as the reader may read it."""
    row, _ = model(people["sam"], licence="MIT")
    node = Benchmark.objects.create(identifier="Node2026-pls", version="1", access="public")
    plugin = {"name": "tiles_8", "sha256": "a" * 64, "distribution": None, "version": None}
    document = {
        "model": {"identifier": "tiles-8", "plugin": plugin},
        "benchmark": {"identifier": "Node2026-pls", "plugin": {**plugin, "name": "node", "sha256": "d" * 64}},
        "data": [{"kind": EVIL, "identifier": EVIL, "plugin": {**plugin, "name": "a/b", "sha256": EVIL}}],
    }
    Score.objects.create(
        receipt="r1", model=row, benchmark=node, state="scored", value=0.5, created="2026-05-01T00:00Z",
        document=document,
    )  # fmt: skip
    link = f'href="{CODE}models/tiles_8/{"a" * 64}'
    card, receipt = text_at("/vision/model/tiles-8/"), text_at("/vision/receipt/r1/")
    for page in (card, receipt):
        assert f"{link}/" in page
        assert f"{link}.zip" in page
        assert "MIT" in page
        assert EVIL not in page
    assert receipt.count("not on this site") == 2
    assert "<code>brainscore verify r1 --site http://testserver</code>" in receipt
    other = VisionModel.objects.create(identifier="of-others", plugin="tiles_8")  # of a plugin of the same name
    assert link not in text_at(f"/vision/model/{other.identifier}/")


def test_a_page_is_made_once_for_those_who_may_read_it(people, monkeypatch):
    """Compressed pages are kept until they change; whether a visitor may read the code is asked each time."""
    row, _ = model(people["sam"])
    texts = []
    monkeypatch.setattr(published_code, "shown_files", lambda files, **_: texts.append(files) or [])
    address, packed = f"{CODE}models/tiles_8/{'a' * 64}/", {"Accept-Encoding": "gzip"}
    first, second = (Client().get(address, headers=packed) for _ in range(2))
    assert first["ETag"] == second["ETag"]
    assert first.content == second.content
    assert len(texts) == 1
    assert Client().get(address, headers={**packed, "If-None-Match": first["ETag"]}).status_code == 304
    assert Client().get(f"{address}?path=missing.py", headers=packed).status_code == 404
    row.visibility = "private"
    row.save()
    assert Client().get(address, headers={**packed, "If-None-Match": first["ETag"]}).status_code == 404
