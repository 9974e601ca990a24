"""How many files a submission passes through, from the ZIP file until its pairs are planned; see `traces`."""

import pytest

from brainscore_core.isolation.sandbox import require_sandbox
from brainscore_web.submissions.pipeline.runner import run_next_step
from tests.structure import traces

MOST_FILES = 42

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow(reason="tests a plugin in the sandbox, traced"),
]


def test_few_files(submit, states):
    require_sandbox()
    with traces.Tracer() as tracer:
        revision = submit()
        steps = [run_next_step() for _ in range(4)]
    assert steps == [True, True, True, False]
    assert states(revision).startswith("pass pass skip pass")
    files = traces.files_of(tracer.calls())
    traces.require_list_on_page("submission", files)
    assert len(files) <= MOST_FILES, traces.as_list(files)
