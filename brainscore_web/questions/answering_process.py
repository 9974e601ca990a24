"""Answers a question within limits: ``python -m brainscore_web.questions.answering_process FOLDER``.

The folder has the request, ``request.json``. The answer is stored beside the scores, and written as ``answer.json``.
The process has neither the database nor secrets.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from brainscore_core.errors import BrainScoreError
from brainscore_core.results.store import ResultsStore

_PRIORITY = 10  # the server's own processes have precedence


def main(folder: Path) -> None:
    """Answer the request in a folder."""
    request = json.loads((folder / "request.json").read_bytes())
    os.nice(_PRIORITY)
    resource.setrlimit(resource.RLIMIT_DATA, (request["memory"], request["memory"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    result: dict[str, Any]
    try:
        result = {"assessment": answer(request)}
    except BrainScoreError as error:
        result = {"error": str(error)}
    except MemoryError:
        result = {"error": "it needs more memory than questions may use\nask about fewer stimuli or models"}
    (folder / "answer.json").write_text(json.dumps(result))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a question, and return the stored assessment."""
    from brainscore_core.questions import Question, ask
    from brainscore_core.questions.explained import explain_models, unexplained_by
    from brainscore_core.questions.stored import store_answers, store_atlas, store_explanation

    question, models, store = Question.from_dict(request["question"]), request["models"], ResultsStore(request["store"])
    if request["part"] == "question":
        stored = store_answers(ask(question, models=models, results=store), store)
    elif request["part"] == "explanation":
        stored = store_explanation(explain_models(question, models, results=store), store)
    else:
        stored = store_atlas(unexplained_by(question, models, results=store), store)
    return stored.to_dict()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
