"""``python -m brainscore_web.uploads.inspection``: reads a request and writes a report, both as JSON.

The process sets limits on its memory, time and files before it opens anything. It receives no secrets.
"""

from __future__ import annotations

import json
import os
import resource
import sys


def main() -> None:
    """Answer one request."""
    document = json.load(sys.stdin)
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # keeps the output of libraries out of the answer
    memory, seconds = document["limits"]["memory"], document["limits"]["seconds"]
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from brainscore_web.uploads.inspection import Found, Question, Report, inspect

    question = Question(**document)
    try:
        report = inspect(question)
    except MemoryError:
        remedy = "divide the data set into subsets"
        what = f"the inspection needs more than {memory / 1e6:,.0f} MB of memory"
        report = Report([Found(", ".join(question.names.values()), "files too large", what, remedy)], {}, {})
    with output:
        json.dump(report.document(), output)


if __name__ == "__main__":
    main()
