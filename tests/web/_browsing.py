"""What keeps people from using a page: what axe finds, and what is too wide. And waiting for pages."""

import time

import pytest

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
LOOKS = ((PHONE, "light"), (DESK, "dark"))
_OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
_ONCE = """() => {
    const seen = new Set();
    for (const word of document.querySelectorAll("pre code span")) {
        if (seen.has(word.className)) word.replaceWith(...word.childNodes);
        else seen.add(word.className);
    }
}"""
"""Of the words of code in a page each colour is kept once: axe takes a millisecond for each of thousands."""
_RUN = """async ([context, options]) => (await axe.run(context, options)).violations.flatMap(
    (rule) => rule.nodes.map((node) => [rule.id, node.html]))"""
_WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_TABLES = """() => [...document.querySelectorAll("table")].flatMap((table) => {
    const {right, width} = table.getBoundingClientRect();
    const name = table.closest("[aria-label]")?.getAttribute("aria-label") || table.className;
    let box = table.parentElement;
    while (box.parentElement && getComputedStyle(box).overflowX === "visible") box = box.parentElement;
    const {overflowX, backgroundImage} = getComputedStyle(box);
    if (overflowX !== "auto" && overflowX !== "scroll")
        return width && right > box.getBoundingClientRect().right + 1 ? [`the table ${name} is cut off`] : [];
    const isShown = backgroundImage !== "none" || box.parentElement.matches(".frame");
    return box.scrollWidth > box.clientWidth && !isShown ? [`nothing shows that the table ${name} is wider`] : [];
})"""


def barriers(page, address=None, *, looks=LOOKS, opened=False, without=(), options=None):
    """Of an address, or of what is open: one line each. (Scripts and styles in a page are complaints of the browser.)

    Parameters
    ----------
    page : playwright.sync_api.Page
    address : str, optional
        Is opened first.
    looks : sequence of (dict, str)
        Sizes of the window and colour schemes, each looked at without loading the page again.
    opened : bool
        Whether to open what can be opened.
    without : sequence of str
        Selectors of parts that were looked at before.
    options : dict, optional
        Options of axe.
    """
    axe = pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT
    size, scheme = looks[0]
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    if address is not None:
        page.goto(address)
    if opened:
        page.evaluate(_OPEN)
    page.evaluate(_ONCE)
    page.evaluate(axe)
    page.wait_for_selector(".busy", state="detached")  # paler meanwhile
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((one) => one.finished))")
    context = {"include": [["html"]], "exclude": [[selector] for selector in without]}
    options = {"resultTypes": ["violations"], **(options or {})}
    lines = []
    for size, scheme in looks:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        where = f"{address or page.url}, {size['width']} pixels, {scheme}"
        for rule, html in page.evaluate(_RUN, [context, options]):
            lines.append(f"{where}: {rule}: {html}")
        lines += [f"{where}: {problem}" for problem in too_wide(page)]
    return lines


def too_wide(page):
    """Return what is wider than the window, tables that are cut off, and those that scroll without a sign of it."""
    wider = page.evaluate(_WIDER)
    return [*([f"{wider} pixels too wide"] if wider > 0 else []), *page.evaluate(_TABLES)]


def follow(target):
    """Click what leads to another page or part of it, and wait until that is loaded, which a click does not do."""
    with target.page.expect_navigation():
        target.click()


def wait_until(page, expression, seconds=30):
    """Until it is true in the page.

    (`wait_for_function` evaluates a text in the page from the second time on, which the policy of our pages forbids.)
    """
    until = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < until, f"never true: {expression}"
        page.wait_for_timeout(20)
