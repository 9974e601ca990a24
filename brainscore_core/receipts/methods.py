"""A paragraph for the methods of a paper, written from a receipt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brainscore_core.domain_names import FIRST
from brainscore_core.formatting import number_text, range_text
from brainscore_core.plugins.bibtex import BibtexError, parse_bibtex, reference
from brainscore_core.plurals import counted, plural
from brainscore_core.receipts.receipt import CeilingEstimate, Estimate, PluginCode, Receipt

_PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "torchvision", "timm", "transformers")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A plugin that a receipt names, and its citations."""

    # ``'model'``, ``'benchmark'``, ``'data'``, ``'stimulus_set'`` or ``'metric'``, and the identifier.
    kind: str
    identifier: str
    # BibTeX entries; None if the plugin is not installed, or its code is not the code of the receipt
    bibtex: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What attachments and plugins of the same code add to a receipt."""

    splits: str | None = None  # how stimuli were divided, in words
    sizes: Mapping[str, int]  # dimension of the values before they were averaged → length
    predicted: Mapping[str, int]  # dimension of the stored out-of-fold predictions → length
    metadata: Mapping[str, Any]  # metadata of the benchmark, with the parts ``stimuli``, ``data`` and ``metric``
    image_size: int | None = None  # height and width of the model's input, in pixels
    sources: Sequence[Source] = ()  # the plugins
    unread: Mapping[str, str] = field(default_factory=dict)  # kind of attachment that could not be read → why

    def about(self, part: str) -> Mapping[str, Any]:
        """A part of the metadata; empty if there is none, or it is not a table."""
        known = self.metadata.get(part)
        return known if isinstance(known, Mapping) else {}


def methods_text(receipt: Receipt, facts: Facts) -> str:
    """Describe how a score was computed, with references.

    `receipt`: the receipt, in any state. `facts`: what its attachments and plugins say. Returns paragraphs: methods,
    software, what is not known, references. A fact that neither the receipt nor `facts` holds is listed as unknown.

    Examples
    --------
    >>> from brainscore_core.receipts.receipt import BenchmarkInfo, ModelInfo
    >>> receipt = Receipt(model=ModelInfo(identifier="pixels"), benchmark=BenchmarkInfo(identifier="Some2026-pls"),
    ...                   state="failed", reason="no memory", id="x")
    >>> print(methods_text(receipt, Facts(sizes={}, predicted={}, metadata={})).splitlines()[0])
    The model pixels was run on the benchmark Some2026-pls. It has no score; failed: no memory.
    """
    references, unread = _references(facts.sources)
    paragraphs = [
        " ".join([*_subject(receipt, facts), *_values(receipt, facts)]),
        " ".join(_software(receipt)),
        _unknown(receipt, facts, unread),
        "\n".join(references and ["References:", *references]),
    ]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _subject(receipt: Receipt, facts: Facts) -> Iterator[str]:
    """Model, benchmark, stimuli, recordings, features, metric."""
    benchmark = receipt.benchmark
    version = "" if benchmark.version is None else f" (version {benchmark.version})"
    yield f"The model {receipt.model.identifier} was run on the benchmark {benchmark.identifier}{version}."
    if benchmark.control:
        yield "The benchmark tests the method and counts in no average."
    stimuli, data, metric = (facts.about(name) for name in ("stimuli", "data", "metric"))
    shown = _joined(
        _number_of(stimuli.get("n"), "stimulus"),
        _listed(stimuli.get("kind")),
        _degrees(stimuli.get("visual_degrees")),
    )
    if shown:
        yield f"Stimuli (metadata of the benchmark): {shown}."
    measured = _joined(
        *(_listed(data.get(name)) for name in ("method", "species", "regions")),
        _number_of(data.get("n_subjects"), "subject"),
        _number_of(data.get("n_neuroids"), "neuroid"),
        _listed(data.get("preprocessing")),
        data.get("task") and f"task: {_listed(data['task'])}",
    )
    if measured:
        yield f"Measurements (metadata of the benchmark): {measured}."
    sets = [item.identifier for item in receipt.data if item.kind != "metric"]
    if sets:
        yield f"Data sets that were loaded: {', '.join(sets)}."
    for item in receipt.features:
        yield f"Features of the model for {item.text()}."
        if len(item.layers) > 3:
            yield f"Layers of {item.region}: {', '.join(item.layers)}."
    if facts.image_size:
        yield f"Input of the model: {facts.image_size} × {facts.image_size} pixels."
    if receipt.model.visual_angle is not None:
        yield f"Visual angle of the model's input: {receipt.model.visual_angle.text()}."
    name = metric.get("name") or ", ".join(item.identifier for item in receipt.data if item.kind == "metric")
    if name:
        yield f"Metric: {name}{': ' + metric['mapping'] if metric.get('mapping') else ''}."


def _values(receipt: Receipt, facts: Facts) -> Iterator[str]:
    """Splits, numbers, ceiling, normalisation, score."""
    if receipt.state != "scored" or receipt.score is None:
        yield f"It has no score; {receipt.state}{': ' + receipt.reason if receipt.reason else ''}."
        return
    if facts.unread:
        reasons = (f"the attachment {kind!r} ({reason.rstrip('.')})" for kind, reason in facts.unread.items())
        yield f"Not read, and so not described here: {', '.join(reasons)}."
    if facts.splits:
        yield f"Stimuli were divided into training and test stimuli: {facts.splits}."
    elif "split" in facts.sizes:
        yield f"Values come from {counted(facts.sizes['split'], 'split')} of the stimuli."
    if facts.predicted:
        yield f"Out-of-fold predictions are stored for {_product(facts.predicted)}."
    if facts.sizes:
        yield f"Values before aggregation: {_product(facts.sizes)}."
    score, raw, ceiling = receipt.score, receipt.raw, receipt.ceiling
    if raw is not None and raw.value is not None:
        yield f"The score before the ceiling was {_estimate(raw)}{f' (scale: {raw.scale})' if raw.scale else ''}."
    if ceiling is None or ceiling.value is None:
        yield "No ceiling was applied."
    else:
        rule = facts.about("metric").get("ceiling") or ceiling.meaning
        lower = "" if ceiling.lower_bound is None else f"; lower bound {number_text(ceiling.lower_bound)}"
        yield f"The ceiling was {_estimate(ceiling)}{lower}{f' ({rule})' if rule else ''}."
        if formula := _formula(score, raw, ceiling):
            yield f"The score is {formula}."
    if receipt.undetermined:
        yield f"The score is undetermined: {receipt.undetermined.rstrip('.')}."
        return
    yield f"The score was {_estimate(score)}."
    if score.unclamped is not None and score.unclamped != score.value:
        yield f"It is limited to [0, 1]; before, it was {number_text(score.unclamped)}."
    if score.ci is not None:
        how = f" (method: {score.ci_method})" if score.ci_method else ""
        yield f"What the interval covers: {score.ci_estimates or 'unknown'}{how}."
    else:
        yield f"It has no interval: {score.ci_reason or 'no reason is given'}."


def _software(receipt: Receipt) -> Iterator[str]:
    environment = receipt.environment
    versions = environment.packages | (receipt.run.packages if receipt.run else {})
    names = [f"{name} {versions[name]}" for name in _PACKAGES if name in versions]
    platform = versions.get("brainscore")
    texts = [f"Brain-Score {platform}" if platform else "", environment.python, *names]
    listed = ", ".join(text for text in texts if text)
    if listed:
        yield f"Software: {listed}, on {receipt.device}."
    if receipt.notes:
        yield f"Notes of the receipt: {'; '.join(note.rstrip('.') for note in receipt.notes)}."
    if receipt.seeds:
        yield f"Seeds: {', '.join(f'{name} {value}' for name, value in receipt.seeds.items())}."
    hashes = [
        ("platform", environment.code),
        *((f"{kind} {name}", plugin.sha256) for kind, name, plugin in _plugins(receipt) if plugin is not None),
        *((f"weights {item.identifier}", item.sha256) for item in receipt.weights),
    ]
    short_hashes = [f"{name} {digest[:12]}" for name, digest in hashes if digest]
    if short_hashes:
        yield f"SHA-256 of the code and weights (first 12 digits): {', '.join(short_hashes)}."
    if receipt.id:
        yield f"Receipt {receipt.id}."


def _plugins(receipt: Receipt) -> Iterator[tuple[str, str, PluginCode | None]]:
    yield "model", receipt.model.identifier, receipt.model.plugin
    yield "benchmark", receipt.benchmark.identifier, receipt.benchmark.plugin
    for item in receipt.data:
        yield item.kind, item.identifier, item.plugin


def _unknown(receipt: Receipt, facts: Facts, unread: Sequence[str]) -> str:
    """One sentence on what a paper needs and the receipt does not hold."""
    stimuli, data = (facts.about(name) for name in ("stimuli", "data"))
    scored, images = receipt.state == "scored", receipt.domain == FIRST
    missing = {
        "how stimuli were divided for fitting and testing, if they were": scored and not facts.splits,
        "the number of stimuli": not stimuli.get("n") and not receipt.features,
        "the visual angle of the stimuli": images and not stimuli.get("visual_degrees"),
        "the number of subjects": not data.get("n_subjects"),
        "the number of repetitions": not re.search("repetition|session|trial", _listed(data.get("preprocessing"))),
        "layers": not any(item.layers for item in receipt.features),
        "the visual angle of the model": images and receipt.model.visual_angle is None,
        "the preprocessing of its images": images,
    }
    items = [name for name, absent in missing.items() if absent] + [f"references of {name}" for name in unread]
    return f"Not stated by the receipt: {', '.join(items)}." if items else ""


def _formula(score: Estimate, raw: Estimate | None, ceiling: CeilingEstimate) -> str | None:
    """The rule that gives the score from the score before the ceiling; None if no known rule does."""
    if raw is None or raw.value is None or not ceiling.value:
        return None
    value = score.value if score.unclamped is None else score.unclamped
    rules = {
        "the score before the ceiling divided by the ceiling": raw.value / ceiling.value,
        "sign(r) · r² divided by the ceiling, with r the score before the ceiling": raw.value
        * abs(raw.value)
        / ceiling.value,
        "sign(r) · (r divided by the ceiling)², with r the score before the ceiling": raw.value
        * abs(raw.value)
        / ceiling.value**2,
        "not divided by the ceiling": raw.value,
    }
    matching = [
        text for text, result in rules.items() if value is not None and abs(result - value) <= 1e-6 * max(abs(value), 1)
    ]
    return matching[0] if len(matching) == 1 else None


def _references(sources: Sequence[Source]) -> tuple[list[str], list[str]]:
    """References, each once, with the plugins that give them; and plugins without any."""
    by_text: dict[str, tuple[str, list[str]]] = {}
    unread = []
    for source in sources:
        texts = [text for entry in source.bibtex or () for text in _cited(entry)]
        name = f"{source.kind} {source.identifier}"
        if not texts:
            unread.append(name)
        for text in texts:
            by_text.setdefault(text.casefold(), (text, []))[1].append(name)
    return [f"- {text} ({', '.join(dict.fromkeys(names))})" for text, names in by_text.values()], unread


def _cited(bibtex: str) -> Iterator[str]:
    try:
        entries = parse_bibtex(bibtex)
    except BibtexError:
        return
    for entry in entries:
        yield reference(entry)


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    level = f"{100 * (estimate.ci_level or 0.95):g} %"
    return number_text(estimate.value) + (f" ({level} interval {range_text(*estimate.ci)})" if estimate.ci else "")


def _joined(*parts: str | None) -> str:
    return "; ".join(text for text in parts if text)


def _listed(value: Any) -> str:
    """A text, or the texts of a list."""
    if value is None or isinstance(value, str):
        return value or ""
    return ", ".join(map(str, value)) if isinstance(value, Sequence) else str(value)


def _number_of(value: Any, noun: str) -> str:
    """A number of things; what is not a whole number is written as it is."""
    if not isinstance(value, int):
        return f"{text} {plural(noun)}" if (text := _listed(value)) else ""
    return counted(value, noun) if value else ""


def _degrees(value: Any) -> str:
    text = number_text(value, 1) if isinstance(value, int | float) else _listed(value)
    return f"{text}° of visual angle" if value and text != "–" else ""


def _product(sizes: Mapping[str, int]) -> str:
    """Dimensions and their lengths, such as ``10 splits × 96 neuroids``."""
    return " × ".join(counted(number, dim.replace("_", " ")) for dim, number in sizes.items())
