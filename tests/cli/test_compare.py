import json
import re

import numpy as np
import pytest

from brainscore_core.metrics import Score
from brainscore_core.results.store import arrays_of
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, ResultsStore
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


@pytest.fixture
def results(tmp_path):
    store = ResultsStore(tmp_path / "results")
    rng = np.random.default_rng(0)
    ease = rng.random(50)
    for model, skill in (("high", 0.35), ("middle", 0.33), ("low", 0.0)):
        right = (rng.random(50) < 0.5 * ease + skill).astype(float)
        score = Score(right.mean())
        score.attrs["influence"] = DataAssembly(
            right - right.mean(), coords={"stimulus_id": ("presentation", np.arange(50))}, dims=["presentation"]
        )
        receipt = Receipt(
            model=ModelInfo(identifier=model),
            benchmark=BenchmarkInfo(identifier="Some2026-accuracy", version=1),
            state="scored",
            score=Estimate.from_score(score),
        )
        store.write(receipt, arrays_of(score)[0])
    return str(store.folder)


def test_pairs(cli, results):
    found = cli("compare", "high", "middle", "low", "-b", "Some2026-accuracy", "--results", results)
    assert found.exit_code == 0
    header, *lines = (line.split("\t") for line in found.stdout.splitlines())
    assert header == ["Benchmark", "Models", "Difference (95 % interval)", "p", "p (Holm)", "Resampled", "Outcome"]
    assert [line[1] for line in lines] == ["high − middle", "high − low", "middle − low"]
    assert [line[5] for line in lines] == ["50 stimuli"] * 3
    assert [line[6] for line in lines] == [
        f"{outcome} (unknown subjects and groups: not recorded)"
        for outcome in ("no difference found", "high is better", "middle is better")
    ]


def test_json(cli, results):
    arguments = ("compare", "high", "low", "-b", "Some2026-accuracy", "--results", results, "--json")
    (found,) = json.loads(cli(*arguments).stdout)
    assert (found["first"], found["second"], found["better"], found["correction"]) == ("high", "low", "high", "holm")
    assert found["ci"][0] < found["difference"] < found["ci"][1]
    assert found["p"] == found["p_corrected"]


def test_ranks(cli, results):
    arguments = (
        "compare",
        "low",
        "high",
        "middle",
        "absent",
        "-b",
        "Some2026-accuracy",
        "--results",
        results,
        "--ranks",
    )
    found = cli(*arguments)
    assert found.exit_code == 0
    lines = [line.split("\t") for line in found.stdout.splitlines()]
    assert lines[0] == ["Benchmark", "Rank", "Interval", "Groups", "Score", "Model"]
    assert [(line[1], line[2], line[3]) for line in lines[1:]] == [("1", "1 to 2", "a"), ("2", "1 to 2", "a"),
                                                                   ("3", "3", "b")]  # fmt: skip
    assert "absent is not ranked: absent was not scored" in found.stderr
    (ranking,) = json.loads(cli(*arguments, "--json").stdout)
    assert [one["model"] for one in ranking["models"]][2] == "low"
    assert ranking["simultaneous"] is True


def test_nothing_to_compare(cli, results):
    found = cli("compare", "high", "absent", "-b", "Some2026-accuracy", "--results", results)
    assert found.exit_code == 1
    assert "absent was not scored on Some2026-accuracy" in found.stderr
    assert "not compared" in found.stdout


def test_patterns_and_all(cli, results):
    for models in ((), ("*",), ("high", "low", "m*")):
        found = cli("compare", *models, "-b", "Some2026-accuracy", "--ranks", "--results", results)
        assert {line.split("\t")[-1] for line in found.stdout.splitlines()[1:]} == {"high", "middle", "low"}


def test_a_pattern_without_a_model(cli, results):
    found = cli("compare", "x*", "-b", "Some2026-accuracy", "--results", results)
    assert found.exit_code == 2
    assert "no model 'x*' has a receipt" in found.stderr
    assert "models with a receipt: high, low, middle" in found.stderr


class TestWithoutBenchmarks:
    @pytest.fixture
    def more(self, results):
        for model, benchmark in (("high", "Other2026-accuracy"), ("low", "Other2026-accuracy"), ("high", "Third2026")):
            ResultsStore(results).write(
                Receipt(
                    model=ModelInfo(identifier=model),
                    benchmark=BenchmarkInfo(identifier=benchmark, version=1),
                    state="not applicable",
                    reason="a test",
                )
            )
        return results

    @pytest.mark.parametrize("models", [("high", "low"), ("h*", "low")])
    def test_those_that_both_have(self, cli, more, models):
        found = cli("compare", *models, "--results", more)
        assert found.exit_code == 0
        lines = [line.split("\t")[:2] for line in found.stdout.splitlines()[1:]]
        assert lines == [["Other2026-accuracy", "high − low"], ["Some2026-accuracy", "high − low"]]

    @pytest.mark.parametrize(
        ("models", "message"),
        [
            (("high",), "needs two models; only 'high' is selected\\n.*add one of those .*: low, middle"),
            (("h*",), "needs two models; only 'high' is selected"),
            (("high", "-b", "Third2026"), "needs two models; only 'high' .*\\n.*no other has a receipt of Third2026"),
            ((), "no models and no benchmark are named\\n.*brainscore compare FIRST SECOND"),
            (("high", "lwo"), "'lwo' has no receipt in .*\n.*did you mean low"),
        ],
    )
    def test_mistakes_are_named(self, cli, more, models, message):
        found = cli("compare", *models, "--results", more)
        assert found.exit_code == 2
        assert re.search(message, found.stderr)


NETWORK = """
    from types import SimpleNamespace

    from brainscore_vision import benchmark_registry, model_registry

    def _model():
        import torch
        network = torch.nn.Linear(1, 40)
        torch.nn.init.constant_(network.weight, 9.0)
        return SimpleNamespace(
            identifier="lab-net", look_at=None, activations_model=SimpleNamespace(model=network)
        )

    def _benchmark():
        from brainscore_core.benchmarks import BenchmarkBase
        from brainscore_core.metrics import Score
        from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

        class Weights(BenchmarkBase):
            def __call__(self, candidate):
                values = candidate.activations_model.model.weight.detach().numpy().ravel().astype(float)
                score = Score(values.mean())
                score.attrs["influence"] = DataAssembly(
                    values - values.mean(), coords={"stimulus_id": ("presentation", range(40))}, dims=["presentation"]
                )
                return score

        return Weights("Weights2026", lambda: 1.0, version=1)

    model_registry["lab-net"] = _model
    benchmark_registry["Weights2026"] = _benchmark
"""


@pytest.mark.slow(reason="imports PyTorch")
def test_an_untrained_twin_is_scored_once_and_compared(cli, lab, tmp_path):
    pytest.importorskip("torch")
    lab("models", "lab_net", NETWORK)
    arguments = ("compare", "lab-net", "Weights2026", "--with-untrained", "--results", str(tmp_path / "results"))
    found = cli(*arguments, "--json", catch_exceptions=False)
    assert found.exit_code == 0, found.output
    (pair,) = json.loads(found.stdout)
    assert (pair["first"], pair["second"], pair["better"]) == ("lab-net", "lab-net-untrained", "lab-net")
    assert pair["scores"][0] == 9.0
    assert pair["difference"] == pair["scores"][0] - pair["scores"][1]
    assert "one draw of initial weights" in found.stderr
    again = json.loads(cli(*arguments, "--json", catch_exceptions=False).stdout)
    assert again[0]["receipts"] == pair["receipts"]
    refused = cli("compare", "lab-net", "--with-untrained")
    assert "needs a model and a benchmark" in str(refused.exception) + refused.output
