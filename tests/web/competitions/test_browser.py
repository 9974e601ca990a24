"""Pages of competitions in a browser: nothing for axe to find, nothing wider than a phone."""

import pytest
from allauth.account.models import EmailAddress

from brainscore_web.accounts.models import User
from brainscore_web.competitions.actions import create_team
from brainscore_web.competitions.models import Competition, Entry
from brainscore_web.leaderboard.models import Benchmark, VisionModel

from .._browsing import LOOKS, barriers

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
    create_team(User.objects.get(email="boss@example.org"), track.competition, "Boss")
    return [
        "/competitions/", "/competition2022/", "/competition2024/", "/competitions/new/", "/competitions/okapi/",
        "/competitions/okapi/manage/", "/competitions/okapi/manage/texts/", "/competitions/okapi/manage/freeze/",
        *(f"/competitions/okapi/manage/lists/{name}/" for name in ("dates", "questions")),
        "/competitions/okapi/manage/tracks/new/", f"{key}/entries/",
        "/competitions/okapi/manage/mail/", "/competitions/okapi/team/",
        f"/competitions/2024/manage/tracks/{past.pk}/awards/", f"/competitions/okapi/tracks/{track.pk}/enter/",
        f"/competitions/okapi/entries/{track.entries.get().pk}/withdraw/",
    ]  # fmt: skip


def test_nothing_bars_anyone(addresses, new_page):
    page, wrong = new_page(User.objects.get(email="boss@example.org")), []
    for address in addresses:
        wrong += barriers(page, address, looks=LOOKS[:1], opened=True)
        assert page.url.endswith(address)
        if address in addresses[2:6]:  # colours are the same everywhere
            wrong += barriers(page, looks=LOOKS[1:])
    assert not wrong, "\n".join(wrong)
