"""Addresses of odd identifiers lead there and back; names that there are not are answered with near ones."""

import ast
import re
import shlex

import pytest
from django.urls import reverse

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.cards._snippets import model_code
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel

ODD = [
    "lab/net v1.2", "a/b/c", "résumé-模型", "50%?x=1#y&z", "semi;colon,comma+plus", "dots..and...more", "trailing.",
    "quote'\"<b>", "tilde~@:$!", "{{ braces }}", "back\\slash", "IDENTIFIER", "-",
]  # fmt: skip


@pytest.mark.parametrize("identifier", ODD)
@pytest.mark.parametrize("kind", ["model", "benchmark"])
def test_there_and_back(board, client, read, kind, identifier):
    table = {"model": VisionModel, "benchmark": Benchmark}[kind]
    names = {"model": board.models, "benchmark": board.benchmarks}[kind]
    table.objects.filter(identifier=names[0]).update(identifier=identifier)
    revision.bump()
    address = reverse(f"cards:{kind}", args=[identifier])
    answer = client.get(address)
    assert answer.resolver_match.kwargs == {"identifier": identifier}
    assert answer.status_code == 200
    assert identifier in read(answer)
    for listing in (f"/vision/{kind}s/", "/vision/benchmark/V1/"):  # links in lists lead there
        links = re.findall(rf'href="(/vision/{kind}/[^"]+)">', client.get(listing).content.decode())
        found = [link for link in links if client.get(link).resolver_match.kwargs["identifier"] == identifier]
        if listing.startswith(f"/vision/{kind}s"):
            assert len(found) == 1
            assert client.get(found[0]).status_code == 200


def test_code_holds_odd_identifiers_as_they_are(board, client):
    odd = "quote'\"\\<b>\n"
    VisionModel.objects.filter(identifier=board.models[0]).update(identifier=odd)
    revision.bump()
    code = model_code(odd, odd)
    texts = [
        node.value
        for node in ast.walk(ast.parse(code.python))
        if isinstance(node, ast.Constant) and "quote" in str(node.value)
    ]
    assert texts == [odd, odd]
    assert shlex.split(code.command) == ["brainscore", "score", odd, odd]
    assert client.get(reverse("cards:model", args=["x"])).status_code == 404


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("/vision/model/simulated-convne-000/", "/vision/model/simulated-convnet-000/"),
        ("/vision/model/SIMULATED-CONVNET-000/", "/vision/model/simulated-convnet-000/"),
        ("/vision/benchmark/Simulated00.V1-pls/", "/vision/benchmark/Simulated000.V1-pls/"),
        ("/vision/benchmark/neural/", "/vision/benchmark/neural_vision/"),
    ],
)
def test_near_names(board, get, address, near):
    answer = get(address, status=404)
    assert near in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"


def test_near_names_of_private_models_are_for_those_who_see_them(board, get, owner, member):
    private = board.models[-1]
    for who, seen in ((None, False), (member, False), (owner, True)):
        page = get(f"/vision/model/{private[:-1]}/", who, status=404).content.decode()
        assert (f'href="/vision/model/{private}/"' in page) is seen


def test_reading_only(board, client):
    for address in ("/vision/models/", f"/vision/model/{board.models[0]}/", "/vision/benchmarks/"):
        assert client.post(address).status_code == 405
        assert client.head(address).status_code == 200


def test_private_scores_are_nowhere(board, get, member):
    values = Score.objects.filter(model__identifier=board.models[-1], state="scored").values_list("value", "receipt")
    pages = [
        "/vision/models/",
        "/vision/benchmarks/",
        *(f"/vision/benchmark/{name}/?models=all" for name in board.benchmarks),
    ]
    for address in pages:
        page = get(address, member).content.decode()
        assert not [receipt for _, receipt in values if receipt in page]
        assert board.models[-1] not in page
