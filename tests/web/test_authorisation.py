"""Who may do what: every address of the site and every operation of its interface, by everybody, by every method."""

import pytest
from django.db import transaction
from django.urls import reverse

from ._people import ABOUT_FILES, BUCKET, KEY, PUBLIC, RECEIPT, SECRET, WHO, WITHHELD, addresses, build

LOGIN, PROFILE, AGAIN = "/accounts/login/", "/accounts/profile/", "/accounts/reauthenticate/"
MAIL, PASSWORD = "/accounts/email/", "/accounts/password/change/"
UPLOADS = "/uploads/"

OPEN = (200,) * 6
READ_ONLY = (405,) * 6
MEMBERS_READ_ONLY = (LOGIN, *(405,) * 5)
NOWHERE = (404,) * 6
TO_DOCS = ("/api/v1/docs",) * 6
TOKEN = (401,) * 6
OWNER = (404, 404, 200, 404, 404, 200)  # and administrators
MEMBERS = (LOGIN, 200, 200, 200, 200, 200)
KNOWN = (401, 200, 200, 200, 200, 200)
TO_PROFILE = (LOGIN, *(PROFILE,) * 5)
ENTRANCE = (200, *(PROFILE,) * 5)
FIRST_PASSWORD = (LOGIN, *(AGAIN,) * 5)
NO_FACTOR = (LOGIN, *(404,) * 5)
THEIRS = (LOGIN, 404, PROFILE, 404, 404, 404)  # not even administrators, who have the administration
UPLOADERS = (LOGIN, 404, 200, 404, 404, 200)
SENT = (LOGIN, 404, 400, 404, 404, 404)
"""By visitor, member, owner, another owner, reviewer, administrator."""

# name: (arguments, query or form), GET, POST, other methods (None: as POST)
TABLE = {
    "pages:home": ({}, {}, OPEN, READ_ONLY),
    "pages:about": ({}, {}, OPEN, READ_ONLY),
    "pages:citation": ({}, {}, OPEN, READ_ONLY),
    "pages:tutorials": ({}, {}, OPEN, READ_ONLY),
    "pages:file": ({"name": "../pyproject.toml"}, {}, NOWHERE, READ_ONLY),
    "pages:tutorial": ({"name": "site"}, {}, OPEN, READ_ONLY),
    "leaderboard:board": ({}, {}, OPEN, READ_ONLY),
    "leaderboard:data": ({}, {}, OPEN, READ_ONLY),
    "leaderboard:columns": ({}, {"node": "IT"}, OPEN, READ_ONLY),
    "leaderboard:cell": ({}, {"model": SECRET, "node": PUBLIC}, OPEN, READ_ONLY),
    "leaderboard:export-csv": ({}, {}, OPEN, READ_ONLY),
    "leaderboard:export-parquet": ({}, {}, OPEN, READ_ONLY),
    "leaderboard:export-bib": ({}, {}, OPEN, READ_ONLY),
    "cards:models": ({}, {}, OPEN, READ_ONLY),
    "cards:benchmarks": ({}, {}, OPEN, READ_ONLY),
    "cards:model": ({"identifier": SECRET}, {}, OWNER, READ_ONLY),
    "cards:benchmark": ({"identifier": WITHHELD}, {}, OPEN, READ_ONLY),
    "cards:receipt": ({"receipt": RECEIPT.format(1)}, {}, OWNER, READ_ONLY),
    "cards:receipt-json": ({"receipt": RECEIPT.format(1)}, {}, OWNER, READ_ONLY),
    "cards:sample": ("sample", {}, (404, 404, 404, 404, 404, 200), READ_ONLY),
    "compare:page": ({}, {}, OPEN, READ_ONLY),
    "compare:svg": ({}, {}, OPEN, READ_ONLY),
    "compare:csv": ({}, {}, OPEN, READ_ONLY),
    "competitions:overview": ({}, {}, OPEN, READ_ONLY),
    "/api/v1/ (home)": ("/api/v1/", {}, TO_DOCS, TO_DOCS),
    "/api/v1/ (nothing_here)": ("/api/v1/nothing", {}, NOWHERE, NOWHERE),
    "api:docs": ({}, {}, OPEN, OPEN),
    "api:openapi-json": ({}, {}, OPEN, OPEN),
    "api:api-root": ("/api/v1/", {}, TO_DOCS, TO_DOCS),
    "api:show_leaderboard": ({}, {}, OPEN, READ_ONLY),
    "api:list_models": ({}, {}, OPEN, READ_ONLY),
    "api:show_model": ({"identifier": SECRET}, {}, OWNER, READ_ONLY),
    "api:list_benchmarks": ({}, {}, OPEN, READ_ONLY),
    "api:show_benchmark": ({"identifier": WITHHELD}, {}, OPEN, READ_ONLY),
    "api:list_scores": ({}, {"model": SECRET}, OWNER, READ_ONLY),
    "api:show_receipt": ({"receipt": RECEIPT.format(1)}, {}, OWNER, READ_ONLY),
    "api:post_receipts": ({}, {}, READ_ONLY, TOKEN, READ_ONLY),  # sessions change nothing
    "api:show_me": ({}, {}, KNOWN, READ_ONLY),
    "api:export_leaderboard": ({"format": "csv"}, {}, OPEN, READ_ONLY),
    "api:export_scores": ({"format": "csv"}, {"model": SECRET}, OWNER, READ_ONLY),
    "uploads:home": ({}, {}, MEMBERS, MEMBERS_READ_ONLY),
    "uploads:new": ({}, {}, MEMBERS, (LOGIN, *(400,) * 5), MEMBERS_READ_ONLY),
    "uploads:file": ({"bucket": BUCKET, "key": KEY}, {}, (403, 403, 200, 403, 403, 200), READ_ONLY),
    "uploads:show": ("upload", {}, UPLOADERS, MEMBERS_READ_ONLY),
    "uploads:state": ("upload", {}, UPLOADERS, MEMBERS_READ_ONLY),
    "uploads:code": ("upload", {}, UPLOADERS, MEMBERS_READ_ONLY),
    "uploads:check": ("draft", {}, MEMBERS_READ_ONLY, SENT, MEMBERS_READ_ONLY),
    "uploads:withdraw": ("draft", {}, UPLOADERS, UPLOADERS, MEMBERS_READ_ONLY),
    "uploads:receive": ("draft csv", {}, MEMBERS_READ_ONLY, SENT, MEMBERS_READ_ONLY),
    "uploads:grant": ("draft csv", {}, MEMBERS_READ_ONLY, SENT, MEMBERS_READ_ONLY),
    "uploads:arrived": ("draft csv", {}, MEMBERS_READ_ONLY, SENT, MEMBERS_READ_ONLY),
    "accounts:home": ({}, {}, TO_PROFILE, TO_PROFILE),
    "accounts:profile": ({}, {}, MEMBERS, MEMBERS),
    "accounts:name": ({}, {"display_name": "New"}, MEMBERS, TO_PROFILE, MEMBERS),
    "accounts:model_visibility": ({}, {"identifier": SECRET, "visibility": "public"}, TO_PROFILE, THEIRS, TO_PROFILE),
    "accounts:benchmark_access": (
        {}, {"identifier": WITHHELD, "access": "public"}, TO_PROFILE, (LOGIN, *(404,) * 5), TO_PROFILE,
    ),
    "accounts:new_token": ({}, {"name": "x", "scopes": ["read"], "days": "30"}, MEMBERS, MEMBERS),
    "accounts:revoke_token": ("token", {}, TO_PROFILE, THEIRS, TO_PROFILE),
    "accounts:own_data": ({}, {}, MEMBERS, MEMBERS),
    "accounts:delete": ({}, {}, MEMBERS, MEMBERS),
    "account_login": ({}, {}, ENTRANCE, ENTRANCE, None),
    "account_signup": ({}, {}, ENTRANCE, ENTRANCE, None),
    "account_logout": ({}, {}, ("/", *(200,) * 5), ("/",) * 6, None),
    "account_inactive": ({}, {}, OPEN, READ_ONLY),
    "account_email_verification_sent": ({}, {}, OPEN, READ_ONLY),
    "account_confirm_email": ({"key": "MQ:1abc:def"}, {}, OPEN, NOWHERE, None),
    "account_reset_password": ({}, {}, OPEN, OPEN, None),
    "account_reset_password_done": ({}, {}, OPEN, READ_ONLY),
    "account_reset_password_from_key": ({"uidb36": "1", "key": "abc-def"}, {}, OPEN, OPEN, None),
    "account_reset_password_from_key_done": ({}, {}, OPEN, READ_ONLY),
    "account_confirm_login_code": ({}, {}, TO_PROFILE, TO_PROFILE, None),
    "account_reauthenticate": ({}, {}, MEMBERS, MEMBERS, None),
    "account_email": ({}, {}, MEMBERS, (LOGIN, *(MAIL,) * 5), None),
    "account_change_password": ({}, {}, MEMBERS, MEMBERS, None),
    "account_set_password": ({}, {}, (LOGIN, *(PASSWORD,) * 5), (LOGIN, *(PASSWORD,) * 5), None),
    "mfa_index": ({}, {}, MEMBERS, MEMBERS_READ_ONLY),
    "mfa_authenticate": ({}, {}, TO_PROFILE, TO_PROFILE, None),
    "mfa_reauthenticate": ({}, {}, FIRST_PASSWORD, FIRST_PASSWORD, None),
    "mfa_activate_totp": ({}, {}, FIRST_PASSWORD, FIRST_PASSWORD, None),
    "mfa_deactivate_totp": ({}, {}, NO_FACTOR, NO_FACTOR, None),
    "mfa_view_recovery_codes": ({}, {}, NO_FACTOR, NO_FACTOR, None),
    "mfa_generate_recovery_codes": ({}, {}, FIRST_PASSWORD, FIRST_PASSWORD, None),
    "mfa_download_recovery_codes": ({}, {}, NO_FACTOR, NO_FACTOR, None),
    "/admin/password_change/ (RedirectView)": ("/admin/password_change/", {}, (PASSWORD,) * 6, (PASSWORD,) * 6),
}  # fmt: skip
METHODS = ("get", "head", "post", "put", "patch", "delete")


def group_of_administration(name):
    return name.startswith(("admin:", "/admin/")) and name not in TABLE


@pytest.fixture
def site(db, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOADS = {**settings.UPLOADS, "address": str(tmp_path / "uploads")}
    settings.API_RATES = {"anonymous": 10**6, "known": 10**6}
    return build()


def address_of(site, name):
    where = TABLE[name][0]
    if isinstance(where, dict):
        return reverse(name, kwargs=where)
    if where.startswith("/"):
        return where
    what, *kind = where.split()
    keys = {
        "sample": {"pk": site.sample.pk, "name": site.sample.image.name.rsplit("/", 1)[-1]},
        "upload": {"key": site.upload.pk},
        "draft": {"key": site.draft.pk},
        "token": {"key": site.token.pk},
    }[what]
    return reverse(name, kwargs={**keys, **({"kind": kind[0]} if kind else {})})


def outcome(answer):
    """The status, or where it leads."""
    if answer.status_code in (301, 302, 303, 307, 308):
        return answer["Location"].split("?")[0]
    return answer.status_code


def ask(site, name, who, method):
    sent = TABLE[name][1]
    return getattr(site.client(who), method)(address_of(site, name), sent if method in ("get", "head", "post") else "")


def test_every_view_has_a_row():
    known = {name for name in addresses() if not group_of_administration(name)}
    missing, gone = known - set(TABLE), set(TABLE) - known
    assert not missing, f"say in TABLE who may do what at: {', '.join(sorted(missing))}"
    assert not gone, f"there is no such view any more: {', '.join(sorted(gone))}"


def test_every_operation_of_the_interface_has_a_row():
    from brainscore_web.api.urls import api

    operations = {
        (f"api:{one['operationId']}", method)
        for methods in api.get_openapi_schema()["paths"].values()
        for method, one in methods.items()
    }
    assert {name for name, _ in operations} <= set(TABLE)
    unsafe = {name for name, method in operations if method != "get"}
    assert unsafe == {name for name, row in TABLE.items() if name.startswith("api:") and row[3] not in (READ_ONLY, OPEN, TO_DOCS)}


@pytest.mark.parametrize("who", WHO)
def test_the_table(site, who):
    wrong = []
    for name, (_, _, get, post, *others) in TABLE.items():
        for method in METHODS:
            row = {"get": get, "head": get, "post": post}.get(method) or (others or [post])[0]
            # what the forms of django-allauth do with PUT is theirs, but nothing that they do not with POST
            wanted = [row[WHO.index(who)]] if row else [post[WHO.index(who)], 405]
            with transaction.atomic():
                got = outcome(ask(site, name, who, method))
                transaction.set_rollback(True)
            if got not in wanted:
                wrong.append(f"{name}: {method.upper()} by {who} gives {got}, not {wanted[0]}")
    assert not wrong, "\n".join(["", *wrong])
