"""Pages of reviewers in a browser: nothing for axe to find, nothing wider than a phone, one whole review."""

import pytest

from brainscore_web.submissions.models import Plugin
from brainscore_web.submissions.review.comments import anchor_of

from .._browsing import barriers, follow
from ._made import add_revision, benchmark_files, make

PATH = "benchmarks/author2026/benchmark.py"
FINDINGS = [
    {"severity": "error", "check": "hash", "file": PATH, "line": 5, "message": "no hash <b>", "remedy": "give one"},
    {"severity": "note", "check": "size", "file": PATH, "line": None, "message": "it is small", "remedy": ""},
]
WIDE = {"benchmarks/author2026/wide.py": "x = '" + "wide " * 300 + "'\n" + "y = 1\n" * 30}


@pytest.fixture
def reviewed(people):
    """A submission with two revisions, comments, findings, a verdict; its plugin is live in another."""
    live = make(people["rita"], state="done")
    Plugin.objects.create(kind="benchmarks", name="author2026", owner=people["rita"], revision=live.latest)
    submission = make(people["sam"])
    first = submission.latest
    first.comments.create(author=people["rita"], path=PATH, line=4, text="Why?\n\nSo.")
    first.comments.create(author=people["sam"], path=PATH, line=4, text="Because.")
    first.comments.create(author=people["rita"], text="In general: " + "long" * 60)
    first.reviews.create(
        reviewer=people["rita"], verdict="changes", text="Nearly.", aspects={"code": {"fine": False, "note": "tabs"}}
    )
    files = {**benchmark_files(version=2), **WIDE, "benchmarks/author2026/picture.png": b"\x89PNG\0\0"}
    add_revision(submission, files, number=2, findings=FINDINGS)
    return submission


def test_every_page(new_page, reviewed, people):
    page, below = new_page(people["rob"]), f"/review/{reviewed.pk}/"
    wrong = barriers(page, f"{below}2/", opened=True)
    others = ("/review/?state=all", f"{below}1/", f"{below}2/changes/", f"{below}2/changes/?to=live")
    for address in (*others, f"{below}2/file/?path={PATH}"):
        wrong += barriers(page, address)
    assert not wrong, "\n".join(wrong)


def test_a_review(new_page, people):
    """From the queue to a request for changes, as a reviewer does it."""
    submission = make(people["sam"])
    page = new_page(people["rita"])
    page.goto("/review/")
    follow(page.locator("text=benchmarks/author2026").first)
    follow(page.locator("text=Review this").first)
    page.wait_for_selector("text=You are now reviewing it.")
    file = page.locator(f"details.file:has(summary:has-text('{PATH}'))")
    number = file.locator(".no a").nth(3)
    number.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.name") == "text"
    page.keyboard.press("Escape")
    assert number.evaluate("one => one === document.activeElement")
    file.locator(".code").nth(6).click()
    file.locator(".code").nth(3).click()  # the form is where the last line was chosen
    form = file.locator("tr.said form.say")
    assert form.locator("input[name=line]").input_value() == "4"
    line = form.evaluate("one => one.closest('tr').previousElementSibling.id")
    assert line == anchor_of(PATH, 4)
    form.locator("textarea").fill("Why regression?")
    follow(form.locator("button[type=submit]"))
    page.wait_for_selector(".thread:target >> text=Why regression?")
    follow(page.locator("text=Request changes").first)
    page.wait_for_selector("text=changes requested. Its submitter gets an e-mail.")
    submission.refresh_from_db()
    assert submission.state == "changes"
    assert submission.latest.comments.get().line == 4


def test_a_line_without_scripts(new_page, people):
    """The form below the file asks for the number of the line; numbers of lines are links to them."""
    submission = make(people["sam"])
    page = new_page(people["rita"], java_script_enabled=False)
    page.goto(f"/review/{submission.pk}/1/")
    file = page.locator(f"details.file:has(summary:has-text('{PATH}'))")
    assert not file.locator(".hint").is_visible()
    file.locator("summary:has-text('Comment')").click()
    file.locator("input[name=line]").fill("4")
    file.locator("form.say textarea").fill("Why?")
    follow(file.locator("form.say button"))
    assert submission.latest.comments.get().line == 4
