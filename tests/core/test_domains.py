"""Descriptions of domains, and the domain of a name."""

import subprocess
import sys
from itertools import combinations

import pytest

from brainscore_core.domain_names import DOMAINS
from brainscore_core.domains import REQUIRED_FEATURES, domain, domains, find, find_pair, imported
from brainscore_core.errors import UserError
from brainscore_core.plugins import Resolver
from brainscore_core.receipts.receipt import BenchmarkInfo, Estimate, ModelInfo, Receipt


@pytest.mark.parametrize("name", DOMAINS)
def test_a_description_is_complete(name):
    described = domain(name)
    assert described.name == name
    assert imported(described.model_interface)
    assert set(described.features) >= set(REQUIRED_FEATURES)
    for feature in described.features:
        assert described.feature(feature) is not None
    registered = set(described.registries["benchmark"])
    assert set(described.tree().benchmarks) <= registered
    assert described.wording.benchmark in registered
    assert described.knows("model", described.wording.model)


@pytest.mark.parametrize("kind", ["benchmark", "data", "model"])
def test_names_are_unique_across_domains(kind):
    for one, other in combinations(domains(), 2):
        assert not set(one.registries[kind]) & set(other.registries[kind])


def test_an_ambiguous_name_is_refused_with_both_spellings(monkeypatch):
    monkeypatch.setattr(
        domain("language").registries["model"], "resolver", Resolver("x", lambda name: True, *[None] * 3)
    )
    with pytest.raises(UserError, match=r"exists in vision and language\nwrite vision:pixels or language:pixels"):
        find("model", "pixels")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("model", "pixels", ("vision", "pixels")),
        ("model", "language:pixels", ("language", "pixels")),
        ("model", "timm:resnet18", ("vision", "timm:resnet18")),
        ("benchmark", "NaturalStories2021-aded", ("language", "NaturalStories2021-aded")),
        ("benchmark", "Tuckute2024-linear_pearsonr", ("language", "Tuckute2024-linear_pearsonr")),
        ("benchmark", "Simulated2026.IT:cka_cv", ("vision", "Simulated2026.IT:cka_cv")),
    ],
)
def test_the_domain_of_a_name(kind, text, expected):
    assert find(kind, text) == expected


@pytest.mark.parametrize(
    ("model", "benchmark", "message"),
    [
        (
            "pixels",
            "NaturalStories2021-added",
            "'pixels' is of vision, the benchmark 'NaturalStories2021-added' of lang",
        ),
        ("vision:word-length", "NaturalStories2021-added", "'vision:word-length' is of vision"),
    ],
)
def test_pairs_across_domains_are_refused(model, benchmark, message):
    with pytest.raises(UserError, match=message):
        find_pair(model, benchmark)


def test_an_unknown_name_that_another_domain_has_says_so():
    with pytest.raises(UserError, match=r"There is no model 'word-length'.*It is a model of language"):
        domain("vision").load_model("word-length")


def test_a_receipt_without_a_domain_is_of_vision():
    receipt = Receipt(
        model=ModelInfo(identifier="m"),
        benchmark=BenchmarkInfo(identifier="b"),
        state="scored",
        score=Estimate(value=0.5),
    )
    data = receipt.identified().to_dict()
    assert data["domain"] == "vision"
    assert Receipt.from_dict({**data, "domain": "language"}).domain == "language"
    del data["domain"]
    assert Receipt.from_dict(data).domain == "vision"


def test_the_command_line_imports_no_domain_to_show_its_help():
    code = (
        "import sys, brainscore.cli, brainscore_core.domains; from brainscore_core.domain_names import PACKAGES; "
        "print([name for name in sys.modules if name in PACKAGES])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"
