"""A subject with the vectors of words that simulated responses depend on."""

from brainscore_language.model_helpers.embedding import EmbeddingSubject, remove_punctuation
from brainscore_language.simulated_experiment import word_vectors


def simulated_text_truth() -> EmbeddingSubject:
    """Mean over words of the true vectors."""
    forms = {
        remove_punctuation(form): vector
        for word, vector in word_vectors().items()
        for form in (word, word.capitalize(), word.upper())
    }
    return EmbeddingSubject("simulated-text-truth", forms)
