"""Receipts of earlier versions of the schema, as this version would have written them.

A step takes plain JSON types of version n and gives those of version n + 1; it changes nothing in place, and reading
never rewrites a file. The id stays, though the hash in it is that of the content as first written. A step keeps what it
does not understand: the result is checked against the schema, which says what is wrong.
"""

from collections.abc import Callable, Mapping
from typing import Any

from brainscore_core.scoring._errors import ReceiptError
from brainscore_core.scoring._schema import SCHEMA_VERSION

__all__ = ["STEPS", "migrated"]

Step = Callable[[dict[str, Any]], dict[str, Any]]

_NAN = "the benchmark returned NaN"  # the reason in receipts of version 1 whose benchmark gave none


def migrated(data: Any) -> dict[str, Any]:
    """Bring a receipt to the version of this schema.

    Parameters
    ----------
    data : dict
        Plain JSON types of any version.

    Returns
    -------
    dict
        The same object where nothing is to be done; it may still break the schema.

    Raises
    ------
    ReceiptError
        If it is no object, or was written by a newer version.
    """
    if not isinstance(data, dict):
        raise ReceiptError(f"not a receipt: a JSON object is needed, not {type(data).__name__}")
    version = data.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        return data  # the schema says what is wrong with it
    if version > SCHEMA_VERSION:
        raise ReceiptError(
            f"written by a newer Brain-Score: schema version {version}, this one reads up to {SCHEMA_VERSION}",
            remedy="upgrade: pip install --upgrade brainscore",
        )
    while version in STEPS:
        data = STEPS[version](data) | {"schema_version": version + 1}
        version += 1
    return data


def _from_1_to_2(data: dict[str, Any]) -> dict[str, Any]:
    """NaN is a state of its own; time of extraction, weights, run, own code and threads are told."""
    new = {"weights": [], "run": None, **data}
    if _was_undefined(data):
        new["state"] = "undefined"
    if isinstance(data.get("timings"), dict):
        new["timings"] = {"extraction": None, **data["timings"]}
    if isinstance(data.get("environment"), dict):
        new["environment"] = {"code": None, "threads": None, **data["environment"]}
    return new


def _was_undefined(data: Mapping[str, Any]) -> bool:
    # a model that declines gives no raw score and no measurements; a benchmark that returns NaN may
    if data.get("state") != "not applicable":
        return False
    return data.get("raw") is not None or bool(data.get("attachments")) or data.get("reason") == _NAN


STEPS: dict[int, Step] = {1: _from_1_to_2}
"""From the version that is read to the function that gives the next one."""
