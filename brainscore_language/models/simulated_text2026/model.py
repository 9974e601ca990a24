"""Subjects with the vectors of words that simulated responses depend on."""

from brainscore_language.model_helpers.embedding import EmbeddingSubject, remove_punctuation
from brainscore_language.simulated_experiment import in_context, word_vectors


class _ContextSubject(EmbeddingSubject):
    """Mean over the words of a sentence, and over those of the sentence before."""

    def package_representations(self, representation_values, stimuli_coords):
        return super().package_representations(in_context(representation_values), stimuli_coords)


def truth(identifier: str, *, context: bool = False) -> EmbeddingSubject:
    """Mean over words of the true vectors, in context or not."""
    forms = {
        remove_punctuation(form): vector
        for word, vector in word_vectors().items()
        for form in (word, word.capitalize(), word.upper())
    }
    return (_ContextSubject if context else EmbeddingSubject)(identifier, forms)
