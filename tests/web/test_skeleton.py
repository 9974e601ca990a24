import pytest
from django.core.management import call_command

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Score, VisionModel


def test_no_migration_is_missing(db):
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_private_models_are_seen_by_their_owner_alone(board, owner, member, staff, client):
    names = {
        who: set(VisionModel.objects.visible_to(who).values_list("identifier", flat=True))
        for who in (owner, member, staff)
    }
    assert board.models[-1] in names[owner]
    assert board.models[-1] not in names[member]
    assert names[staff] == set(board.models)
    assert not Score.objects.visible_to(member).filter(model__identifier=board.models[-1]).exists()


def test_a_change_is_a_new_revision(board):
    before = revision.current()
    VisionModel.objects.first().save()
    assert revision.current() > before


@pytest.mark.parametrize("address", ["/"])
def test_pages_answer(client, db, address):
    answer = client.get(address)
    assert answer.status_code == 200
    assert "script-src 'self'" in answer["Content-Security-Policy"]
