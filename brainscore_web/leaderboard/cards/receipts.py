"""The page of a receipt: its public content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from brainscore_core.formatting import count_text, number_text, size_text, time_text
from brainscore_core.metrics import ABOVE_CEILING
from brainscore_core.populations import condition_of_result
from brainscore_web.leaderboard.cards.facts import CodeLink, angle_text, code_link
from brainscore_web.leaderboard.cards.formatting import NONE, estimate, megabytes, number, seconds
from brainscore_web.leaderboard.clean import number as finite_number
from brainscore_web.leaderboard.clean import objects_in, text
from brainscore_web.leaderboard.models import Score, Visitor
from brainscore_web.leaderboard.reasons import NOT_RUN, withheld_document, withheld_reason

_MOST_LINKS = 20  # plugins of a receipt whose code is looked up


_MOST_ROWS = 500


@dataclass(frozen=True, kw_only=True)
class Section:
    """A table on the page of a receipt; without `columns`, each row is a name and a value."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...] = ()
    code: bool = False


def public_document(document: Mapping[str, Any], *, shows_data: bool) -> dict[str, Any]:
    """Return the receipt, without content that may reveal data if these are withheld."""
    return dict(document) if shows_data else withheld_document(document)


def receipt_file(document: Mapping[str, Any], *, shows_data: bool) -> bytes:
    """Return the file that visitors download, equal for equal receipts: snapshots name its SHA-256."""
    content = public_document(document, shows_data=shows_data)
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def receipt_card(score: Score, reader: Visitor, *, shows_data: bool, shows_hints: bool = False) -> dict[str, Any]:
    """Make the card of a receipt."""
    shows_traceback = shows_data and (shows_hints or score.state != NOT_RUN)
    document = public_document(score.document, shows_data=shows_data) if isinstance(score.document, dict) else {}
    return {
        "receipt": score.receipt,
        "model": score.model.identifier,
        "benchmark": score.benchmark.identifier,
        "version": score.version,
        "state": score.state,
        "created": time_text(score.created, seconds=True),
        "reason": score.reason if shows_data else withheld_reason(score.state, score.reason),
        "numbers": _shown(_numbers(score, document)),
        "sections": tuple(
            _shown(section) for section in _sections(document, score.benchmark.domain, reader) if section.rows
        ),
        "traceback": text((document.get("error") or {}).get("traceback")) if shows_traceback else "",
        "has_document": bool(document),
        "withheld": bool(document) and not shows_data,
    }


def _shown(section: Section) -> Section:
    """The section as it is shown: long texts are cut, and so are long tables; the receipt has all of them."""
    rows = [
        tuple(cell if isinstance(cell, SafeString) else text(cell) for cell in row)  # links are of this module
        for row in section.rows[:_MOST_ROWS]
    ]
    if more := len(section.rows) - len(rows):
        rows.append(("…", f"{more:,} more in the receipt", *("" for _ in section.columns[2:])))
    return replace(section, rows=tuple(rows))


def _numbers(score: Score, document: Mapping[str, Any]) -> Section:
    ceiling = document.get("ceiling") or {}
    raw = document.get("raw") or {}
    low, high = ceiling.get("ci") or (None, None)
    rows = [
        ("score", estimate(score.value, score.error, score.low, score.high, level=score.level,
                           reason=score.error_reason), score.scale,
         score.estimates or ("" if score.error_reason.startswith(ABOVE_CEILING) else score.error_reason)),
        ("raw", estimate(score.raw, score.raw_error, score.raw_low, score.raw_high, level=score.level),
         *_scale(document, "raw")),
        ("ceiling", estimate(ceiling.get("value", score.ceiling), ceiling.get("error"), low, high,
                             level=ceiling.get("ci_level")),
         str(ceiling.get("meaning") or ""), str(ceiling.get("ci_estimates") or ceiling.get("error_reason") or "")),
    ]  # fmt: skip
    if score.unclamped is not None and score.unclamped != score.value:
        rows.append(("before clamping to 0 and 1", number(score.unclamped), "", ""))
    if score.value is not None and (condition := condition_of_result(score.estimates, raw.get("ci_estimates"))):
        rows.append(("holds for", condition, "", ""))
    return Section(
        title="Numbers",
        columns=("", "value (95 % interval)", "scale or meaning", "what the interval estimates"),
        rows=tuple(rows),
    )


def _recorded(document: Mapping[str, Any]) -> Section:
    """Numbers and effective dimensionalities of the features that were recorded; no rows for behaviour."""
    return Section(
        title="Features",
        columns=("region", "features", "effective dimensionality", "stimuli", "layers"),
        rows=tuple(
            (
                _text(item, "region"),
                _count(item, "features"),
                number_text(finite_number(item.get("effective_dimensionality")), 1),
                _count(item, "stimuli"),
                ", ".join(map(str, item.get("layers") or ())) or NONE,
            )
            for item in objects_in(document, "features")
        ),
    )


def _count(item: Mapping[str, Any], name: str) -> str:
    value = finite_number(item.get(name))
    return count_text(value) or NONE


def _scale(document: Mapping[str, Any], part: str) -> tuple[str, str]:
    estimate = document.get(part) or {}
    return str(estimate.get("scale") or ""), str(estimate.get("ci_estimates") or estimate.get("error_reason") or "")


def _sections(document: Mapping[str, Any], domain: str, reader: Visitor) -> Iterable[Section]:
    timings, memory = document.get("timings") or {}, document.get("memory") or {}
    times = [(step.replace("_", " "), seconds(value)) for step, value in timings.items() if value is not None]
    yield _recorded(document)
    if document:
        model = document.get("model")
        angle = model.get("visual_angle") if isinstance(model, dict) else None
        yield Section(title="Visual angle", rows=(("of the model's input", angle_text(angle)),))
    yield Section(title="Time", rows=tuple(times))
    yield Section(title="Environment", rows=tuple(_environment_rows(document, memory)))
    yield Section(
        title="Code", columns=("what", "identifier", "plugin", "code", "licence", "package", "SHA-256 of the code"),
        rows=tuple(_code(document, domain, reader)), code=True,
    )  # fmt: skip
    weights = tuple((_text(item, "identifier"), _text(item, "sha256")) for item in objects_in(document, "weights"))
    yield Section(title="Weights", columns=("name", "SHA-256"), rows=weights, code=True)
    files = tuple(
        (_text(item, "url"), _text(item, "sha256") or _text(item, "sha1")) for item in objects_in(document, "files")
    )
    yield Section(title="Files read", columns=("URL", "hash"), rows=files, code=True)
    environment = document.get("environment") or {}
    packages = tuple(sorted((str(name), str(version)) for name, version in (environment.get("packages") or {}).items()))
    yield Section(title="Libraries", rows=packages, code=True)
    kept = tuple(
        (_text(item, "kind"), size_text(item.get("bytes") or 0), _text(item, "sha256"))
        for item in objects_in(document, "attachments")
    )
    yield Section(title="Attachments", columns=("what", "size", "SHA-256"), rows=kept, code=True)
    yield Section(title="Notes", rows=tuple(("", str(note)) for note in document.get("notes") or ()))


def _environment_rows(document: Mapping[str, Any], memory: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    environment, cache, run = (document.get(name) or {} for name in ("environment", "cache", "run"))
    peak = memory.get("peak_bytes")
    rows = (
        ("device", document.get("device")),
        ("seeds", ", ".join(f"{name} = {value}" for name, value in (document.get("seeds") or {}).items())),
        ("Python", environment.get("python")),
        ("operating system", environment.get("platform")),
        ("processor", environment.get("cpu")),
        ("cores", environment.get("cpu_count")),
        ("threads", environment.get("threads")),
        ("peak memory", megabytes(peak / 1e6) if peak else None),
        (
            "stored activations",
            f"{cache.get('hits') or 0} found, {cache.get('misses') or 0} computed" if cache else None,
        ),
        ("run", run.get("id")),
        ("model's process", None if not run else "separate" if run.get("isolated") else "shared with the benchmark"),
        ("platform's code", environment.get("code")),
    )
    return ((name, str(value)) for name, value in rows if value not in (None, ""))


_KINDS = {"model": "models", "benchmark": "benchmarks", "metric": "metrics"}


def _code(document: Mapping[str, Any], domain: str, reader: Visitor) -> Iterable[tuple[str, ...]]:
    parts: list[tuple[str, Mapping[str, Any]]] = [
        (name, document[name]) for name in ("model", "benchmark") if isinstance(document.get(name), dict)
    ]
    parts += [(_text(item, "kind"), item) for item in objects_in(document, "data")]
    known: dict[tuple[str, str, str], CodeLink | None] = {}
    for what, part in parts:
        plugin = part.get("plugin") or {}
        package = " ".join(filter(None, (_text(plugin, "distribution"), _text(plugin, "version"))))
        name, sha256 = _text(plugin, "name"), _text(plugin, "sha256")
        key = (_KINDS.get(what, "data"), name, sha256)
        if key not in known and len(known) < _MOST_LINKS:
            known[key] = code_link(domain, key[0], name, reader, sha256) if sha256 else None
        yield (
            what.replace("_", " "), _text(part, "identifier"), name or NONE, *_links(known.get(key)),
            package or NONE, sha256,
        )  # fmt: skip


def _links(link: CodeLink | None) -> tuple[str, str]:
    if link is None:
        return "not on this site", NONE
    links = format_html('<a href="{}">Read</a> · <a href="{}" download>ZIP</a>', link.page, link.archive)
    return links, link.licence or "see there"


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    return "" if value is None else str(value)
