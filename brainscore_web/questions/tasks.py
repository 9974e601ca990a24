"""The task of django-tasks for questions."""

from __future__ import annotations

from django_tasks import task

from brainscore_web.questions.answering import answer_next


@task(queue_name="long")
def do_next_question() -> bool:
    """Answer the next question."""
    return answer_next()
