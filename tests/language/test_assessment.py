"""Texts that are equal, splits that divide passages, and twins without training."""

from importlib import import_module

import numpy as np
import pytest

from brainscore_core.benchmarks.metadata import longest_match
from brainscore_core.domains import domain
from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.training_data import Training, unlisted_names
from brainscore_language import benchmark_registry, load_benchmark
from brainscore_language.assessment import audit, shared_texts, split_findings, untrained_twin
from brainscore_language.benchmark_helpers.recordings import baseline_scores
from brainscore_language.benchmarks.syntaxgym.benchmark import SyntaxGymSingleTSE
from brainscore_language.catalogue import catalogue, training_of
from tests.optional import declare_operators, require_package

SENTENCES = [f"Sentence number {number} of a story" for number in range(48)]


def recordings(sentences=SENTENCES, length=4, **further):
    """Noise that the sentences of a story share."""
    random = np.random.default_rng(0)
    stories = np.arange(len(sentences)) // length
    shared = random.standard_normal((len(sentences) // length, 10))
    return NeuroidAssembly(
        shared[stories] + 0.3 * random.standard_normal((len(sentences), 10)),
        coords={
            "stimulus": ("presentation", np.array(sentences, dtype=object)),
            "stimulus_id": ("presentation", np.arange(len(sentences))),
            **dict.fromkeys(("story", "sentence_id"), ("presentation", stories)),
            "neuroid_id": ("neuroid", np.arange(10)),
            **dict.fromkeys(("subject_id", "subject_UID"), ("neuroid", np.arange(10) // 2)),
        },
        dims=["presentation", "neuroid"],
        attrs={"stimulus_groups": "story"},
    )


def benchmark(name, *args, **kwargs):
    made = load_benchmark(name)
    made._load_data = lambda: recordings(*args, **kwargs)
    return made


def test_shuffled_splits_are_flagged_and_whole_stories_are_not():
    shuffled, whole = (audit(benchmark(f"Blank2014-{kind}")) for kind in ("linear-shuffle", "ridge"))
    shares = {overlap.kind: round(overlap.share, 1) for overlap in shuffled.overlaps}
    assert shares == {"story": 1, "sentence_id": 1}
    assert whole.clean
    assert not shuffled.clean
    assert "100 % of the test stimuli share a group with training stimuli" in shuffled.text()
    assert shuffled.independent == whole.independent == 12
    checks = [finding.check for finding in split_findings(benchmark("Blank2014-linear-shuffle"))]
    assert checks == ["splits divide values of 'story'", "splits divide values of 'sentence_id'"]
    assert not split_findings(benchmark("Blank2014-ridge"))


def test_what_shuffled_splits_reward_needs_no_language():
    shuffled, whole = (benchmark(f"Blank2014-{kind}").baselines for kind in ("linear-shuffle", "ridge"))
    assert shuffled["neighbourhood"] > 0.5
    assert abs(whole["neighbourhood"]) < 0.1


def test_baselines_of_unrelated_sentences():
    data = recordings(length=1)
    scores = baseline_scores(data, load_benchmark("Tuckute2024-ridge").metric, text_coord="stimulus_id")
    assert {"length"} <= set(scores) <= {"length", "frequency"}


def test_equal_texts_within_and_between_benchmarks():
    sentences = [*SENTENCES[:-2], SENTENCES[0], SENTENCES[1].upper() + "!"]
    found = audit(benchmark("Blank2014-ridge", sentences))
    assert {overlap.kind: overlap.pairs for overlap in found.overlaps if overlap.pairs} == {
        "equal texts": 1,
        "texts alike but for case and punctuation": 1,
    }
    assert not found.clean
    shared = shared_texts(benchmark("Blank2014-ridge"), ["SENTENCE number 3, of a story"])
    assert shared == ["sentence number 3 of a story"]
    words = audit(benchmark("Fedorenko2016-ridge", ["the"] * 48))  # words recur: their sentences are compared
    assert {overlap.pairs for overlap in words.overlaps if overlap.kind == "equal texts"} == {12 * 11 / 2}


def test_suites_have_texts_and_benchmarks_without_texts_say_so():
    regions = [{"region_number": 1, "content": "The cats sleep"}]
    conditions = [{"condition_name": name, "regions": regions} for name in ("a", "b")]
    items = [{"item_number": 1, "conditions": conditions}]
    suite = {"meta": {"name": "cats"}, "predictions": [{"formula": "(1;%a%) = (1;%b%)"}], "items": items}
    assert [overlap.pairs for overlap in audit(SyntaxGymSingleTSE("x", suite)).overlaps] == [1]
    without = benchmark("Blank2014-ridge")
    without._load_data = lambda: recordings().drop_vars("stimulus")
    with pytest.raises(UserError, match="texts of 'Blank2014-ridge' are not known"):
        audit(without)


def test_an_untrained_twin_has_other_weights_and_the_same_layers():
    require_package("transformers", "needs transformers")
    declare_operators()
    import torch
    import transformers

    from brainscore_language.model_helpers.huggingface import HuggingfaceSubject

    network = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=50, n_embd=8, n_layer=1, n_head=2))
    subject = HuggingfaceSubject("tiny", {"language_system": "transformer.h.0"}, model=network, tokenizer=object())
    twin, again = untrained_twin(subject), untrained_twin(subject)
    assert twin.identifier() == "tiny-untrained"
    weights = [each.basemodel.transformer.wte.weight for each in (subject, twin, again)]
    assert torch.equal(weights[1], weights[2])
    assert not torch.equal(weights[0], weights[1])
    subject.basemodel = torch.nn.Linear(2, 2)
    with pytest.raises(UserError, match="tiny has no configuration"):
        untrained_twin(subject)


def test_every_benchmark_is_described_and_shuffled_splits_are_named():
    for identifier in benchmark_registry:
        module = import_module(benchmark_registry.location(identifier).package)
        metadata = longest_match(identifier, module.METADATA)
        assert metadata is not None, identifier
        assert metadata.title
        assert metadata.stimuli.datatype == "text"
        assert metadata.data.access is not None, identifier
        assert identifier.endswith("-shuffle") == any("Splits divide passages" in note for note in metadata.notes)


def test_training_data_of_models_and_texts():
    models = ("gpt2", "distilgpt2", "gpt3-davinci-recorded2020", "glove-6b-50d", "phi-2", "word-length", "of-nobody")
    states = {
        benchmark: [
            finding.state for finding in domain("language").exposure((model, benchmark) for model in models).values()
        ]
        for benchmark in ("Wikitext-accuracy", "NaturalStories2021-added", "SimulatedText2026-ridge")
    }
    trained, clean, unknown = "trained on it", "clean", "unknown"
    assert states["Wikitext-accuracy"] == [clean, unknown, trained, trained, unknown, clean, unknown]
    assert states["NaturalStories2021-added"] == [*[unknown] * 5, clean, unknown]
    assert states["SimulatedText2026-ridge"] == [clean] * 7
    assert training_of("distilgpt2") == Training(("OpenWebText", "WebText"), True)
    assert not training_of("smollm2-135m").complete


def test_data_sets_of_the_tables_are_listed():
    known = catalogue()
    assert known.problems == ()
    for entry in (*known.models, *known.benchmarks):
        described = entry.metadata
        names = described and (described.trained_on if entry in known.models else described.stimuli.taken_from)
        assert unlisted_names(names or ()) == (), entry.identifier
