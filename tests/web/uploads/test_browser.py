"""Uploads in a browser: real packages, with and without scripts, accessibility, and on a phone."""

import pytest

from tests.web._browsing import barriers, follow

from .conftest import NAME


@pytest.fixture
def page(uploader, new_page):
    """A page of a member who may upload."""
    return new_page(uploader)


def test_mistakes_are_shown_before_anything_is_sent_and_then_the_result(page, packages, start, tmp_path):
    upload = start()
    page.goto(f"/uploads/{upload.pk}/")
    wrong = tmp_path / "a.exe"
    wrong.write_bytes(b"MZ")
    page.set_input_files("#all", str(wrong))
    page.click("text=Upload and check")
    page.wait_for_selector("text=does not end in")
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * 500_001)
    page.set_input_files("#file-csv", str(large))
    page.click("text=Upload the CSV")
    page.wait_for_selector("text=is larger than")
    page.set_input_files("#file-csv", str(packages.csv))
    page.click("text=Upload the CSV")
    page.wait_for_selector("text=uploaded, ")
    assert upload.files.get().size == packages.csv.stat().st_size

    upload = start(state="checking")
    type(upload).objects.filter(pk=upload.pk).update(claim="x", claimed=upload.created)
    page.goto(f"/uploads/{upload.pk}/")
    assert "being checked" in page.inner_text("#state")
    found = [{"file": "a.csv", "check": "ragged table", "culprit": "line 3", "remedy": "repair", "severity": "error"}]
    type(upload).objects.filter(pk=upload.pk).update(state="refused", findings=found)
    page.wait_for_selector("text=Error: ragged table")


def test_without_scripts(new_page, packages, uploader):
    page = new_page(uploader, java_script_enabled=False)
    page.goto("/uploads/new/")
    page.fill("[name=identifier]", NAME)
    follow(page.locator("main button.main").first)
    for kind in ("csv", "zip", "nc"):
        page.set_input_files(f"#file-{kind}", str(packages.all[kind]))
        page.fill(f"#sha1-{kind}", packages.sha1[kind])
        follow(page.locator(f"text=Upload the {kind.upper()}").first)
    follow(page.locator("text=Check the files").first)
    assert "stimulus_set_registry" in page.inner_text("#code")
    follow(page.locator("text=Withdraw this upload").first)
    follow(page.locator("main button.main").first)
    assert "is withdrawn" in page.inner_text("main")


def test_every_page(page, start, send, accepted, client, packages):
    """Nothing for axe to find, nothing wider than a phone, no script or style in the page."""
    refused, checking = start(), start(state="checking")
    send(refused, "csv", b"no,ids\n1,2\n")
    client.post(f"/uploads/{refused.pk}/check/")
    done = accepted()
    draft = start()
    send(draft, "csv", packages.csv)
    type(checking).objects.filter(pk=checking.pk).update(claim="x", claimed=checking.created)
    keys = {one: f"/uploads/{one.pk}/" for one in (refused, checking, done, draft)}
    wrong = []
    for address in ("/uploads/", "/uploads/new/", *keys.values(), f"{keys[done]}withdraw/", "/accounts/profile/"):
        wrong += barriers(page, address)
    assert not wrong, "\n".join(wrong)
