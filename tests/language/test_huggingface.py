"""Networks as subjects, beside the definition: every part is read anew with all parts before it."""

import copy
import logging
import math
import types

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Score
from brainscore_core.provenance import note, recording
from brainscore_language import load_model
from tests.optional import declare_operators, require_package

require_package("transformers", "needs transformers")
declare_operators()

import torch  # noqa: E402 - after the operators that torchvision may lack
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402 # as above
from transformers import BertConfig, BertLMHeadModel, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast  # noqa: E402 # as above

from brainscore_language.model_helpers import huggingface, localize, networks  # noqa: E402 # as above
from brainscore_language.model_helpers.hub import select_layer  # noqa: E402 # as above
from brainscore_language.model_helpers.huggingface import HuggingfaceSubject, MaskedSubject  # noqa: E402 # as above
from brainscore_language.model_helpers.preprocessing import prepare_context  # noqa: E402 # as above
from brainscore_language.model_helpers.stored_responses import stored_responses  # noqa: E402 # as above

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "a", "b", "c", "d", "e", "f", "g"]
LIMIT = 20
LAYERS = {"gpt2": ["transformer.h.0", "transformer.h.1"], "bert": ["bert.encoder.layer.0", "bert.encoder.layer.1"]}

logging.getLogger("transformers").setLevel(logging.ERROR)


@pytest.fixture(scope="module")
def tokenizer():
    vocabulary = {word: number for number, word in enumerate([*WORDS, "[UNK]", ",", "."])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[UNK]", model_max_length=LIMIT, truncation_side="left"
    )


@pytest.fixture(scope="module", params=["gpt2", "bert"])
def network(request):
    torch.manual_seed(0)
    sizes = {"vocab_size": len(WORDS) + 3, "bos_token_id": None, "eos_token_id": None}
    if request.param == "gpt2":
        made = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=32, n_head=2, n_positions=64, **sizes))
    else:
        made = BertLMHeadModel(
            BertConfig(num_hidden_layers=2, hidden_size=32, num_attention_heads=2, intermediate_size=64, **sizes)
        )
    for parameter in made.parameters():
        parameter.data *= 4
    return request.param, made.eval()


def subject(network, tokenizer, **options):
    name, made = network
    return HuggingfaceSubject(name, {"language_system": LAYERS[name]}, model=made, tokenizer=tokenizer, **options)


@pytest.fixture(scope="module")
def parts():
    random = np.random.default_rng(0)
    drawn = [" ".join(random.choice(WORDS, random.integers(1, 3))) for _ in range(25)]
    return [*drawn[:3], "", drawn[4], ",", *drawn[6:]]


@pytest.fixture(scope="module")
def definition(network, tokenizer, parts):
    """Bits, next words and responses of the first layer."""
    times, words, responses, before = [], [], [], 0
    for number in range(len(parts)):
        ids = tokenizer(prepare_context(parts[: number + 1]))["input_ids"]
        kept = ids[max(0, len(ids) - LIMIT) :]
        with torch.no_grad():
            output = network[1](torch.tensor([kept]), output_hidden_states=True)
        logs = torch.log_softmax(output.logits[0], dim=-1)
        own = range(max(len(kept) - (len(ids) - before), 0), len(kept))
        bits = [-logs[position - 1, kept[position]].item() / math.log(2) for position in own if position > 0]
        times.append(0.0 if not own else sum(bits) if bits else math.nan)
        words.append(tokenizer.decode(int(output.logits[0, -1].argmax())))
        responses.append(output.hidden_states[1][0, -1].numpy())
        before = len(ids)
    return np.array(times), words, np.array(responses)


@pytest.mark.parametrize("numbers_of_logits", [2**26, 1], ids=["whole", "divided"])
def test_values_of_the_definition(network, tokenizer, parts, definition, monkeypatch, numbers_of_logits):
    monkeypatch.setattr(huggingface, "_LOGITS", numbers_of_logits)
    monkeypatch.setattr(huggingface, "_SHORTEST", 4)
    if network[0] == "bert" and numbers_of_logits == 1:
        pytest.skip("keeps no keys of earlier tokens")
    passes = []
    handle = network[1].register_forward_hook(lambda *_: passes.append(1))
    reader = subject(network, tokenizer)
    reader.start_behavioral_task("reading_times")
    reader.start_neural_recording("language_system", "fMRI")
    answer = reader.digest_text(parts)
    handle.remove()
    np.testing.assert_allclose(answer["behavior"].values, definition[0], atol=1e-4)
    recordings = answer["neural"]
    np.testing.assert_allclose(recordings.sel(region="language_system.0").values, definition[2], atol=1e-4)
    assert recordings["layer"].values.tolist() == [layer for layer in LAYERS[network[0]] for _ in range(32)]
    assert recordings["part_number"].values.tolist() == list(range(25))
    reader.start_behavioral_task("next_word")
    assert reader.digest_text(parts)["behavior"].values.tolist() == definition[1]
    if network[0] == "gpt2" and numbers_of_logits > 1:
        assert len(passes) < len(parts)  # contexts that fit are read in one pass


def test_recordings_alone_end_a_pass_after_the_layer(network, tokenizer):
    reader = subject(network, tokenizer)
    reader.region_layer_mapping = {"language_system": LAYERS[network[0]][0]}
    reader.start_neural_recording("language_system", "fMRI")
    first = reader.digest_text(["the quick", "brown fox"])["neural"].values  # to the end
    later = []
    handle = networks.module_named(network[1], LAYERS[network[0]][1]).register_forward_hook(lambda *_: later.append(1))
    np.testing.assert_allclose(reader.digest_text(["the quick", "brown fox"])["neural"].values, first, atol=1e-6)
    assert not later
    reader.start_behavioral_task("next_word")
    reader.digest_text(["the quick"])
    handle.remove()
    assert later


def test_a_first_part_of_one_token_has_no_time(network, tokenizer):
    reader = subject(network, tokenizer)
    reader.start_behavioral_task("reading_times")
    behaviour = reader.digest_text(["the", "fox"])["behavior"]
    assert behaviour.dtype == np.float64
    assert np.isnan(behaviour.values).tolist() == [True, False]
    assert reader.digest_text("the fox")["behavior"].dtype == np.float32
    assert reader.digest_text("")["behavior"].values.tolist() == [0]


def test_a_task_head_answers_from_the_output_of_each_context(network, tokenizer):
    heads = {"next_word": lambda base_output: base_output.logits.shape[1]}
    reader = subject(network, tokenizer, task_heads=heads)
    reader.start_behavioral_task("next_word")
    assert reader.digest_text(["the fox", "jumps", "over the dog"])["behavior"].values.tolist() == [2, 3, 6]


def test_unknown_layers_targets_and_tasks_are_named(network, tokenizer):
    reader = HuggingfaceSubject("x", {"language_system": "transformer.h.9"}, model=network[1], tokenizer=tokenizer)
    with pytest.raises(AssertionError, match=r"No submodule found for layer .*; the nearest: "):
        reader.start_neural_recording("language_system", "fMRI")
    with pytest.raises(NotImplementedError, match="no layer for 'V1'; it has layers for: 'language_system'"):
        reader.start_neural_recording("V1", "fMRI")
    with pytest.raises(NotImplementedError, match="no task 'sing'"):
        reader.start_behavioral_task("sing")
    with pytest.raises(TypeError, match="this part is a int: 3"):
        reader.digest_text(["the", 3])
    with pytest.raises(TypeError, match="this list is empty"):
        reader.digest_text([])


def test_a_tokenizer_without_a_maximum_keeps_the_positions_of_the_network(network, tokenizer):
    positions, many = network[1].config.max_position_embeddings, copy.deepcopy(tokenizer)
    many.model_max_length = int(1e30)
    kept, whole = (subject(network, many) for _ in range(2))
    for reader in (kept, whole):
        reader.start_behavioral_task("next_word")
    text = " ".join((WORDS * 50)[: positions + 40])
    latest = " ".join(text.split()[-positions:])
    assert kept.digest_text(text)["behavior"].values == whole.digest_text(latest)["behavior"].values


@pytest.fixture
def localizer(network, tokenizer, tmp_path, monkeypatch):
    """Words in the vocabulary for sentences, unknown ones for non-words."""
    random = np.random.default_rng(0)
    sentences = [" ".join(random.choice(WORDS, 12)) for _ in range(10)]
    stimuli = pd.DataFrame({"stim14": ["S"] * 10 + ["N"] * 10, "sent": [*sentences, *["blick " * 11 + "blick "] * 10]})
    monkeypatch.setattr(localize, "load_dataset", lambda _: stimuli)
    monkeypatch.setattr(localize, "BRAINIO_CACHE", str(tmp_path))
    return lambda made=network[1], **options: HuggingfaceSubject(
        network[0],
        {"language_system": LAYERS[network[0]]},
        model=made,
        tokenizer=tokenizer,
        use_localizer=True,
        localizer_kwargs={"hidden_dim": 32, "batch_size": 4, "top_k": 0.25, **options},
    )


def test_units_that_prefer_sentences_are_recorded(network, tokenizer, localizer, tmp_path):
    reader = localizer()
    reader.start_neural_recording("language_system", "fMRI")
    answer = reader.digest_text(["the fox", "jumps"])
    assert answer["neural"].shape == (2, 16)
    assert answer["neural-mask"].values.sum(axis=1).tolist() == [16, 16]
    whole = subject(network, tokenizer)
    whole.start_neural_recording("language_system", "fMRI")
    chosen = answer["neural-mask"].values[0].astype(bool)
    np.testing.assert_array_equal(whole.digest_text(["the fox", "jumps"])["neural"].values[:, chosen], answer["neural"])
    responses = localize.extract_representations(network[1], tokenizer, LAYERS[network[0]], 32, 5, torch.device("cpu"))
    t = np.concatenate(
        [
            ttest_ind(responses["sentences"][layer], responses["non-words"][layer], equal_var=False).statistic
            for layer in LAYERS[network[0]]
        ]
    )
    assert set(np.argsort(-t)[:16]) == set(np.flatnonzero(chosen))


def test_a_mask_is_of_its_weights_layers_and_number_of_units(network, localizer, monkeypatch):
    first = localizer()._units
    monkeypatch.setattr(localize, "extract_representations", lambda *_: pytest.fail("the mask was stored"))
    assert (localizer()._units == first).all()
    monkeypatch.undo()
    calls = []
    monkeypatch.setattr(localize, "extract_representations", lambda *_: calls.append(1) or _noise())
    other = copy.deepcopy(network[1])
    next(other.parameters()).data += 1
    for again in (lambda: localizer(other), lambda: localizer(top_k=3)):
        again()
    assert len(calls) == 2


def _noise():
    random = np.random.default_rng(1)
    layers = {layer: random.normal(size=(10, 32)) for layer in [*LAYERS["gpt2"], *LAYERS["bert"]]}
    return {"sentences": layers, "non-words": {layer: -values for layer, values in layers.items()}}


def test_a_masked_model_has_the_pseudo_likelihood_of_each_part(network, tokenizer):
    if network[0] != "bert":
        pytest.skip("a causal model")
    many = copy.deepcopy(tokenizer)
    many.add_special_tokens({"mask_token": "[UNK]"})
    reader = MaskedSubject("bert", {"language_system": LAYERS["bert"]}, model=network[1], tokenizer=many)
    reader.start_behavioral_task("reading_times")
    reader.start_neural_recording("language_system", "fMRI")
    answer = reader.digest_text(["the", "quick fox", ""])
    expected = []
    for text, masked in (([0], [0]), ([0, 1, 3], [1, 2]), ([0, 1, 3], [2])):
        ids = torch.tensor([text])
        ids[0, masked] = many.mask_token_id
        with torch.no_grad():
            expected.append(-network[1](ids).logits[0].log_softmax(-1)[masked[0], text[masked[0]]].item() / math.log(2))
    np.testing.assert_allclose(answer["behavior"], [expected[0], sum(expected[1:]), 0], atol=1e-4)
    assert answer["neural"].shape == (3, 64)
    with pytest.raises(NotApplicable, match="does no task 'next_word'"):
        reader.start_behavioral_task("next_word")


def test_models_of_the_hub_by_name(network, tokenizer, monkeypatch):
    masked = network[0] == "bert"
    architectures = ["BertForMaskedLM" if masked else "GPT2LMHeadModel"]
    monkeypatch.setattr(networks, "from_hub", lambda *_: types.SimpleNamespace(architectures=architectures))
    monkeypatch.setattr(networks, "load_network", lambda *_: network[1])
    monkeypatch.setattr(huggingface, "load_tokenizer", lambda _: tokenizer)
    with recording() as record:
        made = load_model("huggingface:someone/net")
    assert isinstance(made, MaskedSubject) == masked
    assert made.identifier == "huggingface:someone/net"
    layer = LAYERS[network[0]][1]
    assert made.region_layer_mapping == {"language_system": layer}
    assert record.items == [
        {
            "kind": "remark",
            "text": f"the layer {layer} of someone/net stands for the language system; it was not selected by data",
        }
    ]
    assert load_model("huggingface:net#lm_head").region_layer_mapping == {"language_system": "lm_head"}
    assert load_model("huggingface:gpt2").region_layer_mapping == {"language_system": "transformer.h.11"}
    with pytest.raises(UserError, match="does not name a model of the hub"):
        load_model("huggingface:../net")


def test_a_context_of_a_very_long_text_is_shortened(network, tokenizer, monkeypatch):
    monkeypatch.setattr(huggingface, "_CONTEXTS", 24)
    contexts = subject(network, tokenizer)
    contexts.start_behavioral_task("next_word")
    answer = contexts.digest_text(["the quick", "fox", "over"])["behavior"]
    assert answer["context"].values.tolist() == ["…he quick", "…uick fox", "…fox over"]


def test_the_layer_that_predicts_best_is_selected(network, tokenizer):
    class Benchmark:
        identifier = "tried"

        def __call__(self, candidate):
            note("data", identifier="recordings")
            candidate.start_neural_recording("language_system", "fMRI")
            layers = dict.fromkeys(candidate.digest_text("the fox")["neural"]["layer"].values, 0.1)
            return Score(0.2, attrs={"layer_scores": layers | {LAYERS[network[0]][0]: 0.3}})

    reader = subject(network, tokenizer)
    first = LAYERS[network[0]][0]
    with recording() as record:
        assert select_layer(reader, Benchmark()) == first
    assert reader.region_layer_mapping == {"language_system": first}
    assert reader.digest_text("the fox")["neural"] is None
    assert {item["kind"] for item in record.items} == {"selection data", "weights", "remark"}
    assert record.items[-1]["text"] == f"the layer {first} of {network[0]} was selected among 2 on tried"
    Benchmark.__call__ = lambda *_: Score(1)
    with pytest.raises(UserError, match="scores of 0 of 1 layers"):
        select_layer(reader, Benchmark(), [first])


def test_responses_are_stored_and_shared(network, tokenizer, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "activations"))
    texts = [["the fox", "jumps", ""], ["over the dog"]]
    reads = []

    def read(made, stored=texts):
        reader = subject((network[0], made), tokenizer)
        reader.start_neural_recording("language_system", "fMRI")
        monkeypatch.setattr(reader, "_pass", lambda *a, kept=reader._pass: reads.append(1) or kept(*a))
        reads.clear()
        with stored_responses(reader, stored):
            return [reader.digest_text(parts)["neural"] for parts in stored], len(reads)

    first, count = read(network[1])
    again, fewer = read(network[1])
    assert 0 < fewer < count
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        assert one["context"].values.tolist() == other["context"].values.tolist()
    other = copy.deepcopy(network[1])
    next(other.parameters()).data = next(other.parameters()).data.flip(0)
    assert read(other)[1] == count
    assert read(network[1], texts[::-1])[1] == count
    assert "not its present ones" not in caplog.text
    monkeypatch.setattr("brainscore_language.model_helpers.stored_responses._identity", lambda _: {"same": True})
    assert read(network[1])[1] == count
    assert read(other)[1] == count  # the first text, which differs, is not read again
    assert "not its present ones" in caplog.text
