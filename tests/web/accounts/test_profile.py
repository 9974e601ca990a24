"""The profile: models, benchmarks, tokens, name, own data, leaving."""

import json
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser, Group
from django.test import Client
from django.utils import timezone

from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.profile.personal_data import SECTIONS, PrivateModels

PASSWORD = "correct horse battery"


@pytest.fixture
def mine(client, board, owner):
    """The owner is logged in, and owns the first model and the first benchmark too."""
    VisionModel.objects.filter(identifier=board.models[0]).update(owner=owner)
    Benchmark.objects.filter(identifier=board.benchmarks[0]).update(owner=owner)
    revision.bump()
    client.force_login(owner)
    return board


def switch(client, identifier, visibility, **more):
    return client.post("/accounts/models/visibility/", {"identifier": identifier, "visibility": visibility, **more})


def public(board):
    return {row.identifier for row in snapshot_for(AnonymousUser()).models}


def test_the_profile_lists_what_is_owned(client, mine, member):
    page = client.get("/accounts/profile/").content.decode()
    assert f'href="/vision/model/{mine.models[0]}/"' in page
    assert f'href="/vision/model/{mine.models[-1]}/"' in page
    assert f'href="/vision/benchmark/{mine.benchmarks[0]}/"' in page
    assert mine.models[1] not in page
    assert "member@" not in page


@pytest.mark.parametrize("visibility", ["", "secret", "PUBLIC"])
def test_other_words_are_refused(client, mine, visibility):
    assert switch(client, mine.models[0], visibility).status_code == 400


def test_it_leads_back_within_the_site(client, mine):
    assert switch(client, mine.models[0], "private", next="/vision/models/")["Location"] == "/vision/models/"
    for elsewhere in ("https://evil.example/", "//evil.example/"):
        assert switch(client, mine.models[0], "private", next=elsewhere)["Location"] == "/accounts/profile/"


def test_data_of_a_benchmark(client, mine, owner, member):
    benchmark = Benchmark.objects.get(identifier=mine.benchmarks[0])
    assert benchmark.shows_data_to(member)
    client.post("/accounts/benchmarks/access/", {"identifier": benchmark.identifier, "access": "private"})
    benchmark.refresh_from_db()
    assert not benchmark.shows_data_to(member)
    assert benchmark.shows_data_to(owner)
    scores = {row.identifier for row in snapshot_for(AnonymousUser()).benchmarks}
    assert benchmark.identifier in scores  # scores stay public
    answer = client.post("/accounts/benchmarks/access/", {"identifier": mine.benchmarks[1], "access": "private"})
    assert answer.status_code == 404
    Benchmark.objects.filter(identifier="V1").update(owner=owner)
    assert client.post("/accounts/benchmarks/access/", {"identifier": "V1", "access": "public"}).status_code == 404


def test_long_lists_have_pages(client, owner):
    VisionModel.objects.bulk_create(VisionModel(identifier=f"m{number:03d}", owner=owner) for number in range(120))
    client.force_login(owner)
    page = client.get("/accounts/profile/?models=3").content.decode()
    assert "101–120 of 120" in page
    assert "/vision/model/m119/" in page
    assert "/vision/model/m099/" not in page
    for odd in ("0", "99", "x", "-1", ""):
        assert client.get(f"/accounts/profile/?models={odd}").status_code == 200


def test_change_the_display_name(client, owner):
    client.force_login(owner)
    assert client.post("/accounts/name/", {"display_name": " Olga  the Owner "})["Location"] == "/accounts/profile/"
    owner.refresh_from_db()
    assert owner.display_name == "Olga the Owner"
    answer = client.post("/accounts/name/", {"display_name": "a\u200bb"})
    assert "invisible characters" in answer.content.decode()
    client.post("/accounts/name/", {"display_name": "", "is_superuser": "1", "email": "x@example.org"})
    owner.refresh_from_db()
    assert (owner.public_name, owner.is_superuser, owner.email) == (f"member {owner.pk}", False, "owner@example.org")


def test_a_token_is_shown_once(client, owner, mailoutbox):
    client.force_login(owner)
    answer = client.post("/accounts/tokens/", {"name": "laptop", "scopes": ["read"], "days": "30"})
    text = answer.context["text"]
    assert text in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    token = ApiToken.find(text)
    assert (token.user, token.scopes) == (owner, ["read"])
    assert timedelta(days=29) < token.expires - timezone.now() <= timedelta(days=30)
    profile = client.get("/accounts/profile/").content.decode()
    assert "laptop" in profile
    assert text not in profile
    assert text not in mailoutbox[0].body
    assert "scopes: read" in mailoutbox[0].body
    client.post(f"/accounts/tokens/{token.pk}/revoke/")
    assert ApiToken.find(text) is None
    assert "laptop" not in client.get("/accounts/profile/").content.decode().replace("token laptop is revoked", "")


def test_tokens_may_do_what_their_owner_may(client, owner, scorer):
    client.force_login(owner)
    asked = {"name": "x", "scopes": ["receipts:write"], "days": "0"}
    assert "receipts:write" not in client.get("/accounts/tokens/").content.decode()
    assert client.post("/accounts/tokens/", asked).context["form"].errors["scopes"]
    client.force_login(scorer)
    assert ApiToken.find(client.post("/accounts/tokens/", asked).context["text"]).expires is None


@pytest.mark.parametrize(
    "changes", [{"name": ""}, {"scopes": []}, {"scopes": ["all"]}, {"days": "5000"}, {"name": "x" * 101}]
)
def test_tokens_that_make_no_sense(client, owner, changes):
    client.force_login(owner)
    answer = client.post("/accounts/tokens/", {"name": "x", "scopes": ["read"], "days": "30", **changes})
    assert answer.context["form"].errors
    assert not ApiToken.objects.exists()


def test_no_more_tokens_than_needed(client, owner):
    for number in range(50):
        ApiToken.issue(owner, str(number), ["read"])
    client.force_login(owner)
    answer = client.post("/accounts/tokens/", {"name": "x", "scopes": ["read"], "days": "30"})
    assert "Revoke one first" in answer.content.decode()


def test_own_data(client, mine, owner, member):
    _, text = ApiToken.issue(owner, "laptop", ["read"])
    ApiToken.issue(member, "not mine", ["read"])
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    answer = client.get("/accounts/data/")
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"].startswith('attachment; filename="brain-score-20')
    told = json.loads(answer.content)
    assert told["profile"]["email"] == "owner@example.org"
    assert told["profile"]["role"] == "member"
    assert told["addresses"] == [{"email": "owner@example.org", "verified": True, "primary": True}]
    assert [token["name"] for token in told["tokens"]] == ["laptop"]
    assert {model["identifier"] for model in told["models"]} == {mine.models[0], mine.models[-1]}
    assert [benchmark["identifier"] for benchmark in told["benchmarks"]] == [mine.benchmarks[0]]
    assert told["sessions"] == 1
    secrets = (text, ApiToken.objects.get(name="laptop").digest, owner.password, "not mine", "member@")
    assert not any(secret in answer.content.decode() for secret in secrets)


def test_every_table_that_names_a_person_is_exported():
    people = get_user_model()
    exported = {table for table, _ in SECTIONS.values()}
    naming = {
        model
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if field.is_relation and field.concrete and not field.auto_created and field.related_model is people
    } - {through for field in people._meta.many_to_many for through in [field.remote_field.through]}
    assert naming | {people} == exported


def leave(client, **data):
    return client.post("/accounts/delete/", {"password": PASSWORD, **data})


@pytest.mark.parametrize("leftover", list(PrivateModels))
def test_leaving(client, mine, owner, mailoutbox, leftover):
    elsewhere = Client()
    elsewhere.force_login(owner)
    ApiToken.issue(owner, "laptop", ["read"])
    private = mine.models[-1]
    page = client.get("/accounts/delete/").content.decode()
    assert "models (2) and benchmarks (1) remain" in page
    answer = leave(client, leftover=leftover.value)
    assert "Your account has been deleted" in answer.content.decode()
    assert mailoutbox[-1].to == ["owner@example.org"]
    assert not User.objects.filter(pk=owner.pk).exists()
    assert not ApiToken.objects.exists()
    assert elsewhere.get("/accounts/profile/").status_code == 302
    assert VisionModel.objects.get(identifier=mine.models[0]).owner is None
    assert Benchmark.objects.get(identifier=mine.benchmarks[0]).owner is None
    assert Score.objects.filter(model__identifier=mine.models[0]).exists()
    assert mine.models[0] in public(mine)
    model = VisionModel.objects.get(identifier=private)
    assert model.owner is None
    assert model.visibility == ("public" if leftover is PrivateModels.PUBLISH else "private")
    assert (private in public(mine)) is (leftover is PrivateModels.PUBLISH)
    assert model.scores.exists() is (leftover is not PrivateModels.ERASE)
    assert (model.architecture == "") is (leftover is PrivateModels.ERASE)


def test_what_was_erased_is_not_published_by_reading_receipts_again(client, mine):
    from brainscore_core.scoring import BenchmarkInfo, ModelInfo, PluginCode, Receipt, Timings
    from brainscore_web.leaderboard.ingest import ingest_receipts

    name = mine.models[-1]
    receipt = Receipt(
        model=ModelInfo(identifier=name, plugin=PluginCode(name="a_model")),
        benchmark=BenchmarkInfo(identifier=mine.benchmarks[0], version=2),
        state="not applicable",
        created="2026-01-01T00:00:00.000000Z",
        reason="it has no such task",
        timings=Timings(total=1.0),
    ).identified()
    leave(client, leftover="erase")
    assert ingest_receipts([receipt], by=None).added == 1
    assert VisionModel.objects.get(identifier=name).visibility == "private"
    assert name not in public(mine)


def test_leaving_needs_the_password(client, mine, owner):
    answer = leave(client, password="wrong password", leftover="keep")
    assert "Incorrect password" in answer.content.decode()
    assert "This field is required" in leave(client).content.decode()  # what becomes of private models
    for _ in range(4):
        leave(client, password="wrong password", leftover="keep")
    assert "Too many failed" in leave(client, leftover="keep").content.decode()
    assert User.objects.filter(pk=owner.pk).exists()


def test_without_private_models_nothing_is_asked(client, member):
    client.force_login(member)
    assert "private models" not in client.get("/accounts/delete/").content.decode().lower()
    assert "deleted" in leave(client).content.decode()


def test_the_last_administrator_stays(client, staff):
    client.force_login(staff)
    assert "no administrator" in leave(client).content.decode()
    assert User.objects.filter(pk=staff.pk).exists()
    User.objects.create_superuser("second@example.org", PASSWORD)
    leave(client)
    assert not User.objects.filter(pk=staff.pk).exists()


def test_roles(member, staff):
    assert (member.role, staff.role) == ("member", "administrator")
    member.groups.add(Group.objects.get(name="reviewers"))
    reviewer = User.objects.get(pk=member.pk)
    assert reviewer.role == "reviewer"
    assert reviewer.has_perm("accounts.review_submissions")
    assert not reviewer.has_perm("leaderboard.view_private")
    assert not reviewer.is_staff


def test_accounts_that_were_there_get_addresses_in_lower_case(member):
    import importlib

    from django.db import connection

    migration = importlib.import_module("brainscore_web.accounts.migrations.0002_shared_cache_and_reviewers")
    User.objects.filter(pk=member.pk).update(email="Member@Example.org")
    with connection.schema_editor() if connection.vendor == "postgresql" else _no_editor() as editor:
        migration.lower_addresses(apps, editor)
    member.refresh_from_db()
    assert member.email == "member@example.org"


def _no_editor():
    """SQLite's editor refuses to work within a test's transaction; the migration uses only its connection."""
    from contextlib import nullcontext
    from types import SimpleNamespace

    from django.db import connection

    return nullcontext(SimpleNamespace(connection=connection))


def test_pages_of_accounts_are_kept_nowhere(client, mine):
    for address in ("/accounts/profile/", "/accounts/email/", "/accounts/data/", "/accounts/2fa/", "/accounts/delete/"):
        assert client.get(address)["Cache-Control"] == "no-store, private"
