"""The pages as a browser shows them."""

import pytest

from brainscore_web.leaderboard.simulation import simulate_leaderboard
from brainscore_web.pages.documents import document_names
from brainscore_web.pages.models import News

from .._browsing import PHONE, barriers, follow, wait_until

PAGES = ("/", "/about/", "/citation/", "/competitions/", "/tutorials/", "/nothing/")
TEXTS = ("/faq/", "/community/", "/sponsors/", "/news/", "/news/new/")
TUTORIALS = ("runs", "performance")  # code, wide tables
NEWS = """## More

Of *this*, as long as `it` goes on: [a link](/about/).

> Said by somebody.

```python
from brainscore_vision import model_registry  # a comment

@property
def measure(self, *others: float, name="a", **more) -> bool:
    '''What it does.'''
    if not isinstance(self, Model) and None is True:
        raise ValueError(f"{name!r}: 1.5 and {2 + 3j}\\n")
    return -0.5 * len(others) >= 1e3
```

```console
$ brainscore score alexnet MajajHong2015.IT-pls --results "$HOME/results"
0.512 (95 %: 0.493–0.531)
```

```yaml
models: [alexnet, 'own=mine.py:make']
workers: 2
```

| model | a_name_so_long_that_no_phone_shows_it_whole | another_name_that_is_as_long_as_that |
|---|---|---|
| alexnet | 0.512 | 0.345 |
"""
"""Code in several languages, a wide table and whatever else Markdown makes."""


@pytest.fixture
def shown(transactional_db):
    News.objects.create(slug="new", title="Something new", body=NEWS, draft=False)
    return simulate_leaderboard(models=12, benchmarks=24, versions=1, private=0)


def test_nothing_bars_anyone(shown, new_page):
    page, wrong = new_page(refused=True), []
    for address in (*PAGES, *TEXTS, *(f"/tutorials/{name}/" for name in TUTORIALS)):
        wrong += barriers(page, address)
    page.set_viewport_size(PHONE)
    for name, _ in document_names():
        page.goto(f"/tutorials/{name}/")  # until the style sheets have arrived, which determine the width
        if (width := page.evaluate("document.documentElement.scrollWidth")) != PHONE["width"]:
            wrong.append(f"{name}: {width} pixels wide")
    assert not wrong, "\n".join(wrong)


def test_by_keyboard_to_the_content_and_a_preview_in_a_tab_of_its_own(transactional_db, new_page, staff):
    """The administration's form is sent to the preview without a script, under the security policy."""
    page = new_page(staff, refused=True)  # the administration has no icon
    page.goto("/about/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    wait_until(page, "document.activeElement.id === 'content'")

    page.goto("/admin/pages/page/add/?slug=faq")
    page.fill("[name=body]", "Is this *only* a preview?")
    with page.context.expect_page() as opened:
        page.click("text=Preview in a new tab")
    opened.value.wait_for_load_state()
    assert opened.value.inner_text("em") == "only"
    assert "nothing has been saved" in opened.value.inner_text("main")
    follow(page.locator("[name=_save]"))
    page.goto("/faq/")
    assert page.inner_text("em") == "only"
