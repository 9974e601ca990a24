"""The published schema of receipts, and whether something follows it."""

import json
from functools import lru_cache
from importlib import resources
from typing import Any

from brainscore_core.scoring._errors import ReceiptError
from brainscore_core.scoring._schema_check import Check, quick_check

__all__ = ["SCHEMA_VERSION", "receipt_schema", "validate"]

SCHEMA_VERSION = 2


def receipt_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the receipts that this version writes.

    Examples
    --------
    >>> receipt_schema()["properties"]["schema_version"]
    {'const': 2}
    """
    text = resources.files("brainscore_core.scoring").joinpath("receipt.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def validate(data: dict[str, Any], *, origin: str = "") -> None:
    """Refuse what does not follow the schema.

    Parameters
    ----------
    data : dict
        Plain JSON types.
    origin : str
        Said after "not a valid receipt", such as ``" of version 1"``.

    Raises
    ------
    ReceiptError
        Naming the fields and what is wrong with them.
    """
    if _quick()(data):
        return
    from jsonschema.exceptions import best_match

    errors = sorted(_validator().iter_errors(data), key=lambda error: error.json_path)
    if errors:
        # an error in one of several alternatives quotes the whole part; what is wrong there lies in its context
        causes = [best_match([error]) for error in errors[:5]]
        shown = "; ".join(f"{cause.json_path}: {cause.message[:200]}" for cause in causes)
        more = f" (and {len(errors) - 5} more)" if len(errors) > 5 else ""
        raise ReceiptError(f"not a valid receipt{origin}: {shown}{more}")


@lru_cache(maxsize=1)
def _quick() -> Check:
    return quick_check(receipt_schema())


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(receipt_schema())
