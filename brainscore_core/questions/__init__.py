"""Questions about scores, answered from stored products of features without running models again."""

from brainscore_core.questions.answers import Answer, Answers, ask
from brainscore_core.questions.question import Question

__all__ = ["Answer", "Answers", "Question", "ask"]
