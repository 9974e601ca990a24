"""Queries do not grow with the number of models, and there are few."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from brainscore_web.leaderboard.models import VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard

PAGES = {
    "/vision/model/simulated-convnet-000/": 7,
    "/vision/benchmark/Simulated000.V1-pls/?models=all": 6,
    "/vision/benchmark/neural_vision/?models=all": 2,
    "/vision/benchmarks/": 2,
    "/vision/models/": 3,
}


def count(client, address):
    client.get(address)  # the snapshot is there
    with CaptureQueriesContext(
        connection,
    ) as found:
        assert client.get(address).status_code == 200
    return len(found)


@pytest.mark.parametrize("models", [4, 40])
def test_queries(db, client, models):
    simulate_leaderboard(models=models, benchmarks=24, versions=2)
    assert {address: count(client, address) for address in PAGES} == PAGES


def test_queries_of_members(board, client, owner):
    client.force_login(owner)
    VisionModel.objects.filter(identifier=board.models[0]).update(owner=owner)
    for address, alone in PAGES.items():
        assert count(client, address) <= alone + 6  # session, person, rights, private models


def test_a_receipt_takes_two_queries(board, client, django_assert_max_num_queries):
    from brainscore_web.leaderboard.models import Score

    receipt = Score.objects.filter(model__identifier=board.models[0]).first().receipt
    with django_assert_max_num_queries(2):  # the second: who uploaded it
        client.get(f"/vision/receipt/{receipt}/")
