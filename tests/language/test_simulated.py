"""Simulated recordings: stand-ins of published data, a control with a known answer, and next words of articles."""

import numpy as np
import pytest

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_language import benchmark_registry, load_benchmark, load_dataset, load_model
from brainscore_language.model_helpers.embedding import EmbeddingSubject, remove_punctuation
from brainscore_language.models.word_properties.model import WordSubject
from brainscore_language.simulated_experiment import list_stand_ins, serve_stand_ins, stand_in, word_vectors


def forms_of_words():
    return {remove_punctuation(form) for word in word_vectors() for form in (word, word.capitalize())}


def test_the_known_subject_is_recovered():
    benchmark, truth = load_benchmark("SimulatedText2026-ridge"), load_model("simulated-text-truth")
    random = np.random.default_rng(1)
    other = EmbeddingSubject("other", {word: random.standard_normal(12) for word in forms_of_words()})
    score, lower = benchmark(truth), benchmark(other)
    assert 0.95 < float(score) <= 1
    assert float(lower) < float(score) - 0.1
    assert benchmark.control
    assert max(score.attrs["baselines"].values()) < 0.3
    assert score.attrs["ci_estimates"].startswith("new groups of stimuli (story) and new groups of neuroids (subject)")


def test_word_vectors_without_context_are_far_below_the_subject_with_context():
    benchmark = load_benchmark("SimulatedContext2026-ridge")
    names = ("simulated-context-truth", "simulated-text-truth", "randomembedding-100")
    truth, words, other = (float(benchmark(load_model(name))) for name in names)
    assert 0.93 < truth <= 1
    assert max(words, other) < 0.6


@pytest.mark.parametrize("name", ["Pereira2018.243", "Pereira2018.384", "Blank2014", "Fedorenko2016", "Tuckute2024"])
def test_published_recordings_have_stand_ins(name):
    ridge = next(key for key in benchmark_registry if key.startswith(name) and key.endswith("-ridge"))
    benchmark = load_benchmark(ridge)
    if not name.startswith(("Tuckute", "Pereira")):
        benchmark._ceiling = load_benchmark("SimulatedText2026-ridge").ceiling  # its estimate is tested elsewhere
    with serve_stand_ins(), pytest.warns(UserWarning, match="simulated data take the place"):
        score = benchmark(load_model("simulated-text-truth"))
    assert 0.3 < float(score) <= 1
    assert np.isfinite(score.attrs.get("unclamped_ci", score.attrs["ci"])).all()


def test_reading_times_of_people_have_a_stand_in():
    with serve_stand_ins("Futrell2018"), pytest.warns(UserWarning, match="simulated data take the place"):
        score = load_benchmark("Futrell2018-pearsonr")(WordSubject("length", len))
    assert float(score) > 0.9
    assert not np.isnan(stand_in("Futrell2018").mean("subject")).any()


def test_stand_ins_are_registered_data():
    from brainscore_language import data_registry

    assert set(list_stand_ins()) < set(data_registry)


ARTICLES = [
    " = First article = ",
    " The cat saw the dog .",
    " = = A section = = ",
    " ",
    " Then the dog ran away .",
    " = Second article = ",
    " It rained on the town .",
]


class The(WordSubject):
    """Says the article after every word."""

    def start_behavioral_task(self, task):
        assert task == "next_word"

    def digest_text(self, text):
        self.texts = [*getattr(self, "texts", []), text]
        return {"behavior": ["the"] * (len(text) - self._property_of("x")), "neural": None}


def test_next_words_are_predicted_from_the_article_so_far(tmp_path, monkeypatch):
    path = tmp_path / "wiki.test.raw"
    path.write_text("\n".join(ARTICLES), encoding="utf-8")
    monkeypatch.setenv("BRAINSCORE_WIKITEXT", str(path))
    benchmark, subject = load_benchmark("Wikitext-accuracy"), The("the", lambda word: 0)
    score = benchmark(subject)
    # neither first nor last words of lines: titles have 2, 4 and 2 targets, sentences 4, of which one is "the"
    assert float(score) == pytest.approx(3 / (2 + 4 + 4 + 4 + 2 + 4))
    assert [text[:3] for text in subject.texts] == [["=", "First", "article"], ["=", "Second", "article"]]
    assert "Then" in subject.texts[0]  # the second sentence is read after the first one
    with pytest.raises(UserError, match="20 next words for 21 parts"):
        benchmark(The("the", lambda word: 1))


def test_articles_that_are_not_there_are_named(monkeypatch):
    monkeypatch.setenv("BRAINSCORE_WIKITEXT", "nowhere.raw")
    with pytest.raises(DataUnavailable, match=r"nowhere\.raw"):
        load_dataset("wikitext-2/test")
    monkeypatch.delenv("BRAINSCORE_WIKITEXT")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataUnavailable, match=r"wiki\.test\.raw"):
        load_dataset("wikitext-2/test")
