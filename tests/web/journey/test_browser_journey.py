"""Walks of a visitor, a modeller, an experimenter with a reviewer, and an administrator, on a fresh site with a worker.

``BRAINSCORE_SCREENSHOTS=docs/screenshots`` keeps the pictures that they take for the documentation.
"""

import email
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from email import policy
from pathlib import Path

import pytest
from PIL import Image

from .._browsing import barriers, follow
from .._plugins import benchmark_files, model_files, zipped
from .material import DATA_TEST, NAME, packages

ADMINISTRATOR, PASSWORD = "administrator@example.org", "correct horse battery"
PATIENCE = 900_000  # milliseconds; tests and scores are computed meanwhile, and what fails ends the wait
pytestmark = [
    pytest.mark.slow(reason="follows a submission through server, worker and browser", first=True),
    pytest.mark.skipif(
        not os.environ.get("CI") and shutil.which("bwrap") is None,
        reason="needs bubblewrap, which keeps submitted code apart",
    ),
]


class Site:
    """The example site, as `brainscore serve` starts it on a machine without results; here with a single pair."""

    def __init__(self, folder):
        self.mail = folder / "mail"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BRAINSCORE_", "DJANGO_"))}
        kept.pop("DATABASE_URL", None)
        self.environment = {
            **kept,
            "BRAINSCORE_SITE_HOME": str(folder / "site"),
            "BRAINSCORE_HOME": str(folder / "home"),
            "BRAINIO_HOME": str(folder / "brainio"),
            "BRAINSCORE_SITE_MAIL": f"file://{self.mail}",
            "BRAINSCORE_SITE_SCORED_MODELS": "pixels",
            "BRAINSCORE_SITE_SCORED_BENCHMARKS": "Simulated2026.V1-rdm",
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "PYTHONUNBUFFERED": "1",
            "OMP_NUM_THREADS": "1",
        }
        self.mail.mkdir()
        drawn = Path(os.environ["BRAINSCORE_HOME"], "simulated2026")
        if drawn.is_dir():  # the stimuli of the example, which take seconds
            (folder / "home").mkdir()
            (folder / "home" / drawn.name).symlink_to(drawn)
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "brainscore", "serve", "--port", "0"],
                env=self.environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        until = time.monotonic() + 300
        while not (found := re.search(r"at (http://\S+?)/ ", self.log.read_text())):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.05)
        self.url = found[1]
        self.environment["BRAINSCORE_SITE_HOME"] = str(folder / "site-example")
        self.environment["BRAINSCORE_SITE_RESULTS"] = str(folder / "site-example" / "results")
        with urllib.request.urlopen(f"{self.url}/", timeout=300):  # its web processes may still be starting
            pass

    def command(self, *arguments):
        """One of the site's own commands."""
        subprocess.run(
            [sys.executable, "-m", "brainscore_web", *arguments], env=self.environment, check=True, timeout=300
        )

    def letters(self, to, subject):
        """What was written to somebody; waits for the first."""
        until = time.monotonic() + PATIENCE / 1000
        while True:
            texts = [email.message_from_bytes(path.read_bytes(), policy=policy.default) for path in self._mails()]
            found = [one.get_content() for one in texts if one["To"] == to and subject in one["Subject"]]
            if found:
                return found
            assert time.monotonic() < until, f"no letter about {subject!r} to {to}"
            time.sleep(0.05)

    def _mails(self):
        return sorted((path for path in self.mail.iterdir() if path.stat().st_size), key=lambda path: path.name)

    def end(self):
        """Stop it as Ctrl-C would."""
        os.kill(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(120)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """One for all walks of a process, which do not build on each other."""
    folder = tmp_path_factory.mktemp("journey")
    folder.chmod(0o755)
    made = Site(folder)
    made.command("createsuperuser", "--noinput", "--email", ADMINISTRATOR)
    yield made
    made.end()


@pytest.fixture
def person(browser, site):
    """Opens a browser of somebody's own; what it complains of fails the test."""
    contexts, complaints = [], []

    def complain(note):
        if note.type == "error" and not note.location["url"].endswith("/favicon.ico"):  # which the administration lacks
            complaints.append(f"{note.text} ({note.location['url']})")

    def opened():
        context = browser.new_context(base_url=site.url, viewport={"width": 1280, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        page.on("console", complain)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints, complaints


def sign_up(page, site, address, name):
    page.goto("/")
    follow(page.locator("text=Sign up").first)
    page.fill("[name=email]", address)
    page.fill("[name=display_name]", name)
    page.fill("[name=password1]", PASSWORD)
    page.check("[name=consent]")
    follow(page.locator("main button").first)
    page.wait_for_url("**/accounts/confirm-email/")
    page.goto(re.search(r"http://\S+", site.letters(address, "onfirm")[0])[0])
    follow(page.locator("text=This is my address").first)
    page.wait_for_url("**/accounts/profile/")


def log_in(page, address):
    page.goto("/accounts/login/")
    page.fill("[name=login]", address)
    page.fill("[name=password]", PASSWORD)
    follow(page.locator("main button").first)
    page.wait_for_url("**/accounts/profile/")


DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
SHAPES = {"": (DESK, "light"), "_dark": (DESK, "dark"), "_phone": (PHONE, "light")}


def picture(page, name):
    """A page on a desktop in light and dark colours and on a phone, without barriers, and with its notice."""
    assert "scored on simulated measurements" in page.inner_text(".demonstration")
    assert barriers(page, looks=tuple(SHAPES.values())) == []
    if folder := os.environ.get("BRAINSCORE_SCREENSHOTS"):
        for ending, (size, scheme) in SHAPES.items():
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            drawn = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            drawn.quantize(128).save(Path(folder) / f"walk_{name}{ending}.png", optimize=True)
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")


def tab_to(page, selector):
    """Press Tab until an element has the focus that matches."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the keyboard does not reach {selector} on {page.url}")


def upload(page, folder):
    """From the profile to the code that is to be copied."""
    files = packages(folder)
    page.goto("/accounts/profile/")
    follow(page.locator("text=Upload data").first)
    page.fill("[name=identifier]", NAME)
    follow(page.locator("main button.main").first)
    page.wait_for_url(re.compile("/uploads/[0-9a-f-]{36}/$"))
    page.set_input_files("#all", [str(files[kind]) for kind in ("csv", "zip", "nc")])
    page.click("text=Upload and check")
    page.wait_for_selector("#code", timeout=PATIENCE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")
    page.wait_for_selector("text=Copied.")
    return page.evaluate("navigator.clipboard.readText()")


def choose(page, files, name):
    page.set_input_files("[name=archive]", {"name": name, "mimeType": "application/zip", "buffer": zipped(files)})


def wait_until(page, words):
    """Wait until nothing goes on by itself any more, without a click; then the page says so in these words."""
    page.wait_for_selector(".standing:is(.changes, .review, .done)", timeout=PATIENCE)
    assert words in page.inner_text(".standing"), page.inner_text("#progress")


def aspects(page, fine):
    for name in ("code", "science", "data", "ceiling", "tests", "documentation"):
        page.check(f"[name=aspect-{name}][value={fine.get(name, 'fine')}]")


def scores(page, **asked):
    answer = page.request.get("/api/v1/scores", params=asked)
    assert answer.ok, answer.text()
    return {(one["model"], one["benchmark"]): one for one in answer.json()["items"]}


def test_a_newcomer_brings_data_a_benchmark_and_another_a_model(person, site, tmp_path):
    """The model is submitted with the keyboard only."""
    newcomer, reviewer, visitor = person(), person(), person()

    sign_up(newcomer, site, "newcomer@example.org", "Nora Newcomer")
    copied = upload(newcomer, tmp_path / "packages")
    files = {
        "data/newcomer2026/__init__.py": copied,
        "data/newcomer2026/test.py": DATA_TEST,
        **benchmark_files(f"{NAME}-pls", name="newcomer2026", study=NAME, select=""),
    }
    newcomer.goto("/tutorials/")
    picture(newcomer, "tutorials")
    follow(newcomer.locator("text=Submit a benchmark").first)
    choose(newcomer, files, "newcomer2026.zip")
    newcomer.fill("[name=note]", "Simulated cells. Expected score of pixels: about 0.47.")
    follow(newcomer.locator("main button.main").first)
    newcomer.wait_for_url(re.compile("/submissions/[0-9a-f-]{36}/$"))
    submission = newcomer.url
    assert newcomer.locator(".findings .error").count() == 0
    wait_until(newcomer, "waiting for a reviewer")
    picture(newcomer, "submission")

    log_in(reviewer, ADMINISTRATOR)
    reviewer.goto("/vision/leaderboard/")
    assert reviewer.inner_text("header .count").startswith("1")
    follow(reviewer.locator("header a:has-text('Review')").first)
    picture(reviewer, "review")
    follow(reviewer.locator("text=newcomer2026").first)
    follow(reviewer.locator("text=Review this").first)
    reviewer.wait_for_selector("#verdict")
    code = reviewer.locator("details.file", has_text="benchmarks/newcomer2026/benchmark.py").first
    code.locator("summary", has_text="Comment").last.click()
    code.locator("[name=line]").last.fill("3")
    code.locator("[name=text]").last.fill("Why these trials?")
    follow(code.get_by_role("button", name="Comment").last)
    reviewer.wait_for_selector("text=Why these trials?")
    aspects(reviewer, {"documentation": "not"})
    reviewer.fill("[name=text] >> nth=-1", "Please say in the docstring that the cells are simulated.")
    follow(reviewer.locator("text=Request changes").first)
    reviewer.wait_for_selector("text=hanges requested")
    assert not visitor.request.get(f"/api/v1/benchmarks/{NAME}-pls").ok  # nothing of it is there yet

    assert any("simulated" in text for text in site.letters("newcomer@example.org", "hange"))
    newcomer.goto(submission)
    assert "Please say in the docstring" in newcomer.inner_text("main")
    follow(newcomer.get_by_role("link", name="Send a new revision"))
    path = "benchmarks/newcomer2026/benchmark.py"
    files[path] = files[path].replace(f"representations of {NAME}.", f"representations of {NAME}, simulated cells.")
    choose(newcomer, files, "newcomer2026-again.zip")
    follow(newcomer.locator("main button.main").first)
    newcomer.wait_for_url(re.compile("/submissions/[0-9a-f-]{36}/$"))
    wait_until(newcomer, "waiting for a reviewer")
    follow(newcomer.locator("a:has-text('Changes')").first)
    assert "simulated cells" in newcomer.inner_text("main")

    reviewer.goto(submission.replace("/submissions/", "/review/"))
    assert "Why these trials?" in reviewer.inner_text("main")
    aspects(reviewer, {})
    follow(reviewer.locator("button:has-text('Approve')").first)
    reviewer.wait_for_selector("text=pproved")

    newcomer.goto(submission)
    wait_until(newcomer, "It is done.")
    assert "1 scored" in newcomer.inner_text("#steps + ol")
    assert "1 scored" in site.letters("newcomer@example.org", "is done")[0]
    found = scores(visitor, benchmark=f"{NAME}-pls")
    assert set(found) == {("pixels", f"{NAME}-pls")}
    assert 0.4 < found["pixels", f"{NAME}-pls"]["value"] < 0.55
    visitor.goto(f"/vision/benchmark/{NAME}-pls/")
    assert "Nora Newcomer" in visitor.inner_text("main")  # credit where it is due
    follow(visitor.locator("text=On the leaderboard").first)
    visitor.locator(f"text={NAME}").locator("visible=true").first.wait_for()

    modeller = person()
    sign_up(modeller, site, "modeller@example.org", "Mo Modeller")
    submit_with_the_keyboard(modeller, model_files("tiles-16", size=16))
    wait_until(modeller, "It is done.")
    found = scores(visitor, model="tiles-16")
    assert set(found) == {("tiles-16", f"{NAME}-pls"), ("tiles-16", "Simulated2026.V1-rdm")}
    assert all(one["state"] == "scored" for one in found.values())
    modeller.goto("/")
    tab_to(modeller, "a[href='/submissions/']")
    modeller.keyboard.press("Enter")
    modeller.wait_for_url("**/submissions/")
    assert "tiles_16" in modeller.inner_text("main")
    picture(modeller, "submissions")
    visitor.goto("/vision/leaderboard/")
    visitor.wait_for_selector("text=tiles-16")


def submit_with_the_keyboard(modeller, files):
    """From the profile to the page of the submission, without a mouse."""
    tab_to(modeller, "a[href='/submissions/new/']")
    modeller.keyboard.press("Enter")
    modeller.wait_for_url("**/submissions/new/")
    picture(modeller, "submit")
    modeller.on("filechooser", lambda chooser: None)  # a chooser is intercepted only some time after this call
    tab_to(modeller, "[name=archive]")
    with modeller.expect_file_chooser() as chooser:
        modeller.keyboard.press("Space")
    chooser.value.set_files([{"name": "tiles.zip", "mimeType": "application/zip", "buffer": zipped(files)}])
    tab_to(modeller, "main button.main")
    modeller.keyboard.press("Enter")
    modeller.wait_for_url(re.compile("/submissions/[0-9a-f-]{36}/$"))


def scored_example(page):
    """Wait until the worker has scored the pair of the example."""
    until = time.monotonic() + PATIENCE / 1000
    while not (found := scores(page, model="pixels", benchmark="Simulated2026.V1-rdm")):
        assert time.monotonic() < until, "the example has not been scored"
        time.sleep(2)  # the API answers 120 requests a minute
    return found["pixels", "Simulated2026.V1-rdm"]


def test_a_visitor_finds_the_scores_and_what_they_mean(person, site):
    visitor = person()
    visitor.goto("/")
    if "There are no scores yet" in visitor.inner_text("main"):
        visitor.goto("/vision/leaderboard/")
        assert "No model has been scored yet" in visitor.inner_text("main")
    assert scored_example(visitor)["state"] == "scored"
    visitor.goto("/")
    assert "There are no scores yet" not in visitor.inner_text("main")
    picture(visitor, "home")
    visitor.set_viewport_size(PHONE)
    assert not visitor.is_visible("text=Tutorials")
    tab_to(visitor, "#menu-switch")
    visitor.keyboard.press("Space")
    if folder := os.environ.get("BRAINSCORE_SCREENSHOTS"):
        visitor.screenshot(path=Path(folder) / "walk_menu_phone.png")
    tab_to(visitor, "a[href='/tutorials/']")
    visitor.keyboard.press("Enter")
    visitor.wait_for_url("**/tutorials/")
    visitor.set_viewport_size(DESK)
    follow(visitor.locator("text=How certain a score is").first)
    follow(visitor.locator("text=Tutorials").first)
    follow(visitor.locator("text=Open the leaderboard").first)
    visitor.wait_for_selector("th.model >> text=pixels")
    picture(visitor, "leaderboard")
    follow(visitor.locator("th.model >> text=pixels").first)
    visitor.wait_for_url("**/vision/model/pixels/")
    assert '("pixels"' in visitor.inner_text("main")
    picture(visitor, "model")


def test_an_administrator_watches_scoring_and_publishes_news(person, site):
    administrator = person()
    log_in(administrator, ADMINISTRATOR)
    scored_example(administrator)
    follow(administrator.locator("header a:has-text('Scoring')").first)
    administrator.wait_for_url("**/scoring/")
    assert "Simulated2026.V1-rdm" in administrator.inner_text("main")
    picture(administrator, "scoring")
    follow(administrator.locator("header a:has-text('Administration')").first)
    administrator.wait_for_url("**/admin/")
    administrator.goto("/admin/pages/news/add/")
    administrator.fill("[name=title]", "The example is scored")
    administrator.fill("[name=slug]", "example-scored")
    administrator.fill("[name=body]", "On *simulated* measurements.")
    administrator.uncheck("[name=draft]")
    follow(administrator.locator("[name=_save]"))
    visitor = person()
    visitor.goto("/")
    follow(visitor.locator("text=The example is scored").first)
    assert visitor.inner_text("article em") == "simulated"
