"""Who may do what: every address of the site and every operation of its interface, by everybody, by every method."""

import importlib
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.urls import reverse

from ._html import html_problems, is_page
from ._people import ABOUT_FILES, BUCKET, KEY, PUBLIC, RECEIPT, SECRET, WHO, WITHHELD, addresses, build, domain_in

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
    "leaderboard:score": ({}, {"model": SECRET, "node": PUBLIC}, OWNER, READ_ONLY),
    "leaderboard:export-csv": ({}, {}, OPEN, READ_ONLY),
    "leaderboard:export-parquet": ({}, {}, OPEN, READ_ONLY),
    "leaderboard:export-bib": ({}, {}, OPEN, READ_ONLY),
    "cards:models": ({}, {}, OPEN, READ_ONLY),
    "cards:benchmarks": ({}, {}, OPEN, READ_ONLY),
    "cards:model": ({"identifier": SECRET}, {}, OWNER, READ_ONLY),
    "cards:benchmark": ({"identifier": WITHHELD}, {}, OPEN, READ_ONLY),
    "cards:benchmark-croissant": ({"identifier": WITHHELD}, {}, OPEN, READ_ONLY),
    "cards:receipt": ({"receipt": RECEIPT.format(1)}, {}, OWNER, READ_ONLY),
    "cards:receipt-json": ({"receipt": RECEIPT.format(1)}, {}, OWNER, READ_ONLY),
    "cards:model-badge": ({"identifier": SECRET}, {}, NOWHERE, READ_ONLY),
    "cards:benchmark-badge": ({"identifier": WITHHELD}, {}, OPEN, READ_ONLY),
    "cards:stimuli": ({"receipt": ABOUT_FILES}, {}, (404, 404, 404, 404, 404, 200), READ_ONLY),
    "cards:design": ({"digest": "unknown"}, {}, NOWHERE, READ_ONLY),
    "cards:sample": ("sample", {}, (404, 404, 404, 404, 404, 200), READ_ONLY),
    "compare:page": ({}, {}, OPEN, READ_ONLY),
    "compare:svg": ({}, {}, OPEN, READ_ONLY),
    "compare:csv": ({}, {}, OPEN, READ_ONLY),
    "questions:ask": (
        {"identifier": WITHHELD}, {}, (LOGIN, *(404,) * 4, 200), (LOGIN, *(404,) * 4, 400), MEMBERS_READ_ONLY
    ),
    "questions:live": ({"identifier": WITHHELD}, {}, (LOGIN, *(404,) * 4, 200), MEMBERS_READ_ONLY),
    "competitions:overview": ({}, {}, OPEN, READ_ONLY),
    "/api/v1/ (home)": ("/api/v1/", {}, TO_DOCS, TO_DOCS),
    "/api/v1/ (not_found)": ("/api/v1/nothing", {}, NOWHERE, NOWHERE),
    "api:docs": ({}, {}, OPEN, OPEN),
    "api:docs-with-slash": ({}, {}, TO_DOCS, TO_DOCS),
    "api:openapi-json": ({}, {}, OPEN, OPEN),
    "api:api-root": ("/api/v1/", {}, TO_DOCS, TO_DOCS),
    "api:show_leaderboard": ({}, {}, OPEN, READ_ONLY),
    "api:list_models": ({}, {}, OPEN, READ_ONLY),
    "api:show_model": ({"identifier": SECRET}, {}, OWNER, READ_ONLY),
    "api:list_benchmarks": ({}, {}, OPEN, READ_ONLY),
    "api:show_benchmark": ({"identifier": WITHHELD}, {}, OPEN, READ_ONLY),
    "api:list_assessments": ({}, {"model": SECRET}, OWNER, READ_ONLY),
    "api:create_question": ({}, {}, READ_ONLY, TOKEN, READ_ONLY),
    "api:show_question": ({"question": "00000000-0000-0000-0000-000000000000"}, {}, (401, *(404,) * 5), READ_ONLY),
    "api:list_scores": ({}, {"model": SECRET}, OWNER, READ_ONLY),
    "api:show_receipt": ({"receipt": RECEIPT.format(1)}, {}, OWNER, READ_ONLY),
    "api:post_receipts": ({}, {}, READ_ONLY, TOKEN, READ_ONLY),  # sessions change nothing
    "api:take_work": ({}, {}, READ_ONLY, TOKEN, READ_ONLY),
    "api:renew_work": ({"job": 1}, {}, READ_ONLY, TOKEN, READ_ONLY),
    "api:release_work": ({"job": 1}, {}, READ_ONLY, TOKEN, READ_ONLY),
    "api:work_plugins": ({"job": 1}, {}, TOKEN, READ_ONLY),
    "api:work_file": ({"job": 1}, {}, TOKEN, READ_ONLY),
    "api:post_result": ({"job": 1}, {}, READ_ONLY, TOKEN, READ_ONLY),
    "api:show_me": ({}, {}, KNOWN, READ_ONLY),
    "api:export_leaderboard": ({"format": "csv"}, {}, OPEN, READ_ONLY),
    "api:export_scores": ({"format": "csv"}, {"model": SECRET}, OWNER, READ_ONLY),
    "api:export_assessments": ({"format": "csv"}, {"model": SECRET}, OWNER, READ_ONLY),
    "uploads:home": ({}, {}, MEMBERS, MEMBERS_READ_ONLY),
    "uploads:new": ({}, {}, MEMBERS, (LOGIN, *(400,) * 5), MEMBERS_READ_ONLY),
    "uploads:file": ({"bucket": BUCKET, "key": KEY}, {}, (403, 403, 200, 403, 403, 200), READ_ONLY),
    "uploads:show": ("upload", {}, UPLOADERS, MEMBERS_READ_ONLY),
    "uploads:state": ("upload", {}, UPLOADERS, MEMBERS_READ_ONLY),
    "uploads:code": ("upload", {}, UPLOADERS, MEMBERS_READ_ONLY),
    "uploads:scaffold": ("upload", {}, UPLOADERS, MEMBERS_READ_ONLY),
    "uploads:check": ("draft", {}, MEMBERS_READ_ONLY, (LOGIN, 404, 409, 404, 404, 404), MEMBERS_READ_ONLY),
    "uploads:withdraw": ("draft", {}, UPLOADERS, (LOGIN, 404, UPLOADS, 404, 404, UPLOADS), MEMBERS_READ_ONLY),
    "uploads:receive": ("draft csv", {}, MEMBERS_READ_ONLY, SENT, MEMBERS_READ_ONLY),
    "uploads:grant": ("draft csv", {}, MEMBERS_READ_ONLY, SENT, MEMBERS_READ_ONLY),
    "uploads:arrived": ("draft csv", {}, MEMBERS_READ_ONLY, (LOGIN, 404, 409, 404, 404, 404), MEMBERS_READ_ONLY),
    "people:person": ({"key": 1}, {}, NOWHERE, READ_ONLY),  # nobody has chosen to be shown
    "people:lab": ({"slug": "unknown"}, {}, NOWHERE, READ_ONLY),
    "people:new-lab": ({}, {}, MEMBERS, MEMBERS, MEMBERS),
    "people:manage-lab": ({"slug": "unknown"}, {}, NO_FACTOR, NO_FACTOR),
    "people:answer": ({"key": 1}, {}, MEMBERS_READ_ONLY, NO_FACTOR, MEMBERS_READ_ONLY),
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
    "mfa_view_recovery_codes": ({}, {}, NO_FACTOR, MEMBERS_READ_ONLY),
    "mfa_generate_recovery_codes": ({}, {}, FIRST_PASSWORD, FIRST_PASSWORD, None),
    "mfa_download_recovery_codes": ({}, {}, NO_FACTOR, NO_FACTOR, None),
    "mfa_list_webauthn": ({}, {}, MEMBERS, MEMBERS_READ_ONLY),
    "mfa_add_webauthn": ({}, {}, FIRST_PASSWORD, FIRST_PASSWORD, None),
    "mfa_edit_webauthn": ({"pk": 1}, {}, FIRST_PASSWORD, FIRST_PASSWORD, None),
    "mfa_remove_webauthn": ({"pk": 1}, {}, FIRST_PASSWORD, FIRST_PASSWORD, None),
    "mfa_reauthenticate_webauthn": ({}, {}, FIRST_PASSWORD, FIRST_PASSWORD, None),
    "mfa_login_webauthn": ({}, {}, TO_PROFILE, TO_PROFILE, None),
    **{f"{name}_{view}": ({}, {}, NOWHERE, NOWHERE) for name in ("github", "orcid") for view in ("login", "callback")},
    "socialaccount_login_cancelled": ({}, {}, OPEN, READ_ONLY),
    "socialaccount_login_error": ({}, {}, TOKEN, READ_ONLY),
    "socialaccount_signup": ({}, {}, (LOGIN,) * 6, (LOGIN,) * 6, None),
    "socialaccount_connections": ({}, {}, MEMBERS, MEMBERS, None),
    "/admin/password_change/ (RedirectView)": ("/admin/password_change/", {}, (PASSWORD,) * 6, (PASSWORD,) * 6),
}  # fmt: skip
PARTS = [
    importlib.import_module(f".{file.parent.name}.rows", __package__)
    for file in sorted(Path(__file__).parent.glob("*/rows.py"))
]
"""The same of other areas: their rows, and what makes the things that these ask for."""
for part in PARTS:
    assert not set(TABLE) & set(part.ROWS), "a view has two rows"
    TABLE.update(part.ROWS)
METHODS = [
    ("get", "post", "put"),
    pytest.param(("head", "patch", "delete"), marks=pytest.mark.slow(reason="answered as GET and PUT are")),
]


def group_of_administration(name):
    return name.startswith(("admin:", "/admin/")) and name not in TABLE


@pytest.fixture
def site(db, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOADS = {**settings.UPLOADS, "address": str(tmp_path / "uploads")}
    settings.API_RATES = {"anonymous": 10**6, "known": 10**6}
    settings.SUBMISSIONS = {
        **settings.SUBMISSIONS,
        "folder": str(tmp_path / "plugins"),
        "results": str(tmp_path / "results"),
    }
    made = build()
    for part in PARTS:
        keys = part.build(made.people) if hasattr(part, "build") else {}
        assert not set(keys) & {"sample", "upload", "draft", "token", *made.keys}, "a word has two meanings"
        made.keys |= keys
    return made


def address_of(site, name):
    where = TABLE[name][0]
    if isinstance(where, dict):
        return reverse(name, kwargs=domain_in(addresses()[name]) | where)
    if where.startswith("/"):
        return where
    what, *kind = where.split()
    keys = {
        "sample": {"pk": site.sample.pk, "name": site.sample.image.name.rsplit("/", 1)[-1]},
        "upload": {"key": site.upload.pk},
        "draft": {"key": site.draft.pk},
        "token": {"key": site.token.pk},
        **site.keys,
    }[what]
    return reverse(name, kwargs={**domain_in(addresses()[name]), **keys, **({"kind": kind[0]} if kind else {})})


def outcome(answer):
    """The status, or where it leads."""
    if answer.streaming:
        answer.getvalue()  # read to its end: one that is dropped closes the connection to the database
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
    unsafe = {
        f"api:{one['operationId']}"
        for methods in api.get_openapi_schema()["paths"].values()
        if set(methods) - {"get"}
        for one in methods.values()
    }
    assert unsafe == {
        name for name, row in TABLE.items() if name.startswith("api:") and row[3] not in (READ_ONLY, OPEN, TO_DOCS)
    }


FIRST = {"visitor", "other"}  # who may see least, without and with an account
EVERYONE = [
    who if who in FIRST else pytest.param(who, marks=pytest.mark.slow(reason="asks for every address")) for who in WHO
]


@pytest.mark.parametrize("methods", METHODS, ids="-".join)
@pytest.mark.parametrize("who", EVERYONE)
def test_the_table(site, who, methods):
    wrong = []
    for name, (_, _, get, post, *others) in TABLE.items():
        for method in methods:
            row = {"get": get, "head": get, "post": post}.get(method) or (others or [post])[0]
            # what the forms of django-allauth do with PUT is theirs, but nothing that they do not with POST
            wanted = [row[WHO.index(who)]] if row else [post[WHO.index(who)], 405]
            with transaction.atomic():
                answer = ask(site, name, who, method)
                got = outcome(answer)
                transaction.set_rollback(True)
            if method == "get" and is_page(answer):
                wrong += [f"{name} by {who}: {problem}" for problem in html_problems(answer.content.decode())]
            if got not in wanted:
                wrong.append(f"{name}: {method.upper()} by {who} gives {got}, not {wanted[0]}")
    assert not wrong, "\n".join(["", *wrong])


@pytest.mark.parametrize("who", EVERYONE)
def test_the_administration_is_for_administrators(site, who):
    wrong = []
    rows = {"object_id": "1", "id": "1", "content_type_id": "1", "app_label": "leaderboard", "url": "nothing"}
    for name, route in addresses().items():
        if not group_of_administration(name) or name == "admin:password_change":  # leads to that of accounts
            continue
        names = [part for part in rows if f"<{part}>" in route or f":{part}>" in route]
        address = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: rows[found[1]], route)
        if "^" in route or "(?P" in route:
            address = "/admin/leaderboard/" if "app_label" in names else "/admin/nothing"
        for method in ("get", "post"):
            with transaction.atomic():
                answer = getattr(site.client(who), method)(address)
                transaction.set_rollback(True)
            got = outcome(answer)
            if who == "administrator":
                right = answer.status_code < 500
            else:
                right = got in ("/admin/login/", LOGIN, "/admin/" if name == "admin:logout" else LOGIN, 403)
            if not right:
                wrong.append(f"{name} ({address}): {method.upper()} by {who} gives {got}")
    assert not wrong, "\n".join(["", *wrong])


OPERATIONS = {
    # what: by the owner's token, one of the owner's without the scope read, another's, an administrator's without it
    f"models/{SECRET}": (200, 404, 404, 404),
    f"scores?model={SECRET}": (200, 404, 404, 404),
    f"assessments?model={SECRET}": (200, 404, 404, 404),
    f"exports/scores.csv?model={SECRET}": (200, 404, 404, 404),
    f"receipts/{RECEIPT.format(1)}": (200, 404, 404, 404),
    "me": (200, 200, 200, 200),
}


@pytest.mark.parametrize("what", OPERATIONS)
def test_tokens_show_what_their_owners_may_see_if_they_have_the_scope(site, what):
    got = tuple(
        site.client("visitor").get(f"/api/v1/{what}", headers={"Authorization": f"Bearer {token}"}).status_code
        for token in site.tokens.values()
    )
    assert got == OPERATIONS[what]


@pytest.mark.parametrize("token", ["owner's", "owner's without read", "another's", "administrator's without read"])
def test_posting_takes_the_scope_and_the_permission(site, token):
    headers = {"Authorization": f"Bearer {site.tokens[token]}"}
    answer = site.client("visitor").post("/api/v1/receipts", [], content_type="application/json", headers=headers)
    assert answer.status_code == (200 if token.startswith("administrator") else 403)


def test_files_of_uploads_take_the_scope(site):
    address = reverse("uploads:file", kwargs={"bucket": BUCKET, "key": KEY})
    for token, wanted in zip(site.tokens.values(), (200, 403, 403, 403), strict=True):
        headers = {"Authorization": f"Bearer {token}"}
        assert outcome(site.client("owner").get(address, headers=headers)) == wanted


@pytest.mark.parametrize("who", ["owner", "administrator"])
def test_forged_forms_change_nothing(site, who):
    """Every view that changes something for a session asks for the token against forgery."""
    wrong = []
    for name, (_, sent, _, post, *_) in TABLE.items():
        if post in (READ_ONLY, MEMBERS_READ_ONLY, NOWHERE, TO_DOCS, OPEN) and name not in NEEDS_TOKEN_ALL_THE_SAME:
            continue
        if name in WITHOUT_FORMS or name.startswith("api:"):
            continue
        browser = site.client(who, enforce_csrf_checks=True)
        with transaction.atomic():
            file = {"file": SimpleUploadedFile("x.csv", b"stimulus_id\n")} if name == "uploads:receive" else {}
            got = outcome(browser.post(address_of(site, name), {**sent, **file, "csrfmiddlewaretoken": "x" * 64}))
            transaction.set_rollback(True)
        # what is not theirs is not found before the form is looked at, where its file is read as it comes
        if got != 403 and not (name == "uploads:receive" and who != "owner" and got == 404):
            wrong.append(f"{name}: a forged POST by {who} gives {got}, not 403")
    assert not wrong, "\n".join(["", *wrong])
    for name in ("admin:index", "admin:leaderboard_visionmodel_changelist", "admin:logout", "admin:login"):
        browser = site.client(who, enforce_csrf_checks=True)
        assert browser.post(reverse(name)).status_code == 403, name


NEEDS_TOKEN_ALL_THE_SAME = {"account_reset_password", "account_reset_password_from_key", "account_confirm_email"}
WITHOUT_FORMS = {"/api/v1/ (home)"}  # sessions change nothing in the interface


def test_a_forged_file_leaves_the_one_before(site):
    slot = site.draft.files.create(kind="csv", size=5, token="earlier")
    browser = site.client("owner", enforce_csrf_checks=True)
    sent = {"file": SimpleUploadedFile("x.csv", b"stimulus_id\n"), "csrfmiddlewaretoken": "x" * 64}
    assert browser.post(address_of(site, "uploads:receive"), sent).status_code == 403
    slot.refresh_from_db()
    assert (slot.token, slot.size) == ("earlier", 5)
