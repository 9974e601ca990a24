"""Generated requests: whatever is asked, answers are as the description says, and nothing breaks."""

import hashlib

import hypothesis
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import strategies

from brainscore_web.accounts.models import ApiToken
from brainscore_web.api.urls import api
from brainscore_web.wsgi import application
from tests.optional import require_package

require_package("schemathesis", "generates requests with schemathesis")

pytestmark = pytest.mark.slow(reason="generates requests to all addresses")

OPERATIONS = (
    "GET /api/v1/assessments", "GET /api/v1/exports/assessments.{format}",
    "GET /api/v1/leaderboard", "GET /api/v1/models", "GET /api/v1/models/{identifier}", "GET /api/v1/benchmarks",
    "GET /api/v1/benchmarks/{identifier}", "GET /api/v1/scores", "GET /api/v1/receipts/{receipt}",
    "POST /api/v1/receipts", "GET /api/v1/me", "GET /api/v1/exports/leaderboard.{format}",
    "GET /api/v1/exports/scores.{format}", "POST /api/v1/submissions", "GET /api/v1/submissions",
    "POST /api/v1/submissions/{submission}/revisions", "GET /api/v1/submissions/{submission}",
    "POST /api/v1/submissions/{submission}/withdraw", "GET /api/v1/submissions/{submission}/archive",
    "POST /api/v1/work", "POST /api/v1/work/{job}/renew", "POST /api/v1/work/{job}/release",
    "POST /api/v1/questions", "GET /api/v1/questions/{question}",
    "GET /api/v1/work/{job}/plugins", "GET /api/v1/work/{job}/files", "POST /api/v1/work/{job}/result",
)  # fmt: skip
SETTINGS = hypothesis.settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
TEXT = "bs_generated-requests-are-made-before-there-is-a-database"


class Token:
    """Says who asks."""

    def get(self, case, context):
        return TEXT

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@pytest.fixture(scope="module")
def description():
    """The interface, as it describes itself; read when a test runs, as that takes a while."""
    import schemathesis

    @schemathesis.serializer("application/zip")
    def _(_context, value):
        return value if isinstance(value, bytes) else repr(value).encode()

    schema = schemathesis.openapi.from_dict(api.get_openapi_schema())
    schema.app = application
    schema.config.generation.allow_x00 = False  # of these there is a test below
    schema.auth(refresh_interval=None)(Token)
    return schema


@pytest.fixture(autouse=True)
def _one_transaction():
    """Requests leave the connection, and with it the test's transaction, open: as with Django's own test client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(autouse=True)
def _valid_token(scorer):
    token, _ = ApiToken.issue(scorer, "generated requests", ["read", "receipts:write"])
    ApiToken.objects.filter(pk=token.pk).update(digest=hashlib.sha256(TEXT.encode()).hexdigest())


def test_all_operations_are_generated(description):
    assert set(OPERATIONS) == {found.ok().label for found in description.get_all_operations()}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_generated_requests(description, board, operation):
    """Some as the description says, some not."""
    import schemathesis
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    method, path = operation.split()
    asked = [description[path][method].as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]
    free = path.endswith(("/leaderboard", "/exports/leaderboard.{format}"))

    @SETTINGS
    @hypothesis.given(case=strategies.one_of(asked))
    def ask(case):
        case.call_and_validate(
            headers={"Accept-Encoding": "identity"},
            # searches have a grammar and nodes have names, which a schema cannot say
            excluded_checks=[positive_data_acceptance] if free else [],
        )

    ask()


@pytest.mark.parametrize("address", ["models?search=a%00", "models/%00", "scores?after=%00", "leaderboard?q=%00"])
def test_nul_is_refused(client, db, address):
    assert client.get(f"/api/v1/{address}").status_code == 400
