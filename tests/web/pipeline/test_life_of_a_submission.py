"""How many files a submission passes through, from the ZIP file until its pairs are planned; see `traces`.

As for a score, the calls are those of a second one: what a process does only once may have been done by another test.
"""

import contextlib

import pytest

from brainscore_core.isolation.sandbox import require_sandbox
from brainscore_web.submissions.pipeline.runner import run_next_step
from tests.structure import traces
from tests.web._plugins import model_files

MOST_FILES = 35

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow(reason="tests a plugin in the sandbox, traced"),
]


@pytest.fixture(autouse=True)
def _examined_in_this_process():
    """Replaces the fixture of that name: the process that examines what arrives is not traced, as on a site."""


def test_few_files(submit, states):
    require_sandbox()
    tracer = traces.Tracer()
    for identifier, traced in [("tiles-4", contextlib.nullcontext()), ("tiles-8", tracer)]:
        with traced:
            revision = submit(model_files(identifier))
            steps = [run_next_step() for _ in range(4)]
        assert steps == [True, True, True, False]
        assert states(revision).startswith("pass pass skip pass")
    files = traces.files_of(tracer.calls())
    traces.require_list_on_page("submission", files)
    assert len(files) <= MOST_FILES, traces.as_list(files)
