"""What kinds of clusters have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.scoring.engine._quiet import uninterrupted

__all__ = ["CLOSE_SECONDS", "Cluster", "close", "resources", "wait_for_workers"]

CLOSE_SECONDS = 10


@dataclass(frozen=True)
class Cluster:
    """An open cluster.

    Attributes
    ----------
    client : distributed.Client
        Connected to it.
    memory : int or None
        Bytes of each worker, where all have the same.
    threads : int
        Of the numerical libraries.
    slots : callable
        How many tasks may be submitted at a time.
    where : callable
        Bytes and GPUs that a task asks for → arguments of `Client.submit`. What is more than any worker has is
        lowered to what the largest has: an expectation may be wrong, and nobody would ever take the task.
    """

    client: Any
    memory: int | None
    threads: int
    slots: Callable[[], int]
    where: Callable[[int | None, int], dict[str, Any]]


def resources(need: int, gpus: int) -> dict[str, Any]:
    wanted: dict[str, float] = {}
    if need:
        wanted["memory"] = need / 1e6
    if gpus:
        wanted["GPU"] = gpus
    return {"resources": wanted} if wanted else {}


def wait_for_workers(client: Any, count: int, seconds: float) -> None:
    try:
        client.wait_for_workers(count, timeout=seconds)
    except TimeoutError as error:
        raise UserError(
            f"no worker after {seconds:g} seconds",
            remedy="start workers with `dask worker ADDRESS`, or look into their logs",
        ) from error


def close(*parts: Any, seconds: float = CLOSE_SECONDS) -> None:
    """Close clients and clusters; what cannot be closed is gone already."""
    with uninterrupted():
        for one in parts:
            if one is not None:
                with contextlib.suppress(Exception):
                    one.close(timeout=seconds)
