import pytest
from django.core.cache import caches

from brainscore_web.accounts.models import ApiToken


@pytest.fixture(autouse=True)
def _no_requests_so_far(settings):
    """Requests of other tests do not count."""
    settings.API_RATES = {"anonymous": 100_000, "known": 100_000}
    caches["rates"].clear()
    yield
    caches["rates"].clear()


@pytest.fixture
def get(client):
    """``get('models?limit=2', token=text)`` requests the API; the response has ``.json()``."""

    def ask(address, *, token=None, **headers):
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return client.get(address if address.startswith("/") else f"/api/v1/{address}", headers=headers)

    return ask


@pytest.fixture
def token_of():
    """``token_of(user, 'read')`` makes a token and returns its text."""

    def issue(user, *scopes, **options):
        return ApiToken.issue(user, "a test", list(scopes) or ["read"], **options)[1]

    return issue
