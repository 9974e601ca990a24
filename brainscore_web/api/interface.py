"""The API as a whole, and additions to its OpenAPI document."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from brainscore_web.api.authentication import RATE, Access
from brainscore_web.api.problems import PROBLEM_JSON, answer_problems
from brainscore_web.api.responses import Renderer
from brainscore_web.api.schemas import ProblemAnswer

__all__ = ["SiteAPI", "problem_responses"]

_ETAG = {
    "ETag": {
        "description": "Tag of the content. Send it as If-None-Match to get 304 for unchanged content.",
        "schema": {"type": "string"},
    }
}
_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string", "pattern": "^[0-9]+$"}}}


def problem_responses(*statuses: int) -> dict[int, type[ProblemAnswer]]:
    """Return the error responses of an operation, including those of all operations."""
    return dict.fromkeys(sorted({400, 401, 405, 429, *statuses}), ProblemAnswer)


class SiteAPI(NinjaAPI):
    """The API of the site."""

    def __init__(self) -> None:
        super().__init__(
            title="Brain-Score",
            version="1",
            description=(
                "Models, benchmarks, scores and the leaderboard. Public data can be read without a token; a token "
                "with the scope `read` also gives access to the private models of its owner."
            ),
            docs_url=None,
            urls_namespace="api",
            auth=Access(),
            throttle=RATE,
            renderer=Renderer(),
        )
        self._schema: OpenAPISchema | None = None
        answer_problems(self)

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Name an operation after its function."""
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """Return the OpenAPI document; cached, since it does not change while the site runs."""
        if path_prefix is None and self._schema is not None:
            return self._schema
        schema = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        for methods in schema["paths"].values():
            for method, operation in methods.items():
                _complete(operation, reads=method == "get")
        if path_prefix is None:
            self._schema = schema
        return schema


def _complete(operation: dict[str, Any], *, reads: bool) -> None:
    answers = operation["responses"]
    for status, answer in answers.items():
        if int(status) >= 400:
            answer["content"] = {PROBLEM_JSON: answer["content"]["application/json"]}
        if int(status) in (429, 503):
            answer["headers"] = _RETRY
        if int(status) == 200 and reads:
            answer["headers"] = _ETAG
    if reads:
        answers[304] = {"description": "Not Modified"}
    for name in operation.pop("x-media-types", []):  # files rather than JSON
        answers[200].setdefault("content", {}).pop("application/json", None)
        answers[200]["content"][name] = {"schema": {"type": "string", "format": "binary"}}
    if not operation.pop("x-token-needed", False):
        operation["security"] = [{}, *operation["security"]]
