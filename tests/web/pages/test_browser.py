"""The pages as a browser shows them."""

import pytest

from brainscore_web.leaderboard.simulated import fill
from brainscore_web.pages.documents import document_names
from brainscore_web.pages.models import News

axe = pytest.importorskip("axe_playwright_python.sync_playwright")

PAGES = ("/", "/about/", "/citation/", "/competitions/", "/tutorials/", "/nothing/")
TEXTS = ("/faq/", "/community/", "/sponsors/", "/news/", "/news/new/")
TUTORIALS = ("neural_benchmarks", "comparison", "metrics_coverage")  # code, tables, wide tables


@pytest.fixture
def shown(transactional_db):
    News.objects.create(slug="new", title="Something new", body="## More\n\nOf *this*.", draft=False)
    return fill(models=12, benchmarks=24, versions=1, private=0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_anyone(shown, browser, live_server, scheme):
    # axe is put into the page, which the security policy forbids
    context = browser.new_context(base_url=live_server.url, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    for address in (*PAGES, *TEXTS, *(f"/tutorials/{name}/" for name in TUTORIALS)):
        page.goto(address)
        found = axe.Axe().run(page)
        assert found.violations_count == 0, f"{address}: {found.generate_report()}"
    context.close()


def test_nothing_is_wider_than_a_phone(shown, browser, live_server):
    context = browser.new_context(base_url=live_server.url, viewport={"width": 360, "height": 740})
    page = context.new_page()
    for address in (*PAGES, *TEXTS, *(f"/tutorials/{name}/" for name, _ in document_names())):
        page.goto(address, wait_until="domcontentloaded")
        assert page.evaluate("document.documentElement.scrollWidth") == 360, address
    context.close()


def test_by_keyboard_to_the_content(shown, page):
    page.goto("/about/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_a_preview_is_shown_in_a_tab_of_its_own(transactional_db, browser, live_server, staff, client):
    """The administration's form is sent to the preview without a script, under the security policy."""
    client.force_login(staff)
    context = browser.new_context(base_url=live_server.url)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.goto("/admin/pages/page/add/?slug=faq")
    page.fill("[name=body]", "Is this *only* a preview?")
    with context.expect_page() as opened:
        page.click("text=Preview in a new tab")
    opened.value.wait_for_load_state()
    assert opened.value.inner_text("em") == "only"
    assert "nothing is saved" in opened.value.inner_text("main")
    page.click("[name=_save]")
    page.goto("/faq/")
    assert page.inner_text("em") == "only"
    context.close()
