"""How much may be sent."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What a submission may hold: code, not data.

    Attributes
    ----------
    size : int
        Bytes of all its files together.
    file : int
        Bytes of one file.
    source : int
        Bytes of one file of Python.
    nodes, all_nodes : int
        Parts of one such file once it is parsed, and of all together.
    depth : int
        How deep expressions may be nested in it.
    members : int
        Files in an archive, counting those that are left out.
    ratio : int
        How many times larger than in the archive a file may be, once it is large.
    plugins : int
        Plugins.
    repository : int
        Bytes of what is fetched of a Git repository.
    seconds : float
        How long fetching it may take.
    """

    size: int = 20_000_000
    file: int = 5_000_000
    source: int = 1_000_000
    nodes: int = 60_000
    all_nodes: int = 250_000
    depth: int = 100
    members: int = 5_000
    ratio: int = 100
    plugins: int = 50
    repository: int = 300_000_000
    seconds: float = 120

    @property
    def archive(self) -> int:
        """Bytes of an archive: its files need not be packed, and each has a head."""
        return self.size + 2_000_000
