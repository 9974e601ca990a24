"""Code on the cards works as it is pasted."""

import html
import re
import shlex

import pytest
from click.testing import CliRunner

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.cards.facts import installed
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel


@pytest.fixture
def recall(monkeypatch, tmp_path):
    """A benchmark that takes no time."""
    from brainscore_core.benchmarks import BenchmarkBase, normalise
    from brainscore_core.metrics import Score, attach_uncertainty
    from brainscore_vision import benchmark_registry

    class Recall(BenchmarkBase):
        def __init__(self):
            super().__init__("Recall2026-accuracy", ceiling_func=self._of_people, version=1)

        def _of_people(self):
            ceiling = attach_uncertainty(Score(0.8), error=0.02, ci=(0.76, 0.84), method="t", estimates="people")
            ceiling.attrs["meaning"] = "human-human"
            return ceiling

        def __call__(self, candidate):
            score = attach_uncertainty(Score(0.6), error=0.03, ci=(0.54, 0.66), method="t", estimates="people")
            score.attrs["scale"] = "accuracy"
            return normalise(score, self.ceiling)

    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    monkeypatch.delenv("BRAINSCORE_RESULTS", raising=False)
    benchmark_registry["Recall2026-accuracy"] = Recall
    yield "Recall2026-accuracy"
    del benchmark_registry["Recall2026-accuracy"]


@pytest.fixture
def snippets(client):
    def read(address):
        page = client.get(address).content.decode()
        return {
            name: html.unescape(code) for name, code in re.findall(r'id="code-(\w+)"><code>(.*?)</code>', page, re.S)
        }

    return read


def test_model_and_benchmark(board, recall, snippets, capsys):
    VisionModel.objects.filter(identifier=board.models[0]).update(identifier="pixels")
    Score.objects.filter(model__identifier="pixels").exclude(benchmark__identifier=board.benchmarks[0]).delete()
    Score.objects.filter(model__identifier="pixels").update(state="scored", value=0.5)
    Benchmark.objects.filter(identifier=board.benchmarks[0]).update(identifier=recall)
    revision.bump()
    for address in ("/vision/model/pixels/", f"/vision/benchmark/{recall}/"):
        found = snippets(address)
        assert recall in found["python"]
        exec(compile(found["python"], "pasted", "exec"), {})
        assert capsys.readouterr().out.startswith("Score 0.750 (95 %: 0.668–0.836)")

        from brainscore.cli import app

        program, *arguments = shlex.split(found["command"])
        assert program == "brainscore"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert "0.750" in result.output


def test_models_without_a_public_score_are_loaded(board, snippets, capsys):
    VisionModel.objects.filter(identifier=board.models[0]).update(identifier="pixels")
    Benchmark.objects.update(access="private")
    revision.bump()
    exec(compile(snippets("/vision/model/pixels/")["python"], "pasted", "exec"), {})
    assert capsys.readouterr().out.strip() == "pixels"


def test_the_example_is_the_best_model_that_can_be_had(board, snippets):
    Benchmark.objects.filter(identifier=board.benchmarks[0]).update(identifier="Some2026-pls")
    revision.bump()
    address = "/vision/benchmark/Some2026-pls/"
    assert 'score("alexnet",' in snippets(address)["python"]
    order = Score.objects.filter(
        benchmark__identifier="Some2026-pls", version="2", state="scored", model__visibility="public"
    ).order_by("-value")
    names = iter(("not installed", "alexnet", "pixels"))
    for row in order[:3]:
        VisionModel.objects.filter(pk=row.model_id).update(identifier=next(names), runnable=True)
    revision.bump()
    found = snippets(address)
    assert 'score("alexnet",' in found["python"]
    assert found["command"].startswith("brainscore score alexnet ")


def test_what_is_not_installed_says_what_to_do(board, client):
    VisionModel.objects.filter(identifier=board.models[0]).update(identifier="not-installed")
    revision.bump()
    assert "BRAINSCORE_PLUGINS" in client.get("/vision/model/not-installed/").content.decode()
    assert "pixels" in installed("vision", "model")
    VisionModel.objects.filter(identifier="not-installed").update(identifier="pixels")
    revision.bump()
    assert "BRAINSCORE_PLUGINS" not in client.get("/vision/model/pixels/").content.decode()
