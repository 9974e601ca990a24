"""Addresses of odd identifiers lead there and back; names that there are not are answered with near ones."""

import ast
import html
import re
import shlex

import pytest
from django.urls import reverse

from brainscore_core.domains import domain
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.cards.facts import model_code
from brainscore_web.leaderboard.models import Benchmark, VisionModel

from .._databases import fill

ODD = [
    "lab/net v1.2", "a/b/c", "résumé-模型", "50%?x=1#y&z", "semi;colon,comma+plus", "dots..and...more", "trailing.",
    "quote'\"<b>", "tilde~@:$!", "{{ braces }}", "back\\slash", "IDENTIFIER", "-",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["model", "benchmark"])
def test_there_and_back(db, client, read, kind):
    made = fill(models=14, benchmarks=14, private=0)
    table, names = {"model": (VisionModel, made.models), "benchmark": (Benchmark, made.benchmarks)}[kind]
    for name, identifier in zip(names, ODD, strict=False):
        table.objects.filter(identifier=name).update(identifier=identifier)
    revision.bump()
    page = client.get(f"/vision/{kind}s/").content.decode()
    rows = re.findall(r'<th scope="row"><a href="([^"]+)">(.*?)</a>', page)
    links = {html.unescape(text): html.unescape(link) for link, text in rows}
    for identifier in ODD:
        for address in (links[identifier], reverse(f"cards:{kind}", args=["vision", identifier])):
            answer = client.get(address)
            assert answer.status_code == 200
            assert answer.context["card"]["identifier"] == identifier
        assert identifier in read(answer)


def test_code_holds_odd_identifiers_as_they_are(board, client):
    odd = "quote'\"\\<b>\n"
    VisionModel.objects.filter(identifier=board.models[0]).update(identifier=odd)
    revision.bump()
    code = model_code(domain("vision"), odd, odd)
    texts = [
        node.value
        for node in ast.walk(ast.parse(code.python))
        if isinstance(node, ast.Constant) and "quote" in str(node.value)
    ]
    assert texts == [odd, odd]
    assert shlex.split(code.command) == ["brainscore", "score", odd, odd]
    assert client.get(reverse("cards:model", args=["vision", "x"])).status_code == 404


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
