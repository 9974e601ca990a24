"""Pages and news that administrators write."""

import re
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from brainscore_web.pages.documents import shipped, shipped_names
from brainscore_web.pages.models import PAGES_WITH_OWN_ADDRESS, News, Page

HOSTILE = (
    "<script>alert(1)</script>\n\n[x](javascript:alert(1)) <img src=x onerror=alert(1)>\n\n"
    "![x](data:image/svg+xml,<svg/onload=alert(1)>)\n\n| a |\n|:-:|\n| b |\n"
)
ATOM = "{http://www.w3.org/2005/Atom}"


def harmless(text):
    """What of the hostile text could run, were it there."""
    assert "<script>alert" not in text
    assert not re.search(r"<[^>]*\b(onerror|onload|style)\s*=", re.sub(r'"[^"<>]*"', '""', text))  # no values
    assert not re.search(r"(href|src)\s*=\s*[\"']?\s*(javascript|data:image/svg)", text)


@pytest.mark.parametrize("name", PAGES_WITH_OWN_ADDRESS)
def test_shipped_pages_are_there_until_somebody_writes_others(client, db, staff, name):
    address = f"/{name}/"
    before = client.get(address)
    assert before.status_code == 200
    assert shipped(name).partition("\n")[0].removeprefix("# ") in before.content.decode()
    page = Page.objects.create(slug=name, title="Ours & theirs", body="# Left out\n\n## A part\n\n*written* here")
    text = client.get(address).content.decode()
    assert "<h1>Ours &amp; theirs</h1>" in text
    assert "<em>written</em> here" in text
    assert "Left out" not in text
    page.published = False
    page.save()
    assert client.get(address).content == before.content
    client.force_login(staff)
    assert "others cannot see this text" in client.get(address).content.decode()
    page.delete()
    assert "written" not in client.get(address).content.decode()


def test_shipped_texts_link_to_pages_that_are_there(client, db):
    for name in shipped_names():
        for address in re.findall(r"\]\((/[^)]*)\)", shipped(name)):
            assert client.get(address, follow=True).status_code == 200, f"{name}: {address}"


def test_further_pages(client, db, staff):
    assert client.get("/pages/imprint/").status_code == 404
    page = Page.objects.create(slug="imprint", title="Imprint", body="Nothing is kept.")
    assert page.get_absolute_url() == "/pages/imprint/"
    assert "Nothing is kept." in client.get("/pages/imprint/").content.decode()
    assert client.get("/pages/about/")["Location"] == "/about/"
    assert client.get("/pages/home/")["Location"] == "/"
    page.published = False
    page.save()
    assert client.get("/pages/imprint/").status_code == 404
    client.force_login(staff)
    assert client.get("/pages/imprint/").status_code == 200


def test_home_begins_as_it_was_written_and_caches_ask_anew(client, board, owner, staff):
    first = client.get("/", headers={"Accept-Encoding": "gzip"})
    again = {"Accept-Encoding": "gzip", "If-None-Match": first["ETag"]}
    assert client.get("/", headers=again).status_code == 304
    page = Page.objects.create(slug="home", title="Welcome", body="To *us*.")
    changed = client.get("/", headers=again)
    assert changed.status_code == 200
    assert changed.context["welcome"].title == "Welcome"
    page.published = False
    page.save()
    assert "<h1>How well do models" in client.get("/").content.decode()
    client.force_login(staff)
    assert "<h1>Welcome</h1>" in client.get("/").content.decode()
    client.force_login(owner)
    assert "<h1>How well do models" in client.get("/").content.decode()


def test_news_at_home_are_the_newest_that_are_published(client, board, staff):
    before = client.get("/")
    now = timezone.now()
    for number in range(4):
        News.objects.create(
            slug=f"n{number}", title=f"Number {number}", body="x", draft=False, published=now - timedelta(days=number)
        )
    News.objects.create(slug="draft", title="A draft", body="x", published=now)
    later = News.objects.create(slug="later", title="Later", body="x", draft=False, published=now + timedelta(days=1))
    for who in (None, staff):  # also administrators see home as all do
        if who:
            client.force_login(who)
        answer = client.get("/", headers={"If-None-Match": before["ETag"]})
        assert [one.title for one in answer.context["news"]] == ["Number 0", "Number 1", "Number 2"]
        text = answer.content.decode()
        assert text.index("Number 0") < text.index("Number 2")
        assert "A draft" not in text
        assert "Later" not in text
    News.objects.filter(pk=later.pk).update(published=now)
    assert "Later" in client.get("/").content.decode()


def test_drafts_and_what_is_for_later_are_for_administrators(client, db, member, staff):
    now = timezone.now()
    draft = News.objects.create(slug="draft", title="A draft", body="quagga")
    later = News.objects.create(slug="later", title="Later", body="quagga", draft=False, published=now + timedelta(1))
    for who in (None, member):
        if who:
            client.force_login(who)
        assert client.get(draft.get_absolute_url()).status_code == 404
        assert client.get(later.get_absolute_url()).status_code == 404
        assert "A draft" not in client.get("/news/").content.decode()
        assert "Later" not in client.get("/news/").content.decode()
    client.force_login(staff)
    assert "This is a draft" in client.get(draft.get_absolute_url()).content.decode()
    assert "This will be public from" in client.get(later.get_absolute_url()).content.decode()
    assert "(draft)" in client.get("/news/").content.decode()
    feed = client.get("/news/feed/").content.decode()  # feed readers keep what they get, so drafts are never included
    assert "quagga" not in feed


def test_all_news_are_on_pages(client, db):
    for number in range(25):
        News.objects.create(
            slug=f"n{number}", title=f"N{number:02}", body="x", draft=False,
            published=timezone.now() - timedelta(days=number),
        )  # fmt: skip
    first, second = (client.get(f"/news/?page={number}").content.decode() for number in (1, 2))
    assert "N19" in first
    assert "N20" not in first
    assert "N24" in second
    assert client.get("/news/?page=nonsense").status_code == 200


def test_what_is_written_cannot_run(client, db, staff):
    Page.objects.create(slug="about", title="<script>alert(2)</script>", body=HOSTILE)
    news = News.objects.create(slug="x", title="<script>alert(3)</script>", body=HOSTILE, draft=False)
    for address in ("/about/", "/news/", news.get_absolute_url(), "/"):
        harmless(client.get(address).content.decode())
    feed = ElementTree.fromstring(client.get("/news/feed/").content)
    harmless(feed.find(f"{ATOM}entry/{ATOM}summary").text)


def moment(text):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", text), text
    return text


def test_the_feed_is_valid_atom(client, db):
    """What RFC 4287 asks of a feed and of each of its entries."""
    for number in range(2):
        News.objects.create(
            slug=f"n{number}", title=f"A < B & {number}\x0b", body="See [receipts](/tutorials/receipts/).\x0c",
            draft=False, published=timezone.now() - timedelta(days=number),
        )  # fmt: skip
    answer = client.get("/news/feed/", headers={"Host": "localhost"})
    assert answer["Content-Type"] == "application/atom+xml; charset=utf-8"
    feed = ElementTree.fromstring(answer.content)
    assert feed.tag == f"{ATOM}feed"
    entries = feed.findall(f"{ATOM}entry")
    assert [one.find(f"{ATOM}title").text for one in entries] == ["A < B & 0", "A < B & 1"]
    for element in (feed, *entries):
        for once in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{once}")) == 1
        moment(element.find(f"{ATOM}updated").text)
    assert feed.find(f"{ATOM}author/{ATOM}name").text
    links = {one.get("rel"): one.get("href") for one in feed.findall(f"{ATOM}link")}
    assert links == {"alternate": "http://localhost/news/", "self": "http://localhost/news/feed/"}
    assert feed.get("{http://www.w3.org/XML/1998/namespace}base") == "http://localhost/news/"
    identifiers = {one.find(f"{ATOM}id").text for one in entries}
    assert len(identifiers) == 2
    for entry in entries:
        assert entry.find(f"{ATOM}link").get("href").startswith("http://localhost/news/n")
        assert entry.find(f"{ATOM}summary").get("type") == "html"
        moment(entry.find(f"{ATOM}published").text)
    News.objects.filter(slug="n0").update(slug="renamed", title="Renamed")
    again = ElementTree.fromstring(client.get("/news/feed/").content)
    assert {one.find(f"{ATOM}id").text for one in again.findall(f"{ATOM}entry")} == identifiers


def test_feed_readers_find_the_feed(client, db):
    link = '<link rel="alternate" href="/news/feed/" type="application/atom+xml"'
    assert link in client.get("/").content.decode()
    assert ElementTree.fromstring(client.get("/news/feed/").content).findall(f"{ATOM}entry") == []


def test_administrators_write_pages(client, db, staff):
    client.force_login(staff)
    listed = client.get(reverse("admin:pages_page_changelist")).content.decode()
    assert all(f"?slug={name}" in listed for name in shipped_names())
    add = reverse("admin:pages_page_add")
    form = client.get(add, {"slug": "about"}).content.decode()
    assert 'value="About"' in form
    assert "What a score is" in form
    sent = {"slug": "about", "title": "About us", "body": "We are *here*.", "published": "on"}
    assert client.post(add, sent).status_code == 302
    page = Page.objects.get(slug="about")
    assert page.by == staff
    change = reverse("admin:pages_page_change", args=[page.pk])
    assert client.post(change, {**sent, "body": "We are *there*."}).status_code == 302
    assert "<em>there</em>" in client.get("/about/").content.decode()
    log = LogEntry.objects.filter(object_id=str(page.pk)).order_by("action_time")
    assert [(one.user, one.action_flag) for one in log] == [(staff, 1), (staff, 2)]
    assert "?slug=about" not in client.get(reverse("admin:pages_page_changelist")).content.decode()


def test_previews_save_nothing_and_are_for_who_may_write(client, db, staff, member):
    preview = reverse("admin:pages_page_preview")
    sent = {"title": "<b>T</b>", "body": f"*new*\n\n{HOSTILE}"}
    assert client.post(preview, sent).status_code == 302
    client.force_login(member)
    assert client.post(preview, sent).status_code == 302
    client.force_login(staff)
    text = client.post(preview, sent).content.decode()
    assert "<em>new</em>" in text
    assert "&lt;b&gt;T&lt;/b&gt;" in text
    assert "nothing has been saved" in text
    harmless(text)
    assert not Page.objects.exists()
    assert client.get(preview).status_code == 405
    news = reverse("admin:pages_news_preview")
    assert f'formaction="{news}"' in client.get(reverse("admin:pages_news_add")).content.decode()
    assert client.post(news, sent).status_code == 200


def test_no_news_take_the_address_of_the_feed(client, db, staff):
    client.force_login(staff)
    sent = {"title": "Feed", "slug": "feed", "body": "x", "published_0": "2026-01-01", "published_1": "10:00"}
    add = reverse("admin:pages_news_add")
    assert "at this address" in client.post(add, sent).content.decode()
    assert client.post(add, {**sent, "slug": "fed"}).status_code == 302
    assert News.objects.get().draft is False


def test_what_administrators_wrote_is_in_their_data(client, db, staff):
    Page.objects.create(slug="about", title="Ours", body="x", by=staff)
    News.objects.create(slug="new", title="New", body="x", by=staff)
    client.force_login(staff)
    found = client.get("/accounts/data/").json()
    assert [one["title"] for one in (*found["pages"], *found["news"])] == ["Ours", "New"]
    staff_of_before = staff.pk
    staff.delete()
    assert Page.objects.get().by is None
    assert News.objects.get().by_id != staff_of_before
