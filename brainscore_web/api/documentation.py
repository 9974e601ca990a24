"""The API as a whole, and its description: the OpenAPI document and the readable page."""

from __future__ import annotations

from typing import Any

import ninja.operation
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from brainscore_web.api.authentication import RATE, Access
from brainscore_web.api.responses import PROBLEM_JSON, Renderer, answer_problems, problem

_ETAG = {
    "ETag": {
        "description": "Tag of the content. Send it as If-None-Match to get 304 for unchanged content.",
        "schema": {"type": "string"},
    }
}
_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string", "pattern": "^[0-9]+$"}}}
_OF_PARAMETERS = ("Asked", "Paged", "Posted")  # ends of the names of schemas of parameters


class SiteAPI(NinjaAPI):
    """The API of the site."""

    def __init__(self) -> None:
        super().__init__(
            title="Brain-Score",
            version="1",
            description=(
                "Models, benchmarks, scores and the leaderboard. Public data can be read without a token; a token "
                "with the scope `read` also gives access to the private models of its owner and of their labs."
            ),
            docs_url=None,
            urls_namespace="api",
            auth=Access(),
            throttle=RATE,
            renderer=Renderer(),
        )
        self._schema: OpenAPISchema | None = None
        answer_problems(self)

    def get_openapi_operation_id(self, operation: ninja.operation.Operation) -> str:
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


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """Return what the page shows of an OpenAPI document: operations by tag, and the objects in responses."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["other"])[0]
            groups.setdefault(tag, []).append(_operation(path, method, operation))
    shapes = [
        {
            "name": name,
            "description": _with_code(shape.get("description", "")),
            "fields": [_row(field, of_field, of_field) for field, of_field in shape["properties"].items()],
        }
        for name, shape in sorted(schema["components"]["schemas"].items())
        if "properties" in shape and (name == "Posted" or not name.endswith(_OF_PARAMETERS))
    ]
    return {"description": _with_code(schema["info"]["description"]), "groups": groups, "shapes": shapes}


def _operation(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    answers = operation["responses"]
    content = {media: type_of(shape["schema"]) for media, shape in answers.get(200, {}).get("content", {}).items()}
    return {
        "key": operation["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": operation["summary"],
        "paragraphs": [_with_code(text) for text in operation.get("description", "").split("\n\n") if text],
        "token": {} not in operation.get("security", [{}]),
        "parameters": [_row(row["name"], row["schema"], row) for row in operation["parameters"]],
        "answers": [(status, answer["description"]) for status, answer in sorted(answers.items())],
        "shape": ", ".join(media if shape == "file" else shape for media, shape in content.items()),
    }


def _row(name: str, schema: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """A parameter, or a field of a response."""
    description = _with_code(about.get("description", ""))
    return {**about, "name": name, "type": type_of(schema), "description": description}


def _with_code(text: str) -> SafeString:
    """Convert text between backticks to code elements."""
    pieces = enumerate(" ".join(text.split()).split("`"))
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", piece) if at % 2 else piece,) for at, piece in pieces)
    )


def type_of(schema: dict[str, Any]) -> str:
    """Describe a schema in a few words.

    Examples
    --------
    >>> type_of({"anyOf": [{"type": "number"}, {"type": "null"}]})
    'number or null'
    >>> type_of({"type": "array", "items": {"enum": ["scored", "failed"]}})
    'list of "scored" | "failed"'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(type_of(option) for option in schema[several]))
    if "const" in schema:
        return f'"{schema["const"]}"'
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if schema.get("format") == "binary":
        return "file"
    if schema.get("format") == "date-time":
        return "time"
    return str(kind)


def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the page."""
    return redirect("api:docs")


def page(request: HttpRequest, api: NinjaAPI) -> HttpResponse:
    """Show the page with all operations."""
    schema: dict[str, Any] = api.get_openapi_schema()
    root = request.build_absolute_uri("/").rstrip("/")
    return render(request, "api/documentation.html", {"api": described(schema), "root_of_site": root})


@csrf_exempt
def not_found(request: HttpRequest, **_: Any) -> HttpResponse:
    """Respond to an unknown URL with a problem as JSON."""
    return problem(404, f"there is nothing at {request.path}", "see /api/v1/docs")
