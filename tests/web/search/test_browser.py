"""The search in a browser: suggestions by keyboard, without scripts, accessibility."""

from brainscore_web.leaderboard.simulation import simulate_leaderboard
from brainscore_web.search.index import refresh

from .._browsing import LOOKS, PHONE, barriers, wait_until


def test_suggestions_lead_to_pages_by_the_keyboard(transactional_db, new_page):
    made = simulate_leaderboard(models=12, benchmarks=24, versions=1, private=0)
    refresh()
    page = new_page()
    page.goto("/about/")
    page.keyboard.press("/")
    page.keyboard.type(made.models[3][:-3])
    page.wait_for_selector("#site-search-suggestions [role=option]")
    assert not barriers(page, looks=LOOKS[1:])
    page.keyboard.press("ArrowDown")
    selected = page.get_attribute("#site-search", "aria-activedescendant")
    assert page.get_attribute(f"#{selected}", "aria-selected") == "true"
    page.keyboard.press("Escape")
    assert page.locator("#site-search-suggestions").is_hidden()
    page.fill("#site-search", made.models[3])
    page.wait_for_selector("#site-search-suggestions [role=option]")
    page.keyboard.press("ArrowDown")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.endswith(f"/vision/model/{made.models[3]}/")
    page.set_viewport_size(PHONE)
    page.locator("body").press("/")
    wait_until(page, "document.activeElement.id === 'site-search'")


def test_the_form_works_without_scripts(transactional_db, new_page):
    refresh()
    page = new_page(java_script_enabled=False)
    page.goto("/about/")
    page.fill("#site-search", "sponsors")
    with page.expect_navigation():
        page.press("#site-search", "Enter")
    assert page.locator("h2", has_text="Pages").count() == 1
    assert not barriers(new_page(), page.url.removeprefix(page.url.split("/search")[0]))
