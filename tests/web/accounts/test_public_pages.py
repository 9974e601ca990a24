"""Public pages of contributors."""

import pytest
from allauth.socialaccount.models import SocialAccount
from django.core.exceptions import ValidationError

from brainscore_web.accounts.models import check_orcid
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, VisionModel

IDENTIFIER = "0000-0002-1694-233X"
CHOSEN = {"display_name": "Olga", "affiliation": "Institute", "orcid": IDENTIFIER, "public_page": "on"}


@pytest.fixture
def public(client, board, owner):
    """The owner of a private model has a public model and a benchmark too, and a public page."""
    VisionModel.objects.filter(identifier=board.models[0]).update(owner=owner)
    Benchmark.objects.filter(identifier=board.benchmarks[0]).update(owner=owner)
    revision.bump()
    client.force_login(owner)
    client.post("/accounts/name/", CHOSEN)
    client.logout()
    return f"/people/{owner.pk}/"


def test_it_shows_what_was_chosen_and_what_is_public(client, public, board, owner):
    page = client.get(public).content.decode()
    assert f'href="/vision/model/{board.models[0]}/"' in page
    assert f'href="/vision/benchmark/{board.benchmarks[0]}/"' in page
    assert board.models[-1] not in page  # private
    assert "Institute" in page
    assert "@" not in page
    assert "as stated by the contributor" in page
    SocialAccount.objects.create(user=owner, provider="orcid", uid=IDENTIFIER)
    assert "confirmed by log-in with ORCID" in client.get(public).content.decode()


def test_cards_link_to_it_as_long_as_it_is_public(client, public, board, owner):
    cards = (f"/vision/model/{board.models[0]}/", f"/vision/benchmark/{board.benchmarks[0]}/")
    assert all(f'<a href="{public}">Olga</a>' in client.get(card).content.decode() for card in cards)
    client.force_login(owner)
    client.post("/accounts/name/", {**CHOSEN, "public_page": ""})
    client.logout()
    assert client.get(public).status_code == 404
    pages = [client.get(card).content.decode() for card in cards]
    assert "Contributed by Olga" in pages[0]
    assert not any(public in page for page in pages)


def test_nobody_is_shown_who_has_not_chosen_it(client, owner):
    assert client.get(f"/people/{owner.pk}/").status_code == client.get("/people/999999/").status_code == 404


@pytest.mark.parametrize("identifier", ["0000-0002-1694-2330", "0000-0002-1694-233x", "javascript:alert(1)", "9" * 19])
def test_identifiers_with_wrong_digits_are_refused(identifier):
    with pytest.raises(ValidationError):
        check_orcid(identifier)
