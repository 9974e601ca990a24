"""The leaderboard in a real browser."""

import csv
import re
from datetime import timedelta

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from playwright.sync_api import expect

from brainscore_core.formatting import count_text
from brainscore_core.training_data import MARKS
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.exposure import EXPOSURES
from brainscore_web.leaderboard.models import BenchmarkVersion, Score, VisionModel
from brainscore_web.leaderboard.payload import rounded, rounded_limits
from brainscore_web.leaderboard.simulation import simulate_leaderboard
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.scoring.models import RemoteResult, RemoteWorker

from .._browsing import DESK, barriers, follow, too_wide, wait_until

PAGE = "/vision/leaderboard/"


def shown(**state):
    return board_for(snapshot_for(AnonymousUser()), BoardState(**state))


def visit(page, query=""):
    page.goto(PAGE + query)
    expect(page.locator("#leaderboard.live")).to_be_attached()
    expect(page.locator("td.waiting")).to_have_count(0)


def open_panel(page, name):
    """Open a panel of the toolbar."""
    page.locator(".toolbar summary", has_text=name).click()


def names(page):
    """Models in the order they stand in the table."""
    return page.locator("table.board tbody th.model a").evaluate_all("links => links.map(link => link.title)")


def heads(page):
    return page.locator("table.board thead th").evaluate_all("cells => cells.map(cell => cell.textContent)")


def expected(**state):
    return [model.title for model in shown(**state).models]


def expect_order(page, wanted):
    expect(page.locator("table.board tbody th.model a")).to_have_text(wanted)


def active(page):
    """Row and column of the cell that has the focus."""
    return page.evaluate(
        "() => (({row, column, first}) => [Number(row), Number(first || column)])(document.activeElement.dataset)"
    )


def test_what_the_script_shows_is_what_the_server_does(board, page, new_page):
    without = new_page(java_script_enabled=False)
    without.goto(PAGE)
    visit(page)
    assert names(page) == names(without) == expected()
    assert [text.replace(" benchmarks", "") for text in heads(page)] == [
        re.sub(r"(Open|Close) .*?, | benchmarks", "", text) for text in heads(without)
    ]
    texts = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent.trim()))"
    rows = "table.board tbody tr"
    said = re.compile("(undefined|not applicable|failed|outdated|missing|no rank|too few scores)$")
    assert page.locator(rows).evaluate_all(texts) == [
        [said.sub("", text) for text in row] for row in without.locator(rows).evaluate_all(texts)
    ]
    assert page.locator("table.board").get_attribute("role") == "grid"

    numbers = [0.5119, -0.02, 999.9994, 1000, 1005, 1015, -1005, 99950, 123456.789, 1e12]
    counts = [950, 999499, 999500, 1125000, 1135000, 9994999, 25550000, 999500000, 1500000000]
    assert page.evaluate(
        """async ([numbers, counts]) => {
            const {shown, countText} = await import("/static/leaderboard/table.js");
            return [numbers.map(shown), counts.map(countText)];
        }""",
        [numbers, counts],
    ) == [[rounded(number) for number in numbers], [count_text(count) for count in counts]]

    # every order, too
    opened = tuple(node.identifier for node in shown().nodes if node.kind != "benchmark")
    visit(page, "?" + BoardState(open=opened).query())
    orders = page.evaluate(
        """async () => {
            const {decode, byColumn, byRank, byName} = await import("/static/leaderboard/table.js");
            const data = await (await fetch("/vision/leaderboard/data.json" + location.search)).json();
            const {id} = data.models;
            const made = {rank: byRank(data.models, false), "-rank": byRank(data.models, true),
                          model: byName(id.length, false), "-model": byName(id.length, true)};
            for (const [name, sent] of Object.entries(data.columns)) {
                made[name] = byColumn(decode(sent, id.length), id.length, false);
                made["-" + name] = byColumn(decode(sent, id.length), id.length, true);
            }
            return Object.fromEntries(Object.entries(made).map(([name, rows]) => [name, rows.map(row => id[row])]));
        }"""
    )
    assert len(orders) > 60
    for sort, order in orders.items():
        assert order == [model.identifier for model in shown(sort=sort).models], sort


def test_columns_and_orders(board, page):
    """Columns open and close; a click sorts."""
    visit(page)
    before = heads(page)
    page.get_by_role("button", name="Open V1, ").click()
    made = shown()
    below = [node.identifier for node in made.nodes if node.parent == made.place("V1")]
    for identifier in below:
        title = made.nodes[made.place(identifier)].title
        expect(page.locator("thead th", has_text=title).first).to_be_attached()
    assert "open=V1" in page.url
    expect(page.locator("td.waiting")).to_have_count(0)
    leaf = next(
        at for at, node in enumerate(made.nodes) if node.parent == made.place("V1") and node.kind == "benchmark"
    )
    column = page.locator(f"thead th:has([data-sort='{made.nodes[leaf].identifier}'])").get_attribute("data-column")
    shown_values = page.locator(f"tbody td[data-column='{column}'].value").all_inner_texts()
    assert shown_values == [rounded(value) for value in made.values[:, leaf] if rounded(value)]
    page.get_by_role("button", name="Close V1, ").click()
    expect(page.get_by_role("button", name="Open V1, ")).to_be_visible()
    assert heads(page) == before
    open_panel(page, "View")
    page.locator("#open-all").click()
    expect(page.locator("td.waiting")).to_have_count(0)
    expect(page.locator("thead button.open .plus")).to_have_count(0)
    page.locator("#close-all").click()
    expect(page.locator("thead button.open .minus")).to_have_count(0)

    visit(page)
    page.get_by_role("button", name="V1", exact=True).click()
    expect_order(page, expected(sort="V1"))
    assert page.url.endswith("?sort=V1")
    header = page.locator("th:has([data-sort='V1'])")
    expect(header).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="V1", exact=True).click()
    expect_order(page, expected(sort="-V1"))
    expect(header).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Model", exact=True).click()
    expect_order(page, expected(sort="model"))
    page.get_by_role("button", name="Rank", exact=True).click()
    expect_order(page, expected())
    assert "?" not in page.url


def test_filters_and_values(board, page):
    """Filters, picks of the tree, raw values, scored means, days, and searches with their errors."""
    visit(page)
    page.locator("summary", has_text="Filters").click()
    page.locator(".filters").get_by_label("vit").check()
    expect(page.locator("#counts")).to_have_text("3 of 11 models, 24 of 24 benchmarks")
    assert names(page) == expected(family=("vit",))
    page.get_by_label("public data only").check()
    n_public = sum(node.kind == "benchmark" for node in shown(access="public").nodes)
    expect(page.locator("#counts")).to_have_text(f"3 of 11 models, {n_public} of 24 benchmarks")
    assert "family=vit" in page.url
    assert "access=public" in page.url
    expect(page.locator("#chosen")).to_have_text("2")
    column = page.locator("th:has([data-sort='average_vision'])").get_attribute("data-column")
    made = shown(family=("vit",), access="public")
    place = made.place("average_vision")
    texts = [" ".join(text.split()) for text in page.locator(f"tbody td[data-column='{column}']").all_inner_texts()]
    marks = [MARKS[EXPOSURES[code]] for code in made.exposure[:, place]]
    assert texts == [
        " ".join(filter(None, (rounded(value), mark.sign and f"{mark.sign} {mark.text}", rounded_limits(low, high))))
        for value, mark, low, high in zip(
            made.values[:, place], marks, made.low[:, place], made.high[:, place], strict=True
        )
    ]
    assert len(set(marks)) > 1
    page.get_by_label("ceiling from").fill("2")
    expect(page.locator("#empty")).to_contain_text("No benchmark passes.")
    expect(page.locator("#hint")).to_be_hidden()
    expect(page.locator("#scroller")).to_be_hidden()
    page.keyboard.press("Escape")  # closes the panel
    page.get_by_role("link", name="Reset").click()
    expect(page.locator("#counts")).to_have_text("11 of 11 models, 24 of 24 benchmarks")
    expect(page.locator(".filters").get_by_label("vit")).not_to_be_checked()
    assert page.url.endswith(PAGE)

    visit(page)
    page.locator("summary", has_text="Filters").click()
    page.get_by_role("link", name="Include or exclude parts of the tree").click()
    page.get_by_role("checkbox", name="without Behavior").check()
    made = shown(exclude=("behavior_vision",))
    n_left = sum(node.kind == "benchmark" for node in made.nodes)
    expect(page.locator("#counts")).to_have_text(f"11 of 11 models, {n_left} of 24 benchmarks")
    expect(page.locator("thead", has_text="Behavior")).to_have_count(0)

    visit(page)
    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Training on the stimuli").select_option("clean")
    expect(page.locator("td .exposure")).to_have_count(0)
    expect(page.locator("#notes")).to_contain_text("left out by the filter on training")
    assert names(page) == expected(exposure="clean")
    assert "exposure=clean" in page.url

    visit(page)
    first = page.locator("tbody tr").first.locator("td.value").first
    open_panel(page, "View")
    page.get_by_text("raw", exact=True).click()
    expect(first).to_contain_text(rounded(shown(values="raw").values[0, 0]))
    page.get_by_text("scored", exact=True).click()
    expect(first).to_contain_text(rounded(shown(values="raw", over="scored").values[0, 0]))
    page.get_by_label("As of").fill("2024-03-01")
    expect(page.locator("#counts")).to_contain_text(", as of 2024-03-01")
    assert page.url.endswith("?values=raw&over=scored&at=2024-03-01")
    page.get_by_label("intervals").check()
    expect(page.locator("#scroller")).to_have_class(re.compile("with-errors"))
    assert "errors=1" in page.url

    visit(page)
    field = page.get_by_label("Search models", exact=True)
    field.fill("vit OR (resnet")
    expect(page.locator("#problem")).to_contain_text("parenthesis")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert names(page) == expected()  # as before
    field.fill("vit OR (resnet NOT 001)")
    expect(page.locator("#problem")).to_be_hidden()
    expect_order(page, expected(q="vit OR (resnet NOT 001)"))
    assert field.get_attribute("aria-invalid") is None
    field.fill("nobody")
    expect(page.locator("#empty")).to_have_text("No model passes. Without the search, 11 models would.")


def test_tabs_select_benchmarks_and_chips_remove_filters(board, page, new_page, owner):
    visit(page, "?family=vit")
    tabs, chips = page.locator("#presets a"), page.locator("#chips a")
    expect(page.locator("#presets [aria-current]")).to_have_text("All")
    tabs.get_by_text("IT", exact=True).click()
    expect(page.locator("#presets [aria-current]")).to_have_text("IT")
    expect_order(page, expected(family=("vit",), include=("IT",)))
    assert page.url.endswith("?family=vit&include=IT")
    expect(chips).to_have_text(["family: vit ×: remove", "only: IT ×: remove"])
    chips.first.click()
    expect_order(page, expected(include=("IT",)))
    open_panel(page, "Filters")
    page.locator(".filters").get_by_label("vit").check()  # the form does not list benchmarks yet
    expect(chips).to_have_count(2)
    page.get_by_role("link", name="Include or exclude parts of the tree").click()
    expect(page.get_by_role("checkbox", name="only IT")).to_be_checked()
    page.locator(".filters").get_by_label("vit").uncheck()
    expect_order(page, expected(include=("IT",)))
    page.keyboard.press("Escape")
    # the means above are those of the same benchmarks, and have no columns
    expect(page.locator("thead th.mean .name", has_text="Mean of IT")).to_have_count(1)
    whiskers = page.locator("tbody .whisker").count()
    made = shown(include=("IT",))
    assert whiskers == (np.isfinite(made.low[:, 0]) & np.isfinite(made.high[:, 0])).sum() > 0
    page.get_by_role("link", name="Reset").click()
    expect(page.locator("#active")).to_be_hidden()
    assert page.url.endswith(PAGE)

    page = new_page(java_script_enabled=False)
    page.goto(PAGE + "?include=IT")
    assert page.locator("tbody .whisker").count() == whiskers
    assert page.locator("#presets [aria-current]").inner_text() == "IT"
    page = new_page(owner, java_script_enabled=False)
    page.goto(PAGE + "?family=vit")
    follow(page.locator("#presets a", has_text="My models"))
    expect(page.locator("#chips a")).to_have_text(["my models ×: remove", "family: vit ×: remove"])
    assert page.url.endswith("?mine=1&family=vit")


def test_links_steps_back_and_downloads(board, page, new_page):
    """The address says what is shown; the browser's buttons go through it; downloads follow it."""
    visit(page)
    page.get_by_label("Search models", exact=True).fill("simulated NOT vit")
    expect(page.locator("#counts")).to_contain_text("8 of 11")
    page.get_by_role("button", name="Open IT, ").click()
    page.get_by_role("button", name="V4", exact=True).click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_panel(page, "Share")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#says")).to_have_text("Link copied")
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert link == page.url
    for script in (True, False):
        other = new_page(java_script_enabled=script)
        other.goto(link)
        if script:
            expect(other.locator("#leaderboard.live")).to_be_attached()
            assert heads(other) == heads(page)
        assert names(other) == names(page)
        assert other.get_by_label("Search models", exact=True).input_value() == "simulated NOT vit"

    visit(page)
    page.get_by_role("button", name="V1", exact=True).click()
    page.get_by_label("Search models", exact=True).fill("vi")
    expect(page).to_have_url(re.compile("q=vi(&|$)"))
    page.get_by_label("Search models", exact=True).press("t")  # one word, one step
    expect(page).to_have_url(re.compile("q=vit(&|$)"))
    expect(page.locator("#counts")).to_contain_text("3 of 11")
    page.go_back()
    expect(page.locator("#counts")).to_contain_text("11 of 11")
    expect(page.get_by_label("Search models", exact=True)).to_have_value("")
    expect_order(page, expected(sort="V1"))
    page.go_back()
    expect_order(page, expected())
    page.go_forward()
    page.go_forward()
    expect(page.get_by_label("Search models", exact=True)).to_have_value("vit")
    expect_order(page, expected(q="vit", sort="V1"))

    visit(page, "?family=vit")
    page.get_by_role("button", name="V2", exact=True).click()
    open_panel(page, "Share")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [row["model"] for row in table] == [model.identifier for model in shown(family=("vit",), sort="V2").models]
    for name in ("Parquet", "BibTeX"):
        href = page.get_by_role("link", name=name).get_attribute("href")
        assert href.endswith("?family=vit&sort=V2")


def test_keys(board, page):
    visit(page)
    page.locator(".toolbar summary").last.focus()
    page.keyboard.press("Tab")
    row, column = active(page)  # one stop: the grid
    assert row < 0
    assert column == 0
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    row, column = active(page)
    assert row < 0
    assert column == 3
    page.keyboard.press("ArrowUp")
    assert "Global Score" in page.evaluate("() => document.activeElement.textContent")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert active(page) == [0, 3]
    page.keyboard.press("End")
    made = shown()
    last = sum(node.shown for node in made.nodes) + 2
    assert active(page) == [0, last]
    page.keyboard.press("Home")
    assert active(page) == [0, 0]
    page.keyboard.press("Control+End")
    assert active(page) == [10, last]
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    assert active(page)[0] <= 0
    page.keyboard.press("Control+Home")
    v1 = int(page.locator("th:has([data-sort='V1'])").get_attribute("data-column"))
    for _ in range(v1):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("s")
    expect_order(page, expected(sort="V1"))
    assert active(page) == [-1, v1]
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Close V1, ")).to_be_attached()
    assert "open=V1" in page.url
    expect(page.locator(":focus")).to_contain_text("Mean of V1")  # the same column
    page.keyboard.press("ArrowUp")
    expect(page.locator(":focus")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Open V1, ")).to_be_attached()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    name = shown(sort="V1").models[0].identifier
    with page.expect_navigation(url=re.compile(f"/vision/model/{name}/")):
        page.keyboard.press("Enter")
    page.go_back()
    expect(page.locator("#leaderboard.live")).to_be_attached()


def test_the_focus_stays_while_what_it_is_on_scrolls_away(db, page):
    simulate_leaderboard(models=80, benchmarks=24, private=0)
    visit(page)
    page.locator("tbody td[data-row='2'][data-column='3']").click()
    page.evaluate("() => document.getElementById('scroller').scrollTo(0, 1e6)")
    expect(page.locator("tbody td[data-row='79']").first).to_be_attached()
    expect(page.locator("tbody td[data-row='2']")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect(page.locator(":focus")).to_have_attribute("data-row", "3")
    assert active(page) == [3, 3]
    page.keyboard.press("PageDown")
    row, column = active(page)
    assert row > 8
    assert column == 3


def test_details(board, page):
    """Of a cell, by mouse and by keys, and of a header; they stay at the cell and close."""
    visit(page)
    made, inspector = shown(), page.locator("#inspector")
    cell = page.locator("tbody td[data-row='0'][data-column='3']")
    expect(inspector).to_be_hidden()
    cell.click()
    expect(inspector.locator("strong")).to_have_text(f"{made.models[0].title} · Global Score")
    value, low, high = (part[0, 0] for part in (made.values, made.low, made.high))
    expect(inspector).to_contain_text(f"ceiled {value:.3f} (95 %: {low:.3f}–{high:.3f})")
    assert distance(cell, inspector) < 12
    expect(inspector.locator("a")).to_have_text(["Model", "Mean", "About training on stimuli", "Link to these details"])
    expect(inspector.locator("a").first).to_have_attribute("href", f"/vision/model/{made.models[0].identifier}/")
    page.keyboard.press("ArrowDown")
    expect(inspector).to_contain_text(made.models[1].title)
    assert distance(page.locator(":focus"), inspector) < 12
    page.locator("h1").click()
    expect(inspector).to_be_hidden()
    cell.hover()
    assert cell.get_attribute("title").startswith("0.")

    cell.click()
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(inspector.locator("a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(inspector).to_be_hidden()
    expect(cell).to_be_focused()
    page.keyboard.press("Control+Home")
    for _ in range(int(page.locator("th:has([data-sort='V1'])").get_attribute("data-column"))):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("i")
    v1 = made.place("V1")
    expect(inspector.locator("strong")).to_have_text("V1")
    facts = inspector.locator(".facts li").all_inner_texts()
    assert facts[:2] == [f"{made.nodes[v1].n_benchmarks} benchmarks", f"best {rounded(made.node_best[v1])}"]
    inspector.get_by_role("button", name="Close").click()
    expect(inspector).to_be_hidden()

    follow(page.get_by_title("What ranks mean"))
    assert page.url.endswith("#ranks")
    expect(page.locator("#ranks")).to_be_visible()  # the legend, which was folded
    assert names(page) == expected()


def distance(cell, panel):
    """Pixels between a cell and what is below or above it."""
    box, other = cell.bounding_box(), panel.bounding_box()
    gap = max(other["y"] - box["y"] - box["height"], box["y"] - other["y"] - other["height"])
    assert gap >= 0, "the panel hides the cell"
    return gap


def test_models_are_chosen_and_columns_shown(board, page):
    visit(page)
    made = shown()
    first, second, third = (made.models[row].identifier for row in range(3))
    page.get_by_label(f"Choose {first}").check()
    page.get_by_label(f"Choose {second}").focus()
    page.locator("tbody th.model[data-row='1']").click(position={"x": 200, "y": 10})
    page.keyboard.press(" ")
    expect(page.get_by_label(f"Choose {second}")).to_be_checked()
    open_panel(page, "View")
    page.get_by_label("Parameters").check()
    page.get_by_label("Scored: number").uncheck()
    assert page.url.endswith("?show=parameters")
    texts = page.locator("tbody td.fact").all_inner_texts()
    assert texts == [count_text(model.parameters) for model in made.models]
    page.locator(".board [data-sort='parameters']").click()
    expect_order(page, expected(sort="parameters"))
    follow(page.get_by_role("button", name="Compare 2 chosen models"))
    page.wait_for_url("**/vision/compare/**")
    assert page.inner_text("h2") == f"{first} − {second}"  # in the order in which they were chosen
    page.go_back()
    expect(page.locator("#leaderboard.live")).to_be_attached()
    assert names(page) == expected(sort="parameters")
    visit(page)
    page.get_by_label(f"Choose {third}").check()
    follow(page.get_by_role("button", name="Show only these"))
    page.wait_for_url("**/vision/leaderboard/?models=**")
    expect_order(page, [third])


SCROLLED = """() => new Promise((done) => {
    document.getElementById("scroller").scrollTo(300, 0);
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""


def test_phone(board, new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.locator("#scroller").bounding_box()["y"] < 600  # on the first screen
    frame = page.locator("#scroller").bounding_box()
    columns = (
        page.locator("tbody tr")
        .first.locator("td.value")
        .evaluate_all("cells => cells.map((cell) => cell.getBoundingClientRect().right)")
    )
    assert sum(right <= frame["x"] + frame["width"] for right in columns) >= 3
    rank, model = page.locator("tbody td.rank b").nth(1), page.locator("tbody th.model").nth(1)
    inside, before = rank.bounding_box(), model.bounding_box()
    assert before["x"] <= inside["x"] < before["x"] + before["width"]  # one column
    assert distance(rank, page.locator("tbody th.model a").nth(1)) >= 0
    page.evaluate(SCROLLED)
    assert model.bounding_box()["x"] == before["x"]
    made, inspector = shown(), page.locator("#inspector")
    rank.tap()
    expect(inspector).to_contain_text(
        "rank 2, " + (f"between {made.best[1]} and {made.worst[1]}" if made.best[1] else "not tested")
    )
    cell = page.locator("tbody tr").nth(1).locator("td.value").last
    cell.tap()
    expect(inspector).to_contain_text("ceiled")
    assert distance(cell, inspector) < 12
    of_panel = inspector.bounding_box()
    assert 0 <= of_panel["x"] <= 390 - of_panel["width"]
    page.locator("summary", has_text="Filters").tap()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.locator(".filters").get_by_label("vit").tap()
    expect(page.locator("#counts")).to_contain_text("3 of 11 models")


def test_printing_shows_all_rows_and_columns(db, page):
    simulate_leaderboard(models=60, benchmarks=24, versions=1, private=0)
    page.set_viewport_size({"width": 1030, "height": 700})  # A4, landscape
    visit(page, "?errors=1")
    open_panel(page, "View")
    page.locator("#open-all").click()
    expect(page.locator("td.waiting")).to_have_count(0)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = page.locator(".printed .board")
    names_of = "tables => tables.map(table => [...table.querySelectorAll('tbody th a')].map(link => link.title))"
    assert printed.evaluate_all(names_of) == [expected()] * printed.count()
    n_columns = "tables => tables.map(table => table.tBodies[0].rows[0].cells.length - 2)"
    assert sum(printed.evaluate_all(n_columns)) == sum(node.shown for node in shown(open=all_nodes()).nodes) + 1
    assert too_wide(page) == []
    expect(page.locator("#ask")).to_be_hidden()
    expect(page.locator("#ranks")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(printed).to_have_count(0)
    expect(page.locator("#ranks")).to_be_hidden()


CONTRASTS = """() => {
    const pixel = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
        .getContext("2d", {willReadFrequently: true});
    const rgb = (text) => {
        pixel.fillStyle = text;
        pixel.fillRect(0, 0, 1, 1);
        return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = text => rgb(text).map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
        .reduce((sum, x, at) => sum + x * [.2126, .7152, .0722][at], 0);
    const host = document.querySelector("table.board tbody tr");
    return Array.from({length: 10}, (_, shade) => {
        const cell = host.insertCell();
        cell.className = `value s${shade}`;
        const style = getComputedStyle(cell);
        const [ink, back] = [light(style.color), light(style.backgroundColor)];
        cell.remove();
        return [back, (Math.max(ink, back) + .05) / (Math.min(ink, back) + .05)];
    });
}"""


RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def test_everybody_can_read_it(board, page, new_page):
    """Light and dark, with what opens open and closed, and where the script does not come."""
    visit(page)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate(CONTRASTS)
        assert min(contrast for _, contrast in found) >= 4.5
        steps = [back for back, _ in found]
        assert steps == sorted(steps, reverse=scheme == "light")  # more stands out more from the page
        assert len(set(steps)) == 10
        paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(253, 253, 252)") == (scheme == "light")

    looks, wrong = [(DESK, "light"), (DESK, "dark")], []
    wrong += barriers(page, looks=looks, options=RULES)
    open_panel(page, "View")
    page.locator("#open-all").click()
    page.get_by_label("intervals").check()
    expect(page.locator("td.waiting")).to_have_count(0)
    wrong += barriers(page, looks=looks, options=RULES)
    page.locator("summary", has_text="How to read it").click()
    page.locator("tbody td[data-row='0'][data-column='4']").click()
    expect(page.locator("#inspector")).to_contain_text("rank")
    wrong += barriers(page, looks=looks, options=RULES)
    open_panel(page, "Filters")
    page.get_by_role("link", name="Include or exclude parts of the tree").click()
    page.locator(".filters").get_by_label("vit").check()
    expect(page.locator("#chips")).to_contain_text("family: vit")
    wrong += barriers(page, looks=looks, options=RULES, without=["table.board"])
    page.keyboard.press("Escape")
    page.get_by_label("Search models", exact=True).fill("(")
    expect(page.locator("#problem")).to_be_visible()
    wrong += barriers(page, looks=looks, options=RULES, without=["table.board"])

    page = new_page(refused=True)
    page.route("**/leaderboard/page.js", lambda route: route.abort())
    wrong += barriers(page, PAGE, looks=looks[:1])
    assert not wrong, "\n".join(wrong)


def test_without_a_script(board, new_page):
    page = new_page(java_script_enabled=False, refused=True)
    page.goto(PAGE)
    follow(page.get_by_title("Sort by V1"))
    assert names(page) == expected(sort="V1")
    follow(page.get_by_title(re.compile("^Open: ")).first)
    assert names(page) == expected(sort="V1")
    assert page.get_by_title(re.compile("^Close: ")).count() == 3
    page.get_by_label("Search models", exact=True).fill("vit")
    follow(page.get_by_role("button", name="Apply").first)
    assert names(page) == expected(sort="V1", q="vit")
    assert page.get_by_title(re.compile("^Close: ")).count() == 3
    made, row = shown(sort="V1", q="vit"), 1
    follow(page.locator("tbody tr").nth(row).locator("td.value a").first)
    expect(page.locator("h1")).to_have_text(f"{made.models[row].title} · Global Score")
    expect(page.locator("main")).to_contain_text(f"(95 %: {made.low[row, 0]:.3f}–{made.high[row, 0]:.3f})")
    follow(page.locator(".path a"))
    assert set(names(page)) == set(expected(q="vit"))
    page.get_by_label("Search models", exact=True).fill("vit)")
    follow(page.get_by_role("button", name="Apply").first)
    expect(page.locator("#problem")).to_contain_text("parenthesis")


def test_new_benchmarks_are_marked(board, page, new_page):
    """Those whose version was first seen within ninety days; none if all are."""
    name = "Simulated000.V1-pls"
    current = BenchmarkVersion.objects.filter(benchmark__identifier=name, version="2")
    for days, marked in ((89, [name]), (90, [])):
        current.update(since=timezone.now() - timedelta(days=days))
        revision.bump()
        for script in (True, False):
            view = new_page(java_script_enabled=script)
            view.goto(f"{PAGE}?include=V1")
            expect(view.locator("thead th:not(.mean):has(.new) .name")).to_have_text(marked)
            expect(view.locator(".legend .new")).to_have_count(len(marked))
    BenchmarkVersion.objects.update(since=timezone.now())
    revision.bump()
    visit(page, "?include=V1")
    expect(page.locator("thead .new")).to_have_count(0)


def test_trouble(board, new_page):
    """A lost connection, data that keep changing, and a change in the meantime."""
    page = new_page(refused=True)
    visit(page)
    page.route("**/data.json*", lambda route: route.abort())
    page.get_by_label("Search models", exact=True).fill("vit")
    expect(page.get_by_role("alert").filter(has_text="could not be loaded")).to_be_visible()
    assert names(page) == expected()
    page.unroute("**/data.json*")
    page.get_by_role("button", name="Try again").click()
    expect_order(page, expected(q="vit"))
    expect(page.locator("#trouble")).to_be_hidden()
    page.route("**/columns.json*", lambda route: route.fulfill(status=500, body=""))
    page.get_by_role("button", name="Open V1, ").click()
    expect(page.locator("#trouble")).to_contain_text("the server responded with 500")
    page.unroute("**/columns.json*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("td.waiting")).to_have_count(0)

    page = new_page()
    page.clock.install()
    visit(page)
    asked = []

    def other(route):
        asked.append(route.request.url)
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "revision": f"another {len(asked)}"})

    def without_columns(route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "columns": {}})

    page.route("**/columns.json*", other)
    page.route("**/data.json*", without_columns)
    page.get_by_role("button", name="Open V1, ").click()
    expect(page.locator("#trouble")).to_contain_text("the data keep changing")
    n_asked = len(asked)
    page.clock.fast_forward(60_000)
    page.evaluate("fetch(location.href)")  # what was asked before that has come to the route by now
    assert len(asked) == n_asked == 4
    page.unroute("**/columns.json*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("td.waiting")).to_have_count(0)

    page = new_page()
    visit(page)
    gone = expected()[0]
    VisionModel.objects.get(identifier=gone).delete()
    page.get_by_role("button", name="Open V1, ").click()
    expect(page.locator("#counts")).to_contain_text("10 of 10 models")
    expect(page.locator("td.waiting")).to_have_count(0)
    assert gone not in names(page)


def test_five_hundred_models_on_three_hundred_benchmarks(db, page):
    simulate_leaderboard(models=500, benchmarks=300, private=0)
    visit(page)
    sizes = page.evaluate(
        """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
            .map(entry => entry.transferSize)"""
    )
    assert min(sizes) >= 0
    assert sum(sizes) < 200_000  # scripts and styles are not even compressed here
    open_panel(page, "View")
    page.locator("#open-all").click()
    expect(page.locator("td.waiting")).to_have_count(0)
    count = "() => document.querySelectorAll('table.board td, table.board th').length"
    for left, top in ((0, 0), (9000, 3000), (15000, 7000), (1e6, 1e6), (0, 1e6), (1e6, 0)):
        page.evaluate("([left, top]) => document.getElementById('scroller').scrollTo(left, top)", [left, top])
        wait_until(  # drawn with the next frame
            page,
            """() => {
                const box = document.getElementById("scroller").getBoundingClientRect();
                const [x, y] = [box.left + .6 * box.width, box.top + .8 * box.height];
                return document.elementFromPoint(x, y).closest("td")?.dataset.row;
            }""",
        )
        assert page.evaluate(count) < 1500  # of more than 150 000
    page.evaluate("() => document.getElementById('scroller').scrollTo(0, 1e6)")
    wait_until(  # rows are drawn anew meanwhile; a bar to scroll may be between
        page,
        """() => {
            const last = document.querySelector("tbody td.rank[data-row='499']");
            const ends = one => one.getBoundingClientRect().bottom;
            return last && Math.abs(ends(last) - ends(document.getElementById("scroller"))) < 20;
        }""",
    )
    expect(page.locator("td.waiting")).to_have_count(0)
    assert page.locator("table.board").get_attribute("aria-rowcount") == str(500 + len_levels())
    page.get_by_label("Search models", exact=True).fill("vit")
    expect(page.locator("#counts")).to_have_text("125 of 500 models, 300 of 300 benchmarks")


def all_nodes():
    return tuple(node.identifier for node in shown().nodes)


def len_levels():
    from brainscore_web.leaderboard.page import heads_of

    return len(heads_of(shown(open=all_nodes()).nodes).levels)


def test_scores_of_remote_workers_are_marked(board, page, new_page):
    snapshot = snapshot_for(AnonymousUser())
    worker = RemoteWorker.objects.create(name="lab")
    scored = np.argwhere(snapshot.state == 0)[:40:4]
    keys = [int(snapshot.score[row, column]) for row, column in scored]
    for number, score in enumerate(Score.objects.filter(pk__in=keys)):
        state = "contradicted" if number % 3 == 0 else "not verified"
        RemoteResult.objects.create(receipt=score.receipt, worker=worker, state=state)
    revision.bump()
    opened = "".join(f"&open={node.identifier}" for node in shown().nodes if node.kind == "mean")
    query = f"?unscored=1&coverage=0{opened}"
    visit(page, query)
    marks = page.locator("table.board tbody .unverified").all_inner_texts()
    assert {"‡", "‼"} <= {mark[0] for mark in marks}
    expect(page.locator(".legend")).to_contain_text("computed by a remote worker, and not repeated by this site")
    assert barriers(page) == []
    without = new_page(java_script_enabled=False)
    without.goto(PAGE + query)
    cells = "cells => cells.map(cell => cell.textContent.replace(/\\s+/g, ' '))"
    of_server = without.locator("table.board tbody td:has(.unverified)").evaluate_all(cells)
    assert of_server
    assert set(page.locator("table.board tbody td:has(.unverified)").evaluate_all(cells)) <= set(of_server)
