"""A competition from its first form to its winners, in a browser; and the accessibility of its pages."""

import io
import os
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from PIL import Image

from brainscore_web.accounts.models import User
from brainscore_web.competitions.models import Competition, Entry
from brainscore_web.leaderboard.models import Benchmark, VisionModel

from .._browsing import LOOKS, barriers, follow

PASSWORD = "correct horse battery"


@pytest.fixture
def people(transactional_db):
    User.objects.create_superuser("boss@example.org", PASSWORD, display_name="Boss")
    ada = User.objects.create_user("ada@example.org", PASSWORD, display_name="Ada")
    EmailAddress.objects.create(user=ada, email=ada.email, verified=True, primary=True)
    return ada


@pytest.fixture
def scored(people, put):
    """Two benchmarks of Ada's that two models were scored on, and those of 2024."""
    from tests.web.competitions.test_past import BAKER, COGGAN, MODELS

    put({"Ada2031.V1-pls": {"alexnet": 0.2, "pixels": 0.1}, "Ada2031.V4-pls": {"alexnet": 0.7, "pixels": "failed"}})
    for number, name in enumerate([*BAKER[:2], *COGGAN[:2]]):
        put({name: dict.fromkeys(MODELS, 0.1 + number / 10)})
    put({BAKER[2]: {**dict.fromkeys(MODELS, 0.1), "pixels": "failed"}})
    for region in ("V1", "V4"):
        Benchmark.objects.filter(identifier=f"Ada2031.{region}-pls").update(owner=people, region=region)
    return people


def log_in(page, email):
    page.context.clear_cookies()
    page.goto("/accounts/login/")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    follow(page.get_by_role("button", name="Log in"))
    page.wait_for_url("**/accounts/profile/")


def test_from_the_first_form_to_the_winners(scored, page):
    log_in(page, "boss@example.org")
    page.goto("/competitions/")
    follow(page.get_by_role("link", name="Start a competition"))
    for label, text in (
        ("Name in its address", "okapi"), ("Year", "2031"), ("Title", "Okapi Cup"),
        ("Summary", "Benchmarks that break."), ("What it is about", "It is about *stripes*."), ("Prize pool", "5000"),
    ):  # fmt: skip
        page.get_by_label(label, exact=True).fill(text)
    follow(page.get_by_role("button", name="Save"))
    follow(page.get_by_role("link", name="Add a track"))
    page.get_by_label("Title", exact=True).fill("Stripes")
    page.get_by_label("Scored on").fill("alexnet\npixels")
    page.get_by_label("Prizes", exact=True).fill("3000\n2000")
    page.get_by_label("Regions").fill("V1, V4")
    follow(page.get_by_role("button", name="Save"))
    follow(page.get_by_role("link", name="Edit Dates"))
    page.get_by_label("Kind").first.select_option("deadline")
    page.get_by_label("Title").first.fill("Entries until")
    page.get_by_label("Announced dates").first.fill("2131-06-30\n2131-07-08")
    follow(page.get_by_role("button", name="Save"))
    follow(page.get_by_role("link", name="Preview"))
    assert page.get_by_text("This is a draft that only organisers can see.").is_visible()
    assert page.locator("em", has_text="stripes").is_visible()
    follow(page.get_by_role("link", name="Organise"))
    follow(page.get_by_role("button", name="Publish"))

    log_in(page, "ada@example.org")
    for name in ("Ada2031.V1-pls", "Ada2031.V4-pls"):
        page.goto("/competitions/okapi/")
        assert page.locator("del").inner_text() == "June 30, 2131"
        follow(page.get_by_role("link", name="Enter the Stripes"))
        page.get_by_label("Your entry").select_option(label=name)
        follow(page.get_by_role("button", name="Enter"))
        assert page.get_by_text(f"{name} has entered Stripes.").is_visible()
    page.get_by_role("button", name="Log out")
    table = page.get_by_role("region", name="Standings of Stripes").inner_text()
    assert "0.150" in table
    assert "$3,000" in table
    assert page.get_by_text("failed: pixels (RuntimeError: out of luck)").is_visible()
    follow(page.get_by_role("link", name="Withdraw Ada2031.V4-pls"))
    page.get_by_label("Reason").fill("wrong stimuli")
    follow(page.get_by_role("button", name="Withdraw"))
    assert page.get_by_text("withdrawn: wrong stimuli").is_visible()

    log_in(page, "boss@example.org")
    page.goto("/competitions/okapi/manage/")
    follow(page.get_by_role("link", name="Freeze the standings"))
    follow(page.get_by_role("button", name="Freeze"))
    follow(page.get_by_role("button", name="Create awards"))
    assert page.get_by_text("Awards created from the frozen standings: 1.").is_visible()
    follow(page.get_by_role("button", name="Announce the winners"))
    page.context.clear_cookies()
    page.goto("/competitions/okapi/")
    assert page.get_by_role("heading", name="Winners").is_visible()
    assert page.get_by_text("Ada ($3,000)").is_visible()
    assert page.get_by_text("Frozen on").is_visible()
    assert page.get_by_role("link", name="Enter the Stripes").count() == 0
    assert Competition.objects.get(slug="okapi").snapshots.count() == 1


def test_a_competition_of_models_is_closed_decided_and_awarded(people, put, page):
    """Two teams share the first place, and the organisers decide on their prizes."""
    put({"Zoo.V1-pls": {"ada-net": 0.4, "ben-net": 0.2}, "Zoo.IT-pls": {"ada-net": 0.2, "ben-net": 0.4}})
    ben = User.objects.create_user("ben@example.org", PASSWORD, display_name="Ben")
    EmailAddress.objects.create(user=ben, email=ben.email, verified=True, primary=True)
    VisionModel.objects.filter(identifier="ada-net").update(owner=people)
    VisionModel.objects.filter(identifier="ben-net").update(owner=ben)

    log_in(page, "boss@example.org")
    page.goto("/competitions/new/")
    for label, text in (
        ("Name in its address", "zebra"), ("Year", "2031"), ("Title", "Zebra Cup"), ("Summary", "Models of stripes."),
    ):  # fmt: skip
        page.get_by_label(label, exact=True).fill(text)
    follow(page.get_by_role("button", name="Save"))
    follow(page.get_by_role("link", name="Add a track"))
    page.get_by_label("Title", exact=True).fill("Stripes")
    page.get_by_label("Competes").select_option("models")
    page.get_by_label("Wins").select_option("highest")
    page.get_by_label("Scored on").fill("# V1\nZoo.V1-pls\n# IT\nZoo.IT-pls")
    page.get_by_label("Prizes", exact=True).fill("1000\n500")
    page.get_by_label("Entries that share a place").uncheck()
    keep(page, "walk_track")
    follow(page.get_by_role("button", name="Save"))
    follow(page.get_by_role("link", name="Edit Dates"))
    for number, (kind, day) in enumerate((("opens", "2130-01-01"), ("deadline", "2131-06-30"))):
        page.get_by_label("Kind").nth(number).select_option(kind)
        page.get_by_label("Title").nth(number).fill(f"Entries: {kind}")
        page.get_by_label("Announced dates").nth(number).fill(day)
    follow(page.get_by_role("button", name="Save"))
    follow(page.get_by_role("button", name="Publish"))
    assert page.get_by_text("To accept them earlier, change it under Dates.").is_visible()
    follow(page.get_by_role("link", name="Edit Dates"))
    page.get_by_label("Announced dates").first.fill("2130-01-01\n2026-01-01")
    follow(page.get_by_role("button", name="Save"))
    keep(page, "walk_open")

    for email, name in (("ada@example.org", "ada-net"), ("ben@example.org", "ben-net")):
        log_in(page, email)
        page.goto("/competitions/zebra/")
        follow(page.get_by_role("link", name="Enter the Stripes"))
        page.get_by_label("Your entry").select_option(label=name)
        keep(page, f"walk_enter_{name}")
        follow(page.get_by_role("button", name="Enter"))
        assert page.get_by_text(f"{name} has entered Stripes.").is_visible()
    assert "0.300" in page.get_by_role("region", name="Standings of Stripes").inner_text()

    log_in(page, "boss@example.org")
    page.goto("/competitions/zebra/manage/")
    follow(page.get_by_role("button", name="Close"))
    assert page.get_by_text("entries are no longer accepted").first.is_visible()
    keep(page, "walk_closed")
    follow(page.get_by_role("link", name="Freeze the standings"))
    follow(page.get_by_role("button", name="Freeze"))
    follow(page.get_by_role("button", name="Create awards"))
    assert page.get_by_text("Decide on the prizes of ada-net, ben-net under Winners.").is_visible()
    keep(page, "walk_awards")
    follow(page.get_by_role("link", name="Winners (2) of Stripes"))
    for number in range(2):
        page.get_by_label("Prize").nth(number).fill("a zebra" if number == 0 else "$750")
    keep(page, "walk_winners")
    follow(page.get_by_role("button", name="Save"))
    follow(page.get_by_role("button", name="Announce the winners"))

    page.context.clear_cookies()
    page.goto("/competitions/zebra/")
    keep(page, "walk_published")
    assert page.get_by_text("Ada (a zebra)").is_visible()
    assert page.get_by_text("Ben ($750)").is_visible()
    row = page.get_by_role("region", name="Standings of Stripes").get_by_role("row", name="ada-net").inner_text()
    assert "V1 0.400 · IT 0.200" in row
    assert row.split()[0] == "1"
    assert page.get_by_role("link", name="Enter the Stripes").count() == 0


@pytest.fixture
def addresses(scored):
    """Every kind of page of competitions, with an entry, as an organiser sees it."""
    made = Competition.objects.get(slug="2024")
    open_one = Competition.objects.create(
        slug="okapi",
        year=2031,
        title="Okapi Cup",
        summary="Open.",
        published=True,
        about="## More\n\n| a |\n|---|\n| 1 |",
    )
    open_one.questions.create(kind="faq", question="Why?", answer="Because.")
    open_one.people.create(role="sponsor", name="ACME", url="https://example.org")
    track = open_one.tracks.create(
        title="Stripes",
        listed="alexnet\npixels",
        regions="V1",
        species="human",
        static_images=True,
        single_time_bin=True,
    )
    Entry.objects.create(
        track=track, team="T", identifier="Ada2031.V1-pls", by=User.objects.get(email="boss@example.org")
    )
    key, past = f"/competitions/okapi/manage/tracks/{track.pk}", made.tracks.first()
    boss = User.objects.get(email="boss@example.org")
    VisionModel.objects.filter(identifier="alexnet").update(owner=boss)
    Benchmark.objects.filter(identifier="Ada2031.V4-pls").update(owner=boss)
    return [
        "/competitions/", "/competition2022/", "/competition2024/", "/competitions/new/", "/competitions/okapi/",
        "/competitions/okapi/manage/", "/competitions/okapi/manage/texts/", "/competitions/okapi/manage/freeze/",
        *(f"/competitions/okapi/manage/lists/{name}/" for name in ("dates", "questions")),
        "/competitions/okapi/manage/tracks/new/", f"{key}/entries/",
        f"/competitions/2024/manage/tracks/{past.pk}/awards/", f"/competitions/okapi/tracks/{track.pk}/enter/",
        f"/competitions/okapi/entries/{track.entries.get().pk}/withdraw/",
    ]  # fmt: skip


def test_nothing_bars_anyone(addresses, new_page):
    page, wrong = new_page(User.objects.get(email="boss@example.org")), []
    for address in addresses:
        name = address.strip("/").replace("/", "_")
        wrong += barriers(page, address, looks=LOOKS[:1], opened=True)
        assert page.url.endswith(address)
        keep(page, f"{name}_phone")
        if address in addresses[2:6]:  # colours are the same everywhere
            wrong += barriers(page, looks=LOOKS[1:])
            keep(page, f"{name}_dark")
    assert not wrong, "\n".join(wrong)


def keep(page, name):
    """A picture, where a folder for them is named."""
    folder = os.environ.get("BRAINSCORE_COMPETITION_PICTURES")
    if folder:
        Image.open(io.BytesIO(page.screenshot(full_page=True))).save(Path(folder) / f"{name}.png")
