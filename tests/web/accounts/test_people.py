"""People and their tokens."""

from datetime import timedelta

import pytest
from django.contrib.auth import authenticate
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from brainscore_web.accounts.models import ApiToken, User

PASSWORD = "correct horse battery"


def test_people_log_in_with_their_address_whatever_its_case(member):
    assert authenticate(username="Member@EXAMPLE.org", password=PASSWORD) == member
    assert authenticate(username="member@example.org", password="wrong") is None


def test_an_address_is_taken_whatever_its_case(member):
    with pytest.raises(ValidationError, match="email"):
        User.objects.create_user("MEMBER@example.org", PASSWORD)
    with pytest.raises(IntegrityError), transaction.atomic():
        User(email="MEMBER@example.org").save()


def test_an_address_is_needed(db):
    with pytest.raises(ValueError, match="e-mail"):
        User.objects.create_user("")
    with pytest.raises(ValidationError, match="valid email"):
        User.objects.create_user("no address")


def test_a_token_is_kept_as_a_hash(member):
    token, text = ApiToken.issue(member, "laptop", ["read"])
    assert text.startswith("bs_")
    assert text not in str(token.__dict__)
    assert ApiToken.find(text) == token
    assert ApiToken.find(text[:-1]) is None
    assert ApiToken.find("") is None


@pytest.mark.parametrize("change", ["revoked", "expired", "left"])
def test_a_token_ends(member, change):
    token, text = ApiToken.issue(member, "laptop", ["read"], expires=timezone.now() + timedelta(hours=1))
    assert ApiToken.find(text)
    if change == "revoked":
        token.revoked = True
    elif change == "expired":
        token.expires = timezone.now() - timedelta(seconds=1)
    else:
        member.is_active = False
        member.save()
    token.save()
    assert ApiToken.find(text) is None


@pytest.mark.parametrize("scopes", [[], ["everything"], "read", ["read", "admin"]])
def test_unknown_scopes_are_refused(member, scopes):
    with pytest.raises(ValidationError, match=r"Scopes|scopes"):
        ApiToken.issue(member, "laptop", scopes)


def test_a_token_from_the_administration_is_shown_once(client, staff, member):
    client.force_login(staff)
    data = {"user": member.pk, "name": "laptop", "scopes": ["read"], "expires_0": "", "expires_1": ""}
    answer = client.post("/admin/accounts/apitoken/add/", data, follow=True)
    (note,) = [str(message) for message in answer.context["messages"] if "not shown again" in str(message)]
    text = next(word for word in note.split() if word.startswith("bs_")).rstrip(".")
    token = ApiToken.find(text)
    assert token.user == member
    assert token.scopes == ["read"]
    again = client.get(f"/admin/accounts/apitoken/{token.pk}/change/")
    assert again.status_code == 200
    assert text not in again.content.decode()
    assert ApiToken.objects.count() == 1


def test_visibility_changes_in_bulk_at_once(client, board, staff, member):
    from brainscore_web.leaderboard import revision
    from brainscore_web.leaderboard.models import VisionModel

    client.force_login(staff)
    before = revision.current()
    keys = VisionModel.objects.values_list("pk", flat=True)[:3]
    client.post("/admin/leaderboard/visionmodel/", {"action": "withdraw", "_selected_action": [str(pk) for pk in keys]})
    assert VisionModel.objects.visible_to(member).count() == 8
    assert revision.current() > before


@pytest.mark.parametrize("bulk", [False, True])
def test_private_models_that_are_deleted_stay_private_when_receipts_are_read_again(client, board, staff, member, bulk):
    from brainscore_web.leaderboard.ingest.rows import model_ids
    from brainscore_web.leaderboard.models import Score, VisionModel

    private, public = VisionModel.objects.get(identifier=board.models[-1]), board.models[0]
    client.force_login(staff)
    if bulk:
        keys = [private.pk, VisionModel.objects.get(identifier=public).pk]
        form = {"action": "delete_selected", "_selected_action": keys, "post": "yes"}
        answer = client.post("/admin/leaderboard/visionmodel/", form, follow=True)
    else:
        answer = client.post(f"/admin/leaderboard/visionmodel/{private.pk}/delete/", {"post": "yes"}, follow=True)
    assert "keep a row with only their name" in answer.content.decode()
    assert VisionModel.objects.filter(identifier=public).exists() is not bulk
    left = VisionModel.objects.get(identifier=private.identifier)
    assert (left.visibility, left.owner, left.architecture, left.family) == ("private", None, "", "")
    assert not Score.objects.filter(model=left).exists()
    plugins = {private.identifier: ""}
    assert model_ids(plugins, {}, owner=None, visibility="public") == {private.identifier: left.pk}
    assert not VisionModel.objects.visible_to(member).filter(identifier=private.identifier).exists()


def test_a_person_is_made_in_the_administration(client, staff):
    client.force_login(staff)
    data = {"email": "new@example.org", "display_name": "New", "usable_password": "true",
            "password1": PASSWORD, "password2": PASSWORD}  # fmt: skip
    answer = client.post("/admin/accounts/user/add/", data)
    assert answer.status_code == 302, answer.context["adminform"].errors
    assert authenticate(username="new@example.org", password=PASSWORD)
