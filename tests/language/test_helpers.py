"""Word vectors, ceilings and helpers of published plugins."""

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_language import load_metric
from brainscore_language.benchmark_helpers import manual_merge, reading_times
from brainscore_language.model_helpers.embedding import EmbeddingSubject
from brainscore_language.models.word_properties.model import WordSubject
from brainscore_language.utils import attach_presentation_meta, fullname
from brainscore_language.utils.ceiling import ceiling_normalize

VECTORS = {"the": [-0.08, 0.67, -0.15], "quick": [1, 2, 3], "brown": [3, 2, 1], "fox": [8, 6, 1]}


def test_word_vectors_are_averaged_over_the_words_of_a_part():
    subject = EmbeddingSubject("mini", VECTORS)
    subject.start_neural_recording("language_system", "fMRI")
    subject.start_neural_recording("language_system_left_hemisphere", "fMRI")
    neural = subject.digest_text(["The quick brown fox".lower(), "quick, brown", ""])["neural"]
    assert neural.shape == (3, 6)
    first = neural.sel(recording_target="language_system")
    np.testing.assert_allclose(first.values[0], np.mean(list(VECTORS.values()), axis=0))
    np.testing.assert_allclose(first.values[1], [2, 2, 2])
    assert np.isnan(first.values[2]).all()


def test_scores_outside_the_ceiling_are_limited_and_keep_the_quotient():
    above, within, undefined = (ceiling_normalize(Score(value), Score(0.6)) for value in (0.9, 0.3, np.nan))
    assert float(above) == 1
    assert float(above.attrs["original_out_of_range_score"]) == pytest.approx(1.5)
    assert float(within) == pytest.approx(0.5)
    assert np.isnan(undefined)
    assert float(above.raw) == 0.9


def recordings(neuroids, stories=("a", "b")):
    return NeuroidAssembly(
        np.ones((2, len(neuroids))),
        coords={"story": ("presentation", list(stories)), "neuroid_id": ("neuroid", neuroids)},
        dims=["presentation", "neuroid"],
    )


def test_assemblies_are_joined_along_one_dimension():
    merged = manual_merge(recordings([1, 2]), recordings([3]))
    assert merged["neuroid_id"].values.tolist() == [1, 2, 3]
    assert merged["story"].values.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="differ in 'story'"):
        manual_merge(recordings([1]), recordings([2], stories="bc"))


def test_coordinates_of_presentations_are_copied():
    bare = NeuroidAssembly(np.ones((2, 1)), coords={"neuroid_id": ("neuroid", [1])}, dims=["presentation", "neuroid"])
    assert attach_presentation_meta(bare, recordings([7]))["story"].values.tolist() == ["a", "b"]
    assert fullname(WordSubject("x", len)) == "brainscore_language.models.word_properties.model.WordSubject"


def test_metrics_of_two_vectors():
    correlation = load_metric("pearsonr")([1, 2, 3, 4, 5], [3, 1, 6, 1, 2])
    assert float(correlation) == pytest.approx(0.152, abs=0.005)
    assert correlation.attrs["rvalue"] < 0
    assert np.isnan(load_metric("pearsonr")([1, 2, np.nan], [1, 2, 3]))
    assert float(load_metric("accuracy")(["a", "b"], ["a", "c"])) == 0.5
    with pytest.raises(ValueError, match="pass equally many"):
        load_metric("accuracy")(["a"], ["a", "c"])


def test_too_few_reading_times_are_refused():
    class Lazy(WordSubject):
        def digest_text(self, text):
            return {"behavior": [1.0], "neural": None}

    with pytest.raises(UserError, match="1 reading times for 2 parts"):
        reading_times(Lazy("lazy", len), ["a", "b"])
