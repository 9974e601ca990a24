"""Uploads in a browser: real packages, with and without scripts, for everybody's eyes, on a phone."""

import re

import pytest
from django.test import Client

from .conftest import NAME


@pytest.fixture
def logged_in(uploader, live_server, page):
    client = Client()
    client.force_login(uploader)
    cookie = {"name": "sessionid", "value": client.session.session_key, "url": live_server.url}
    page.context.add_cookies([cookie])
    return cookie


def test_a_member_uploads_packages(logged_in, page, packages, in_a_process, db):
    """From the profile to the code, in four steps."""
    from brainscore_web.uploads.models import Upload

    page.goto("/accounts/profile/")
    page.click("text=Upload data")
    page.fill("[name=identifier]", NAME)
    page.click("main button.main")
    page.wait_for_url(re.compile("/uploads/[0-9a-f-]{36}/$"))
    page.set_input_files("#all", [str(packages.csv), str(packages.zip), str(packages.nc)])
    page.click("text=Upload and check")
    page.wait_for_selector("#code", timeout=60_000)
    upload = Upload.objects.get()
    assert upload.state == "accepted"
    code = page.inner_text("#code")
    assert all(file.version_id in code and file.sha256 in code for file in upload.files.all())
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")
    page.wait_for_selector("text=Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == code.strip()
    compile(copied, "__init__.py", "exec")


def test_mistakes_are_told_before_anything_is_sent(logged_in, page, packages, start, tmp_path):
    upload = start()
    page.goto(f"/uploads/{upload.pk}/")
    wrong = tmp_path / "a.exe"
    wrong.write_bytes(b"MZ")
    page.set_input_files("#all", str(wrong))
    page.click("text=Upload and check")
    page.wait_for_selector("text=ends in none of")
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * 500_001)
    page.set_input_files("#file-csv", str(large))
    page.click("text=Upload the CSV")
    page.wait_for_selector("text=is larger than")
    page.set_input_files("#file-csv", str(packages.csv))
    page.click("text=Upload the CSV")
    page.wait_for_selector("text=there, ")
    assert upload.files.get().size == packages.csv.stat().st_size


def test_without_scripts(logged_in, browser, live_server, packages, uploader):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    context.add_cookies([logged_in])
    page = context.new_page()
    page.set_default_timeout(20_000)
    try:
        page.goto("/uploads/new/")
        page.fill("[name=identifier]", NAME)
        page.click("main button.main")
        for kind in ("csv", "zip", "nc"):
            page.set_input_files(f"#file-{kind}", str(packages.all[kind]))
            page.fill(f"#sha1-{kind}", packages.sha1[kind])
            page.click(f"text=Upload the {kind.upper()}")
        page.click("text=Check the files")
        assert "stimulus_set_registry" in page.inner_text("#code")
        page.click("text=Withdraw this upload")
        page.click("main button.main")
        assert "is withdrawn" in page.inner_text("main")
    finally:
        context.close()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_every_page(logged_in, browser, live_server, start, send, accepted, client, packages, width, scheme):
    """Nothing for axe to find, nothing wider than a phone, no script or style in the page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    refused, checking = start(), start(state="checking")
    send(refused, "csv", b"no,ids\n1,2\n")
    client.post(f"/uploads/{refused.pk}/check/")
    done = accepted()
    draft = start()
    send(draft, "csv", packages.csv)
    type(checking).objects.filter(pk=checking.pk).update(claim="x", claimed=checking.created)
    keys = {one: f"/uploads/{one.pk}/" for one in (refused, checking, done, draft)}
    context = browser.new_context(
        base_url=live_server.url, viewport={"width": width, "height": 700}, color_scheme=scheme, bypass_csp=True
    )
    context.add_cookies([logged_in])
    page = context.new_page()
    page.set_default_timeout(20_000)
    wrong = []
    try:
        for address in ("/uploads/", "/uploads/new/", *keys.values(), f"{keys[done]}withdraw/", "/accounts/profile/"):
            page.goto(address)
            found = [f"{one['id']}: {one['nodes'][0]['html']}" for one in axe.run(page).response["violations"]]
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if wide > 0:
                found.append(f"{wide} pixels too wide")
            if page.evaluate("document.querySelectorAll('script:not([src]), style, [style]').length"):
                found.append("scripts or styles in the page")
            wrong += [f"{address}: {one}" for one in found]
    finally:
        context.close()
    assert not wrong, "\n".join(wrong)


def test_a_page_says_when_checks_are_done(logged_in, page, start):
    upload = start(state="checking")
    type(upload).objects.filter(pk=upload.pk).update(claim="x", claimed=upload.created)
    page.goto(f"/uploads/{upload.pk}/")
    assert "is being checked" in page.inner_text("#state")
    found = [{"file": "a.csv", "check": "ragged table", "culprit": "line 3", "remedy": "mend", "severity": "error"}]
    type(upload).objects.filter(pk=upload.pk).update(state="refused", findings=found)
    page.wait_for_selector("text=Error: ragged table")
