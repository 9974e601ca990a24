"""Authorisation: every URL of accounts, requested by every kind of visitor."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from brainscore_web.accounts.models import ApiToken

WHO = ("visitor", "owner", "other", "reviewer", "administrator")
LOGIN, PROFILE = "/accounts/login/", "/accounts/profile/"
ENTRANCE = (200, PROFILE, PROFILE, PROFILE, PROFILE)  # for who is not logged in
OPEN = (200,) * 5
OWN = (LOGIN, 200, 200, 200, 200)
LEADS = (LOGIN, PROFILE, PROFILE, PROFILE, PROFILE)
AGAIN = "/accounts/reauthenticate/"
NEEDS_PASSWORD = (LOGIN, AGAIN, AGAIN, AGAIN, AGAIN)
NO_FACTOR = (LOGIN, 404, 404, 404, 404)
OWNERS = (LOGIN, PROFILE, 404, 404, 404)

TABLE = {
    # name, method, data: what comes of it, by visitor, owner, other member, reviewer, administrator
    ("accounts:home", "get"): LEADS,
    ("accounts:profile", "get"): OWN,
    ("accounts:name", "get"): OWN,
    ("accounts:name", "post"): LEADS,
    ("accounts:model_visibility", "get"): LEADS,
    ("accounts:model_visibility", "post"): OWNERS,
    ("accounts:benchmark_access", "get"): LEADS,
    ("accounts:benchmark_access", "post"): OWNERS,
    ("accounts:new_token", "get"): OWN,
    ("accounts:new_token", "post"): OWN,
    ("accounts:revoke_token", "get"): LEADS,
    ("accounts:revoke_token", "post"): OWNERS,
    ("accounts:own_data", "get"): OWN,
    ("accounts:delete", "get"): OWN,
    ("accounts:delete", "post"): OWN,
    ("account_login", "get"): ENTRANCE,
    ("account_login", "post"): ENTRANCE,
    ("account_signup", "get"): ENTRANCE,
    ("account_signup", "post"): ENTRANCE,
    ("account_logout", "get"): ("/", 200, 200, 200, 200),
    ("account_logout", "post"): ("/",) * 5,
    ("account_inactive", "get"): OPEN,
    ("account_email_verification_sent", "get"): OPEN,
    ("account_confirm_email", "get"): OPEN,
    ("account_confirm_email", "post"): (404,) * 5,
    ("account_reset_password", "get"): OPEN,
    ("account_reset_password", "post"): OPEN,
    ("account_reset_password_done", "get"): OPEN,
    ("account_reset_password_from_key", "get"): OPEN,
    ("account_reset_password_from_key", "post"): OPEN,
    ("account_reset_password_from_key_done", "get"): OPEN,
    ("account_reauthenticate", "get"): OWN,
    ("account_reauthenticate", "post"): OWN,
    ("account_email", "get"): OWN,
    ("account_email", "post"): (LOGIN, "/accounts/email/", "/accounts/email/", "/accounts/email/", "/accounts/email/"),
    ("account_change_password", "get"): OWN,
    ("account_change_password", "post"): OWN,
    ("account_set_password", "get"): (LOGIN, *("/accounts/password/change/",) * 4),
    ("account_set_password", "post"): (LOGIN, *("/accounts/password/change/",) * 4),
    ("account_confirm_login_code", "get"): LEADS,
    ("mfa_index", "get"): OWN,
    ("mfa_authenticate", "get"): LEADS,
    ("mfa_authenticate", "post"): LEADS,
    ("mfa_reauthenticate", "get"): NEEDS_PASSWORD,
    ("mfa_activate_totp", "get"): NEEDS_PASSWORD,
    ("mfa_activate_totp", "post"): NEEDS_PASSWORD,
    ("mfa_deactivate_totp", "get"): NO_FACTOR,
    ("mfa_deactivate_totp", "post"): NO_FACTOR,
    ("mfa_view_recovery_codes", "get"): NO_FACTOR,
    ("mfa_generate_recovery_codes", "get"): NEEDS_PASSWORD,
    ("mfa_generate_recovery_codes", "post"): NEEDS_PASSWORD,
    ("mfa_download_recovery_codes", "get"): NO_FACTOR,
}
DATA = {
    "accounts:model_visibility": {"identifier": "simulated-recurrent-011", "visibility": "public"},
    "accounts:benchmark_access": {"identifier": "Simulated000.V1-pls", "access": "private"},
    "accounts:new_token": {"name": "laptop", "scopes": ["read"], "days": "30"},
    "accounts:name": {"display_name": "New"},
}
ARGUMENTS = {
    "account_confirm_email": {"key": "MQ:1abc:def"},
    "account_reset_password_from_key": {"uidb36": "1", "key": "abc-def"},
}


def addresses():
    """Names of all addresses below /accounts/."""

    def below(patterns, prefix, namespace):
        for one in patterns:
            if isinstance(one, URLResolver):
                inner = f"{one.namespace}:" if one.namespace else namespace
                yield from below(one.url_patterns, prefix + str(one.pattern), inner)
            elif isinstance(one, URLPattern) and prefix.startswith("accounts/"):
                yield f"{namespace}{one.name}"

    return set(below(get_resolver().url_patterns, "", ""))


def test_every_address_has_a_row():
    assert addresses() == {name for name, _ in TABLE}


@pytest.fixture
def people(board, owner, member, staff):
    from brainscore_web.accounts.models import User
    from brainscore_web.leaderboard.models import Benchmark

    reviewer = User.objects.create_user("reviewer@example.org", "correct horse battery")
    reviewer.groups.add(Group.objects.get(name="reviewers"))
    for user in (owner, member, reviewer):
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    Benchmark.objects.filter(identifier="Simulated000.V1-pls").update(owner=owner)
    return {"visitor": None, "owner": owner, "other": member, "reviewer": reviewer, "administrator": staff}


@pytest.mark.parametrize("who", WHO)
def test_the_table(people, who):
    wrong = []
    token, _ = ApiToken.issue(people["owner"], "theirs", ["read"])
    for (name, method), row in TABLE.items():
        browser = Client()
        if people[who] is not None:
            browser.force_login(people[who])
        arguments = {"key": token.pk} if name == "accounts:revoke_token" else ARGUMENTS.get(name)
        answer = getattr(browser, method)(reverse(name, kwargs=arguments), DATA.get(name, {}))
        wanted = row[WHO.index(who)]
        got = answer["Location"].split("?")[0] if answer.status_code == 302 else answer.status_code
        if got != wanted:
            wrong.append(f"{method} {name}: {got}, not {wanted}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("name", "method"), [key for key in TABLE if key[1] == "post"])
def test_forged_forms_change_nothing(people, name, method):
    token, _ = ApiToken.issue(people["owner"], "theirs", ["read"])
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(people["owner"])
    arguments = {"key": token.pk} if name == "accounts:revoke_token" else ARGUMENTS.get(name)
    answer = browser.post(reverse(name, kwargs=arguments), {**DATA.get(name, {}), "csrfmiddlewaretoken": "x" * 64})
    assert answer.status_code == 403


def test_pages_of_accounts_are_kept_nowhere(people):
    browser = Client()
    browser.force_login(people["owner"])
    for address in ("/accounts/profile/", "/accounts/email/", "/accounts/data/", "/accounts/2fa/", "/accounts/delete/"):
        assert browser.get(address)["Cache-Control"] == "no-store, private"
