"""A competition of models of language: its rules, its standings, its page."""

import pytest
from django.contrib.auth.models import Permission

from brainscore_web.accounts.models import User
from brainscore_web.competitions.models import Competition, Entry, Milestone
from brainscore_web.leaderboard import simulation
from brainscore_web.leaderboard.models import Score, VisionModel

TEXTS = {"slug": "tapir", "year": "2031", "title": "Tapir Cup", "summary": "Reading.", "domain": "language"}
TRACK = {
    "title": "Readers", "competes": "models", "wins": "highest", "inapplicable": "leave out", "one_a_team": "on",
    "order": "1", "regions": "language_system",
}  # fmt: skip


@pytest.fixture
def organiser(db, client):
    user = User.objects.create_user("organiser@example.org", "correct horse battery", display_name="Orla")
    user.user_permissions.add(Permission.objects.get(codename="manage", content_type__app_label="competitions"))
    client.force_login(user)
    return user


def test_models_of_language_compete(organiser, client, settings):
    for domain in ("vision", "language"):
        made = simulation.simulate_leaderboard(models=6, benchmarks=8, private=0, domain=domain)
    assert client.post("/competitions/new/", TEXTS | {"domain": "music"}).status_code == 400
    client.post("/competitions/new/", TEXTS)
    competition = Competition.objects.get(slug="tapir")
    assert competition.domain == "language"
    form = client.get("/competitions/tapir/manage/tracks/new/").content.decode()
    assert "static images" not in form
    assert "time bin" not in form
    listed = made.benchmarks[0]
    assert client.post("/competitions/tapir/manage/tracks/new/", TRACK | {"listed": listed}).status_code == 302
    client.post("/competitions/tapir/manage/texts/", TEXTS | {"domain": "vision"})
    competition.refresh_from_db()
    assert competition.domain == "language"  # a track lists benchmarks of this domain
    Milestone.objects.create(competition=competition, kind="deadline", title="Until", announced="2131-06-30")
    client.post("/competitions/tapir/manage/publish/")
    track = competition.tracks.get()

    VisionModel.objects.filter(identifier__startswith="simulated-").update(owner=organiser)
    offered = client.get(f"/competitions/tapir/tracks/{track.pk}/enter/").content.decode()
    assert "simulated-gpt-000" in offered
    assert "simulated-vit" not in offered
    for name in made.models[:3]:
        Entry.objects.create(track=track, identifier=name, team=name, model=VisionModel.objects.get(identifier=name))
    Score.objects.filter(benchmark__identifier=listed).update(state="scored", value=0.5, version="1")
    Score.objects.filter(benchmark__identifier=listed, model__identifier=made.models[1]).update(value=0.9)
    page = client.get("/competitions/tapir/").content.decode()
    assert f'href="/language/model/{made.models[1]}/"' in page
    rows = client.get("/competitions/tapir/standings.json").json()["tracks"][0]["rows"]
    assert (rows[0]["identifier"], rows[0]["place"], rows[0]["mean"]) == (made.models[1], 1, 0.9)
    assert "Tapir Cup" in client.get("/competitions/?domain=language").content.decode()
    assert "Tapir Cup" not in client.get("/competitions/?domain=vision").content.decode()
