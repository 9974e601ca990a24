"""Labs: members, invitations, and models, benchmarks and submissions that a lab owns."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from brainscore_web.accounts.models import ApiToken, Invitation, Lab, Membership, User, owned_by, owns
from brainscore_web.jobs.models import Email
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.operations.retention import tidy
from brainscore_web.search.index import refresh
from brainscore_web.submissions.models import Plugin, Revision, Submission
from brainscore_web.submissions.notifications import notify_done
from brainscore_web.submissions.receiving import use_of
from tests.web._plugins import model_files, zipped

MANAGE = "/people/labs/vision-lab/manage/"


def browser_of(user):
    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.fixture
def lab(board, owner):
    """A lab of the owner of a private model."""
    answer = browser_of(owner).post("/people/labs/new/", {"name": " Vision  Lab ", "description": "<b>We see.</b>"})
    assert answer["Location"] == MANAGE
    return Lab.objects.get()


def change(user, action, **data):
    return browser_of(user).post(MANAGE, {"action": action, **data}, follow=True).content.decode()


def join(lab, user, role="member"):
    return Membership.objects.create(lab=lab, user=user, role=role)


@pytest.fixture
def shared(lab, owner, member, board):
    """The private model belongs to the lab, which has another member."""
    join(lab, member)
    change(owner, "share", item=f"model:{board.models[-1]}")
    return VisionModel.objects.get(identifier=board.models[-1])


def test_an_invitation_is_for_the_confirmed_address(lab, owner, member, scorer, mailoutbox):
    known = change(owner, "invite", email=member.email.upper())
    unknown = change(owner, "invite", email="nobody@example.org")
    assert f"{member.email} is invited" in known
    assert "nobody@example.org is invited" in unknown  # the same, with an account or without
    assert [message.to for message in mailoutbox] == [[member.email], ["nobody@example.org"]]
    (invitation,) = Invitation.objects.filter(email=member.email)
    answer = f"/people/labs/invitations/{invitation.pk}/"
    assert browser_of(scorer).post(answer, {"answer": "accept"}).status_code == 404
    browser = browser_of(member)
    EmailAddress.objects.filter(user=member).update(verified=False)
    assert not Invitation.objects.of(member)
    assert browser.post(answer, {"answer": "accept"}).status_code == 403
    EmailAddress.objects.filter(user=member).update(verified=True)
    assert answer in browser.get("/accounts/profile/").content.decode()
    assert browser.post(answer, {"answer": "accept"})["Location"] == MANAGE
    assert Membership.objects.get(user=member).role == "member"
    assert browser.post(answer, {"answer": "accept"}).status_code == 404


def test_invitations_are_limited_and_expire(lab, owner, member):
    for _ in range(4):
        answer = change(owner, "invite", email=member.email)
    assert "Too many" in answer
    Invitation.objects.update(created=timezone.now() - Invitation.LIFETIME)
    browser_of(member)
    assert not Invitation.objects.of(member)
    tidy()
    assert not Invitation.objects.exists()


def test_invitations_of_an_owner_who_left_are_void(lab, owner, member, scorer):
    join(lab, member, role="owner")
    change(owner, "invite", email=scorer.email)
    change(member, "remove", key=Membership.objects.get(user=owner).pk)
    assert not Invitation.objects.exists()


def test_members_do_not_manage_the_lab(lab, owner, member, scorer):
    mine, theirs = join(lab, member), Membership.objects.get(user=owner)
    for action, key in (("promote", mine), ("remove", theirs), ("invite", mine), ("edit", mine), ("cancel", mine)):
        assert "only owners of the lab" in change(member, action, key=key.pk, email="x@example.org", name="Mine")
    assert browser_of(scorer).get(MANAGE).status_code == browser_of(scorer).post(MANAGE).status_code == 404
    assert [row.role for row in lab.memberships.all()] == ["owner", "member"]


def test_the_last_owner_stays_as_long_as_there_are_members(lab, owner, member):
    first, second = Membership.objects.get(user=owner), join(lab, member)
    assert "no owner" in change(owner, "remove", key=first.pk)
    change(owner, "promote", key=second.pk)
    change(owner, "remove", key=first.pk)
    assert list(lab.memberships.all()) == [second]
    change(member, "remove", key=second.pk)
    assert not Lab.objects.exists()


def test_members_own_what_is_shared_until_either_leaves(shared, lab, owner, member, board):
    def sees():
        return browser_of(member).get(f"/vision/model/{shared.identifier}/").status_code == 200

    assert sees()
    sent = {"identifier": shared.identifier, "visibility": "private"}
    assert browser_of(member).post("/accounts/models/visibility/", sent).status_code == 302
    assert set(VisionModel.objects.filter(owned_by(member))) == {shared}
    Membership.objects.filter(user=member).delete()
    assert not sees()
    assert browser_of(member).post("/accounts/models/visibility/", sent).status_code == 404
    again = join(lab, member, role="owner")
    assert sees()
    change(owner, "remove", key=Membership.objects.get(user=owner).pk)
    assert not sees()  # what its owner brought in left with its owner
    assert again in lab.memberships.all()


def test_only_what_is_yours_is_shared(lab, owner, member, board):
    join(lab, member)
    assert "not yours" in change(member, "share", item=f"model:{board.models[-1]}")
    assert "not yours" in change(member, "share", item=f"model:{board.models[0]}")
    assert "nothing is chosen" in change(member, "share", item="user:1")
    assert not VisionModel.objects.exclude(lab=None).exists()


def test_a_submission_is_shared_with_all_that_it_registers(lab, owner, member, scorer, board):
    join(lab, member)
    submission = Submission.objects.create(owner=owner, title="a_model")
    revision = Revision.objects.create(submission=submission, number=1, plugins=[], size=0)
    plugin = Plugin.objects.create(kind="models", name="a_model", owner=owner, revision=revision)
    VisionModel.objects.filter(identifier=board.models[-1]).update(plugin="a_model")
    page = f"/submissions/{submission.pk}/"
    assert browser_of(member).get(page).status_code == 404
    change(owner, "share", item=f"model:{board.models[-1]}")
    assert browser_of(member).get(page).status_code == 200
    assert browser_of(scorer).get(page).status_code == 404
    assert browser_of(member).get("/submissions/").content.decode().count(page) == 1
    for row in (submission, plugin, VisionModel.objects.get(identifier=board.models[-1])):
        row.refresh_from_db()
        assert owns(User.objects.get(pk=member.pk), row)
    assert browser_of(member).post(f"{page}visibility/", {"visibility": "public"}).status_code != 404
    assert "owner of the lab" not in change(owner, "unshare", item=f"submission:{submission.pk}")
    assert browser_of(member).get(page).status_code == 404
    assert not VisionModel.objects.exclude(lab=None).exists()


@pytest.mark.parametrize("way", ["form", "API"])
def test_a_lab_is_chosen_at_submission_and_its_members_get_mail(lab, owner, member, scorer, way):
    join(lab, member)
    join(lab, scorer)
    change(scorer, "mail")
    sent = {"visibility": "private", "note": ""}
    file = SimpleUploadedFile("tiles.zip", zipped(model_files()))
    if way == "form":
        browser = browser_of(owner)
        assert "counts towards your quota" in browser.get("/submissions/new/").content.decode()
        answer = browser.post("/submissions/new/", sent | {"archive": file, "lab": lab.pk})
        assert answer.status_code == 302, answer.content.decode()
    else:
        browser_of(owner)
        headers = {"Authorization": f"Bearer {ApiToken.issue(owner, 'laptop', ['read', 'submit'])[1]}"}
        refused = Client().post("/api/v1/submissions", {"archive": file, "lab": "other"}, headers=headers)
        assert (refused.status_code, "name one of yours: vision-lab" in refused.content.decode()) == (400, True)
        file.seek(0)
        answer = Client().post("/api/v1/submissions", sent | {"archive": file, "lab": lab.slug}, headers=headers)
        assert answer.json()["lab"] == lab.slug
    submission = Submission.objects.get()
    assert submission.lab == lab
    assert (
        f'By {owner.public_name}, <a href="{lab.page}">'
        in browser_of(member).get(f"/submissions/{submission.pk}/").content.decode()
    )
    assert f"{owner.public_name}, {lab}" in browser_of(member).get("/submissions/").content.decode()
    assert browser_of(member).post(f"/submissions/{submission.pk}/withdraw/").status_code == 302
    assert (use_of(owner).day, use_of(member).day) == (1, 0)
    notify_done(submission)
    assert [email.to for email in Email.objects.order_by("pk")] == [owner, member]
    assert f"as a member of {lab}" in Email.objects.get(to=member).body


def test_a_lab_of_others_cannot_be_chosen(lab, member):
    assert 'name="lab"' not in browser_of(member).get("/submissions/new/").content.decode()
    sent = {"visibility": "public", "archive": SimpleUploadedFile("tiles.zip", zipped(model_files())), "lab": lab.pk}
    assert browser_of(member).post("/submissions/new/", sent).status_code == 302
    assert Submission.objects.get().lab is None


def test_the_public_page_shows_public_things_only(client, shared, lab, owner, member, board):
    Benchmark.objects.filter(identifier=board.benchmarks[0]).update(lab=lab)
    VisionModel.objects.filter(identifier=board.models[0]).update(lab=lab)
    User.objects.filter(pk=owner.pk).update(public_page=True)
    page = client.get(lab.page).content.decode()
    assert "&lt;b&gt;We see.&lt;/b&gt;" in page
    assert f'href="/people/{owner.pk}/"' in page
    assert member.public_name not in page
    assert board.models[0] in page
    assert board.benchmarks[0] in page
    assert shared.identifier not in page
    refresh()
    for address in ("/vision/models/", "/vision/benchmarks/", f"/search/?q={board.models[0]}"):
        assert f'by <a href="{lab.page}">Vision Lab</a>' in client.get(address).content.decode()
    assert f'<a href="{lab.page}">Vision Lab</a>' in client.get(f"/vision/model/{board.models[0]}/").content.decode()
    assert "Vision Lab" in client.get(f"/people/{owner.pk}/").content.decode()


def test_a_deleted_account_leaves_its_things_to_the_lab(shared, lab, owner, member, scorer, staff):
    told = browser_of(owner).get("/accounts/data/").json()
    assert [row["lab__name"] for row in told["labs"]] == ["Vision Lab"]
    submission = Submission.objects.create(owner=owner, lab=lab, title="open")
    Revision.objects.create(submission=submission, number=1, plugins=[], size=0)
    join(lab, scorer)
    browser_of(staff).post(f"/admin/accounts/user/{owner.pk}/delete/", {"post": "yes"})
    for row in (shared, submission):
        row.refresh_from_db()
        assert row.owner == member
    assert [(row.user, row.role) for row in lab.memberships.all()] == [(member, "owner"), (scorer, "member")]
    VisionModel.objects.update(visibility="public")
    sent = {"action": "delete_selected", "_selected_action": [member.pk, scorer.pk], "post": "yes"}
    browser_of(staff).post("/admin/accounts/user/", sent)
    shared.refresh_from_db()
    assert (shared.owner, shared.lab) == (None, lab)
    assert f'<a href="{lab.page}">Vision Lab</a>' in Client().get(f"/vision/model/{shared}/").content.decode()
    assert "This lab is closed" in Client().get(lab.page).content.decode()


def test_a_lab_without_members_and_contributions_is_deleted(lab, owner):
    owner.delete()
    assert not Lab.objects.exists()


def test_names_are_taken_once_and_labs_are_few(lab, owner, member):
    browser = browser_of(member)
    assert "has this name" in browser.post("/people/labs/new/", {"name": "vision lab"}).content.decode()
    assert "has this name" in browser.post("/people/labs/new/", {"name": "New"}).content.decode()
    for number in range(Lab.MOST_OWNED):
        browser.post("/people/labs/new/", {"name": f"lab {number}"})
    answer = browser.post("/people/labs/new/", {"name": "one more"}).content.decode()
    assert re.search(r"You own 10 labs", answer)
