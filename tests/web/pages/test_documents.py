"""Markdown made into HTML."""

import json
from pathlib import Path

import pytest

from brainscore_web.pages.documents import chapters, document, document_names, picture, rendered, shipped

from .._html import html_problems

DOCS = Path(__file__).parents[3] / "docs"


def test_every_page_of_the_documentation_is_found():
    names = {name for name, _ in document_names()}
    assert names == {path.relative_to(DOCS).as_posix().removesuffix(".md") for path in DOCS.rglob("*.md")} - {"index"}
    assert any("/" in name for name in names)
    assert all(title for _, title in document_names())


def test_chapters_have_every_page_once(client, db):
    pages = [name for chapter in chapters() for name, _ in chapter.pages]
    assert sorted(pages) == sorted(name for name, _ in document_names() if not name.endswith("index"))
    text = client.get("/tutorials/certainty/").content.decode()
    assert text.count("<details open>") == 1
    assert '<a href="/tutorials/certainty/" aria-current="page">How certain is a score</a><ul>' in text


def test_links_between_pages_become_the_sites():
    addresses = {
        "receipts.md#fields": "/tutorials/receipts/#fields",
        "index.md": "/tutorials/",
        "https://example.org": "https://example.org",
        "schemas/x.json": "/tutorials/files/schemas/x.json",
        "#f": "#f",
    }
    made = rendered("x", "# X\n\n" + " ".join(f"[a]({address})" for address in addresses))
    for address in addresses.values():
        assert f'href="{address}"' in made.body


def test_links_of_pages_in_folders_are_relative_to_them():
    body = rendered("validity/x", "# X\n\n[a](audit.md#f) [b](../cards.md) [c](../schemas/x.json)").body
    for address in ("/tutorials/validity/audit/#f", "/tutorials/cards/", "/tutorials/files/schemas/x.json"):
        assert f'href="{address}"' in body


def test_every_page_is_valid(client, db):
    wrong = []
    for name, _ in document_names():
        text = client.get(f"/tutorials/{name}/", follow=True).content.decode()
        wrong += [f"{name}: {problem}" for problem in html_problems(text)]
    assert not wrong, "\n".join(["", *wrong])


def test_every_link_leads_somewhere(client, db):
    import re

    for name, _ in document_names():
        for address in re.findall(r'(?:href|src)="(/tutorials/[^"]*)"', document(name).body):
            page, _, part = address.partition("#")
            answer = client.get(page)
            assert answer.status_code == 200, f"{name}: {address}"
            if part:
                assert f'id="{part}"' in answer.content.decode(), f"{name}: {address}"


def test_earlier_addresses_lead_to_the_present_pages(client, db):
    moved = json.loads((DOCS / "moved.json").read_text())
    assert moved["deploy"] == "operators/deploy"
    for earlier, present in moved.items():
        assert document(earlier) is None, f"{earlier} is a page again"
        assert document(present) is not None
        answer = client.get(f"/tutorials/{earlier}/")
        assert (answer.status_code, answer["Location"]) == (301, f"/tutorials/{present}/")


def test_docstrings_are_named_and_not_imported():
    body = rendered("x", "# X\n\nText.\n\n::: brainscore_vision.score\n    options:\n      members: []\n\nMore.").body
    assert "<code>python -m pydoc brainscore_vision.score</code>" in body
    assert "members" not in body
    assert "<p>More.</p>" in body


def test_raw_html_is_shown_and_not_used():
    made = rendered("x", "# X\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n\n<!-- hidden -->")
    assert "<script" not in made.body
    assert "javascript:" not in made.body.replace("[x](javascript:alert(1))", "")
    assert "hidden" not in made.body


def test_nothing_is_styled_inline():
    for name, _ in document_names():
        assert "style=" not in document(name).body


def test_headings_that_are_equal_have_different_anchors():
    made = rendered("x", "# X\n\n## A\n\n## A\n\n## `b` c")
    assert [section.anchor for section in made.sections] == ["a", "a-2", "b-c"]
    assert made.title == "X"


def test_code_is_highlighted():
    assert '<span class="kn">import</span>' in rendered("x", "```python\nimport os\n```").body
    assert "<b>" not in rendered("x", "```unknown\n<b>\n```").body


@pytest.mark.parametrize("name", ["../README", "nothing", "a/b", "", "index.md", "a" * 5000])
def test_other_files_are_no_pages(name):
    assert document(name) is None


@pytest.mark.parametrize("name", ["../README.md", "../docs/result.png/..", "conftest.py", "receipts.md", "/etc/passwd"])
def test_other_files_are_no_pictures(name):
    assert picture(name) is None


def test_pictures(client, db):
    answer = client.get("/tutorials/files/result.png")
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content)[:4] == b"\x89PNG"
    for name in ("..%2FREADME.md", f"{'a' * 5000}.png", f"{'a/' * 2000}b.png"):
        assert client.get(f"/tutorials/files/{name}").status_code == 404
    assert client.get("/tutorials/files/a%00.png").status_code == 400


def test_own_texts():
    for name in ("about", "citation"):
        assert rendered(name, shipped(name)).title
