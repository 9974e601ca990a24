"""Generated requests: whatever is asked, answers are as the description says, and nothing breaks."""

import hashlib

import hypothesis
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from brainscore_web.accounts.models import ApiToken
from brainscore_web.api.urls import api
from brainscore_web.wsgi import application

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402 (only where it is installed)

SETTINGS = hypothesis.settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)

schema = schemathesis.openapi.from_dict(api.get_openapi_schema())
schema.app = application
schema.config.generation.allow_x00 = False  # of these there is a test below


TEXT = "bs_generated-requests-are-made-before-there-is-a-database"


@schema.auth(refresh_interval=None)
class Token:
    def get(self, case, context):
        return TEXT

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


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


@schema.parametrize()
@SETTINGS
def test_generated_requests(case, board):
    free = case.operation.path.endswith(("/leaderboard", "/exports/leaderboard.{format}"))
    case.call_and_validate(
        headers={"Accept-Encoding": "identity"},
        # searches have a grammar and nodes have names, which a schema cannot say
        excluded_checks=[positive_data_acceptance] if free else [],
    )


@pytest.mark.parametrize("address", ["models?search=a%00", "models/%00", "scores?after=%00", "leaderboard?q=%00"])
def test_nul_is_refused(client, db, address):
    assert client.get(f"/api/v1/{address}").status_code == 400
