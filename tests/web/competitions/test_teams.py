"""Teams, terms, e-mails to participants, and what the intervals of standings say."""

import re

import pytest
from django.urls import reverse

from brainscore_core.errors import UserError
from brainscore_web.competitions.actions import candidates, create_entry, create_team, join_team, leave_team, set_terms
from brainscore_web.competitions.models import Entry, Membership, Track
from brainscore_web.jobs.models import Email
from brainscore_web.leaderboard.models import Benchmark
from brainscore_web.profile.personal_data import personal_data_of


@pytest.fixture
def team(competition, owner):
    return create_team(owner, competition, " Ada  & Co ")


def enter(user, track, name, **options):
    """Enter a new benchmark of a user; returns the entry and the findings."""
    Benchmark.objects.create(identifier=name, owner=user, region="V1")
    (candidate,) = [option for option in candidates(user, track) if option.identifier == name]
    return create_entry(user, track, candidate, team="Another", title="", declared={}, **options)


def test_members_join_by_invitation_and_share_entries(client, competition, track, team, owner, member):
    entry, _ = enter(owner, track, "Ada2031.V1-pls")
    assert (entry.team, entry.belongs_to) == ("Ada & Co", team)
    client.force_login(member)
    address = reverse("competitions:join", args=["quagga", team.invitation])
    assert "Join Ada &amp; Co" in client.get(address).content.decode()
    assert client.post(address).status_code == 302
    text = client.get("/competitions/quagga/team/").content.decode()
    assert "Ada2031.V1-pls" in text
    assert team.invitation not in text  # the captain's
    assert enter(member, track, "Eve2031.V1-pls")[0].belongs_to == team
    assert client.post(reverse("competitions:withdraw", args=["quagga", entry.pk]), {"because": ""}).status_code == 302
    assert personal_data_of(member)["competition_teams"][0]["team__name"] == "Ada & Co"


def test_one_person_is_in_one_team(competition, team, member):
    other = create_team(member, competition, "Eve")
    for act in (lambda: join_team(member, team), lambda: create_team(member, competition, "ada & co")):
        with pytest.raises(UserError):
            act()
    leave_team(Membership.objects.get(user=member))
    assert not competition.teams.filter(pk=other.pk).exists()  # without members and entries
    join_team(member, team)
    assert [row.user for row in team.memberships.all()][1] == member


def test_names_of_teams_are_visible(client, competition, track, owner):
    Benchmark.objects.create(identifier="Ada2031.V4-pls", owner=owner, region="V4")
    client.force_login(owner)
    entry = {"what": "own:Ada2031.V4-pls", "team": "\u202e"}
    assert client.post(f"/competitions/quagga/tracks/{track.pk}/enter/", entry).status_code == 400
    assert client.post("/competitions/quagga/team/", {"create": "", "name": "A\u202e"}).status_code == 400
    assert not competition.teams.exists()


def test_the_captain_removes_members_and_renews_the_invitation(client, competition, team, owner, member):
    join_team(member, team)
    first = team.memberships.get(user=owner)
    address = "/competitions/quagga/team/"
    client.force_login(member)
    for action in ({"remove": first.pk}, {"renew": ""}):
        assert client.post(address, action).status_code == 400
    client.force_login(owner)
    assert client.post(address, {"remove": "9" * 5000}).status_code == 404
    assert client.post(address, {"renew": ""}).status_code == 302
    assert client.get(reverse("competitions:join", args=["quagga", team.invitation])).status_code == 404
    assert client.post(address, {"remove": team.memberships.get(user=member).pk}).status_code == 302
    assert team.memberships.count() == 1
    join_team(member, team)
    assert client.post(address, {"leave": ""}).status_code == 302
    assert team.memberships.get().user == member  # the captain now


def test_former_members_neither_return_nor_withdraw_entries(client, competition, track, team, owner, member):
    join_team(member, team)
    entry, _ = enter(member, track, "Eve2031.V1-pls")
    invitation = reverse("competitions:join", args=["quagga", team.invitation])
    leave_team(team.memberships.get(user=member))
    client.force_login(member)
    assert client.post(invitation).status_code == 404
    withdrawal = reverse("competitions:withdraw", args=["quagga", entry.pk])
    assert client.post(withdrawal, {"because": ""}).status_code == 404
    assert withdrawal not in client.get(competition.get_absolute_url()).content.decode()
    client.force_login(owner)
    assert withdrawal in client.get(competition.get_absolute_url()).content.decode()


def test_the_last_member_withdraws_entries_first(track, team, owner):
    enter(owner, track, "Ada2031.V1-pls")
    with pytest.raises(UserError, match="last member"):
        leave_team(team.memberships.get())


def test_a_team_has_at_most_the_entries_of_the_track(track, team, owner, member):
    Track.objects.filter(pk=track.pk).update(most_entries=1)
    track.refresh_from_db()
    join_team(member, team)
    assert enter(owner, track, "Ada2031.V1-pls")[0]
    entry, findings = enter(member, track, "Eve2031.V1-pls")
    assert (entry, findings[0].check) == (None, "limit")


def test_the_accepted_terms_are_stored_with_the_entry(client, competition, track, owner):
    set_terms(competition, "Be fair.")
    first = competition.terms
    set_terms(competition, "Be fair.\r\n")
    assert competition.terms_versions.count() == 1
    Benchmark.objects.create(identifier="Ada2031.V4-pls", owner=owner, region="V4")
    client.force_login(owner)
    address = reverse("competitions:enter", args=["quagga", track.pk])
    assert "Be fair." in client.get(address).content.decode()
    sent = {"what": "own:Ada2031.V4-pls", "team": "Ada"}
    assert client.post(address, sent).status_code == 400
    assert client.post(address, {**sent, "accept": "on"}).status_code == 302
    set_terms(competition, "Be kind.")
    assert Entry.objects.get(by=owner).accepted == first
    with pytest.raises(UserError, match="terms have changed"):
        enter(owner, track, "Ada2031.V1-pls", accepted=first)


def test_participants_get_mail_until_they_unsubscribe(client, competition, team, owner, member, staff):
    join_team(member, team)
    client.force_login(staff)
    address = "/competitions/quagga/manage/mail/"
    assert client.post(address, {"subject": "News", "text": "A new day."}).status_code == 302
    assert set(Email.objects.values_list("to__email", flat=True)) == {owner.email, member.email}
    body = Email.objects.get(to=member).body
    assert "A new day." in body
    client.logout()
    unsubscribe = Email.objects.get(to=member).unsubscribe  # the address in the header
    assert unsubscribe in body
    unsubscribe = unsubscribe[unsubscribe.index("/competitions/") :]
    client.get(unsubscribe)  # a program that reads links does not unsubscribe
    assert Membership.objects.get(user=member).receives_mail
    assert client.post(unsubscribe, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert not Membership.objects.get(user=member).receives_mail
    assert client.post(unsubscribe.replace(":", "x:")).status_code == 404
    client.force_login(staff)
    answers = [client.post(address, {"subject": "Again", "text": "x"}).status_code for _ in range(5)]
    assert answers == [302] * 4 + [400]  # five a day
    assert Email.objects.filter(to=member).count() == 1


def test_standings_show_what_would_change_a_prize(client, competition, track, put, owner):
    put(
        {
            "a": {"alexnet": 0.10, "pixels": 0.10},
            "b": {"alexnet": 0.11, "pixels": 0.11},
            "c": {"alexnet": 0.5, "pixels": 0.5},
        }
    )
    for name in "abc":
        Entry.objects.create(track=track, team=name, identifier=name, known=True)
    text = " ".join(client.get(competition.get_absolute_url()).content.decode().split())
    places = re.findall(r'<tr><td class="to-right">(\d)</td><td class="to-right">([^<]*)</td>', text)
    assert places == [("1", "1–2"), ("2", "1–2"), ("3", "3")]
    assert "<li>a: place 1–2, prize $3,000 or $2,000</li>" in text
    assert "2131-07-01 12:00 UTC" in text  # the end of the last day, everywhere
