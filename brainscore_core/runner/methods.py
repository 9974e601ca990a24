"""The paragraph for a paper about a stored score: what the receipt, its attachments and the plugins of its code say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainscore_core.domains import Domain, domain
from brainscore_core.errors import UserError
from brainscore_core.receipts.environment import describe_plugin
from brainscore_core.receipts.methods import Facts, Source, methods_text
from brainscore_core.receipts.receipt import PluginCode, Receipt
from brainscore_core.runner.verification import Stored

if TYPE_CHECKING:
    from pathlib import Path


def methods_of(stored: Stored) -> str:
    """Describe how a stored score was computed; nothing is loaded or computed again.

    `stored`: the receipt, with access to its attachments. Result: text of
    :func:`brainscore_core.receipts.methods.methods_text`. Metadata and citations are those of the installed plugins
    whose code has the hash in the receipt; of other plugins they are unknown. What an attachment would add is left out
    if it cannot be read, and the text says so.
    """
    receipt, of = stored.receipt, domain(stored.receipt.domain)
    unread: dict[str, str] = {}
    raw, predictions = (_attached(stored, kind, unread) for kind in ("raw", "predictions"))
    benchmark = _same_code(of, "benchmark", receipt.benchmark.identifier, receipt.benchmark.plugin)
    model = _same_code(of, "model", receipt.model.identifier, receipt.model.plugin)
    facts = Facts(
        splits=None if raw is None else raw.attrs.get("splits"),
        sizes={} if raw is None else {str(dim): size for dim, size in raw.sizes.items()},
        predicted={} if predictions is None else {str(dim): size for dim, size in predictions.sizes.items()},
        metadata={} if benchmark is None else _metadata(of, "benchmarks", receipt.benchmark.identifier),
        image_size=None if model is None else _metadata(of, "models", receipt.model.identifier).get("image_size"),
        sources=tuple(_sources(of, receipt, model)),
        unread=unread,
    )
    return methods_text(receipt, facts)


def _attached(stored: Stored, kind: str, unread: dict[str, str]) -> Any:
    """An attached array, or None; why it could not be read is added to `unread`."""
    if all(attachment.kind != kind for attachment in stored.receipt.attachments):
        return None
    try:
        return stored.open_attachment(kind)
    except UserError as error:
        unread[kind] = error.message
        return None


def _same_code(of: Domain, kind: str, identifier: str, plugin: PluginCode | None) -> Path | None:
    """Folder of an installed plugin, if its code is that of the receipt."""
    folder = of.folder(kind, identifier)
    if folder is None or plugin is None or plugin.sha256 is None:
        return None
    return folder if describe_plugin(folder).sha256 == plugin.sha256 else None


def _metadata(of: Domain, kind: str, identifier: str) -> dict[str, Any]:
    listing = of.feature("catalogue")(**{"models": [], "benchmarks": [], kind: [identifier]})
    entries = [entry.as_dict() for entry in getattr(listing, kind)]
    return (entries[0]["metadata"] or {}) if entries else {}


def _sources(of: Domain, receipt: Receipt, model: Path | None) -> list[Source]:
    from brainscore_core.plugins.bibtex import bibtex_entries

    def cited(folder: Path | None) -> tuple[str, ...] | None:
        return None if folder is None else tuple(bibtex_entries(folder))

    bibtex = receipt.benchmark.bibtex
    return [
        Source(kind="model", identifier=receipt.model.identifier, bibtex=cited(model)),
        Source(kind="benchmark", identifier=receipt.benchmark.identifier, bibtex=(bibtex,) if bibtex else None),
        *(
            Source(
                kind=item.kind,
                identifier=item.identifier,
                bibtex=cited(_same_code(of, item.kind, item.identifier, item.plugin)),
            )
            for item in receipt.data
        ),
    ]
